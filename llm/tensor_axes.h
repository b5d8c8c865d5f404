// The axes of the tensors in a model file, as the families' records of weights name them.
#pragma once
#include <string>
#include <string_view>

#include "axial/llm/hyperparameters.h"

namespace axial::llm {

// "head=16, channel=128, embed=1024" for the tensor blk.3.attn_q.weight of a Qwen3; empty for a tensor or an
// architecture that no family here knows.
std::string axesOfTensor(const Hyperparameters& hyperparameters, std::string_view tensor);

}  // namespace axial::llm
