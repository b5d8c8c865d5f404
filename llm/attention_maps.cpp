#include "axial/llm/attention_maps.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "axial/llm/attention_probabilities.h"
#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

// Tokens that go through the model together: their logits are computed too.
constexpr std::size_t tokensTogether = 32;

// The number in "layer 3/attention"; as many as there are for any other scope.
std::size_t layerIn(std::string_view scope) {
    constexpr std::string_view name = "layer ";
    std::size_t number = std::numeric_limits<std::size_t>::max();
    if (scope.starts_with(name)) std::from_chars(scope.data() + name.size(), scope.data() + scope.size(), number);
    return number;
}

}  // namespace

std::size_t AttentionMaps::mostTokens(std::size_t layers, std::size_t heads) {
    const std::size_t maps = std::max<std::size_t>(1, layers * heads), numbers = mostNumbers / maps;
    auto tokens = static_cast<std::size_t>(std::sqrt(2.0 * static_cast<double>(numbers)));
    while (tokens * (tokens + 1) / 2 > numbers) --tokens;
    return tokens;
}

AttentionMaps::AttentionMaps(std::vector<std::size_t> layers, std::size_t heads, std::size_t tokens)
    : layers_(std::move(layers)), heads_(heads), tokens_(tokens) {
    const std::size_t most = mostTokens(layers_.size(), heads);
    if (tokens > most)
        throw ValueError("attention: the text has " + std::to_string(tokens) + " tokens, and of " +
                         std::to_string(layers_.size()) + " layers with " + std::to_string(heads) +
                         " heads there is room for " + std::to_string(most) + "; take a shorter text or fewer layers");
    numbers_.resize(layers_.size() * heads * (tokens * (tokens + 1) / 2));
}

std::size_t AttentionMaps::begin(std::size_t place, std::size_t head, std::size_t query) const {
    if (place >= layers_.size() || head >= heads_ || query >= tokens_)
        throw ShapeError("attention: layer " + std::to_string(place) + ", head " + std::to_string(head) + ", token " +
                         std::to_string(query) + " of " + std::to_string(layers_.size()) + " layers, " +
                         std::to_string(heads_) + " heads, " + std::to_string(tokens_) + " tokens");
    return (place * heads_ + head) * (tokens_ * (tokens_ + 1) / 2) + query * (query + 1) / 2;
}
std::span<const float> AttentionMaps::row(std::size_t place, std::size_t head, std::size_t query) const {
    return {numbers_.data() + begin(place, head, query), query + 1};
}
std::span<float> AttentionMaps::row(std::size_t place, std::size_t head, std::size_t query) {
    return {numbers_.data() + begin(place, head, query), query + 1};
}

double AttentionMaps::entropy(std::size_t place, std::size_t head, std::size_t query) const {
    double bits = 0;
    for (const float p : row(place, head, query))
        if (p > 0) bits -= static_cast<double>(p) * std::log2(static_cast<double>(p));
    return std::max(0.0, bits);
}

void AttentionRecorder::before(const OpEvent& event) {
    if (event.op != "groupedAttention") return;
    const auto layer = std::lower_bound(maps_.layers().begin(), maps_.layers().end(), layerIn(event.scope));
    if (layer == maps_.layers().end() || *layer != layerIn(event.scope)) return;
    const auto place = static_cast<std::size_t>(layer - maps_.layers().begin());
    const AttentionProbabilities p = attentionProbabilities(event);
    const std::size_t queries = p.extent(seq), keys = p.extent(key), heads = p.extent(head);
    if (heads != maps_.heads() || keys != seen_[place] + queries || keys > maps_.tokens())
        throw ValueError("attention: " + event.scope + " has " + std::to_string(queries) + " queries of " +
                         std::to_string(heads) + " heads and " + std::to_string(keys) + " keys, behind " +
                         std::to_string(seen_[place]) + " of " + std::to_string(maps_.tokens()) +
                         " tokens; one text is to be read from its beginning, each layer for all of its tokens");
    for (std::size_t h = 0; h < heads; ++h)
        for (std::size_t i = 0; i < queries; ++i) {
            const float* from = p.values().data() + (h * queries + i) * keys;
            const std::span<float> to = maps_.row(place, h, keys - queries + i);
            std::copy(from, from + to.size(), to.begin());
        }
    seen_[place] = keys;
}

bool AttentionRecorder::complete() const {
    return std::all_of(seen_.begin(), seen_.end(), [&](std::size_t rows) { return rows == maps_.tokens(); });
}

AttentionMaps detail::attentionOf(const Hyperparameters& hyperparameters, std::span<const TokenId> tokens,
                                  std::vector<std::size_t> layers,
                                  const std::function<void(std::span<const TokenId>)>& forward) {
    if (tokens.empty()) throw ValueError("attention: there are no tokens");
    if (layers.empty()) {
        layers.resize(hyperparameters.layers);
        std::iota(layers.begin(), layers.end(), std::size_t{0});
    }
    std::sort(layers.begin(), layers.end());
    layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
    if (layers.back() >= hyperparameters.layers)
        throw ValueError("attention: there is no layer " + std::to_string(layers.back()) + "; the model has " +
                         std::to_string(hyperparameters.layers) + ", and the first is 0");
    AttentionMaps maps(std::move(layers), hyperparameters.heads, tokens.size());
    AttentionRecorder recorder(maps);
    const Watch watch(recorder);
    for (std::size_t i = 0; i < tokens.size(); i += tokensTogether)
        forward(tokens.subspan(i, std::min(tokensTogether, tokens.size() - i)));
    if (!recorder.complete()) throw ValueError("attention: not every layer of the model was seen");
    return maps;
}

}  // namespace axial::llm
