// --json-schema, --regex and --grammar.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "axial/llm/logit_processor.h"
#include "axial/llm/tokenizer.h"
#include "options.h"

namespace axial::cli {

// Where a reply's thoughts stand: nowhere; first, in the reply; or begun by the prompt already.
enum class ThoughtsBefore { none, first, begun };

// What keeps replies within what the flags ask for, behind the thoughts; nothing if they ask for nothing. `thoughts` is
// asked only if there is something. UsageError if they ask for two things, FileError for a file that cannot be read,
// UnsupportedError for what cannot be enforced.
std::vector<std::unique_ptr<llm::LogitProcessor>> structureIn(const Options& options,
                                                              std::shared_ptr<const llm::Tokenizer> tokenizer,
                                                              const std::function<ThoughtsBefore()>& thoughts = {});

}  // namespace axial::cli
