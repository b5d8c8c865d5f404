#include "axial/ops/targets.h"
// After targets.h:
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "axial/ops/linear_rows_i8mm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "axial/ops/linear_rows-inl.h"
#include "axial/ops/linear_rows_kernels.h"

#if defined(__ARM_FEATURE_MATMUL_INT8) && HWY_TARGET == HWY_NEON
HWY_BEFORE_NAMESPACE();
namespace axial::kernels::HWY_NAMESPACE {

// What two rows of activations, a and b, have for one group of codes.
template <int group, int planes>
struct Paired {
    float scale[4];    // a, b, a, b
    int32_t other[4];  // likewise: the corrections, or the bits of the sums for weights with a minimum
    int8_t codes[group / 8][planes][16];  // eight of a, eight of b
};
// How many rows of activations in pairs fit into scratch, which has 32 * (group + 8) bytes for each group.
constexpr size_t paired = 16;
static_assert(paired / 2 * sizeof(Paired<16, 2>) <= 32 * (16 + 8) &&
              paired / 2 * sizeof(Paired<32, 2>) <= 32 * (32 + 8));

// Rows t to t + m - 1 of the activations, of each group all pairs. A last row without another is paired with itself.
template <int group, int planes>
HWY_NOINLINE void Pair(const BlockProduct& p, size_t t, size_t m, bool minimum, int32_t zero,
                       Paired<group, planes>* to) {
    const hn::Full128<uint64_t> halves;
    const DB d;
    const QuantisedRow::Groups& at = p.layout->groupsOf(group);
    const uint8_t* first = reinterpret_cast<const uint8_t*>(p.x) + t * p.layout->bytes;
    for (size_t g = 0; g < p.layout->k / group; ++g)
        for (size_t i = 0; i < m; i += 2, ++to) {
            const uint8_t* rows[2] = {first + i * p.layout->bytes, first + (i + 1 < m ? i + 1 : i) * p.layout->bytes};
            for (int r = 0; r < 2; ++r) {
                memcpy(to->scale + r, rows[r] + at.scale + 4 * g, 4);
                memcpy(to->scale + 2 + r, to->scale + r, 4);
                memcpy(to->other + r, rows[r] + (minimum ? at.sum : at.bias) + 4 * g, 4);
                if (!minimum) to->other[r] = to->other[r] / 128 * zero;
                to->other[2 + r] = to->other[r];
            }
            AXIAL_UNROLL
            for (int plane = 0; plane < planes; ++plane) {
                AXIAL_UNROLL
                for (int j = 0; j < group / 8; j += 2) {
                    const size_t from = (plane == 0 ? 0 : p.layout->low) + group * g + 8 * j;
                    const auto a = hn::BitCast(halves, hn::LoadU(d, rows[0] + from));
                    const auto b = hn::BitCast(halves, hn::LoadU(d, rows[1] + from));
                    const auto put = [&](hn::Vec<decltype(halves)> v, int8_t* codes) HWY_ATTR {
                        hn::Store(Bits(hn::BitCast(d, v)), DI(), reinterpret_cast<int32_t*>(codes));
                    };
                    put(hn::InterleaveLower(halves, a, b), to->codes[j][plane]);
                    put(hn::InterleaveUpper(halves, a, b), to->codes[j + 1][plane]);
                }
            }
        }
}

// sum + the products of two rows of eight signed bytes with two others: w0 x0, w0 x1, w1 x0, w1 x1.
HWY_INLINE VI Matrix(VI sum, VI w, VI x) {
    return VI(vmmlaq_s32(sum.raw, vreinterpretq_s8_s32(w.raw), vreinterpretq_s8_s32(x.raw)));
}

// One row of outputs for each row of activations, a vector each; by the rule of linear_kernels.h, two rows of weights
// and two of activations to a vector until the end. `ahead` is what comes after these rows of weights.
template <class F, int planes>
HWY_NOINLINE void PairsOfRows(const BlockRows& w, const uint8_t* ahead, size_t k, const Paired<F::group, planes>* x,
                              size_t pairs, float* out) {
    static_assert(lanes == 4 && !(F::minimum && SignedCodes::corrected<F>));
    const DF f;
    const DI d;
    Scales scales;
    VI v[F::vectors];
    for (size_t t = 0; t < 2 * pairs; ++t) hn::Store(hn::Zero(f), f, out + lanes * t);
    for (size_t b = 0; b < k / F::block; ++b) {
        const BlockRows block = w.From(b * F::bytes);
        F::Scale(block, scales);
        for (size_t i = 0; i < F::steps; ++i, ahead += lanes * F::bytes / F::steps) {
            FetchPart<F, 1>(ahead, 0);
            F::Step(block, i, v);
            AXIAL_UNROLL
            for (int g = 0; g < groupsOf<F>; ++g) {
                VI code[F::group / 4];  // of rows 0 and 1, of rows 2 and 3, eight each; then the next eight
                AXIAL_UNROLL
                for (int q = 0; q < F::group / 4; q += 2) {
                    const VI one = SignedCodes::Code<F>(v, g, q), next = SignedCodes::Code<F>(v, g, q + 1);
                    code[q] = hn::InterleaveLower(d, one, next);
                    code[q + 1] = hn::InterleaveUpper(d, one, next);
                }
                const size_t at = lanes * (groupsOf<F> * i + g);
                const VF by = hn::Load(f, scales.scale + at);
                const VF scale[2] = {hn::InterleaveLower(f, by, by), hn::InterleaveUpper(f, by, by)};
                const VF less = F::minimum ? hn::Load(f, scales.minimum + at) : hn::Zero(f);
                const VF minimum[2] = {hn::InterleaveLower(f, less, less), hn::InterleaveUpper(f, less, less)};
                for (size_t t = 0; t < pairs; ++t, ++x) {
                    const VI other = hn::Load(d, x->other);
                    VI sum[2], high[2];
                    AXIAL_UNROLL
                    for (int h = 0; h < 2; ++h) {
                        sum[h] = SignedCodes::corrected<F> ? other : hn::Zero(d);
                        high[h] = hn::Zero(d);
                    }
                    AXIAL_UNROLL
                    for (int q = 0; q < F::group / 8; ++q) {
                        const auto codes = [&](int plane) HWY_ATTR {
                            return hn::Load(d, reinterpret_cast<const int32_t*>(x->codes[q][plane]));
                        };
                        AXIAL_UNROLL
                        for (int h = 0; h < 2; ++h) {
                            if (planes == 2) high[h] = Matrix(high[h], code[2 * q + h], codes(0));
                            sum[h] = Matrix(sum[h], code[2 * q + h], codes(planes - 1));
                        }
                    }
                    AXIAL_UNROLL
                    for (int h = 0; h < 2; ++h) {
                        if (planes == 2) sum[h] = hn::Add(sum[h], Left<8>(high[h]));
                        float* to = out + lanes * (2 * t + h);
                        const VF product = hn::Mul(hn::ConvertTo(f, sum[h]), scale[h]);
                        VF c = hn::MulAdd(product, hn::Load(f, x->scale), hn::Load(f, to));
                        if (F::minimum) c = hn::MulAdd(minimum[h], hn::BitCast(f, other), c);
                        hn::Store(c, f, to);
                    }
                }
            }
        }
    }
    for (size_t t = 0; t < pairs; ++t, out += 2 * lanes) {
        const VF first = hn::Load(f, out), second = hn::Load(f, out + lanes);
        hn::Store(hn::ConcatEven(f, second, first), f, out);
        hn::Store(hn::ConcatOdd(f, second, first), f, out + lanes);
    }
}

template <class F, int planes>
void ProductOfPairs(const BlockProduct& p) {
    auto* x = reinterpret_cast<Paired<F::group, planes>*>(p.scratch);
    HWY_ALIGN float c[paired * lanes];
    for (size_t t = 0; t < p.m; t += paired) {
        const size_t m = p.m - t < paired ? p.m - t : paired;
        Pair<F::group, planes>(p, t, m, F::minimum, SignedCodes::corrected<F> ? F::zero : 0, x);
        EachRows(p, t, m, c, [&](const BlockRows& w, const uint8_t* ahead) HWY_ATTR {
            PairsOfRows<F, planes>(w, ahead, p.layout->k, x, (m + 1) / 2, c);
        });
    }
}

bool DotBlocksI8mm(const BlockProduct& p) {
    return OfFormat(p.format, [&](auto format) {
        using F = decltype(format);
        p.layout->planes == 2 ? ProductOfPairs<F, 2>(p) : ProductOfPairs<F, 1>(p);
        return true;
    });
}

}  // namespace axial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
#if defined(__ARM_FEATURE_MATMUL_INT8) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace axial::kernels {
#if defined(__ARM_FEATURE_MATMUL_INT8) && defined(__linux__)
bool hasI8mm() noexcept {
    static const bool has = hasDotprod() && (getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0;
    return has;
}
bool dotBlocksI8mm(const BlockProduct& product) noexcept {
    return product.m == 1 ? dotBlocksDotprod(product) : N_NEON::DotBlocksI8mm(product);
}
#else
bool hasI8mm() noexcept { return false; }
bool dotBlocksI8mm(const BlockProduct&) noexcept { return false; }
#endif
}  // namespace axial::kernels
#endif
