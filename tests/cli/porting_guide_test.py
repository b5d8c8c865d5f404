"""docs/porting_a_family.md: what it shows is what is there, and what happens.

C++ has to stand in a file that is compiled (SOURCES), Python in examples/save_values.py; a line of shell is run at the
root of the tree, and what is shown below it is what it prints: numbers of agreeing values may differ in the last bits.
  porting_guide_test.py --update     writes what is printed into the guide"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

from command import AXIAL, HERE, oracle

ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
GUIDE = os.path.join(ROOT, "docs", "porting_a_family.md")
PROGRAMS = os.path.dirname(AXIAL)  # the examples are built beside the command
SOURCES = ["examples/porting_a_family.cpp", "llm/hugging_face.cpp", "tests/llm/compare_run_test.cpp"]
NUMBER = re.compile(r"(?<![\w/.])-?\d+(?:\.\d+)?(?:e[-+]\d+)?(?![\w])")


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as f:
        return f.read()


def pieces(text):
    """(language, content, begin, end) of each piece of code."""
    return [(m[1], m[2], m.start(2), m.end(2)) for m in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S)]


def printed(command):
    path = PROGRAMS + os.pathsep + os.environ["PATH"]
    run = subprocess.run(["bash", "-c", "set -o pipefail; " + command], cwd=ROOT, capture_output=True, timeout=120,
                         env={**os.environ, "PATH": path})
    return (run.stdout + run.stderr).decode()


def same(line, other):
    """The same words, and numbers that are equal, near to each other, or both as small as rounding errors."""
    if NUMBER.sub("#", line).split() != NUMBER.sub("#", other).split():
        return False
    for a, b in zip(map(float, NUMBER.findall(line)), map(float, NUMBER.findall(other))):
        if abs(a - b) > 0.01 * max(abs(a), abs(b)) and max(abs(a), abs(b)) > 5e-5:
            return False
    return True


class Guide(unittest.TestCase):
    def test_code_is_of_files_that_are_compiled(self):
        words = lambda text: " ".join(text.split())  # a formatter moves the spaces
        sources = [words(read(source)) for source in SOURCES]
        code = [content for language, content, *_ in pieces(read(GUIDE)) if language == "cpp"]
        self.assertGreater(len(code), 4)
        for content in code:
            self.assertTrue(any(words(content) in source for source in sources), "in none of the sources:\n" + content)

    def test_errors_of_the_compiler_are_those_that_are_tested(self):
        shown = re.findall(r"^dot: .*$", read(GUIDE), re.M)
        self.assertTrue(shown)
        for error in shown:
            self.assertIn('{"' + error + '"}', read("docs/errors.md"))

    def test_python_is_the_script(self):
        code = [content for language, content, *_ in pieces(read(GUIDE)) if language == "python"]
        self.assertEqual(len(code), 1)
        self.assertIn(code[0], read("examples/save_values.py"))

    def test_commands_print_what_is_shown(self):
        if not os.path.exists(os.path.join(PROGRAMS, "porting_a_family")):
            self.skipTest("the examples are not built")
        commands = 0
        shown = pieces(read(GUIDE))
        for (language, command, *_), (_, output, *_) in zip(shown, shown[1:]):
            if language != "sh":
                continue
            commands += 1
            with self.subTest(command=command):
                lines, wanted = printed(command).splitlines(), output.splitlines()
                self.assertEqual(len(lines), len(wanted), "\n".join(lines))
                for line, other in zip(lines, wanted):
                    self.assertTrue(same(line, other), f"printed: {line}\nshown:   {other}")
        self.assertGreater(commands, 4)

    def test_what_the_script_saves_agrees(self):
        """With transformers, where there is one."""
        if subprocess.run([sys.executable, "-c", "import torch, transformers"], capture_output=True).returncode:
            self.skipTest("no transformers with torch")
        with tempfile.TemporaryDirectory() as folder:
            for model in ("tiny-qwen2-hf-F32", "tiny-llama-hf-F32", "tiny-qwen3-hf-BF16"):
                values = os.path.join(folder, model + ".safetensors")
                weights = oracle("models", model)
                subprocess.run([sys.executable, os.path.join(ROOT, "examples", "save_values.py"), weights, "1,2,3,500,7",
                                values], check=True, capture_output=True)
                run = subprocess.run([AXIAL, "diff", "-m", weights, "--reference", values], capture_output=True)
                self.assertEqual(run.returncode, 0, run.stdout.decode() + run.stderr.decode())


def update():
    text = read(GUIDE)
    shown = pieces(text)
    for (language, command, *_), (_, _, begin, end) in reversed(list(zip(shown, shown[1:]))):
        if language == "sh":
            text = text[:begin] + printed(command) + text[end:]
    with open(GUIDE, "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    update() if "--update" in sys.argv else unittest.main()
