"""tokenize, detokenize, logits and info: their output, byte for byte where it can be said."""
import array
import json
import math
import os
import tempfile
import unittest

import npy
from command import axial, oracle, other_architecture

TEXTS = ["", "Hello, world!\n", "  two  spaces \n\n", "caf\u00e9 \u4f60\u597d \U0001f600", "a\r\nb\tc\x00d", "x" * 3000]


class Tokens(unittest.TestCase):
    def test_there_and_back(self):
        for text in TEXTS:
            raw = text.encode()
            by_pipe = axial("tokenize", stdin=raw)
            self.assertEqual((by_pipe.code, by_pipe.err), (0, ""))
            if "\x00" not in text:
                self.assertEqual(axial("tokenize", "-p", text).out, by_pipe.out)
            self.assertRegex(by_pipe.text, r"^(\d+(,\d+)*)?\n$")
            self.assertEqual(axial("detokenize", stdin=by_pipe.out).out, raw)
            as_json = axial("tokenize", "-o", "json", stdin=raw)
            ids = json.loads(as_json.out)["ids"]
            self.assertEqual(",".join(map(str, ids)) + "\n", by_pipe.text)
            self.assertEqual(axial("detokenize", stdin=as_json.out).out, raw)
            pieces = axial("tokenize", "-o", "pieces", stdin=raw).text.splitlines()
            self.assertEqual([int(line.split("\t")[0]) for line in pieces], ids)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "text")
            with open(name, "wb") as file:
                file.write(b"a text\nwith lines\n")
            self.assertEqual(axial("tokenize", "-f", name).out, axial("tokenize", stdin=b"a text\nwith lines\n").out)
            self.assertEqual(axial("tokenize", "-f", "-", stdin=b"x").out, axial("tokenize", "-p", "x").out)

    def test_markers(self):
        one = axial("tokenize", "-p", "<|im_end|>").text
        self.assertNotIn(",", one)
        self.assertIn(",", axial("tokenize", "-p", "<|im_end|>", "--no-special").text)
        self.assertIn('\t"<|im_end|>"', axial("tokenize", "-p", "<|im_end|>", "-o", "pieces").text)

    def test_a_vocabulary_without_weights(self):
        vocabulary = oracle("tokenizer", "qwen3-vocab.gguf")
        with open(oracle("tokenizer", "tokens.jsonl"), encoding="utf-8") as file:
            cases = [json.loads(line) for line in file]
        cases = [c for c in cases if not c["nfc_changes"] and "llama_ids" not in c and "\0" not in c["text"]]
        for case in cases[::60]:
            flags = [] if case["parse_special"] else ["--no-special"]
            got = axial("tokenize", "-m", vocabulary, "-o", "json", *flags, stdin=case["text"].encode())
            self.assertEqual(json.loads(got.out)["ids"], case["ids"], case["text"])


class Logits(unittest.TestCase):
    def logits(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "logits.npy")
            result = axial("logits", *arguments, "-o", name)
            self.assertEqual((result.code, result.out, result.err), (0, b"", ""))
            return npy.read(name)

    def test_last_and_all(self):
        every, shape = self.logits("--ids", "1,2,3", "--all")
        last, one = self.logits("--ids", "1,2,3")
        self.assertEqual((shape[0], one[0], shape[1]), (3, 1, one[1]))
        self.assertEqual(every[2 * shape[1]:], last)

    def test_json(self):
        values, shape = self.logits("--ids", "5 6")
        printed = json.loads(axial("logits", "--ids", "5,6", "-o", "-").out)
        self.assertEqual(printed["shape"], shape)
        self.assertEqual(array.array("f", printed["logits"][0]), values)

    def test_the_reference_model(self):
        with open(oracle("models", "ref", "sequences.json"), encoding="utf-8") as file:
            told = json.load(file)
        sequences = told["sequences"] if isinstance(told, dict) else told
        want, shape = npy.read(oracle("models", "ref", "tiny-qwen3-Q8_0.logits.npy"))
        first = len(sequences[0]) + len(sequences[1])
        ids = sequences[2]
        want = want[first * shape[1]:(first + len(ids)) * shape[1]]
        spread = math.sqrt(sum(x * x for x in want) / len(want))
        for flags, tolerance in ((["--activations", "float32", "-ctk", "f32", "-ctv", "f32"], 5e-6), (["-ctv", "f32"], 0.05)):
            got, _ = self.logits("-m", oracle("models", "tiny-qwen3-Q8_0.gguf"), "--all", "--ids",
                                 ",".join(map(str, ids)), *flags)
            error = math.sqrt(sum((a - b) ** 2 for a, b in zip(got, want)) / len(want)) / spread
            self.assertLess(error, tolerance)


