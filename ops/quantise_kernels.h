// Activations as 8-bit codes: what the integer kernels multiply stored codes with.
#pragma once
#include <cstddef>

namespace axial::kernels {

// How one quantised row of `k` activations (whole blocks of 32) lies in memory; offsets in bytes from its start.
// x[i] is approximately scale[i / 32] * code[i], with scale = max|x| / 127 over 32 values and code in -127..127.
// Beside the codes stand three numbers for each group of 16 and of 32 codes, so that a kernel finds what it needs for
// its weights' groups side by side: the scale, the bias -128 * (sum of codes), which takes back what shifting the
// weights' codes by 128 adds to an integer sum, and the product scale * (sum of codes), which weights with a minimum
// are multiplied by. Each of the arrays is filled up with zeros to a multiple of 64 bytes.
struct QuantisedRow {
    struct Groups {
        std::size_t scale;  // float
        std::size_t bias;   // int32
        std::size_t sum;    // float
    };
    std::size_t k;
    std::size_t wide;  // the codes once more, as int16: only where integerUnit() is portable
    Groups of16, of32;
    std::size_t bytes;  // of a row: a multiple of 64

    explicit QuantisedRow(std::size_t k);
    // The numbers for weights with one scale for each `group` codes.
    const Groups& groupsOf(std::size_t group) const { return group == 16 ? of16 : of32; }
};

// row: x as the layout says. 32 values of which one is not finite get the scale NaN; if all are below 2^-100 in
// magnitude they count as zero.
void quantiseRow(const float* x, const QuantisedRow&, std::byte* row) noexcept;

// rest[i] = x[i] - scale[i / 32] * code[i]: what the row does not say of x.
void quantisationRest(const float* x, const QuantisedRow&, const std::byte* row, float* rest) noexcept;

}  // namespace axial::kernels
