"""axial diff: a run beside saved values."""
import json
import os
import struct
import tempfile
import unittest

from command import HERE, axial, oracle

VALUES = os.path.join(HERE, "..", "data", "bundled_values.safetensors")
IDS = "499,498,191,478,415,321,420"  # of oracle/models/ref/sequences.json, the traced sequence


def read_npy(path):
    with open(path, "rb") as f:
        data = f.read()
    length = struct.unpack_from("<H", data, 8)[0]
    return data[10:10 + length].decode(), bytearray(data[10 + length:])


def write_npy(path, header, data):
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def array(shape, data, descr="<f8"):
    return f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))},), }}\n", data


class Diff(unittest.TestCase):
    def compare(self, code, *arguments):
        run = axial("diff", *arguments)
        self.assertEqual(run.code, code, run.text + run.err)
        return run

    def test_the_bundled_model_is_what_transformers_computes(self):
        run = self.compare(0, "--reference", VALUES)  # the tokens are the file's
        self.assertRegex(run.text, r"^all \d+ values agree; the farthest is ")
        self.assertIn("transposed: head and seq", run.text)
        self.assertIn("values without a reference:", run.text)
        result = json.loads(self.compare(0, "--reference", VALUES, "-o", "json").text)
        self.assertIsNone(result["first_departure"])
        compared = {value["value"] for value in result["values"]}
        for name in ("attn_norm", "attn_q", "q", "k", "v", "attn_probs", "attn_heads", "attn_out", "ffn_norm", "ffn_out", "layer_out"):
            self.assertIn("1/" + name, compared)
        self.assertIn("logits", compared)
        for value in result["values"]:
            self.assertEqual(value["verdict"], "within")
            self.assertLess(value["largest_difference"], 1e-5 * max(value["largest_wanted"], 1))

    def test_quantised_activations_depart(self):
        run = self.compare(1, "--reference", VALUES, "--activations", "int8")
        self.assertTrue(run.text.startswith("0/attn_q is the first to depart"), run.text)
        self.compare(0, "--reference", VALUES, "--activations", "int8", "--tolerance", "0.2")
        self.compare(0, "--reference", VALUES, "--activations", "int16", "--tolerance", "0.005")

    def test_other_tokens_depart_at_once(self):
        run = self.compare(1, "--reference", VALUES, "-p", "What is a tensor?")
        self.assertTrue(run.text.startswith("tokens is the first to depart") or "other extents" in run.text, run.text)
        run = self.compare(1, "--reference", VALUES, "--ids", "379,285,284,554,30")
        self.assertIn("at seq 3 got 554, wanted 553", run.text)

    def test_one_layer(self):
        run = self.compare(0, "--reference", VALUES, "--layer", "1")
        self.assertNotIn("0/attn_norm   ", run.text)
        self.assertIn("1/attn_norm", run.text)

    def test_what_trace_saved_is_the_same_to_the_bit(self):
        with tempfile.TemporaryDirectory() as folder:
            exact = ["--activations", "float32", "-ctk", "f32", "-ctv", "f32"]
            saved = axial("trace", "-p", "What is an axis?", "-o", folder, *exact)
            self.assertEqual(saved.code, 0, saved.err)
            run = self.compare(0, "--reference", folder, "--tolerance", "0")  # the tokens are tokens.npy
            self.assertRegex(run.text, r"^all \d+ values agree; the farthest is tokens, 0 of its largest away\n")
            self.assertNotIn("values without a reference", run.text)
            self.assertNotIn("no value of this run", run.text)

    def test_reference_traces(self):
        for model in ("tiny-qwen3", "tiny-qwen2", "tiny-llama"):
            with self.subTest(model=model):
                folder = oracle("models", "ref", "trace", model + "-F32")
                file = oracle("models", model + "-F32.gguf")
                run = self.compare(0, "-m", file, "--reference", folder, "--layer", "1", "--ids", IDS, "--tolerance", "1e-5")
                for name in ("layer_in", "attn_norm", "q", "k", "v", "attn_probs", "attn_heads", "attn_out", "attn_residual",
                             "ffn_norm", "ffn_out", "layer_out"):
                    self.assertIn("1/" + name + " ", run.text)

    def test_a_changed_reference_is_found(self):
        source = oracle("models", "ref", "trace", "tiny-qwen3-F32")
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "1"))
            for name in os.listdir(source):
                write_npy(os.path.join(folder, "1", name), *read_npy(os.path.join(source, name)))
            arguments = ["-m", oracle("models", "tiny-qwen3-F32.gguf"), "--ids", IDS]
            self.compare(0, *arguments, "--reference", folder)
            # One number of q, at seq 4, head 2, channel 17 of [7, 4, 64].
            header, data = read_npy(os.path.join(source, "q.npy"))
            struct.pack_into("<d", data, 8 * ((4 * 4 + 2) * 64 + 17), 100.0)
            write_npy(os.path.join(folder, "1", "q.npy"), header, data)
            run = self.compare(1, *arguments, "--reference", folder)
            self.assertTrue(run.text.startswith("1/q is the first to depart from the reference, 1/q.npy\n"), run.text)
            self.assertRegex(run.text, r"at seq 4, head 2, channel 17 got -?[0-9.]+, wanted 100\n")
            self.assertIn("1 of 1792 numbers depart, the first at seq 4, head 2, channel 17\n", run.text)
            # Other extents, with both shapes.
            write_npy(os.path.join(folder, "1", "q.npy"), *array([7, 2, 64], bytes(8 * 7 * 2 * 64)))
            run = self.compare(1, *arguments, "--reference", folder)
            self.assertIn("it is [seq=7, head=4, channel=64], the reference [seq=7, head=2, channel=64]", run.text)
            # A name that is none, and one that cannot be read.
            os.remove(os.path.join(folder, "1", "q.npy"))
            write_npy(os.path.join(folder, "1", "querries.npy"), header, data)
            write_npy(os.path.join(folder, "1", "mask.npy"), *array([7, 7], bytes(49), "|b1"))
            run = self.compare(0, *arguments, "--reference", folder)
            self.assertIn("saved, but no value of this run:\n  1/querries.npy", run.text)
            self.assertIn("mask.npy: a .npy file of the type |b1", run.text)
            self.assertIn("1/q,", run.text[run.text.index("values without a reference:"):])

    def test_what_cannot_be_compared_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            def refused(code, *words, arguments=()):
                run = axial("diff", "--reference", folder, *arguments)
                self.assertEqual(run.code, code, run.text + run.err)
                for word in words:
                    self.assertIn(word, run.err)

            refused(1, "there are no .npy files in this folder")
            write_npy(os.path.join(folder, "q.npy"), *array([2], bytes(16)))
            refused(2, "there are no tokens: give --ids or -p")
            refused(1, "none of what was saved is a value of this run", "--layer", arguments=("--ids", "1"))
            with open(os.path.join(folder, "q.npy"), "ab") as f:
                f.write(b"x")
            refused(1, "q.npy: the shape of its .npy header takes 16 bytes, but 17 follow", arguments=("--ids", "1"))
        self.assertEqual(axial("diff").code, 2)
        self.assertEqual(axial("diff", "--reference", VALUES, "--tolerance", "-1").code, 2)


if __name__ == "__main__":
    unittest.main()
