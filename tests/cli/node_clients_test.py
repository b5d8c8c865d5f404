"""npm's openai and ai against the server: node_clients.mjs has the tests."""
import os
import shutil
import subprocess
import unittest

from command import HERE, axial
from server_process import Server


class NodeClients(unittest.TestCase):
    def test_them(self):
        peers = os.environ.get("AXIAL_NODE_PEERS", "")
        if not shutil.which("node") or not os.path.isdir(os.path.join(peers, "node_modules", "ai")):
            self.skipTest("node, or a client for it, is not installed")
        grammar = axial("generate", "-p", "x", "-n", "1", "--regex", "a").code == 0
        with Server("--api-key", "secret") as server:
            run = subprocess.run(["node", "--test", os.path.join(HERE, "node_clients.mjs")], capture_output=True,
                                 text=True, timeout=120,
                                 env={**os.environ, "AXIAL_URL": f"http://127.0.0.1:{server.port}", "AXIAL_KEY": "secret",
                                      "AXIAL_GRAMMAR": str(int(grammar))})
            self.assertEqual(run.returncode, 0, run.stdout[-6000:] + run.stderr[-2000:])
            self.assertRegex(run.stdout, r"# pass [1-9]")


if __name__ == "__main__":
    unittest.main()
