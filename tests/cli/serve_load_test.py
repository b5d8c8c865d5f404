"""Load on the server, as serve_load.py makes it: here for a few seconds."""
import os
import signal
import threading
import time
import unittest

from serve_load import Load, ask, requests
from server_process import Server


class LoadTest(unittest.TestCase):
    def test_every_answer_is_as_alone(self):
        with Server("-np", "6", "--queue", "16") as server:
            load = Load(f"http://127.0.0.1:{server.port}", 24, float(os.environ.get("AXIAL_LOAD_SECONDS", "6")),
                        server.process.pid)
            self.assertEqual(load.faults, [])
            self.assertGreater(load.finished, 20)
            self.assertGreater(load.left, 5)
            self.assertTrue(server.idle_within(10))
            if load.seconds > 90:
                self.assertLess(load.memory_growth(), 0.05)
            print(load.report())

    def test_end_under_load(self):
        """SIGTERM ends it within its deadline, and each stream that is open is ended as streams are."""
        server = Server("-np", "4", "--stop-time", "2")
        ended = []

        def client(number):
            url = f"http://127.0.0.1:{server.port}"
            try:
                while True:
                    ask(url, dict(requests()[number], max_tokens=2000, ignore_eos=True), stream=True)
            except AssertionError as fault:  # an error event in the stream, or 503 before it began
                ended.append(str(fault))
            except OSError as fault:  # it listens no more
                ended.append(f"refused: {fault}")

        clients = [threading.Thread(target=client, args=(number,)) for number in range(8)]
        for one in clients:
            one.start()
        time.sleep(1)
        begin = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(server.process.wait(20), 0)
        self.assertLess(time.monotonic() - begin, 5)
        for one in clients:
            one.join(20)
        server.stop()
        self.assertEqual(len(ended), 8)
        for text in ended:
            self.assertTrue("shut" in text or "refused" in text or "503" in text, text)


if __name__ == "__main__":
    unittest.main()
