#include "bench_table.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "axial/ops/instruction_set.h"
#include "terminal.h"

namespace axial::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string processor() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name")) return line.substr(std::min(line.find(": ") + 2, line.size()));
    return "unknown";
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return result;
}

// llama-bench's fields, without those of its graphics cards; simd, activations and
// what stands between n_depth and test_time are ours.
Json fields(const std::string& file, const ModelFacts& facts, const BenchResult& result,
            const std::string& activations) {
    const BenchTest& test = result.test;
    std::vector<std::int64_t> nanoseconds;
    std::vector<double> asNumbers;
    for (const double s : result.seconds) {
        nanoseconds.push_back(static_cast<std::int64_t>(s * 1e9));
        asNumbers.push_back(s * 1e9);
    }
    return {{"build_commit", "axial " AXIAL_VERSION},
            {"cpu_info", processor()},
            {"backends", "CPU"},
            {"simd", instructionSet()},
            {"model_filename", file},
            {"model_type", facts.typeName()},
            {"model_size", facts.weightBytes},
            {"model_n_params", facts.parameters},
            {"n_batch", test.batch},
            {"n_ubatch", test.ubatch},
            {"n_threads", test.threads},
            {"type_k", lower(nameOf(test.cache.keys))},
            {"type_v", lower(nameOf(test.cache.values))},
            {"activations", activations},
            {"use_mmap", true},
            {"n_prompt", test.prompt},
            {"n_gen", test.generate},
            {"n_depth", test.depth},
            {"n_streams", test.streams},
            {"text", test.text == BenchText::none   ? ""
                     : test.text == BenchText::copy ? "copy"
                                                    : "free"},
            {"speculation", test.drafts},
            {"n_drafted", result.drafted},
            {"n_accepted", result.accepted},
            {"experts", facts.hyperparameters.experts.count == 0 ? "" : "resident"},
            {"expert_hit_rate", facts.hyperparameters.experts.count == 0 ? Json() : Json(1.0)},
            {"test_time", result.time},
            {"avg_ns", static_cast<std::int64_t>(mean(asNumbers))},
            {"stddev_ns", static_cast<std::int64_t>(deviation(asNumbers))},
            {"avg_ts", mean(result.rates())},
            {"stddev_ts", deviation(result.rates())},
            {"samples_ns", nanoseconds},
            {"samples_ts", result.rates()}};
}

Json profileJson(const std::vector<ProfileRow>& rows, const std::optional<MachineLimits>& limits, bool memory) {
    Json list = Json::array();
    for (const ProfileRow& row : rows) {
        Json json{{"name", row.name},
                  {"depth", row.depth},
                  {"calls", row.calls},
                  {"time_ns", row.time.count()},
                  {"bytes_read", row.work.bytesRead},
                  {"bytes_written", row.work.bytesWritten},
                  {"multiply_adds", row.work.multiplyAdds},
                  {"of_codes", row.work.ofCodes}};
        if (memory) json["peak_bytes"] = row.peakBytes;
        if (limits) {
            const LimitShares shares = sharesOf(row, *limits);
            json["read_share"] = shares.read;
            json["multiply_share"] = shares.multiply;
        }
        list.push_back(std::move(json));
    }
    return list;
}
Json profileJson(const BenchProfile& profile) {
    Json json{{"ns", static_cast<std::int64_t>(profile.seconds * 1e9)},
              {"ops", profileJson(profile.ops, profile.limits, false)},
              {"scopes", profileJson(profile.scopes, profile.limits, true)}};
    if (profile.limits)
        json["limits"] = {{"read_rate", profile.limits->readRate},
                          {"float_multiply_adds", profile.limits->floatRate},
                          {"code_multiply_adds", profile.limits->codeRate}};
    return json;
}

class JsonTable : public BenchTable {
  public:
    JsonTable(std::string activations, bool lines) : activations_(std::move(activations)), lines_(lines) {}
    void begin() override {
        if (!lines_) print("[");
    }
    void row(const std::string& file, const ModelFacts& facts, const BenchResult& result) override {
        Json json = fields(file, facts, result, activations_);
        if (result.profile) json["profile"] = profileJson(*result.profile);
        if (lines_)
            print(json.dump() + "\n");
        else
            print((first_ ? "\n" : ",\n") + json.dump(2));
        first_ = false;
    }
    void end() override {
        if (!lines_) print("\n]\n");
    }

