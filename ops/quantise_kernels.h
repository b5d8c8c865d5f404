// Activations as integer codes: what the integer kernels multiply stored codes with.
#pragma once
#include <cstddef>

namespace axial::kernels {

// How one quantised row of `k` activations (whole blocks of 32) lies in memory; offsets in bytes from its start.
// x[i] is approximately scale[i / 32] * code[i]. In one plane the codes are of 8 bits: scale = max|x| / 127 over 32
// values, code in -127..127. In two planes they are of 16 bits: scale = max|x| / 32639, code = 256 * high + low with
// high in -127..127 and low in -128..127, so that products of bytes are enough for them too.
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
    std::size_t k, planes;  // the codes, or their high bytes, stand first
    std::size_t low;        // the low bytes, of two planes
    std::size_t wide;       // the codes as int16: only where integerUnit() is below vnni
    Groups of16, of32;
    std::size_t bytes;  // of a row: a multiple of 64

    QuantisedRow(std::size_t k, std::size_t planes);
    // The numbers for weights with one scale for each `group` codes.
    const Groups& groupsOf(std::size_t group) const { return group == 16 ? of16 : of32; }
};

// row: x as the layout says. 32 values of which one is not finite get the scale NaN; if all are below 2^-100 in
// magnitude they count as zero.
void quantiseRow(const float* x, const QuantisedRow&, std::byte* row) noexcept;

}  // namespace axial::kernels
