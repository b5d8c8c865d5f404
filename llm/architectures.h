// The one table of the architectures that can be run.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "axial/llm/model.h"
#include "axial/llm/weight_source.h"

namespace axial::llm {

struct Architecture {
    std::string_view name;  // general.architecture of a GGUF file
    bool hasExperts;        // whether the files are of mixtures of experts
    std::unique_ptr<Model> (*make)(const Hyperparameters&, WeightSource&);
    // "head=16, channel=128, embed=1024" for attn_q.weight, as the family's record of a block's weights names its axes;
    // empty for a tensor that the record lacks.
    std::string (*axesOfBlockTensor)(std::string_view tensor, const Hyperparameters&);
};

std::span<const Architecture> architectures();
// Null if it is not among them.
const Architecture* findArchitecture(std::string_view name);
// "qwen3, qwen2, ...", for messages.
std::string architectureNames();

}  // namespace axial::llm
