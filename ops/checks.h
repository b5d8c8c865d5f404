// Compile-time checks that several ops share, beside those of tensor/axis_error.h.
#pragma once
#include "axial/tensor/stored.h"
#include "axial/tensor/tensor.h"

namespace axial {

// The operand's values are floats (a Stored's are, whatever the format they are stored in).
template <Name Op, TensorLike X>
struct FloatValues {
    static constexpr bool ok = std::is_same_v<ElementOf<X>, float>;
    static consteval auto text() {
        detail::Text t;
        return t << Op.view() << ": works on float values, but " << SetOf<X>{} << " holds integers or doubles";
    }
};
// Part's axes are all among the set's.
template <Name Op, class Part, class Set>
struct AxesAmong {
    static constexpr bool ok = without<Part, Set>::size == 0;
    static consteval auto text() {
        detail::Text t;
        return t << Op.view() << ": " << Part{} << " has axes that " << Set{} << " lacks: " << without<Part, Set>{};
    }
};
// The operand has one axis.
template <Name Op, class Set>
struct OneAxis {
    static constexpr bool ok = Set::size == 1;
    static consteval auto text() {
        detail::Text t;
        return t << Op.view() << ": wants one axis but got " << Set{};
    }
};

// The set's axes with X's last: a row runs along X.
template <class Set, class X>
using RowsAlong = joined<without<Set, X>, X>;

}  // namespace axial
