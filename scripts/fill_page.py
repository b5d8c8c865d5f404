#!/usr/bin/env python3
"""Puts numbers and lines of code into a page of the documentation, or checks that those in it are right.

    scripts/fill_page.py PAGE.md PROGRAM            fill it
    scripts/fill_page.py --check PAGE.md PROGRAM    compare, on each instruction set that this machine has

A comment says what the fenced block behind it holds:
    <!-- numbers: NAME -->                        what PROGRAM prints under the heading "== NAME"
    <!-- code: FILE: BEGINNING | BEGINNING -->   the statements of FILE whose first lines begin so
Numbers with a decimal point may differ by one in their last place, as the order of sums is each instruction set's own.
"""
import itertools
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
BLOCK = re.compile(r"(<!-- (numbers|code): ([^\n]*?) -->\n```\w*\n)(.*?)(^```$)", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"-?\d+\.\d+")


def sections(program, *arguments):
    printed = subprocess.run([program, *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout
    parts = re.split(r"^== (.*)\n", printed, flags=re.MULTILINE)
    return {name: re.sub(r" +$", "", text, flags=re.MULTILINE) for name, text in zip(parts[1::2], parts[2::2])}


def statement(lines, beginning, file):
    starts = [i for i, line in enumerate(lines) if line.lstrip().startswith(beginning)]
    if len(starts) != 1:
        raise SystemExit(f"{file}: {len(starts)} lines begin with: {beginning}")
    taken, depth = [], 0
    for line in lines[starts[0]:]:
        taken.append(line)
        bare = line.split("//")[0].rstrip()
        depth += sum(bare.count(c) for c in "([{") - sum(bare.count(c) for c in ")]}")
        if depth <= 0 and bare.endswith(";"):
            break
    indent = len(taken[0]) - len(taken[0].lstrip())
    return [line[indent:] for line in taken]


def code(what):
    file, beginnings = what.split(": ", 1)
    with open(os.path.join(ROOT, file), encoding="utf-8") as source:
        lines = source.read().splitlines()
    return "".join(line + "\n" for b in beginnings.split(" | ") for line in statement(lines, b, file))


def filled(page, numbers):
    unused = set(numbers)

    def fill(match):
        head, kind, what, _, end = match.groups()
        unused.discard(what)
        if kind == "numbers" and what not in numbers:
            raise SystemExit(f"the program prints nothing under the heading: {what}")
        return head + (numbers[what] if kind == "numbers" else code(what)) + end

    page = BLOCK.sub(fill, page)
    if unused:
        raise SystemExit(f"the page has no block for: {', '.join(sorted(unused))}")
    return page


def same(left, right):
    """Equal but for spaces and the last place of numbers."""
    words = [re.sub(r" +", " ", NUMBER.sub("#", line)) for line in (left, right)]
    if words[0] != words[1]:
        return False
    for a, b in zip(NUMBER.findall(left), NUMBER.findall(right)):
        place = 10.0 ** -min(len(a.split(".")[1]), len(b.split(".")[1]))
        if abs(float(a) - float(b)) > 1.01 * place:
            return False
    return True


def differences(page, now):
    pairs = itertools.zip_longest(page.splitlines(), now.splitlines(), fillvalue="")
    return [(old, new) for old, new in pairs if not same(old, new)]


def main():
    check = sys.argv[1] == "--check"
    name, program = sys.argv[2:] if check else sys.argv[1:]
    with open(name, encoding="utf-8") as file:
        page = file.read()
    if not check:
        with open(name, "w", encoding="utf-8") as file:
            file.write(filled(page, sections(program)))
        return
    failed = False
    for target in subprocess.run([program, "sets"], stdout=subprocess.PIPE, text=True, check=True).stdout.split():
        different = differences(page, filled(page, sections(program, target)))
        print(f"{target}: {'different' if different else 'the same'}")
        failed = failed or bool(different)
        for old, new in different:
            print(f"  the page: {old}\n  now:      {new}")
    if failed:
        raise SystemExit(f"{name} is out of date. If that is meant, run: scripts/fill_page.py {name} {program}, "
                         "and read what is said about the numbers")


main()
