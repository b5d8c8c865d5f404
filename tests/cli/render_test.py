"""render: the prompt of a conversation, byte for byte, and what is said of conversations that are none."""
import json
import os
import shutil
import tempfile
import unittest

from command import axial, oracle

HI = b'[{"role": "user", "content": "Hi"}]'
PLAIN = "<|im_start|>user\nHi<|im_end|>\n"
ANSWER = "<|im_start|>assistant\n"


class Render(unittest.TestCase):
    def rendered(self, *arguments, stdin=b""):
        result = axial("render", *arguments, stdin=stdin)
        self.assertEqual((result.code, result.err), (0, ""))
        return result.text

    def refused(self, code, text, *arguments, stdin=b""):
        result = axial("render", *arguments, stdin=stdin)
        self.assertEqual((result.code, result.out), (code, b""), result.err)
        self.assertIn(text, result.err)
        self.assertNotIn("terminate", result.err)

    def test_the_bundled_model(self):
        self.assertEqual(self.rendered(stdin=HI), PLAIN + ANSWER)
        self.assertEqual(self.rendered("-f", "-", stdin=b'{"messages": ' + HI + b"}"), PLAIN + ANSWER)
        self.assertEqual(self.rendered("--no-generation-prompt", stdin=HI), PLAIN)
        self.assertEqual(self.rendered("--chat-template", "qwen3", "--no-think", stdin=HI),
                         PLAIN + ANSWER + "<think>\n\n</think>\n\n")
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "messages.json")
            with open(name, "wb") as file:
                file.write(b'\n{"tools": null, "messages": [{"role": "user", "content": "caf\xc3\xa9\\u0000\\n"}]}\n')
            self.assertEqual(self.rendered("-f", name), "<|im_start|>user\ncaf\u00e9\0\n<|im_end|>\n" + ANSWER)

    def test_the_reference_conversations(self):
        vocabulary = oracle("tokenizer", "qwen3-vocab.gguf")
        with open(oracle("chat", "chat.jsonl"), encoding="utf-8") as file:
            cases = [json.loads(line) for line in file]
        cases = [c for c in cases if c["name"] != "arguments as a string"]  # which are read as what they say
        for case in cases[::20] + [c for c in cases if c["tools"]][:1]:
            flags = [] if case["add_generation_prompt"] else ["--no-generation-prompt"]
            flags += ["--no-think"] if case["enable_thinking"] is False else []
            text = json.dumps({"messages": case["messages"], "tools": case["tools"]}).encode()
            self.assertEqual(self.rendered("-m", vocabulary, *flags, stdin=text), case["qwen3"], case["name"])
            self.assertEqual(self.rendered("-m", vocabulary, "--chat-template", "qwen2.5", *flags, stdin=text),
                             case["qwen2_5"], case["name"])

    def test_notes(self):
        request = b'{"model": "x", "messages": ' + HI + b', "stream": true}'
        result = axial("render", stdin=request)
        self.assertEqual((result.code, result.text), (0, PLAIN + ANSWER))
        self.assertEqual(result.err, 'note: "model" changes nothing here\nnote: "stream" changes nothing here\n')
        self.assertEqual(self.rendered("-q", stdin=request), PLAIN + ANSWER)
        result = axial("render", "--chat-template", "qwen3-thinking", "--no-think", stdin=HI)
        self.assertEqual(result.err, "note: qwen3-thinking always thinks; --no-think changes nothing\n")

    def test_no_template_in_the_file(self):
        with tempfile.TemporaryDirectory() as folder:  # without the tokenizer_config.json that has it
            tokenizer = shutil.copy(oracle("models", "tiny-llama-hf-F32", "tokenizer.json"), folder)
            result = axial("render", "-m", tokenizer, stdin=HI)
            self.assertEqual((result.code, result.text), (0, PLAIN + ANSWER))
            self.assertIn("has no chat template; chatml is used, for which it has the tokens", result.err)
            self.assertEqual(self.rendered("-m", tokenizer, "--chat-template", "chatml", stdin=HI), PLAIN + ANSWER)

    def test_mistakes(self):
        self.refused(1, "chat: messages: not JSON at byte 1", stdin=b"hello")
        self.refused(1, "not JSON at byte", stdin=b"")
        self.refused(1, "messages must be a list", stdin=b"1")
        self.refused(1, "has no list called messages", stdin=b"{}")
        self.refused(1, "messages must be a list", stdin=b'{"messages": "Hi"}')
        self.refused(1, "there are no messages", stdin=b"[]")
        self.refused(1, "messages[0]: content must be", stdin=b'[{"role": "user", "content": 1}]')
        self.refused(1, "the role developer is none of", stdin=b'[{"role": "developer", "content": ""}]')
        self.refused(1, "tools must be a list", stdin=b'{"messages": ' + HI + b', "tools": {}}')
        self.refused(1, "tools[0] must be an object", stdin=b'{"messages": ' + HI + b', "tools": [1]}')
        self.refused(1, "nested more than 200 deep", stdin=b"[" * 100000)
        self.refused(1, "absent.json: cannot be read", "-f", "absent.json")
        self.refused(2, 'unknown argument "-p"', "-p", "Hi", stdin=HI)
        self.refused(3, "there is none called llama9", "--chat-template", "llama9", stdin=HI)
        self.refused(3, "has no token <|start_header_id|>", "--chat-template", "llama3.1", stdin=HI)
        self.refused(3, "has no place for tools", "--chat-template", "chatml",
                     stdin=b'{"messages": ' + HI + b', "tools": [{"name": "f"}]}')


if __name__ == "__main__":
    unittest.main()
