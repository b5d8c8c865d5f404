"""litellm, langchain-openai, prometheus-client and schemathesis of PyPI against the server: clients that others wrote."""
import os
import subprocess
import sys
import unittest
import warnings

from command import axial
from server_process import Server

PEERS = os.environ.get("AXIAL_PYTHON_PEERS", "")
sys.path.append(PEERS)
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # asks nobody for a price list
warnings.simplefilter("ignore")
try:
    import litellm
    import prometheus_client.parser
    from langchain_openai import ChatOpenAI
except ImportError as absent:
    raise unittest.SkipTest(f"a client is not installed: {absent}")

KEY = "secret"
QUESTION = "What is the capital of France?"
HAS_GRAMMAR = axial("generate", "-p", "x", "-n", "1", "--regex", "a").code == 0
COLOUR = {"title": "colour", "type": "object", "additionalProperties": False, "required": ["colour"],
          "properties": {"colour": {"type": "string", "enum": ["red", "green"]}}}
litellm.suppress_debug_info = True


def setUpModule():
    global server, URL
    server = Server("--api-key", KEY, "-c", "512")  # short, since what schemathesis asks for may be long
    URL = f"http://127.0.0.1:{server.port}/v1"


def tearDownModule():
    assert server.stop() == 0


class LiteLlm(unittest.TestCase):
    def ask(self, **arguments):
        return litellm.completion(model="openai/bundled", api_base=URL, api_key=KEY, temperature=0,
                                  messages=[{"role": "user", "content": QUESTION}], **arguments)

    def test_chat(self):
        self.assertIn("Paris", self.ask().choices[0].message.content)

    def test_stream(self):
        text = "".join(chunk.choices[0].delta.content or "" for chunk in self.ask(stream=True))
        self.assertEqual(text, self.ask().choices[0].message.content)

    def test_error(self):
        with self.assertRaises(litellm.AuthenticationError):
            litellm.completion(model="openai/bundled", api_base=URL, api_key="wrong",
                               messages=[{"role": "user", "content": "x"}])


class LangChain(unittest.TestCase):
    def setUp(self):
        self.model = ChatOpenAI(model="bundled", base_url=URL, api_key=KEY, temperature=0, max_retries=0)

    def test_invoke_and_stream(self):
        whole = self.model.invoke(QUESTION).content
        self.assertIn("Paris", whole)
        self.assertEqual("".join(str(part.content) for part in self.model.stream(QUESTION)), whole)

    def test_batch(self):
        texts = [reply.content for reply in self.model.batch([QUESTION] * 4)]
        self.assertEqual(len(set(texts)), 1)

    @unittest.skipUnless(HAS_GRAMMAR, "built without the Rust component")
    def test_structured_output(self):
        given = self.model.with_structured_output(COLOUR, method="json_schema", strict=True).invoke("Grass?")
        self.assertIn(given["colour"], ["red", "green"])

    @unittest.skipUnless(HAS_GRAMMAR, "built without the Rust component")
    def test_tool(self):
        tool = {"type": "function", "function": {"name": "paint", "description": "Paints", "parameters": COLOUR}}
        calls = self.model.bind_tools([tool], tool_choice="paint").invoke("Paint the grass").tool_calls
        self.assertEqual(calls[0]["name"], "paint")
        self.assertIn(calls[0]["args"]["colour"], ["red", "green"])


class Prometheus(unittest.TestCase):
    def test_metrics(self):
        ChatOpenAI(model="bundled", base_url=URL, api_key=KEY).invoke(QUESTION)
        text = server.request("GET", "/metrics", headers={"Authorization": "Bearer " + KEY})[1].decode()
        families = list(prometheus_client.parser.text_string_to_metric_families(text))
        histograms = [family for family in families if family.type == "histogram"]
        self.assertGreaterEqual(len(histograms), 2)
        for family in histograms:
            buckets = [sample.value for sample in family.samples if sample.name.endswith("_bucket")]
            count = next(sample.value for sample in family.samples if sample.name.endswith("_count"))
            self.assertEqual(buckets, sorted(buckets))
            self.assertEqual(buckets[-1], count)


class Schemathesis(unittest.TestCase):
    def test_our_own_description(self):
        """What it makes up from /openapi.json, right and wrong: every answer is one that the description allows.

        One of its checks is left out: that all the description allows is accepted. Rules between parameters
        (stream_options needs stream) and limits of the model (context, vocabulary) do not stand in it.
        """
        try:
            import schemathesis
        except ImportError as absent:
            self.skipTest(str(absent))
        run = subprocess.run(
            [sys.executable, "-m", "schemathesis.cli", "run", URL.removesuffix("/v1") + "/openapi.json", "--seed", "7",
             "--max-examples", "8", "--phases", "examples,coverage,fuzzing", "-H", "Authorization: Bearer " + KEY,
             "--request-timeout", "20", "--no-color", "--exclude-checks", "positive_data_acceptance"], capture_output=True, text=True, timeout=250,
            env={**os.environ, "PYTHONPATH": PEERS})
        self.assertEqual(run.returncode, 0, run.stdout[-6000:] + run.stderr[-2000:])


if __name__ == "__main__":
    unittest.main()
