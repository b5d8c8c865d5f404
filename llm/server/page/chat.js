// The chat page: what is clicked and typed, and what follows.

import { complete, headersFor } from "./completion.js";
import { Conversations } from "./conversations.js";
import { MessageView } from "./message_view.js";
import { messagesFor, requestFor, settingsFrom, showSettings } from "./settings.js";

const at = (id) => document.getElementById(id);
const conversations = new Conversations(localStorage);
let current = conversations.all()[0] ?? conversations.create();
let views = new Map(); // of the current conversation's messages
let writing = null; // { abort, conversation, message } while an answer is written

const keyName = "axial.key";
const apiKey = () => sessionStorage.getItem(keyName) ?? "";

function notify(text, tryAgain = false) {
  at("notice").hidden = text === "";
  at("notice").firstElementChild.textContent = text;
  at("try-again").hidden = !tryAgain;
}

function announce(text) {
  at("announcement").textContent = text;
}

function save(conversation) {
  try {
    conversations.save(conversation);
  } catch {
    notify("This browser keeps no more: delete a conversation, or this one is lost when the page closes.");
  }
}

// ---- what is shown

function showList() {
  at("conversations").replaceChildren(...conversations.all().map((conversation) => {
    const item = document.createElement("li");
    const open = document.createElement("button");
    open.textContent = conversation.title;
    open.dataset.open = conversation.id;
    if (conversation.id === current.id) open.setAttribute("aria-current", "page");
    const remove = document.createElement("button");
    remove.textContent = "✕";
    remove.dataset.remove = conversation.id;
    remove.setAttribute("aria-label", `Delete “${conversation.title}”`);
    item.append(open, remove);
    return item;
  }));
  at("title").textContent = current.title || "New conversation";
}

function showMessages() {
  views = new Map(current.messages.map((message) => [message, new MessageView(message)]));
  at("messages").replaceChildren(...[...views.values()].map((view) => view.root));
  at("messages").scrollTop = at("messages").scrollHeight;
}

function showWriting() {
  const isHere = writing?.conversation === current;
  at("send").hidden = isHere;
  at("send").disabled = writing !== null;
  at("stop").hidden = !isHere;
}

function show() {
  showList();
  showMessages();
  showWriting();
}

// Keeps the end in sight while an answer grows, unless the reader has scrolled away from it.
function refresh(message) {
  const view = views.get(message);
  if (!view) return;
  const box = at("messages");
  const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
  view.update();
  if (atEnd) box.scrollTop = box.scrollHeight;
}

// ---- what is done

function open(conversation) {
  current = conversation;
  notify("");
  show();
  closeSidebar();
  at("message").focus();
}

function begin() {
  open(conversations.create(current.settings));
}

function noteOf(usage, seconds) {
  if (!usage?.completion_tokens) return "";
  return `${usage.completion_tokens} tokens, ${(usage.completion_tokens / seconds).toFixed(1)} a second`;
}

// Has the model answer the last message of the current conversation.
async function answer() {
  const conversation = current;
  const message = { role: "assistant", content: "", thinking: "", state: "writing" };
  const request = requestFor(conversation.settings, conversation.messages);
  conversation.messages.push(message);
  const abort = new AbortController();
  writing = { abort, conversation, message };
  notify("");
  save(conversation);
  show();

  let frame = 0;
  let savedAt = performance.now();
  let firstAt = 0;
  try {
    for await (const part of complete(request, { key: apiKey(), signal: abort.signal })) {
      firstAt ||= performance.now();
      message.content += part.content ?? "";
      message.thinking += part.thinking ?? "";
      if (part.finish) {
        message.state = "whole";
        const cut = part.finish === "length" ? "The longest allowed answer was reached. " : "";
        message.note = cut + noteOf(part.usage, (performance.now() - firstAt) / 1000);
      }
      if (performance.now() - savedAt > 1000) {
        savedAt = performance.now();
        save(conversation);
      }
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        refresh(message);
      });
    }
    announce("The answer is complete.");
  } catch (error) {
    message.state = error.name === "AbortError" ? "stopped" : "failed";
    if (message.state === "stopped") announce("Stopped.");
    else fail(conversation, message, error);
  }
  cancelAnimationFrame(frame);
  writing = null;
  if (conversations.find(conversation.id) === conversation) save(conversation);
  refresh(message);
  showList();
  showWriting();
}

function fail(conversation, message, error) {
  if (message.content === "" && message.thinking === "") {
    conversation.messages.splice(conversation.messages.indexOf(message), 1);
    views.get(message)?.root.remove();
  }
  const wait = error.retryAfter ? `; it takes more in ${error.retryAfter} seconds` : "";
  notify(`${error.message}${wait}.`, conversation === current);
  if (error.status === 401) openSettings(at("api-key"));
}

function send(text) {
  if (writing || text.trim() === "") return;
  current.messages.push({ role: "user", content: text });
  at("message").value = "";
  fit(at("message"));
  answer();
}

function stop() {
  writing?.abort.abort();
}

