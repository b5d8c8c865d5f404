#include "input.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "axial/tensor/error.h"
#include "axial/llm/tokenizer.h"
#include "flags.h"
#include "terminal.h"

namespace axial::cli {
namespace {

[[noreturn]] void failRead(const std::string& path) {
    throw FileError((path == "-" ? "stdin" : path) + ": cannot be read: " + std::strerror(errno));
}

}  // namespace

std::string readFile(const std::string& path) {
    const int file = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) failRead(path);
    std::string text;
    char part[65536];
    for (;;) {
        const ssize_t count = ::read(file, part, sizeof part);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) failRead(path);
        if (count == 0) break;
        text.append(part, static_cast<std::size_t>(count));
    }
    if (file != STDIN_FILENO) close(file);
    return text;
}

std::string inputText(const Options& options) {
    if (options.prompt && options.file) throw UsageError("-p and -f are both given; one of them is enough");
    if (options.prompt && *options.prompt != "-") return *options.prompt;
    if (options.file) return readFile(*options.file);
    if (!options.prompt && stdinIsTerminal())
        throw UsageError("there is no text: give it with -p TEXT, in a file with -f FILE, or through a pipe");
    return readFile("-");
}

std::vector<llm::TokenId> idsIn(const std::string& text) {
    constexpr std::string_view separators = " \t\r\n,[]";
    std::vector<llm::TokenId> ids;
    std::string_view rest(text);
    // What our own JSON has around the list.
    if (const std::size_t open = rest.find('{'); open != rest.npos && rest.find("\"ids\"") != rest.npos) {
        rest.remove_prefix(std::min(rest.find(':') + 1, rest.size()));
        rest = rest.substr(0, rest.rfind('}'));
    }
    for (;;) {
        rest.remove_prefix(std::min(rest.find_first_not_of(separators), rest.size()));
        if (rest.empty()) return ids;
        const std::string_view word = rest.substr(0, rest.find_first_of(separators));
        const auto id = wholeIn(word);
        if (!id || *id < 0 || *id > std::numeric_limits<llm::TokenId>::max())
            throw UsageError("\"" + std::string(word.substr(0, 40)) +
                             "\" is not a token id; ids are whole numbers, as in 1,2,3");
        ids.push_back(static_cast<llm::TokenId>(*id));
        rest.remove_prefix(word.size());
    }
}

std::vector<llm::TokenId> tokensIn(const Options& options, const llm::Tokenizer& tokenizer) {
    if (options.ids) {
        if (options.prompt || options.file) throw UsageError("there are both a text and --ids; give one of them");
        std::vector<llm::TokenId> tokens = idsIn(*options.ids);
        if (tokens.empty()) throw UsageError("--ids is empty; at least one token is needed");
        return tokens;
    }
    std::vector<llm::TokenId> tokens = tokenizer.encode(inputText(options));
    if (const auto bos = tokenizer.vocabulary().bos; tokenizer.vocabulary().addsBos && bos)
        tokens.insert(tokens.begin(), *bos);
    if (tokens.empty()) throw UsageError("the text is empty; at least one token is needed");
    return tokens;
}

}  // namespace axial::cli
