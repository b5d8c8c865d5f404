// A mixture of experts (Shazeer et al. 2017, "Outrageously Large Neural Networks"): each row goes through the few gated
// feed-forward blocks that a router chose for it.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "axial/ops/largest.h"

namespace axial {

// The matrices of one expert.
template <auto Inner, auto Outer>
struct Expert {
    Stored<Inner, Outer> gate, up;
    Stored<Outer, Inner> down;
};

// Who has the matrices of a mixture's experts: memory, or a cache before a disk.
template <auto Inner, auto Outer>
class ExpertSource {
  public:
    virtual ~ExpertSource() = default;
    // How many experts there are: they are numbered from 0 on.
    virtual std::size_t count() const = 0;

    struct Given {
        std::int32_t expert;
        const Expert<Inner, Outer>* matrices;
    };
    using Use = std::function<void(std::span<const Given>)>;
    // Gives each of `wanted` (ascending, none twice) once: calls use(some of them), in any order and in parts of any
    // size, on the calling thread. Matrices have to stay where they are until use() returns, and all experts have the
    // same extents. The results do not depend on order and parts. What it or use() throws ends the op, which has then
    // changed nothing.
    virtual void forEach(std::span<const std::int32_t> wanted, const Use& use) const = 0;
};

namespace erased {

struct GivenExpert {
    std::int32_t expert;
    const TensorRef *gate, *up, *down;
};
using UseExperts = std::function<void(std::span<const GivenExpert>)>;
// An ExpertSource without its types.
struct Experts {
    std::size_t count;
    std::function<void(std::span<const std::int32_t> wanted, const UseExperts&)> forEach;
};
// Whose rows go to which experts. `rows` has the summed axis of x last, `choices` the slots.
struct Routed {
    const TensorRef &x, &expert, &weight;
    AxisMap rows, choices;
};

// `names` are those of x in the order of `rows`.
Owned mixture(const Routed&, const Experts&, const std::string_view* names);
// stream + mixture; the stream's axes are the mixture's, in its order.
Owned addMixture(Loan stream, const Routed&, const Experts&, const std::string_view* names);
}  // namespace erased

namespace detail {
template <Name Op, class X, class Choice, auto Inner, auto Outer>
struct MixtureOver {
    using Rows = without<SetOf<X>, Axes<Outer>>;
    using Set = joined<Rows, Axes<Outer>>;
    using Slots = joined<Rows, Axes<Axis<"slot">{}>>;
    using Out = TensorOf<float, Set>;
    using Checks = All<FloatValues<Op, X>, HasAxis<Op, SetOf<X>, std::remove_const_t<decltype(Outer)>>,
                       WantsAxes<Op, Choice, Slots>>;
    template <auto... A>
    static erased::Routed routed(const X& x, const Routing<A...>& routing) {
        return {x.ref(), routing.expert.ref(), routing.weight.ref(), mapTo<SetOf<X>, Set>, mapTo<Choice, Slots>};
    }
    static erased::Experts experts(const ExpertSource<Inner, Outer>& source) {
        return {source.count(), [&source](std::span<const std::int32_t> wanted, const erased::UseExperts& use) {
                    source.forEach(wanted, [&use](std::span<const typename ExpertSource<Inner, Outer>::Given> given) {
                        std::vector<erased::GivenExpert> refs;
                        for (const auto& [expert, matrices] : given)
                            refs.push_back({expert, &matrices->gate.ref(), &matrices->up.ref(), &matrices->down.ref()});
                        use(refs);
                    });
                }};
    }
};
}  // namespace detail

// result[rows.., outer] = sum over slots s, in their order, of weight[rows.., s] * down_e(swiglu(gate_e(x), up_e(x))),
// where e = expert[rows.., s], gate_e(x) = dot(x, gate of expert e, outer), and down_e sums over the inner axis.
// x: float, with the axis Outer; `routing` has slot in its place. An expert -1 is none: its slot counts nothing.
// Numbers as in dot: a row has the same bits alone as among others, on any number of threads. Rows that go to the same
// expert meet it together. Throws ShapeError if extents disagree, ValueError for an expert that there is not.
template <TensorLike X, auto... A, auto Inner, auto Outer>
auto mixture(const X& x, const Routing<A...>& routing, const ExpertSource<Inner, Outer>& experts) {
    using M = detail::MixtureOver<"mixture", X, Axes<A...>, Inner, Outer>;
    using Out = typename M::Out;
    using Checks = typename M::Checks;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), Out();
    else
        return Out(erased::mixture(M::routed(x, routing), M::experts(experts), names<typename M::Set>));
}

// add(stream, mixture(x, routing, experts)), where both have the same axes in the same order. A stream given as
// Tensor&& lends its buffer to the result. Throws as mixture and add do, and the stream is then untouched.
template <TensorLike S, TensorLike X, auto... A, auto Inner, auto Outer>
auto addMixture(S&& stream, const X& x, const Routing<A...>& routing, const ExpertSource<Inner, Outer>& experts) {
    using M = detail::MixtureOver<"addMixture", X, Axes<A...>, Inner, Outer>;
    using Out = typename M::Out;
    using Set = typename M::Set;
    using Checks = All<typename M::Checks, FloatValues<"addMixture", S>,
                       WantsAxes<"addMixture", SetOf<S>, Set, std::is_same_v<SetOf<S>, Set>>>;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), Out();
    else
        return Out(
            erased::addMixture(lend(std::forward<S>(stream)), M::routed(x, routing), M::experts(experts), names<Set>));
}

}  // namespace axial
