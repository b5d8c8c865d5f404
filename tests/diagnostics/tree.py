"""Rules of the source tree that no compiler checks: who may include what, and how long a file may be."""

import pathlib
import re
import subprocess
import sys

LAYERS = ["tensor", "ops", "llm"]  # each may include itself and what stands before it
LONGEST = 500
# Headers of other libraries, and the files of the layers that may include them.
CONFINED = [
    (r"hwy/", r"ops/(\w+_kernels\.cpp|(linear_rows|interleaved)_(avx_vnni|dotprod|i8mm)\.cpp|\w+-inl\.h|targets\.h|instruction_set\.cpp)"),
    (r"nlohmann/", r"llm/[\w/]+(\.cpp|-inl\.h)"),
    (r"pcre2", r"llm/[\w/]+\.cpp"),
    (r"utf8proc", r"llm/[\w/]+\.cpp"),
    (r"CLI/", r"llm/cli/\w+\.(h|cpp)"),
    (r"axial_rust", r"llm/(jinja_template|grammar)\.cpp"),
    (r"axial/bench/", r"llm/cli/(opbench\w*|machine_limits)\.(h|cpp)"),
    (r"boost/", r"tensor/hana\.h|llm/\w+\.(h|cpp)|llm/server/(http_connection\.(h|cpp)|server\.cpp)"),
]


def faults_of(path, text):
    lines = text.splitlines()
    if len(lines) > LONGEST:
        yield f"{path}: {len(lines)} lines, but at most {LONGEST} are wanted"
    if path.split("/")[-1].split(".")[0] in ("utils", "util", "common", "misc", "helpers"):
        yield f"{path}: a name that says nothing"
    layer = path.split("/")[0]
    for number, line in enumerate(lines, 1):
        if re.match(r"\s*rc::check\(", line):
            yield f"{path}:{number}: nobody asks for the verdict; CHECK(rc::check(...))"
        included = re.match(r'\s*#\s*include\s+[<"]([^>"]+)[>"]', line)
        if not included or layer not in LAYERS:
            continue
        header = included[1]
        other = re.match(r"axial/(\w+)/", header)
        if other and other[1] in LAYERS and LAYERS.index(other[1]) > LAYERS.index(layer):
            yield f"{path}:{number}: {layer} includes {header}, which stands above it"
        local = included[0].count('"') and not other and not header.startswith("hwy/")
        if local and not path.startswith("llm/cli/"):  # a program of its own
            yield f"{path}:{number}: {header} is to be spelled axial/<layer>/<file>"
        for pattern, allowed in CONFINED:
            if re.match(pattern, header) and not re.fullmatch(allowed, path):
                yield f"{path}:{number}: {header} belongs only in {allowed}"
    if layer in LAYERS and path.endswith(".h") and not re.search(r"^#pragma once|^#if(ndef|def| defined)", text, re.M):
        yield f"{path}: can be included twice"


def faults_of_readme(root):
    """Its first piece of code is said to be the code."""
    piece = re.search(r"^```cpp\n(.*?)^```", (root / "README.md").read_text(), re.M | re.S)
    if not piece or piece[1] not in (root / "llm" / "qwen3.cpp").read_text():
        yield "README.md: its first piece of code is not that of llm/qwen3.cpp"


def main(root):
    root = pathlib.Path(root)
    tracked = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True)
    if tracked.returncode == 0:
        files = tracked.stdout.split()
    else:  # an unpacked archive
        files = [str(path.relative_to(root)) for folder in LAYERS for path in (root / folder).rglob("*")]
    files = [file for file in files if re.search(r"\.(h|cpp|rs|py|sh|cmake)$", file) and (root / file).exists()]
    faults = [fault for file in files for fault in faults_of(file, (root / file).read_text())]
    faults += faults_of_readme(root)
    print(f"{len(files)} files, {len(faults)} faults", *faults, sep="\n")
    return 1 if faults or len(files) < 100 else 0


sys.exit(main(sys.argv[1]))
