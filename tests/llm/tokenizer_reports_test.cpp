// Public bug reports about tokenizers (rows TOK-* of reports.jsonl), each restated as inputs and right answers.
#include <pthread.h>
#include <time.h>

#include <functional>

#include "axial/llm/unicode.h"
#include "axial/tensor/error.h"
#include "tokenizer_data.h"

using namespace axial;
using namespace axial::llm;
using namespace axial::llm::test;

namespace {
void checkVectors(const char* id) {
    if (!oracle::present()) return;
    const Json row = report(id);
    CAPTURE(row["right"].get<std::string>());
    CHECK(row["expected"]["vectors"].size() > 10);
    for (const Json& vector : row["expected"]["vectors"]) {
        const std::string text = vector["text"];
        CAPTURE(text);
        CHECK(qwen3().encode(text) == vector["ids"].get<Ids>());
    }
}

std::string unhex(const std::string& hex) {
    std::string bytes;
    for (std::size_t i = 0; i < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    return bytes;
}

std::string unbase64(const std::string& text) {
    const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
        if (c == '=') break;
        bits = bits << 6 | static_cast<std::uint32_t>(alphabet.find(c));
        if ((count += 6) >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 0xFF);
    }
    return bytes;
}

// Runs on a thread with a stack of its own size.
void onSmallStack(std::size_t bytes, const std::function<void()>& work) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    REQUIRE(pthread_attr_setstacksize(&attributes, bytes) == 0);
    pthread_t thread;
    const auto run = [](void* argument) -> void* {
        (*static_cast<const std::function<void()>*>(argument))();
        return nullptr;
    };
    REQUIRE(pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&work)) == 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
}

// Of this thread's own time, which does not depend on what else the machine does.
double seconds(const std::function<void()>& work) {
    const auto now = [] {
        timespec time;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
    };
    const double start = now();
    work();
    return now() - start;
}

std::string repeated(std::string_view text, int times) {
    std::string result;
    for (int i = 0; i < times; i++) result += text;
    return result;
}

// The texts of TOK-08, whose rows give them as Python expressions.
std::string evaluated(std::string expression) {
    if (expression == "' '*20000+'x'") return repeated(" ", 20000) + "x";
    if (expression == "'a'+'\\u0301'*20000") return "a" + repeated("\u0301", 20000);
    const std::size_t star = expression.rfind('*');
    std::string text = expression.substr(1, star - 2);
    if (text == "\\n") text = "\n";
    return repeated(text, std::stoi(expression.substr(star + 1)));
}

struct Run {
    TokenId id;
    int count;
};
std::vector<Run> runsOf(const Ids& ids) {
    std::vector<Run> runs;
    for (const TokenId id : ids) {
        if (runs.empty() || runs.back().id != id) runs.push_back({id, 0});
        runs.back().count++;
    }
    return runs;
}
}  // namespace

