#include "axial/ops/gather.h"

#include <string>
#include <vector>

#include "axial/ops/interleaved.h"
#include "axial/tensor/decode.h"
#include "axial/tensor/error.h"
#include "axial/tensor/observe.h"
#include "axial/tensor/parallel.h"

namespace axial::erased {
namespace {

// out = from, values as floats, axis by axis; the same axes in the same order.
void decodeInto(const TensorRef& from, const std::byte* data, const std::ptrdiff_t* outStride, float* out,
                std::size_t axis = 0) {
    const FormatInfo& info = infoOf(from.format);
    if (axis == from.rank) return decode(from.format, data, 1, out);
    const bool gapless = from.stride[axis] == 1 && outStride[axis] == 1;
    if (axis + 1 == from.rank && gapless) return decode(from.format, data, from.extent[axis], out);
    for (std::size_t i = 0; i < from.extent[axis]; ++i) {
        const auto at = static_cast<std::ptrdiff_t>(i);
        decodeInto(from, data + at * from.stride[axis] / info.blockElements * info.blockBytes, outStride,
                   out + at * outStride[axis], axis + 1);
    }
}

}  // namespace

Owned gather(const TensorRef& table, std::size_t axis, const TensorRef& ids, const std::string_view* names) {
    OpCall call("gather", {&table, &ids});
    const std::size_t rows = table.extent[axis], count = ids.size();
    const FormatInfo& info = infoOf(table.format);
    if (table.extent[table.rank - 1u] % info.blockElements != 0 && axis + 1 != table.rank)
        throw ShapeError("gather: axis " + std::string(table.axis[table.rank - 1u]) + " has extent " +
                         std::to_string(table.extent[table.rank - 1u]) + ", which is not whole blocks of " +
                         std::string(info.name));
    // The ids one after the other, each checked before anything is made.
    std::vector<std::size_t> chosen;
    chosen.reserve(count);
    const TensorRef order = dense(Format::i32, ids.axis, ids.rank, ids.extent);
    for (std::size_t i = 0; i < count; ++i) {
        std::ptrdiff_t at = 0;
        for (std::size_t a = 0; a < ids.rank; ++a)
            at += static_cast<std::ptrdiff_t>(i / static_cast<std::size_t>(order.stride[a]) % ids.extent[a]) *
                  ids.stride[a];
        const std::int32_t id = static_cast<const std::int32_t*>(ids.data)[at];
        if (id < 0 || static_cast<std::size_t>(id) >= rows)
            throw ValueError("gather: id " + std::to_string(id) + " at position " + std::to_string(i) +
                             " is outside axis " + std::string(table.axis[axis]) + " of extent " +
                             std::to_string(rows));
        chosen.push_back(static_cast<std::size_t>(id));
    }
    Extents extent{};
    std::size_t rank = 0;
    for (std::size_t a = 0; a < axis; ++a) extent[rank++] = table.extent[a];
    for (std::size_t a = 0; a < ids.rank; ++a) extent[rank++] = ids.extent[a];
    for (std::size_t a = axis + 1; a < table.rank; ++a) extent[rank++] = table.extent[a];
    Owned out = allocate(Format::f32, names, rank, extent);
    if (out.ref.size() != 0) {
        // One row of the table, and where its axes lie in the result.
        TensorRef row = table;
        --row.rank;
        for (std::size_t a = axis; a < row.rank; ++a)
            row.extent[a] = table.extent[a + 1], row.stride[a] = table.stride[a + 1];
        std::ptrdiff_t outStride[maxRank]{};
        for (std::size_t a = 0; a < row.rank; ++a) outStride[a] = out.ref.stride[a < axis ? a : a + ids.rank];
        std::ptrdiff_t after = 1;
        for (std::size_t a = axis + 1; a < table.rank; ++a) after *= static_cast<std::ptrdiff_t>(table.extent[a]);
        const bool matrix = table.slot && axis == 0 && table.rank == 2 && table.isDense();
        const std::size_t k = table.extent[table.rank - 1u], rowBytes = bytesOf(table.format, k);
        parallelFor(count, 8, [&](std::size_t begin, std::size_t end) {
            std::vector<std::byte> memory(matrix ? 16 * rowBytes : 0);
            for (std::size_t i = begin; i < end; ++i) {
                const std::ptrdiff_t skip = static_cast<std::ptrdiff_t>(chosen[i]) * table.stride[axis];
                const auto* stored =
                    static_cast<const std::byte*>(table.data) + skip / info.blockElements * info.blockBytes;
                if (matrix) {
                    const auto* restored = restoredRow(
                        {table.format, stored, static_cast<std::ptrdiff_t>(rowBytes), table.slot}, k, memory.data());
                    if (restored) stored = restored;
                }
                decodeInto(row, stored, outStride,
                           static_cast<float*>(out.ref.data) + static_cast<std::ptrdiff_t>(i) * after);
            }
        });
    }
    call.done(out.ref, [&] {
        const std::size_t row = rows == 0 ? 0 : table.size() / rows;
        return Work{.bytesRead = count * bytesOf(table.format, row) + bytesOf(ids.format, count)};
    });
    return out;
}

}  // namespace axial::erased
