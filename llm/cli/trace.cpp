#include <nlohmann/json.hpp>

#include "axial/ops/norm.h"
#include "commands.h"
#include "flags.h"
#include "input.h"
#include "open_model.h"
#include "statistics_json-inl.h"
#include "terminal.h"
#include "trace_writer.h"

namespace axial::cli {
namespace {

std::vector<llm::TokenId> tokensOf(const Options& options, const llm::Tokenizer& tokenizer) {
    std::vector<llm::TokenId> tokens = tokensIn(options, tokenizer);
    if (tokens.size() > llm::stepPositions)
        throw UsageError("the text has " + std::to_string(tokens.size()) + " tokens, and a trace takes at most " +
                         std::to_string(llm::stepPositions) + "; give a shorter one");
    return tokens;
}

std::optional<std::size_t> layerOf(const Options& options, const llm::Hyperparameters& h) {
    if (!options.layer) return std::nullopt;
    const auto layer = static_cast<std::size_t>(*options.layer);
    if (layer >= h.layers)
        throw UsageError("--layer: there is no layer " + std::to_string(layer) + "; this model has layers 0 to " +
                         std::to_string(h.layers - 1));
    return layer;
}

// The root mean square of the stream: of the embedding, and behind each layer.
using StreamSizes = std::vector<llm::ValueStatistics>;

StreamSizes streamSizes(const Engine& engine, std::span<const llm::TokenId> tokens) {
    // A cache of 16-bit floats could not hold what grows without norms.
    llm::KvCache cache = engine.makeCache(tokens.size(), Format::f32);
    StreamSizes sizes;
    (void)llm::forwardNamed(engine, cache, tokens, [&](const llm::NamedValue& named) {
        if (named.name == "embedding" || named.name == "layer_out") sizes.push_back(llm::statisticsOf(named.value));
    });
    return sizes;
}

// The rms in ten columns, and how many times that of the row above it is. Where the numbers have run out of float's
// range nothing but NaN is left.
std::string sizeAndGrowth(const StreamSizes& sizes, std::size_t i) {
    const auto isLost = [&](std::size_t row) { return sizes[row].nans + sizes[row].infinite == sizes[row].count; };
    const bool grows = i != 0 && !isLost(i) && !isLost(i - 1);
    return (isLost(i) ? "       NaN" : shortNumber(sizes[i].rms, 10)) +
           (grows ? " " + shortNumber(sizes[i].rms / sizes[i - 1].rms, 10) : std::string(11, ' '));
}

std::string normsAsText(const StreamSizes& with, const StreamSizes& without, std::optional<std::size_t> layer) {
    std::string text = "rms of the stream   with norms      times   without norms      times\n";
    for (std::size_t i = 0; i < with.size(); ++i) {
        if (layer && i != *layer + 1) continue;
        std::string label = i == 0 ? "embedding" : "behind layer " + std::to_string(i - 1);
        label.resize(std::max<std::size_t>(label.size(), 19), ' ');
        text += label + " " + sizeAndGrowth(with, i) + "      " + sizeAndGrowth(without, i);
        text.resize(text.find_last_not_of(' ') + 1);
        text += faultsOf(without[i]) + "\n";
    }
    return text;
}

std::string normsAsJson(const StreamSizes& with, const StreamSizes& without, std::optional<std::size_t> layer) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < with.size(); ++i) {
        if (layer && i != *layer + 1) continue;
        rows.push_back({{"layer", i == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(i - 1)},
                        {"name", i == 0 ? "embedding" : "layer_out"},
                        {"with_norms", statisticsJson(with[i])},
                        {"without_norms", statisticsJson(without[i])}});
    }
    return nlohmann::ordered_json{{"stream", rows}}.dump(1) + "\n";
}

void compareNorms(const Engine& engine, std::span<const llm::TokenId> tokens, const Options& options,
                  std::optional<std::size_t> layer) {
    const StreamSizes with = streamSizes(engine, tokens);
    StreamSizes without;
    {
        const LeaveOutNorms experiment;
        without = streamSizes(engine, tokens);
    }
    print(options.output == "json" ? normsAsJson(with, without, layer) : normsAsText(with, without, layer));
}

}  // namespace

int runTrace(const Options& options) {
    const std::string output = options.output.empty() ? "text" : options.output;
    if (options.withoutNorm && output != "text" && output != "json")
        throw UsageError("--without-norm gives a table: say -o text or -o json, not a folder");
    const llm::CacheFormats formats = cacheFormats(options);

    const llm::LoadedModel loaded = openModel(options.model, options);
    const std::vector<llm::TokenId> tokens = tokensOf(options, *loaded.tokenizer);
    const Engine engine = makeEngine(loaded, options);
    const std::optional<std::size_t> layer = layerOf(options, engine.model().hyperparameters());
    if (options.withoutNorm) {
        compareNorms(engine, tokens, options, layer);
        return done;
    }
    const auto writer = makeTraceWriter(output, tokens, static_cast<std::size_t>(options.firstValues));
    llm::KvCache cache = engine.makeCache(tokens.size(), formats);
    (void)llm::forwardNamed(engine, cache, tokens, [&](const llm::NamedValue& named) {
        if (!layer || named.layer == layer) writer->take(named);
    });
    writer->finish();
    return done;
}

}  // namespace axial::cli
