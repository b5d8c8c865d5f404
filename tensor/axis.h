// An axis is a name with a type of its own: inline constexpr Axis<"seq"> seq;
#pragma once
#include <algorithm>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace axial {

// A string that can be a template argument. The name is short because compilers print it for every axis.
template <std::size_t N>
struct Name {
    char text[N]{};
    constexpr Name() = default;
    consteval Name(const char (&s)[N]) { std::copy_n(s, N, text); }
    constexpr std::string_view view() const { return {text, N - 1}; }
};

// An integer that knows its axis: seq(3) is position 3, or an extent of 3, along seq.
template <class Axis>
struct At {
    static constexpr std::string_view name = Axis::name;
    static constexpr std::size_t fixed = Axis::fixed;
    std::size_t value;
};

// The fixed size of an axis that may have any.
inline constexpr std::size_t anySize = 0;

// A named axis. Two axes are the same axis if they have the same name and the same fixed size (if any), wherever they
// were declared. An axis with a fixed size, such as Axis<"rgb", 3>, has that extent in every tensor: checked whenever a
// view or a tensor is made. Axes of one name but different fixed sizes, or of which one has none, never meet: that is a
// compile error. x.rename(Axis<"rgb">(), Axis<"rgb", 3>()) turns one into the other, and checks the extent.
template <Name N, std::size_t Fixed = anySize>
struct Axis {
    static constexpr std::string_view name = N.view();
    static constexpr std::size_t fixed = Fixed;
    constexpr At<Axis> operator()(std::size_t i) const { return {i}; }
};

template <class X>
inline constexpr bool isAxis = false;
template <Name N, std::size_t F>
inline constexpr bool isAxis<Axis<N, F>> = true;
template <class X>
concept AxisTag = isAxis<std::remove_cvref_t<X>>;

}  // namespace axial
