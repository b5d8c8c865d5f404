// The sampling that a model's makers advise.
#pragma once
#include <filesystem>

#include "axial/llm/sampler.h"

namespace axial::llm {

class GgufFile;

// What the file says (general.sampling.temp, top_k, top_p, min_p, penalty_repeat, penalty_last_n); what it does not say
// is the Qwen3 model card's advice: temperature 0.6, top-k 20, top-p 0.95 for replies that think first, and 0.7, 20,
// 0.8 for those that do not. FileError for a key of a wrong type.
SamplerSettings advisedSampling(const GgufFile& file, bool thinking);
// The same of a generation_config.json (temperature, top_k, top_p, min_p, typical_p, repetition_penalty, do_sample),
// which need not be there.
SamplerSettings advisedSampling(const std::filesystem::path& generationConfig, bool thinking);

}  // namespace axial::llm
