"""graph: what one step ran, in each form, and the documents that are made of it."""
import json
import os
import re
import shutil
import unittest

from command import HERE, axial, oracle

DOCS = os.path.join(HERE, "..", "..", "docs", "graph")
STEP = ["graph", "--no-measurements", "-q"]


def titles(svg):
    """What Graphviz calls the nodes, edges and frames of a drawing, whatever it makes them look like."""
    return sorted(re.findall(r"<title>(.*?)</title>", svg))


def names(dot):
    """The same from the drawing's source."""
    found = re.findall(r"^ *(\w+) \[label=", dot, re.M) + re.findall(r"subgraph (\w+) \{", dot)
    arrows = [f"{a}&#45;&gt;{b}" for a, b in re.findall(r"^ *(\w+) -> (\w+)\b(?! \[style=invis)", dot, re.M)]
    return sorted(found + arrows + ["axial"])


class Graph(unittest.TestCase):
    def graph(self, *arguments):
        result = axial(*STEP, *arguments)
        self.assertEqual((result.code, result.err), (0, ""))
        return result.text

    def document(self, name):
        with open(os.path.join(DOCS, name), encoding="utf-8") as file:
            return file.read()

    def test_the_documents_are_up_to_date(self):
        """Text byte for byte. The SVG is Graphviz's, and its layout differs from version to version: there, what is
        drawn is compared, and what is written into it."""
        hint = "run: axial graph --no-measurements -o %s > docs/graph/step.%s"
        self.assertEqual(self.graph("-o", "txt"), self.document("step.txt"), hint % ("txt", "txt"))
        drawing, svg = self.graph("-o", "dot"), self.document("step.svg")
        self.assertEqual(titles(svg), names(drawing), hint % ("svg", "svg"))
        written = sorted(re.findall(r"<text[^>]*>(.*?)</text>", svg))
        if shutil.which("dot"):
            fresh = self.graph("-o", "svg")
            self.assertEqual(titles(fresh), titles(svg), hint % ("svg", "svg"))
            self.assertEqual(sorted(re.findall(r"<text[^>]*>(.*?)</text>", fresh)), written, hint % ("svg", "svg"))

    def test_every_form_says_the_same(self):
        data = json.loads(self.graph("-o", "json"))
        nodes, leaves, parts = data["nodes"], data["leaves"], data["parts"]
        layers = [p for p in parts if p["name"] == "layer"]
        self.assertEqual(len(layers), 1)
        count = len(layers[0]["numbers"])
        self.assertEqual(sum(len(p["first"]) * p["nodes"] for p in parts), len(nodes))
        ops = [n["op"] for n in nodes]
        self.assertEqual((ops[0], ops[-1]), ("gather", "dot"))
        self.assertEqual(ops.count("groupedAttention"), count)
        self.assertEqual(ops.count("store"), 2 * count)
        for number, node in enumerate(nodes):
            self.assertEqual(node["id"], number)
            for operand in node["in"]:
                if "node" in operand:
                    made = nodes[operand["node"]]["out"][operand["result"]]
                    self.assertLess(operand["node"], number)
                    self.assertTrue(made["part"] or made["bytes"] == operand["bytes"])
                else:
                    self.assertEqual(leaves[operand["leaf"]]["format"], operand["format"])
        attention = next(n for n in nodes if n["op"] == "groupedAttention")
        axes = {a["name"]: a["extent"] for o in attention["in"] for a in o["axes"]}
        # One query sees all keys: a product with the key and one with the value for each channel of each head.
        self.assertEqual(attention["multiply_adds"], 2 * axes["key"] * axes["head"] * axes["channel"])
        self.assertEqual([nodes[o["node"]]["op"] for o in attention["in"]], ["rmsNormMulRopeHalf", "store", "store"])
        # Weights are all read, once.
        weights = sum(leaf["bytes"] for leaf in leaves if leaf["parameter"])
        info = json.loads(axial("info", "-o", "json", "-q").text)
        self.assertLessEqual(weights, sum(t["bytes"] for t in info["tensors"]) if "tensors" in info else weights)
        self.assertGreater(sum(n["bytes_read"] for n in nodes), weights)
        text, drawing = self.graph(), self.graph("-o", "dot")
        for title in (data["title"], layers[0]["title"]):
            self.assertIn(title, text)
            self.assertIn(title, drawing)

    def test_a_prompt_at_once(self):
        data = json.loads(self.graph("--prefill", "--ids", "1,2,3", "-o", "json"))
        self.assertIn("reads 3 tokens", data["title"])
        first, last = [p for p in data["parts"] if p["name"] == "layer"]
        self.assertEqual(len(last["numbers"]), 1)  # it leaves out the rows whose logits nobody wants
        self.assertIn("select", last["difference"])
        seq = [a["extent"] for a in data["nodes"][first["first"][0]]["out"][0]["axes"] if a["name"] == "seq"]
        self.assertEqual(seq, [3])

    def test_unfused(self):
        fused = json.loads(self.graph("--ids", "1,2,3", "-o", "json"))
        plain = json.loads(self.graph("--ids", "1,2,3", "-o", "json", "--unfused"))
        for data, has in ((fused, True), (plain, False)):
            self.assertEqual(any(n["op"] in ("dotAll", "swigluDot", "addDot") for n in data["nodes"]), has)
        self.assertEqual(*(sum(n["multiply_adds"] for n in data["nodes"]) for data in (fused, plain)))

    def test_measurements(self):
        result = axial("graph", "-p", "Hello there", "-o", "json", "-q")
        data = json.loads(result.out)
        self.assertTrue(all(n["time_ns"] > 0 for n in data["nodes"]))
        self.assertIn("layer 0/attention", [s["path"] for s in data["scopes"]])
        self.assertRegex(axial("graph", "-p", "Hello", "-q").text, r"attention: .* (us|ms), at most .* of tensors")

    def test_layers_of_two_kinds(self):
        model = oracle("models", "tiny-qwen3-256-Q4_K_M.gguf")
        text = self.graph("-m", model, "-o", "txt")
        self.assertRegex(text, r"layers? [\d, and]+.*: .*ffn_down.weight Q6_K")
        self.assertRegex(text, r"layers? [\d, and]+.*: .*ffn_down.weight Q4_K")

    def test_without_graphviz(self):
        result = axial("graph", "-o", "svg", environment={"PATH": "/nowhere"})
        self.assertEqual((result.code, result.out), (3, b""))
        self.assertIn("apt install graphviz", result.err)
        self.assertIn("-o dot", result.err)

    def test_mistakes(self):
        for arguments, text in ((["--ids", "1", "-p", "x"], "--ids and a text"), (["--ids", ""], "no tokens"),
                                (["-o", "png"], "one of txt, svg, dot, json"), (["--ids", "99999999"], "vocabulary")):
            result = axial("graph", *arguments)
            self.assertEqual(result.out, b"")
            self.assertIn(text, result.err)


