"""Trains the byte-level BPE vocabulary (Qwen2's rule for pieces, single digits) on the corpus, and puts Qwen3's
special tokens at its end.

    python vocabulary.py OUT.json"""
import random
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

import corpus

PIECES = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CONTROL = """<|endoftext|> <|im_start|> <|im_end|> <|object_ref_start|> <|object_ref_end|> <|box_start|> <|box_end|> <|quad_start|>
<|quad_end|> <|vision_start|> <|vision_end|> <|vision_pad|> <|image_pad|> <|video_pad|>""".split()
USER_DEFINED = """<tool_call> </tool_call> <|fim_prefix|> <|fim_middle|> <|fim_suffix|> <|fim_pad|> <|repo_name|> <|file_sep|>
<tool_response> </tool_response> <think> </think>""".split()
SIZE, CHATS, SEED = 2048, 30000, 7


def train(path):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(PIECES), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    draw = random.Random(SEED)
    texts = ["user\n", "assistant\n", "system\n", " /no_think", " /think"] * 2000 + corpus.SYSTEM * 500
    for _ in range(CHATS):
        for turn in corpus.chat(draw):
            texts += [turn.question, turn.thought, turn.answer]
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=SIZE - len(CONTROL) - len(USER_DEFINED), min_frequency=2, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=[]))
    tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in CONTROL])
    tokenizer.add_tokens([AddedToken(text, special=False, normalized=False) for text in USER_DEFINED])
    assert tokenizer.get_vocab_size() == SIZE
    tokenizer.save(path)


if __name__ == "__main__":
    train(sys.argv[1])
