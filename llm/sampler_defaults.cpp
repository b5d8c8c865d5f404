#include "axial/llm/sampler_defaults.h"

#include "axial/llm/gguf.h"

namespace axial::llm {

SamplerSettings advisedSampling(const GgufFile& file, bool thinking) {
    SamplerSettings s;
    s.temperature = thinking ? 0.6 : 0.7;
    s.topK = 20;
    s.topP = thinking ? 0.95 : 0.8;
    const auto find = [&](const char* name) { return file.find(std::string("general.sampling.") + name); };
    if (const MetadataValue* v = find("temp")) s.temperature = v->number();
    if (const MetadataValue* v = find("top_k")) s.topK = v->integer();
    if (const MetadataValue* v = find("top_p")) s.topP = v->number();
    if (const MetadataValue* v = find("min_p")) s.minP = v->number();
    if (const MetadataValue* v = find("penalty_repeat")) s.penalties.repeat = v->number();
    if (const MetadataValue* v = find("penalty_last_n")) s.penalties.window = v->integer();
    return s;
}

}  // namespace axial::llm
