"""make_chat_2507.py THINKING_TEMPLATE INSTRUCT_TEMPLATE CHAT.jsonl OUT.json

Renders conversations of the reference data (chat.jsonl) with the chat templates of Qwen3-4B-Thinking-2507 and
Qwen3-4B-Instruct-2507 (chat_template in their tokenizer_config.json) through jinja2 3.1.6.
"""
import json
import sys

import jinja2

NAMES = ["user only", "system and user", "thought in history", "thought in the last answer", "empty thought",
         "thoughts before and in the last answer", "answer without thought at the end", "two answers in a row",
         "reasoning_content field", "full tool round", "several tool steps with thoughts", "text with a call"]


def compiled(path):
    env = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    env.filters["tojson"] = lambda x: json.dumps(x, ensure_ascii=False)
    with open(path) as f:
        return env.from_string(f.read())


def main():
    templates = {"qwen3-thinking": compiled(sys.argv[1]), "qwen3-instruct": compiled(sys.argv[2])}
    cases = {}
    for line in open(sys.argv[3]):
        row = json.loads(line)
        if row["name"] in cases or row["name"] not in NAMES:
            continue
        case = {key: row[key] for key in ("messages", "tools", "add_generation_prompt")}
        for name, template in templates.items():
            case[name] = template.render(**{k: case[k] for k in ("messages", "tools", "add_generation_prompt")})
        cases[row["name"]] = case
    with open(sys.argv[4], "w") as f:
        json.dump(cases, f, separators=(",", ":"))


main()
