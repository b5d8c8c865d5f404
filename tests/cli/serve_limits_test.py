"""The server and clients that are wrong, slow, many or hostile. Rows of oracle/reports.jsonl are named in the tests."""
import concurrent.futures
import http.client
import json
import os
import signal
import socket
import subprocess
import time
import unittest

from command import AXIAL
from server_process import CHAT, HI, Server, ServerTest, report


def within(seconds, condition):
    """Whether a condition becomes true in time."""
    end = time.monotonic() + seconds
    while not (met := condition()) and time.monotonic() < end:
        time.sleep(0.05)
    return met


class BadRequestsTest(ServerTest):
    def test_SRV_02_malformed_requests(self):
        row = report("SRV-02")
        for request, expected in zip(row["input"]["requests"], row["expected"]["status"]):
            body = request.get("raw_body", json.dumps(request["body"]) if "body" in request else None)
            if body is not None and "python expression" in body:
                body = "[" * 100000
            answer, data = self.server.request(request["method"], request["path"], body)
            self.assertIn(str(answer.status), str(expected), (request, data))
            if answer.status != 200:
                self.assertEqual(set(json.loads(data)["error"]), {"message", "type", "param", "code"})
            self.assertEqual(self.server.post(CHAT, {"messages": HI, "max_tokens": 1})[0], 200)

    def test_SRV_09_other_encodings(self):
        row = report("SRV-09")
        for body, expected in zip(row["input"]["bodies"], row["expected"]["status"]):
            answer, data = self.server.request("POST", CHAT, bytes.fromhex(body))
            self.assertIn(str(answer.status), str(expected), data)
            json.loads(data.decode())
        prompt = self.server.post("/apply-template", {"messages": [{"role": "user", "content": "a\0b"}]})[1]["prompt"]
        self.assertIn("a\0b", prompt)
        for seed in range(5):  # bytes that are no text come out
            self.server.chat(temperature=2, top_k=0, top_p=1, seed=seed, max_tokens=60, ignore_eos=True)

    def test_SRV_12_empty_stops_and_prompts(self):
        row = report("SRV-12")
        for request, expected in zip(row["input"]["requests"], row["expected"]["status"]):
            path = CHAT if "messages" in request else "/v1/completions"
            status, body = self.server.post(path, request)
            self.assertTrue(str(status) in str(expected) or (status == 200 and "without stop" in str(expected)),
                            (request, expected, body))
            if "max_completion_tokens" in request:
                self.assertEqual(body["usage"]["completion_tokens"], 2)

    def test_SRV_11_no_path_leads_to_a_file(self):
        for path in report("SRV-11")["input"]["paths"]:
            answer = self.server.raw(b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % path.encode())
            self.assertIn(answer.split(b" ")[1], (b"400", b"404"), path)

    def test_SRV_08_sizes(self):
        before = self.server.memory()
        head = b"POST %s HTTP/1.1\r\nHost: localhost\r\n" % CHAT.encode()
        for length, expected in ((b"99999999999", b"413"), (b"-1", b"400"), (b"abc", b"400")):
            answer = self.server.raw(head + b"Content-Length: " + length + b"\r\n\r\n")
            self.assertEqual(answer.split(b" ")[1], expected, answer)
        answer = self.server.raw(head + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}")
        self.assertEqual(answer.split(b" ")[1], b"400", answer)
        for size in (1 << 20, 100 << 10):
            status, body = self.server.post(CHAT, {"messages": [{"role": "user", "content": "word " * (size // 5)}]})
            self.assertEqual((status, body["error"]["code"]), (400, "context_length_exceeded"))
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=20) as s:
            s.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n")
            try:
                for _ in range(40):  # up to 40 MB, of which 16 are allowed
                    s.sendall(b"100000\r\n" + b" " * 0x100000 + b"\r\n")
                answer = s.recv(1000)
            except (BrokenPipeError, ConnectionResetError):
                answer = b"HTTP/1.1 413"
            self.assertTrue(answer.startswith(b"HTTP/1.1 413") or not answer, answer)
        answer = self.server.raw(head + b"X: " + b"y" * 100000 + b"\r\n\r\n")
        self.assertTrue(answer.startswith(b"HTTP/1.1 431") or not answer, answer)
        self.assertLess(self.server.memory() - before, 128)

    def test_hosts(self):
        for host, expected in (("evil.example", 403), ("localhost:1234", 200), ("127.0.0.1", 200)):
            answer, _ = self.server.request("GET", "/health", headers={"Host": host})
            self.assertEqual(answer.status, expected, host)
        answer = self.server.raw(b"GET /health HTTP/1.1\r\n\r\n")
        self.assertEqual(answer.split(b" ")[1], b"400")

    def test_garbage(self):
        for data in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"\0" * 100, b"GET\r\n\r\n", b"hello\r\n\r\n",
                     b"GET / HTTP/9.9\r\n\r\n", b"POST /v1/models HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n"):
            answer = self.server.raw(data, 5)
            self.assertTrue(not answer or answer.startswith(b"HTTP/1.1 4"), (data, answer))
        self.assertEqual(self.server.request("GET", "/health")[0].status, 200)


class LoadTest(unittest.TestCase):
    def test_SRV_07_many_at_once(self):
        questions = [f"Repeat the number {n} and nothing else" for n in range(1000, 1016)]
        body = lambda q: {"messages": [{"role": "user", "content": q}], "temperature": 0, "max_tokens": 40}
        text = lambda reply: reply["choices"][0]["message"]
        with Server("-np", "2", "--cache-ram", "0") as serial:
            alone = [text(serial.post(CHAT, body(q))[1]) for q in questions]
        with Server("-np", "2") as server, concurrent.futures.ThreadPoolExecutor(17) as pool:
            def ask(i):
                if i % 3 == 0:
                    connection = server.connect()
                    connection.request("POST", CHAT, json.dumps({**body(questions[i]), "stream": True}))
                    connection.getresponse().read(10)
                    connection.close()
                    return None
                return text(server.post(CHAT, body(questions[i]))[1])
            answers = [pool.submit(ask, i) for i in range(16)]
            started = time.monotonic()
            self.assertEqual(server.request("GET", "/health")[0].status, 200)
            self.assertLess(time.monotonic() - started, 2)
            for i, answer in enumerate(answers):
                if i % 3:
                    self.assertEqual(answer.result(60), alone[i])
                else:
                    answer.result(60)
            self.assertTrue(server.idle_within(5))
            started = time.monotonic()
            self.assertEqual(server.stop(), 0)
            self.assertLess(time.monotonic() - started, 5)

    def test_SRV_01_who_leaves_is_not_served(self):
        with Server("-np", "1") as server:
            def leave(body, after):
                connection = server.connect()
                connection.request("POST", CHAT, json.dumps(body))
                time.sleep(after)
                connection.close()
            endless = {"messages": HI, "max_tokens": 100000, "ignore_eos": True}
            for body in ({**endless, "stream": True}, endless):
                leave(body, 0.05)
                self.assertTrue(server.idle_within(2))
            time.sleep(1.5)
            descriptors = len(os.listdir(f"/proc/{server.process.pid}/fd"))
            for i in range(100):
                leave({**endless, "stream": i % 2 == 0}, 0.001 * (i % 5))
            self.assertTrue(server.idle_within(5))
            self.assertEqual(server.post(CHAT, {"messages": HI, "max_tokens": 3})[0], 200)
            self.assertTrue(within(10, lambda: len(os.listdir(f"/proc/{server.process.pid}/fd")) <= descriptors))

    def test_a_full_queue(self):
        with Server("-np", "1", "--queue", "0") as server:
            answer, data = server.request("POST", CHAT, {"messages": HI})
            self.assertEqual(answer.status, 429, data)
            self.assertEqual(answer.headers["Retry-After"], "1")

    def test_too_many_connections(self):
        with Server("--max-connections", "3") as server:
            open_ = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(3)]
            time.sleep(0.2)
            self.assertTrue(server.raw(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").startswith(b"HTTP/1.1 503"))
            for s in open_:
                s.close()
            self.assertTrue(within(10, lambda: server.request("GET", "/health")[0].status == 200))

    def test_slow_writers_are_cut_off(self):
        with Server("--timeout", "1") as server:
            with socket.create_connection(("127.0.0.1", server.port), timeout=10) as s:
                s.sendall(b"GET /health HTTP/1.1\r\nHo")
                self.assertEqual(s.recv(100), b"")

    def test_a_prompt_that_was_seen_is_not_read_again(self):
        with Server() as server:
            system = {"role": "system", "content": "You answer in one word. " * 60}
            first = server.chat(messages=[system, *HI], max_tokens=2)
            second = server.chat(messages=[system, {"role": "user", "content": "Bye"}], max_tokens=2)
            self.assertEqual(first["usage"]["prompt_tokens_details"]["cached_tokens"], 0)
            self.assertGreater(second["usage"]["prompt_tokens_details"]["cached_tokens"], 300)
            self.assertGreater(server.metric("axial_prompt_tokens_cached_total"), 300)
            self.assertGreater(server.metric("axial_time_to_first_token_seconds_count"), 1)


class StopTest(unittest.TestCase):
    ENDLESS = {"messages": HI, "max_tokens": 100000, "ignore_eos": True, "stream": True, "n": 64}

    def slow(self, *arguments):
        """A server that is told to stop while it streams to a client that reads slowly."""
        server = Server("-np", "2", *arguments)
        connection = server.connect()
        connection.request("POST", CHAT, json.dumps({**self.ENDLESS, "logprobs": True, "top_logprobs": 20,
                                                     "enable_thinking": False}))
        answer = connection.getresponse()
        answer.read(10)
        return server, answer

    def test_streams_are_closed_properly(self):
        server, answer = self.slow("--stop-time", "1")
        server.process.send_signal(signal.SIGTERM)
        text = answer.read().decode()  # fails if the last chunk is missing
        self.assertTrue(text.endswith("data: [DONE]\n\n"), text[-200:])
        self.assertEqual(server.process.wait(10), 0)
        server.stop()

    def test_nothing_new_is_accepted(self):
        server, answer = self.slow("--stop-time", "20")
        server.process.send_signal(signal.SIGTERM)
        def refuses():
            try:
                server.request("GET", "/health")
            except (ConnectionRefusedError, ConnectionResetError, http.client.RemoteDisconnected):
                return True
            return False
        self.assertTrue(within(10, refuses))
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(server.process.wait(5), 130)
        server.stop()


class AccessTest(unittest.TestCase):
    def test_SRV_05_keys_and_browsers(self):
        row = report("SRV-05")
        page = "http://localhost:5173"
        with Server("--api-key", "k1", "--cors-origin", page) as server:
            for number, (request, status) in enumerate(zip(row["input"]["requests"], row["expected"]["status"])):
                answer, data = server.request(request["method"], request["path"], headers=request.get("headers"))
                self.assertEqual(answer.status, status, (request, data))
                allowed = answer.headers.get("Access-Control-Allow-Origin")
                self.assertEqual(allowed, page if number < 3 else None, request)
                self.assertIsNone(answer.headers.get("Access-Control-Allow-Credentials"))
                if number == 0:
                    self.assertIn("authorization", answer.headers["Access-Control-Allow-Headers"])
                    self.assertIn("content-type", answer.headers["Access-Control-Allow-Headers"])
                    self.assertIn("POST", answer.headers["Access-Control-Allow-Methods"])
            answer, data = server.request("POST", CHAT, {"messages": HI, "max_tokens": 2, "stream": True},
                                          {"Authorization": "Bearer k1", "Origin": page})
            self.assertEqual(answer.headers["Access-Control-Allow-Origin"], page)

    def test_a_key_in_the_environment(self):
        with Server(environment={"AXIAL_API_KEY": "secret"}) as server:
            self.assertEqual(server.request("GET", "/v1/models")[0].status, 401)
            self.assertEqual(server.request("GET", "/v1/models", headers={"Authorization": "Bearer secret"})[0].status,
                             200)

    def test_prompts_are_logged_only_if_asked(self):
        for arguments, logged in (((), False), (("-v",), False), (("--log-prompts",), True)):
            with Server(*arguments) as server:
                server.chat(messages=[{"role": "user", "content": "a secret"}], max_tokens=2)
                server.stop()
                self.assertEqual("a secret" in "".join(server.lines), logged, arguments)

    def test_a_port_that_is_taken(self):
        with Server() as server:
            run = subprocess.run([AXIAL, "serve", "--port", str(server.port)], capture_output=True, timeout=20)
            self.assertEqual(run.returncode, 1)
            self.assertIn(b"cannot listen", run.stderr)
            self.assertIn(b"choose another", run.stderr)


if __name__ == "__main__":
    unittest.main()
