#include "structured_output.h"

#include "axial/llm/grammar.h"
#include "axial/llm/think_first.h"
#include "flags.h"
#include "input.h"

namespace axial::cli {
namespace {

std::unique_ptr<llm::LogitProcessor> grammarIn(const Options& options,
                                               const std::shared_ptr<const llm::Tokenizer>& tokenizer) {
    if (options.jsonSchema.has_value() + options.regex.has_value() + options.grammar.has_value() > 1)
        throw UsageError("of --json-schema, --regex and --grammar only one can be given");
    if (options.regex) return llm::makeGrammar(tokenizer, llm::GrammarKind::regex, *options.regex);
    if (options.grammar) return llm::makeGrammar(tokenizer, llm::GrammarKind::lark, readFile(*options.grammar));
    if (!options.jsonSchema) return nullptr;
    const std::string& schema = *options.jsonSchema;
    const std::size_t first = schema.find_first_not_of(" \t\r\n");
    const bool itself = first != schema.npos && schema[first] == '{';
    return llm::makeGrammar(tokenizer, llm::GrammarKind::jsonSchema, itself ? schema : readFile(schema));
}

}  // namespace

std::vector<std::unique_ptr<llm::LogitProcessor>> structureIn(const Options& options,
                                                              std::shared_ptr<const llm::Tokenizer> tokenizer,
                                                              const std::function<ThoughtsBefore()>& thoughts) {
    std::unique_ptr<llm::LogitProcessor> grammar = grammarIn(options, tokenizer);
    std::vector<std::unique_ptr<llm::LogitProcessor>> all;
    if (!grammar) return all;
    const ThoughtsBefore before = thoughts ? thoughts() : ThoughtsBefore::none;
    if (before != ThoughtsBefore::none)
        grammar = std::make_unique<llm::ThinkFirst>(std::move(tokenizer), std::move(grammar),
                                                    before == ThoughtsBefore::begun);
    all.push_back(std::move(grammar));
    return all;
}

}  // namespace axial::cli
