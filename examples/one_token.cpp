// The numbers of docs/one_token.md: one token on its way through the bundled model, block by block of the page. Each
// number that is worked out here from its parts is compared with the one that the model has.
//   one_token [INSTRUCTION SET]    on that instruction set
//   one_token sets                 lists those that this machine has
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "axial/llm/load.h"
#include "axial/llm/named_values.h"
#include "axial/llm/tokenizer.h"
#include "axial/ops/activations.h"
#include "axial/ops/dot.h"
#include "axial/ops/instruction_set.h"
#include "axial/ops/norm.h"
#include "axial/ops/softmax.h"
#include "axial/tensor/decode.h"

using namespace axial;
using namespace axial::llm;

namespace {

constexpr const char* text = "The capital of France is";
constexpr std::size_t shown = 4;                      // numbers of a row
constexpr std::size_t layerShown = 0, headShown = 3;  // the head whose attention is worked out

using Numbers = std::vector<float>;

Numbers weightOf(const LoadedModel& loaded, const std::string& name) {
    const StoredTensor& stored = *loaded.file.findTensor(name);
    std::size_t count = 1;
    for (const std::size_t extent : stored.extent) count *= extent;
    Numbers values(count);
    decode(stored.format, stored.data, count, values.data());
    return values;
}

// What the model computed: every value by name, and what it makes of the text.
struct Journey {
    LoadedModel loaded = loadBundled();
    const Hyperparameters& h = loaded.model->hyperparameters();
    std::vector<TokenId> tokens = loaded.tokenizer->encode(text);
    std::size_t last = tokens.size() - 1;  // the token that is followed
    std::map<std::string, Numbers> values;

    Journey() {
        KvCache cache = loaded.model->makeCache(tokens.size(), Format::f32);
        (void)forwardNamed(*loaded.model, cache, tokens, [&](const NamedValue& named) {
            if (named.value.format != Format::f32) return;
            const auto* data = static_cast<const float*>(named.value.data);
            values[pathOf(named)] = {data, data + named.value.size()};
        });
    }
    // The token's part of a value [seq, ...] that has `width` numbers for each token.
    const float* at(const std::string& name, std::size_t width, std::size_t token) const {
        return values.at(name).data() + token * width;
    }
    const float* at(const std::string& name, std::size_t width) const { return at(name, width, last); }
    std::string piece(TokenId id) const { return "\"" + std::string(loaded.tokenizer->piece(id)) + "\""; }
};

void agree(double worked, float has, const char* what) {
    if (!(std::abs(worked - static_cast<double>(has)) <= 1e-4 * std::max(1.0, std::abs(worked))))
        throw std::runtime_error(std::string(what) + ": worked out " + std::to_string(worked) + ", but the model has " +
                                 std::to_string(has));
}

void heading(const char* name) { std::printf("== %s\n", name); }
void line(const char* label, const float* numbers, std::size_t count = shown, const char* behind = "...") {
    std::printf("%-16s", label);
    for (std::size_t i = 0; i < count; ++i) std::printf("%9.3f", static_cast<double>(numbers[i]));
    std::printf("  %s\n", behind);
}
double rms(const float* x, std::size_t n) {
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    return std::sqrt(squares / static_cast<double>(n));
}
// The products of a sum, the first three of them and how many more there are.
double sum(const char* label, const float* a, const float* b, std::size_t n) {
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) total += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    std::printf("%s =", label);
    for (std::size_t i = 0; i < 3; ++i)
        std::printf(" %s%.3f * %.3f", i ? "+ " : "", static_cast<double>(a[i]), static_cast<double>(b[i]));
    std::printf(" + ... (%zu more) = %.3f\n", n - 3, total);
    return total;
}

void showTokens(const Journey& j) {
    heading("tokens");
    std::printf("position    id  text\n");
    for (std::size_t i = 0; i < j.tokens.size(); ++i)
        std::printf("%8zu %5d  %s\n", i, j.tokens[i], j.piece(j.tokens[i]).c_str());
}

