"""Compiles mistakes and holds what the compiler says against what it is to say.

A file of cases starts with a prologue that compiles. Then come cases:

    //: what the mistake is
    //= the sentence that the one error must contain      (or  //= g++: ...  and  //= clang: ..., if they differ)
    code with the mistake

Each case is compiled behind the prologue. It must give exactly one error, which carries the sentence, and the
compiler's output must name a line of the case. The prologue alone must compile.

With --gallery the cases are written as a page; with --check-gallery a page is held against the cases.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile


class Case:
    def __init__(self, file, line, title):
        self.file, self.line, self.title = file, line, title
        self.wanted, self.code = {}, []

    def sentence(self, compiler):
        return self.wanted.get(compiler, self.wanted.get(""))


def read_cases(path):
    prologue, cases = [], []
    for number, text in enumerate(path.read_text().splitlines(), 1):
        if text.startswith("//: "):
            cases.append(Case(path, number, text[4:]))
        elif text.startswith("//= "):
            compiler, sentence = re.fullmatch(r"//= (?:(g\+\+|clang): )?(.*)", text).groups()
            cases[-1].wanted[compiler or ""] = sentence
        elif cases:
            cases[-1].code.append(text)
        else:
            prologue.append(text)
    return "\n".join(prologue) + "\n", cases


class Compiler:
    def __init__(self, path, includes, folder):
        self.path, self.folder = path, pathlib.Path(folder)
        version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
        self.name = "clang" if "clang" in version else "g++"
        self.flags = ["-std=c++20", "-fno-color-diagnostics" if self.name == "clang" else "-fdiagnostics-color=never"]
        self.flags += ["-fdiagnostics-show-location=once", "-fmessage-length=0"] if self.name == "g++" else []
        self.flags += [f"-I{path}" for path in includes]
        self.prologues = {}

    def run(self, arguments, text=""):
        command = [self.path, *self.flags, *arguments]
        done = subprocess.run(command, input=text, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
        return done.returncode, done.stderr

    def precompile(self, file, prologue):
        header = self.folder / f"{file.stem}.h"
        header.write_text(f'#line 1 "{file}"\n' + prologue)
        binary = self.folder / f"{file.stem}.h.{'pch' if self.name == 'clang' else 'gch'}"
        code, output = self.run(["-x", "c++-header", str(header), "-o", str(binary)])
        self.prologues[file] = ["-include-pch", str(binary)] if self.name == "clang" else ["-include", str(header)]
        return output if code else ""

    def output_of(self, case):
        text = f'#line {case.line + 1} "{case.file}"\n' + "\n" * len(case.wanted) + "\n".join(case.code) + "\n"
        return self.run(["-fsyntax-only", *self.prologues[case.file], "-x", "c++", "-"], text)


def spoken(error):
    """The error's own words: the pieces of an axis_error, joined, or the line as it is."""
    pieces = re.findall(r'Name<\d+>\{"((?:[^"\\]|\\.)*)"\}', error.split("axis_error<", 1)[-1])
    return "".join(pieces) if "axis_error<" in error else error


def fault_of(case, compiler):
    """What is wrong with the compiler's answer (empty: nothing), and its error line."""
    code, output = compiler.output_of(case)
    errors = [line for line in output.splitlines() if re.search(r"\b(fatal )?error: ", line)]
    if code == 0 or not errors:
        return "it compiles", ""
    if len(errors) > 1:
        return "more than one error:\n    " + "\n    ".join(errors), errors[0]
    said, wanted = spoken(errors[0]), case.sentence(compiler.name)
    if said != wanted if "axis_error<" in errors[0] else wanted not in said:
        return f"wanted: {wanted}\n    but got: {said}", errors[0]
    last = case.line + len(case.wanted) + len(case.code)
    lines = [int(n) for n in re.findall(re.escape(str(case.file)) + r":(\d+)", output)]
    if not any(case.line < n <= last for n in lines):
        return "the output does not name the line of the mistake", errors[0]
    return "", errors[0]


