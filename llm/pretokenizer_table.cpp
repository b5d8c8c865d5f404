// The published regular expressions, by the names that GGUF files give them in tokenizer.ggml.pre. The expressions are
// those of each family's tokenizer.json; the names, and which of them ignore merges or begin with a BOS, are
// llama.cpp's (src/llama-vocab.cpp). Names whose tokenizers are no byte-level BPE are not here.
#include <algorithm>

#include "axial/llm/pretokenizer.h"

namespace axial::llm {

namespace {
using Rules = std::vector<SplitRule>;

// What several of the expressions share.
const std::string contraction = R"((?i:'s|'t|'re|'ve|'m|'ll|'d))";
const std::string afterWords = R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
const std::string word = R"([^\r\n\p{L}\p{N}]?\p{L}+)";
const std::string upper = R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])", lower = R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])";

const SplitRule gpt2{R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"};
const SplitRule oneDigit{R"(\p{N})"}, digits{R"(\p{N}+)"}, threeDigits{R"(\p{N}{1,3})"};
const SplitRule newline{R"([\r\n])"};
const SplitRule asciiTriple{R"([0-9][0-9][0-9])"};
const SplitRule kanaAndHan{R"([一-龥぀-ゟ゠-ヿ]+)"};
const SplitRule asianLetters{R"([一-龥ࠀ-一가-퟿]+)"};
const SplitRule cased{"[^\\r\\n\\p{L}\\p{N}]?" + upper + "*" + lower + "+" + contraction + "?|[^\\r\\n\\p{L}\\p{N}]?" +
                      upper + "+" + lower + "*" + contraction +
                      R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
const SplitRule punctuated{R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
                           R"(| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
const SplitRule bloom{R"( ?[^(\s|.,!?…。，、।۔،)]+)"};

SplitRule words(const std::string& numbers) { return {contraction + "|" + word + "|" + numbers + afterWords}; }

const std::vector<PreTokenizerRules>& table() {
    static const std::vector<PreTokenizerRules> rows = {
        {{"qwen2", "deepseek-r1-qwen", "kormo", "f2llmv2", "stablelm2", "hunyuan", "megrez", "solar-open", "grok-2"},
         Rules{words(R"(\p{N})")}},
        {{"qwen35"},
         Rules{{contraction + R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+)"
                              R"(|\s+(?!\S)|\s+)"}}},
        {{"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano"},
         Rules{words(R"(\p{N}{1,3})")},
         true,
         true},
        {{"glm4", "glm5"}, Rules{words(R"(\p{N}{1,3})")}, true},
        {{"dbrx", "smaug-bpe", "chatglm-bpe"}, Rules{words(R"(\p{N}{1,3})")}},
        {{"minicpm5"}, Rules{threeDigits, words(R"(\p{N}+)")}, true},
        {{"gpt-2", "phi-2", "mpt", "olmo", "jais", "trillion", "granite-docling", "jina-es", "jina-de", "jina-v1-en",
          "jina-v2-code", "jina-v2-es", "jina-v2-de", "roberta-bpe", "gigachat", "a.x-4.0", "mellum", "modern-bert",
          "exaone4"},
         Rules{gpt2}},
        {{"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b", "mellum2"},
         Rules{oneDigit, gpt2}},
        {{"falcon"}, Rules{{R"([\p{P}$+<=>^`|~]+)"}, gpt2, asciiTriple}},
        {{"default"}, Rules{{R"([\p{P}$+<=>^~|]+)"}, gpt2, digits, asciiTriple}},
        {{"deepseek-llm"},
         Rules{newline,
               {R"(\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗ)"
                R"(ὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗ)"
                R"(Ａ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+)"},
               {R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)"},
               {R"(\s+$)"},
               asianLetters,
               oneDigit}},
        {{"deepseek-coder"}, Rules{newline, {R"(\s?\p{L}+)"}, {R"(\s?\p{P}+)"}, asianLetters, oneDigit}},
        {{"deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"}, Rules{threeDigits, kanaAndHan, punctuated}},
        {{"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"}, Rules{cased}},
        {{"granite-embed-multi-97m"}, Rules{cased}, true},
        {{"tekken"},
         Rules{{"[^\\r\\n\\p{L}\\p{N}]?" + upper + "*" + lower + "+|[^\\r\\n\\p{L}\\p{N}]?" + upper + "+" + lower +
                R"(*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
         true,
         true},
        {{"kimi-k2"},
         // The file intersects each class with "not Han".
         Rules{{"\\p{sc:Han}+|[^\\r\\n\\p{L}\\p{N}]?(?:(?!\\p{sc:Han})" + upper + ")*(?:(?!\\p{sc:Han})" + lower +
                ")+" + contraction + "?|[^\\r\\n\\p{L}\\p{N}]?(?:(?!\\p{sc:Han})" + upper + ")+(?:(?!\\p{sc:Han})" +
                lower + ")*" + contraction + R"(?|\p{N}{1,3})" + afterWords}}},
        {{"poro-chat", "bloom", "gpt3-finnish"}, Rules{bloom}},
        {{"viking"}, Rules{bloom, oneDigit}},
        {{"bailingmoe", "bailingmoe2", "llada-moe"},
         Rules{{R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n])"
                R"(|\s+(?!\S)|\s+)"}}},
        {{"seed-coder"},
         Rules{{contraction + "|" + word + R"(|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)"}}},
        {{"ufakzeka"}, Rules{{word + R"(|\p{N})" + afterWords}}},
        {{"exaone-moe"},
         Rules{{contraction + R"(|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?)"
                              R"(|\s*[\r\n]|\s+(?!\S)|\s+)"}}},
        {{"laguna"}, Rules{{R"([^\n]+|[\n]+)"}, words(R"(\p{N})")}},
        {{"jais-2"},
         Rules{
             {contraction + "|" + word +
              R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S))"
              R"(|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})"}}},
        {{"chameleon"},
         Rules{{"<sentinel:[0-9]+>"},
               {"(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z"},
               {R"(([\t\n]|    |  ))"},
               oneDigit,
               {R"([\p{P}!-/:-@\[-`{-~])"},
               gpt2},
         false,
         true},
    };
    return rows;
}
}  // namespace

const PreTokenizerRules* findPreTokenizer(std::string_view name) {
    for (const PreTokenizerRules& row : table()) {
        if (std::find(row.names.begin(), row.names.end(), name) != row.names.end()) return &row;
    }
    return nullptr;
}

std::string preTokenizerNames() {
    std::string names;
    for (const PreTokenizerRules& row : table()) {
        for (std::string_view name : row.names) {
            if (!names.empty()) names += ", ";
            names += name;
        }
    }
    return names;
}

}  // namespace axial::llm