void showEmbedding(const Journey& j) {
    heading("embedding");
    const Numbers table = weightOf(j.loaded, "token_embd.weight");
    const float* row = table.data() + static_cast<std::size_t>(j.tokens[j.last]) * j.h.embed;
    for (std::size_t i = 0; i < j.h.embed; ++i)
        agree(static_cast<double>(row[i]), j.at("embedding", j.h.embed)[i], "embedding");
    std::printf("token_embd   [vocab=%zu, embed=%zu]\n", j.h.vocabulary, j.h.embed);
    std::printf("embedding    [seq=%zu, embed=%zu]\n\n", j.tokens.size(), j.h.embed);
    line(("row " + std::to_string(j.tokens[j.last])).c_str(), row);
}

void showNormByHand() {
    heading("norm by hand");
    const auto x = tensor<float>({0.6f, 1.2f, 0.3f, 0.9f}, embed(4));
    const auto weight = tensor<float>({1.5f, 0.3f, 2.0f, 0.9f}, embed(4));
    const auto normed = rmsNormMul(x, weight, 1e-6f);
    line("x", x.data(), 4, "");
    std::printf("mean of squares %9.3f\n", rms(x.data(), 4) * rms(x.data(), 4));
    std::printf("its root: rms   %9.3f\n", rms(x.data(), 4));
    line("weight", weight.data(), 4, "");
    line("rmsNormMul", normed.data(), 4, "");
}

void showNorm(const Journey& j) {
    heading("norm");
    const float* x = j.at("0/layer_in", j.h.embed);
    const Numbers weight = weightOf(j.loaded, "blk.0.attn_norm.weight");
    line("layer_in", x);
    std::printf("rms of all %-5zu%9.3f\n", j.h.embed, rms(x, j.h.embed));
    line("weight", weight.data());
    line("attn_norm", j.at("0/attn_norm", j.h.embed));
    agree(static_cast<double>(x[0]) / rms(x, j.h.embed) * static_cast<double>(weight[0]),
          j.at("0/attn_norm", j.h.embed)[0], "attn_norm");
}

void showProjections(const Journey& j) {
    heading("projections");
    const std::size_t q = j.h.heads * j.h.channels, k = j.h.kvHeads * j.h.channels;
    std::printf("attn_q  [seq=%zu, head=%zu, channel=%zu]      from w.attn_q [head=%zu, channel=%zu, embed=%zu]\n",
                j.tokens.size(), j.h.heads, j.h.channels, j.h.heads, j.h.channels, j.h.embed);
    std::printf("attn_k  [seq=%zu, kvHead=%zu, channel=%zu]    from w.attn_k [kvHead=%zu, channel=%zu, embed=%zu]\n",
                j.tokens.size(), j.h.kvHeads, j.h.channels, j.h.kvHeads, j.h.channels, j.h.embed);
    std::printf("v       [seq=%zu, kvHead=%zu, channel=%zu]    from w.attn_v [kvHead=%zu, channel=%zu, embed=%zu]\n\n",
                j.tokens.size(), j.h.kvHeads, j.h.channels, j.h.kvHeads, j.h.channels, j.h.embed);
    line("attn_q, head 0", j.at("0/attn_q", q));
    line("attn_k, kvHead 0", j.at("0/attn_k", k));
    line("v, kvHead 0", j.at("0/v", k));
    std::printf("\n");
    const Numbers weight = weightOf(j.loaded, "blk.0.attn_q.weight");
    agree(sum("attn_q(head 0, channel 0)", j.at("0/attn_norm", j.h.embed), weight.data(), j.h.embed),
          j.at("0/attn_q", q)[0], "attn_q");
}

void showRotation(const Journey& j) {
    heading("rotation");
    const std::size_t channels = j.h.channels, half = channels / 2;
    const Numbers weight = weightOf(j.loaded, "blk.0.attn_q_norm.weight");
    const float* raw = j.at("0/attn_q", j.h.heads * channels);
    const float* q = j.at("0/q", j.h.heads * channels);
    const double size = rms(raw, channels);
    std::printf("channels    after the norm     angle     q, turned by it\n");
    for (const std::size_t pair : {std::size_t{0}, std::size_t{1}, std::size_t{8}, half - 1}) {
        const double a = static_cast<double>(raw[pair]) / size * static_cast<double>(weight[pair]);
        const double b = static_cast<double>(raw[pair + half]) / size * static_cast<double>(weight[pair + half]);
        const double angle =
            static_cast<double>(j.last) * std::pow(static_cast<double>(j.h.ropeTheta),
                                                   -2.0 * static_cast<double>(pair) / static_cast<double>(channels));
        agree(a * std::cos(angle) - b * std::sin(angle), q[pair], "q");
        agree(a * std::sin(angle) + b * std::cos(angle), q[pair + half], "q");
        std::printf("%2zu and %2zu %9.3f%9.3f%10.3f%10.3f%9.3f\n", pair, pair + half, a, b, angle,
                    static_cast<double>(q[pair]), static_cast<double>(q[pair + half]));
    }
}