def check_layers(compiler, layers):
    """A layer's include directories must not reach what stands above it."""
    faults = []
    order = list(layers)
    headers = {"tensor": "axial/tensor/view.h", "ops": "axial/ops/dot.h", "llm": "axial/llm/model.h"}
    for name, includes in layers.items():
        for other in order:
            allowed = order.index(other) <= order.index(name)
            flags = ["-std=c++20", *[f"-I{path}" for path in includes.split(",")], "-fsyntax-only", "-x", "c++", "-"]
            done = subprocess.run([compiler.path, *flags], input=f'#include "{headers[other]}"\n', capture_output=True,
                                  text=True)
            if (done.returncode == 0) != allowed:
                faults.append(f"{name} including {other}: " + (done.stderr if allowed else "it compiles"))
            elif not allowed and "file not found" not in done.stderr and "No such file" not in done.stderr:
                faults.append(f"{name} including {other}: fails, but for another reason:\n{done.stderr}")
    return faults


def shortened(error):
    """An error line without what changes with every edit: folders, line and column."""
    error = re.sub(r"^\S*?axial/((?:tensor|ops|llm)/[\w.]+):\d+:\d+: ", r"\1: ", error)
    return re.sub(r"^\S*/(\w+\.cpp):\d+:\d+: ", r"your.cpp: ", error).rstrip()


def gallery_of(files, prologues, errors):
    page = ["# What the compilers say", "",
            "Every mistake in axis names is one compile error, one sentence, with the names of the axes in it. This page",
            "is written by the build target `errors_page` from the cases that the tests compile (`tests/diagnostics`); the lines",
            "are those of g++ 12 and clang 16, without folders and line numbers. Clang cuts long texts, so there a sentence",
            "comes in pieces. Below the error both compilers name the line in your file (`required from here`,",
            "`requested here`).", ""]
    for file, cases in files.items():
        declared = prologues[file].split("using namespace", 1)[1].split("\n", 1)[1].strip()
        page += [f"## {file.stem.replace('_', ' ').capitalize()}", "", "```cpp", *declared.splitlines(), "```", ""]
        for case in cases:
            page += [f"### {case.title}", "", "```cpp", *"\n".join(case.code).strip().splitlines(), "```", "", "```text"]
            for name in ("g++", "clang"):
                page.append(f"{name:6} {shortened(errors[name][case])}")
            page += ["```", ""]
    return "\n".join(page)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", action="append", required=True)
    parser.add_argument("--include", action="append", default=[], help="an include directory for the cases")
    parser.add_argument("--layer", action="append", default=[], help="name=directory,directory: from the lowest up")
    parser.add_argument("--gallery", type=pathlib.Path, help="write the page")
    parser.add_argument("--check-gallery", type=pathlib.Path, help="compare the page (needs both compilers)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()

    files, prologues, faults, errors = {}, {}, [], {}
    for file in options.files:
        prologues[file], files[file] = read_cases(file)
    for path in options.compiler:
        with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            compiler = Compiler(path, options.include, folder)
            errors[compiler.name] = {}
            for output in pool.map(lambda file: compiler.precompile(file, prologues[file]), files):
                if output:
                    sys.exit(f"the prologue does not compile with {path}:\n{output}")
            cases = [case for file in files for case in files[file]]
            for case, (fault, error) in zip(cases, pool.map(lambda case: fault_of(case, compiler), cases)):
                errors[compiler.name][case] = error
                if fault:
                    faults.append(f"{compiler.name}: {case.file.name}:{case.line}: {case.title}\n    {fault}")
            faults += check_layers(compiler, dict(layer.split("=", 1) for layer in options.layer))
            print(f"{compiler.name}: {len(cases)} mistakes, {len(faults)} faults so far")

    both = {"g++", "clang"} <= errors.keys()
    if options.gallery and both:
        options.gallery.write_text(gallery_of(files, prologues, errors))
    if options.check_gallery and both and options.check_gallery.read_text() != gallery_of(files, prologues, errors):
        faults.append(f"{options.check_gallery} is not what the compilers say now: write it again with --gallery")
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


main()
