"""make_chat_families.py TEMPLATES OUT.jsonl

Renders conversations of our own with the published chat templates of Llama and Gemma, through jinja2 3.1.6 as the
library transformers sets it up. The templates themselves are not ours to pass on: TEMPLATES is a folder with
    llama3.jinja        meta-llama/Meta-Llama-3-8B-Instruct
    llama3-first.jinja  the same repository in April 2024
    llama3.1.jinja      meta-llama/Llama-3.1-8B-Instruct
    llama3.2.jinja      meta-llama/Llama-3.2-3B-Instruct
    gemma2.jinja        google/gemma-2-2b-it
    gemma3.jinja        google/gemma-3-4b-it
which are the chat_template of tokenizer_config.json there, or chat_template.jinja; llama.cpp keeps copies of most in
models/templates. Each line of OUT is a conversation; a template's name in it says what the template makes of it, null
where it refuses. Templates that would pass over tools in silence are left out there.
"""
import json
import pathlib
import random
import sys
from datetime import datetime

from jinja2.sandbox import ImmutableSandboxedEnvironment

BOS = {"llama3": "<|begin_of_text|>", "llama3-first": "<|begin_of_text|>", "llama3.1": "<|begin_of_text|>",
       "llama3.2": "<|begin_of_text|>", "gemma2": "<bos>", "gemma3": "<bos>"}
WITH_TOOLS = ["llama3.1", "llama3.2"]
TODAY = datetime(2025, 3, 1)  # the test gives this date to the templates that ask for today's

TEXTS = ["Hi", "", " ", "\n\n", "  two  spaces  ", "\ttab\r\n", "a\nb\n\nc", "caf\u00e9", "\u4f60\u597d\u3000",
         "\u00a0no break\u00a0", "\u2003\u2028wide\u2029", "\x1c\x1fseparators\x1d", "\x85next line\x85",
         "\u200bzero width\u200b", "\ufeffmark", "\U0001f600", "e\u0301 ", "{{ bos_token }}", "{% if x %}",
         "<|eot_id|>", "<|start_header_id|>system<|end_header_id|>\n\n", "<start_of_turn>user\n", "<end_of_turn>",
         "<bos>", "'quotes' and \"quotes\"", "back\\slash \\n", "{\"name\": \"f\"}", "</tool_call>", "x" * 60,
         "\u180evowel\u180e", "1\n", "\x00nul\x00", "\x7f"]
ARGUMENTS = [{}, {"a": 1}, {"b": [1, 2.5, None, True], "a": {"c": "\u00e9\"\\\n"}}, {"x": 3.0, "y": 1e22, "z": -0.0},
             {"deep": [[], {}, [[{"k": []}]]]}, {"text": "two\nlines </tool_call> <|eot_id|>"},
             {"\u4f60 ": "\U0001f600\x01\x7f"}]
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "The weather of a city.", "parameters": {
            "type": "object", "properties": {"city": {"type": "string", "description": "\u00e0 la \"carte\""}},
            "required": ["city"]}}},
         {"name": "now", "parameters": {}},
         {"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {
            "x": {"type": "number", "minimum": 0.5, "maximum": 1e+22}, "y": {"enum": [1, None, True, []]}}}}}]


def say(role, content, *calls):
    message = {"role": role, "content": content}
    if calls:
        message["tool_calls"] = [{"type": "function", "function": {"name": n, "arguments": a}} for n, a in calls]
    return message


def turns(texts, first="user"):
    roles = ["user", "assistant"] if first == "user" else ["assistant", "user"]
    return [say(roles[i % 2], text) for i, text in enumerate(texts)]


def conversations():
    draw = random.Random(20261130)
    pick = lambda count: [draw.choice(TEXTS) for _ in range(count)]
    for number, text in enumerate(TEXTS):  # each text in each role, with and without a system message
        yield [say("system", text)][:number % 2] + turns([text, text, "ok"]), []
    for count in (1, 2, 3, 4, 7):
        for _ in range(5):
            yield turns(pick(count)), []
    for count in (1, 2, 5):
        for _ in range(3):
            yield [say("system", draw.choice(TEXTS))] + turns(pick(count)), []
    yield [say("system", "alone")], []
    yield turns(["first", "second"], "assistant"), []  # Gemma's refuse these four
    yield turns(["a"]) + turns(["b"]), []
    yield [say("user", "a"), say("system", "late"), say("user", "b")], []
    yield [say("system", "s"), say("system", "t"), say("user", "b")], []
    for _ in range(6):
        yield turns(pick(3)), draw.sample(TOOLS, 2)
        yield [say("system", draw.choice(TEXTS))] + turns(pick(2)), [draw.choice(TOOLS)]
    for arguments in ARGUMENTS:
        for tools in ([], TOOLS):
            name = draw.choice(["weather", "f", "\u00e9 \"x\""])
            yield [say("user", draw.choice(TEXTS)), say("assistant", draw.choice(TEXTS), (name, arguments)),
                   say("tool", draw.choice(TEXTS)), say("assistant", "done")], tools
    yield [say("user", "two"), say("assistant", "", ("f", {}), ("g", {}))], []  # refused
    yield [say("system", "tools, but no question")], TOOLS  # refused
    yield [say("assistant", "the first", ("f", {})), say("tool", "{\"a\": 1}"), say("tool", "")], TOOLS
    yield [say("user", "q"), say("tool", "\u00e9\n\"\\\x01")], []


def refuse(message):
    raise ValueError(message)


def compiled(path):
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
    env.filters["tojson"] = lambda x, indent=None: json.dumps(x, ensure_ascii=False, indent=indent)
    env.globals["raise_exception"] = refuse
    env.globals["strftime_now"] = TODAY.strftime
    return env.from_string(path.read_text())


def main():
    templates = {name: compiled(pathlib.Path(sys.argv[1]) / (name + ".jinja")) for name in BOS}
    with open(sys.argv[2], "w") as out:
        for number, (messages, tools) in enumerate(conversations()):
            line = {"messages": messages, "tools": tools, "add_generation_prompt": number % 3 != 0}
            if number % 5 == 0:
                line["date"] = "7 Nov 2031"
            calls = tools or any(m["role"] == "tool" or "tool_calls" in m for m in messages)
            for name in WITH_TOOLS if calls else BOS:
                given = {"messages": messages, "tools": tools or None, "bos_token": BOS[name],
                         "add_generation_prompt": line["add_generation_prompt"]}
                if "date" in line:
                    given["date_string"] = line["date"]
                try:
                    line[name] = templates[name].render(**given)
                except ValueError:
                    line[name] = None
            out.write(json.dumps(line, ensure_ascii=True, separators=(",", ":")) + "\n")


main()
