"use strict";

// All heads side by side: a column for a layer, a row for a head.

const overview = []; // [layer][head]: element, canvas, and the small maps
function buildOverview() {
  const row = (cells) => {
    const element = document.createElement("div");
    element.setAttribute("role", "row");
    element.append(...cells);
    byId("overview").append(element);
  };
  const name = (role, text, more = "") => {
    const element = document.createElement("div");
    element.setAttribute("role", role);
    element.className = "name" + more;
    element.textContent = text;
    return element;
  };
  const layers = page.layers.map((number) => name("columnheader", String(number)));
  row([name("columnheader", "head ↓  layer →", " row corner"), ...layers]);
  page.layers.forEach(() => overview.push([]));
  for (let head = 0; head < page.heads; ++head) {
    page.layers.forEach((_, layer) => {
      const [element, canvas, value] = ["div", "canvas", "span"].map((tag) => document.createElement(tag));
      element.setAttribute("role", "gridcell");
      element.className = "head";
      element.tabIndex = -1;
      element.dataset.layer = layer;
      element.dataset.head = head;
      element.append(canvas, value);
      overview[layer].push({ element, canvas, value, small: null });
    });
    row([name("rowheader", String(head), " row"), ...overview.map((heads) => heads[head].element)]);
  }
  fitOverview();
}
// As wide as there is room for, but large enough for a finger.
function fitOverview() {
  const room = byId("overview-frame").clientWidth - 84;
  const size = Math.max(32, Math.min(84, Math.floor(room / layerCount) - 3));
  byId("overview").style.gridTemplateColumns = "max-content repeat(" + layerCount + ", " + size + "px)";
}

// A map of at most 64 dots a side; a dot is the largest value of its field. [with the first token, without]
function smallMaps(map) {
  const side = Math.min(64, tokenCount), small = [new Uint8Array(side * side), new Uint8Array(side * side)];
  for (let i = 0; i < tokenCount; ++i)
    for (let j = 0; j <= i; ++j) {
      const at = Math.floor((i * side) / tokenCount) * side + Math.floor((j * side) / tokenCount);
      for (const hide of [0, 1])
        small[hide][at] = Math.max(small[hide][at], Math.round(255 * Math.sqrt(map.p(i, j, hide === 1))));
    }
  return { side, small, entropy: [map.meanEntropy(false), map.meanEntropy(true)] };
}

function drawHead(h, layer, head) {
  const { side, small, entropy } = h.small, hide = state.hideFirst ? 1 : 0, table = shadeTable(state.theme);
  const bits = entropy[hide].toFixed(2);
  h.element.setAttribute("aria-label", `layer ${page.layers[layer]}, head ${head}, mean entropy ${bits} bits`);
  h.canvas.hidden = state.showEntropy;
  h.value.hidden = !state.showEntropy;
  if (state.showEntropy) {
    const colour = table[Math.round(255 * Math.min(1, entropy[hide] / Math.max(1, Math.log2(tokenCount))))];
    h.element.style.backgroundColor = cssColour(colour);
    h.value.style.color = inkOn(colour);
    h.value.textContent = entropy[hide].toFixed(1);
    return;
  }
  h.element.style.backgroundColor = "";
  h.canvas.width = h.canvas.height = side;
  const dots = new ImageData(side, side);
  for (let i = 0; i < side * side; ++i) {
    const [r, g, b] = table[small[hide][i]];
    dots.data.set([r, g, b, 255], 4 * i);
  }
  h.canvas.getContext("2d").putImageData(dots, 0, 0);
}

let overviewTurn = 0;
// Some milliseconds of it at a time, so that the page answers meanwhile.
function drawOverview() {
  const turn = ++overviewTurn, count = layerCount * page.heads;
  byId("overview").setAttribute("aria-busy", "true");
  let next = 0;
  const some = () => {
    if (turn !== overviewTurn) return;
    const end = performance.now() + 12;
    while (next < count && performance.now() < end) {
      const layer = Math.floor(next / page.heads), head = next % page.heads, h = overview[layer][head];
      if (!h.small) h.small = smallMaps(new HeadMap(page.maps[layer][head]));
      drawHead(h, layer, head);
      ++next;
    }
    if (next < count) setTimeout(some);
    else byId("overview").setAttribute("aria-busy", "false");
  };
  some();
}

function markHead() {
  overview.forEach((heads, layer) => heads.forEach(({ element }, head) => {
    const chosen = layer === state.layer && head === state.head;
    element.setAttribute("aria-selected", String(chosen));
    element.tabIndex = chosen ? 0 : -1;
  }));
}
