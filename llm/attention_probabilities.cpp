#include "axial/llm/attention_probabilities.h"

#include <cmath>
#include <limits>
#include <string>

#include "axial/ops/activations.h"
#include "axial/ops/dot.h"
#include "axial/ops/elementwise.h"
#include "axial/ops/softmax.h"
#include "axial/ops/structure.h"
#include "axial/tensor/observe.h"

namespace axial::llm {
namespace {

constexpr std::string_view operation = "attentionProbabilities";

// 0 where a query sees a key, minus infinity where it does not.
Tensor<float, seq, key> hiding(std::size_t queries, std::size_t keys, const AttentionOptions& options) {
    auto hidden = zeros<float>(seq(queries), key(keys));
    float* const values = hidden.edit().data();
    for (std::size_t i = 0; i < queries; ++i) {
        const std::size_t end = options.causal ? keys - queries + i + 1 : keys,
                          begin = options.window != 0 && end > options.window ? end - options.window : 0;
        for (std::size_t j = 0; j < keys; ++j)
            if (j < begin || j >= end) values[i * keys + j] = -std::numeric_limits<float>::infinity();
    }
    return hidden;
}

// The operand with the axes that are wanted, in their order.
template <auto... A>
TensorRef operand(const TensorRef& given) {
    using Set = Axes<A...>;
    AxisMap map{};
    for (std::size_t wanted = 0; wanted < Set::size; ++wanted) {
        map.from[wanted] = -1;
        for (std::size_t i = 0; i < given.rank; ++i)
            if (given.axis[i] == names<Set>[wanted]) map.from[wanted] = static_cast<std::int8_t>(i);
        if (map.from[wanted] < 0 || given.rank != Set::size)
            throw UnsupportedError(std::string(operation) + ": an operand has the axes " + describe(given) +
                                   ", and exactly those of one conversation are wanted");
    }
    map.rank = Set::size;
    return arranged(given, map);
}

class Unwatched : public Observer {
  public:
    Unwatched() : Observer(Interest::whatRuns) {}
    void onOp(const OpEvent&) override {}
};

}  // namespace

AttentionProbabilities attentionProbabilities(const View<const float, seq, head, channel>& q,
                                              const Stored<kvHead, key, channel>& k, const AttentionOptions& options) {
    const std::size_t queries = q.extent(seq), keys = k.extent(key), heads = q.extent(head), kvHeads = k.extent(kvHead),
                      channels = q.extent(channel);
    if (kvHeads == 0 || heads % kvHeads != 0)
        throw ShapeError(std::string(operation) + ": axis head is " + std::to_string(heads) +
                         ", which is no multiple of axis kvHead, " + std::to_string(kvHeads));
    if (options.causal && queries > keys)
        throw ShapeError(std::string(operation) + ": axis seq is " + std::to_string(queries) + " and axis key is " +
                         std::to_string(keys) + ", but the last query sits on the last key");
    if (options.window != 0 && !options.causal)
        throw ValueError(std::string(operation) + ": a window of " + std::to_string(options.window) + " needs causal");
    const UseActivations exact(Activations::float32);
    const float factor = options.scale.value_or(1.0f / std::sqrt(static_cast<float>(channels)));
    const auto grouped = q.split(head, kvHead(kvHeads), group);  // [seq, kvHead, group, channel]
    auto scores = scale(dot(grouped, k, channel), factor);       // [kvHead, seq, group, key]
    const auto p = softmax(add(std::move(scores), hiding(queries, keys, options)), key);
    auto ordered = uninitialized<float>(head(heads), seq(queries), key(keys));
    copy(p, ordered.edit().split(head, kvHead(kvHeads), group));
    return ordered;
}

AttentionProbabilities attentionProbabilities(const OpEvent& event, const AttentionOptions& options) {
    if (event.op != "groupedAttention" || event.in.size() != 3)
        throw UnsupportedError(std::string(operation) + ": a call of " + std::string(event.op) + " with " +
                               std::to_string(event.in.size()) +
                               " operands; groupedAttention without a bias has 3 and is wanted");
    Unwatched nobody;
    const Watch watch(nobody);
    return attentionProbabilities(View<const float, seq, head, channel>(operand<seq, head, channel>(event.in[0])),
                                  Stored<kvHead, key, channel>(operand<kvHead, key, channel>(event.in[1])), options);
}

}  // namespace axial::llm
