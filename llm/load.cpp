#include "axial/llm/load.h"

#include "axial/llm/architectures.h"
#include "axial/llm/bundled_model.h"
#include "axial/llm/tokenizer.h"
#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

const Architecture& architectureOf(const ModelFile& file, const Hyperparameters& hyperparameters) {
    if (const Architecture* known = findArchitecture(hyperparameters.architecture)) {
        if (known->hasExperts == (hyperparameters.experts.count != 0)) return *known;
        const std::string name = file.path().string() + ": architecture \"" + hyperparameters.architecture + "\" ";
        if (known->hasExperts) throw FileError(name + "is a mixture of experts, but the file gives no number of them");
        throw UnsupportedError(name + "with experts is not supported; the file says that each block has " +
                               std::to_string(hyperparameters.experts.count));
    }
    throw UnsupportedError(file.path().string() + ": architecture \"" + hyperparameters.architecture +
                           "\" is not supported; these are: " + architectureNames());
}

// Reads the mapped weights once, so that the first answer does not wait for the disk.
void readIntoMemory(const ModelFile& file, const std::function<void(double)>& onProgress) {
    constexpr std::size_t page = 4096, chunk = std::size_t{16} << 20;
    std::size_t total = 0, done = 0;
    for (const StoredTensor& stored : file.tensors()) total += stored.bytes;
    for (const StoredTensor& stored : file.tensors()) {
        for (std::size_t at = 0; at < stored.bytes; at += chunk) {
            const std::size_t end = std::min(stored.bytes, at + chunk);
            unsigned sum = 0;
            for (std::size_t i = at; i < end; i += page) sum += static_cast<unsigned>(stored.data[i]);
            volatile unsigned keep = sum;  // or the reads would be optimised away
            static_cast<void>(keep);
            done += end - at;
            onProgress(static_cast<double>(done) / static_cast<double>(total));
        }
    }
}

}  // namespace

LoadedModel load(const ModelFile& file, const LoadOptions& options) {
    Hyperparameters hyperparameters = file.hyperparameters();
    const Architecture& architecture = architectureOf(file, hyperparameters);
    hyperparameters.experts.topP = options.expertTopP;
    WeightSource source(file);
    std::shared_ptr<const Model> model = architecture.make(hyperparameters, source);
    auto tokenizer = std::make_shared<const Tokenizer>(file.vocabulary(options.preTokenizer));

    LoadedModel loaded{file, std::move(model), std::move(tokenizer), {}};
    if (const auto unused = source.unused(); !unused.empty())
        loaded.notes.push_back(std::to_string(unused.size()) + " tensors of the file are not used, the first is " +
                               unused.front());
    if (options.onProgress) readIntoMemory(file, options.onProgress);
    return loaded;
}

LoadedModel load(const std::filesystem::path& path, const LoadOptions& options) {
    return load(ModelFile::open(path), options);
}

LoadedModel loadBundled() { return load(ModelFile(bundledModel())); }

}  // namespace axial::llm
