// How a message looks. Text is only ever set as text, so nothing that a model writes can become markup.

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// Of Markdown, `code`, **strong** and fenced code; everything else is shown as it was written.
function withMarks(text) {
  return text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/).map((part, i) => {
    if (i % 2 === 0) return part;
    if (part[0] === "`") return element("code", { textContent: part.slice(1, -1) });
    return element("strong", { textContent: part.slice(2, -2) });
  });
}

export function bodyOf(text) {
  const parts = [];
  let paragraph = [];
  let code = null;
  const endParagraph = () => {
    const said = paragraph.join("\n").replace(/^\n+|\n+$/g, "");
    if (said !== "") parts.push(element("p", {}, ...withMarks(said)));
    paragraph = [];
  };
  const endCode = () => {
    const copy = element("button", { type: "button", className: "copy", textContent: "Copy" });
    const lines = code.lines.join("\n");
    copy.dataset.copy = lines;
    parts.push(element("figure", {}, element("figcaption", { textContent: code.language || "code" }, copy),
      element("pre", { tabIndex: 0 }, element("code", { textContent: lines }))));
    code = null;
  };
  for (const line of text.split("\n")) {
    const fence = /^\s*(`{3,}|~{3,})\s*(\S*)\s*$/.exec(line);
    if (code && fence && !fence[2] && fence[1].startsWith(code.fence)) endCode();
    else if (code) code.lines.push(line);
    else if (fence) {
      endParagraph();
      code = { fence: fence[1], language: fence[2], lines: [] };
    } else paragraph.push(line);
  }
  if (code) endCode();
  endParagraph();
  return parts;
}

function button(action, text, label = text) {
  const made = element("button", { type: "button", textContent: text });
  made.dataset.action = action;
  if (label !== text) made.setAttribute("aria-label", label);
  return made;
}

// One message with the buttons for what can be done with it. update() shows what has changed since.
export class MessageView {
  constructor(message) {
    this.message = message;
    this.isAnswer = message.role === "assistant";
    this.root = element("article", { className: message.role });
    this.root.setAttribute("aria-label", this.isAnswer ? "Answer" : "You");
    this.thinking = element("details", { hidden: true }, element("summary"), element("div"));
    this.body = element("div", { className: "body" });
    this.note = element("p", { className: "hint note", hidden: true });
    this.actions = element("div", { className: "actions" });
    this.root.append(this.thinking, this.body, this.note, this.actions);
    this.update();
  }

  update() {
    const { message } = this;
    const isWriting = message.state === "writing";
    this.root.setAttribute("aria-busy", isWriting);
    if (message.thinking) {
      const [summary, thoughts] = this.thinking.children;
      this.thinking.hidden = false;
      summary.textContent = isWriting && message.content === "" ? "Thinking…" : "Thoughts";
      thoughts.textContent = message.thinking;
    }
    const isWaiting = isWriting && message.content === "" && !message.thinking;
    this.body.replaceChildren(...(isWaiting ? [element("p", { className: "waiting", textContent: "…" })]
                                            : bodyOf(message.content)));
    const stopped = message.state === "stopped" ? "Stopped. " : message.state === "failed" ? "Broken off. " : "";
    this.note.textContent = stopped + (message.note ?? "");
    this.note.hidden = this.note.textContent === "";
    this.#showActions(isWriting);
  }

  #showActions(isWriting) {
    const kind = isWriting ? "none" : "all";
    if (this.actions.dataset.kind === kind) return;
    this.actions.dataset.kind = kind;
    this.actions.replaceChildren(...(isWriting ? []
      : this.isAnswer ? [button("copy", "Copy"), button("regenerate", "Regenerate"),
                         button("attention", "Attention", "Where this answer looks")]
                      : [button("edit", "Edit"), button("copy", "Copy")]));
  }

  // Shows a box with the message's text instead of it; resolves to the new text, or null if it was left.
  edit() {
    const open = this.root.querySelector(".editor textarea");
    if (open) {
      open.focus();
      return Promise.resolve(null);
    }
    return new Promise((resolve) => {
      const box = element("textarea", { value: this.message.content, rows: 3 });
      box.setAttribute("aria-label", "Edit the message");
      const form = element("form", { className: "editor" }, box, element("div", { className: "buttons" },
        button("leave", "Cancel"), element("button", { className: "main", textContent: "Send again" })));
      const end = (text) => {
        form.replaceWith(this.body);
        this.actions.hidden = false;
        resolve(text);
      };
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        if (box.value.trim() !== "") end(box.value);
      });
      form.querySelector("[data-action=leave]").addEventListener("click", (event) => {
        event.stopPropagation();
        end(null);
      });
      form.addEventListener("keydown", (event) => {
        if (event.key === "Escape") {
          event.stopPropagation();
          end(null);
        } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
          event.preventDefault();
          form.requestSubmit();
        }
      });
      this.body.replaceWith(form);
      this.actions.hidden = true;
      box.focus();
    });
  }
}
