#include "model_facts.h"

#include <algorithm>
#include <cstdio>

#include "axial/llm/architectures.h"
#include "axial/llm/experts.h"

namespace axial::cli {

ModelFacts::ModelFacts(const llm::ModelFile& file) : hyperparameters(file.hyperparameters()) {
    tiedHead = file.findTensor("output.weight") == nullptr;
    const llm::ExpertParameters& experts = hyperparameters.experts;
    for (const llm::StoredTensor& tensor : file.tensors()) {
        std::size_t count = 1;
        for (const std::size_t extent : tensor.extent) count *= extent;
        FormatUse& use = formats[std::string(nameOf(tensor.format))];
        ++use.tensors;
        use.bytes += tensor.bytes;
        use.parameters += count;
        parameters += count;
        weightBytes += tensor.bytes;
        const bool rows = tensor.name == "token_embd.weight" && !tiedHead && !tensor.extent.empty();
        const std::size_t of = rows                                                  ? tensor.extent.front()
                               : llm::isOfExperts(tensor.name) && experts.count != 0 ? experts.count
                                                                                     : 1;
        const std::size_t part = rows || of == 1 ? 1 : experts.used;
        activeParameters += count / of * part;
        bytesPerToken += tensor.bytes / of * part;
    }
    if (const auto* embedding = file.findTensor("token_embd.weight"); embedding && !embedding->extent.empty())
        hyperparameters.vocabulary = embedding->extent.front();
    supported = llm::findArchitecture(hyperparameters.architecture) != nullptr;
}

std::string ModelFacts::mainFormat() const {
    const auto most = std::max_element(formats.begin(), formats.end(), [](const auto& a, const auto& b) {
        return a.second.parameters < b.second.parameters;
    });
    return most == formats.end() ? "" : most->first;
}

std::string ModelFacts::typeName() const {
    const double billions = static_cast<double>(parameters) / 1e9;
    char size[32];
    std::snprintf(size, sizeof size, billions >= 0.1 ? "%.1fB" : "%.1fM", billions >= 0.1 ? billions : billions * 1e3);
    return hyperparameters.architecture + " " + size + " " + mainFormat();
}

std::string inParameters(std::size_t count) { return inCount(count, " B"); }

}  // namespace axial::cli
