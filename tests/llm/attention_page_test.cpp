// The maps of a text, their code and the page around them.
#include "axial/llm/attention_page.h"

#include <algorithm>
#include <bit>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "axial/llm/attention_code.h"
#include "axial/llm/load.h"
#include "axial/llm/tokenizer.h"
#include "axial/ops/activations.h"
#include "oracle.h"

using namespace axial;
using namespace axial::llm;

namespace {

template <class F>
std::string errorOf(F&& f) {
    try {
        f();
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

// Rows that add up to 1: spread out by `sharpness`, and `first` of it on the first token.
AttentionMaps randomMaps(std::size_t tokens, unsigned seed, double sharpness, double first) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    AttentionMaps maps({0, 2}, 2, tokens);
    for (std::size_t place = 0; place < 2; ++place)
        for (std::size_t head = 0; head < 2; ++head)
            for (std::size_t i = 0; i < tokens; ++i) {
                const std::span<float> row = maps.row(place, head, i);
                double sum = 0;
                std::vector<double> p;
                for (std::size_t j = 1; j <= i; ++j) sum += p.emplace_back(std::exp(sharpness * normal(random)));
                row[0] = i == 0 ? 1.0f : static_cast<float>(first);
                for (std::size_t j = 1; j <= i; ++j) row[j] = static_cast<float>(p[j - 1] / sum * (1 - first));
            }
    return maps;
}

// A reader after the text of attention_code.h.
struct Decoded {
    std::vector<double> first, entropy;
    std::vector<std::vector<unsigned>> codes;  // [query - 1][key - 1]
};
Decoded decoded(const std::string& bytes, std::size_t n) {
    const auto byte = [&](std::size_t i) {
        return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : std::uint32_t{0};
    };
    Decoded d;
    for (std::size_t i = 0; i < n; ++i) {
        d.first.push_back((byte(2 * i) | byte(2 * i + 1) << 8) / 65535.0);
        d.entropy.push_back((byte(2 * (n + i)) | byte(2 * (n + i) + 1) << 8) / 4096.0);
    }
    std::size_t at = 4 * n;
    std::uint32_t low = 0, high = 0xffffffffu, value = 0;
    for (int i = 0; i < 4; ++i) value = value << 8 | byte(at++);
    const auto decision = [&](unsigned& learned) {
        const std::uint32_t middle = low + (high - low) / 65536u * learned;
        const bool yes = value <= middle;
        (yes ? high : low) = yes ? middle : middle + 1;
        learned = yes ? learned + (65535 - learned) / 16 : std::max(16u, learned - (learned + 15) / 16);
        while (low >> 24 == high >> 24) {
            low <<= 8;
            high = high << 8 | 255u;
            value = value << 8 | byte(at++);
        }
        return yes;
    };
    std::map<std::array<unsigned, 3>, unsigned> longer;
    std::map<std::array<unsigned, 2>, unsigned> behind;
    const auto of = [](auto& table, auto which) -> unsigned& { return table.try_emplace(which, 32768u).first->second; };
    for (std::size_t i = 1; i < n; ++i) {
        std::vector<unsigned> row;
        for (std::size_t j = 1; j <= i; ++j) {
            const unsigned left = j > 1 ? std::bit_width(row.back()) : 0,
                           above = j < i ? std::bit_width(d.codes.back()[j - 1]) : 0;
            unsigned length = 0;
            while (length < 10 && decision(of(longer, std::array{left, above, length}))) ++length;
            unsigned code = length > 0;
            for (unsigned k = length; k-- > 1;) code = code * 2 + decision(of(behind, std::array{length, k}));
            row.push_back(code);
        }
        d.codes.push_back(row);
    }
    return d;
}

// The data that a page holds.
nlohmann::json dataOf(const std::string& page) {
    const std::string opening = "<script type=\"application/json\" id=\"page-data\">";
    const std::size_t from = page.find(opening) + opening.size();
    return nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
}

std::string pageOf(const Tokenizer& tokenizer, std::span<const TokenId> tokens, const std::string& model = "m") {
    return attentionPage(AttentionMaps({0}, 1, tokens.size()), tokenizer, tokens, model);
}

}  // namespace

TEST_CASE("attention maps: every layer's rows are the reference's, chosen layers stand alone") {
    if (!oracle::present()) return;
    const UseActivations exact(Activations::float32);
    const auto sequences = oracle::json("models/ref/sequences.json");
    const std::vector<TokenId> tokens = sequences.at("sequences")[sequences.at("trace_sequence").get<std::size_t>()];
    const auto layer = sequences.at("trace_layer").get<std::size_t>();
    for (const std::string name : {"tiny-qwen3-F32", "tiny-qwen2-F32", "tiny-llama-F32"}) {
        CAPTURE(name);
        const LoadedModel loaded = load(oracle::path("models/" + name + ".gguf"));
        const Hyperparameters& h = loaded.model->hyperparameters();
        const auto want = oracle::readNpy(oracle::path("models/ref/trace/" + name + "/attn_probs.npy"));
        const std::size_t n = tokens.size();
        const AttentionMaps all = attentionOf(*loaded.model, h, tokens, Format::f32);
        const AttentionMaps one = attentionOf(*loaded.model, h, tokens, Format::f32, {layer, layer});
        CHECK(all.layers().size() == h.layers);
        CHECK(one.layers() == std::vector{layer});
        for (std::size_t head = 0; head < h.heads; ++head)
            for (std::size_t i = 0; i < n; ++i) {
                double bits = 0;
                for (std::size_t j = 0; j <= i; ++j) {
                    const double p = want.values[(head * n + i) * n + j];
                    CHECK(std::abs(all.row(layer, head, i)[j] - p) < 1e-5);
                    CHECK(one.row(0, head, i)[j] == all.row(layer, head, i)[j]);
                    if (p > 0) bits -= p * std::log2(p);
                }
                CHECK(std::abs(all.entropy(layer, head, i) - bits) < 1e-4);
            }
    }
}

TEST_CASE("attention maps: a text of several steps, and the limits") {
    const LoadedModel loaded = loadBundled();
    const Hyperparameters& h = loaded.model->hyperparameters();
    const std::vector<TokenId> tokens(100, 5);
    const AttentionMaps maps = attentionOf(*loaded.model, h, tokens, Format::f16);
    for (std::size_t place = 0; place < h.layers; ++place)
        for (std::size_t head = 0; head < h.heads; ++head)
            for (std::size_t i = 0; i < tokens.size(); ++i) {
                double sum = 0;
                for (const float p : maps.row(place, head, i)) sum += static_cast<double>(p);
                CHECK(std::abs(sum - 1) < 1e-4);
            }
    CHECK(errorOf([&] { (void)attentionOf(*loaded.model, h, {}, Format::f16); }) == "attention: there are no tokens");
    CHECK(errorOf([&] { (void)attentionOf(*loaded.model, h, tokens, Format::f16, {h.layers}); }) ==
          "attention: there is no layer " + std::to_string(h.layers) + "; the model has " + std::to_string(h.layers) +
              ", and the first is 0");
    CHECK(AttentionMaps::mostTokens(28, 16) == 386);
    CHECK(errorOf([&] { AttentionMaps(std::vector<std::size_t>(28), 16, 387); }) ==
          "attention: the text has 387 tokens, and of 28 layers with 16 heads there is room for 386; take a shorter "
          "text or fewer layers");
    CHECK_THROWS_AS((void)maps.row(0, 0, 100), ShapeError);
}

TEST_CASE("attention code: probabilities within 0.05 %, entropies within 0.0002 bits") {
    std::size_t numbers = 0, size = 0;
    for (const std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{90}})
        for (const double sharpness : {0.0, 1.0, 3.0, 40.0})
            for (const double first : {0.0, 0.4, 0.99, 0.9999999}) {
                const AttentionMaps maps = randomMaps(n, 3, sharpness, first);
                for (std::size_t place = 0; place < 2; ++place)
                    for (std::size_t head = 0; head < 2; ++head) {
                        const std::string bytes = attentionCode(maps, place, head);
                        numbers += n * (n + 1) / 2;
                        size += bytes.size();
                        const Decoded d = decoded(bytes, n);
                        for (std::size_t i = 0; i < n; ++i) {
                            const std::span<const float> row = maps.row(place, head, i);
                            CHECK(std::abs(d.first[i] - row[0]) < 1e-5);
                            CHECK(std::abs(d.entropy[i] - maps.entropy(place, head, i)) < 0.0002);
                            double rest = 0;
                            for (std::size_t j = 1; j <= i; ++j) rest += static_cast<double>(row[j]);
                            for (std::size_t j = 1; j <= i; ++j)
                                CHECK(std::abs(d.codes[i - 1][j - 1] / 1000.0 - row[j] / rest) < 0.00051);
                        }
                    }
            }
    CHECK(size < numbers);  // less than a byte each, even of what is random
}

