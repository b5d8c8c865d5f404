// Any text through a tokenizer and back; and any GGUF file or tokenizer.json as a tokenizer.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "axial/llm/gguf.h"
#include "axial/llm/stream_decoder.h"
#include "axial/llm/tokenizer.h"
#include "axial/llm/tokenizer_json.h"
#include "axial/llm/unicode.h"
#include "axial/tensor/error.h"

namespace {

using namespace axial::llm;

void require(bool holds) {
    if (!holds) std::abort();
}

void checkText(const Tokenizer& tokenizer, std::string_view text) {
    const std::string valid = replaceInvalidUtf8(text);
    for (const SpecialTokens special : {SpecialTokens::parse, SpecialTokens::controlAsText, SpecialTokens::asText}) {
        const std::vector<TokenId> ids = tokenizer.encode(text, special);
        require(tokenizer.bytes(ids) == valid);
        require(tokenizer.decode(ids) == valid);
        require(tokenizer.encode(valid, special) == ids);
        StreamDecoder stream(tokenizer, true);
        std::string streamed;
        for (const TokenId id : ids) streamed += stream.push(id);
        require(streamed + stream.finish() == valid);
    }
    // Bytes as token numbers: most sequences cut characters.
    std::vector<TokenId> ids;
    for (const char c : text.substr(0, 256)) ids.push_back(static_cast<unsigned char>(c) * 2);
    require(isValidUtf8(tokenizer.decode(ids)));
}

void use(Vocabulary vocabulary) {
    const Tokenizer tokenizer(std::move(vocabulary));
    for (const TokenId id : tokenizer.encode("Hello, <|im_end|> 12 w\xc3\xb6rld\n")) (void)tokenizer.piece(id);
}

void checkGguf(std::string_view content) {
    const auto* from = reinterpret_cast<const std::byte*>(content.data());
    auto bytes = std::make_shared<const std::vector<std::byte>>(from, from + content.size());
    try {
        use(vocabularyOf(GgufFile::parse(bytes, *bytes, "fuzz.gguf")));
    } catch (const axial::Error&) {
    }
}

// A tokenizer.json is read by its path: this is one in memory, in a folder without its companions.
void checkJson(std::string_view content) {
    const int file = ::memfd_create("tokenizer.json", MFD_CLOEXEC);
    require(file >= 0 && ::write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
    try {
        use(vocabularyFromTokenizerJson("/proc/self/fd/" + std::to_string(file)));
    } catch (const axial::Error&) {
    }
    ::close(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Tokenizer tokenizer(
        vocabularyOf(GgufFile::open(std::filesystem::path(AXIAL_TEST_DATA) / "tiny-vocab.gguf")));
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    if (input.starts_with("GGUF"))
        checkGguf(input);
    else if (input.starts_with("{"))
        checkJson(input);
    else
        checkText(tokenizer, input);
    return 0;
}
