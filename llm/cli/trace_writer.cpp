#include "trace_writer.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "axial/llm/npy.h"
#include "axial/tensor/error.h"
#include "statistics_json-inl.h"
#include "terminal.h"

namespace axial::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t nameWidth = 18, axesWidth = 32;

std::string padded(std::string text, std::size_t width) {
    text.resize(std::max(text.size() + 1, width), ' ');
    return text;
}

class TextWriter final : public TraceWriter {
  public:
    explicit TextWriter(std::size_t first) : first_(first) {
        text_ = padded("value", nameWidth) + padded("axes", axesWidth) + statisticsHeads() + "  first values\n";
    }
    void take(const llm::NamedValue& named) override {
        if (named.layer && named.layer != layer_) text_ += "layer " + std::to_string(*named.layer) + "\n";
        layer_ = named.layer;
        const llm::ValueStatistics statistics = llm::statisticsOf(named.value);
        const bool ids = named.value.format == Format::i32;  // the mean of ids says nothing
        text_ += padded((named.layer ? "  " : "") + named.name, nameWidth) + padded(describe(named.value), axesWidth) +
                 (ids ? std::string(statisticsHeads().size(), ' ') : statisticsColumns(statistics)) + " ";
        for (const float value : llm::firstValues(named.value, first_))
            text_ += " " + shortNumber(static_cast<double>(value));
        text_ += faultsOf(statistics) + "\n";
    }
    void finish() override { print(text_); }

  private:
    std::size_t first_;
    std::optional<std::size_t> layer_;
    std::string text_;
};

class JsonWriter final : public TraceWriter {
  public:
    JsonWriter(const std::vector<llm::TokenId>& tokens, std::size_t first) : first_(first) {
        json_["tokens"] = tokens;
        json_["values"] = Json::array();
    }
    void take(const llm::NamedValue& named) override {
        const TensorRef& v = named.value;
        Json value = {{"layer", named.layer ? Json(*named.layer) : Json()}, {"name", named.name}};
        for (std::size_t i = 0; i < v.rank; ++i) value["axes"][std::string(v.axis[i])] = v.extent[i];
        value["format"] = nameOf(v.format);
        value.update(statisticsJson(llm::statisticsOf(v)));
        value["first"] = Json::array();
        for (const float number : llm::firstValues(v, first_)) value["first"].push_back(shortest(number));
        json_["values"].push_back(std::move(value));
    }
    void finish() override { print(json_.dump(1) + "\n"); }

  private:
    std::size_t first_;
    Json json_;
};

class FolderWriter final : public TraceWriter {
  public:
    explicit FolderWriter(std::filesystem::path folder) : folder_(std::move(folder)) { make(folder_); }
    void take(const llm::NamedValue& named) override {
        const std::filesystem::path file = folder_ / (llm::pathOf(named) + ".npy");
        if (named.layer) make(file.parent_path());
        const TensorRef& v = named.value;
        const std::span<const std::size_t> extents(v.extent.data(), v.rank);
        if (v.format == Format::i32)
            llm::writeNpy(file, std::span(static_cast<const std::int32_t*>(v.data), v.size()), extents);
        else
            llm::writeNpy(file, std::span(static_cast<const float*>(v.data), v.size()), extents);
    }
    void finish() override {}

  private:
    static void make(const std::filesystem::path& folder) {
        std::error_code error;
        std::filesystem::create_directories(folder, error);
        if (error) throw FileError(folder.string() + ": the folder cannot be made: " + error.message());
    }
    std::filesystem::path folder_;
};

}  // namespace

std::unique_ptr<TraceWriter> makeTraceWriter(const std::string& output, const std::vector<llm::TokenId>& tokens,
                                             std::size_t first) {
    if (output == "text") return std::make_unique<TextWriter>(first);
    if (output == "json") return std::make_unique<JsonWriter>(tokens, first);
    return std::make_unique<FolderWriter>(output);
}

std::string shortNumber(double value, int width) {
    char text[48];
    std::snprintf(text, sizeof text, "%*.4g", width, value);
    return text;
}

std::string statisticsColumns(const llm::ValueStatistics& s) {
    std::string text;
    for (const double value : {s.minimum, s.maximum, s.mean, s.rms}) text += " " + shortNumber(value, 10);
    return text;
}
std::string statisticsHeads() {
    std::string text;
    for (const char* head : {"minimum", "maximum", "mean", "rms"}) {
        char column[16];
        std::snprintf(column, sizeof column, " %10s", head);
        text += column;
    }
    return text;
}

std::string faultsOf(const llm::ValueStatistics& s) {
    std::string text;
    const auto add = [&](std::size_t count, const char* what) {
        if (count != 0)
            text += (text.empty() ? "  (" : ", ") + std::to_string(count) + " of " + std::to_string(s.count) +
                    (count == 1 ? " is " : " are ") + what;
    };
    add(s.nans, "NaN");
    add(s.infinite, "infinite");
    return text.empty() ? text : text + ")";
}

}  // namespace axial::cli
