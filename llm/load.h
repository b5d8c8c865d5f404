// From a path to a model that can be talked to.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "axial/llm/model.h"
#include "axial/llm/model_file.h"

namespace axial::llm {

class Tokenizer;

struct LoadOptions {
    std::optional<std::string> preTokenizer;          // instead of the one the file names
    double expertTopP = 1;                            // of a mixture of experts: see routerTopK (ops/largest.h)
    std::function<void(double fraction)> onProgress;  // told 0 to 1 while the weights are read into memory
};

// A model and what belongs to it. Everything borrows from the mapped file, which lives as long as any of it.
struct LoadedModel {
    ModelFile file;
    std::shared_ptr<const Model> model;
    std::shared_ptr<const Tokenizer> tokenizer;
    std::vector<std::string> notes;  // what the user should know: tensors that were not used
};

// Opens a model (ModelFile::open) and binds its weights; the architecture is the file's. Throws FileError or
// UnsupportedError.
LoadedModel load(const std::filesystem::path&, const LoadOptions& = {});
// The same for an opened file.
LoadedModel load(const ModelFile&, const LoadOptions& = {});
// The small model that is part of the library (examples/tiny_qwen3).
LoadedModel loadBundled();

}  // namespace axial::llm
