// groupedAttention: scaled dot-product attention (Vaswani et al. 2017, "Attention Is All You Need") in which groups of
// query heads share a head of keys and values (Ainslie et al. 2023, "GQA").
#pragma once
#include <optional>

#include "axial/ops/axes.h"
#include "axial/ops/checks.h"

namespace axial {

// What a query sees, and the scale of the scores.
struct AttentionOptions {
    std::optional<float> scale{};  // multiplies q . k; not given: 1 / sqrt(channels)
    bool causal = true;            // a query sees no key after its own position
    std::size_t window = 0;        // w > 0: it sees only the w keys up to its own position; needs causal
};

namespace erased {
// q as [batch.., seq, head, channel], k and v as [batch.., key, kvHead, channel], bias as [batch.., head, seq, key];
// -1 in a map: that operand has no such axis. The result has q's axes in q's order.
struct AttentionPlan {
    AxisMap q, k, v, bias;
};
Owned groupedAttention(const TensorRef& q, const TensorRef& k, const TensorRef& v, const TensorRef* bias,
                       const AttentionPlan& plan, const AttentionOptions& options);
}  // namespace erased

namespace detail {
template <class Q>
using AttentionBatch = without<Q, Axes<axes::seq, axes::head, axes::channel>>;

// The roles that keys and values must have; what else they have are batch axes of the queries.
template <Name Op, class Set, class Batch>
struct KeyAxes {
    using Roles = Axes<axes::key, axes::kvHead, axes::channel>;
    static constexpr bool ok = without<Roles, Set>::size == 0 && without<without<Set, Roles>, Batch>::size == 0;
    static consteval auto text() {
        Text t;
        return t << Op.view() << ": wants " << joined<Batch, Roles>{} << " but got " << Set{};
    }
};

template <class Q, class K, class V, class B>
struct Attention {
    using Batch = AttentionBatch<Q>;
    using Roles = Axes<axes::seq, axes::head, axes::channel>;
    using KeyRoles = joined<Batch, Axes<axes::key, axes::kvHead, axes::channel>>;
    using BiasRoles = joined<Batch, Axes<axes::head, axes::seq, axes::key>>;
    static constexpr erased::AttentionPlan plan{mapTo<Q, joined<Batch, Roles>>, mapTo<K, KeyRoles>, mapTo<V, KeyRoles>,
                                                mapTo<B, BiasRoles>};
    template <class QX, class KX, class VX>
    using Checks = All<FloatValues<"groupedAttention q", QX>, FloatValues<"groupedAttention k", KX>,
                       FloatValues<"groupedAttention v", VX>, HasAxis<"groupedAttention q", Q, Axis<"seq">>,
                       HasAxis<"groupedAttention q", Q, Axis<"head">>,
                       HasAxis<"groupedAttention q", Q, Axis<"channel">>, KeyAxes<"groupedAttention k", K, Batch>,
                       KeyAxes<"groupedAttention v", V, Batch>, SizesAgree<"groupedAttention", Q, K>,
                       SizesAgree<"groupedAttention", K, V>, AxesAmong<"groupedAttention bias", B, BiasRoles>>;
};
}  // namespace detail

// For each query and head, with the head's keys k and values v of kvHead = head / (heads / kvHeads):
//   softmax over the keys it sees of (scale * q . k + bias), times v.
// q has the axes seq, head and channel; k and v have key, kvHead and channel, in any order. Any further axes of q are
// batch axes; k, v and bias each have them too or are shared by the whole batch. The result has q's axes in q's order.
// Of n queries and m keys, query i sits on key m - n + i: the last query on the last key.
// k and v are floats, or a Stored in F32, F16 or Q8_0 (channel last, without gaps, and a multiple of 32). A bias of
// minus infinity hides a key; a query that sees nothing gives zeros.
// Within 2e-6 of float64 for values of ordinary size. The bits of one query's result depend neither on the queries
// computed beside it nor on the number of threads.
// Throws ShapeError if extents disagree, the heads are no multiple of the kvHeads, or a causal call has more queries
// than keys; ValueError for a window without causal; UnsupportedError for k or v in another format.
template <TensorLike Q, TensorLike K, TensorLike V>
auto groupedAttention(const Q& q, const K& k, const V& v, const AttentionOptions& options = {}) {
    using Out = TensorOf<float, SetOf<Q>>;
    using Op = detail::Attention<SetOf<Q>, SetOf<K>, SetOf<V>, Axes<>>;
    using Checks = typename Op::template Checks<Q, K, V>;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), Out();
    else
        return Out(erased::groupedAttention(q.ref(), k.ref(), v.ref(), nullptr, Op::plan, options));
}
// With a bias that is added to the scores: [seq, key], [head, seq, key], [head, key], ...; an axis that it lacks is
// broadcast.
template <TensorLike Q, TensorLike K, TensorLike V, TensorLike B>
auto groupedAttention(const Q& q, const K& k, const V& v, const B& bias, const AttentionOptions& options = {}) {
    using Out = TensorOf<float, SetOf<Q>>;
    using Op = detail::Attention<SetOf<Q>, SetOf<K>, SetOf<V>, SetOf<B>>;
    using Checks = typename Op::template Checks<Q, K, V>;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), Out();
    else {
        const TensorRef& b = bias.ref();
        return Out(erased::groupedAttention(q.ref(), k.ref(), v.ref(), &b, Op::plan, options));
    }
}

}  // namespace axial
