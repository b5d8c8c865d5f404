"""Structured output: --json-schema, --regex, --grammar. Schemas are checked by the package jsonschema, where there is one."""
import json
import os
import tempfile
import unittest

from command import axial

try:
    import jsonschema
except ImportError:
    jsonschema = None

COLOUR = {"enum": ["red", "green", "blue"]}
OBJECT = {"type": "object", "additionalProperties": False}
SCHEMAS = [
    {"type": "boolean"},
    {"type": "integer", "minimum": 3, "maximum": 1200},
    {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    {"type": "string", "maxLength": 12},
    {"type": "string", "minLength": 3, "maxLength": 5, "pattern": "^[A-C]+$"},
    {"type": "string", "format": "date"},
    {"type": "string", "format": "uuid"},
    COLOUR,
    {"const": {"a": [1, None, "x"]}},
    {"type": "null"},
    {"type": "array", "items": COLOUR, "minItems": 2, "maxItems": 4},
    {"type": "array", "prefixItems": [{"type": "integer", "minimum": 0, "maximum": 9}, COLOUR], "items": False, "minItems": 2},
    {**OBJECT, "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 99}}, "required": ["n"]},
    {**OBJECT, "properties": {"a": COLOUR, "b": {"type": "boolean"}, "c": {"type": "null"}}, "required": ["b"]},
    {**OBJECT, "properties": {"in": {**OBJECT, "properties": {"deep": COLOUR}, "required": ["deep"]}}, "required": ["in"]},
    {"anyOf": [{"type": "boolean"}, {"type": "array", "items": {"type": "null"}, "maxItems": 2}]},
    {"type": ["boolean", "null"]},
    {"$defs": {"list": {"anyOf": [{"type": "null"}, {**OBJECT, "properties": {"next": {"$ref": "#/$defs/list"}},
                                                      "required": ["next"]}]}}, "$ref": "#/$defs/list"},
    {"allOf": [{**OBJECT, "properties": {"x": {"type": "boolean"}, "y": {"type": "boolean"}}}, {"required": ["x"]}]},
    {"type": "object", "patternProperties": {"^k[0-9]$": {"type": "boolean"}}, "additionalProperties": False},
]


class Grammar(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        tried = axial("generate", "-p", "x", "-n", "1", "--regex", "a")
        if tried.code == 3:
            assert "without its Rust component" in tried.err and "AXIAL_RUST=ON" in tried.err, tried.err
            raise unittest.SkipTest("axial was built without its Rust component")
        assert tried.code == 0, tried.err

    def generated(self, *arguments):
        result = axial("generate", "-p", "Once", "-n", "300", "-s", "5", *arguments)
        self.assertEqual((result.code, result.err), (0, ""))
        return result.text

    def test_schemas(self):
        finished = 0
        for schema in SCHEMAS:
            for seed in ("1", "2"):
                text = self.generated("--json-schema", json.dumps(schema), "-s", seed, "--temp", "1.5", "--top-k", "0",
                                      "--top-p", "1")
                with self.subTest(schema=schema, text=text):
                    try:
                        value = json.loads(text)
                    except ValueError:
                        # What was cut off at 300 tokens has the beginning of one.
                        self.assertGreater(len(text), 100)
                        continue
                    finished += 1
                    if jsonschema:
                        jsonschema.validate(value, schema, jsonschema.Draft202012Validator)
                    else:
                        self.assertIn(type(value), (bool, int, float, str, dict, list, type(None)))
        self.assertGreater(finished, len(SCHEMAS))

    def test_regex(self):
        pattern = "(yes|no)(, (sir|madam)){1,2}\\."
        for seed in "1234":
            self.assertRegex(self.generated("--regex", pattern, "-s", seed), "^" + pattern + "$")
        # Whatever else changes: several at once, with drafts, from one prompt.
        plain = self.generated("--regex", pattern, "-s", "8", "--temp", "1")
        self.assertEqual(self.generated("--regex", pattern, "-s", "8", "--temp", "1", "--spec"), plain)
        streams = self.generated("--regex", pattern, "-s", "8", "--temp", "1", "--streams", "3", "-q").splitlines()
        self.assertEqual((len(streams), streams[0]), (3, plain))
        for text in streams:
            self.assertRegex(text, "^" + pattern + "$")

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            grammar, schema = os.path.join(folder, "g.lark"), os.path.join(folder, "s.json")
            with open(grammar, "w", encoding="utf-8") as file:
                file.write('start: "<" word ("," word)* ">"\nword: /[a-z]{1,4}/\n')
            with open(schema, "w", encoding="utf-8") as file:
                json.dump(COLOUR, file)
            self.assertRegex(self.generated("--grammar", grammar), "^<[a-z]{1,4}(,[a-z]{1,4})*>?$|^<[a-z,]*$")
            self.assertIn(json.loads(self.generated("--json-schema", schema)), COLOUR["enum"])

    def test_chat(self):
        # Thoughts are free, and only what follows them is not.
        for flags in ([], ["--no-think"]):
            result = axial("chat", "-p", "Which colour?", "--json-schema", json.dumps(COLOUR), "--show-thinking", "-n",
                           "400", "-s", "1", *flags)
            self.assertEqual(result.code, 0, result.err)
            answer = result.text.rsplit("</think>", 1)[-1].strip()
            if not flags and "</think>" not in result.text:
                continue  # still thinking after 400 tokens
            self.assertIn(json.loads(answer), COLOUR["enum"], result.text)

    def test_refused(self):
        def refused(code, *arguments, text):
            result = axial("generate", "-p", "x", "-n", "5", *arguments)
            self.assertEqual((result.code, result.out), (code, b""), result.err)
            self.assertIn(text, result.err)
        refused(2, "--regex", "a", "--json-schema", "{}", text="only one")
        refused(1, "--grammar", "absent.lark", text="absent.lark")
        refused(1, "--json-schema", "absent.json", text="absent.json")
        refused(1, "--json-schema", "{", text="the JSON schema: not JSON")
        refused(3, "--json-schema", '{"not": {"type": "string"}}', text="not")
        refused(3, "--json-schema", '{"type": "array", "uniqueItems": true}', text="uniqueItems")
        refused(3, "--regex", "(?=a)b", text="look-around")
        refused(3, "--regex", "(", text="regular expression")


if __name__ == "__main__":
    unittest.main()
