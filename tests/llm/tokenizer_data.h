// Reading the reference data of tokenizers and chat templates.
#pragma once
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "axial/llm/gguf.h"
#include "axial/llm/tokenizer.h"
#include "oracle.h"

namespace axial::llm::test {

using Json = nlohmann::ordered_json;

inline std::string readFile(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE_MESSAGE(file, path.string());
    return {std::istreambuf_iterator<char>(file), {}};
}

// A file with one JSON value a line.
inline std::vector<Json> readLines(const std::filesystem::path& path) {
    std::vector<Json> lines;
    std::ifstream file(path);
    REQUIRE_MESSAGE(file, path.string());
    for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
    return lines;
}

// A row of reports.jsonl: a public bug report, restated as input and right answer.
inline Json report(const std::string& id) {
    for (Json& row : readLines(oracle::path("reports.jsonl"))) {
        if (row["id"] == id) return row;
    }
    FAIL("no report " << id);
    return {};
}

inline const Tokenizer& qwen3() {
    static const Tokenizer tokenizer(vocabularyOf(GgufFile::open(oracle::path("tokenizer/qwen3-vocab.gguf"))));
    return tokenizer;
}

using Ids = std::vector<TokenId>;

}  // namespace axial::llm::test
