// View<T, axes...>: a borrowed, strided window on numbers whose axes have names. Copying one copies no numbers.
// All the work is done by the untyped functions of ref.h; a View adds only the types.
#pragma once
#include "axial/tensor/axis_error.h"
#include "axial/tensor/error.h"
#include "axial/tensor/ref.h"

namespace axial {

template <class T, auto... A>
class View;
template <class T, class Set>
struct viewOf;
template <class T, auto... A>
struct viewOf<T, Axes<A...>> {
    using type = View<T, A...>;
};
template <class T, class Set>
using ViewOf = typename viewOf<T, Set>::type;

// An axis, or an axis with an extent, as an argument: its axis, and its extent (0: not said).
template <class P>
struct axisIn {
    using type = P;
};
template <class X>
struct axisIn<At<X>> {
    using type = X;
};
template <class P>
using AxisIn = typename axisIn<std::remove_cvref_t<P>>::type;
template <class P>
constexpr std::size_t sizeIn(P p) {
    if constexpr (isAxis<P>)
        return P::fixed;
    else
        return p.value;
}

template <class T, auto... A>
class View {
  public:
    using Element = T;
    using Set = Axes<A...>;
    static_assert((isAxis<std::remove_const_t<decltype(A)>> && ...),
                  "View<T, axes...>: each axis is an Axis object, such as seq");
    static_assert(sizeof...(A) <= maxRank, "View<T, axes...>: at most 8 axes");
    static_assert(detail::allDifferent(Set{}), "View<T, axes...>: an axis may stand there once; rename one of two");

    View() = default;
    explicit View(const TensorRef& r) : ref_(r) { ref_.axis = names<Set>; }
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
        return ref_.extent[at<"extent", X>()];
    }
    // In elements.
    template <class X>
    std::ptrdiff_t stride(X) const {
        return ref_.stride[at<"stride", X>()];
    }

    // x(seq(1), embed(3)) is an element; x(seq(1)) is the view of what remains. ShapeError past the end.
    template <class X>
    decltype(auto) operator()(At<X> i) const {
        constexpr std::size_t k = at<"index", X>();
        using Rest = without<Set, Axes<X{}>>;
        const TensorRef rest = picked(ref_, k, i.value, names<Rest>);
        if constexpr (sizeof...(A) == 1)
            return (*static_cast<T*>(rest.data));
        else
            return ViewOf<T, Rest>(rest);
    }
    template <class X, class Y, class... More>
    decltype(auto) operator()(At<X> i, At<Y> j, At<More>... more) const {
        return (*this)(i)(j, more...);
    }

    // The axis under another name: keys are k.rename(seq, key).
    template <class Old, class New>
    auto rename(Old, New) const {
        at<"rename", Old>();
        static_assert(sizeof(*All<AxisIsNew<"rename", without<Set, Axes<Old{}>>, New>>::error()));
        return ViewOf<T, replaced<Set, Old, New>>(ref_);
    }
    // `count` positions of an axis, from `first` on. ShapeError past the end.
    template <class X>
    View narrow(X, std::size_t first, std::size_t count) const {
        return View(narrowed(ref_, at<"narrow", X>(), first, count));
    }
    // split(attn, head(16), channel): one axis into several, outermost first; one size may be left out. ShapeError if
    // the sizes do not multiply to the extent.
    template <class X, class... Part>
    auto split(X, Part... part) const {
        using Out = replaced<Set, X, AxisIn<Part>...>;
        const std::size_t sizes[] = {sizeIn(part)...};
        return ViewOf<T, Out>(splitAxis(ref_, at<"split", X>(), sizes, sizeof...(Part), names<Out>));
    }
    // merge(attn, head, channel): adjacent axes, named in their order, into one. ShapeError if they are not laid out as
    // one.
    template <class Into, class X, class... More>
    auto merge(Into, X, More...) const {
        using Out = replaced<without<Set, Axes<More{}...>>, X, Into>;
        static_assert(sizeof(*All<HasAxis<"merge", Set, X>, HasAxis<"merge", Set, More>...,
                                  Adjacent<"merge", Set, Axes<X{}, More{}...>>>::error()));
        return ViewOf<T, Out>(mergeAxes(ref_, at<"merge", X>(), 1 + sizeof...(More), names<Out>));
    }
    // as(embed, seq): the same numbers, axes in this order. All of them are named.
    template <class... X>
    View<T, X{}...> as(X...) const {
        return *this;
    }

  protected:
    template <Name Op, class X>
    static constexpr std::size_t at() {
        static_assert(sizeof(*All<HasAxis<Op, Set, X>>::error()));
        return indexOf<X>(Set{});
    }
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
