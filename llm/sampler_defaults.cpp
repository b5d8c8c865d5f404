#include "axial/llm/sampler_defaults.h"

#include "axial/llm/gguf.h"
#include "axial/llm/parsed_json-inl.h"
#include "axial/tensor/error.h"
#include "axial/tensor/mapped_file.h"

namespace axial::llm {
namespace {

SamplerSettings modelCard(bool thinking) {
    SamplerSettings s;
    s.temperature = thinking ? 0.6 : 0.7;
    s.topK = 20;
    s.topP = thinking ? 0.95 : 0.8;
    return s;
}

}  // namespace

SamplerSettings advisedSampling(const GgufFile& file, bool thinking) {
    SamplerSettings s = modelCard(thinking);
    const auto find = [&](const char* name) { return file.find(std::string("general.sampling.") + name); };
    if (const MetadataValue* v = find("temp")) s.temperature = v->number();
    if (const MetadataValue* v = find("top_k")) s.topK = v->integer();
    if (const MetadataValue* v = find("top_p")) s.topP = v->number();
    if (const MetadataValue* v = find("min_p")) s.minP = v->number();
    if (const MetadataValue* v = find("penalty_repeat")) s.penalties.repeat = v->number();
    if (const MetadataValue* v = find("penalty_last_n")) s.penalties.window = v->integer();
    return s;
}

SamplerSettings advisedSampling(const std::filesystem::path& generationConfig, bool thinking) {
    using Json = nlohmann::json;
    SamplerSettings s = modelCard(thinking);
    std::error_code unknown;
    if (!std::filesystem::exists(generationConfig, unknown)) return s;
    const auto fail = [&](const std::string& what) { throw FileError(generationConfig.string() + ": " + what); };
    const MappedFile mapped(generationConfig);
    constexpr std::size_t mostBytes = 4 << 20;
    constexpr int deepest = 32;
    if (mapped.bytes().size() > mostBytes) fail("larger than 4 MiB");
    const Json json = parsedJson<Json>(
        std::string_view(reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size()), deepest, fail);
    if (!json.is_object()) fail("not a JSON object");
    const auto number = [&](const char* key, auto& into) {
        const auto found = json.find(key);
        if (found == json.end() || found->is_null()) return;
        if (!found->is_number())
            fail(std::string("key ") + key + " is " + found->dump().substr(0, 60) + ", not a number");
        into = found->get<std::remove_reference_t<decltype(into)>>();
    };
    number("temperature", s.temperature);
    number("top_k", s.topK);
    number("top_p", s.topP);
    number("min_p", s.minP);
    number("typical_p", s.typicalP);
    number("repetition_penalty", s.penalties.repeat);
    if (const auto sample = json.find("do_sample"); sample != json.end() && *sample == false) s.temperature = 0;
    return s;
}

}  // namespace axial::llm
