"use strict";

// What is seen now, and what changes it. Drawing: attention_figure.js; numbers: attention_data.js.

const byId = (name) => document.getElementById(name);
const state = {
  layer: 0, // a place in page.layers
  head: 0,
  token: tokenCount - 1, // the one that was chosen
  pointed: null, // the one under the pointer
  cell: null, // [row, column] of the map that is pointed at
  hideFirst: false,
  backwards: false, // who looks at the token
  showEntropy: false,
  theme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
};
const current = () => headMap(state.layer, state.head);
const shownToken = () => (state.pointed === null ? state.token : state.pointed);
const named = (i) => "“" + tokenLabel(i) + "”";

// ---- The text ----

const tokenElements = page.tokens.map((token, i) => {
  const [element, word, number] = ["span", "span", "span"].map((tag) => document.createElement(tag));
  element.className = "token" + (token.special ? " special" : "");
  element.id = "token-" + i;
  element.setAttribute("role", "option");
  element.setAttribute("aria-selected", "false");
  word.className = "word";
  number.className = "number";
  for (const part of typeof token.text === "string" ? [token.text] : token.text) {
    if (typeof part === "string") {
      word.append(visible(part));
      continue;
    }
    const bytes = document.createElement("span");
    bytes.className = "bytes";
    bytes.textContent = partLabel(part);
    word.append(bytes);
  }
  element.append(word, number);
  byId("tokens").append(element);
  if (typeof token.text === "string" && token.text.includes("\n")) {
    const line = document.createElement("span");
    line.className = "break";
    byId("tokens").append(line);
  }
  return { element, word, number };
});

function drawText() {
  const shown = shownToken(), map = current();
  tokenElements.forEach(({ element, word, number }, i) => {
    const seen = state.backwards ? i >= shown : i <= shown;
    const p = state.backwards ? map.p(i, shown, state.hideFirst) : map.p(shown, i, state.hideFirst);
    const colour = shade(seen ? p : 0, state.theme);
    word.style.backgroundColor = seen ? cssColour(colour) : "";
    word.style.color = seen ? inkOn(colour) : "";
    element.classList.toggle("later", !seen);
    element.classList.toggle("shown", i === shown);
    element.setAttribute("aria-selected", String(i === state.token));
    element.setAttribute("aria-label", "token " + i + ", " + tokenLabel(i) + ", " + (seen ? percent(p) : "not seen"));
    number.textContent = p >= 0.01 ? (100 * p).toFixed(0) : "";
  });
  byId("tokens").setAttribute("aria-activedescendant", "token-" + state.token);
}

function drawToken() {
  const shown = shownToken(), map = current(), list = [];
  for (let i = 0; i < tokenCount; ++i) {
    const p = state.backwards ? map.p(i, shown, state.hideFirst) : map.p(shown, i, state.hideFirst);
    if (p > 0) list.push([p, i]);
  }
  list.sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  const entropy = map.entropy(shown, state.hideFirst);
  byId("token-says").textContent = state.backwards
    ? named(shown) + " (token " + shown + ") gets attention from " + (list.length ? "these most:" : "no token.")
    : named(shown) + " (token " + shown + ") looks at " + (list.length ? "these most:" : "nothing else.");
  byId("ranking").tBodies[0].replaceChildren(...list.slice(0, 8).map(([p, i]) => {
    const [row, bar, value] = ["tr", "span", "span"].map((tag) => document.createElement(tag));
    for (const text of [tokenLabel(i), String(i)]) row.insertCell().textContent = text;
    bar.className = "bar";
    bar.style.width = 100 * Math.min(1, p) + "%";
    value.className = "value";
    value.textContent = percent(p);
    row.insertCell().append(value);
    row.insertCell().append(bar);
    return row;
  }));
  byId("token-entropy").textContent = state.backwards ? "" :
    "Entropy " + entropy.toFixed(2) + " bits: as spread out as " + (2 ** entropy).toFixed(1) + " even tokens.";
}

// ---- The map ----

let figure = null, marks = null;
function drawMap() {
  const box = byId("map");
  const { hideFirst, theme } = state;
  figure = mapFigure({ map: current(), hideFirst, theme, width: Math.max(280, box.clientWidth) });
  const svg = new DOMParser().parseFromString(figure.svg, "image/svg+xml").documentElement;
  svg.setAttribute("aria-hidden", "true");
  marks = ["row", "column"].map(() => {
    const mark = document.createElementNS(svg.namespaceURI, "rect");
    mark.setAttribute("fill", "none");
    mark.setAttribute("stroke", inks[state.theme].mark);
    mark.setAttribute("stroke-width", "1.4");
    svg.append(mark);
    return mark;
  });
  box.replaceChildren(document.importNode(svg, true));
  marks = Array.from(box.querySelectorAll("svg > rect")).slice(-2);
  drawMarks();
}