TEST_SUITE("tokenizer") {
    TEST_CASE("TOK-01: contractions in any case") { checkVectors("TOK-01"); }
    TEST_CASE("TOK-02: runs of symbols stay together, digits stand alone") { checkVectors("TOK-02"); }
    TEST_CASE("TOK-06: blank lines, line ends and trailing spaces") { checkVectors("TOK-06"); }
    TEST_CASE("TOK-12: Chinese, Japanese, Korean and emoji") { checkVectors("TOK-12"); }

    TEST_CASE("TOK-07: any bytes can be encoded; what is not UTF-8 becomes U+FFFD") {
        if (!oracle::present()) return;
        const Json row = report("TOK-07");
        for (const Json& vector : row["expected"]["vectors"]) {
            const std::string bytes = unhex(vector["bytes_hex"]);
            CAPTURE(vector["bytes_hex"].get<std::string>());
            const Ids ids = qwen3().encode(bytes);
            CHECK(ids == vector["ids"].get<Ids>());
            CHECK(qwen3().decode(ids) == replaceInvalidUtf8(bytes));
        }
        CHECK(qwen3().withEnds(qwen3().encode("")).empty());
        int cases = 0;
        for (const Json& line : readLines(oracle::path("tokenizer/invalid-utf8.jsonl"))) {
            CAPTURE(line["base64"].get<std::string>());
            CHECK(qwen3().encode(unbase64(line["base64"])) == line["replaced_ids"].get<Ids>());
            cases++;
        }
        CHECK(cases == 46);
    }

    TEST_CASE("TOK-08: long runs take linear time and little stack") {
        if (!oracle::present()) return;
        const Json row = report("TOK-08");
        CHECK(qwen3().encode("").empty());  // loads it, which is not to be measured
        double slowest = 0;
        for (const Json& vector : row["expected"]["vectors"]) {
            const std::string expression = vector["text_expr"];
            CAPTURE(expression);
            // The last row's ids are those of the normalised text, which a GGUF file cannot ask for.
            const std::string text = normalizeNfc(evaluated(expression));
            Ids ids;
            double once = 0, twice = 0;
            onSmallStack(256 << 10, [&] {
                once = seconds([&] { ids = qwen3().encode(text); });
                twice = seconds([&] { qwen3().encode(text + text); });
            });
            CHECK(ids.size() == vector["n_ids"].get<std::size_t>());
            if (!vector["ids_rle"].is_null()) {
                const std::vector<Run> runs = runsOf(ids);
                REQUIRE(runs.size() == vector["ids_rle"].size());
                for (std::size_t i = 0; i < runs.size(); i++) {
                    CHECK(runs[i].id == vector["ids_rle"][i][0].get<TokenId>());
                    CHECK(runs[i].count == vector["ids_rle"][i][1].get<int>());
                }
            }
            CHECK(qwen3().bytes(ids) == text);
            CHECK(once < row["expected"]["max_seconds_each"].get<double>());
            CHECK(twice < 3 * once + 0.05);
            slowest = std::max(slowest, once);
        }
        const std::string letters(43000, 'A');
        const double time = seconds([&] { CHECK(qwen3().encode(letters).size() == 5375); });
        MESSAGE("43,000 equal letters: " << time * 1e3 << " ms; the slowest of the report: " << slowest * 1e3 << " ms");
    }

    TEST_CASE("normalisation of long runs of marks takes linear time") {
        std::string marks = "a";
        for (int i = 0; i < 20000; i++) marks += i % 2 ? "\u0323" : "\u0301";  // above and below, which change places
        std::string sorted;
        const double time = seconds([&] { sorted = normalizeNfc(marks); });
        // The first mark below joins the letter; all others below come before those above.
        CHECK(sorted == "\u1ea1" + repeated("\u0323", 9999) + repeated("\u0301", 10000));
        CHECK(time < 0.5);
    }

    TEST_CASE("TOK-09: the file's token types decide which markers are text") {
        if (!oracle::present()) return;
        const Json row = report("TOK-09"), expected = row["expected"];
        for (const Json& vector : expected["parse_special_on"]) {
            const std::string text = vector["text"];
            CAPTURE(text);
            CHECK(qwen3().encode(text) == vector["ids"].get<Ids>());
        }
        for (const Json& vector : expected["parse_special_off"]) {
            const std::string text = vector["text"];
            CAPTURE(text);
            CHECK(qwen3().encode(text, SpecialTokens::asText) == vector["ids"].get<Ids>());
        }
        for (const Json& vector : expected["decode"]) {
            const Ids ids = vector["ids"];
            CHECK(qwen3().decode(ids, true) == vector["skip_special_false"].get<std::string>());
            CHECK(qwen3().decode(ids, false) == vector["skip_special_true"].get<std::string>());
        }
    }

    TEST_CASE("STRM-03: every end of a reply") {
        if (!oracle::present()) return;
        CHECK(qwen3().vocabulary().eos == 151645);
        CHECK(qwen3().endsGeneration(151645));
        CHECK(qwen3().endsGeneration(151643));
        const Json row = report("STRM-03");
        const auto& generated = row["input"]["generated"];
        for (std::size_t i = 0; i < generated.size(); i++) {
            Ids reply;
            for (const TokenId id : generated[i].get<Ids>()) {
                if (qwen3().endsGeneration(id)) break;
                reply.push_back(id);
            }
            CHECK(qwen3().decode(reply) == row["expected"]["texts"][i].get<std::string>());
        }
    }

    TEST_CASE("an id that is not in the vocabulary") {
        if (!oracle::present()) return;
        for (const TokenId id : {-1, 151936, 2147483647}) {
            CHECK_THROWS_WITH_AS(qwen3().piece(id), doctest::Contains("is not one of the 151936"), ValueError);
            CHECK_THROWS_AS(qwen3().bytes(std::vector{id}), ValueError);
            CHECK_THROWS_AS(qwen3().decode(std::vector{id}), ValueError);
            CHECK_FALSE(qwen3().endsGeneration(id));
        }
    }
}