TEST_CASE("attention page: tokens are shown as characters, parts of characters as bytes") {
    if (!oracle::present()) return;
    const LoadedModel loaded = load(oracle::path("models/tiny-qwen3-F32.gguf"));
    const Tokenizer& tokenizer = *loaded.tokenizer;
    const auto bytesAsTokens = [&](std::string_view text) {
        std::vector<TokenId> ids;
        for (const char c : text) ids.push_back(tokenizer.vocabulary().byteTokens[static_cast<unsigned char>(c)]);
        return ids;
    };
    using Json = nlohmann::json;
    const auto textsOf = [&](const std::vector<TokenId>& ids) {
        const Json data = dataOf(pageOf(tokenizer, ids));
        Json texts = Json::array();
        for (const Json& token : data.at("tokens")) texts.push_back(token.at("text"));
        return texts;
    };
    // A character over four tokens; the first of two bytes that no third follows; a byte that is never one; NUL.
    const std::string emoji = "\xF0\x9F\x98\x80";
    std::vector<TokenId> ids = bytesAsTokens("a" + emoji + "\xE2\x82z");
    const auto missing = [](TokenId id) { return id == Vocabulary::noToken; };
    REQUIRE(std::none_of(ids.begin(), ids.end(), missing));
    CHECK(textsOf(ids) == Json::parse(R"(["a", [["F0", "😀"]], [["9F", "😀"]], [["98", "😀"]], [["80", "😀"]],
                                          [["E2", ""]], [["82", ""]], "z"])"));
    CHECK(textsOf(bytesAsTokens(emoji.substr(0, 3))) == Json::parse(R"([[["F0", ""]], [["9F", ""]], [["98", ""]]])"));
    CHECK(textsOf(bytesAsTokens(std::string(1, '\0') + "\x1b"))[1] == "\x1b");
}

