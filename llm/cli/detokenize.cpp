#include "commands.h"
#include "flags.h"
#include "input.h"
#include "open_model.h"
#include "terminal.h"

namespace axial::cli {

int runDetokenize(const Options& options) {
    const llm::Tokenizer tokenizer = openTokenizer(options);
    if (options.ids && (options.prompt || options.file)) throw UsageError("--ids and -p or -f are both given");
    const std::vector<llm::TokenId> ids = idsIn(options.ids ? *options.ids : inputText(options));
    const std::string bytes = tokenizer.bytes(ids);
    print(bytes);
    if (stdoutIsTerminal() && !bytes.ends_with('\n')) print("\n");
    return done;
}

}  // namespace axial::cli
