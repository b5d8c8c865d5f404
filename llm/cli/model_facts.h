// What is known of a model file, gathered for axial info and the head of a benchmark's rows.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "axial/llm/model_file.h"
#include "axial/tensor/quantity.h"

namespace axial::cli {

struct FormatUse {
    std::size_t tensors = 0, bytes = 0, parameters = 0;
};

struct ModelFacts {
    explicit ModelFacts(const llm::ModelFile& file);

    llm::Hyperparameters hyperparameters;
    bool supported = false;  // whether the architecture can be run
    std::size_t parameters = 0, weightBytes = 0;
    std::map<std::string, FormatUse> formats;  // by name
    bool tiedHead = true;                      // the output head is the embedding
    // Of a token, whose experts are some of all: parameters and bytes of weights that it meets. Of an embedding that is
    // not the output head as well that is one row.
    std::size_t activeParameters = 0, bytesPerToken = 0;

    // The format that most parameters are stored in; empty without tensors.
    std::string mainFormat() const;
    // "qwen3 0.6B Q8_0", as llama-bench names models.
    std::string typeName() const;
};

// "2.90 M".
std::string inParameters(std::size_t count);

}  // namespace axial::cli