class Profile(unittest.TestCase):
    SMALL = ["bench", "-p", "8", "-n", "4", "-r", "1", "-t", "1", "--profile"]

    def test_json(self):
        result = axial(*self.SMALL, "-o", "json")
        self.assertEqual((result.code, result.err), (0, ""))
        rows = json.loads(result.out)
        self.assertEqual(len(rows), 2)
        for row in rows:
            profile = row["profile"]
            ops = [r for r in profile["ops"] if r["depth"] == 0]
            whole = profile["scopes"][0]
            self.assertEqual(whole["name"], "all")
            self.assertEqual(sum(r["calls"] for r in ops), whole["calls"])
            self.assertEqual(sum(r["time_ns"] for r in ops), whole["time_ns"])
            self.assertLessEqual(whole["time_ns"], profile["ns"])
            self.assertEqual([r["name"] for r in profile["scopes"] if r["depth"] == 1], ["layer *", "head"])
            for r in ops + profile["scopes"]:
                self.assertEqual("read_share" in r, "limits" in profile)
                if "limits" in profile:
                    rate = r["bytes_read"] / (r["time_ns"] / 1e9)
                    self.assertAlmostEqual(r["read_share"] * profile["limits"]["read_rate"] / max(1, rate), 1, places=3)

    def test_table(self):
        text = axial(*self.SMALL).text
        for part in ("pp8, recorded:", "tg4, recorded:", "op ", "scope ", "of limit", "most memory", "layer *",
                     "feedForward"):
            self.assertIn(part, text)


if __name__ == "__main__":
    unittest.main()
