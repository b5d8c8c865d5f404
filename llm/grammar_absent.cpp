// For builds without the Rust component (cmake/rust.cmake).
#include "axial/llm/grammar.h"
#include "axial/tensor/error.h"

namespace axial::llm {

bool hasGrammars() { return false; }

std::unique_ptr<LogitProcessor> makeGrammar(std::shared_ptr<const Tokenizer>, GrammarKind, std::string_view) {
    throw UnsupportedError(
        "grammar: axial was built without its Rust component; build it where cargo and rustc 1.87 or newer are "
        "(cmake -DAXIAL_RUST=ON says what is missing)");
}

}  // namespace axial::llm
