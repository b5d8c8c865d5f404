// A tensor of floats that lie somewhere in memory.
#pragma once
#include "axial/tensor/view.h"

namespace axial::bench {

template <auto... A>
View<const float, A...> floatsAt(const std::byte* place, const Extents& extents) {
    TensorRef ref = dense(Format::f32, names<Axes<A...>>, sizeof...(A), extents);
    ref.data = const_cast<std::byte*>(place);
    return View<const float, A...>(ref);
}

}  // namespace axial::bench
