// einsum(into(axes...), a, b, ...): a product of any number of operands whose result's axes are the whole equation.
#pragma once
#include "axial/ops/dot.h"
#include "axial/ops/structure.h"

namespace axial {

// The result's axes: into(seq, ff).
template <AxisTag... X>
constexpr Axes<X{}...> into(X...) {
    return {};
}

namespace detail {
template <class X, class... Set>
inline constexpr std::size_t holders = (std::size_t{contains<Set, X>} + ... + 0);

// An axis in one operand only has to be in the result.
template <class Result, class Set, class... All>
struct NoPrivateAxis;
template <class Result, auto... A, class... All>
struct NoPrivateAxis<Result, Axes<A...>, All...> {
    using Private = decltype((Axes<>{} + ... + If < holders<std::remove_const_t<decltype(A)>, All...> == 1 &&
                                  !contains<Result, std::remove_const_t<decltype(A)>>,
                              A > {}));
    static constexpr bool ok = Private::size == 0;
    static consteval auto text() {
        Text t;
        return t << "einsum: " << Private{} << " of " << Axes<A...>{}
                 << " is in no other operand and not in the result; sum over it first";
    }
};
// Every axis of the result is in an operand.
template <class Result, class... Set>
struct SomeOperandHas;
template <auto... A, class... Set>
struct SomeOperandHas<Axes<A...>, Set...> {
    using Missing = decltype((Axes<>{} + ... + If<holders<std::remove_const_t<decltype(A)>, Set...> == 0, A>{}));
    static constexpr bool ok = Missing::size == 0;
    static consteval auto text() {
        Text t;
        return t << "einsum: no operand has " << Missing{} << " of the result";
    }
};

// The axes that l and r share and that nobody needs any more: neither the result nor a later operand.
template <class Result, class L, class R, class... Later>
struct Finished {
    template <class Set>
    struct Among;
    template <auto... A>
    struct Among<Axes<A...>> {
        using type = decltype((Axes<>{} + ... + If < !contains<Result, std::remove_const_t<decltype(A)>> &&
                                   holders<std::remove_const_t<decltype(A)>, Later...> == 0,
                               A > {}));
    };
    using type = typename Among<shared<L, R>>::type;
};
template <class L, class R, auto... X>
auto dotOverSet(const L& l, const R& r, Axes<X...>) {
    using D = DotOver<"einsum", L, R, std::remove_const_t<decltype(X)>...>;
    using Out = typename D::Out;
    using Checks = typename D::Checks;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), Out();
    else
        return Out(erased::dot(l.ref(), r.ref(), D::plan));
}

// The result so far, axes in the asked order.
template <auto... A, class T>
auto finished(Axes<A...>, T&& t) {
    using Result = TensorOf<float, Axes<A...>>;
    if constexpr (std::is_same_v<SetOf<T>, Axes<A...>>)
        return Result(std::move(t));
    else
        return Result(erased::copyAsFloat(arranged(renamed(t.ref(), names<SetOf<T>>), mapTo<SetOf<T>, Axes<A...>>)));
}
// The operands from the left, two at a time.
template <class Result, class T>
auto foldLeft(Result result, T&& t) {
    return finished(result, std::move(t));
}
template <class Result, class T, class R, class... Later>
auto foldLeft(Result result, T&& t, const R& r, const Later&... later) {
    using Over = typename Finished<Result, SetOf<T>, SetOf<R>, SetOf<Later>...>::type;
    return foldLeft(result, dotOverSet(t, r, Over{}), later...);
}
}  // namespace detail

// einsum(into(seq, ff), x, w) is [seq, ff]: the sum of the operands' product over every axis that is not in the result.
// An axis that two operands or more have and that is in the result is a batch axis; the operands are multiplied from
// the left, and an axis is summed over as soon as neither the result nor a later operand has it. Each operand is float
// or a Stored (dot says over which of its axes can be summed). Compile errors: an axis of the result that no operand
// has; an axis that only one operand has and that is not in the result, because a forgotten rename looks just like
// that (an explicit sum says that it is meant). An outer product is spelt by its result: into(row, col) of [row] and
// [col]. Throws as dot does.
template <auto... A, TensorLike First, TensorLike Second, TensorLike... More>
auto einsum(Axes<A...> result, const First& first, const Second& second, const More&... more) {
    using Out = TensorOf<float, Axes<A...>>;
    using Checks = All<detail::SomeOperandHas<Axes<A...>, SetOf<First>, SetOf<Second>, SetOf<More>...>,
                       detail::NoPrivateAxis<Axes<A...>, SetOf<First>, SetOf<First>, SetOf<Second>, SetOf<More>...>,
                       detail::NoPrivateAxis<Axes<A...>, SetOf<Second>, SetOf<First>, SetOf<Second>, SetOf<More>...>,
                       detail::NoPrivateAxis<Axes<A...>, SetOf<More>, SetOf<First>, SetOf<Second>, SetOf<More>...>...>;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), Out();
    else {
        using Over = typename detail::Finished<Axes<A...>, SetOf<First>, SetOf<Second>, SetOf<More>...>::type;
        return detail::foldLeft(result, detail::dotOverSet(first, second, Over{}), more...);
    }
}

}  // namespace axial
