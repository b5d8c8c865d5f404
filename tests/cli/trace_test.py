"""trace, and the statistics of info: names, axes, numbers against the reference's, and what is refused."""
import json
import math
import os
import tempfile
import unittest

import npy
from command import axial, oracle

EXACT = ["--activations", "float32", "-ctk", "f32", "-ctv", "f32"]
BLOCK = ["layer_in", "attn_norm", "attn_q", "attn_k", "v", "q", "k", "attn_probs", "attn_heads", "attn_out",
         "attn_residual", "ffn_norm", "ffn_gate", "ffn_up", "ffn_inner", "ffn_out", "layer_out"]


def traced(*arguments):
    result = axial("trace", *arguments, "-o", "json")
    assert (result.code, result.err) == (0, ""), result.err
    return json.loads(result.out)


class Trace(unittest.TestCase):
    def test_every_value_has_its_name_axes_and_numbers(self):
        told = traced("-p", "The moon", "--first", "3")
        self.assertEqual(told["tokens"], json.loads(axial("tokenize", "-p", "The moon", "-o", "json").out)["ids"])
        axes = json.loads(axial("info", "-o", "json").out)["axes"]
        want = [(None, "tokens"), (None, "embedding")]
        want += [(layer, name) for layer in range(axes["layer"]) for name in BLOCK]
        want += [(None, "output_norm"), (None, "logits")]
        self.assertEqual([(v["layer"], v["name"]) for v in told["values"]], want)
        n = len(told["tokens"])
        for value in told["values"]:
            self.assertEqual(value["axes"]["seq"], n)
            self.assertEqual(value["count"], math.prod(value["axes"].values()))
            self.assertEqual((value["nan"], value["infinite"], len(value["first"])), (0, 0, 3))
            self.assertLessEqual(value["minimum"], value["mean"])
            self.assertLessEqual(value["mean"], value["maximum"])
            self.assertLessEqual(value["rms"], max(-value["minimum"], value["maximum"]))
        probabilities = next(v for v in told["values"] if v["name"] == "attn_probs")
        self.assertEqual(probabilities["axes"], {"head": axes["head"], "seq": n, "key": n})
        self.assertAlmostEqual(probabilities["mean"], 1 / n, places=6)
        self.assertEqual(probabilities["first"][:2], [1, 0])

    def test_text(self):
        shown = axial("trace", "-p", "The moon").text
        self.assertIn("\nlayer 1\n  layer_in", shown)
        self.assertRegex(shown, r"\n  attn_norm +\[seq=\d+, embed=\d+\] +-?[\d.]+ +[\d.]+ +\S+ +[\d.]+ ( -?[\d.]+){4}\n")
        self.assertRegex(shown, r"\ntokens +\[seq=3\] +\d+ \d+ \d+\n")
        self.assertEqual(axial("trace", "-f", "-", stdin=b"The moon").text, shown)
        one = axial("trace", "-p", "The moon", "--layer", "1").text
        self.assertEqual(one.splitlines()[1:], shown[shown.index("layer 1\n"):shown.index("layer 2\n")].splitlines())

    def test_the_reference_layer_by_its_names(self):
        with open(oracle("models", "ref", "sequences.json"), encoding="utf-8") as file:
            told = json.load(file)
        ids = ",".join(map(str, told["sequences"][told["trace_sequence"]]))
        for model, file in (("tiny-qwen3-F32", ".gguf"), ("tiny-qwen2-F32", ".gguf"), ("tiny-qwen2-F32", "safetensors"),
                            ("tiny-llama-F32", ".gguf")):
            name = model + file if file == ".gguf" else model.replace("-F32", "-hf-F32")
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                result = axial("trace", "-m", oracle("models", name), "--ids", ids, *EXACT, "-o", folder)
                self.assertEqual((result.code, result.out, result.err), (0, b"", ""))
                reference = oracle("models", "ref", "trace", model)
                for array in os.listdir(reference):
                    want, extents = npy.read(os.path.join(reference, array))
                    got, shape = npy.read(os.path.join(folder, str(told["trace_layer"]), array))
                    self.assertEqual((shape[0], math.prod(shape)), (extents[0], math.prod(extents)), array)
                    largest = max(map(abs, want))
                    self.assertLessEqual(max(abs(a - b) for a, b in zip(got, want)), 1e-5 * largest, array)
                self.assertEqual(list(npy.read(os.path.join(folder, "tokens.npy"))[0]), list(map(int, ids.split(","))))
                self.assertEqual(npy.read(os.path.join(folder, "logits.npy"))[1], [7, 512])

    def test_bits_from_both_kinds_of_file(self):
        both = [axial("trace", "-m", oracle("models", name), "--ids", "1,2,3", "-o", "json").out
                for name in ("tiny-qwen2-F32.gguf", "tiny-qwen2-hf-F32")]
        self.assertEqual(*both)

    def test_without_norms(self):
        rows = traced("-p", "The moon", "--without-norm")["stream"]
        stream = [v for v in traced("-p", "The moon", *EXACT[2:])["values"] if v["name"] in ("embedding", "layer_out")]
        self.assertEqual([r["with_norms"]["rms"] for r in rows], [v["rms"] for v in stream])
        self.assertEqual([r["layer"] for r in rows], [None, *range(len(rows) - 1)])
        without = [r["without_norms"]["rms"] for r in rows]
        self.assertEqual(without[0], stream[0]["rms"])
        growth = [b / a for a, b in zip(without, without[1:])]
        self.assertEqual(growth, sorted(growth))  # with nothing to hold it, it grows faster and faster
        shown = axial("trace", "-p", "The moon", "--without-norm").text.splitlines()
        self.assertEqual(len(shown), len(rows) + 1)
        self.assertRegex(shown[2], r"^behind layer 0 +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+$")
        only = axial("trace", "-p", "The moon", "--without-norm", "--layer", "1").text.splitlines()
        self.assertEqual(only, [shown[0], shown[3]])

    def refused(self, arguments, code, text):
        result = axial("trace", *arguments)
        self.assertEqual((result.code, result.out), (code, b""), result.err)
        self.assertIn(text, result.err)

    def test_mistakes(self):
        self.refused(["-p", ""], 2, "the text is empty; at least one token is needed")
        self.refused(["--ids", ""], 2, "--ids is empty; at least one token is needed")
        self.refused(["--ids", "1", "-p", "x"], 2, "there are both a text and --ids; give one of them")
        self.refused(["-p", "x", "--layer", "99"], 2, "there is no layer 99; this model has layers 0 to ")
        self.refused(["-p", "x", "--layer", "-1"], 2, '--layer: "-1" is not a whole number from 0')
        self.refused(["-p", "word " * 600], 2, "a trace takes at most 512; give a shorter one")
        self.refused(["--ids", "999999"], 1, "token 999999 is not in the vocabulary")
        self.refused(["-p", "x", "--without-norm", "-o", "somewhere"], 2, "say -o text or -o json, not a folder")
        self.refused(["-p", "x", "-o", __file__], 1, "the folder cannot be made: ")
        self.refused(["-p", "x", "-o", "/dev/null/x"], 1, "the folder cannot be made: ")


