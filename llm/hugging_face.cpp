#include "axial/llm/hugging_face.h"

#include <cmath>

#include "axial/llm/parsed_json-inl.h"
#include "axial/tensor/error.h"
#include "axial/tensor/mapped_file.h"

namespace axial::llm {
namespace {

using Json = nlohmann::json;

struct NamePair {
    std::string_view theirs, ours;
};
constexpr NamePair trunkNames[] = {
    {"embed_tokens", "token_embd"},
    {"norm", "output_norm"},
    {"lm_head", "output"},
};
constexpr NamePair layerNames[] = {
    {"input_layernorm", "attn_norm"},    {"self_attn.q_proj", "attn_q"},
    {"self_attn.k_proj", "attn_k"},      {"self_attn.v_proj", "attn_v"},
    {"self_attn.o_proj", "attn_output"}, {"self_attn.q_norm", "attn_q_norm"},
    {"self_attn.k_norm", "attn_k_norm"}, {"post_attention_layernorm", "ffn_norm"},
    {"mlp.gate_proj", "ffn_gate"},       {"mlp.up_proj", "ffn_up"},
    {"mlp.down_proj", "ffn_down"},       {"mlp.gate", "ffn_gate_inp"},
};
constexpr NamePair expertNames[] = {
    {"gate_proj", "ffn_gate_exps"},
    {"up_proj", "ffn_up_exps"},
    {"down_proj", "ffn_down_exps"},
};

template <std::size_t n>
std::string_view oursOf(const NamePair (&table)[n], std::string_view theirs) {
    for (const NamePair& pair : table)
        if (pair.theirs == theirs) return pair.ours;
    return {};
}

// The keys of a JSON object, each checked as it is read.
class Keys {
  public:
    Keys(const std::filesystem::path& file, const Json& json) : file_(file), json_(json) {}

    const Json* find(const char* key) const {
        const auto found = json_.find(key);
        return found == json_.end() || found->is_null() ? nullptr : &*found;
    }
    std::size_t count(const char* key) const { return countOf(key, require(key)); }
    std::size_t countOr(const char* key, std::size_t otherwise) const {
        const Json* value = find(key);
        return value ? countOf(key, *value) : otherwise;
    }
    double number(const char* key) const { return numberOf(key, require(key)); }
    double numberOr(const char* key, double otherwise) const {
        const Json* value = find(key);
        return value ? numberOf(key, *value) : otherwise;
    }
    std::string text(const char* key) const {
        const Json* value = find(key);
        if (value && !value->is_string()) fail(std::string("key ") + key + " is " + shown(*value) + ", not a text");
        return value ? value->get<std::string>() : std::string();
    }
    bool flag(const char* key) const {
        const Json* value = find(key);
        if (value && !value->is_boolean())
            fail(std::string("key ") + key + " is " + shown(*value) + ", neither true nor false");
        return value && value->get<bool>();
    }
    [[noreturn]] void fail(const std::string& text) const { throw FileError(file_.string() + ": " + text); }
    [[noreturn]] void refuse(const std::string& text) const {
        throw UnsupportedError(file_.string() + ": " + text + " is not supported");
    }
    static std::string shown(const Json& value) { return value.dump().substr(0, 60); }
    const std::filesystem::path& file() const { return file_; }

  private:
    const Json& require(const char* key) const {
        const Json* value = find(key);
        if (!value) fail(std::string("key ") + key + " is missing");
        return *value;
    }
    std::size_t countOf(const char* key, const Json& value) const {
        constexpr std::size_t most = std::size_t{1} << 24;  // how far one may go before numbers overflow elsewhere
        if (!value.is_number_unsigned() || value == 0u || value > most)
            fail(std::string("key ") + key + " is " + shown(value) + "; it must be a whole number from 1 to " +
                 std::to_string(most));
        return value.get<std::size_t>();
    }
    double numberOf(const char* key, const Json& value) const {
        if (!value.is_number() || !(value.get<double>() > 0))
            fail(std::string("key ") + key + " is " + shown(value) + "; it must be a number above 0");
        return value.get<double>();
    }

