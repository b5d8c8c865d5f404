// A model on disk, whatever its format: a GGUF file, or a folder as Hugging Face publishes them.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "axial/llm/gguf.h"
#include "axial/llm/hyperparameters.h"
#include "axial/llm/sampler.h"
#include "axial/llm/stored_tensor.h"
#include "axial/llm/vocabulary.h"

namespace axial::llm {

// A handle: copies share the mapped files.
class ModelFile {
  public:
    // path: a GGUF file (any one of a split model), a folder with config.json, tokenizer.json and safetensors, or a
    // .safetensors file or .safetensors.index.json in such a folder. Throws FileError or UnsupportedError.
    static ModelFile open(const std::filesystem::path& path);
    ModelFile(const GgufFile& file);

    const std::filesystem::path& path() const;
    std::uint64_t fileBytes() const;
    std::string formatName() const;  // "GGUF version 3", "safetensors"

    // Named as in GGUF (blk.3.attn_q.weight), whatever the file calls them.
    const std::vector<StoredTensor>& tensors() const&;
    void tensors() && = delete;
    // nullptr if there is none. UnsupportedError for one in a number format that is not read.
    const StoredTensor* findTensor(std::string_view name) const;
    // The tensors in number formats that are not read.
    std::vector<std::string> unreadTensors() const;

    // hyperparameters.vocabulary is 0: it is the extent of the embedding. Throws FileError or UnsupportedError.
    Hyperparameters hyperparameters() const;
    // preTokenizer: instead of the one that a GGUF file names.
    Vocabulary vocabulary(const std::optional<std::string>& preTokenizer = std::nullopt) const;
    // The sampling that the model's makers advise (sampler_defaults.h).
    SamplerSettings advisedSampling(bool thinking) const;
    // The GGUF file, if it is one.
    const GgufFile* gguf() const;

    class Contents;

  private:
    explicit ModelFile(std::shared_ptr<const Contents> contents);

    std::shared_ptr<const Contents> contents_;
};

}  // namespace axial::llm