function drawMarks() {
  const place = (mark, x, y, width, height) => { // around the cells, not on them
    const box = { x: x - 1, y: y - 1, width: width && width + 2, height: height && height + 2 };
    Object.entries(box).forEach(([name, value]) => mark.setAttribute(name, value));
  };
  const { left, top, cell, edge } = figure, at = state.cell;
  const row = at ? at[0] : state.backwards ? null : shownToken();
  const column = at ? at[1] : state.backwards ? shownToken() : null;
  place(marks[0], left, top + (row || 0) * cell, row === null ? 0 : edge, row === null ? 0 : cell);
  place(marks[1], left + (column || 0) * cell, top, column === null ? 0 : cell, column === null ? 0 : edge);
  const p = at && current().p(at[0], at[1], state.hideFirst);
  byId("map-says").textContent = !at ? "" : at[1] > at[0]
    ? named(at[0]) + " (" + at[0] + ") does not see " + named(at[1]) + " (" + at[1] + "), which comes later."
    : named(at[0]) + " (" + at[0] + ") looks at " + named(at[1]) + " (" + at[1] + "): " + percent(p);
}

function cellAt(event) {
  const svg = byId("map").firstChild.getBoundingClientRect(), scale = figure.width / svg.width;
  const column = Math.floor(((event.clientX - svg.left) * scale - figure.left) / figure.cell);
  const row = Math.floor(((event.clientY - svg.top) * scale - figure.top) / figure.cell);
  return row < 0 || row >= tokenCount || column < 0 || column >= tokenCount ? null : [row, column];
}

// ---- What changes ----

function drawLook() {
  drawText();
  drawToken();
  drawMarks();
}
function drawAll() {
  document.documentElement.dataset.theme = state.theme;
  byId("theme").textContent = state.theme === "dark" ? "Light" : "Dark";
  byId("stronger").textContent = state.theme === "dark" ? "brighter" : "darker";
  byId("layer").value = state.layer;
  byId("head").value = state.head;
  byId("hide-first").checked = state.hideFirst;
  byId("backwards").checked = state.backwards;
  byId("show-entropy").checked = state.showEntropy;
  byId("map-title").textContent = "Layer " + page.layers[state.layer] + ", head " + state.head;
  byId("overview-hint").textContent = state.showEntropy
    ? "Each field is a head, with the mean entropy of its looks in bits. Choose one."
    : "Each small picture is the map of a head. Layers go from left to right, their heads from top to bottom. Choose one.";
  drawMap();
  drawLook();
  markHead();
}
function chooseHead(layer, head) {
  state.layer = (layer + layerCount) % layerCount;
  state.head = (head + page.heads) % page.heads;
  drawAll();
}
// Inside its own frame; the page stays where it is.
function showToken() {
  const frame = byId("tokens"), element = tokenElements[state.token].element;
  if (element.offsetTop < frame.scrollTop) frame.scrollTop = element.offsetTop - 4;
  const below = element.offsetTop + element.offsetHeight - frame.clientHeight;
  if (below > frame.scrollTop) frame.scrollTop = below + 4;
}
function chooseToken(i) {
  state.token = Math.max(0, Math.min(tokenCount - 1, i));
  state.pointed = null;
  state.cell = null;
  drawLook();
  showToken();
}
function chooseCell(cell) {
  state.cell = cell;
  state.pointed = cell ? (state.backwards ? cell[1] : cell[0]) : null;
  drawLook();
}
function change(name, value) {
  state[name] = value;
  drawAll();
  drawOverview();
}

function tip(event, text) {
  const element = byId("tip");
  element.hidden = !text;
  if (!text) return;
  element.textContent = text;
  const { offsetWidth: width, offsetHeight: height } = element;
  element.style.left = Math.max(4, Math.min(innerWidth - width - 4, event.clientX + 14)) + "px";
  const fits = event.clientY + height + 24 <= innerHeight;
  element.style.top = (fits ? event.clientY + 16 : event.clientY - height - 10) + "px";
}

async function saveAs(kind) {
  const made = mapFigure({
    map: current(), hideFirst: state.hideFirst, theme: state.theme, width: 900, vector: kind === "svg",
    title: [visible(page.model) + ", layer " + page.layers[state.layer] + ", head " + state.head,
      "Rows: tokens that look. Columns: tokens that are looked at."],
  });
  const name = "attention-layer" + page.layers[state.layer] + "-head" + state.head + "." + kind;
  save(kind === "svg" ? new Blob([made.svg], { type: "image/svg+xml" }) : await asPng(made), name);
}

