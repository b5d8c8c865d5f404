"""Speculation, several streams, a context that is full, the check of the cache, perplexity."""
import json
import math
import os
import re
import tempfile
import unittest

from command import axial, token_id

TEXT = "The capital of France is Paris. What is the capital of France? The capital"
ENDS = [f for i in ("<|im_end|>", "<|endoftext|>") for f in ("--logit-bias", token_id(i) + "-inf")]


def generated(*arguments):
    result = axial("generate", "-p", TEXT, *arguments)
    assert result.code == 0, result.err
    return result


class Speculation(unittest.TestCase):
    def test_the_same_text(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as reference:
            reference.write(TEXT + " of France is Paris, of course.")
            reference.flush()
            for temperature in ("0", "0.8"):
                flags = ["-n", "60", "--temp", temperature, "-s", "3", *ENDS]
                plain = generated(*flags)
                for more in (["--spec"], ["--spec-ref", reference.name],
                             ["--spec-ref", reference.name, "--spec-ref", reference.name, "-ctk", "f16"]):
                    self.assertEqual(generated(*flags, *more).out, plain.out)

    def test_drafts_are_said(self):
        # A reply that can only repeat itself.
        result = generated("-n", "60", "--temp", "0", "-v", "--spec", "--logit-bias", token_id("A") + "+1000")
        self.assertEqual(result.text, "A" * 60)
        found = re.search(r"\| Drafts: (\d+) of (\d+) tokens accepted \]", result.err)
        self.assertIsNotNone(found, result.err)
        self.assertGreater(int(found[1]), 0)
        self.assertNotIn("Drafts", generated("-n", "20", "-v").err)

    def test_chat(self):
        flags = ["chat", "-p", "What is the capital of France?", "-s", "5"]
        self.assertEqual(axial(*flags, "--spec").out, axial(*flags).out)

    def test_mistakes(self):
        missing = axial("generate", "-p", "x", "--spec-ref", "/no/such/file")
        self.assertEqual(missing.code, 1)
        self.assertIn("/no/such/file", missing.err)
        many = axial("generate", "-p", "x", *(["--spec-ref", __file__] * 9))
        self.assertEqual(many.code, 2)
        self.assertIn("8 texts are the most", many.err)


class Streams(unittest.TestCase):
    def test_each_as_alone(self):
        flags = ["-n", "24", "--temp", "1.2", "--top-k", "0", "--top-p", "1", *ENDS]
        for more in ([], ["--spec"], ["-t", "1", "-tb", "2", "-ub", "3"]):
            together = generated(*flags, "-s", "40", "--streams", "5", *more)
            want = ""
            for seed in range(40, 45):
                text = generated(*flags, "-s", str(seed)).text
                want += text if text.endswith("\n") else text + "\n"
            self.assertEqual(together.text, want)
            self.assertEqual(together.err, "".join(f"[ {i + 1} of 5, seed {40 + i} ]\n" for i in range(5)))

    def test_other_ends(self):
        quiet = generated("-n", "4", "--streams", "2", "-q")
        self.assertEqual(quiet.err, "")
        full = generated("-c", "30", "-s", "1", "--streams", "3", *ENDS)
        self.assertEqual(full.code, 0)
        self.assertEqual(axial("generate", "-p", "x", "--streams", "2", "--verify-cache", "1").code, 2)


class Context(unittest.TestCase):
    def test_the_middle_is_dropped(self):
        result = generated("-c", "40", "--keep-first", "4", "-n", "80", "-s", "1", *ENDS)
        self.assertRegex(result.err, r"^note: \d+ tokens in the middle were dropped \(--keep-first\)\n$")
        without = generated("-c", "40", "-s", "1", *ENDS)
        self.assertEqual(without.err, "note: the context of 40 tokens is full; -c N makes it larger\n")
        self.assertTrue(result.text.startswith(without.text))
        self.assertGreater(len(result.text), len(without.text))
        spoken = generated("-c", "40", "--keep-first", "4", "-n", "80", "-s", "1", "--spec", *ENDS)
        self.assertEqual(spoken.out, result.out)

    def test_a_long_prompt(self):
        self.assertEqual(axial("generate", "-p", TEXT * 5, "-c", "40", "-n", "4").code, 1)
        result = axial("generate", "-p", TEXT * 5, "-c", "40", "-n", "4", "--keep-first", "0")
        self.assertEqual(result.code, 0)
        self.assertIn("were dropped", result.err)

    def test_no_room(self):
        result = axial("generate", "-p", "x", "-c", "40", "--keep-first", "40")
        self.assertEqual(result.code, 1)
        self.assertIn("leaves no room", result.err)

    def test_verified(self):
        for more in ([], ["--spec"], ["-c", "40", "--keep-first", "4"], ["-ctk", "q8_0", "-ctv", "q8_0"]):
            result = generated("-n", "40", "-s", "2", "--verify-cache", "3", *ENDS, *more)
            found = re.search(r"cache verified: (\d+) positions compared, 0 of them unequal, largest difference of a "
                              r"logit 0\n", result.err)
            self.assertIsNotNone(found, result.err)
            self.assertGreater(int(found[1]), 3)
            self.assertEqual(result.out, generated("-n", "40", "-s", "2", *ENDS, *more).out)


class Perplexity(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.file = os.path.join(cls.folder.name, "text.txt")
        with open(cls.file, "w", encoding="utf-8") as file:
            file.write("What is the capital of France? The capital of France is Paris. " * 20)
        cls.ids = [int(i) for i in axial("tokenize", "-f", cls.file).text.split(",")]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def surprises(self, window, first):
        """From the logits of all positions."""
        result = axial("logits", "--ids", ",".join(map(str, window)), "--all", "-o", "-")
        logits = json.loads(result.out)["logits"]
        for i in range(first, len(window)):
            row = logits[i - 1]
            largest = max(row)
            yield largest + math.log(sum(math.exp(x - largest) for x in row)) - row[window[i]]

    def check(self, out, windows, first):
        all = [s for window in windows for s in self.surprises(window, first)]
        mean = sum(all) / len(all)
        error = math.sqrt((sum(s * s for s in all) / len(all) - mean * mean) / (len(all) - 1))
        found = re.fullmatch(r"perplexity: ([\d.]+) ± ([\d.]+)\nnegative log likelihood: ([\d.]+) ± ([\d.]+) a token\n"
                             r"(\d+) tokens counted, in (\d+) windows of (\d+)\n", out)
        self.assertIsNotNone(found, out)
        got = [float(found[i]) for i in range(1, 5)]
        for value, want, places in zip(got, (math.exp(mean), math.exp(mean) * error, mean, error), (4, 5, 6, 6)):
            self.assertAlmostEqual(value, want, delta=2 * 10 ** -places + 1e-6 * want)
        self.assertEqual([int(found[i]) for i in (5, 6, 7)], [len(all), len(windows), len(windows[0])])

    def test_windows(self):
        """llama.cpp's: one behind the other, and of each the second half counts."""
        n = 24
        windows = [self.ids[i:i + n] for i in range(0, len(self.ids) - n + 1, n)]
        self.assertGreater(len(windows), 4)
        for more in ([], ["-ub", "5", "-t", "1"]):
            result = axial("perplexity", "-f", self.file, "-c", str(n), *more)
            self.assertEqual((result.code, result.err), (0, ""))
            self.check(result.text, windows, n // 2 + 1)

    def test_stride(self):
        windows = [self.ids[i:i + 20] for i in range(0, len(self.ids) - 20 + 1, 6)]
        self.check(axial("perplexity", "-f", self.file, "-c", "20", "--stride", "6").text, windows, 14)

    def test_too_short(self):
        result = axial("perplexity", "-p", "Hello", "-c", "64")
        self.assertEqual(result.code, 2)
        self.assertIn("fewer than a window of 64", result.err)


if __name__ == "__main__":
    unittest.main()
