// View<T, axes...>: a borrowed, strided window on numbers whose axes have names. Copying one copies no numbers.
// All the work is done by the untyped functions of ref.h; a View adds only the types.
#pragma once
#include "axial/tensor/structure.h"

namespace axial {

template <class T, auto... A>
class View;
// In the place of a view or tensor that cannot be: an op that has reported why returns it, and says no more.
struct Impossible {
    using Set = Axes<>;
};
template <class T, class Set, bool Possible = possibleAxes<Set>>
struct viewOf {
    using type = Impossible;
};
template <class T, auto... A>
struct viewOf<T, Axes<A...>, true> {
    using type = View<T, A...>;
};
template <class T, class Set>
using ViewOf = typename viewOf<T, Set>::type;

// Borrows: whatever owns the numbers (a Tensor, a mapped file) must live, and keep its buffer, as long as the View is
// used. A View of a Tensor that is moved from, replaced or destroyed dangles, as a pointer would.
template <class T, auto... A>
class View {
  public:
    using Element = T;
    using Set = Axes<A...>;
    static_assert(ElementType<std::remove_const_t<T>>,
                  "View<T, axes...>: T is float, double, std::int8_t, std::int16_t, std::int32_t or std::int64_t");
    static_assert((isAxis<std::remove_const_t<decltype(A)>> && ...),
                  "View<T, axes...>: each axis is an Axis object, such as seq");
    static_assert(sizeof(*All<NoAxisTwice<"View", Set>, RankFits<"View", Set>>::error()));

    View() = default;
    explicit View(const TensorRef& r) : ref_(r) {
        ref_.axis = names<Set>;
        if constexpr (detail::anyFixed<A...>)
            if (r.data) detail::checked<Set>("tensor", ref_);
    }
    // The same axes in another order are the same view; mutable converts to const.
    template <class U, auto... B>
        requires std::is_convertible_v<U*, T*>
    View(const View<U, B...>& o) : View(arranged(o.ref(), mapTo<Axes<B...>, Set>)) {
        static_assert(sizeof(*All<WantsAxes<"View", Axes<B...>, Set>>::error()));
    }

    // The first value; the others are where the strides say.
    T* data() const { return static_cast<T*>(ref_.data); }
    const TensorRef& ref() const { return ref_; }
    void setId(ValueId id) { ref_.id = id; }
    // The number of values.
    std::size_t size() const { return ref_.size(); }
    bool isDense() const { return ref_.isDense(); }
    template <class X>
    std::size_t extent(X) const {
        using Checks = typename detail::Extent<Set, X>::Checks;
        if constexpr (!Checks::ok)
            return sizeof(*Checks::error());
        else
            return ref_.extent[indexOf<X>(Set{})];
    }
    // In elements.
    template <class X>
    std::ptrdiff_t stride(X) const {
        using Checks = typename detail::Stride<Set, X>::Checks;
        if constexpr (!Checks::ok)
            return sizeof(*Checks::error());
        else
            return ref_.stride[indexOf<X>(Set{})];
    }

    // x(seq(1), embed(3)) is an element; x(seq(1)) is the view of what remains. ShapeError past the end.
    template <class... X>
    decltype(auto) operator()(At<X>... i) const {
        using Op = detail::Index<Set, X...>;
        if constexpr (!Op::Checks::ok)
            return (void)sizeof(*Op::Checks::error()), View();
        else if constexpr (sizeof...(X) == sizeof...(A))
            return (data()[Op::offset(ref_, i...)]);
        else
            return ViewOf<T, typename Op::Out>(Op::of(ref_, i...));
    }

    // The axis under another name: keys are k.rename(seq, key). ShapeError if the new one has another fixed size.
    template <class Old, class New>
    auto rename(Old, New) const {
        using Op = detail::Rename<Set, Old, New>;
        if constexpr (!Op::Checks::ok)
            return (void)sizeof(*Op::Checks::error()), View();
        else
            return ViewOf<T, typename Op::Out>(Op::of(ref_));
    }
    // `count` positions of an axis, from `first` on. ShapeError past the end.
    template <class X>
    View narrow(X, std::size_t first, std::size_t count) const {
        using Op = detail::Narrow<Set, X>;
        if constexpr (!Op::Checks::ok)
            return (void)sizeof(*Op::Checks::error()), View();
        else
            return View(Op::of(ref_, first, count));
    }
    // split(attn, head(16), channel): one axis into several, outermost first; one size may be left out. ShapeError if
    // the sizes do not multiply to the extent.
    template <class X, class... Part>
    auto split(X, Part... part) const {
        using Op = detail::Split<Set, X, Part...>;
        if constexpr (!Op::Checks::ok)
            return (void)sizeof(*Op::Checks::error()), View();
        else
            return ViewOf<T, typename Op::Out>(Op::of(ref_, part...));
    }
    // merge(attn, head, channel): adjacent axes, named in their order, into one. ShapeError if they are not laid out as
    // one.
    template <class Into, class X, class... More>
    auto merge(Into, X, More...) const {
        using Op = detail::Merge<Set, Into, X, More...>;
        if constexpr (!Op::Checks::ok)
            return (void)sizeof(*Op::Checks::error()), View();
        else
            return ViewOf<T, typename Op::Out>(Op::of(ref_));
    }
    // as(embed, seq): the same numbers, axes in this order. All of them are named.
    template <class... X>
    auto as(X...) const {
        using Op = detail::Reorder<Set, X...>;
        if constexpr (!Op::Checks::ok)
            return (void)sizeof(*Op::Checks::error()), View();
        else
            return View<T, X{}...>(*this);
    }

  protected:
    TensorRef ref_;
};

// What a value is underneath, whether it is a View, a Tensor or a Weight, or a reference to one.
template <class T, auto... A>
View<T, A...> viewIn(const View<T, A...>&);
template <class X>
using ViewIn = decltype(viewIn(std::declval<const std::remove_cvref_t<X>&>()));
template <class X>
concept TensorLike = requires(const std::remove_cvref_t<X>& x) { viewIn(x); };
template <class X>
using SetOf = typename ViewIn<X>::Set;
template <class X>
using ElementOf = std::remove_const_t<typename ViewIn<X>::Element>;

}  // namespace axial
