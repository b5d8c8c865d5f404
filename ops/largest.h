// Where the largest values are: argmax, topK, and the choice of experts by a router.
#pragma once
#include <cstdint>
#include <utility>

#include "axial/ops/axes.h"
#include "axial/ops/checks.h"

namespace axial {

namespace erased {
// In all of them `rows` has the axis that is searched last; the result's names have no such axis, or another one in its
// place.
Owned argmax(const TensorRef& x, const AxisMap& rows, const std::string_view* names);
// The indices, and the values found there.
std::pair<Owned, Owned> topK(const TensorRef& x, const AxisMap& rows, const std::string_view* names, std::size_t k);
// The experts, and their weights.
std::pair<Owned, Owned> routerTopK(const TensorRef& logits, const AxisMap& rows, const std::string_view* names,
                                   std::size_t k, bool normalise, double topP);
}  // namespace erased

// The position of the largest value along an axis, which the result lacks; of equals the lowest. Throws ShapeError for
// an extent of 0, ValueError if there is a NaN, which has no place in an order.
template <TensorLike X, class Along>
auto argmax(const X& x, Along) {
    using Set = SetOf<X>;
    using Rest = without<Set, Axes<Along{}>>;
    using Out = TensorOf<std::int32_t, Rest>;
    using Checks = All<FloatValues<"argmax", X>, HasAxis<"argmax", Set, Along>>;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), Out();
    else
        return Out(erased::argmax(x.ref(), mapTo<Set, RowsAlong<Set, Axes<Along{}>>>, names<Rest>));
}

// The largest values and their positions.
template <auto... A>
struct TopK {
    Tensor<std::int32_t, A...> index;
    Tensor<float, A...> value;
};

// For each expert chosen, which it is and what its output counts.
template <auto... A>
struct Routing {
    Tensor<std::int32_t, A...> expert;
    Tensor<float, A...> weight;
};

namespace detail {
template <template <auto...> class Pair, class Set>
struct pairOf;
template <template <auto...> class Pair, auto... A>
struct pairOf<Pair, Axes<A...>> {
    using type = Pair<A...>;
};
}  // namespace detail

// The k largest values along an axis, largest first, of equals the lowest position first: topK(x, vocab, slot, 40). The
// results have `into` where x had the axis. Throws ValueError for k = 0, a k above the extent, or a NaN.
template <TensorLike X, class Along, class Into>
auto topK(const X& x, Along, Into, std::size_t k) {
    using Set = SetOf<X>;
    using OutSet = replaced<Set, Along, Into>;
    using Checks =
        All<FloatValues<"topK", X>, HasAxis<"topK", Set, Along>, AxisIsNew<"topK", without<Set, Axes<Along{}>>, Into>>;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), TopK<>();
    else {
        using Out = typename detail::pairOf<TopK, OutSet>::type;
        auto [index, value] = erased::topK(x.ref(), mapTo<Set, RowsAlong<Set, Axes<Along{}>>>, names<OutSet>, k);
        return Out{decltype(Out::index)(std::move(index)), decltype(Out::value)(std::move(value))};
    }
}

// A mixture's router (Shazeer et al. 2017, "Outrageously Large Neural Networks"; the softmax over all experts before
// the choice is that of Mixtral and Qwen3-MoE): probabilities = softmax(logits, along); the k experts with the largest
// logits, largest first, of equals the lowest number first; their probabilities, divided by their sum if `normalise`.
// With topP below 1, the last of the k count nothing where the first have topP of the k's probability already: their
// number is -1, their weight 0, and they are in no sum. At 1 that changes nothing.
// The results have slot where the logits had the axis. Throws ValueError, naming the row, where logits are NaN, plus
// infinity or all minus infinity, for k = 0 or a k above the number of experts, and for a topP not in (0, 1].
template <TensorLike X, class Along>
auto routerTopK(const X& logits, Along, std::size_t k, bool normalise, double topP = 1) {
    using Set = SetOf<X>;
    using OutSet = replaced<Set, Along, Axis<"slot">>;
    using Checks = All<FloatValues<"routerTopK", X>, HasAxis<"routerTopK", Set, Along>,
                       AxisIsNew<"routerTopK", without<Set, Axes<Along{}>>, Axis<"slot">>>;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), Routing<>();
    else {
        using Out = typename detail::pairOf<Routing, OutSet>::type;
        auto [expert, weight] = erased::routerTopK(logits.ref(), mapTo<Set, RowsAlong<Set, Axes<Along{}>>>,
                                                   names<OutSet>, k, normalise, topP);
        return Out{decltype(Out::expert)(std::move(expert)), decltype(Out::weight)(std::move(weight))};
    }
}

}  // namespace axial
