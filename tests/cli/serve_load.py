"""Load on a server: clients that ask for answers of mixed lengths, of whom a third leave in the middle of one.

Every answer that is waited for must be the one that the same request gets alone, and what a leaver has seen must be the
beginning of it: so no token is lost, doubled or another conversation's. By hand, for long and with any server:

    serve_load.py --url http://127.0.0.1:8080 [--clients 64] [--seconds 180] [--pid PID]
"""
import argparse
import http.client
import json
import random
import statistics
import threading
import time
import urllib.parse

TEXTS = [
    "Hi",
    "What is the capital of France?",
    "Count from one to twenty, and say a word about each number.",
    "Repeat this: " + "the quick brown fox jumps over the lazy dog, " * 6,
    "Which country is Lima the capital of? " + "Think of the continents one by one. " * 20,
]


def requests():
    """Mixed prompts, lengths, temperatures; each with a seed of its own, so that it has one right answer."""
    made = []
    for number, text in enumerate(TEXTS * 4):
        made.append({"messages": [{"role": "user", "content": text}], "max_tokens": (1, 7, 24, 60)[number % 4],
                     "temperature": (0, 0.8, 1.3)[number % 3], "seed": number})
    return made


class Answer:
    """What has come of an answer: text and thoughts, and how it ended."""

    def __init__(self):
        self.content = self.thinking = ""
        self.finish = self.tokens = self.first_at = None

    def add(self, event):
        if "error" in event:
            raise AssertionError(event["error"]["message"])
        if event.get("usage"):
            self.tokens = event["usage"]["completion_tokens"]
        for choice in event["choices"]:
            part = choice.get("delta") or choice.get("message") or {}
            self.content += part.get("content") or ""
            self.thinking += part.get("reasoning_content") or ""
            self.finish = choice["finish_reason"] or self.finish

    def key(self):
        return (self.thinking, self.content, self.finish, self.tokens)

    def begins(self, whole):
        return whole.thinking.startswith(self.thinking) and whole.content.startswith(self.content)


def ask(url, request, stream, leave_after=None, key=None):
    """The answer, or what of it had come when the client left after so many events."""
    address = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=300)
    body = dict(request, stream=True, stream_options={"include_usage": True}) if stream else request
    headers = {"Content-Type": "application/json", **({"Authorization": "Bearer " + key} if key else {})}
    answer = Answer()
    begin = time.monotonic()
    try:
        while True:
            connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
            response = connection.getresponse()
            if response.status != 429:
                break
            response.read()
            time.sleep(min(float(response.headers["Retry-After"]), 1))
        if response.status != 200:
            raise AssertionError(f"status {response.status}: {response.read()!r}")
        if not stream:
            answer.add(json.loads(response.read()))
            return answer
        events = 0
        ended = False
        for line in response:
            if not line.startswith(b"data: "):
                continue
            if ended:
                raise AssertionError("an event behind [DONE]")
            if line.strip() == b"data: [DONE]":
                ended = True
                continue
            answer.first_at = answer.first_at or time.monotonic() - begin
            answer.add(json.loads(line[6:]))
            events += 1
            if leave_after is not None and events >= leave_after:
                return answer
        if not ended:
            raise AssertionError("the stream ended without [DONE]")
        return answer
    finally:
        connection.close()


def resident(pid):
    """Memory of its own that a process holds, in MB: mapped files do not count."""
    with open(f"/proc/{pid}/status") as status:
        lines = dict(line.split(":", 1) for line in status)
    return int(lines["RssAnon"].split()[0]) / 1024


class Load:
    """Runs `clients` clients for `seconds`, and keeps what was seen."""

    def __init__(self, url, clients, seconds, pid=None, key=None, seed=1):
        self.url, self.pid, self.key = url, pid, key
        self.finished = self.left = 0
        self.tokens = 0
        self.faults = []
        self.first = []
        self.memory = []  # (seconds since the beginning, MB)
        self.pool = requests()
        self.alone = [ask(url, request, stream=False, key=key) for request in self.pool]
        self.lock = threading.Lock()
        self.begin = time.monotonic()
        self.end = self.begin + seconds
        threads = [threading.Thread(target=self._client, args=(seed * 1000 + number,)) for number in range(clients)]
        for thread in threads:
            thread.start()
        while pid and any(thread.is_alive() for thread in threads):
            self.memory.append((time.monotonic() - self.begin, resident(pid)))
            time.sleep(1)
        for thread in threads:
            thread.join()
        self.seconds = time.monotonic() - self.begin

    def _client(self, seed):
        dice = random.Random(seed)
        while time.monotonic() < self.end and len(self.faults) < 5:
            number = dice.randrange(len(self.pool))
            leaves = dice.random() < 1 / 3
            stream = leaves or dice.random() < 0.7
            try:
                answer = ask(self.url, self.pool[number], stream, dice.randrange(1, 12) if leaves else None, self.key)
                self._count(number, answer, leaves)
            except (AssertionError, OSError, http.client.HTTPException) as fault:
                with self.lock:
                    self.faults.append(f"request {number}: {fault!r}")

    def _count(self, number, answer, left):
        whole = self.alone[number]
        with self.lock:
            if left and not answer.begins(whole):
                self.faults.append(f"request {number}: {answer.key()} does not begin {whole.key()}")
            elif not left and answer.key() != whole.key():
                self.faults.append(f"request {number}: {answer.key()}, alone {whole.key()}")
            self.left += left
            self.finished += not left
            self.tokens += 0 if left else answer.tokens
            if answer.first_at:
                self.first.append(answer.first_at)

    def memory_growth(self, after=60):
        """How far memory strays from its median once `after` seconds have gone: 0.05 is 5 %."""
        late = [size for at, size in self.memory if at >= after]
        middle = statistics.median(late)
        return max(abs(size - middle) / middle for size in late)

    def report(self):
        return (f"{self.finished} answers as alone, {self.left} left in the middle, {len(self.faults)} faults, "
                f"{self.tokens / self.seconds:.0f} tokens/s, first token after {statistics.median(self.first):.2f} s "
                f"(median)")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--url", required=True)
    arguments.add_argument("--clients", type=int, default=64)
    arguments.add_argument("--seconds", type=float, default=180)
    arguments.add_argument("--pid", type=int, help="watch this process's memory")
    arguments.add_argument("--key")
    given = arguments.parse_args()
    load = Load(given.url, given.clients, given.seconds, given.pid, given.key)
    print(load.report())
    if given.pid:
        print("memory, MB:", " ".join(f"{size:.0f}" for _, size in load.memory[::10]))
        if given.seconds > 60:
            print(f"strays from its median by {100 * load.memory_growth():.1f} % after the first minute")
    for fault in load.faults:
        print(fault)
    raise SystemExit(bool(load.faults))
