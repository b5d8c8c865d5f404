"""Runs the axial command: through pipes, or in a terminal of its own."""
import contextlib
import os
import pty
import select
import signal
import subprocess
import tempfile
import termios
import time
import unittest

AXIAL = os.environ["AXIAL"]
ORACLE = os.environ.get("AXIAL_ORACLE", "")
HERE = os.path.dirname(os.path.abspath(__file__))


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def text(self):
        return self.out.decode()


def axial(*arguments, stdin=b"", environment=None):
    """Standard input is a pipe with the given bytes; standard output and error are pipes."""
    run = subprocess.run([AXIAL, *arguments], input=stdin, capture_output=True, timeout=120,
                         env={**os.environ, **(environment or {})})
    return Result(run.returncode, run.stdout, run.stderr.decode())


def oracle(*path):
    """A file of the reference data; the test is skipped where it is absent."""
    name = os.path.join(ORACLE, *path)
    if not os.path.exists(name):
        raise unittest.SkipTest("no " + name)
    return name


@contextlib.contextmanager
def other_architecture():
    """A model of an architecture that there is not: the reference llama under another name."""
    with open(oracle("models", "tiny-llama-F32.gguf"), "rb") as file:
        bytes = file.read()
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "other.gguf")
        with open(name, "wb") as file:
            file.write(bytes.replace(b"llama", b"other"))
        yield name


def token_id(text):
    ids = axial("tokenize", "-p", text).text.strip()
    assert "," not in ids, text + " is not one token"
    return ids


class Terminal:
    """The command in a pseudo-terminal that is all three of its streams."""

    def __init__(self, *arguments, **environment):
        self.seen = ""
        self.read = 0
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.environ.update({"TERM": "xterm", **environment})
            os.execv(AXIAL, [AXIAL, *arguments])

    def _pump(self, seconds):
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:
            data = b""
        self.seen += data.decode(errors="replace")
        return bool(data)

    def expect(self, text, seconds=30):
        """Waits for a text, and returns all that came before it since the last one."""
        end = time.monotonic() + seconds
        while (at := self.seen.find(text, self.read)) < 0:
            if time.monotonic() > end or not self._pump(0.1):
                raise AssertionError(f"waited for {text!r}, seen: {self.seen[self.read:]!r}")
        before = self.seen[self.read:at]
        self.read = at + len(text)
        return before

    def send(self, text):
        os.write(self.master, text.encode() if isinstance(text, str) else text)

    def send_line(self, text):
        """Sends a line once the line editor reads: what comes before it has switched the terminal is echoed twice."""
        end = time.monotonic() + 30
        while termios.tcgetattr(self.master)[3] & termios.ICANON:
            if time.monotonic() > end or not self._pump(0.01):
                raise AssertionError(f"the line editor does not start, seen: {self.seen[self.read:]!r}")
        self.send(text + "\n")

    def interrupt(self):
        self.send(b"\x03")

    def wait(self, seconds=30, repeat=""):
        """Waits for the end, and returns the exit code. Presses `repeat` again and again: a key that comes between the
        prompt and the switch to line editing, which no person could manage, gets lost."""
        end = time.monotonic() + seconds
        while self._pump(0.5 if repeat else 0.1):
            if repeat:
                try:
                    self.send(repeat)
                except OSError:  # it has ended meanwhile
                    break
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                break
        _, status = os.waitpid(self.pid, 0)
        os.close(self.master)
        return os.waitstatus_to_exitcode(status)