class Statistics(unittest.TestCase):
    def test_of_every_weight(self):
        told = json.loads(axial("info", "--statistics", "-o", "json").out)["tensors"]
        self.assertEqual([{k: v for k, v in t.items() if k != "statistics"} for t in told],
                         json.loads(axial("info", "--tensors", "-o", "json").out)["tensors"])
        for tensor in told:
            s = tensor["statistics"]
            self.assertEqual(s["count"], math.prod(tensor["extents"]))
            self.assertLess(s["minimum"], s["maximum"])
            self.assertLessEqual(s["rms"], max(-s["minimum"], s["maximum"]))
        shown = axial("info", "--statistics").text
        self.assertRegex(shown, r"\nTensors +minimum +maximum +mean +rms\n")
        self.assertRegex(shown, r"\n  blk.0.attn_q.weight +\w+ +\[head=\d+, channel=\d+, embed=\d+\] +-[\d.]+ +[\d.]+")

    def test_what_is_no_number_is_counted(self):
        with open(oracle("models", "tiny-qwen2-F32.gguf"), "rb") as file:
            data = file.read()
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "nan.gguf")
            with open(name, "wb") as file:  # the last number of the last tensor
                file.write(data[:-4] + b"\x00\x00\xc0\x7f")
            told = json.loads(axial("info", name, "--statistics", "-o", "json").out)["tensors"]
            self.assertEqual(sum(t["statistics"]["nan"] for t in told), 1)
            self.assertRegex(axial("info", name, "--statistics").text, r"\(1 of \d+ is NaN\)")
            shown = axial("trace", "-m", name, "--ids", "1,2")
            self.assertEqual(shown.code, 0)
            self.assertRegex(shown.text, r"\(\d+ of \d+ (is|are) NaN")


if __name__ == "__main__":
    unittest.main()
