"""Compares what `axial opbench` measures with the committed baseline.

    check_baseline.py --axial build/release/bin/axial             measures, and compares
    check_baseline.py --results run1.json run2.json run3.json     compares what opbench -o json has printed
    check_baseline.py --axial build/release/bin/axial --update    measures, and writes the baseline anew

What is compared is an op's share of the machine's limits, which opbench measures in the same process, so that a baseline
holds on other machines of the kind. Of the two shares, the one that was larger in the baseline counts: it is what
bounds the op. Each run has the medians of its repetitions. Of several runs the best counts, and so does the best limit
that any of them measured: whatever else the machine does makes both lower. An op has fallen if it is below the baseline
by more than the tolerance; but if its runs differ by more than that among themselves, the verdict is "noisy", and it is
to be measured again.

Exit code: 0 nothing has fallen, 1 something has, or was not measured, 2 there is nothing to compare.
"""
import argparse
import json
import os
import subprocess
import sys
import time

BASELINE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "baseline.json")
# What tells rows apart. The axes are compared as text.
KEY = ("op", "layer", "format", "activations", "axes", "cached", "threads", "target")
# A share, and the rate and the limit that it is made of.
SHARES = {"read_share": ("gb_s", "read_limit_gb_s"), "mac_share": ("gmac_s", "mac_limit_gmac_s")}


def key_of(row):
    return tuple(json.dumps(row[name]) for name in KEY)


def name_of(row):
    axes = " ".join(f"{axis}={extent}" for axis, extent in row["axes"].items())
    parts = [row["op"], row["layer"], row["format"], row["activations"], axes, f"{row['threads']} threads"]
    return " ".join(part for part in parts if part) + (" cached" if row["cached"] else "")


def by_key(runs):
    """Of rows of several runs: those with the same key together."""
    rows = {}
    for run in runs:
        for row in run:
            rows.setdefault(key_of(row), []).append(row)
    return rows


def shares_of(rows, share, runs):
    """Of the same row of several runs: each rate as a share of the best limit of that kind."""
    rate, limit = SHARES[share]
    kind = ("threads", "target") + (("mac_limit",) if share == "mac_share" else ())
    best = max(row[limit] for run in runs for row in run if all(row[name] == rows[0][name] for name in kind))
    return [row[rate] / best for row in rows]


def baseline_of(runs):
    """The rows of a baseline: the best of the runs."""
    return [{**{name: rows[0][name] for name in KEY},
             **{share: round(max(shares_of(rows, share, runs)), 6) for share in SHARES}}
            for rows in by_key(runs).values()]


def compare(baseline, runs, tolerance):
    """(verdict, ratio or None, row) for each row of the baseline that was made for the runs' instruction set."""
    targets = {row["target"] for run in runs for row in run}
    measured = by_key(runs)
    verdicts = []
    for row in baseline:
        if row["target"] not in targets:
            continue
        share = max(SHARES, key=lambda name: row[name])
        if key_of(row) not in measured:
            verdicts.append(("not measured", None, row))
            continue
        ratios = [now / row[share] for now in shares_of(measured[key_of(row)], share, runs)]
        ratio = max(ratios)
        verdict = "as before"
        if ratio < 1 - tolerance:
            verdict = "fallen" if min(ratios) >= ratio * (1 - tolerance) else "noisy"
        elif ratio > 1 + tolerance:
            verdict = "risen"
        verdicts.append((verdict, ratio, row))
    return verdicts


def report(verdicts, tolerance):
    """Prints what is not as before, and returns the exit code."""
    for verdict, ratio, row in sorted(verdicts, key=lambda v: v[1] or 0):
        if verdict != "as before":
            print(f"{verdict:13} {'' if ratio is None else f'{ratio:.2f}':>5}  {name_of(row)}")
    count = {name: sum(v[0] == name for v in verdicts)
             for name in ("as before", "risen", "noisy", "fallen", "not measured")}
    print(", ".join(f"{number} {name}" for name, number in count.items() if number) +
          f" (of {len(verdicts)}; tolerance {tolerance:.0%})")
    return 1 if count["fallen"] or count["not measured"] else 0


def waited():
    """Seconds that threads of this machine have waited for a CPU so far, or None where the system does not say."""
    try:
        with open("/proc/pressure/cpu", encoding="ascii") as file:
            return int(file.readline().rsplit("total=", 1)[1]) / 1e6
    except (OSError, IndexError, ValueError):
        return None


def measure(axial, arguments):
    before, start = waited(), time.monotonic()
    result = subprocess.run([axial, "opbench", *arguments, "-o", "json"], capture_output=True, text=True)
    if result.returncode != 0:
        print(f"{axial} opbench failed ({result.returncode}): {result.stderr.strip()}", file=sys.stderr)
        sys.exit(2)
    share = (waited() - before) / (time.monotonic() - start) if before is not None else 0
    if share > 0.1:
        print(f"note: in {share:.0%} of this run's time threads waited for a CPU; what has fallen may be others' work",
              file=sys.stderr)
    return json.loads(result.stdout)


def write(path, arguments, rows):
    lines = ",\n".join("  " + json.dumps(row) for row in rows)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'{{"arguments": {json.dumps(arguments)},\n "rows": [\n{lines}\n]}}\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--axial", help="the command to measure with")
    parser.add_argument("--results", nargs="+", help="files of opbench -o json, one a run")
    parser.add_argument("--baseline", default=BASELINE)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--tolerance", type=float, default=0.25)
    parser.add_argument("--update", action="store_true", help="write the baseline instead of comparing with it")
    parser.add_argument("arguments", nargs="*", help="with --update: arguments of opbench, after --")
    args = parser.parse_args()
    if bool(args.axial) == bool(args.results):
        parser.error("give either --axial or --results")

    baseline = {"arguments": args.arguments, "rows": []}
    if not args.update:
        with open(args.baseline, encoding="utf-8") as file:
            baseline = json.load(file)
    if args.results:
        runs = []
        for name in args.results:
            with open(name, encoding="utf-8") as file:
                runs.append(json.load(file))
    else:
        runs = [measure(args.axial, baseline["arguments"]) for _ in range(args.runs)]
    if args.update:
        write(args.baseline, baseline["arguments"], baseline_of(runs))
        return 0
    verdicts = compare(baseline["rows"], runs, args.tolerance)
    if not verdicts:
        made = sorted({row["target"] for row in baseline["rows"]})
        print(f"nothing to compare: the baseline was made on {', '.join(made) or 'nothing'}", file=sys.stderr)
        return 2
    return report(verdicts, args.tolerance)


if __name__ == "__main__":
    sys.exit(main())
