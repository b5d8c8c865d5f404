// The model that -m names, and the engine that computes with it as the flags ask.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "axial/llm/chat_template.h"
#include "axial/llm/load.h"
#include "axial/llm/tokenizer.h"
#include "axial/ops/activations.h"
#include "axial/tensor/parallel.h"
#include "options.h"

namespace axial::cli {

// The file alone; no weights are bound. UnsupportedError for what is no GGUF file by its looks.
llm::ModelFile openFile(const std::string& path);
// Its tokenizer. All that tokenize and detokenize need.
llm::Tokenizer openTokenizer(const Options& options);
// The chat template that --chat-template names or the model has; says so if it is only guessed from the model's tokens.
llm::ChatTemplate openTemplate(const llm::Vocabulary& vocabulary, const Options& options);
// Everything, with a progress bar.
llm::LoadedModel openModel(const std::string& path, const Options& options);

// The formats of keys and values that -ctk and -ctv ask for.
llm::CacheFormats cacheFormats(const Options& options);
Activations activationsIn(const Options& options);

// Model's forward contract, on the threads and in the arithmetic that the flags ask for.
class Engine {
  public:
    // threads, batchThreads: 0 as in the flags.
    Engine(std::shared_ptr<const llm::Model> model, Activations activations, std::size_t threads,
           std::size_t batchThreads);

    const llm::Model& model() const { return *model_; }
    // The number of threads that a step of one token uses.
    std::size_t threads() const { return team_->size(); }
    llm::KvCache makeCache(std::size_t capacity, llm::CacheFormats formats) const {
        return model_->makeCache(capacity, formats);
    }
    llm::Logits forward(llm::KvCache& cache, std::span<const llm::TokenId> tokens, llm::LogitsOf which) const;
    llm::Logits forward(std::span<const llm::Continuation> conversations) const;

  private:
    std::shared_ptr<const llm::Model> model_;
    Activations activations_;
    std::unique_ptr<ThreadTeam> team_, batchTeam_;  // the second is null where it would equal the first
};
Engine makeEngine(const llm::LoadedModel& loaded, const Options& options);

// The capacity that -c asks for; says so if it is more than the model was trained for.
std::size_t contextSize(const llm::Hyperparameters& hyperparameters, const Options& options);

}  // namespace axial::cli
