#include "axial/llm/attention_code.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace axial::llm {
namespace {

constexpr unsigned mostBits = std::bit_width(attentionSteps);

// Binary decisions to bytes, as the header says.
class Decisions {
  public:
    explicit Decisions(std::string& bytes) : bytes_(bytes) {}
    void write(bool yes, std::uint16_t& probability) {
        const std::uint32_t middle = low_ + ((high_ - low_) >> 16) * probability;
        if (yes)
            high_ = middle;
        else
            low_ = middle + 1;
        const int nearer = ((yes ? 65535 : 0) - static_cast<int>(probability)) >> 4;
        probability = static_cast<std::uint16_t>(std::max(probability + nearer, 16));
        for (; ((low_ ^ high_) >> 24) == 0; low_ <<= 8, high_ = high_ << 8 | 0xffu) put(low_);
    }
    void end() {
        for (int i = 0; i < 4; ++i, low_ <<= 8) put(low_);
    }

  private:
    void put(std::uint32_t bits) { bytes_ += static_cast<char>(bits >> 24); }

    std::string& bytes_;
    std::uint32_t low_ = 0, high_ = 0xffffffffu;
};

using Tens = std::array<std::uint16_t, mostBits>;

void put16(std::string& bytes, double value) {
    const auto whole = static_cast<unsigned>(std::clamp(std::round(value), 0.0, 65535.0));
    bytes += static_cast<char>(whole & 0xffu);
    bytes += static_cast<char>(whole >> 8);
}

}  // namespace

std::string attentionCode(const AttentionMaps& maps, std::size_t place, std::size_t head) {
    const std::size_t n = maps.tokens();
    std::string bytes;
    for (std::size_t i = 0; i < n; ++i) put16(bytes, 65535.0 * maps.row(place, head, i)[0]);
    for (std::size_t i = 0; i < n; ++i) put16(bytes, 4096.0 * maps.entropy(place, head, i));

    Tens half;
    half.fill(1u << 15);
    std::array<std::array<Tens, mostBits + 1>, mostBits + 1> longer;  // [left][above][i]
    for (auto& row : longer) row.fill(half);
    std::array<Tens, mostBits + 1> behind;  // [length][bit]
    behind.fill(half);
    Decisions decisions(bytes);
    std::vector<unsigned> above(n + 1, 0);  // lengths of the codes of the query before, by key
    for (std::size_t i = 1; i < n; ++i) {
        const std::span<const float> row = maps.row(place, head, i);
        double rest = 0;
        for (std::size_t j = 1; j <= i; ++j) rest += static_cast<double>(row[j]);
        unsigned left = 0;
        for (std::size_t j = 1; j <= i; ++j) {
            const double share = rest > 0 ? static_cast<double>(row[j]) / rest : 0;
            const auto code = static_cast<unsigned>(
                std::clamp(std::round(attentionSteps * share), 0.0, static_cast<double>(attentionSteps)));
            const auto length = static_cast<unsigned>(std::bit_width(code));
            Tens& learned = longer[left][above[j]];
            for (unsigned k = 0; k < mostBits; ++k) {
                decisions.write(length > k, learned[k]);
                if (length <= k) break;
            }
            for (unsigned k = length; k-- > 1;) decisions.write((code >> (k - 1) & 1u) != 0, behind[length][k - 1]);
            left = above[j] = length;
        }
    }
    decisions.end();
    return bytes;
}

}  // namespace axial::llm
