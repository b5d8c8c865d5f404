"""opbench: the rows and their shares, a model's own shapes, and mistakes in what is asked for."""
import json
import os
import unittest

from command import HERE, axial

TINY = "embed=256,head=2,kvHead=1,channel=128,ff=512,vocab=256,expert=8,slot=2"
QUICK = ["-r", "1", "--min-time", "0.001", "-t", "1"]
MODEL = os.path.join(HERE, "..", "..", "llm", "bundled", "axial-tiny-qwen3.gguf")


def setUpModule():
    if axial("opbench", "--op", "none").code == 3:
        raise unittest.SkipTest("this build has no benchmarks of ops")


class OpBench(unittest.TestCase):
    def rows(self, *arguments):
        result = axial("opbench", *arguments, *QUICK, "-o", "json")
        self.assertEqual((result.code, result.err), (0, ""))
        return json.loads(result.out)

    def test_every_op(self):
        rows = self.rows("--axes", TINY + ",seq=2,key=64", "--format", "Q8_0,F32")
        self.assertEqual({row["op"] for row in rows}, {
            "dot", "swigluDot", "groupedAttention", "rmsNormMul", "ropeHalf", "rmsNormMulRopeHalf", "softmax", "add", "swiglu",
            "gather", "argmax", "topK", "routerTopK"})
        self.assertEqual({row["format"] for row in rows}, {"Q8_0", "F32"})
        for row in rows:
            self.assertEqual((row["threads"], row["cached"], row["axes"]["seq"]), (1, False, 2))
            self.assertGreater(row["seconds"], 0)
            # an honest share is below 1; other work on the machine can spoil one measurement, but not tenfold
            self.assertTrue(0 < row["read_share"] < 10, row)
            self.assertAlmostEqual(row["read_share"] * row["read_limit_gb_s"] / row["gb_s"], 1)
            if row["op"] in ("gather", "argmax", "topK"):
                self.assertEqual(row["gmac_s"], 0)
                continue
            self.assertTrue(0 < row["mac_share"] < 10, row)
            self.assertAlmostEqual(row["mac_share"] * row["mac_limit_gmac_s"] / row["gmac_s"], 1)

    def test_what_a_layer_costs(self):
        rows = self.rows("--op", "dot", "--format", "q4_k", "--axes", TINY + ",seq=3", "--activations", "int8")
        self.assertEqual([row["layer"] for row in rows],
                         ["attn_q", "attn_k", "attn_output", "ffn_gate", "ffn_down", "output"])
        gate = rows[3]
        self.assertEqual(gate["axes"], {"seq": 3, "ff": 512, "embed": 256})
        self.assertEqual((gate["format"], gate["activations"]), ("Q4_K", "int8"))
        self.assertAlmostEqual(gate["gb_s"] * gate["seconds"] * 1e9 / (512 * 144), 1)  # a block of 256 has 144 bytes
        self.assertAlmostEqual(gate["gmac_s"] * gate["seconds"] * 1e9 / (3 * 512 * 256), 1)

        both, = self.rows("--op", "swigluDot", "--format", "q4_k", "--axes", TINY + ",seq=3")
        self.assertEqual((both["layer"], both["axes"]), ("ffn_gate", gate["axes"]))
        self.assertAlmostEqual(both["gb_s"] * both["seconds"] * 1e9 / (2 * 512 * 144), 1)
        self.assertAlmostEqual(both["gmac_s"] * both["seconds"] * 1e9 / (2 * 3 * 512 * 256), 1)

    def test_shapes_of_a_model(self):
        rows = self.rows("--from", MODEL, "--op", "dot", "--axes", "seq=1")
        tensors = {t["name"]: t for t in json.loads(axial("info", MODEL, "--tensors", "-o", "json").out)["tensors"]}
        kinds = set()
        for row in rows:
            tensor = tensors[row["layer"]]
            self.assertEqual(row["format"], tensor["format"])
            self.assertEqual({"seq": 1, **row["axes"]}, row["axes"])
            axes = ", ".join(f"{axis}={extent}" for axis, extent in row["axes"].items() if axis != "seq")
            self.assertEqual(axes, tensor["axes"])
            kinds.add((tensor["format"], *tensor["extents"]))
        self.assertEqual(len(kinds), len(rows))  # each once
        gates = self.rows("--from", MODEL, "--op", "swigluDot", "--axes", "seq=1")
        self.assertEqual([row["layer"] for row in gates], ["blk.0.ffn_gate.weight"])
        matrices = [t for t in tensors.values() if len(t["extents"]) == 2]
        self.assertEqual(kinds, {(t["format"], *t["extents"]) for t in matrices})

    def test_another_instruction_set_and_forms_of_output(self):
        arguments = ["opbench", "--op", "add", "--axes", "seq=2,embed=64", "--target", "SCALAR", *QUICK]
        lines = axial(*arguments, "-o", "jsonl", "--cached").text.splitlines()
        row = json.loads(lines[0])
        self.assertEqual((len(lines), row["target"], row["mac_limit"], row["cached"]), (1, "SCALAR", "float", True))
        table = axial(*arguments)
        self.assertEqual(table.code, 0)
        self.assertRegex(table.text.splitlines()[0], r"^op +format +axes +threads +time +GB/s +of read +GMAC/s +of MAC$")
        self.assertRegex(table.text.splitlines()[1], r"^add +F32 +seq=2 embed=64 +1 ")
        self.assertIn("1 thread reads ", table.text)

    def test_mistakes(self):
        def refused(arguments, *texts):
            result = axial("opbench", *arguments)
            self.assertEqual((result.code, result.out), (2, b""), result.err)
            for text in texts:
                self.assertIn(text, result.err)

        refused(["--op", "dot,dots"], '"dots" is not one of dot, swigluDot,')
        refused(["--format", "Q9"], '"Q9" is not one of F32, F16,')
        refused(["--format", "I32"], '"I32" is not one of')
        refused(["--target", "MMX"], '"MMX" is not one of', "SCALAR")
        refused(["--axes", "width=3"], '"width" is not one of seq, key, embed,')
        refused(["--axes", "seq"], "as in seq=512")
        refused(["--axes", "seq=0"], "as in seq=512")
        refused(["--axes", "seq=99999999"], "axis seq is 99999999")
        refused(["--axes", "ff=8,ff=9"], "ff is given twice")
        refused(["--axes", "seq=9,key=8"], "9 queries (seq) do not fit on 8 positions (key)")
        refused(["--axes", "head=3"], "3 heads are no multiple of 8 kvHeads")
        refused(["--axes", "embed=100", "--format", "Q4_K"], "rows of 100 values are no whole blocks of Q4_K")
        refused(["--op", "argmax", "--format", "Q4_K"], "nothing to measure")
        refused(["--from", MODEL, "--axes", "embed=8"], '"embed" is not one of seq, key')
        refused(["--min-time", "0"], "--min-time")
        result = axial("opbench", "--op", "add", "--axes", "seq=1000000,embed=1000000")
        self.assertEqual(result.code, 1)
        self.assertIn("more than half of this machine's memory", result.err)


if __name__ == "__main__":
    unittest.main()
