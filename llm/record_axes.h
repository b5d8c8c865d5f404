// The axes of a record's weights, in words.
#pragma once
#include <boost/hana/accessors.hpp>
#include <boost/hana/core/to.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/second.hpp>

#include "axial/llm/bind.h"

namespace axial::llm {

namespace detail {
template <auto... A>
std::string spelled(const Weight<A...>&, const AxisSizes& sizes) {
    std::string text;
    ((text += (text.empty() ? "" : ", ") + std::string(A.name) + "=" + std::to_string(sizes.of(A.name))), ...);
    return text;
}
template <auto... A>
std::string spelled(const std::optional<Weight<A...>>&, const AxisSizes& sizes) {
    return spelled(Weight<A...>(), sizes);
}
}  // namespace detail

// "head=16, channel=128, embed=1024": the axes of the field that is bound to the tensor attn_q.weight; empty if the
// record has none.
template <class Record>
std::string axesOfRecord(std::string_view tensor, const AxisSizes& sizes) {
    namespace hana = boost::hana;
    const Record record;
    std::string text;
    hana::for_each(hana::accessors<Record>(), [&](auto field) {
        if (tensor == tensorOfField(hana::to<const char*>(hana::first(field))))
            text = detail::spelled(hana::second(field)(record), sizes);
    });
    return text;
}

}  // namespace axial::llm
