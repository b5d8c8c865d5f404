"""Compares `axial bench` with llama-bench of llama.cpp, or of its kin, on the same files, in alternating rounds.

    compare.py --axial build/release/bin/axial --peer llama-bench [--peer other/llama-bench] -m a.gguf,b.gguf
               [-p 512] [-n 128] [-d 0] [-t 2] [--rounds 5]

Prints, for each file, test and peer, the medians of both in tokens/s, the median of the rounds' ratios, and whether the
ratios' spread allows a verdict: "noisy" if their quartiles are further apart than a tenth of the median. With
--json FILE the rounds are kept. llama-bench comes from llama.cpp (the source archive of PyPI llama-cpp-python holds
it whole); build it with GGML_NATIVE=ON, or its figures are not its best.
"""
import argparse
import json
import statistics
import subprocess
import sys


def run(command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}\nfailed ({result.returncode}): {result.stderr.strip()[-400:]}")
    rates = {}
    for row in json.loads(result.stdout):
        name = f"pp{row['n_prompt']}" if row["n_prompt"] else f"tg{row['n_gen']}"
        if row.get("n_depth"):
            name += f" @ d{row['n_depth']}"
        rates[name] = statistics.median(row["samples_ts"])
    return rates


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--axial", required=True)
    parser.add_argument("--peer", required=True, action="append")
    parser.add_argument("-m", "--model", required=True)
    parser.add_argument("-p", default="512")
    parser.add_argument("-n", default="128")
    parser.add_argument("-d", default="0")
    parser.add_argument("-t", default="2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json")
    args = parser.parse_args()

    kept = []
    print(f"{'file':28} {'test':>14} {'peer':>5} {'axial t/s':>10} {'peer t/s':>10} {'ratio':>7}  verdict")
    for model in args.model.split(","):
        options = ["-m", model, "-p", args.p, "-n", args.n, "-t", args.t, "-r", "1", "-o", "json"]
        if args.d != "0":
            options += ["-d", args.d]
        commands = [("axial", [args.axial, "bench"])] + [(f"{k + 1}", [peer]) for k, peer in enumerate(args.peer)]
        rounds = []
        for i in range(args.rounds):
            first = i % len(commands)  # whoever comes next finds the machine as the one before left it
            rounds.append({who: run(command + options) for who, command in commands[first:] + commands[:first]})
        kept.append({"model": model, "rounds": rounds})
        for test in rounds[0]["axial"]:
            for who, _ in commands[1:]:
                ours = [r["axial"][test] for r in rounds]
                peers = [r[who][test] for r in rounds]
                ratios = sorted(a / b for a, b in zip(ours, peers))
                middle = statistics.median(ratios)
                quartiles = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else [middle] * 3
                noisy = quartiles[2] - quartiles[0] > 0.1 * middle
                verdict = "noisy" if noisy else "faster" if quartiles[0] > 1 else "slower" if quartiles[2] < 1 else "even"
                name = model.rsplit("/", 1)[-1]
                print(f"{name:28} {test:>14} {who:>5} {statistics.median(ours):10.2f} {statistics.median(peers):10.2f} {middle:7.3f}  {verdict}",
                      flush=True)
    if args.json:
        with open(args.json, "w") as out:
            json.dump(kept, out, indent=1)


if __name__ == "__main__":
    main()
