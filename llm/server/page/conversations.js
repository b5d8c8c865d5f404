// The conversations that this browser keeps: { id, title, settings, messages }, the one used last in front.
// A message is { role, content } and, of an answer, { thinking, state, note }; state: "writing", "whole", "stopped" or
// "failed".

const prefix = "axial.conversation.";

const orderOf = (a, b) => b.used - a.used;

export class Conversations {
  #storage;
  #kept = new Map();

  // `storage` is a Storage (localStorage), or what behaves like one.
  constructor(storage) {
    this.#storage = storage;
    this.reload();
  }

  // Reads everything again: another tab may have written.
  reload() {
    this.#kept.clear();
    for (let i = 0; i < this.#storage.length; ++i) {
      const key = this.#storage.key(i);
      if (!key.startsWith(prefix)) continue;
      const conversation = readConversation(this.#storage.getItem(key));
      if (conversation && prefix + conversation.id === key) this.#kept.set(conversation.id, conversation);
    }
  }

  all() {
    return [...this.#kept.values()].sort(orderOf);
  }

  find(id) {
    return this.#kept.get(id);
  }

  // A conversation that is not kept before something is said in it.
  create(settings = {}) {
    return { id: newId(), title: "", used: 0, settings: { ...settings }, messages: [] };
  }

  // Throws what the storage throws when it is full.
  save(conversation) {
    conversation.used = Date.now();
    if (!conversation.title) conversation.title = titleOf(conversation);
    this.#kept.set(conversation.id, conversation);
    this.#storage.setItem(prefix + conversation.id, JSON.stringify(conversation));
  }

  remove(id) {
    this.#kept.delete(id);
    this.#storage.removeItem(prefix + id);
  }

  static isKey(key) {
    return key === null || key.startsWith(prefix);
  }
}

// randomUUID() is only there for https and localhost.
function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function titleOf({ messages }) {
  const said = messages.find((message) => message.role === "user")?.content ?? "";
  const line = said.trim().split("\n", 1)[0];
  const characters = [...line];
  return characters.length > 60 ? characters.slice(0, 59).join("") + "…" : line || "Conversation";
}

// Null for what is not one of ours. An answer that was being written when the page closed was stopped.
function readConversation(text) {
  try {
    const { id, title, used, settings, messages } = JSON.parse(text);
    const isWhole = (message) => ["user", "assistant"].includes(message.role) && typeof message.content === "string";
    if (typeof id !== "string" || !Array.isArray(messages) || !messages.every(isWhole)) return null;
    for (const message of messages) if (message.state === "writing") message.state = "stopped";
    return { id, title: String(title), used: Number(used) || 0, settings: settings ?? {}, messages };
  } catch {
    return null;
  }
}
