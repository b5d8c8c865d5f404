#include "axial/llm/attention_page.h"

#include <nlohmann/json.hpp>

#include "axial/llm/attention_code.h"
#include "axial/llm/attention_page_files.h"
#include "axial/llm/tokenizer.h"
#include "axial/llm/unicode.h"
#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

using Json = nlohmann::ordered_json;

std::string base64(std::string_view bytes) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t bits = 0;
        for (std::size_t k = 0; k < 3; ++k)
            bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
        for (std::size_t k = 0; k < 4; ++k) text += i + k <= bytes.size() ? digits[bits >> (18 - 6 * k) & 63u] : '=';
    }
    return text;
}

std::string hex(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string text;
    for (const unsigned char byte : bytes) {
        if (!text.empty()) text += ' ';
        text += digits[byte >> 4];
        text += digits[byte & 15u];
    }
    return text;
}

// What each token says. A character that lies in one token is text; what lies in several, or is none, is [bytes in hex,
// the character that they are a part of, or ""].
class TokenTexts {
  public:
    TokenTexts(const Tokenizer& tokenizer, std::span<const TokenId> tokens) {
        std::string all;
        std::vector<std::size_t> ends;
        for (const TokenId id : tokens) {
            all += tokenizer.piece(id);
            ends.push_back(all.size());
        }
        std::size_t at = 0, token = 0;
        texts_.resize(tokens.size(), Json::array());
        while (at < all.size()) {
            while (at >= ends[token]) ++token;
            const Utf8Step step = firstCharacter(std::string_view(all).substr(at));
            const std::string character =
                step.kind == Utf8Kind::character ? all.substr(at, step.length) : std::string();
            if (!character.empty() && at + step.length <= ends[token]) {
                text(token, character);
            } else {
                for (std::size_t i = at; i < at + step.length; ++i) {
                    while (i >= ends[token]) ++token;
                    byte(token, all[i], character, i == at);
                }
            }
            at += step.length;
        }
    }
    Json of(std::size_t token) const {
        const Json& parts = texts_[token];
        if (parts.empty()) return "";
        return parts.size() == 1 && parts[0].is_string() ? parts[0] : parts;
    }

  private:
    void text(std::size_t token, const std::string& character) {
        Json& parts = texts_[token];
        if (parts.empty() || !parts.back().is_string()) parts.push_back("");
        parts.back().get_ref<std::string&>() += character;
    }
    void byte(std::size_t token, char value, const std::string& character, bool begins) {
        Json& parts = texts_[token];
        const bool goesOn =
            !parts.empty() && parts.back().is_array() && parts.back()[1] == character && (character.empty() || !begins);
        if (!goesOn) parts.push_back({"", character});
        std::string& bytes = parts.back()[0].get_ref<std::string&>();
        bytes += (bytes.empty() ? "" : " ") + hex({&value, 1});
    }

    std::vector<Json> texts_;
};

// JSON that cannot end the element that it stands in.
std::string inScript(std::string json) {
    std::string text;
    text.reserve(json.size());
    for (const char c : json) {
        if (c == '<' || c == '>' || c == '&')
            text += "\\u00" + hex({&c, 1});
        else
            text += c;
    }
    return text;
}

}  // namespace

std::string attentionPage(const AttentionMaps& maps, const Tokenizer& tokenizer, std::span<const TokenId> tokens,
                          std::string_view model) {
    if (tokens.size() != maps.tokens())
        throw ShapeError("attentionPage: " + std::to_string(tokens.size()) + " tokens, and maps of " +
                         std::to_string(maps.tokens()));
    const TokenTexts texts(tokenizer, tokens);
    Json data;
    data["model"] = model;
    data["layers"] = maps.layers();
    data["heads"] = maps.heads();
    data["steps"] = attentionSteps;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        Json token{{"id", tokens[i]}, {"text", texts.of(i)}};
        if (tokenizer.vocabulary().isMarker(tokens[i])) token["special"] = true;
        data["tokens"].push_back(std::move(token));
    }
    std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
    page.append("<meta http-equiv=\"Content-Security-Policy\" content=\"").append(attentionPagePolicy());
    page.append(
        "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Attention</title>\n");
    page.append("<style>").append(pages::attentionStyle).append("</style>\n</head>\n<body>\n");
    page.append(pages::attentionBody).append("<script type=\"application/json\" id=\"page-data\">");
    std::string json = inScript(data.dump(-1, ' ', false, Json::error_handler_t::replace));
    json.pop_back();
    page.append(json).append(",\n\"maps\":[");
    for (std::size_t place = 0; place < maps.layers().size(); ++place) {
        page += place ? ",\n[" : "\n[";
        for (std::size_t head = 0; head < maps.heads(); ++head) {
            page += head ? ",\"" : "\"";
            page.append(base64(attentionCode(maps, place, head))).append("\"");
        }
        page += "]";
    }
    page.append("]}</script>\n<script>").append(pages::attentionScript).append("</script>\n</body>\n</html>\n");
    return page;
}

std::string_view attentionPagePolicy() {
    static const std::string policy =
        "default-src 'none'; img-src data: blob:; base-uri 'none'; form-action 'none'; script-src 'sha256-" +
        std::string(pages::attentionScriptHash) + "'; style-src 'sha256-" + std::string(pages::attentionStyleHash) +
        "'";
    return policy;
}

}  // namespace axial::llm
