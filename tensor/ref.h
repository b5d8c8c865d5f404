// TensorRef: a tensor whose axis names are run-time data. Kernels, observers and everything below the typed layer speak
// this.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "axial/tensor/format.h"

namespace axial {

inline constexpr std::size_t maxRank = 8;
using ValueId = std::uint32_t;  // 0: a value no observer has seen yet
using Extents = std::array<std::size_t, maxRank>;
using Strides = std::array<std::ptrdiff_t, maxRank>;  // in elements; 0 where an operand is broadcast

struct Block;
class FormSlot;
struct TensorRef {
    void* data = nullptr;
    const std::string_view* axis = nullptr;  // `rank` names, in a table that lives forever
    Format format = Format::f32;
    std::uint8_t rank = 0;
    ValueId id = 0;
    Block* owner = nullptr;  // whose buffer this is, so that an observer can keep it; null for mapped memory
    Extents extent{};
    Strides stride{};
    std::string_view label;    // the file's name for it ("blk.0.attn_q.weight"), if it has one
    FormSlot* slot = nullptr;  // of the weight that it is, or is a part of (form_slot.h)

    // The product of the extents: the number of values.
    std::size_t size() const;
    // Whether the values lie one after the other in the axes' order.
    bool isDense() const;
};

// Where each axis of one order is found in another; -1: nowhere.
struct AxisMap {
    std::uint8_t rank = 0;
    std::int8_t from[maxRank]{};
};

// "[seq=2, embed=4]"
std::string describe(const TensorRef&);

// The same value with its axes in the map's order; an axis it lacks gets stride 0 and `like`'s extent.
TensorRef arranged(const TensorRef&, const AxisMap&, const Extents* like = nullptr);
// The same value under another table of names, axis by axis.
TensorRef renamed(const TensorRef&, const std::string_view* axis);
// `count` positions of an axis from `first` on. Throws ShapeError past the end, or inside a block of a block format.
TensorRef narrowed(const TensorRef&, std::size_t axis, std::size_t first, std::size_t count);

inline constexpr std::size_t unsaid = static_cast<std::size_t>(-1);
// Position at[k] of each axis k for which one is said, without those axes; `names` are those of what is left. Throws
// ShapeError past the end, or inside a block of a block format.
TensorRef picked(const TensorRef&, const std::size_t* at, const std::string_view* names);
// An axis as several, sizes outermost first; one size may be `unsaid`, and is then worked out. ShapeError if the sizes
// do not multiply to the extent.
TensorRef splitAxis(const TensorRef&, std::size_t axis, const std::size_t* sizes, std::size_t count,
                    const std::string_view* names);
// `count` adjacent axes from `first` on as one. ShapeError if they are not laid out as one (copy() makes them so).
TensorRef mergeAxes(const TensorRef&, std::size_t first, std::size_t count, const std::string_view* names);
// Row-major strides over the extents; no data. ShapeError if the number of values overflows.
TensorRef dense(Format, const std::string_view* names, std::size_t rank, const Extents&);
// What is left in the place of a value that was handed on: its axes with extents of 0, and no data.
TensorRef emptied(const TensorRef&);

}  // namespace axial
