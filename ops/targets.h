// For which instruction sets the kernels are compiled. Included before any header of Highway, by every kernel file
// and by the test that runs them on each.
#pragma once

// Left out: SSSE3, which hardly differs from SSE4; AVX3_DL, whose target string in Highway 1.0.3 asks for another
// extension than its code uses; the SVE family, whose vectors cannot be held in arrays. On x86-64 that leaves the
// portable form, SSE4, AVX2 and AVX3.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
