#include <nlohmann/json.hpp>

#include "axial/llm/kv_cache.h"
#include "axial/llm/tensor_axes.h"
#include "axial/llm/vocabulary.h"
#include "axial/tensor/error.h"
#include "commands.h"
#include "model_facts.h"
#include "open_model.h"
#include "reply_settings.h"
#include "statistics_json-inl.h"
#include "terminal.h"
#include "trace_writer.h"

namespace axial::cli {
namespace {

using Json = nlohmann::ordered_json;

// The formats that a cache of this model can have: one for both keys and values, and what -ctk and -ctv say beside
// them.
std::vector<llm::CacheFormats> possibleCaches(const llm::Hyperparameters& h, const Options& options) {
    std::vector<llm::CacheFormats> list{Format::f32, Format::f16, Format::q8_0};
    if (const llm::CacheFormats asked = cacheFormats(options); asked.keys != asked.values) list.push_back(asked);
    // Blocks of a format must fit a head's channels.
    const auto fits = [&](Format format) { return h.channels % infoOf(format).blockElements == 0; };
    std::erase_if(list, [&](const llm::CacheFormats& f) { return !fits(f.keys) || !fits(f.values); });
    return list;
}
std::size_t cacheBytes(const llm::Hyperparameters& h, std::size_t context, const llm::CacheFormats& formats) {
    return llm::KvCache::bytesFor(h.layers, h.kvHeads, h.channels, context, formats);
}

std::string scalingOf(const llm::Hyperparameters& h) {
    switch (h.ropeScaling.kind) {
        case RopeScaling::Kind::none:
            return "none";
        case RopeScaling::Kind::linear:
            return "linear";
        case RopeScaling::Kind::yarn:
            return "yarn";
        case RopeScaling::Kind::llama3:
            return "llama3";
    }
    return {};
}

struct AxisRow {
    std::string_view name;
    std::size_t extent;
    const char* meaning;
};
std::vector<AxisRow> axesOf(const llm::Hyperparameters& h) {
    const bool mixture = h.experts.count != 0;
    std::vector<AxisRow> rows{{llm::layer.name, h.layers, "transformer blocks"},
                              {llm::embed.name, h.embed, "width of the residual stream"},
                              {llm::head.name, h.heads, "query heads"},
                              {llm::kvHead.name, h.kvHeads, "key and value heads"},
                              {llm::channel.name, h.channels, "numbers in a head"},
                              {llm::ff.name, mixture ? h.experts.ff : h.ff,
                               mixture ? "width inside an expert" : "width inside a feed-forward block"},
                              {llm::vocab.name, h.vocabulary, "tokens"}};
    if (mixture) {
        rows.push_back({llm::expert.name, h.experts.count, "experts of a block"});
        rows.push_back({llm::slot.name, h.experts.used, "of them used for each token"});
    }
    return rows;
}

// Blocks of a mixture that have no experts.
std::size_t denseBlocks(const llm::Hyperparameters& h) {
    std::size_t dense = 0;
    for (std::size_t i = 0; i < h.layers; ++i) dense += h.experts.in(i) ? 0 : 1;
    return dense;
}

llm::ValueStatistics statisticsOf(const llm::StoredTensor& t) {
    std::size_t count = 1;
    for (const std::size_t extent : t.extent) count *= extent;
    return llm::statisticsOf(t.format, t.data, count);
}

std::string tokenName(const llm::Vocabulary& vocabulary, llm::TokenId id) {
    return std::to_string(id) + " " + std::string(vocabulary.tokens.bytes(id));
}

Json tokenizerJson(const llm::Vocabulary& v) {
    const auto optional = [](const std::optional<llm::TokenId>& id) { return id ? Json(*id) : Json(); };
    return {{"model", "byte-level BPE"},      {"pre", v.preTokenizer},  {"tokens", v.tokens.size()},
            {"merges", v.merges.size()},      {"bos", optional(v.bos)}, {"eos", optional(v.eos)},
            {"pad", optional(v.pad)},         {"adds_bos", v.addsBos},  {"adds_eos", v.addsEos},
            {"ends_reply", v.endOfGeneration}};
}

Json jsonOf(const llm::ModelFile& file, const ModelFacts& facts, const llm::Vocabulary& vocabulary,
            const Options& options, std::size_t context) {
    const llm::Hyperparameters& h = facts.hyperparameters;
    Json json = {{"file", file.path().string()},   {"file_bytes", file.fileBytes()}, {"format", file.formatName()},
                 {"architecture", h.architecture}, {"supported", facts.supported},   {"name", h.name}};
    for (const AxisRow& row : axesOf(h)) json["axes"][row.name] = row.extent;
    json["hyperparameters"] = {{"context_length", h.contextLength}, {"norm_epsilon", h.normEpsilon},
                               {"rope_theta", h.ropeTheta},         {"rope_channels", h.ropeChannels},
                               {"rope_scaling", scalingOf(h)},      {"rope_scaling_factor", h.ropeScaling.factor},
                               {"tied_head", facts.tiedHead}};
    json["parameters"] = facts.parameters;
    if (h.experts.count != 0)
        json["experts"] = {{"count", h.experts.count},
                           {"used", h.experts.used},
                           {"weights_normalised", h.experts.normalise},
                           {"dense_blocks", denseBlocks(h)},
                           {"active_parameters", facts.activeParameters},
                           {"bytes_per_token", facts.bytesPerToken}};
    json["formats"] = Json::object();
    for (const auto& [name, use] : facts.formats)
        json["formats"][name] = {{"tensors", use.tensors}, {"bytes", use.bytes}, {"parameters", use.parameters}};
    json["memory"] = {{"context", context}, {"weight_bytes", facts.weightBytes}};
    for (const llm::CacheFormats& formats : possibleCaches(h, options))
        json["memory"]["cache_bytes"][formats.name()] = cacheBytes(h, context, formats);
    json["tokenizer"] = tokenizerJson(vocabulary);
    json["chat_template"] = vocabulary.chatTemplate ? Json(*vocabulary.chatTemplate) : Json();
    if (options.tensors || options.statistics)
        for (const llm::StoredTensor& t : file.tensors()) {
            Json tensor = {{"name", t.name},
                           {"format", nameOf(t.format)},
                           {"extents", t.extent},
                           {"axes", llm::axesOfTensor(h, t.name)},
                           {"bytes", t.bytes}};
            if (options.statistics) tensor["statistics"] = statisticsJson(statisticsOf(t));
            json["tensors"].push_back(std::move(tensor));
        }
    return json;
}

// Lines of a text in two columns.
class Lines {
  public:
    void title(const std::string& text) { text_ += (text_.empty() ? "" : "\n") + text + "\n"; }
    void row(std::string label, const std::string& value, std::string_view remark = {}) {
        label.resize(std::max<std::size_t>(label.size() + 1, 16), ' ');
        std::string line = "  " + label + value;
        if (!remark.empty()) {
            line.resize(std::max<std::size_t>(line.size() + 2, 32), ' ');
            line += remark;
        }
        text_ += line + "\n";
    }
    const std::string& text() const { return text_; }

