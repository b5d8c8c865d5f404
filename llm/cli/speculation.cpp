#include "speculation.h"

#include <string>

#include "flags.h"
#include "input.h"

namespace axial::cli {

Speculation::Speculation(const Options& options, const llm::Tokenizer& tokenizer) {
    if (options.references.size() > llm::Speculator::mostReferences)
        throw UsageError("--spec-ref is given " + std::to_string(options.references.size()) + " times, but " +
                         std::to_string(llm::Speculator::mostReferences) + " texts are the most");
    for (const std::string& path : options.references)
        references_.push_back(std::make_shared<const llm::ReferenceText>(tokenizer.encode(readFile(path))));
}

std::unique_ptr<llm::Speculator> Speculation::drafter(bool on) const {
    if (!on) return nullptr;
    auto drafter = std::make_unique<llm::Speculator>();
    for (const auto& reference : references_) drafter->addReference(reference);
    return drafter;
}

}  // namespace axial::cli
