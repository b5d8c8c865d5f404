// Grouped-query attention, spelled with named axes in four lines, and the op that does the same in one pass.
#include <cmath>
#include <iostream>
#include <limits>

#include "axial/ops/attention.h"
#include "axial/ops/dot.h"
#include "axial/ops/elementwise.h"
#include "axial/ops/reduce.h"
#include "axial/ops/softmax.h"
#include "axial/ops/structure.h"
#include "axial/tensor/print.h"

using namespace axial;
using namespace axial::axes;

namespace {

// Numbers that look random and are the same everywhere.
template <class... X>
auto numbers(unsigned seed, At<X>... extent) {
    auto t = uninitialized<float>(extent...);
    for (float& value : t.values()) {
        seed = seed * 1664525 + 1013904223;
        value = float(seed >> 8) / float(1 << 23) - 1;
    }
    return t;
}

// 0 where a position may look, minus infinity at the keys that come after it.
Tensor<float, seq, key> causalMask(std::size_t positions) {
    auto mask = zeros<float>(seq(positions), key(positions));
    for (std::size_t i = 0; i < positions; ++i)
        for (std::size_t j = i + 1; j < positions; ++j) mask(seq(i), key(j)) = -std::numeric_limits<float>::infinity();
    return mask;
}

}  // namespace

int main() {
    // Three positions, four query heads, of which each two share the keys and values of one kvHead.
    const auto q = numbers(1, seq(3), head(4), channel(8));
    const auto k = numbers(2, key(3), kvHead(2), channel(8));
    const auto v = numbers(3, key(3), kvHead(2), channel(8));

    // Split into [kvHead, group], each query head meets its keys by name: kvHead is shared, so it is a batch axis.
    auto scores = dot(q.split(head, kvHead(2), group), k, channel);  // [kvHead, seq, group, key]
    scores = add(scale(std::move(scores), 1 / std::sqrt(8.f)), causalMask(3));
    const auto weights = softmax(std::move(scores), key);
    const auto mixed = dot(weights, v, key);  // [kvHead, seq, group, channel]
    const auto byHand = copy(mixed.as(seq, kvHead, group, channel)).merge(head, kvHead, group);

    const auto inOneOp = groupedAttention(q, k, v);  // [seq, head, channel]

    std::cout << "What head 3 of each position looks at:\n" << weights(kvHead(1), group(1));
    std::cout << "What it sees there, by hand and in one op:\n" << byHand(head(3)) << inOneOp(head(3));

    auto difference = sub(byHand, inOneOp);
    for (float& value : difference.values()) value = std::abs(value);
    const auto largest = max(max(max(difference, seq), head), channel);
    std::cout << (largest() < 1e-6f ? "They are equal within 1e-6.\n" : "They differ!\n");
    return largest() < 1e-6f ? 0 : 1;
}