const letters = {
  l: () => chooseHead(state.layer + 1, state.head),
  L: () => chooseHead(state.layer - 1, state.head),
  h: () => chooseHead(state.layer, state.head + 1),
  H: () => chooseHead(state.layer, state.head - 1),
  f: () => change("hideFirst", !state.hideFirst),
  w: () => { state.cell = null; state.backwards = !state.backwards; drawAll(); },
  e: () => change("showEntropy", !state.showEntropy),
  t: () => change("theme", state.theme === "dark" ? "light" : "dark"),
  p: () => saveAs("png"),
  s: () => saveAs("svg"),
  "?": () => byId("help").showModal(),
};
const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || byId("help").open) return;
  if (event.key === "Escape") {
    tip(event, "");
    return chooseCell(null);
  }
  const within = (name) => byId(name).contains(document.activeElement), step = steps[event.key];
  if (within("tokens") && (step || event.key === "Home" || event.key === "End")) {
    if (event.key === "Home") chooseToken(0);
    else if (event.key === "End") chooseToken(tokenCount - 1);
    else chooseToken(state.token + step[0] + step[1]);
  } else if (within("map") && step) {
    const from = state.cell || [state.token, state.token], last = tokenCount - 1;
    chooseCell(state.cell ? [0, 1].map((k) => Math.max(0, Math.min(last, from[k] + step[k]))) : from);
    state.token = state.pointed;
    drawLook();
  } else if (within("overview") && step) {
    chooseHead(state.layer + step[1], state.head + step[0]);
    overview[state.layer][state.head].element.focus();
  } else if (letters[event.key] && byId("letters").checked && document.activeElement.tagName !== "SELECT") {
    letters[event.key]();
  } else {
    return;
  }
  event.preventDefault();
});

const tokenOf = (event) => {
  const element = event.target.closest(".token");
  return element ? Number(element.id.slice(6)) : null;
};
byId("tokens").addEventListener("pointermove", (event) => {
  if (event.pointerType !== "mouse") return;
  const i = tokenOf(event);
  if (i === state.pointed) return;
  state.pointed = i;
  state.cell = null;
  drawLook();
});
byId("tokens").addEventListener("pointerleave", () => chooseCell(null));
byId("tokens").addEventListener("click", (event) => {
  const i = tokenOf(event);
  if (i !== null) chooseToken(i);
});
byId("map").addEventListener("pointermove", (event) => {
  const cell = cellAt(event);
  if (String(cell) !== String(state.cell)) chooseCell(cell);
  tip(event, cell && event.pointerType === "mouse" ? byId("map-says").textContent : "");
});
byId("map").addEventListener("pointerleave", (event) => {
  if (event.pointerType !== "mouse") return;
  tip(event, "");
  chooseCell(null);
});
byId("map").addEventListener("click", (event) => {
  const cell = cellAt(event);
  if (!cell) return;
  state.token = state.backwards ? cell[1] : cell[0];
  chooseCell(cell);
});
const headOf = (event) => event.target.closest(".head");
byId("overview").addEventListener("click", (event) => {
  const element = headOf(event);
  if (element) chooseHead(Number(element.dataset.layer), Number(element.dataset.head));
});
byId("overview").addEventListener("pointermove", (event) => {
  const element = event.pointerType === "mouse" && headOf(event);
  tip(event, element ? element.getAttribute("aria-label") : "");
});
byId("overview").addEventListener("pointerleave", (event) => tip(event, ""));

byId("layer").append(...page.layers.map((number, i) => new Option(number, i)));
byId("head").append(...Array.from({ length: page.heads }, (_, h) => new Option(h, h)));
byId("layer").addEventListener("change", () => chooseHead(Number(byId("layer").value), state.head));
byId("head").addEventListener("change", () => chooseHead(state.layer, Number(byId("head").value)));
const buttons = { "layer-back": "L", "layer-on": "l", "head-back": "H", "head-on": "h", theme: "t", keys: "?", png: "p", svg: "s" };
for (const [name, key] of Object.entries(buttons)) byId(name).addEventListener("click", () => letters[key]());
const switches = { "hide-first": "f", backwards: "w", "show-entropy": "e" };
for (const [name, key] of Object.entries(switches)) byId(name).addEventListener("change", () => letters[key]());
byId("entropy-button").addEventListener("click", () => {
  const note = byId("entropy-note");
  note.hidden = !note.hidden;
  byId("entropy-button").setAttribute("aria-expanded", String(!note.hidden));
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) =>
  change("theme", event.matches ? "dark" : "light"));
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth !== width) {
    drawMap();
    fitOverview();
  }
  width = innerWidth;
});

byId("subject").textContent = `${visible(page.model)} reads ${tokenCount} ${tokenCount === 1 ? "token" : "tokens"} with ` +
  `${layerCount} layers of ${page.heads} heads`;
byId("precision").textContent = `Attention is said to ${100 / page.steps} % (in ${page.steps} steps of what the first token ` +
  "leaves over), entropies to 0.0003 bits, of the numbers before they were rounded.";
byId("tokens").classList.toggle("long", tokenCount > 100);
buildOverview();
drawAll();
drawOverview();
showToken();
