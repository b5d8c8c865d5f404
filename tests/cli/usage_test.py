"""Help, versions, mistakes in the arguments, and what they exit with."""
import os
import unittest

from command import HERE, axial, other_architecture


class Usage(unittest.TestCase):
    def refused(self, arguments, code, *texts):
        result = axial(*arguments)
        self.assertEqual(result.code, code, result.err)
        self.assertEqual(result.out, b"")
        for text in texts:
            self.assertIn(text, result.err)
        self.assertNotIn("terminate", result.err)

    def test_help_goes_to_stdout(self):
        for arguments in (["--help"], ["-h"], ["chat", "--help"], ["bench", "-p", "4", "-h"]):
            result = axial(*arguments)
            self.assertEqual((result.code, result.err), (0, ""))
            self.assertIn("Usage: axial", result.text)
        self.assertIn("--min-p", axial("chat", "-h").text)
        self.assertNotIn("--min-p", axial("info", "-h").text)

    def test_help_fits_a_terminal(self):
        for command in ("chat", "generate", "info", "render", "tokenize", "detokenize", "logits", "trace", "graph", "bench",
                        "opbench"):
            for line in axial(command, "--help").text.splitlines():
                self.assertLessEqual(len(line), 100, line)

    def test_version(self):
        self.assertRegex(axial("--version").text, r"^axial \d+\.\d+\.\d+ \([\w+]+\)\n$")

    def test_nothing_given(self):
        result = axial()
        self.assertEqual((result.code, result.out), (2, b""))
        self.assertIn("Usage: axial", result.err)

    def test_mistakes(self):
        self.refused(["chta"], 2, 'unknown command "chta"; did you mean chat?')
        self.refused(["chat", "--tempp", "1"], 2, 'unknown argument "--tempp"; did you mean --temp?')
        self.refused(["chat", "-file", "x"], 2, "did you mean --file?")
        self.refused(["chat", "more", "-p", "x"], 2, 'unknown argument "more"')
        self.refused(["chat", "--temp"], 2, "--temp needs a value")
        self.refused(["chat", "--temp", "hot"], 2, '--temp: "hot" is not a number from 0 to')
        self.refused(["chat", "--temp", "nan"], 2, '--temp: "nan" is not a number from 0 to')
        self.refused(["chat", "--top-p", "1.5"], 2, "a number from 0 to 1")
        self.refused(["chat", "-n", "-2"], 2, "a whole number of at least -1")
        self.refused(["chat", "-n", "3.5"], 2, "a whole number")
        self.refused(["chat", "-ctk", "q4_0"], 2, '"q4_0" is not one of f32, f16, q8_0')
        self.refused(["generate", "-p", "x", "-f", "y"], 2, "-p and -f are both given")
        self.refused(["generate", "-p", ""], 2, "the text is empty")
        self.refused(["chat", "-p", ""], 2, "the message is empty")
        self.refused(["generate", "-p", "x", "--stop", ""], 2, "--stop: the text is empty")
        self.refused(["generate", "-p", "x", "--logit-bias", "5"], 2, "as in 42+1.5")
        self.refused(["logits", "--ids", "1,x", "-o", "-"], 2, '"x" is not a token id')
        self.refused(["logits", "--ids", "1"], 2, "-o FILE.npy")
        self.refused(["logits", "-o", "-"], 2, "--ids 1,2,3")
        self.refused(["tokenize", "-o", "yaml", "-p", "x"], 2, "one of ids, json, pieces")
        self.refused(["bench", "-p", "x"], 2, '"x" is not a whole number')
        self.refused(["bench", "-p", "0", "-n", "0"], 2, "nothing to measure")

    def test_files(self):
        self.refused(["chat", "-m", "absent.gguf", "-p", "x"], 1, "absent.gguf: No such file")
        self.refused(["generate", "-f", "absent.txt"], 1, "absent.txt: cannot be read: No such file")
        self.refused(["logits", "--ids", "1", "-o", "/absent/x.npy"], 1, "/absent/x.npy: cannot be written")
        self.refused(["info", __file__], 3, "not a GGUF file")
        self.refused(["info", HERE], 1, "a folder without config.json")
        for models in (__file__, "absent.gguf"):
            tried = axial("bench", "-m", models, "-p", "1", "-n", "0")
            self.assertEqual(tried.out, b"" if isinstance(tried.out, bytes) else "")

    def test_unsupported_models(self):
        with other_architecture() as other:
            self.refused(["generate", "-m", other, "-p", "x"], 3, 'architecture "other" is not supported')
        self.refused(["tokenize", "--pre-tokenizer", "none-such", "-p", "x"], 3, "none-such is not known")

    def test_run_time_errors(self):
        self.refused(["logits", "--ids", "1,999999999", "-o", "-"], 1, "token 999999999 is not in the vocabulary")
        self.refused(["generate", "-p", "one two three four", "-c", "2"], 1, "context full", "room for 2", "(-c)")

    def test_values_may_look_like_flags(self):
        for text in ("-5 and less", "-ctk", "--help", "[a]", "%20", "a,b", "--"):
            ids = axial("tokenize", "-p", text).text.strip()
            self.assertEqual(axial("detokenize", "--ids", ids).text, text)
        self.assertEqual(axial("tokenize", "--prompt=a=b").out, axial("tokenize", "-p", "a=b").out)

    def test_llama_spellings(self):
        result = axial("generate", "-p", "a", "-n", "1", "-ctk", "q8_0", "-ctv", "f32", "-ub", "4", "-b", "8", "-tb", "1",
                       "-t", "1", "--temp", "0")
        self.assertEqual((result.code, result.err), (0, ""))

    def test_the_manual_page_is_up_to_date(self):
        with open(os.path.join(HERE, "..", "..", "docs", "command.md"), encoding="utf-8") as file:
            self.assertEqual(file.read(), axial("--markdown-help").text,
                             "run: axial --markdown-help > docs/command.md")

    def test_completion(self):
        import subprocess
        script = axial("--completion-bash").text
        ask = script + '\nCOMP_WORDS=(axial chat --te) COMP_CWORD=2; _axial; echo "${COMPREPLY[@]}"' \
                       '\nCOMP_WORDS=(axial chat -ctk f) COMP_CWORD=3; _axial; echo "${COMPREPLY[@]}"' \
                       '\nCOMP_WORDS=(axial to) COMP_CWORD=1; _axial; echo "${COMPREPLY[@]}"\n'
        out = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True).stdout
        self.assertEqual(out, "--temp --temp-last\nf32 f16\ntokenize\n")


if __name__ == "__main__":
    unittest.main()
