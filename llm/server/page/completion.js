// An answer as it is written: POST v1/chat/completions, read as server-sent events (WHATWG HTML, section 9.2).

// What the server says is wrong; `status` is that of HTTP, or 0 if it could not be reached or broke off.
export class CompletionError extends Error {
  constructor(message, status, retryAfter) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter; // seconds, or undefined
  }
}

// The data of each event of a stream of text, however the text is cut.
export async function* eventData(texts) {
  let rest = "";
  let data = [];
  for await (const text of texts) {
    rest += text;
    // A \r at the end may be half of a \r\n.
    for (let end; (end = rest.search(/\r\n|\n|\r(?!$)/)) >= 0; ) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + (rest.startsWith("\r\n", end) ? 2 : 1));
      if (line === "") {
        if (data.length > 0) yield data.join("\n");
        data = [];
      } else if (line.startsWith("data:")) {
        data.push(line.slice(line[5] === " " ? 6 : 5));
      }
    }
  }
}

async function* textsOf(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function failureOf(response) {
  let message = `the server answered with status ${response.status}`;
  try {
    message = (await response.json()).error.message;
  } catch {
    // Not one of its own errors: the status says all.
  }
  const retryAfter = Number(response.headers.get("Retry-After")) || undefined;
  return new CompletionError(message, response.status, retryAfter);
}

// The headers of a request, with the key if there is one.
export function headersFor(key) {
  const headers = { "Content-Type": "application/json" };
  if (key) headers.Authorization = `Bearer ${key}`;
  return headers;
}

// Yields { content } and { thinking } as they come, then { finish, usage }. Throws CompletionError, or AbortError when
// `signal` stops it.
export async function* complete(request, { key, signal }) {
  let response;
  try {
    response = await fetch("v1/chat/completions", {
      method: "POST",
      headers: headersFor(key),
      body: JSON.stringify({ ...request, stream: true, stream_options: { include_usage: true } }),
      signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new CompletionError("the server cannot be reached", 0);
  }
  if (!response.ok) throw await failureOf(response);

  let finish, usage;
  try {
    for await (const data of eventData(textsOf(response.body))) {
      if (data === "[DONE]") {
        yield { finish, usage };
        return;
      }
      const event = JSON.parse(data);
      if (event.error) throw new CompletionError(event.error.message, 500);
      usage = event.usage ?? usage;
      const choice = event.choices?.[0];
      if (choice?.delta?.reasoning_content) yield { thinking: choice.delta.reasoning_content };
      if (choice?.delta?.content) yield { content: choice.delta.content };
      finish = choice?.finish_reason ?? finish;
    }
  } catch (error) {
    if (error.name === "AbortError" || error instanceof CompletionError) throw error;
    throw new CompletionError("the connection broke off", 0);
  }
  throw new CompletionError("the connection broke off before the answer was whole", 0);
}
