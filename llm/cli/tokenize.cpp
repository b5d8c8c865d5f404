#include "commands.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "input.h"
#include "open_model.h"
#include "terminal.h"

namespace axial::cli {
namespace {

// A token's bytes between quotes: what is not readable text is written as in a C string.
std::string quoted(std::string_view bytes) {
    std::string text = "\"";
    for (std::size_t i = 0; i < bytes.size();) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        // A whole UTF-8 character, or a part of one?
        const std::size_t length = byte < 0x80 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 0;
        bool whole = length > 0 && i + length <= bytes.size();
        for (std::size_t j = 1; whole && j < length; ++j) whole = (static_cast<unsigned char>(bytes[i + j]) >> 6) == 2;
        if (byte == '\n') {
            text += "\\n";
        } else if (byte == '\t') {
            text += "\\t";
        } else if (byte == '"' || byte == '\\') {
            text.append("\\").append(1, bytes[i]);
        } else if (!whole || byte < 0x20 || byte == 0x7f) {
            char hex[8];
            std::snprintf(hex, sizeof hex, "\\x%02x", byte);
            text += hex;
        } else {
            text += bytes.substr(i, length);
            i += length;
            continue;
        }
        ++i;
    }
    return text + "\"";
}

}  // namespace

int runTokenize(const Options& options) {
    const llm::Tokenizer tokenizer = openTokenizer(options);
    const std::string text = inputText(options);
    const std::vector<llm::TokenId> ids =
        tokenizer.encode(text, options.noSpecial ? llm::SpecialTokens::asText : llm::SpecialTokens::parse);
    std::string out;
    if (options.output == "json") {
        out = nlohmann::json{{"ids", ids}}.dump() + "\n";
    } else if (options.output == "pieces") {
        for (const llm::TokenId id : ids) out += std::to_string(id) + "\t" + quoted(tokenizer.piece(id)) + "\n";
    } else {
        for (const llm::TokenId id : ids) out.append(out.empty() ? "" : ",").append(std::to_string(id));
        out += "\n";
    }
    print(out);
    if (options.verbose) note(std::to_string(ids.size()) + " tokens, " + std::to_string(text.size()) + " bytes\n");
    return done;
}

}  // namespace axial::cli
