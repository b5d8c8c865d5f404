#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "axial/llm/compare_run.h"
#include "commands.h"
#include "flags.h"
#include "input.h"
#include "open_model.h"
#include "terminal.h"

namespace axial::cli {
namespace {

// The tokens that the reference was made with, if it says so.
std::vector<llm::TokenId> tokensOf(const llm::ReferenceValues& reference) {
    std::vector<llm::TokenId> tokens;
    for (const llm::ReferenceValue& value : reference.values)
        if (!value.name.layer && value.name.names.front() == "tokens") {
            const bool isLong = value.tensor.format == Format::i64;
            if (!isLong && value.tensor.format != Format::i32) continue;
            const std::size_t size = isLong ? 8 : 4;
            for (std::size_t at = 0; at < value.tensor.bytes; at += size) {
                std::int64_t token = 0;  // little-endian; an id has no more than 31 bits
                std::memcpy(&token, value.tensor.data + at, size);
                tokens.push_back(token < 0 || token > std::numeric_limits<llm::TokenId>::max()
                                     ? -1
                                     : static_cast<llm::TokenId>(token));
            }
            return tokens;
        }
    return tokens;
}

// A number that JSON has: an infinite one is null.
nlohmann::ordered_json numberJson(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

std::string asJson(const llm::RunComparison& run) {
    nlohmann::ordered_json values = nlohmann::ordered_json::array();
    for (const llm::ComparedValue& value : run.values) {
        const llm::ValueDifference& d = value.difference;
        constexpr const char* verdicts[] = {"within", "departs", "other extents"};
        nlohmann::ordered_json row{{"value", value.path},
                                   {"axes", value.axes},
                                   {"saved", value.saved},
                                   {"saved_extents", value.extents},
                                   {"verdict", verdicts[static_cast<std::size_t>(d.verdict)]}};
        if (d.verdict != llm::Verdict::otherExtents) {
            row["largest_difference"] = numberJson(d.largest);
            row["allowed"] = numberJson(d.allowed);
            row["largest_wanted"] = numberJson(d.magnitude);
            row["at"] = d.at;
            row["got"] = numberJson(d.got);
            row["wanted"] = numberJson(d.wanted);
            row["departing"] = d.departing;
            if (!d.first.empty()) row["first"] = d.first;
        }
        if (!d.order.empty()) row["read"] = d.order;
        if (!d.wouldAgree.empty()) row["equal_if"] = d.wouldAgree;
        values.push_back(std::move(row));
    }
    const llm::ComparedValue* first = run.firstDeparture();
    const nlohmann::ordered_json all{{"first_departure", first ? nlohmann::ordered_json(first->path) : nullptr},
                                     {"values", values},
                                     {"without_reference", run.withoutReference},
                                     {"not_in_run", run.notInRun},
                                     {"not_compared", run.unread}};
    return all.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

int runDiff(const Options& options) {
    if (options.reference.empty())
        throw UsageError(
            "there is nothing to compare with: give --reference, a folder of .npy files or a .safetensors file");
    const std::optional<std::size_t> layer =
        options.layer ? std::optional(static_cast<std::size_t>(*options.layer)) : std::nullopt;
    const auto reference = llm::ReferenceValues::open(options.reference, layer);
    Options exact = options;
    exact.activations = options.exactActivations;
    const llm::LoadedModel loaded = openModel(options.model, exact);
    std::vector<llm::TokenId> tokens;
    if (options.ids || options.prompt || options.file) {
        tokens = tokensIn(options, *loaded.tokenizer);
    } else {
        tokens = tokensOf(reference);
        if (tokens.empty())
            throw UsageError("there are no tokens: give --ids or -p, since the reference has no input_ids either");
    }
    const Engine engine = makeEngine(loaded, exact);
    llm::KvCache cache = engine.makeCache(tokens.size(), Format::f32);
    const auto pass = [&](const llm::NamedValues::Take& take) { (void)llm::forwardNamed(engine, cache, tokens, take); };
    const llm::RunComparison run = llm::compareRun(pass, reference, options.tolerance.value_or(1e-4));
    print(options.output == "json" ? asJson(run) : llm::textOf(run));
    if (run.values.empty()) {
        note("none of what was saved is a value of this run" +
             std::string(layer ? "" : "; if the names are those of one layer, say which with --layer") + "\n");
        return failed;
    }
    return run.firstDeparture() ? failed : done;
}

}  // namespace axial::cli