std::string in(std::size_t layer, const char* name) { return std::to_string(layer) + "/" + name; }

void showAttention(const Journey& j) {
    heading("scores");
    const std::size_t n = j.tokens.size(), channels = j.h.channels;
    const std::size_t kvHeadShown = headShown / (j.h.heads / j.h.kvHeads);
    const float* query = j.at(in(layerShown, "q"), j.h.heads * channels) + headShown * channels;
    auto scores = uninitialized<float>(key(n));
    for (std::size_t i = 0; i < n; ++i) {
        const float* of = j.at(in(layerShown, "k"), j.h.kvHeads * channels, i) + kvHeadShown * channels;
        const auto product = dot(tensor<float>({query, channels}, channel(channels)),
                                 tensor<float>({of, channels}, channel(channels)), channel);
        scores.values()[i] = product.data()[0] / std::sqrt(static_cast<float>(channels));
    }
    const auto weights = softmax(scores, key);
    const float* has = j.values.at(in(layerShown, "attn_probs")).data() + (headShown * n + j.last) * n;
    std::printf("key                q . k / 8   softmax\n");
    for (std::size_t i = 0; i < n; ++i) {
        agree(static_cast<double>(weights.values()[i]), has[i], "attn_probs");
        std::printf("%zu %-14s%12.2f%10.3f\n", i, j.piece(j.tokens[i]).c_str(), static_cast<double>(scores.values()[i]),
                    static_cast<double>(weights.values()[i]));
    }

    heading("mixing");
    Numbers channel0(n);
    for (std::size_t i = 0; i < n; ++i)
        channel0[i] = j.at(in(layerShown, "v"), j.h.kvHeads * channels, i)[kvHeadShown * channels];
    double total = 0;
    std::printf("attn_heads(head %zu, channel 0) =", headShown);
    for (std::size_t i = 0; i < n; ++i) {
        total += static_cast<double>(has[i]) * static_cast<double>(channel0[i]);
        std::printf(" %s%.3f * %.3f", i ? "+ " : "", static_cast<double>(has[i]), static_cast<double>(channel0[i]));
    }
    std::printf(" = %.3f\n", total);
    agree(total, j.at(in(layerShown, "attn_heads"), j.h.heads * channels)[headShown * channels], "attn_heads");

    heading("where it looks");
    std::printf("%-8s%-6s", "layer", "head");
    for (const TokenId id : j.tokens) std::printf("%11s", j.piece(id).c_str());
    std::printf("\n");
    for (std::size_t layer = 0; layer < j.h.layers; ++layer)
        for (std::size_t head = 0; head < j.h.heads; ++head) {
            std::printf("%-8zu%-6zu", layer, head);
            const float* row = j.values.at(in(layer, "attn_probs")).data() + (head * n + j.last) * n;
            for (std::size_t i = 0; i < n; ++i) std::printf("%11.2f", static_cast<double>(row[i]));
            std::printf("\n");
        }
}

void showResidual(const Journey& j) {
    heading("residual");
    for (const char* name : {"layer_in", "attn_out", "attn_residual"}) line(name, j.at(in(0, name), j.h.embed));
    agree(static_cast<double>(j.at("0/layer_in", j.h.embed)[0] + j.at("0/attn_out", j.h.embed)[0]),
          j.at("0/attn_residual", j.h.embed)[0], "attn_residual");
}