    const std::filesystem::path& file_;
    const Json& json_;
};

// rope_scaling, or rope_parameters, which newer files have, with rope_theta in it.
void readRope(const Keys& config, Hyperparameters& h) {
    h.ropeTheta = config.numberOr("rope_theta", 10000);
    const Json* given = config.find("rope_parameters");
    if (!given) given = config.find("rope_scaling");
    if (!given) return;
    if (!given->is_object()) config.fail("rope_scaling is " + Keys::shown(*given) + ", not an object");
    const Keys rope(config.file(), *given);
    h.ropeTheta = rope.numberOr("rope_theta", h.ropeTheta);
    std::string kind = rope.text("rope_type");
    if (kind.empty()) kind = rope.text("type");
    if (kind.empty() || kind == "default") return;
    RopeScaling& s = h.ropeScaling;
    s.factor = rope.number("factor");
    const auto original = [&] {
        return rope.numberOr("original_max_position_embeddings", static_cast<double>(h.contextLength));
    };
    if (kind == "linear") {
        s.kind = RopeScaling::Kind::linear;
    } else if (kind == "yarn") {
        s.kind = RopeScaling::Kind::yarn;
        s.originalContext = original();
        s.attentionFactor = rope.numberOr("attention_factor", s.attentionFactor);
        s.betaFast = rope.numberOr("beta_fast", s.betaFast);
        s.betaSlow = rope.numberOr("beta_slow", s.betaSlow);
        for (const char* key : {"mscale", "mscale_all_dim"})
            if (rope.find(key)) config.refuse(std::string("rope_scaling with ") + key);
        if (rope.find("truncate") && !rope.flag("truncate")) config.refuse("rope_scaling with truncate false");
    } else if (kind == "llama3") {
        s.kind = RopeScaling::Kind::llama3;
        s.originalContext = original();
        s.lowFrequencyFactor = rope.number("low_freq_factor");
        s.highFrequencyFactor = rope.number("high_freq_factor");
    } else {
        config.refuse("rope_scaling of type " + kind);
    }
}

// num_experts, and which blocks have them. The names are those of Qwen3MoeConfig, and so is what counts if one is
// missing.
ExpertParameters readExperts(const Keys& config) {
    ExpertParameters e;
    e.count = config.count("num_experts");
    e.used = config.count("num_experts_per_tok");
    if (e.used > e.count)
        config.fail("key num_experts_per_tok is " + std::to_string(e.used) + ", more than the " +
                    std::to_string(e.count) + " experts");
    e.ff = config.count("moe_intermediate_size");
    e.normalise = config.flag("norm_topk_prob");
    e.every = config.countOr("decoder_sparse_step", 1);
    if (const Json* dense = config.find("mlp_only_layers")) {
        if (!dense->is_array()) config.fail("key mlp_only_layers is " + Keys::shown(*dense) + ", not a list");
        for (const Json& block : *dense) {
            if (!block.is_number_unsigned()) config.fail("key mlp_only_layers holds " + Keys::shown(block));
            e.dense.push_back(block.get<std::size_t>());
        }
    }
    for (const char* key : {"n_shared_experts", "num_shared_experts", "shared_expert_intermediate_size", "n_group",
                            "routed_scaling_factor", "scoring_func"})
        if (config.find(key)) config.refuse(std::string("key ") + key);
    return e;
}

}  // namespace

std::string ggufNameOf(std::string_view tensor) {
    std::string_view rest = tensor;
    if (rest.starts_with("model.")) rest.remove_prefix(6);
    const std::size_t dot = rest.rfind('.');  // before "weight" or "bias"
    if (dot == rest.npos) return std::string(tensor);
    const std::string kind(rest.substr(dot));
    rest = rest.substr(0, dot);
    constexpr std::string_view layers = "layers.";
    if (!rest.starts_with(layers)) {
        const std::string_view ours = oursOf(trunkNames, rest);
        return ours.empty() ? std::string(tensor) : std::string(ours) + kind;
    }
    rest.remove_prefix(layers.size());
    const std::size_t end = rest.find('.');
    if (end == rest.npos || rest.find_first_not_of("0123456789") != end) return std::string(tensor);
    const std::string block = "blk." + std::string(rest.substr(0, end)) + ".";
    std::string_view part = rest.substr(end + 1);
    constexpr std::string_view experts = "mlp.experts.";
    if (part.starts_with(experts)) {  // mlp.experts.7.gate_proj is ffn_gate_exps.7
        part.remove_prefix(experts.size());
        const std::size_t behind = part.find('.');
        if (behind == part.npos || part.find_first_not_of("0123456789") != behind) return std::string(tensor);
        const std::string_view ours = oursOf(expertNames, part.substr(behind + 1));
        return ours.empty() ? std::string(tensor)
                            : block + std::string(ours) + "." + std::string(part.substr(0, behind)) + kind;
    }
    const std::string_view ours = oursOf(layerNames, part);
    return ours.empty() ? std::string(tensor) : block + std::string(ours) + kind;
}

HuggingFaceConfig readConfig(const std::filesystem::path& file) {
    const MappedFile mapped(file);
    constexpr std::size_t mostBytes = 4 << 20;
    constexpr int deepest = 32;
    if (mapped.bytes().size() > mostBytes) throw FileError(file.string() + ": larger than 4 MiB");
    const Json json =
        parsedJson<Json>(std::string_view(reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size()),
                         deepest, [&](const std::string& what) { throw FileError(file.string() + ": " + what); });
    if (!json.is_object()) throw FileError(file.string() + ": not a JSON object");
    const Keys config(file, json);

    HuggingFaceConfig read;
    Hyperparameters& h = read.hyperparameters;
    h.architecture = config.text("model_type");
    if (h.architecture.empty()) config.fail("key model_type is missing, so the architecture is not known");
    if (h.architecture == "qwen3_moe") h.architecture = "qwen3moe";  // what GGUF calls it
    h.name = std::filesystem::absolute(file).parent_path().filename().string();
    h.contextLength = config.count("max_position_embeddings");
    h.layers = config.count("num_hidden_layers");
    h.embed = config.count("hidden_size");
    h.ff = config.count("intermediate_size");
    h.heads = config.count("num_attention_heads");
    h.kvHeads = config.countOr("num_key_value_heads", h.heads);
    if (h.heads % h.kvHeads != 0)
        config.fail("key num_attention_heads is " + std::to_string(h.heads) +
                    ", not a multiple of num_key_value_heads, which is " + std::to_string(h.kvHeads));
    if (!config.find("head_dim") && h.embed % h.heads != 0)
        config.fail("key head_dim is missing, and hidden_size " + std::to_string(h.embed) + " does not divide by the " +
                    std::to_string(h.heads) + " heads");
    h.channels = config.countOr("head_dim", h.embed / h.heads);
    const double rotated = config.numberOr("partial_rotary_factor", 1) * static_cast<double>(h.channels);
    h.ropeChannels = static_cast<std::size_t>(std::min(rotated, static_cast<double>(h.channels)));
    if (h.ropeChannels == 0 || h.ropeChannels % 2 != 0)
        config.fail("of the " + std::to_string(h.channels) + " channels of a head " + std::to_string(h.ropeChannels) +
                    " are rotated; it must be an even number");
    h.normEpsilon = static_cast<float>(config.number("rms_norm_eps"));
    readRope(config, h);
    if (config.find("num_experts")) h.experts = readExperts(config);
    h.turnsByHalves = true;
    read.tiedHead = config.flag("tie_word_embeddings");

    if (const std::string act = config.text("hidden_act"); !act.empty() && act != "silu")
        config.refuse("hidden_act " + act);
    if (config.flag("use_sliding_window")) config.refuse("use_sliding_window");
    if (config.flag("attention_bias")) config.refuse("attention_bias");
    if (config.flag("mlp_bias")) config.refuse("mlp_bias");
    if (const Json* quantised = config.find("quantization_config"))
        config.refuse("quantization_config " + Keys::shown(*quantised));
    return read;
}

}  // namespace axial::llm
