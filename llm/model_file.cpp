#include "axial/llm/model_file.h"

#include <algorithm>
#include <fstream>
#include <map>

#include "axial/llm/hugging_face.h"
#include "axial/llm/safetensors.h"
#include "axial/llm/sampler_defaults.h"
#include "axial/llm/tokenizer_json.h"
#include "axial/tensor/error.h"

namespace axial::llm {

class ModelFile::Contents {
  public:
    virtual ~Contents() = default;
    virtual const std::filesystem::path& path() const = 0;
    virtual std::uint64_t fileBytes() const = 0;
    virtual std::string formatName() const = 0;
    virtual const std::vector<StoredTensor>& tensors() const = 0;
    virtual const StoredTensor* findTensor(std::string_view name) const = 0;
    virtual std::vector<std::string> unreadTensors() const = 0;
    virtual Hyperparameters hyperparameters() const = 0;
    virtual Vocabulary vocabulary(const std::optional<std::string>& preTokenizer) const = 0;
    virtual SamplerSettings advisedSampling(bool thinking) const = 0;
    virtual const GgufFile* gguf() const = 0;
};

namespace {

class Gguf final : public ModelFile::Contents {
  public:
    explicit Gguf(GgufFile file) : file_(std::move(file)) {}
    const std::filesystem::path& path() const override { return file_.path(); }
    std::uint64_t fileBytes() const override { return file_.fileBytes(); }
    std::string formatName() const override { return "GGUF version " + std::to_string(file_.version()); }
    const std::vector<StoredTensor>& tensors() const override { return file_.tensors(); }
    const StoredTensor* findTensor(std::string_view name) const override { return file_.findTensor(name); }
    std::vector<std::string> unreadTensors() const override { return {}; }
    Hyperparameters hyperparameters() const override { return readHyperparameters(file_); }
    Vocabulary vocabulary(const std::optional<std::string>& preTokenizer) const override {
        return vocabularyOf(file_, preTokenizer);
    }
    SamplerSettings advisedSampling(bool thinking) const override { return llm::advisedSampling(file_, thinking); }
    const GgufFile* gguf() const override { return &file_; }

  private:
    GgufFile file_;
};

// config.json, tokenizer.json, generation_config.json and safetensors.
class Folder final : public ModelFile::Contents {
  public:
    Folder(std::filesystem::path folder, const std::filesystem::path& weights)
        : folder_(std::move(folder)), config_(readConfig(folder_ / "config.json")), file_(Safetensors::open(weights)) {
        for (StoredTensor tensor : file_.tensors()) {
            tensor.name = ggufNameOf(tensor.name);
            if (config_.tiedHead && tensor.name == "output.weight") continue;  // a copy of the embedding, if anything
            tensors_.push_back(std::move(tensor));
        }
        for (const auto& [name, dtype] : file_.unread()) unread_.emplace(ggufNameOf(name), dtype);
        if (config_.tiedHead) unread_.erase("output.weight");
        std::ranges::sort(tensors_, {}, &StoredTensor::name);
        const auto twice = std::ranges::adjacent_find(tensors_, {}, &StoredTensor::name);
        if (twice != tensors_.end()) throw FileError(file_.path().string() + ": two tensors stand for " + twice->name);
        if (!config_.tiedHead && !findTensor("output.weight"))
            throw FileError(file_.path().string() +
                            ": config.json does not say tie_word_embeddings, but there is no tensor lm_head.weight");
    }
    const std::filesystem::path& path() const override { return folder_; }
    std::uint64_t fileBytes() const override { return file_.fileBytes(); }
    std::string formatName() const override { return "safetensors"; }
    const std::vector<StoredTensor>& tensors() const override { return tensors_; }
    const StoredTensor* findTensor(std::string_view name) const override {
        const auto found = std::ranges::lower_bound(tensors_, name, {}, &StoredTensor::name);
        if (found != tensors_.end() && found->name == name) return &*found;
        const auto unread = unread_.find(name);
        if (unread == unread_.end()) return nullptr;
        throw UnsupportedError(file_.path().string() + ": tensor " + unread->first + " is stored as " + unread->second +
                               ", which is not read; a weight must be F64, F32, F16 or BF16");
    }
    std::vector<std::string> unreadTensors() const override {
        std::vector<std::string> names;
        for (const auto& [name, dtype] : unread_) names.push_back(name);
        return names;
    }
    Hyperparameters hyperparameters() const override { return config_.hyperparameters; }
    Vocabulary vocabulary(const std::optional<std::string>& preTokenizer) const override {
        if (preTokenizer)
            throw UnsupportedError(folder_.string() + ": the pre-tokenizer " + *preTokenizer +
                                   " is given, but tokenizer.json spells its own out; leave it away");
        return vocabularyFromTokenizerJson(folder_ / "tokenizer.json");
    }
    SamplerSettings advisedSampling(bool thinking) const override {
        return llm::advisedSampling(folder_ / "generation_config.json", thinking);
    }
    const GgufFile* gguf() const override { return nullptr; }

  private:
    std::filesystem::path folder_;
    HuggingFaceConfig config_;
    Safetensors file_;
    std::vector<StoredTensor> tensors_;
    std::map<std::string, std::string, std::less<>> unread_;  // and their dtypes
};

}  // namespace

ModelFile::ModelFile(std::shared_ptr<const Contents> contents) : contents_(std::move(contents)) {}
ModelFile::ModelFile(const GgufFile& file) : contents_(std::make_shared<Gguf>(file)) {}

ModelFile ModelFile::open(const std::filesystem::path& path) {
    std::error_code unknown;
    if (std::filesystem::is_directory(path, unknown)) {
        if (!std::filesystem::exists(path / "config.json", unknown))
            throw FileError(path.string() +
                            ": a folder without config.json; name a .gguf file, or a folder with config.json, "
                            "tokenizer.json and model.safetensors");
        return ModelFile(std::make_shared<Folder>(path, path));
    }
    if (const auto ending = path.extension(); ending == ".safetensors" || ending == ".json") {
        const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
        return ModelFile(std::make_shared<Folder>(folder, path));
    }
    std::ifstream file(path, std::ios::binary);
    char magic[4] = {};
    if (file.read(magic, sizeof magic) && std::string_view(magic, sizeof magic) != "GGUF")
        throw UnsupportedError(path.string() +
                               ": not a GGUF file (it does not begin with \"GGUF\"), nor named .safetensors; models in "
                               "other formats have to be converted first");
    return ModelFile(GgufFile::open(path));
}

const std::filesystem::path& ModelFile::path() const { return contents_->path(); }
std::uint64_t ModelFile::fileBytes() const { return contents_->fileBytes(); }
std::string ModelFile::formatName() const { return contents_->formatName(); }
const std::vector<StoredTensor>& ModelFile::tensors() const& { return contents_->tensors(); }
const StoredTensor* ModelFile::findTensor(std::string_view name) const { return contents_->findTensor(name); }
std::vector<std::string> ModelFile::unreadTensors() const { return contents_->unreadTensors(); }
Hyperparameters ModelFile::hyperparameters() const { return contents_->hyperparameters(); }
Vocabulary ModelFile::vocabulary(const std::optional<std::string>& preTokenizer) const {
    return contents_->vocabulary(preTokenizer);
}
SamplerSettings ModelFile::advisedSampling(bool thinking) const { return contents_->advisedSampling(thinking); }
const GgufFile* ModelFile::gguf() const { return contents_->gguf(); }

}  // namespace axial::llm
