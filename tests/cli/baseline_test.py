"""bench/check_baseline.py: its verdicts on made-up numbers."""
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench")
sys.path.insert(0, BENCH)
import check_baseline  # noqa: E402


KEY = {"op": "", "layer": None, "format": "F32", "activations": None, "axes": {"seq": 1}, "cached": False,
       "threads": 2, "target": "AVX2"}


def kept(op, read, mac, **other):
    """A row of a baseline."""
    return {**KEY, "op": op, **other, "read_share": read, "mac_share": mac}


def row(op, read, mac, read_limit=20, mac_limit=300, kind="float", **other):
    """A row of opbench, on a machine that has these limits."""
    return {**KEY, "op": op, "gb_s": read * read_limit, "gmac_s": mac * mac_limit, "read_limit_gb_s": read_limit,
            "mac_limit_gmac_s": mac_limit, "mac_limit": kind, **other}


class CheckBaseline(unittest.TestCase):
    def verdicts(self, baseline, *runs):
        return [(v, r and round(r, 3), b["op"]) for v, r, b in check_baseline.compare(baseline, runs, 0.25)]

    def test_ratios(self):
        baseline = [kept("a", 0.8, 0.1), kept("b", 0.8, 0.1), kept("c", 0.8, 0.1)]
        now = [row("a", 0.592, 0.1), row("b", 0.608, 0.1), row("c", 1.008, 0.1)]
        self.assertEqual(self.verdicts(baseline, now),
                         [("fallen", 0.74, "a"), ("as before", 0.76, "b"), ("risen", 1.26, "c")])

    def test_the_larger_share_counts(self):
        baseline = [kept("a", 0.1, 0.8)]
        self.assertEqual(self.verdicts(baseline, [row("a", 0.01, 0.8)]), [("as before", 1, "a")])
        self.assertEqual(self.verdicts(baseline, [row("a", 0.1, 0.4)]), [("fallen", 0.5, "a")])

    def test_the_best_run_counts(self):
        baseline = [kept("a", 0.8, 0)]
        for shares, verdict, ratio in (((0.2, 0.4, 0.8), "as before", 1), ((0.4, 0.5, 0.4), "fallen", 0.625),
                                       ((0.2, 0.5, 0.4), "noisy", 0.625), ((0.5,), "fallen", 0.625)):
            self.assertEqual(self.verdicts(baseline, *([row("a", share, 0)] for share in shares)),
                             [(verdict, ratio, "a")])

    def test_rows_are_told_apart(self):
        for other in ({"format": "Q8_0"}, {"layer": "x"}, {"activations": "int8"}, {"axes": {"seq": 2}},
                      {"threads": 1}, {"cached": True}):
            self.assertEqual(self.verdicts([kept("a", 0.8, 0), kept("b", 0.8, 0)],
                                           [row("a", 0.1, 0, **other), row("b", 0.8, 0)]),
                             [("not measured", None, "a"), ("as before", 1, "b")])
        self.assertEqual(self.verdicts([kept("a", 0.8, 0, target="SSE4")], [row("a", 0.1, 0)]), [])

    def test_a_baseline_is_the_best(self):
        rows = check_baseline.baseline_of([[row("a", share, 2 * share, seconds=1)] for share in (0.1, 0.3, 0.2)])
        self.assertEqual(rows, [kept("a", 0.3, 0.6)])

    def test_the_best_limit_counts(self):
        runs = [[row("a", 0.8, 0), row("b", 0.5, 0.6)], [row("a", 1.6, 0, read_limit=10), row("b", 0.5, 0.6)],
                [row("a", 1.6, 0, read_limit=10), row("b", 0.5, 0.6, mac_limit=600)]]
        self.assertEqual(check_baseline.baseline_of(runs), [kept("a", 0.8, 0), kept("b", 0.5, 0.6)])
        self.assertEqual(self.verdicts([kept("a", 0.8, 0)], *runs), [("as before", 1, "a")])
        # Limits of other threads and other kinds of products are others.
        runs = [[row("a", 0, 0.5), row("a", 0, 0.5, threads=1, mac_limit=900), row("b", 0, 0.2, mac_limit=3000, kind="bytes")]]
        self.assertEqual([r["mac_share"] for r in check_baseline.baseline_of(runs)], [0.5, 0.5, 0.2])

    def test_exit_codes(self):
        baseline = [kept("a", 0.8, 0)]
        for now, code in (([row("a", 0.8, 0)], 0), ([row("a", 0.5, 0)], 1), ([row("b", 0.5, 0)], 1)):
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(check_baseline.report(check_baseline.compare(baseline, [now], 0.25), 0.25), code)

    def test_the_script(self):
        def run(*arguments):
            return subprocess.run([sys.executable, "-B", os.path.join(BENCH, "check_baseline.py"), *arguments],
                                  capture_output=True, text=True)

        with tempfile.TemporaryDirectory() as folder:
            good, bad, other, baseline = (os.path.join(folder, name) for name in ("good", "bad", "other", "baseline"))
            for name, rows in ((good, [row("a", 0.8, 0.1)]), (bad, [row("a", 0.28, 0.1)]),
                               (other, [row("a", 0.3, 0.1, target="SSE4")])):
                with open(name, "w", encoding="utf-8") as file:
                    json.dump(rows, file)
            self.assertEqual(run("--results", good, "--baseline", baseline, "--update").returncode, 0)
            same = run("--results", good, "--baseline", baseline)
            self.assertEqual((same.returncode, same.stdout), (0, "1 as before (of 1; tolerance 25%)\n"))
            fallen = run("--results", bad, "--baseline", baseline)
            self.assertEqual(fallen.returncode, 1)
            self.assertRegex(fallen.stdout, r"fallen +0\.35  a F32 seq=1 2 threads\n1 fallen")
            self.assertEqual(run("--results", other, "--baseline", baseline).returncode, 2)
            self.assertEqual(run("--results", bad, "--baseline", baseline, "--tolerance", "0.7").returncode, 0)

    def test_the_committed_baseline(self):
        with open(check_baseline.BASELINE, encoding="utf-8") as file:
            rows = json.load(file)["rows"]
        self.assertEqual(len({check_baseline.key_of(r) for r in rows}), len(rows))
        for r in rows:
            self.assertGreater(max(r["read_share"], r["mac_share"]), 0)
            self.assertLess(max(r["read_share"], r["mac_share"]), 1.5)
        self.assertTrue({"dot", "groupedAttention", "rmsNormMul"} <= {r["op"] for r in rows})


if __name__ == "__main__":
    unittest.main()
