// Qwen3's tokenizer.json, made again from the GGUF file that was made from it.
#pragma once
#include <fstream>
#include <set>
#include <string>

#include "tokenizer_data.h"

namespace axial::llm::test {

inline Json qwen3TokenizerJson(bool mergesAsPairs) {
    const GgufFile file = GgufFile::open(oracle::path("tokenizer/qwen3-vocab.gguf"));
    const auto texts = file.require("tokenizer.ggml.tokens").strings();
    const auto types = file.require("tokenizer.ggml.token_type").integers();
    Json vocabulary = Json::object(), merges = Json::array(), added = Json::array();
    auto& entries = vocabulary.get_ref<Json::object_t&>();
    entries.reserve(texts.size());
    for (std::size_t i = 0; i < texts.size(); i++) {
        if (types[i] == 1) entries.push_back({std::string(texts[i]), i});  // without the search for an equal key
        if (types[i] != 3 && types[i] != 4) continue;
        const bool fillInTheMiddle = i >= 151659 && i <= 151664;  // "special": false, see the oracle's README
        added.push_back({{"id", i},
                         {"content", texts[i]},
                         {"single_word", false},
                         {"lstrip", false},
                         {"rstrip", false},
                         {"normalized", false},
                         {"special", types[i] == 3 && !fillInTheMiddle}});
    }
    for (const std::string_view merge : file.require("tokenizer.ggml.merges").strings()) {
        const std::size_t space = merge.find(' ');
        if (mergesAsPairs) {
            merges.push_back(Json::array({merge.substr(0, space), merge.substr(space + 1)}));
        } else {
            merges.push_back(merge);
        }
    }
    const std::string pattern = qwen3().vocabulary().splitRules.front().pattern;
    const Json byteLevel = {
        {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}};
    const Json split = {
        {"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}};
    return {{"version", "1.0"},
            {"truncation", nullptr},
            {"padding", nullptr},
            {"added_tokens", added},
            {"normalizer", {{"type", "NFC"}}},
            {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", Json::array({split, byteLevel})}}},
            {"post_processor", byteLevel},
            {"decoder", byteLevel},
            {"model",
             {{"type", "BPE"},
              {"dropout", nullptr},
              {"unk_token", nullptr},
              {"continuing_subword_prefix", ""},
              {"end_of_word_suffix", ""},
              {"fuse_unk", false},
              {"byte_fallback", false},
              {"ignore_merges", false},
              {"vocab", std::move(vocabulary)},
              {"merges", std::move(merges)}}}};
}

}  // namespace axial::llm::test