void showFeedForward(const Journey& j) {
    heading("feed forward");
    const float *gate = j.at("0/ffn_gate", j.h.ff), *up = j.at("0/ffn_up", j.h.ff),
                *inner = j.at("0/ffn_inner", j.h.ff);
    std::vector<std::size_t> units(j.h.ff);
    for (std::size_t i = 0; i < units.size(); ++i) units[i] = i;
    std::partial_sort(units.begin(), units.begin() + 4, units.end(),
                      [&](std::size_t a, std::size_t b) { return std::abs(inner[a]) > std::abs(inner[b]); });
    std::printf("unit    ffn_gate  silu of it    ffn_up   ffn_inner\n");
    for (std::size_t i = 0; i < 4; ++i) {
        const std::size_t unit = units[i];
        const double g = static_cast<double>(gate[unit]), silu = g / (1 + std::exp(-g));
        agree(silu * static_cast<double>(up[unit]), inner[unit], "ffn_inner");
        std::printf("%4zu%12.3f%12.3f%10.3f%12.3f\n", unit, g, silu, static_cast<double>(up[unit]),
                    static_cast<double>(inner[unit]));
    }
    std::printf("\n");
    for (const char* name : {"attn_residual", "ffn_out", "layer_out"}) line(name, j.at(in(0, name), j.h.embed));
}

// The probabilities that the head gives the tokens for a row of the stream.
Numbers predicted(const Journey& j, const Numbers& table, const Numbers& weight, const float* x) {
    const auto row = tensor<float>({x, j.h.embed}, embed(j.h.embed));
    const auto normed = rmsNormMul(row, tensor<float>(weight, embed(j.h.embed)), j.h.normEpsilon);
    const auto logits = dot(normed, tensor<float>(table, vocab(j.h.vocabulary), embed(j.h.embed)), embed);
    const auto p = softmax(logits, vocab);
    return {p.values().begin(), p.values().end()};
}

void showLayers(const Journey& j) {
    heading("layers");
    const Numbers table = weightOf(j.loaded, "token_embd.weight"), weight = weightOf(j.loaded, "output_norm.weight");
    std::printf("behind        rms of the stream   the best token would be\n");
    for (std::size_t i = 0; i <= j.h.layers; ++i) {
        const float* x = i == 0 ? j.at("embedding", j.h.embed) : j.at(in(i - 1, "layer_out"), j.h.embed);
        const Numbers p = predicted(j, table, weight, x);
        const auto best = static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
        std::printf("%-14s%17.3f   %-12s with probability %.2f\n",
                    i == 0 ? "the embedding" : ("layer " + std::to_string(i - 1)).c_str(), rms(x, j.h.embed),
                    j.piece(static_cast<TokenId>(best)).c_str(), static_cast<double>(p[best]));
    }
}

void showLogits(const Journey& j) {
    heading("logits");
    const float* logits = j.at("logits", j.h.vocabulary);
    const Numbers p = predicted(j, weightOf(j.loaded, "token_embd.weight"), weightOf(j.loaded, "output_norm.weight"),
                                j.at(in(j.h.layers - 1, "layer_out"), j.h.embed));
    std::vector<std::size_t> order(j.h.vocabulary);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::partial_sort(order.begin(), order.begin() + 5, order.end(),
                      [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
    std::printf("   id  text         logit  probability\n");
    for (std::size_t i = 0; i < 5; ++i)
        std::printf("%5zu  %-10s%8.2f%13.4f\n", order[i], j.piece(static_cast<TokenId>(order[i])).c_str(),
                    static_cast<double>(logits[order[i]]), static_cast<double>(p[order[i]]));
}

void showWithoutNorms(const Journey& with) {
    heading("without norms");
    const LeaveOutNorms experiment;
    const Journey without;
    std::printf("behind          with norms   without\n");
    for (std::size_t i = 0; i <= with.h.layers; ++i) {
        const std::string name = i == 0 ? "embedding" : in(i - 1, "layer_out");
        std::printf("%-16s%10.2f%10.2f\n", i == 0 ? "the embedding" : ("layer " + std::to_string(i - 1)).c_str(),
                    rms(with.at(name, with.h.embed), with.h.embed), rms(without.at(name, with.h.embed), with.h.embed));
    }
}

}  // namespace

int main(int count, char** arguments) {
    try {
        if (count > 1 && std::string(arguments[1]) == "sets") {
            for (const std::string& set : instructionSets()) std::printf("%s\n", set.c_str());
            return 0;
        }
        if (count > 1) useInstructionSet(arguments[1]);
        const UseActivations exact(Activations::float32);
        const Journey journey;
        showTokens(journey);
        showEmbedding(journey);
        showNormByHand();
        showNorm(journey);
        showProjections(journey);
        showRotation(journey);
        showAttention(journey);
        showResidual(journey);
        showFeedForward(journey);
        showLayers(journey);
        showLogits(journey);
        showWithoutNorms(journey);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "one_token: %s\n", error.what());
        return 1;
    }
}
