"""OpenAI's own client (PyPI openai) and the server. Skipped where the package is not to be had (scripts/fetch_peers.sh)."""
import json
import os
import sys
import unittest

if "AXIAL_PYTHON_PEERS" in os.environ:
    sys.path.append(os.environ["AXIAL_PYTHON_PEERS"])
try:
    import openai
    from pydantic import BaseModel
except ImportError:
    openai = None

from server_process import HI, Server

TIME = {"type": "object", "properties": {"city": {"enum": ["Paris", "Rome"]}}, "required": ["city"],
        "additionalProperties": False}


@unittest.skipIf(openai is None, "no package openai")
class OpenAiClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--api-key", "secret")
        cls.client = openai.OpenAI(base_url=f"http://localhost:{cls.server.port}/v1", api_key="secret", max_retries=0)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.server.stop()

    def chat(self, **parameters):
        return self.client.chat.completions.create(model="any", messages=HI, **parameters)

    def with_grammars(self, call):
        try:
            return call()
        except openai.APIStatusError as error:
            if error.status_code == 501:
                self.skipTest("built without grammars")
            raise

    def test_chat(self):
        reply = self.chat(seed=1, max_completion_tokens=60, logprobs=True, top_logprobs=2)
        choice, = reply.choices
        self.assertEqual((choice.message.role, choice.finish_reason), ("assistant", "stop"))
        self.assertEqual("".join(one.token for one in choice.logprobs.content), choice.message.content)
        self.assertTrue(choice.message.reasoning_content)
        self.assertEqual(reply.usage.total_tokens, reply.usage.prompt_tokens + reply.usage.completion_tokens)
        self.assertGreater(reply.usage.completion_tokens_details.reasoning_tokens, 0)

    def test_stream(self):
        whole = self.chat(seed=1).choices[0].message.content
        text, usage = "", None
        for chunk in self.chat(seed=1, stream=True, stream_options={"include_usage": True}):
            for choice in chunk.choices:
                text += choice.delta.content or ""
            usage = chunk.usage or usage
        self.assertEqual(text, whole)
        self.assertGreater(usage.completion_tokens, 0)
        with self.client.chat.completions.stream(model="any", messages=HI, seed=1) as stream:
            for _ in stream:
                pass
            self.assertEqual(stream.get_final_completion().choices[0].message.content, whole)

    def test_tools(self):
        tools = [{"type": "function", "function": {"name": "time", "parameters": TIME, "strict": True}}]
        reply = self.with_grammars(lambda: self.chat(tools=tools, tool_choice="required", seed=4, max_tokens=300,
                                                     parallel_tool_calls=False, reasoning_effort="none"))
        call, = reply.choices[0].message.tool_calls
        self.assertEqual((call.type, call.function.name), ("function", "time"))
        self.assertIn(json.loads(call.function.arguments)["city"], ("Paris", "Rome"))
        history = HI + [reply.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "noon"}]
        self.client.chat.completions.create(model="any", messages=history, tools=tools, max_tokens=5)

    def test_json_schema(self):
        class Answer(BaseModel):
            yes: bool
        reply = self.with_grammars(lambda: self.client.chat.completions.parse(
            model="any", messages=HI, response_format=Answer, seed=1, max_tokens=200))
        self.assertIsInstance(reply.choices[0].message.parsed.yes, bool)

    def test_completions_and_models(self):
        reply = self.client.completions.create(model="any", prompt="The capital", max_tokens=4, logprobs=1)
        self.assertEqual("".join(reply.choices[0].logprobs.tokens), reply.choices[0].text)
        self.assertEqual([model.id for model in self.client.models.list()], ["axial-tiny-qwen3"])
        self.assertEqual(self.client.models.retrieve("axial-tiny-qwen3").object, "model")

    def test_responses(self):
        reply = self.client.responses.create(model="any", input="Hi", max_output_tokens=60)
        self.assertEqual(reply.status, "completed")
        self.assertTrue(reply.output_text)
        self.assertEqual([item.type for item in reply.output], ["reasoning", "message"])
        again = self.client.responses.create(model="any", input=[*HI, *reply.output, {"role": "user", "content": "Bye"}],
                                             instructions="Be brief.", max_output_tokens=3)
        self.assertEqual((again.status, again.incomplete_details.reason), ("incomplete", "max_output_tokens"))

    def test_responses_stream(self):
        with self.client.responses.stream(model="any", input="Hi") as stream:
            events = list(stream)
            final = stream.get_final_response()
        deltas = "".join(event.delta for event in events if event.type == "response.output_text.delta")
        self.assertEqual(deltas, final.output_text)
        self.assertEqual([event.sequence_number for event in events], list(range(len(events))))
        self.assertEqual((events[0].type, events[-1].type), ("response.created", "response.completed"))

    def test_responses_tools_and_schema(self):
        tools = [{"type": "function", "name": "time", "parameters": TIME, "strict": True}]
        reply = self.with_grammars(lambda: self.client.responses.create(
            model="any", input="Hi", tools=tools, tool_choice={"type": "function", "name": "time"},
            parallel_tool_calls=False, reasoning={"effort": "none"}, max_output_tokens=300))
        call, = reply.output
        self.assertEqual((call.type, call.name), ("function_call", "time"))
        again = self.client.responses.create(model="any", tools=tools, max_output_tokens=3, input=[
            {"role": "user", "content": "Hi"}, call,
            {"type": "function_call_output", "call_id": call.call_id, "output": "noon"}])
        self.assertEqual(again.object, "response")

        class Answer(BaseModel):
            yes: bool
        parsed = self.client.responses.parse(model="any", input="Hi", text_format=Answer, max_output_tokens=200)
        self.assertIsInstance(parsed.output_parsed.yes, bool)

    def test_errors(self):
        with self.assertRaises(openai.BadRequestError) as caught:
            self.chat(temperature=3)
        self.assertEqual(caught.exception.param, "temperature")
        with self.assertRaises(openai.NotFoundError):
            self.client.models.retrieve("gpt-4o")
        with self.assertRaises(openai.AuthenticationError):
            self.client.with_options(api_key="wrong").models.list()
        with self.assertRaises(openai.APIStatusError) as caught:
            self.client.embeddings.create(model="any", input="a")
        self.assertEqual(caught.exception.status_code, 501)


if __name__ == "__main__":
    unittest.main()
