#include "axial/llm/hyperparameters.h"

#include <algorithm>

#include "axial/llm/gguf.h"
#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

// Reads keys of one architecture: "<architecture>.<key>".
class Keys {
  public:
    Keys(const GgufFile& file, const std::string& architecture) : file_(file), prefix_(architecture + ".") {}

    const MetadataValue* find(std::string_view key) const { return file_.find(prefix_ + std::string(key)); }
    const MetadataValue& require(std::string_view key) const { return file_.require(prefix_ + std::string(key)); }

    // A count that must be there and not be zero.
    std::size_t count(std::string_view key) const { return positive(require(key)); }
    std::size_t countOr(std::string_view key, std::size_t otherwise) const {
        const MetadataValue* value = find(key);
        return value ? positive(*value) : otherwise;
    }
    double number(std::string_view key) const { return positiveNumber(require(key)); }
    double numberOr(std::string_view key, double otherwise) const {
        const MetadataValue* value = find(key);
        return value ? positiveNumber(*value) : otherwise;
    }
    [[noreturn]] void fail(const std::string& what) const { throw FileError(file() + ": " + what); }
    std::string file() const { return file_.path().string(); }
    std::string name(std::string_view key) const { return prefix_ + std::string(key); }

  private:
    std::size_t positive(const MetadataValue& value) const {
        // Some families write one number a layer; none of those that are run here does.
        if (value.type() == MetadataType::array)
            throw UnsupportedError(file() + ": key " + std::string(value.key()) +
                                   " is an array; one value for all layers is supported");
        if (value.count() == 0) fail("key " + std::string(value.key()) + " is 0; it must be at least 1");
        return value.count();
    }
    double positiveNumber(const MetadataValue& value) const {
        const double number = value.number();
        if (!(number > 0))
            fail("key " + std::string(value.key()) + " is " + std::to_string(number) + "; it must be above 0");
        return number;
    }

    const GgufFile& file_;
    std::string prefix_;
};

RopeScaling readScaling(const Keys& keys, const Hyperparameters& h) {
    RopeScaling scaling;
    const MetadataValue* type = keys.find("rope.scaling.type");
    const std::string_view name = type ? type->string() : std::string_view("none");
    if (name == "none") return scaling;
    scaling.factor = keys.number("rope.scaling.factor");
    if (name == "linear") {
        scaling.kind = RopeScaling::Kind::linear;
    } else if (name == "yarn") {
        scaling.kind = RopeScaling::Kind::yarn;
        scaling.originalContext =
            static_cast<double>(keys.countOr("rope.scaling.original_context_length", h.contextLength));
        scaling.attentionFactor = keys.numberOr("rope.scaling.attn_factor", scaling.attentionFactor);
        scaling.betaFast = keys.numberOr("rope.scaling.yarn_beta_fast", scaling.betaFast);
        scaling.betaSlow = keys.numberOr("rope.scaling.yarn_beta_slow", scaling.betaSlow);
    } else {
        throw UnsupportedError(keys.file() + ": key " + keys.name("rope.scaling.type") + " is \"" + std::string(name) +
                               "\"; none, linear and yarn are supported");
    }
    return scaling;
}

ExpertParameters readExperts(const Keys& keys) {
    ExpertParameters e;
    const MetadataValue* count = keys.find("expert_count");
    if (!count || count->count() == 0) return e;  // some write 0 for a model without
    e.count = keys.count("expert_count");
    e.used = keys.count("expert_used_count");
    if (e.used > e.count)
        keys.fail("key " + keys.name("expert_used_count") + " is " + std::to_string(e.used) + ", more than the " +
                  std::to_string(e.count) + " experts");
    e.ff = keys.count("expert_feed_forward_length");
    if (const MetadataValue* norm = keys.find("expert_weights_norm")) e.normalise = norm->boolean();

    const auto only = [&](std::string_view key, double wanted) {
        const MetadataValue* value = keys.find(key);
        if (value && value->number() != wanted && value->number() != 0)
            throw UnsupportedError(keys.file() + ": key " + keys.name(key) + " is " + std::to_string(value->number()) +
                                   ", which is not supported");
    };
    only("expert_shared_count", 0);
    only("expert_shared_feed_forward_length", 0);
    only("expert_chunk_feed_forward_length", 0);
    only("leading_dense_block_count", 0);
    only("expert_group_count", 1);
    only("expert_group_used_count", 1);
    only("expert_weights_scale", 1);
    only("expert_gating_func", 1);  // the softmax
    only("moe_every_n_layers", 1);
    only("interleave_moe_layer_step", 1);
    return e;
}

}  // namespace

bool ExpertParameters::in(std::size_t block) const {
    return count != 0 && (block + 1) % every == 0 && std::ranges::find(dense, block) == dense.end();
}

Hyperparameters readHyperparameters(const GgufFile& file) {
    Hyperparameters h;
    h.architecture = file.require("general.architecture").string();
    if (const MetadataValue* name = file.find("general.name")) h.name = name->string();
    const Keys keys(file, h.architecture);

    h.contextLength = keys.count("context_length");
    h.layers = keys.count("block_count");
    h.embed = keys.count("embedding_length");
    h.ff = keys.count("feed_forward_length");
    h.heads = keys.count("attention.head_count");
    h.kvHeads = keys.countOr("attention.head_count_kv", h.heads);
    if (h.heads % h.kvHeads != 0)
        keys.fail("key " + keys.name("attention.head_count") + " is " + std::to_string(h.heads) +
                  ", not a multiple of " + keys.name("attention.head_count_kv") + ", which is " +
                  std::to_string(h.kvHeads));
    if (keys.find("attention.key_length")) {
        h.channels = keys.count("attention.key_length");
    } else {  // the GGUF specification's default
        if (h.embed % h.heads != 0)
            keys.fail("key " + keys.name("attention.key_length") + " is missing, and " + keys.name("embedding_length") +
                      " " + std::to_string(h.embed) + " does not divide by the " + std::to_string(h.heads) + " heads");
        h.channels = h.embed / h.heads;
    }
    if (const std::size_t values = keys.countOr("attention.value_length", h.channels); values != h.channels)
        throw UnsupportedError(file.path().string() + ": key " + keys.name("attention.value_length") + " is " +
                               std::to_string(values) + ", but heads have " + std::to_string(h.channels) +
                               " channels; values of another size than keys are not supported");
    h.normEpsilon = static_cast<float>(keys.number("attention.layer_norm_rms_epsilon"));
    h.ropeTheta = keys.numberOr("rope.freq_base", 10000.0);  // the specification's default
    h.ropeChannels = keys.countOr("rope.dimension_count", h.channels);
    if (h.ropeChannels > h.channels || h.ropeChannels % 2 != 0)
        keys.fail("key " + keys.name("rope.dimension_count") + " is " + std::to_string(h.ropeChannels) +
                  "; it must be even and at most the " + std::to_string(h.channels) + " channels of a head");
    h.ropeScaling = readScaling(keys, h);
    h.experts = readExperts(keys);
    // How far one step may go before numbers overflow anywhere else.
    constexpr std::size_t most = std::size_t{1} << 24;
    for (const std::size_t extent : {h.layers, h.embed, h.ff, h.heads, h.channels, h.experts.count, h.experts.ff})
        if (extent > most)
            keys.fail("a hyperparameter of architecture " + h.architecture + " is " + std::to_string(extent) +
                      ", more than " + std::to_string(most));
    return h;
}

}  // namespace axial::llm
