"""chat in a terminal: commands, colours, Ctrl-C, Ctrl-D."""
import json
import os
import struct
import tempfile
import unittest
import zlib

from command import Terminal, token_id

PROMPT = "\n> "


def endless():
    """Flags with which a reply is "AAAA..." and does not end by itself."""
    return ["-c", "60000", "--logit-bias", token_id("A") + "+1000"]


class Chat(unittest.TestCase):
    def start(self, *flags, **environment):
        terminal = Terminal("chat", *flags, **environment)
        banner = terminal.expect("> ")
        self.assertIn("/help lists the commands", banner)
        return terminal

    def ask(self, terminal, line):
        terminal.send_line(line)
        terminal.expect(line.splitlines()[-1])
        return terminal.expect(PROMPT)

    def test_a_reply_and_its_speed(self):
        terminal = self.start("-n", "5", "--temp", "0", "--no-think")
        answer = self.ask(terminal, "Hello")
        self.assertRegex(answer, r"\[ Prompt: [\d.]+ t/s \| Generation: [\d.]+ t/s \]")
        self.assertEqual(terminal.wait(repeat="\x04"), 0)

    def test_ways_to_end(self):
        for last in ("/exit", "/bye"):
            terminal = self.start()
            terminal.send_line(last)
            self.assertEqual(terminal.wait(), 0)
        self.assertEqual(self.start().wait(repeat="\x04"), 0)

    def test_ctrl_c_stops_a_reply_and_then_the_chat(self):
        terminal = self.start(*endless())
        terminal.send_line("Hello")
        terminal.expect("AAAA")
        terminal.interrupt()
        terminal.expect("t/s ]")
        terminal.expect("> ")
        self.assertIn("tokens of the context are used", self.ask(terminal, "/tokens"))
        self.assertEqual(terminal.wait(repeat="\x03"), 130)

    def test_a_second_ctrl_c_ends_at_once(self):
        for command in (["chat", "-p", "Hello"], ["generate", "-p", "Hello"]):
            terminal = Terminal(*command, *endless())
            terminal.expect("AAAA")
            terminal.interrupt()
            terminal.interrupt()
            self.assertEqual(terminal.wait(), 130)

    def test_ctrl_c_ends_a_single_turn(self):
        terminal = Terminal("generate", "-p", "Hello", *endless())
        terminal.expect("AAAA")
        terminal.interrupt()
        self.assertEqual(terminal.wait(), 130)

    def test_thoughts_are_dimmed(self):
        think = ["-n", "3", "--logit-bias", token_id("<think>") + "+1000"]
        shown = self.ask(self.start(*think), "Hi")
        self.assertIn("\x1b[2m<think><think>\x1b[22m", shown)
        self.assertNotIn("\x1b[2m", self.ask(self.start(*think, NO_COLOR="1"), "Hi"))
        hidden = self.ask(self.start(*think, "--hide-thinking"), "Hi")
        self.assertNotIn("<think>", hidden)
        self.assertIn("thinking ...", hidden)

    def test_commands(self):
        terminal = self.start("-n", "4", "--temp", "0", "--no-think")
        for name in ("/clear", "/regen", "/system", "/set", "/show", "/save", "/load", "/read", "/tokens", "/exit"):
            self.assertIn(name, self.ask(terminal, "/help"))
        self.assertIn("no message yet", self.ask(terminal, "/regen"))
        self.ask(terminal, "/system Be brief.")
        first = self.ask(terminal, "Hello there")
        shown = self.ask(terminal, "/show")
        self.assertIn("system: Be brief.", shown)
        self.assertIn("user: Hello there", shown)
        self.assertIn("assistant: ", shown)
        again = self.ask(terminal, "/regen")
        self.assertEqual(again.split("\n")[1], first.split("\n")[1])
        with tempfile.TemporaryDirectory() as folder:
            saved = os.path.join(folder, "chat.json")
            self.ask(terminal, "/save " + saved)
            with open(saved, encoding="utf-8") as file:
                roles = [m["role"] for m in json.load(file)["messages"]]
            self.assertEqual(roles, ["system", "user", "assistant"])
            self.ask(terminal, "/clear")
            self.assertNotIn("Hello there", self.ask(terminal, "/show"))
            self.assertIn("0 of", self.ask(terminal, "/tokens"))
            self.ask(terminal, "/load " + saved)
            self.assertIn("user: Hello there", self.ask(terminal, "/show"))
            with open(saved, "w", encoding="utf-8") as file:
                file.write("no chat")
            self.assertIn("is no saved chat", self.ask(terminal, "/load " + saved))
            self.assertIn("user: Hello there", self.ask(terminal, "/show"))
            text = os.path.join(folder, "text")
            with open(text, "w", encoding="utf-8") as file:
                file.write("From a file.\n")
            self.assertIn("13 bytes", self.ask(terminal, "/read " + text))
            self.ask(terminal, "And this")
            self.assertIn("user: From a file.\r\n\r\nAnd this", self.ask(terminal, "/show"))
        self.assertIn("cannot be read", self.ask(terminal, "/read /absent"))
        self.assertIn("did you mean /help?", self.ask(terminal, "/hlep"))

    def test_a_saved_chat_goes_on_as_if_it_had_never_stopped(self):
        settings = ["-n", "6", "--temp", "0", "--no-think"]
        first = self.start(*settings)
        with tempfile.TemporaryDirectory() as folder:
            text = os.path.join(folder, "text")
            with open(text, "w", encoding="utf-8") as file:
                file.write("One thing and another. " * 30)
            self.ask(first, "/read " + text)
            os.remove(text)
            self.ask(first, "Hello there")
            saved = os.path.join(folder, "chat.json")
            self.assertIn("computed tokens are saved in " + saved + ".cache", self.ask(first, "/save " + saved))
            self.assertEqual(sorted(os.listdir(folder)), ["chat.json", "chat.json.cache"])
            used = self.ask(first, "/tokens").split("\n")[1]
            wanted = self.ask(first, "And then?").split("\n")[1]

            second = self.start(*settings)
            self.assertIn("tokens are computed already", self.ask(second, "/load " + saved))
            self.assertEqual(self.ask(second, "/tokens").split("\n")[1], used)
            self.assertEqual(self.ask(second, "And then?").split("\n")[1], wanted)
            # A chat without an answer has nothing computed, and leaves no old cache behind.
            self.ask(second, "/clear")
            self.ask(second, "/save " + saved + "2")
            self.assertFalse(os.path.exists(saved + "2.cache"))

            other = self.start(*settings, "-ctk", "q8_0")
            told = self.ask(other, "/load " + saved)
            self.assertIn("computed again", told)
            self.assertIn("kept as F16 there, and as Q8_0/F16 here", told.replace("\r\n", ""))
            with open(saved + ".cache", "r+b") as file:
                content = file.read()
                self.check_frame(content)
                file.seek(len(content) // 2)
                file.write(bytes([content[len(content) // 2] ^ 1]))
            third = self.start(*settings)
            self.assertIn("is damaged between offset", self.ask(third, "/load " + saved))
            self.assertIn("0 of", self.ask(third, "/tokens"))
            self.assertEqual(self.ask(third, "And then?").split("\n")[1], wanted)
            with open(saved, encoding="utf-8") as file:
                before = file.read()
            self.assertIn("cannot be written", self.ask(third, "/save " + os.path.join(folder, "absent", "x")))
            self.assertIn("no regular file", self.ask(third, "/save " + folder))
            with open(saved, encoding="utf-8") as file:
                self.assertEqual(file.read(), before)

    def check_frame(self, content):
        """The frame of llm/checked_file.h, with zlib's CRC-32."""
        checksum, at = 0, 0
        version, size = struct.unpack_from("<IQ", content, 8)
        self.assertEqual((content[:8], version, size), (b"AXIALKVC", 1, len(content)))
        while at < size:
            end = 20 if at == 0 else min(at + 65532, size - 4)
            checksum = zlib.crc32(struct.pack("<I", checksum) + content[at:end])
            self.assertEqual(content[end:end + 4], struct.pack("<I", checksum))
            at = end + 4
        self.assertGreater(size, 65536)

    def test_settings(self):
        terminal = self.start("-n", "4", "--no-think")
        self.assertIn("temp 0.25", self.ask(terminal, "/set temp 0.25"))
        self.assertIn("top-k 3", self.ask(terminal, "/set top_k 3"))
        self.assertIn("temp 0.25, top-k 3, top-p 0.95", self.ask(terminal, "/set think on"))
        self.assertIn("top-p 0.8", self.ask(terminal, "/set think off"))
        self.assertIn('"hot" is not a number', self.ask(terminal, "/set temp hot"))
        self.assertIn("temp 0.25", self.ask(terminal, "/set"))
        self.assertIn('no setting "ctx-size"', self.ask(terminal, "/set ctx-size 5"))

    def test_speculation_is_turned_on_and_off(self):
        settings = ["-n", "12", "--temp", "0", "--no-think", "--logit-bias", token_id("A") + "+1000"]
        terminal = self.start(*settings)
        self.assertNotIn("Drafts", self.ask(terminal, "Hello"))
        for setting, drafts in (("on", True), ("off", False), ("on", True)):
            self.ask(terminal, "/set spec " + setting)
            answer = self.ask(terminal, "More")
            self.assertEqual(answer.split("\n")[1].strip(), "A" * 12)
            self.assertEqual("tokens accepted ]" in answer, drafts)
        with tempfile.TemporaryDirectory() as folder:  # the text that is loaded is another one
            saved = os.path.join(folder, "chat.json")
            self.ask(terminal, "/save " + saved)
            self.ask(terminal, "/clear")
            self.ask(terminal, "Something else, and a little longer")
            self.ask(terminal, "/load " + saved)
            self.assertEqual(self.ask(terminal, "More").split("\n")[1].strip(), "A" * 12)

    def test_several_lines(self):
        terminal = self.start("-n", "2", "--no-think")
        terminal.send_line('"""one')
        terminal.expect(". ")
        self.ask(terminal, 'two"""')
        self.assertIn("user: one\r\ntwo\r\n", self.ask(terminal, "/show"))

    def test_other_alphabets_can_be_typed(self):
        terminal = self.start("-n", "2", "--no-think", LANG="C", LC_ALL="")
        terminal.send_line("h\u00e9 \u4f60")
        terminal.expect("t/s ]")
        terminal.expect("> ")
        self.assertIn("user: h\u00e9 \u4f60\r\n", self.ask(terminal, "/show"))


if __name__ == "__main__":
    unittest.main()
