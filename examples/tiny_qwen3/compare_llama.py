"""Greedy answers of llama.cpp to prompts of the `dev` split, through the `llama_cpp` Python package, one JSON
object a line: prompt, ids, answer (ids), text, and gap, the smallest distance of the best logit to the second. Prompts with
a smaller gap than --gap are left out: there rounding decides.
With --weights the answers of the JAX network on the same prompts are compared too.

    python compare_llama.py TOKENIZER.json MODEL.gguf OUT.jsonl [--many 40] [--weights MODEL.gguf]"""
import argparse
import json
import random

import llama_cpp
import numpy as np
from tokenizers import Tokenizer

import corpus
import evaluate

SEED, MOST = 40, 64


def prompts(many):
    """Rendered chats of 1 to 3 turns of all categories, every other one with thinking, some with a system message."""
    draw = random.Random(SEED)
    chats = [turns for part in evaluate.questions("dev", 1 + many // len(evaluate.CATEGORIES), SEED, 0.0).values() for turns in part]
    draw.shuffle(chats)
    out = []
    for i, turns in enumerate(chats[:many]):
        mode = "think" if i % 2 else "plain"
        system = draw.choice(corpus.SYSTEM) if i % 4 == 3 else None
        out.append("".join(text for text, trained in corpus.pieces(turns, mode, system) if trained != 1))
    return out


def greedy(model, ids, end):
    model.reset()
    model.eval(ids)
    answer, gap = [], np.inf
    while len(answer) < MOST:
        scores = np.array(model.eval_logits[-1])
        second, best = np.argsort(scores)[-2:]
        gap = min(gap, float(scores[best] - scores[second]))
        answer.append(int(best))
        if best == end:
            break
        model.eval([int(best)])
    return answer, gap


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("tokenizer")
    ask.add_argument("model")
    ask.add_argument("out")
    ask.add_argument("--many", type=int, default=40)
    ask.add_argument("--gap", type=float, default=0.3)
    ask.add_argument("--weights")
    given = ask.parse_args()
    tokenizer = Tokenizer.from_file(given.tokenizer)
    model = llama_cpp.Llama(given.model, n_ctx=1024, n_threads=1, logits_all=True, verbose=False)
    judge = evaluate.Judge(tokenizer, evaluate.weights_of(given.weights)) if given.weights else None
    same = same_ids = 0
    texts = prompts(given.many)
    with open(given.out, "w", encoding="utf-8") as file:
        for text in texts:
            ids = model.tokenize(text.encode(), add_bos=False, special=True)
            same_ids += ids == tokenizer.encode(text, add_special_tokens=False).ids
            answer, gap = greedy(model, ids, tokenizer.token_to_id("<|im_end|>"))
            same += judge is not None and judge.greedy(ids, MOST) == answer
            if gap < given.gap:
                continue
            file.write(json.dumps({"prompt": text, "ids": ids, "answer": answer, "gap": round(gap, 3),
                                   "text": tokenizer.decode(answer, skip_special_tokens=False)}, ensure_ascii=False) + "\n")
    print(f"{len(texts)} prompts, the same ids in {same_ids}" + (f", the same greedy answers in {same}" if judge else ""))


if __name__ == "__main__":
    main()