  private:
    std::string activations_;
    bool lines_, first_ = true;
};

class CsvTable : public BenchTable {
  public:
    explicit CsvTable(std::string activations) : activations_(std::move(activations)) {}
    void begin() override {}
    void row(const std::string& file, const ModelFacts& facts, const BenchResult& result) override {
        const Json json = fields(file, facts, result, activations_);
        std::string head, line;
        for (const auto& [name, value] : json.items()) {
            if (value.is_array()) continue;
            head.append(head.empty() ? "" : ",").append(name);
            line.append(line.empty() ? "" : ",").append(quoted(value));
        }
        if (first_) print(head + "\n");
        first_ = false;
        print(line + "\n");
    }
    void end() override {}

  private:
    static std::string quoted(const Json& value) {
        std::string text = "\"";
        for (const char c : value.is_string() ? value.get<std::string>() : value.dump())
            text.append(c == '"' ? 2 : 1, c);
        return text + "\"";
    }
    std::string activations_;
    bool first_ = true;
};

class MarkdownTable : public BenchTable {
  public:
    void begin() override {
        line([](const Column& c) { return c.title; });
        std::string rule = "|";
        for (const Column& c : columns)
            rule += c.right ? " " + std::string(c.width - 1, '-') + ": |" : " " + std::string(c.width, '-') + " |";
        print(rule + "\n");
    }
    void row(const std::string&, const ModelFacts& facts, const BenchResult& result) override {
        char rate[48];
        std::snprintf(rate, sizeof rate, "%.2f ± %.2f", mean(result.rates()), deviation(result.rates()));
        const std::string cells[] = {facts.typeName(),
                                     inBytes(facts.weightBytes),
                                     inParameters(facts.parameters),
                                     "CPU",
                                     std::to_string(result.test.threads),
                                     lower(result.test.cache.name()),
                                     result.test.name(),
                                     rate};
        line([&, i = 0](const Column&) mutable { return cells[i++]; });
        if (facts.hyperparameters.experts.count != 0) residentExperts_ = true;
        if (result.profile) {
            const std::size_t tokens = result.test.streams * (result.test.prompt + result.test.generate);
            profiles_ += "\n" + describe(*result.profile, result.test.name(), static_cast<double>(tokens));
        }
    }
    void end() override {
        if (residentExperts_) print("\nexperts: all resident, hit rate 100 %\n");
        print("\naxial " AXIAL_VERSION ", " + instructionSet() + ", " + processor() + "\n" + profiles_);
    }

  private:
    bool residentExperts_ = false;
    std::string profiles_;  // they stand behind the table
    struct Column {
        const char* title;
        std::size_t width;
        bool right;
    };
    static constexpr Column columns[] = {{"model", 28, false},  {"size", 10, true},   {"params", 10, true},
                                         {"backend", 7, false}, {"threads", 7, true}, {"cache", 5, true},
                                         {"test", 15, true},    {"t/s", 20, true}};

    template <class F>
    static void line(F cell) {
        std::string text = "|";
        for (const Column& c : columns) {
            const std::string value = cell(c);
            // The sign ± has two bytes.
            const std::size_t length = value.size() - (value.find("±") != value.npos ? 1 : 0);
            const std::string gap(c.width > length ? c.width - length : 0, ' ');
            text += " " + (c.right ? gap + value : value + gap) + " |";
        }
        print(text + "\n");
    }
};

}  // namespace

std::unique_ptr<BenchTable> makeBenchTable(const std::string& format, const std::string& activations) {
    if (format == "csv") return std::make_unique<CsvTable>(activations);
    if (format == "json" || format == "jsonl") return std::make_unique<JsonTable>(activations, format == "jsonl");
    return std::make_unique<MarkdownTable>();
}

}  // namespace axial::cli
