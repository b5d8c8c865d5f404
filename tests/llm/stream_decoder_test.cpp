#include "axial/llm/stream_decoder.h"

#include <rapidcheck.h>

#include "axial/llm/unicode.h"
#include "axial/tensor/error.h"
#include "tokenizer_data.h"

using namespace axial;
using namespace axial::llm;
using namespace axial::llm::test;

namespace {
std::string streamed(const Ids& ids) {
    StreamDecoder decoder(qwen3());
    std::string text;
    for (const TokenId id : ids) {
        const std::string delta = decoder.push(id);
        CHECK(isValidUtf8(delta));
        text += delta;
    }
    return text + decoder.finish();
}
}  // namespace

TEST_SUITE("stream decoder") {
    TEST_CASE("STRM-01: complete characters only, a cut one is dropped, streamed or not") {
        if (!oracle::present()) return;
        const Json row = report("STRM-01"), expected = row["expected"];
        for (const Json& vector : expected["vectors"]) {
            const Ids ids = vector["ids"];
            StreamDecoder decoder(qwen3());
            std::vector<std::string> deltas;
            for (const TokenId id : ids) deltas.push_back(decoder.push(id));
            CHECK(deltas == vector["deltas_if_emitted_as_soon_as_valid"].get<std::vector<std::string>>());
            CHECK(streamed(ids) == vector["text"].get<std::string>());
            CHECK(qwen3().decode(ids) == vector["text"].get<std::string>());
        }
        for (const Json& vector : expected["cut_vectors"]) {
            const Ids ids = vector["ids"];
            CHECK(streamed(ids) == vector["text"].get<std::string>());
            CHECK(qwen3().decode(ids) == vector["text"].get<std::string>());
        }
        for (std::size_t i = 0; i < expected["invalid_middle_text"].size(); i++) {
            const Ids ids = row["input"]["invalid_middle"][i];
            CHECK(streamed(ids) == expected["invalid_middle_text"][i].get<std::string>());
            CHECK(qwen3().decode(ids) == expected["invalid_middle_text"][i].get<std::string>());
        }
    }

    TEST_CASE("streamed text is the whole text, whatever the tokens") {
        if (!oracle::present()) return;
        const auto size = static_cast<TokenId>(qwen3().vocabulary().tokens.size());
        CHECK(rc::check([size] {
            // Half of the ids are single bytes, which break characters.
            const auto ids = *rc::gen::container<Ids>(
                rc::gen::oneOf(rc::gen::inRange<TokenId>(0, 256), rc::gen::inRange<TokenId>(0, size)));
            const std::string bytes = qwen3().bytes(ids, false), text = streamed(ids);
            RC_ASSERT(text == qwen3().decode(ids, false));
            RC_ASSERT(isValidUtf8(text));
            // The whole with its tail replaced begins with the text, and has one U+FFFD more at most.
            const std::string replaced = replaceInvalidUtf8(bytes);
            RC_ASSERT(replaced == text || replaced == text + "\uFFFD");
        }));
    }

    TEST_CASE("a decoder begins again after its end, and an unknown id changes nothing") {
        if (!oracle::present()) return;
        StreamDecoder decoder(qwen3());
        CHECK(decoder.push(8508).empty());  // two bytes of three
        CHECK_THROWS_AS(decoder.push(-1), ValueError);
        CHECK(decoder.push(43720) == "\u5ba2\u5355");
        CHECK(decoder.push(8508).empty());
        CHECK(decoder.finish().empty());
        CHECK(decoder.push(9707) == "Hello");
        CHECK(decoder.push(151645).empty());
        CHECK(StreamDecoder(qwen3(), true).push(151645) == "<|im_end|>");
    }
}
