#include "axial/llm/tensor_axes.h"

#include <boost/hana/accessors.hpp>
#include <boost/hana/core/to.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/second.hpp>
#include <optional>

#include "axial/llm/llama.h"
#include "axial/llm/qwen3.h"

namespace axial::llm {
namespace {

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

// The axes of the record's field of that name, if it has one.
template <class Record>
std::string axesOfField(std::string_view field, const AxisSizes& sizes) {
    namespace hana = boost::hana;
    const Record record;
    std::string text;
    hana::for_each(hana::accessors<Record>(), [&](auto accessor) {
        if (field == hana::to<const char*>(hana::first(accessor)))
            text = spelled(hana::second(accessor)(record), sizes);
    });
    return text;
}

}  // namespace

std::string axesOfTensor(const Hyperparameters& h, std::string_view tensor) {
    if (!tensor.ends_with(".weight")) return {};
    tensor.remove_suffix(7);
    const AxisSizes sizes = axisSizes(h);
    if (!tensor.starts_with("blk.")) return axesOfField<Trunk>(tensor, sizes);
    const std::string_view field = tensor.substr(tensor.rfind('.') + 1);
    if (h.architecture == "qwen3") return axesOfField<Qwen3Layer>(field, sizes);
    if (h.architecture == "llama") return axesOfField<LlamaLayer>(field, sizes);
    return {};
}

}  // namespace axial::llm
