#include <charconv>
#include <cmath>

#include "axial/llm/npy.h"
#include "commands.h"
#include "flags.h"
#include "input.h"
#include "interrupt.h"
#include "open_model.h"
#include "terminal.h"

namespace axial::cli {
namespace {

// The shortest text that reads back as the same float32.
void append(std::string& text, float value) {
    if (!std::isfinite(value)) {
        text += "null";
        return;
    }
    char digits[32];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

std::string jsonOf(std::span<const float> values, std::size_t positions, std::size_t vocabulary) {
    std::string text =
        "{\"shape\": [" + std::to_string(positions) + ", " + std::to_string(vocabulary) + "], \"logits\": [";
    for (std::size_t p = 0; p < positions; ++p) {
        text += p ? ",\n[" : "\n[";
        for (std::size_t v = 0; v < vocabulary; ++v) {
            if (v) text += ",";
            append(text, values[p * vocabulary + v]);
        }
        text += "]";
    }
    return text + "\n]}\n";
}

}  // namespace

int runLogits(const Options& options) {
    if (!options.ids) throw UsageError("there are no tokens: give their ids with --ids 1,2,3");
    if (options.output.empty()) throw UsageError("there is no place to write to: give -o FILE.npy, or -o - for JSON");
    const std::vector<llm::TokenId> ids = idsIn(*options.ids);
    if (ids.empty()) throw UsageError("--ids is empty; at least one token is needed");
    const llm::CacheFormats formats = cacheFormats(options);

    const llm::LoadedModel loaded = openModel(options.model, options);
    const Engine engine = makeEngine(loaded, options);
    llm::KvCache cache = engine.makeCache(ids.size(), formats);
    const llm::Logits logits = engine.forward(cache, ids, options.all ? llm::LogitsOf::all : llm::LogitsOf::last);
    const std::size_t extents[] = {logits.extent(llm::seq), logits.extent(llm::vocab)};
    if (options.output == "-")
        print(jsonOf(logits.values(), extents[0], extents[1]));
    else
        llm::writeNpy(options.output, logits.values(), extents);
    return done;
}

}  // namespace axial::cli
