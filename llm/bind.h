// Fills a record of Weights from a file, by field name. Boost.Hana names the fields, so that a record is written once.
#pragma once
#include <boost/hana/accessors.hpp>
#include <boost/hana/core/to.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/second.hpp>
#include <optional>

#include "axial/llm/weight_source.h"
#include "axial/tensor/stored.h"

namespace axial::llm {

namespace detail {
// What WeightSource::check compares a stored tensor with.
template <auto... A>
TensorRef wantedExtents(const AxisSizes& sizes) {
    TensorRef wanted;
    wanted.axis = names<Axes<A...>>;
    wanted.rank = sizeof...(A);
    wanted.extent = Extents{sizes.of(A.name)...};
    return wanted;
}
template <auto... A>
Weight<A...> bound(const StoredTensor& stored, WeightSource& source, const AxisSizes& sizes) {
    const TensorRef wanted = wantedExtents<A...>(sizes);
    source.check(stored, wanted);
    return Weight<A...>(stored.data, stored.format, wanted.extent, stored.mapping, stored.name, stored.origin);
}
template <auto... A>
void bindField(Weight<A...>& field, const std::string& name, WeightSource& source, const AxisSizes& sizes) {
    field = bound<A...>(source.require(name), source, sizes);
}
// A weight that not every file has.
template <auto... A>
void bindField(std::optional<Weight<A...>>& field, const std::string& name, WeightSource& source,
               const AxisSizes& sizes) {
    if (const StoredTensor* stored = source.find(name)) field = bound<A...>(*stored, source, sizes);
}
}  // namespace detail

// The tensor that a record's field is bound to: attn_q.weight for attn_q, attn_q.bias for attn_q_bias.
inline std::string tensorOfField(std::string_view field) {
    constexpr std::string_view bias = "_bias";
    if (!field.ends_with(bias)) return std::string(field) + ".weight";
    return std::string(field.substr(0, field.size() - bias.size())) + ".bias";
}

// bindRecord(layer, "blk.3.", source, sizes) binds the record's field attn_q to the tensor blk.3.attn_q.weight, and so
// on for every field: Weight (FileError if the file lacks it) or std::optional<Weight>. Each weight's axes must fit the
// stored extents (WeightSource::check).
template <class Record>
void bindRecord(Record& record, const std::string& prefix, WeightSource& source, const AxisSizes& sizes) {
    namespace hana = boost::hana;
    hana::for_each(hana::accessors<Record>(), [&](auto field) {
        detail::bindField(hana::second(field)(record),
                          prefix + tensorOfField(hana::to<const char*>(hana::first(field))), source, sizes);
    });
}

}  // namespace axial::llm