// Forgets the message and all behind it.
function cutBefore(message) {
  current.messages.length = current.messages.indexOf(message);
}

function regenerate(message) {
  if (writing) return;
  cutBefore(message);
  answer();
}

async function edit(message) {
  if (writing) return;
  const conversation = current;
  const text = await views.get(message).edit();
  at("message").focus();
  if (text === null || writing || current !== conversation) return;
  cutBefore(message);
  send(text);
}

// The server draws where each token of the conversation up to this answer looks, and keeps the page for a while.
async function showAttention(message) {
  const upTo = current.messages.slice(0, current.messages.indexOf(message) + 1);
  const tab = window.open("", "_blank");
  try {
    const response = await fetch("attention", {
      method: "POST", headers: headersFor(apiKey()), body: JSON.stringify({ messages: messagesFor(current.settings, upTo) }),
    });
    const reply = await response.json();
    if (!response.ok) throw new Error(reply.error.message);
    if (tab) tab.location = new URL(reply.url, location.href);
    else notify("The browser let no new tab open.");
  } catch (error) {
    tab?.close();
    notify(`No attention view: ${error.message}`);
  }
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
    announce("Copied.");
    setTimeout(() => (button.textContent = "Copy"), 1500);
  } catch {
    notify("The browser does not allow copying here.");
  }
}

// ---- settings, sidebar

function openSettings(focus) {
  const form = at("settings").querySelector("form");
  showSettings(form, current.settings);
  at("api-key").value = apiKey();
  at("settings").returnValue = "cancel";
  if (!at("settings").open) at("settings").showModal();
  focus?.focus();
}

at("leave-settings").addEventListener("click", () => at("settings").close("cancel"));
at("settings").addEventListener("close", () => {
  if (at("settings").returnValue !== "save") return;
  current.settings = settingsFrom(at("settings").querySelector("form"));
  sessionStorage.setItem(keyName, at("api-key").value.trim());
  if (current.messages.length > 0) save(current);
  nameModel();
});

const openSidebar = () => {
  document.body.classList.add("sidebar-open");
  at("new-conversation").focus();
};
const closeSidebar = () => document.body.classList.remove("sidebar-open");

// ---- events

function fit(box) {
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight + box.offsetHeight - box.clientHeight}px`;
}

at("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  send(at("message").value);
});
at("message").addEventListener("input", () => fit(at("message")));
at("message").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    send(at("message").value);
  } else if (event.key === "ArrowUp" && at("message").value === "") {
    const last = current.messages.findLast((message) => message.role === "user");
    if (last) {
      event.preventDefault();
      edit(last);
    }
  }
});
at("stop").addEventListener("click", stop);
at("try-again").addEventListener("click", () => {
  if (writing || current.messages.length === 0) return;
  const last = current.messages.at(-1);
  if (last.role === "assistant") cutBefore(last);
  answer();
});
at("dismiss-notice").addEventListener("click", () => notify(""));
at("new-conversation").addEventListener("click", begin);
at("open-settings").addEventListener("click", () => openSettings());
at("open-sidebar").addEventListener("click", openSidebar);
at("close-sidebar").addEventListener("click", closeSidebar);

at("conversations").addEventListener("click", ({ target }) => {
  const { open: id, remove } = target.dataset;
  if (id) open(conversations.find(id));
  if (remove && confirm(`Delete “${conversations.find(remove).title}”?`)) {
    if (writing?.conversation.id === remove) stop();
    conversations.remove(remove);
    if (current.id === remove) open(conversations.all()[0] ?? conversations.create());
    else showList();
  }
});

at("messages").addEventListener("click", ({ target }) => {
  if (target.dataset.copy !== undefined) return void copy(target.dataset.copy, target);
  const action = target.dataset.action;
  const root = target.closest("article");
  const view = root && [...views.values()].find((one) => one.root === root);
  if (!action || !view) return;
  if (action === "copy") copy(view.message.content, target);
  if (action === "edit") edit(view.message);
  if (action === "regenerate") regenerate(view.message);
  if (action === "attention") showAttention(view.message);
});

document.addEventListener("keydown", (event) => {
  if (at("settings").open) return;
  if (event.key === "Escape") {
    if (document.body.classList.contains("sidebar-open")) closeSidebar();
    else stop();
  }
  if (event.altKey && event.code === "KeyN") {
    event.preventDefault();
    begin();
  }
  if (event.altKey && event.code === "KeyS") {
    event.preventDefault();
    openSettings();
  }
});

// Another tab has written.
addEventListener("storage", ({ key, storageArea }) => {
  if (writing || storageArea !== localStorage || !Conversations.isKey(key)) return;
  conversations.reload();
  current = conversations.find(current.id) ?? (current.messages.length > 0 ? conversations.create() : current);
  show();
});

async function nameModel() {
  try {
    const response = await fetch("v1/models", { headers: headersFor(apiKey()) });
    at("model").textContent = response.ok ? (await response.json()).data[0].id : "";
  } catch {
    notify("The server cannot be reached.");
  }
}

show();
fit(at("message"));
nameModel();
