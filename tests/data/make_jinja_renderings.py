"""make_jinja_renderings.py TEMPLATES OUT.json

Renders two conversations by each *.jinja of a folder (llama.cpp's models/templates) with jinja2 3.1, set up as Hugging
Face's transformers sets it up, and writes what comes out as a length and a hash (FNV-1a, 64 bits), or null for an error.
Templates that write today's date are left out.
"""
import json
import pathlib
import sys

import jinja2
import jinja2.ext
import jinja2.sandbox


class Generation(jinja2.ext.Extension):
    """{% generation %} marks what to train on."""
    tags = {"generation"}

    def parse(self, parser):
        next(parser.stream)
        return parser.parse_statements(["name:endgeneration"], drop_needle=True)


def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": "Today's <weather> & \"wind\"",
    "parameters": {"type": "object", "properties": {
        "city": {"type": "string", "description": "Where: Zürich, 東京"},
        "days": {"type": "integer", "default": 3}, "share": {"type": "number", "default": 1e-7}},
        "required": ["city"]}}}
TURNS = [{"role": "user", "content": "  Hi, what's 2 < 3?\n"},
         {"role": "assistant", "content": "True. \U0001f642"},
         {"role": "user", "content": "Say 'x'\n\tand {{ y }}"}]
CALLS = [{"role": "system", "content": "Be brief."},
         {"role": "user", "content": "Weather in Zürich?"},
         {"role": "assistant", "content": "", "tool_calls": [
             {"type": "function", "function": {"name": "get_weather", "arguments": {"city": "Zürich", "days": 2}}}]},
         {"role": "tool", "content": "{\"celsius\": 21.5}"}]


def fnv(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{len(text.encode())}:{value:016x}"


def rendered(environment, text, messages, tools):
    try:
        return environment.from_string(text).render(
            messages=messages, tools=tools, documents=None, add_generation_prompt=True, bos_token="<s>", eos_token="</s>")
    except Exception:
        return None


def main():
    folder, out = sys.argv[1:]
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols, Generation])
    environment.filters["tojson"] = to_json
    environment.globals["raise_exception"] = raise_exception
    lines = []
    for path in sorted(pathlib.Path(folder).glob("*.jinja")):
        text = path.read_text()
        if "strftime_now" in text:
            continue
        texts = [rendered(environment, text, TURNS, None), rendered(environment, text, CALLS, [WEATHER])]
        lines.append(f"{json.dumps(path.name)}: {json.dumps([None if t is None else fnv(t) for t in texts])}")
    conversations = [{"messages": TURNS, "tools": []}, {"messages": CALLS, "tools": [WEATHER]}]
    pathlib.Path(out).write_text(
        '{"conversations": ' + json.dumps(conversations) + ',\n"renderings": {\n' + ",\n".join(lines) + "\n}}\n")


main()
