"""make_pretokenizer_pieces.py OUT.json

What Hugging Face tokenizers (0.23.3; regular expressions by Oniguruma) cuts texts into, for the pre-tokenizers that GGUF
files name. The patterns are written here as the models' own files have them, in Oniguruma's syntax.
"""
import json
import sys

from tokenizers import Regex, pre_tokenizers

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
C = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
END = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
U, L = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
H = r"&&[^\p{Han}]"
P = r"[^\r\n\p{L}\p{N}]?"
O200K = rf"{P}[{U}]*[{L}]+{C}?|{P}[{U}]+[{L}]*{C}?|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
V3 = (r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
      r"|\s*[\r\n]+|\s+(?!\S)|\s+")
LATIN = ("A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅ"
         "ὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎ"
         "ꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃")
ASIAN = "[一-龥ࠀ-一가-퟿]+"

PATTERNS = {
    "qwen2": [C + rf"|{P}\p{{L}}+|\p{{N}}" + END],
    "qwen35": [C + rf"|{P}[\p{{L}}\p{{M}}]+|\p{{N}}| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"],
    "llama-bpe": [C + rf"|{P}\p{{L}}+|\p{{N}}{{1,3}}" + END],
    "minicpm5": [r"\p{N}{1,3}", C + rf"|{P}\p{{L}}+|\p{{N}}+" + END],
    "gpt-2": [GPT2],
    "smollm": [r"\p{N}", GPT2],
    "deepseek-llm": [r"[\r\n]", rf"\s?[{LATIN}]+", r"\s?[!-/:-~！-／：-～‘-‟　-。]+", r"\s+$", ASIAN, r"\p{N}"],
    "deepseek-coder": [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", ASIAN, r"\p{N}"],
    "deepseek-v3": [r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+", V3],
    "gpt-4o": [O200K],
    "tekken": [rf"{P}[{U}]*[{L}]+|{P}[{U}]+[{L}]*|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"],
    "kimi-k2": [rf"[\p{{Han}}]+|{P}[{U}{H}]*[{L}{H}]+{C}?|{P}[{U}{H}]+[{L}{H}]*{C}?|\p{{N}}{{1,3}}" + END],
    "bloom": [r" ?[^(\s|[.,!?…。，、।۔،])]+"],
    "bailingmoe": [r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"],
    "seed-coder": [C + rf"|{P}\p{{L}}+|\p{{N}}{{1}}" + r"| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+"],
    "exaone-moe": [C + rf"|{P}(?:\p{{L}}\p{{M}}*(?: \p{{L}}\p{{M}}*)*)+|\p{{N}}" + r"| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"],
    "jais-2": [C + rf"|{P}\p{{L}}+|\p{{N}}{{1,3}}" + r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)"
               r"|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1}"],
}

TEXTS = [
    "Hello, World! It's 12345 o'clock; WE'LL see\u2026",
    "it\u017f I\u2019m HE'S'VE'd 'llama rock'n'roll",
    "def f(x):\n\treturn x**2  # caf\u00e9\r\n\r\n   if a != b: pass\n",
    "  leading,   inner and trailing   ",
    "\n\n  \n x\t\t y \r\n \r z\u0085w\u00a0v\u2028u\u3000t\u180es",
    "camelCase XMLHttpRequest ABCdef \u01c5abc \u1e9e\u00df",
    "\u4f60\u597d\uff0c\u4e16\u754c\uff01\u6211\u5728apple\u5de5\u4f5c1314151\u5929\uff5e \u6771\u4eac\u30bf\u30ef\u30fc\u3078\u884c\u304f\u3002",
    "\uc548\ub155\ud558\uc138\uc694 \uc138\uacc4 \u3131\u3132 \u3105\u3106",
    "\u043d\u0435\u0449\u043e \u043d\u0430 \u0411\u044a\u043b\u0433\u0430\u0440\u0441\u043a\u0438 \u03b5\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03ac",
    "\u1780\u17b6\u1793\u17cb\u178f\u17c2\u1796\u17b7\u179f\u17c1\u179f \u0939\u093f\u0928\u094d\u0926\u0940 \u0e44\u0e17\u0e22",
    "e\u0301a\u0323\u0302 x\u20e3 1\ufe0f\u20e3 \U0001f44d\U0001f3fd\U0001f469\u200d\U0001f680 \U0001f1e8\U0001f1f3",
    "x\u00b2\u00bd\u2167\u0663\uff11 3.14e-10 1,000,000 0x1F",
    "!\U00031350a ?\U0002ebf0\U00010d50\U00010d70 .\U000105c0\U00011f04 \u1c89\u1c8a\ua7cb \U0001e4d0",
    "a\U00010d40\U00011f50\U0001d2c0 \U0001fae8\U0001fae9!? \u0897\u0cf3\u0ece \U0001cc00\U00016d6d",
    "http://a.b/c?d=e&f=<tag>//\n/*c*/ $x @y #z a_b __init__ {\"k\": [1]}",
    "(IMG) a|b ~^` =+<> \u2013\u2014\u201cq\u201d \u20ac\u00a3\u2122\u00a9",
]


def main():
    out = {"texts": TEXTS, "pieces": {}}
    for name, patterns in PATTERNS.items():
        cut = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(p), "isolated") for p in patterns])
        out["pieces"][name] = [[piece for piece, _ in cut.pre_tokenize_str(text)] for text in TEXTS]
    with open(sys.argv[1], "w") as f:
        json.dump(out, f, separators=(",", ":"))


main()
