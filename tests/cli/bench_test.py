"""bench: llama-bench's rows and field names."""
import csv
import io
import json
import statistics
import unittest

from command import axial

SMALL = ["bench", "-p", "8", "-n", "4", "-r", "3", "-t", "1"]


class Bench(unittest.TestCase):
    def rows(self, *arguments):
        result = axial(*arguments, "-o", "json")
        self.assertEqual((result.code, result.err), (0, ""))
        return json.loads(result.out)

    def test_fields(self):
        rows = self.rows(*SMALL)
        self.assertEqual([(r["n_prompt"], r["n_gen"], r["n_depth"]) for r in rows], [(8, 0, 0), (0, 4, 0)])
        for row in rows:
            self.assertEqual((row["n_threads"], row["type_k"], row["n_batch"], row["n_ubatch"]), (1, "f16", 2048, 512))
            self.assertEqual(len(row["samples_ts"]), 3)
            self.assertAlmostEqual(row["avg_ts"] / statistics.mean(row["samples_ts"]), 1)
            self.assertAlmostEqual(row["stddev_ts"], statistics.stdev(row["samples_ts"]))
            tokens = row["n_prompt"] + row["n_gen"]
            for rate, time in zip(row["samples_ts"], row["samples_ns"]):
                self.assertAlmostEqual(rate * time / 1e9 / tokens, 1, places=3)
            for name in ("model_filename", "model_type", "model_size", "model_n_params", "cpu_info", "test_time"):
                self.assertIn(name, row)

    def test_combinations(self):
        rows = self.rows("bench", "-p", "4-16*2", "-n", "0", "-pg", "3,2", "-d", "0,5", "-r", "1", "-ctk", "f32,q8_0",
                         "-ctv", "f32", "-ub", "2", "--no-warmup")
        self.assertEqual(len(rows), (3 + 1) * 2 * 2)
        self.assertEqual([r["n_prompt"] for r in rows[:4]], [4, 8, 16, 3])
        self.assertEqual([(r["type_k"], r["type_v"]) for r in rows[::8]], [("f32", "f32"), ("q8_0", "f32")])
        self.assertEqual({r["n_depth"] for r in rows}, {0, 5})

    def test_streams(self):
        rows = self.rows("bench", "-p", "6", "-n", "4", "-r", "2", "--streams", "1,3", "--no-warmup", "-ub", "4")
        self.assertEqual([(r["n_prompt"], r["n_gen"], r["n_streams"]) for r in rows],
                         [(6, 0, 1), (6, 0, 3), (0, 4, 1), (0, 4, 3)])
        for row in rows:  # the tokens of all streams
            tokens = row["n_streams"] * (row["n_prompt"] + row["n_gen"])
            for rate, time in zip(row["samples_ts"], row["samples_ns"]):
                self.assertAlmostEqual(rate * time / 1e9 / tokens, 1, places=3)

    def test_speculation(self):
        for _ in range(10):  # what is drafted depends on the times: on a busy machine the gate may leave it for a while
            rows = self.rows("bench", "-p", "4", "-n", "40", "-r", "1", "--spec")
            if rows[-1]["n_accepted"] > 10:
                break
        self.assertEqual([(r["n_gen"], r["text"], r["speculation"]) for r in rows],
                         [(0, "", False), (40, "", False), (40, "free", False), (40, "free", True),
                          (40, "copy", False), (40, "copy", True)])
        for row in rows:
            self.assertGreaterEqual(row["n_drafted"], row["n_accepted"])
            self.assertTrue(row["speculation"] or row["n_drafted"] == 0)
        self.assertGreater(rows[-1]["n_accepted"], 10)
        table = axial("bench", "-p", "0", "-n", "8", "-r", "1", "--spec", "--spec-text", __file__, "--streams", "2").text
        for name in ("tg8 x 2", "tg8 free", r"tg8 free \+spec", "tg8 copy", r"tg8 copy \+spec"):
            self.assertRegex(table, r"\| +" + name + r" \|")
        short = axial("bench", "-p", "0", "-n", "5000", "-r", "1", "--spec", "--spec-text", __file__)
        self.assertEqual(short.code, 2)

    def test_other_formats(self):
        table = axial(*SMALL, "-d", "3").text.splitlines()
        self.assertRegex(table[0], r"^\| model +\|.* test \| +t/s \|$")
        self.assertRegex(table[2], r"\| +pp8 @ d3 \| +[\d.]+ \u00b1 [\d.]+ \|$")
        self.assertRegex(table[3], r"\| +tg4 @ d3 \|")
        lines = axial(*SMALL, "-o", "jsonl").text.splitlines()
        self.assertEqual([json.loads(line)["n_gen"] for line in lines], [0, 4])
        rows = list(csv.DictReader(io.StringIO(axial(*SMALL, "-o", "csv").text)))
        self.assertEqual([row["n_prompt"] for row in rows], ["8", "0"])

    def test_progress_goes_to_stderr(self):
        result = axial(*SMALL, "-o", "jsonl", "--progress")
        self.assertIn("pp8, 1 threads: run 3 of 3", result.err)
        self.assertEqual(len(result.text.splitlines()), 2)


if __name__ == "__main__":
    unittest.main()
