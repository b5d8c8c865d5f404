// What attention looks at: the weights with which groupedAttention mixes the values, which it never writes down itself.
#pragma once
#include "axial/llm/axes.h"
#include "axial/ops/attention.h"
#include "axial/tensor/stored.h"
#include "axial/tensor/tensor.h"

namespace axial {
struct OpEvent;
}

namespace axial::llm {

// p(head, seq, key): how much of a key's value a query takes. Each row adds up to 1, or is 0 where a query sees no key.
using AttentionProbabilities = Tensor<float, head, seq, key>;

// softmax over the keys that a query sees of (scale * q . k), as groupedAttention(q, k, v, options) computes it
// (ops/attention.h: head h has the keys of kvHead h / (heads / kvHeads), and the last query sits on the last key), made
// of axial's own ops, in float32 whatever the activations (ops/activations.h). k is F32, F16 or Q8_0, such as a cache's
// rows. Takes 4 bytes times heads * queries * keys, twice while it runs. Throws ShapeError or ValueError as
// groupedAttention does.
AttentionProbabilities attentionProbabilities(const View<const float, seq, head, channel>& q,
                                              const Stored<kvHead, key, channel>& k,
                                              const AttentionOptions& options = {});

// The same from the operands of a call of groupedAttention that an Observer is told of, whatever the order of their
// axes; the event does not say the options. Nobody is told of the ops that this runs. UnsupportedError for an event of
// another op, one with a bias, or operands with further axes.
AttentionProbabilities attentionProbabilities(const OpEvent& event, const AttentionOptions& options = {});

}  // namespace axial::llm
