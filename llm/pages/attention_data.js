"use strict";

// What the page was given: tokens, and each head's map as llm/attention_code.h writes it.
const page = JSON.parse(document.getElementById("page-data").textContent);
const tokenCount = page.tokens.length;
const layerCount = page.layers.length;
const mostBits = 32 - Math.clz32(page.steps);

// ---- Arithmetic coding ----

class Decisions {
  constructor(bytes, at) {
    this.bytes = bytes;
    this.at = at;
    this.low = 0;
    this.high = 0xffffffff;
    this.value = 0;
    for (let i = 0; i < 4; ++i) this.shift();
  }
  shift() {
    this.value = ((this.value << 8) | (this.at < this.bytes.length ? this.bytes[this.at] : 0)) >>> 0;
    ++this.at;
  }
  // The next decision; its learned probability is learned[place].
  read(learned, place) {
    const probability = learned[place];
    const middle = this.low + ((this.high - this.low) >>> 16) * probability;
    const yes = this.value <= middle;
    if (yes) this.high = middle;
    else this.low = middle + 1;
    learned[place] = Math.max(16, probability + (((yes ? 65535 : 0) - probability) >> 4));
    while (((this.low ^ this.high) >>> 24) === 0) {
      this.low = (this.low << 8) >>> 0;
      this.high = ((this.high << 8) | 0xff) >>> 0;
      this.shift();
    }
    return yes;
  }
}

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// One head: p(query, key), entropies, and both without the first token.
class HeadMap {
  constructor(base64) {
    const n = tokenCount, bytes = bytesOf(base64);
    const number = (i) => bytes[2 * i] | (bytes[2 * i + 1] << 8);
    this.first = new Float64Array(n);
    this.entropies = new Float64Array(n);
    for (let i = 0; i < n; ++i) this.first[i] = number(i) / 65535;
    for (let i = 0; i < n; ++i) this.entropies[i] = number(n + i) / 4096;
    this.codes = new Uint16Array((n * (n - 1)) / 2); // queries 1 and on, keys 1 and on
    const ways = mostBits + 1;
    const longer = new Uint16Array(ways * ways * mostBits).fill(32768);
    const behind = new Uint16Array(ways * mostBits).fill(32768);
    const decisions = new Decisions(bytes, 4 * n);
    const above = new Uint8Array(n + 1);
    let at = 0;
    for (let i = 1; i < n; ++i) {
      let left = 0;
      for (let j = 1; j <= i; ++j) {
        const learned = (left * ways + above[j]) * mostBits;
        let length = 0;
        while (length < mostBits && decisions.read(longer, learned + length)) ++length;
        let code = length > 0 ? 1 : 0;
        for (let k = length - 2; k >= 0; --k) code = code * 2 + (decisions.read(behind, length * mostBits + k) ? 1 : 0);
        this.codes[at++] = code;
        left = above[j] = length;
      }
    }
  }
  // How much of its attention a query gives to a key, 0 to 1. With hideFirst, its share of what the first token leaves.
  p(query, key, hideFirst = false) {
    if (key > query) return 0;
    if (key === 0) return hideFirst ? 0 : this.first[query];
    const share = this.codes[(query * (query - 1)) / 2 + key - 1] / page.steps;
    return hideFirst ? share : share * (1 - this.first[query]);
  }
  // In bits. With q of the first token and the others' shares s, H = h(q) + (1 - q) H(s) and h(q) that of two outcomes.
  entropy(query, hideFirst = false) {
    const whole = this.entropies[query], q = this.first[query];
    if (!hideFirst) return whole;
    if (query === 0 || q > 0.9999) return 0;
    const two = q > 0 ? -q * Math.log2(q) - (1 - q) * Math.log2(1 - q) : 0;
    return Math.max(0, (whole - two) / (1 - q));
  }
  meanEntropy(hideFirst = false) {
    let sum = 0;
    for (let i = 0; i < tokenCount; ++i) sum += this.entropy(i, hideFirst);
    return sum / tokenCount;
  }
}

// Maps are decoded when they are looked at; the last few are kept.
const recentMaps = new Map();
function headMap(layer, head) {
  const name = layer * page.heads + head;
  let map = recentMaps.get(name);
  if (!map) {
    map = new HeadMap(page.maps[layer][head]);
    recentMaps.set(name, map);
    if (recentMaps.size > 8) recentMaps.delete(recentMaps.keys().next().value);
  }
  return map;
}

// ---- Tokens as text ----

// What cannot be seen, or would disturb what stands around it, gets a name that can.
function visible(text) {
  const named = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu, (c, at) => {
    const code = c.codePointAt(0);
    if (c === "\n") return "⏎";
    if (c === "\t") return "⇥";
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    if (code === 0x7f) return "␡";
    if ((code === 0x200c || code === 0x200d) && at > 0 && at + 1 < text.length) return c; // joins characters
    return "U+" + code.toString(16).toUpperCase().padStart(4, "0");
  });
  return /^\p{M}/u.test(named) ? "◌" + named : named;
}

// Bytes of a character that lies in several tokens: the first of them shows it.
function partLabel([bytes, character]) {
  return (character && parseInt(bytes, 16) >= 0xc0 ? visible(character) + " " : "") + bytes;
}

// A token is a text, or a list in which texts alternate with [bytes in hex, the character that they are a part of].
// On one line, with its blanks.
function tokenLabel(i, most = 24) {
  const token = page.tokens[i].text, parts = typeof token === "string" ? [token] : token;
  const characters = parts.flatMap((part) =>
    typeof part === "string" ? Array.from(visible(part).replace(/ /g, "␣")) : ["‹", partLabel(part), "›"]);
  return characters.length > most ? characters.slice(0, most - 1).join("") + "…" : characters.join("");
}

function percent(p) {
  const value = 100 * p;
  if (value > 0 && value < 0.05) return "< 0.05 %";
  return value.toFixed(1) + " %";
}

function escaped(text) {
  return String(text).replace(/[&<>"']/g, (c) => "&#" + c.charCodeAt(0) + ";");
}
