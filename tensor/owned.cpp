#include "axial/tensor/owned.h"

#include "axial/tensor/error.h"

namespace axial {

Owned allocate(Format format, const std::string_view* names, std::size_t rank, const Extents& extent) {
    Owned owned{dense(format, names, rank, extent), {}};
    const FormatInfo& info = infoOf(format);
    if (info.blockElements > 1 && (rank == 0 || extent[rank - 1] % info.blockElements != 0))
        throw ShapeError("tensor " + describe(owned.ref) + ": the last axis is not a multiple of the " +
                         std::to_string(info.blockElements) + " values in a block of " + std::string(info.name));
    owned.buffer = Buffer(bytesOf(format, owned.ref.size()));
    owned.ref.data = owned.buffer.data();
    owned.ref.owner = owned.buffer.block();
    return owned;
}

Owned Loan::claim(const std::string_view* names) const {
    if (!buffer || !buffer->unique() || !ref->isDense()) return allocate(ref->format, names, ref->rank, ref->extent);
    Owned owned{*ref, std::move(*buffer)};
    owned.ref.id = 0;
    *ref = emptied(*ref);
    return owned;
}

}  // namespace axial
