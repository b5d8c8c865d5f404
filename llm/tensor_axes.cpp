#include "axial/llm/tensor_axes.h"

#include "axial/llm/architectures.h"
#include "axial/llm/decoder.h"
#include "axial/llm/record_axes.h"

namespace axial::llm {

std::string axesOfTensor(const Hyperparameters& h, std::string_view tensor) {
    if (!tensor.starts_with("blk.")) return axesOfRecord<Trunk>(tensor, axisSizes(h));
    const Architecture* architecture = findArchitecture(h.architecture);
    const std::size_t dot = tensor.find('.', 4);  // behind the block's number
    if (!architecture || dot == std::string_view::npos) return {};
    return architecture->axesOfBlockTensor(tensor.substr(dot + 1), h);
}

}  // namespace axial::llm