  private:
    std::string text_;
};

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    return text;
}

void tensorLines(Lines& lines, const llm::ModelFile& file, const llm::Hyperparameters& h, bool statistics) {
    lines.title("Tensors" + (statistics ? std::string(67, ' ') + statisticsHeads() : ""));
    for (const llm::StoredTensor& t : file.tensors()) {
        std::string extents;
        for (const std::size_t e : t.extent) extents += (extents.empty() ? "" : " x ") + std::to_string(e);
        std::string name = t.name;
        name.resize(std::max<std::size_t>(name.size(), 30), ' ');
        std::string format(nameOf(t.format));
        format.resize(std::max<std::size_t>(format.size(), 6), ' ');
        const std::string axes = llm::axesOfTensor(h, t.name);
        std::string shape = format + " " + (axes.empty() ? extents : "[" + axes + "]");
        if (statistics) {
            const llm::ValueStatistics s = statisticsOf(t);
            shape.resize(std::max<std::size_t>(shape.size(), 41), ' ');
            shape += statisticsColumns(s) + faultsOf(s);
        }
        lines.row(name, shape);
    }
}

std::string textOf(const llm::ModelFile& file, const ModelFacts& facts, const llm::Vocabulary& v,
                   const Options& options, std::size_t context) {
    const llm::Hyperparameters& h = facts.hyperparameters;
    Lines lines;
    lines.title(h.name.empty() ? file.path().filename().string() : h.name);
    lines.row("file", file.path().string());
    lines.row("", file.formatName() + ", " + inBytes(file.fileBytes()));
    lines.row("architecture", h.architecture, facts.supported ? "" : "not supported by this version");
    lines.row("parameters", inParameters(facts.parameters));

    lines.title("Axes");
    for (const AxisRow& row : axesOf(h)) lines.row(std::string(row.name), std::to_string(row.extent), row.meaning);

    lines.title("Other hyperparameters");
    lines.row("context", std::to_string(h.contextLength), "tokens that it was trained for");
    lines.row("norm epsilon", number(h.normEpsilon));
    lines.row("rope theta", number(h.ropeTheta), std::to_string(h.ropeChannels) + " channels of a head are rotated");
    lines.row("rope scaling", scalingOf(h) == "none" ? "none" : scalingOf(h) + " by " + number(h.ropeScaling.factor));
    lines.row("output head", facts.tiedHead ? "tied to the embedding" : "its own");

    if (h.experts.count != 0) {
        lines.title("Experts");
        lines.row("used", std::to_string(h.experts.used) + " of " + std::to_string(h.experts.count),
                  h.experts.normalise ? "for each token, their weights divided by their sum" : "for each token");
        if (const std::size_t dense = denseBlocks(h); dense != 0)
            lines.row("dense blocks", std::to_string(dense), std::to_string(h.ff) + " wide inside, without experts");
        lines.row("parameters", inParameters(facts.activeParameters), "active: those that a token meets");
        lines.row("read", inBytes(facts.bytesPerToken), "of weights for each token");
    }

    if (!facts.formats.empty()) lines.title("Number formats");
    for (const auto& [name, use] : facts.formats)
        lines.row(name, inBytes(use.bytes),
                  std::to_string(use.tensors) + " tensors, " + inParameters(use.parameters) + " parameters");

    lines.title("Memory for a context of " + std::to_string(context) + " tokens (-c)");
    lines.row("weights", inBytes(facts.weightBytes), "mapped from the file");
    for (const llm::CacheFormats& formats : possibleCaches(h, options))
        lines.row("cache " + formats.name(), inBytes(cacheBytes(h, context, formats)),
                  formats == llm::CacheFormats(Format::f16) ? "the default" : "");

    lines.title("Tokenizer");
    lines.row("kind", "byte-level BPE" + (v.preTokenizer.empty() ? "" : ", pre-tokenizer " + v.preTokenizer));
    lines.row("tokens", std::to_string(v.tokens.size()), std::to_string(v.merges.size()) + " merges");
    if (v.bos) lines.row("begins text", tokenName(v, *v.bos), v.addsBos ? "added" : "not added");
    std::string ends;
    for (const llm::TokenId id : v.endOfGeneration) ends += (ends.empty() ? "" : ", ") + tokenName(v, id);
    lines.row("ends a reply", ends);

    lines.title("Chat");
    lines.row("template", v.chatTemplate ? std::to_string(v.chatTemplate->size()) + " characters of Jinja" : "none");
    lines.row("sampling", described(file.advisedSampling(true)), "thinking");
    lines.row("", described(file.advisedSampling(false)), "not thinking");

    if (options.tensors || options.statistics) tensorLines(lines, file, h, options.statistics);
    return lines.text();
}

}  // namespace

int runInfo(const Options& options) {
    const llm::ModelFile file = openFile(options.model);
    const ModelFacts facts(file);
    const std::optional<std::string> pre =
        options.preTokenizer.empty() ? std::nullopt : std::optional(options.preTokenizer);
    const llm::Vocabulary vocabulary = file.vocabulary(pre);
    const std::size_t context = contextSize(facts.hyperparameters, options);
    if (options.output == "json")
        print(jsonOf(file, facts, vocabulary, options, context).dump(2, ' ', false, Json::error_handler_t::replace) +
              "\n");
    else
        print(textOf(file, facts, vocabulary, options, context));
    return done;
}

}  // namespace axial::cli
