#include "attention_file.h"
#include "commands.h"
#include "flags.h"
#include "input.h"
#include "terminal.h"

namespace axial::cli {

int runAttention(const Options& options) {
    if (options.output.empty())
        throw UsageError("there is no place to write to: give -o FILE.html, or -o - for stdout");
    std::vector<std::size_t> layers;
    if (options.layers) layers = layersIn(*options.layers);
    const llm::CacheFormats formats = cacheFormats(options);

    const llm::LoadedModel loaded = openModel(options.model, options);
    const std::vector<llm::TokenId> tokens = tokensIn(options, *loaded.tokenizer);
    const Engine engine = makeEngine(loaded, options);
    const std::string where = writeAttention(options.output, loaded, engine, formats, tokens, std::move(layers));
    if (!options.quiet) note(where);
    return done;
}

}  // namespace axial::cli
