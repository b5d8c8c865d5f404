// npm's openai, and ai with @ai-sdk/openai-compatible, against a server of ours: AXIAL_URL is its address, AXIAL_KEY its
// key, AXIAL_NODE_PEERS where node_modules lies. Run by node_clients_test.py.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import test from "node:test";
import { pathToFileURL } from "node:url";

const { AXIAL_URL, AXIAL_KEY, AXIAL_NODE_PEERS, AXIAL_GRAMMAR } = process.env;
const installed = createRequire(`${AXIAL_NODE_PEERS}/`);
const load = async (name) => import(pathToFileURL(installed.resolve(name)));
const { default: OpenAI } = await load("openai");
const { generateText, streamText, jsonSchema, tool } = await load("ai");
const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");

const baseURL = `${AXIAL_URL}/v1`;
const client = new OpenAI({ baseURL, apiKey: AXIAL_KEY, maxRetries: 0 });
const model = createOpenAICompatible({ name: "axial", baseURL, apiKey: AXIAL_KEY, includeUsage: true })("bundled");
const question = "What is the capital of France?";
const messages = [{ role: "user", content: question }];
const grammar = { skip: AXIAL_GRAMMAR === "0" && "built without the Rust component" };

test("openai: chat, plain and streamed", async () => {
  const whole = await client.chat.completions.create({ model: "bundled", messages, temperature: 0 });
  assert.match(whole.choices[0].message.content, /Paris/);
  let text = "";
  for await (const chunk of await client.chat.completions.create({ model: "bundled", messages, temperature: 0, stream: true }))
    text += chunk.choices[0]?.delta?.content ?? "";
  assert.equal(text, whole.choices[0].message.content);
});

test("openai: responses", async () => {
  const reply = await client.responses.create({ model: "bundled", input: question, temperature: 0 });
  assert.match(reply.output_text, /Paris/);
  const stream = client.responses.stream({ model: "bundled", input: question, temperature: 0 });
  assert.equal((await stream.finalResponse()).output_text, reply.output_text);
});

test("openai: tools", grammar, async () => {
  const parameters = { type: "object", properties: { n: { type: "integer", minimum: 1, maximum: 6 } }, required: ["n"],
                       additionalProperties: false };
  const reply = await client.chat.completions.create({
    model: "bundled", messages, tools: [{ type: "function", function: { name: "dice", parameters } }],
    tool_choice: "required", max_tokens: 200,
  });
  const { n } = JSON.parse(reply.choices[0].message.tool_calls[0].function.arguments);
  assert.ok(n >= 1 && n <= 6);
});

test("openai: errors", async () => {
  await assert.rejects(client.chat.completions.create({ model: "bundled", messages: [] }), OpenAI.BadRequestError);
  await assert.rejects(new OpenAI({ baseURL, apiKey: "wrong", maxRetries: 0 }).models.list(), OpenAI.AuthenticationError);
});

test("ai: text, plain and streamed", async () => {
  const whole = await generateText({ model, prompt: question, temperature: 0 });
  assert.match(whole.text, /Paris/);
  assert.equal(whole.finishReason, "stop");
  assert.ok(whole.usage.outputTokens > 0);
  const stream = streamText({ model, prompt: question, temperature: 0 });
  let text = "";
  for await (const part of stream.textStream) text += part;
  assert.equal(text, whole.text);
});

test("ai: tools", grammar, async () => {
  const inputSchema = jsonSchema({ type: "object", properties: { side: { enum: ["left", "right"] } }, required: ["side"],
                                   additionalProperties: false });
  const reply = await generateText({ model, prompt: "Turn", tools: { turn: tool({ inputSchema }) }, toolChoice: "required" });
  assert.equal(reply.toolCalls[0].toolName, "turn");
  assert.ok(["left", "right"].includes(reply.toolCalls[0].input.side));
});