class Info(unittest.TestCase):
    def test_json(self):
        told = json.loads(axial("info", "--tensors", "-o", "json").out)
        self.assertEqual(told["architecture"], "qwen3")
        self.assertEqual(list(told["axes"]), ["layer", "embed", "head", "kvHead", "channel", "ff", "vocab"])
        self.assertEqual(told["parameters"], sum(math.prod(t["extents"]) for t in told["tensors"]))
        self.assertEqual(told["memory"]["weight_bytes"], sum(t["bytes"] for t in told["tensors"]))
        axes = told["axes"]
        query = next(t for t in told["tensors"] if t["name"] == "blk.0.attn_q.weight")
        self.assertEqual(query["axes"],
                         f"head={axes['head']}, channel={axes['channel']}, embed={axes['embed']}")
        memory = json.loads(axial("info", "-c", "1000", "-o", "json").out)["memory"]
        self.assertEqual(memory["context"], 1000)
        self.assertEqual(memory["cache_bytes"]["F16"],
                         2 * 2 * 1000 * axes["layer"] * axes["kvHead"] * axes["channel"])
        self.assertEqual(memory["cache_bytes"]["F32"], 2 * memory["cache_bytes"]["F16"])
        mixed = json.loads(axial("info", "-c", "1000", "-ctk", "q8_0", "-ctv", "f32", "-o", "json").out)["memory"]
        self.assertEqual(mixed["cache_bytes"]["Q8_0/F32"],
                         (memory["cache_bytes"]["F32"] + memory["cache_bytes"]["Q8_0"]) // 2)

    def test_text(self):
        shown = axial("info", "--tensors")
        self.assertEqual((shown.code, shown.err), (0, ""))
        self.assertIn("cache F16/Q8_0", axial("info", "-ctv", "q8_0").text)
        for text in ("architecture    qwen3", "kvHead", "cache F16", "pre-tokenizer qwen2", "token_embd.weight"):
            self.assertIn(text, shown.text)

    def test_a_model_that_cannot_be_run_can_be_looked_at(self):
        with other_architecture() as other:
            shown = axial("info", other)
        self.assertEqual(shown.code, 0)
        self.assertIn("architecture    other", shown.text)
        self.assertIn("not supported by this version", shown.text)

    def test_a_mixture_of_experts(self):
        name = oracle("models", "tiny-qwen3moe-F32.gguf")
        shown = axial("info", name, "--tensors").text
        for text in ("expert          8", "2 of 8", "for each token, their weights divided by their sum",
                     "[expert=8, ff=96, embed=128]", "[expert=8, embed=128]"):
            self.assertIn(text, shown)
        told = json.loads(axial("info", name, "--tensors", "-o", "json").out)
        everything = active = 0
        for tensor in told["tensors"]:
            count = 1
            for extent in tensor["extents"]:
                count *= extent
            everything += count
            if tensor["name"] == "token_embd.weight":  # the head is not tied to it
                active += count // tensor["extents"][0]
            else:
                active += count // 8 * 2 if "_exps" in tensor["name"] else count
        self.assertEqual(told["parameters"], everything)
        self.assertEqual(told["experts"]["active_parameters"], active)
        self.assertEqual(told["experts"]["bytes_per_token"], 4 * active)
        self.assertEqual((told["axes"]["expert"], told["axes"]["slot"], told["axes"]["ff"]), (8, 2, 96))
        said = [axial("generate", "-m", name, "-p", "Hello", "-n", "8", "--temp", "0", "-q", *more).text
                for more in ([], ["--expert-top-p", "1"], ["--spec"])]
        self.assertEqual(len(set(said)), 1)
        rows = json.loads(axial("bench", "-m", name, "-p", "8", "-n", "2", "-r", "1", "-o", "json").out)
        self.assertEqual({(row["experts"], row["expert_hit_rate"]) for row in rows}, {("resident", 1.0)})

    def test_a_folder_with_safetensors(self):
        folder = oracle("models", "tiny-qwen3-hf-BF16")
        shown = axial("info", folder, "--tensors")
        self.assertEqual((shown.code, shown.err), (0, ""))
        for text in ("safetensors, ", "architecture    qwen3", "byte-level BPE\n", "[head=4, channel=64, embed=128]"):
            self.assertIn(text, shown.text)
        told = json.loads(axial("info", folder, "-o", "json").out)
        self.assertEqual((told["format"], told["axes"]["layer"]), ("safetensors", 3))
        said = axial("generate", "-m", folder, "-p", "Hello", "-n", "4", "--temp", "0", "-q")
        self.assertEqual(said.code, 0)
        self.assertEqual(axial("tokenize", "-m", folder, "-p", "Hello").out,
                         axial("tokenize", "-m", oracle("models", "tiny-qwen3-F32.gguf"), "-p", "Hello").out)


if __name__ == "__main__":
    unittest.main()
