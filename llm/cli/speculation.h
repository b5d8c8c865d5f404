// The drafts that --spec and --spec-ref ask for.
#pragma once
#include <memory>
#include <vector>

#include "axial/llm/speculator.h"
#include "axial/llm/tokenizer.h"
#include "options.h"

namespace axial::cli {

// Whether the flags ask for drafts.
inline bool speculates(const Options& options) { return options.speculate || !options.references.empty(); }

class Speculation {
  public:
    // Reads the reference texts. Throws FileError, and UsageError for too many.
    Speculation(const Options& options, const llm::Tokenizer& tokenizer);

    // A conversation's own drafter, which shares the texts; null if `on` is false.
    std::unique_ptr<llm::Speculator> drafter(bool on) const;

  private:
    std::vector<std::shared_ptr<const llm::ReferenceText>> references_;
};

}  // namespace axial::cli
