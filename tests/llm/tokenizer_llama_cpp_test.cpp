// llama.cpp's own vocabulary tests: models/ggml-vocab-*.gguf with the texts (.inp) and ids (.out) beside them, computed
// by the reference tokenizer of each model. Read where the environment variable AXIAL_LLAMA_CPP names a folder with
// llama.cpp's source; the source archive of the Python package llama-cpp-python has one in vendor/llama.cpp.
#include <cstdlib>
#include <sstream>

#include "axial/tensor/error.h"
#include "tokenizer_data.h"

using namespace axial;
using namespace axial::llm;
using namespace axial::llm::test;

namespace {
std::filesystem::path vocabularies() {
    const char* folder = std::getenv("AXIAL_LLAMA_CPP");
    return folder ? std::filesystem::path(folder) / "models" : std::filesystem::path();
}

// The texts stand between lines of their own, "__ggml_vocab_test__".
std::vector<std::string> textsOf(const std::string& file) {
    const std::string separator = "\n__ggml_vocab_test__\n";
    std::vector<std::string> texts;
    for (std::size_t at = 0; at < file.size();) {
        const std::size_t end = file.find(separator, at);
        if (end == file.npos) {
            texts.push_back(file.substr(at));
            break;
        }
        texts.push_back(file.substr(at, end - at));
        at = end + separator.size();
    }
    return texts;
}

std::vector<Ids> idsOf(const std::string& file) {
    std::vector<Ids> ids;
    std::istringstream lines(file);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream numbers(line);
        Ids& row = ids.emplace_back();
        for (TokenId id; numbers >> id;) row.push_back(id);
    }
    return ids;
}
}  // namespace

TEST_SUITE("tokenizer") {
    TEST_CASE("llama.cpp's vocabulary tests") {
        const std::filesystem::path folder = vocabularies();
        if (folder.empty() || !std::filesystem::exists(folder)) {
            MESSAGE("skipped: AXIAL_LLAMA_CPP does not name a folder with llama.cpp's source");
            return;
        }
        int vocabularies = 0, cases = 0, refused = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            const std::filesystem::path& path = entry.path();
            if (path.extension() != ".gguf") continue;
            CAPTURE(path.string());
            const GgufFile file = GgufFile::open(path);
            const std::string model(file.require("tokenizer.ggml.model").string());
            if (model != "gpt2") {
                CHECK_THROWS_WITH_AS(vocabularyOf(file), doctest::Contains(("is " + model + ";").c_str()), UnsupportedError);
                refused++;
                continue;
            }
            // Two files are older than the key; their tokenizers are GPT-2's.
            const bool old = !file.find("tokenizer.ggml.pre");
            if (old) CHECK_THROWS_WITH_AS(vocabularyOf(file), doctest::Contains("give the name of a"), UnsupportedError);
            const Tokenizer tokenizer(old ? vocabularyOf(file, "gpt-2") : vocabularyOf(file));
            if (!std::filesystem::exists(path.string() + ".inp")) continue;
            vocabularies++;
            const std::vector<std::string> texts = textsOf(readFile(path.string() + ".inp"));
            const std::vector<Ids> ids = idsOf(readFile(path.string() + ".out"));
            REQUIRE(texts.size() == ids.size());
            for (std::size_t i = 0; i < texts.size(); i++) {
                CAPTURE(texts[i]);
                CHECK(tokenizer.encode(texts[i], SpecialTokens::controlAsText) == ids[i]);
                CHECK(tokenizer.bytes(ids[i]) == texts[i]);
                cases++;
            }
        }
        MESSAGE(vocabularies << " byte-level vocabularies, " << cases << " cases; " << refused << " of other kinds refused");
        CHECK(vocabularies >= 11);
    }
}
