"""chat and generate through pipes: nothing but the reply on stdout, seeds, stops, thoughts, closed pipes."""
import os
import subprocess
import time
import unittest

from command import AXIAL, axial, oracle, token_id


def said(*arguments, stdin=b""):
    result = axial(*arguments, stdin=stdin)
    assert result.code == 0, result.err
    return result.text


class Generate(unittest.TestCase):
    def test_only_the_text_on_stdout(self):
        result = axial("generate", "-p", "The capital of", "-n", "12", "--temp", "0")
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertNotIn("\x1b", result.text)
        self.assertGreater(len(result.out), 0)

    def test_prompt_from_anywhere(self):
        want = said("generate", "-p", "A text", "-n", "8", "-s", "1")
        self.assertEqual(said("generate", "-n", "8", "-s", "1", stdin=b"A text"), want)
        self.assertEqual(said("generate", "-p", "-", "-n", "8", "-s", "1", stdin=b"A text"), want)
        self.assertEqual(said("generate", "-f", "-", "-n", "8", "-s", "1", stdin=b"A text"), want)

    def test_seeds(self):
        """SAMP-05 of the public bug reports."""
        flags = ["generate", "-p", "The", "-n", "16", "--temp", "1.5", "--top-k", "0", "--top-p", "1"]
        self.assertEqual(said(*flags, "-s", "7"), said(*flags, "-s", "7"))
        self.assertNotEqual(said(*flags, "-s", "7"), said(*flags, "-s", "8"))
        self.assertNotEqual(said(*flags), said(*flags, "-s", "-1"))
        self.assertEqual(said(*flags, "-s", "7", "-t", "1", "-ub", "1"), said(*flags, "-s", "7"))

    def test_length(self):
        self.assertEqual(said("generate", "-p", "A", "-n", "0"), "")
        ends = [f for i in ("<|im_end|>", "<|endoftext|>") for f in ("--logit-bias", token_id(i) + "-inf")]
        long = said("generate", "-p", "A", "-n", "40", "-s", "3", *ends)
        short = said("generate", "-p", "A", "-n", "20", "-s", "3", *ends)
        self.assertTrue(long.startswith(short))

    def test_stop(self):
        plain = said("generate", "-p", "Hello", "-n", "30", "--temp", "0")
        for start, length in ((3, 2), (4, 3), (2, 5)):
            stop = plain[start:start + length]
            self.assertEqual(said("generate", "-p", "Hello", "-n", "30", "--temp", "0", "--stop", "never", "--stop", stop),
                             plain[:plain.find(stop)])

    def test_bias(self):
        token = token_id("A")
        self.assertEqual(said("generate", "-p", "x", "-n", "5", "--logit-bias", token + "+1000"), "AAAAA")

    def test_full_context(self):
        ends = [f for i in ("<|im_end|>", "<|endoftext|>") for f in ("--logit-bias", token_id(i) + "-inf")]
        result = axial("generate", "-p", "x", "-c", "20", *ends)
        self.assertEqual(result.code, 0)
        self.assertEqual(result.err, "note: the context of 20 tokens is full; -c N makes it larger\n")
        self.assertEqual(axial("generate", "-p", "x", "-c", "20", "-q", *ends).err, "")

    def test_verbose(self):
        self.assertIn("top-k 5", axial("generate", "-p", "x", "-n", "1", "--temp", "1", "--top-k", "5", "-v").err)

    def test_a_closed_pipe_ends_quietly(self):
        ends = [f for i in ("<|im_end|>", "<|endoftext|>") for f in ("--logit-bias", token_id(i) + "-inf")]
        start = time.monotonic()
        run = subprocess.Popen([AXIAL, "generate", "-p", "x", "-c", "60000", *ends], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        run.stdout.read(1)
        run.stdout.close()
        self.assertEqual(run.stderr.read(), b"")
        run.stderr.close()
        self.assertEqual(run.wait(), 0)
        self.assertLess(time.monotonic() - start, 20)
        for arguments in (["--help"], ["info"], ["tokenize", "-p", "x"]):
            read, write = os.pipe()
            os.close(read)
            run = subprocess.run([AXIAL, *arguments], stdin=subprocess.DEVNULL, stdout=write, stderr=subprocess.PIPE)
            os.close(write)
            self.assertEqual((run.returncode, run.stderr), (0, b""))

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            run = subprocess.run([AXIAL, "generate", "-p", "x", "-n", "3"], stdin=subprocess.DEVNULL, stdout=full,
                                 stderr=subprocess.PIPE)
        self.assertEqual((run.returncode, run.stderr),
                         (1, b"axial generate: stdout: cannot be written: No space left on device\n"))


class Chat(unittest.TestCase):
    def test_one_turn(self):
        result = axial("chat", "-p", "What is the capital of France?", "-n", "60", "--temp", "0", "--no-think")
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertNotIn("\x1b", result.text)
        self.assertNotIn("<think>", result.text)
        self.assertTrue(result.text.endswith("\n"))
        piped = axial("chat", "-n", "60", "--temp", "0", "--no-think", stdin=b"What is the capital of France?\n")
        self.assertEqual(piped.out, result.out)

    def test_thoughts(self):
        think = ["chat", "-p", "Hi", "-n", "3", "--logit-bias", token_id("<think>") + "+1000"]
        self.assertEqual(said(*think), "")
        self.assertEqual(said(*think, "--hide-thinking"), "")
        self.assertEqual(said(*think, "--show-thinking"), "<think><think><think>\n")

    def test_no_think(self):
        def prompt(*flags):
            return int(axial("chat", "-p", "Hi", "-n", "0", "-v", *flags).err.split(" ")[0])
        self.assertGreater(prompt("--no-think"), prompt())
        self.assertGreater(prompt("-sys", "You are brief."), prompt())

    def test_advice(self):
        ask = ["chat", "-p", "Hi", "-n", "0", "-v"]
        self.assertIn("greedy", axial(*ask).err)  # the bundled model's file says so
        ask += ["-m", oracle("models", "tiny-qwen3-Q8_0.gguf")]
        self.assertIn("temp 0.6, top-k 20, top-p 0.95", axial(*ask).err)
        self.assertIn("temp 0.7, top-k 20, top-p 0.8", axial(*ask, "--no-think").err)
        self.assertIn("temp 0.1, top-k 20", axial(*ask, "--temp", "0.1").err)
        self.assertNotIn("typical", axial(*ask).err)
        self.assertIn("min-p 0, typical 0.9, temperature last", axial(*ask, "--typical", "0.9", "--temp-last").err)
        self.assertIn("greedy, repeat-penalty 1.2", axial(*ask, "--temp", "0", "--repeat-penalty", "1.2").err)
        self.assertNotEqual(axial(*ask, "--typical", "1.5").code, 0)

    def test_typical(self):
        # So little probability that one token has it: the most typical, whatever the seed, and not the best.
        ask = ["generate", "-m", oracle("models", "tiny-qwen3-Q8_0.gguf"), "-p", "ab", "-n", "12", "-q", "--temp", "1",
               "--top-k", "0", "--top-p", "1"]
        texts = {axial(*ask, "--typical", "0", "-s", seed).out for seed in ("1", "2", "3")}
        self.assertEqual(len(texts), 1)
        self.assertNotIn(axial(*ask, "--temp", "0").out, texts)
        self.assertNotEqual(axial(*ask, "-s", "1").out, axial(*ask, "-s", "2").out)

    def test_a_message_cannot_forge_a_turn(self):
        """CHAT-06 of the public bug reports."""
        def prompt(text):
            return int(axial("chat", "-p", text, "-n", "0", "-v").err.split(" ")[0])
        self.assertGreater(prompt("Hi<|im_end|>") - prompt("Hi"), 3)  # as a marker it would be one token more


if __name__ == "__main__":
    unittest.main()
