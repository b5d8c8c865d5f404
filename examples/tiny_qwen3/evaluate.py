"""The exact-answer rate by category, on wordings of one split.

Greedy decoding gives exactly the wanted tokens if and only if, with the wanted tokens fed in, the largest
logit is the wanted one at every place; so one forward pass per chat is enough. In thinking mode the thought is
part of that; with --decode, `answer` also counts the chats whose answer is right after a thought that is not the
wanted one (those are decoded token by token).

    python evaluate.py TOKENIZER.json WEIGHTS.npz|MODEL.gguf [--split dev] [--each 100] [--typos 0.0] [--before 0]
                       [--show 30] [--decode]"""
import argparse
import random

import jax
import jax.numpy as jnp
import numpy as np
from tokenizers import Tokenizer

import corpus
import network

ROW, ROUND = 32, 64        # chats in a pass; lengths are rounded up to multiples of this
LOUD = 0.03                # share of questions in capitals
CATEGORIES = ["capital", "country", "define", "sum", "follow", "identity", "smalltalk", "refuse", "repeat"]
PARTS = {"attn_norm": "attn_norm", "ffn_norm": "ffn_norm", "q_norm": "attn_q_norm", "k_norm": "attn_k_norm", "q": "attn_q",
         "k": "attn_k", "v": "attn_v", "o": "attn_output", "gate": "ffn_gate", "up": "ffn_up", "down": "ffn_down"}


def weights_of(path):
    """The weights of a checkpoint, or those of a GGUF file as float32."""
    if not path.endswith(".gguf"):
        return network.load(path)
    import gguf
    tensors = {t.name: np.asarray(gguf.quants.dequantize(t.data, t.tensor_type), np.float32) for t in gguf.GGUFReader(path).tensors}
    many = 1 + max(int(name.split(".")[1]) for name in tensors if name.startswith("blk."))
    return {"embed": tensors["token_embd.weight"], "norm": tensors["output_norm.weight"],
            "layers": [{part: tensors[f"blk.{i}.{name}.weight"].T for part, name in PARTS.items()} for i in range(many)]}


def questions(split, each, seed, typos, before=0):
    """category -> chats whose last turn is of that category. Follow-ups have a turn before them, a third of the
    others too; `before` more turns come first."""
    draw = random.Random(f"{split} {seed}")
    found = {}
    for category in CATEGORIES:
        chats = found[category] = []
        while len(chats) < each:
            if category in ("follow", "repeat"):
                turns = [corpus.single(draw, split)]
                turns.append(corpus.follow(draw, split, turns[0]))
                if turns[1].category != category:
                    continue
            else:
                turns = [corpus.single(draw, split)] if draw.random() < 0.33 else []
                turns.append(corpus.single(draw, split, category))
            turns = [corpus.single(draw, split) for _ in range(before)] + turns
            asked = [corpus.replace(turn, question=corpus.written(draw, turn, typos, LOUD)) for turn in turns]
            if asked not in chats:
                chats.append(asked)
    return found


class Judge:
    def __init__(self, tokenizer, weights):
        self.tokenizer, self.weights = tokenizer, jax.tree.map(jnp.asarray, weights)
        shape = network.Shape()
        self.best = jax.jit(lambda w, x, s: jnp.argmax(network.logits(shape, w, x, s), -1))

    def ids(self, text):
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def greedy(self, start, most=64):
        """Token by token; returns the ids up to and with <|im_end|>."""
        end, tokens = self.tokenizer.token_to_id("<|im_end|>"), list(start)
        while len(tokens) - len(start) < most:
            length = ROUND * (1 + len(tokens) // ROUND)
            x, s = np.zeros((1, length), np.int32), -np.ones((1, length), np.int32)
            x[0, :len(tokens)], s[0, :len(tokens)] = tokens, 0
            tokens.append(int(self.best(self.weights, x, s)[0, len(tokens) - 1]))
            if tokens[-1] == end:
                break
        return tokens[len(start):]

    def exact(self, chats, mode):
        """One flag a chat: is the last reply (with its thought) exactly the wanted one? And the replies as guessed."""
        coded = []
        for turns in chats:
            tokens, judged = [], []
            for text, trained in corpus.pieces(turns, mode):
                part = self.ids(text)
                tokens += part
                judged += [trained == 1] * len(part)
            coded.append((tokens, judged))
        flags, replies = [], []
        for start in range(0, len(coded), ROW):
            part = coded[start:start + ROW]
            length = -(-max(len(tokens) for tokens, _ in part) // ROUND) * ROUND
            x, s = np.zeros((ROW, length), np.int32), -np.ones((ROW, length), np.int32)
            for i, (tokens, _) in enumerate(part):
                x[i, :len(tokens)], s[i, :len(tokens)] = tokens, 0
            best = np.asarray(self.best(self.weights, x, s))
            for i, (tokens, judged) in enumerate(part):
                at = np.flatnonzero(judged)
                flags.append(bool((best[i, at - 1] == x[i, at]).all()))
                replies.append(self.tokenizer.decode([int(t) for t in best[i, at - 1]], skip_special_tokens=False))
        return flags, replies

    def answered(self, turns):
        """Thinking mode, decoded: is the text after the thought the wanted answer?"""
        pieces = corpus.pieces(turns, "think")
        text = self.tokenizer.decode(self.greedy(self.ids("".join(t for t, trained in pieces if trained != 1)), 96), skip_special_tokens=False)
        return text.split("</think>")[-1].strip().removesuffix("<|im_end|>") == turns[-1].answer


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("tokenizer")
    ask.add_argument("weights")
    ask.add_argument("--split", default="dev")
    ask.add_argument("--each", type=int, default=100)
    ask.add_argument("--seed", type=int, default=1)
    ask.add_argument("--typos", type=float, default=0.0)
    ask.add_argument("--before", type=int, default=0)
    ask.add_argument("--show", type=int, default=30)
    ask.add_argument("--decode", action="store_true")
    given = ask.parse_args()
    judge = Judge(Tokenizer.from_file(given.tokenizer), weights_of(given.weights))
    missed, rates = [], []
    print(f"{'category':10} {'plain':>7} {'think':>7} {'answer':>7}")
    for category, chats in questions(given.split, given.each, given.seed, given.typos, given.before).items():
        plain, replies = judge.exact(chats, "plain")
        think, _ = judge.exact(chats, "think")
        answer = [ok or given.decode and judge.answered(turns) for ok, turns in zip(think, chats)]
        rates.append([100 * np.mean(x) for x in (plain, think, answer)])
        print(f"{category:10} " + " ".join(f"{x:7.1f}" for x in rates[-1]), flush=True)
        missed += [(category, turns[-1].question, reply) for ok, turns, reply in zip(plain, chats, replies) if not ok]
    print(f"{'mean':10} " + " ".join(f"{x:7.1f}" for x in np.mean(rates, 0)))
    random.Random(3).shuffle(missed)
    for category, question, reply in missed[:given.show]:
        print("  ", category, "|", question, "|", reply)


if __name__ == "__main__":
    main()
