// Ops of our own, written as ops are (check, then claim, then compute), and a program of layers to record.
#pragma once
#include <array>
#include <string>

#include "axial/tensor/observe.h"
#include "axial/tensor/stored.h"
#include "axial/tensor/tensor.h"

namespace recorded {

using namespace axial;

inline constexpr Axis<"seq"> seq;
inline constexpr Axis<"embed"> embed;

template <auto... A>
Tensor<float, A...> twice(Tensor<float, A...>&& x) {
    OpCall call("twice", {&x.ref()});
    Owned out = lend(std::move(x)).claim(x.ref().axis);
    for (std::size_t i = 0; i < out.ref.size(); ++i) static_cast<float*>(out.ref.data)[i] *= 2;
    call.done(out.ref, [&] { return Work{out.ref.size()}; });
    return Tensor<float, A...>(std::move(out));
}
template <TensorLike X, TensorLike Y>
auto plus(const X& x, const Y& y) {
    OpCall call("plus", {&x.ref(), &y.ref()});
    if (x.size() != y.size()) failExtent("plus", "embed", x.size(), y.size());
    Owned out = allocate(Format::f32, x.ref().axis, x.ref().rank, x.ref().extent);
    for (std::size_t i = 0; i < x.size(); ++i)
        static_cast<float*>(out.ref.data)[i] =
            static_cast<const float*>(x.ref().data)[i] + static_cast<const float*>(y.ref().data)[i];
    call.done(out.ref, [&] { return Work{out.ref.size()}; });
    return TensorOf<float, SetOf<X>>(std::move(out));
}
template <TensorLike X>
auto copyOf(const X& x) {
    OpCall call("copyOf", {&x.ref()});
    Owned out = allocate(Format::f32, x.ref().axis, x.ref().rank, x.ref().extent);
    for (std::size_t i = 0; i < x.size(); ++i)
        static_cast<float*>(out.ref.data)[i] = static_cast<const float*>(x.ref().data)[i];
    call.done(out.ref);
    return TensorOf<float, SetOf<X>>(std::move(out));
}

// So many layers that add "blk.N.bias" of 10 and 20 to 1 and 2, and twice the sum. In layer `other` the weight is
// called "blk.N.other".
inline Tensor<float, embed> program(long layers, long other = -1) {
    static const std::array<float, 2> numbers{10, 20};
    auto x = tensor<float>({1, 2}, embed(2));
    for (long layer = 0; layer < layers; ++layer) {
        const Weight<embed> w(numbers.data(), Format::f32, Extents{2}, {},
                              "blk." + std::to_string(layer) + (layer == other ? ".other" : ".bias"));
        Scope scope("layer", layer);
        Scope inner("sum");
        x = named("sum", plus(x, w));
    }
    Scope scope("end");
    return twice(std::move(x));
}

}  // namespace recorded
