#include "open_model.h"

#include <filesystem>

#include "axial/llm/bundled_model.h"
#include "axial/llm/tokenizer_json.h"
#include "axial/tensor/error.h"
#include "flags.h"
#include "terminal.h"

namespace axial::cli {

llm::ModelFile openFile(const std::string& path) {
    return path.empty() ? llm::ModelFile(llm::bundledModel()) : llm::ModelFile::open(path);
}

llm::Tokenizer openTokenizer(const Options& options) {
    // A tokenizer.json needs nothing beside it.
    if (std::filesystem::path(options.model).filename() == "tokenizer.json")
        return llm::Tokenizer(llm::vocabularyFromTokenizerJson(options.model));
    const std::optional<std::string> pre =
        options.preTokenizer.empty() ? std::nullopt : std::optional(options.preTokenizer);
    return llm::Tokenizer(openFile(options.model).vocabulary(pre));
}

llm::ChatTemplate openTemplate(const llm::Vocabulary& vocabulary, const Options& options) {
    llm::ChatTemplate chosen = llm::chatTemplateOf(vocabulary, options.chatTemplate);
    if (!options.quiet && !options.chatTemplate && !vocabulary.chatTemplate)
        note("note: " + vocabulary.source + " has no chat template; " + std::string(chosen.name()) +
             " is used, for which it has the tokens\n");
    return chosen;
}

llm::LoadedModel openModel(const std::string& path, const Options& options) {
    ProgressBar bar("loading " + (path.empty() ? "the bundled model" : std::filesystem::path(path).filename().string()),
                    !options.quiet);
    llm::LoadOptions load;
    if (!options.preTokenizer.empty()) load.preTokenizer = options.preTokenizer;
    load.expertTopP = options.expertTopP.value_or(1);
    load.onProgress = [&bar](double fraction) { bar.show(fraction); };
    llm::LoadedModel loaded = llm::load(openFile(path), load);
    if (!options.quiet)
        for (const std::string& text : loaded.notes) note("note: " + text + "\n");
    return loaded;
}

llm::CacheFormats cacheFormats(const Options& options) {
    return {formatByName(options.cacheTypeK)->format, formatByName(options.cacheTypeV)->format};
}

Activations activationsIn(const Options& options) {
    const std::string& name = options.activations;
    return name == "float32" ? Activations::float32 : name == "int8" ? Activations::int8 : Activations::int16;
}

Engine::Engine(std::shared_ptr<const llm::Model> model, Activations activations, std::size_t threads,
               std::size_t batchThreads)
    : model_(std::move(model)), activations_(activations), team_(std::make_unique<ThreadTeam>(threads)) {
    if (batchThreads != 0 && batchThreads != team_->size()) batchTeam_ = std::make_unique<ThreadTeam>(batchThreads);
}

llm::Logits Engine::forward(llm::KvCache& cache, std::span<const llm::TokenId> tokens, llm::LogitsOf which) const {
    const llm::Continuation one{cache, tokens, which};
    return forward(std::span(&one, 1));
}

llm::Logits Engine::forward(std::span<const llm::Continuation> conversations) const {
    const bool single = conversations.size() == 1 && conversations.front().tokens.size() == 1;
    const UseTeam team(!single && batchTeam_ ? *batchTeam_ : *team_);
    const UseActivations arithmetic(activations_);
    return model_->forward(conversations);
}

Engine makeEngine(const llm::LoadedModel& loaded, const Options& options) {
    return Engine(loaded.model, activationsIn(options), static_cast<std::size_t>(options.threads),
                  static_cast<std::size_t>(options.threadsBatch));
}

std::size_t contextSize(const llm::Hyperparameters& hyperparameters, const Options& options) {
    static const Options standard;
    const auto wanted = static_cast<std::size_t>(options.contextSize);
    if (wanted == 0) return hyperparameters.contextLength;
    // The default is a good size for most models, but no reason to go beyond what a small one can do.
    if (options.contextSize == standard.contextSize) return std::min(wanted, hyperparameters.contextLength);
    if (wanted > hyperparameters.contextLength && !options.quiet && stderrIsTerminal())
        note("note: the model was trained for " + std::to_string(hyperparameters.contextLength) +
             " tokens; it may lose the thread beyond them\n");
    return wanted;
}

}  // namespace axial::cli