TEST_CASE("attention page: no text becomes markup") {
    if (!oracle::present()) return;
    const LoadedModel loaded = load(oracle::path("models/tiny-qwen3-F32.gguf"));
    const std::string hostile =
        "</script><script>alert(1)</script><!--<script>]]>&lt;\"'`</style></title><img src=x onerror=x>";
    const std::vector<TokenId> ids = loaded.tokenizer->encode(hostile);
    const std::string page = pageOf(*loaded.tokenizer, ids, hostile),
                      plain = pageOf(*loaded.tokenizer, std::vector<TokenId>{1});
    const auto count = [](const std::string& text, const std::string& part) {
        std::size_t n = 0;
        for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
        return n;
    };
    for (const char* part : {"<script", "</script", "<!--", "<img", "</style", "</title", "&lt;", "]]>"})
        CHECK(count(page, part) == count(plain, part));
    const nlohmann::json data = dataOf(page);
    CHECK(data.at("model") == hostile);
    std::string joined;
    for (const auto& token : data.at("tokens")) joined += token.at("text").get<std::string>();
    CHECK(joined == hostile);
    CHECK(page.find(std::string(attentionPagePolicy())) != page.npos);
    CHECK(page.find("http://") == page.find("http://www.w3.org/2000/svg"));  // a name, not an address that is fetched
    CHECK(page.find("https://") == page.npos);
    CHECK(errorOf([&] {
              (void)attentionPage(AttentionMaps({0}, 1, 3), *loaded.tokenizer, ids, "m");
          }).starts_with("attentionPage: "));
}
