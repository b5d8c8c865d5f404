"""Writes the held-out set: fresh wordings (and, for refusals, fresh topics), one JSON object a line with
category, thinking, messages, answer and, where thinking is true, thought.

    python heldout.py OUT.jsonl [--each 100]"""
import argparse
import json

import evaluate

SEED = 2040


def messages_of(turns):
    out = []
    for turn in turns[:-1]:
        out += [{"role": "user", "content": turn.question}, {"role": "assistant", "content": turn.answer}]
    return out + [{"role": "user", "content": turns[-1].question}]


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("out")
    ask.add_argument("--each", type=int, default=100, help="chats for each category and mode")
    given = ask.parse_args()
    with open(given.out, "w", encoding="utf-8") as file:
        for category, chats in evaluate.questions("test", 2 * given.each, SEED, 0.0).items():
            for i, turns in enumerate(chats):
                thinking = i >= given.each
                line = {"category": category, "thinking": thinking, "messages": messages_of(turns), "answer": turns[-1].answer}
                if thinking:
                    line["thought"] = turns[-1].thought
                file.write(json.dumps(line, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
