"""axial serve on a free port, and what its tests ask of it."""
import http.client
import json
import os
import re
import socket
import subprocess
import threading
import time
import unittest

from command import AXIAL, oracle

CHAT = "/v1/chat/completions"
HI = [{"role": "user", "content": "Hi"}]


def report(name):
    """A row of oracle/reports.jsonl: a public bug report, restated as input and right answer."""
    with open(oracle("reports.jsonl")) as rows:
        return next(row for row in map(json.loads, rows) if row["id"] == name)


class Server:
    """axial serve on a free port."""

    def __init__(self, *arguments, environment=None):
        self.process = subprocess.Popen([AXIAL, "serve", "--port", "0", *arguments], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env={**os.environ, **(environment or {})})
        self.lines = []
        line = ""
        while " is at http://" not in line:
            line = self.process.stderr.readline().decode()
            if not line:
                raise AssertionError("the server does not start: " + "".join(self.lines))
            self.lines.append(line)
        self.port = int(line.rsplit(":", 1)[1])
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line.decode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        code = self.process.wait(20)
        self.reader.join(10)
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def request(self, method, path, body=None, headers=None):
        connection = self.connect()
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        connection.request(method, path, body, {"Content-Type": "application/json", **(headers or {})})
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer, data

    def post(self, path, body, **headers):
        answer, data = self.request("POST", path, body, headers)
        return answer.status, json.loads(data)

    def chat(self, **parameters):
        status, json_ = self.post(CHAT, {"messages": HI, **parameters})
        assert status == 200, json_
        return json_

    def stream(self, path, body):
        """The events of a stream, parsed; the last one is the text [DONE]."""
        answer, data = self.request("POST", path, {**body, "stream": True})
        assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/event-stream"), data
        events = []
        for event in data.decode().strip().split("\n\n"):
            if not event.startswith(":"):
                events.append(event.removeprefix("data: "))
        return [json.loads(e) for e in events[:-1]] + events[-1:]

    def raw(self, data, seconds=10):
        """Sends bytes, and reads until the server closes or nothing comes any more."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as s:
            s.sendall(data)
            answer = b""
            try:
                while part := s.recv(65536):
                    answer += part
                    if b"\r\n\r\n" in answer and (length := re.search(rb"Content-Length: (\d+)", answer)):
                        if len(answer.split(b"\r\n\r\n", 1)[1]) >= int(length[1]):
                            break
            except (ConnectionResetError, TimeoutError):
                pass
            return answer

    def metric(self, name):
        text = self.request("GET", "/metrics")[1].decode()
        return float(re.search(rf"^{name} (\S+)$", text, re.M)[1])

    def idle_within(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.metric("axial_choices_running") == 0 and self.metric("axial_requests_queued") == 0:
                return True
            time.sleep(0.05)
        return False

    def memory(self):
        """Resident MiB; nothing under a sanitizer, which keeps freed memory."""
        with open(f"/proc/{self.process.pid}/maps") as maps:
            if "libasan" in maps.read():
                return 0
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1]) / 1024


class ServerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        assert cls.server.stop() == 0

    def refused(self, answer, status, param=None):
        code, body = answer
        self.assertEqual(code, status, body)
        self.assertEqual(set(body["error"]), {"message", "type", "param", "code"})
        if param:
            self.assertEqual(body["error"]["param"], param)
