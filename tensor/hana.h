// Lets Boost.Hana's algorithms walk an axis set: hana::for_each(axesOf(x), [](auto axis) { ... }).
#pragma once
#include <boost/hana/fwd/core/tag_of.hpp>
#include <boost/hana/fwd/unpack.hpp>

#include "axial/tensor/view.h"

namespace axial {

// The axes of a View, Tensor, Stored or Weight, as a value: a Foldable of Axis objects, in the axes' order.
template <TensorLike X>
constexpr SetOf<X> axesOf(const X&) {
    return {};
}

namespace detail {
struct AxesTag {};
}  // namespace detail
}  // namespace axial

namespace boost::hana {
template <auto... A>
struct tag_of<axial::Axes<A...>> {
    using type = axial::detail::AxesTag;
};
template <>
struct unpack_impl<axial::detail::AxesTag> {
    template <auto... A, class F>
    static constexpr decltype(auto) apply(axial::Axes<A...>, F&& f) {
        return static_cast<F&&>(f)(A...);
    }
};
}  // namespace boost::hana
