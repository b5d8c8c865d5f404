#include "attention_file.h"

#include "axial/llm/atomic_file.h"
#include "axial/llm/attention_page.h"
#include "flags.h"
#include "model_facts.h"
#include "terminal.h"

namespace axial::cli {

std::vector<std::size_t> layersIn(const std::string& text) {
    constexpr std::int64_t most = 4096;  // more than any model has, and soon listed
    std::vector<std::size_t> layers;
    for (const std::string& part : splitList(text)) {
        const std::size_t dash = part.find('-');
        const auto first = wholeIn(part.substr(0, dash)),
                   last = dash == part.npos ? first : wholeIn(part.substr(dash + 1));
        if (!first || !last || *first < 0 || *last < *first || *last > most)
            throw UsageError("\"" + part + "\" is no layer; layers are given as in 0,5 or 0-3");
        for (std::int64_t i = *first; i <= *last; ++i) layers.push_back(static_cast<std::size_t>(i));
    }
    return layers;
}

std::string writeAttention(const std::string& path, const llm::LoadedModel& loaded, const Engine& engine,
                           llm::CacheFormats formats, std::span<const llm::TokenId> tokens,
                           std::vector<std::size_t> layers) {
    const llm::AttentionMaps maps =
        llm::attentionOf(engine, loaded.model->hyperparameters(), tokens, formats, std::move(layers));
    const ModelFacts facts(loaded.file);
    const std::string name = facts.hyperparameters.name.empty() ? facts.typeName() : facts.hyperparameters.name;
    const std::string page = llm::attentionPage(maps, *loaded.tokenizer, tokens, name);
    if (path == "-") {
        print(page);
        return {};
    }
    llm::AtomicFile file(path);
    file.write(page);
    file.commit();
    return "the attention of " + std::to_string(tokens.size()) + " tokens, " + std::to_string(maps.layers().size()) +
           " layers of " + std::to_string(maps.heads()) + " heads, is in " + path + ", " + inBytes(page.size()) +
           "; a browser shows it\n";
}

}  // namespace axial::cli
