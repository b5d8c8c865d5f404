"use strict";

// The map of one head as an SVG figure: on the page, and for saving.

// Single hue, from nothing to 100 %, for each theme; the root of a probability goes along it, so that small ones show.
const shades = {
  light: ["#ffffff", "#d6e6f4", "#a3c8e6", "#5c9bd1", "#2468ad", "#0a2f66"],
  dark: ["#12161c", "#173454", "#1f568c", "#3a84c4", "#86bdec", "#eaf5ff"],
};
const inks = {
  light: { ground: "#ffffff", text: "#1a1f26", faint: "#55606e", line: "#c3cad3", mark: "#b3261e" },
  dark: { ground: "#12161c", text: "#e8ecf1", faint: "#a3aebb", line: "#3b4552", mark: "#ffb4a8" },
};

const shadeTables = {};
// 256 colours [r, g, b].
function shadeTable(theme) {
  if (!shadeTables[theme]) {
    const stops = shades[theme].map((s) => [1, 3, 5].map((at) => parseInt(s.slice(at, at + 2), 16)));
    shadeTables[theme] = Array.from({ length: 256 }, (_, i) => {
      const x = (i / 255) * (stops.length - 1), k = Math.min(stops.length - 2, Math.floor(x));
      return stops[k].map((from, c) => Math.round(from + (stops[k + 1][c] - from) * (x - k)));
    });
  }
  return shadeTables[theme];
}
function shade(p, theme) {
  return shadeTable(theme)[Math.round(255 * Math.sqrt(Math.min(1, Math.max(0, p))))];
}
function cssColour([r, g, b]) {
  return "rgb(" + r + "," + g + "," + b + ")";
}
// Black or white, whichever stands out more on a colour: at least 4.5 to 1 on any.
function inkOn(colour) {
  const [r, g, b] = colour.map((v) => (v <= 10 ? v / 3294 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
}

// A picture of the map, `scale` dots for a cell, as a data: address.
function mapPicture(map, hideFirst, theme, scale) {
  const n = tokenCount, small = document.createElement("canvas"), large = document.createElement("canvas");
  small.width = small.height = n;
  large.width = large.height = n * scale;
  const dots = new ImageData(n, n);
  for (let i = 0; i < n; ++i)
    for (let j = 0; j <= i; ++j) {
      const [r, g, b] = shade(map.p(i, j, hideFirst), theme), at = 4 * (i * n + j);
      dots.data[at] = r;
      dots.data[at + 1] = g;
      dots.data[at + 2] = b;
      dots.data[at + 3] = 255;
    }
  small.getContext("2d").putImageData(dots, 0, 0);
  const to = large.getContext("2d");
  to.imageSmoothingEnabled = false;
  to.drawImage(small, 0, 0, large.width, large.height);
  return large.toDataURL("image/png");
}

const measuring = document.createElement("canvas").getContext("2d");
function widthOf(text, size) {
  measuring.font = size + "px system-ui, sans-serif";
  return measuring.measureText(text).width;
}

// An element of an SVG; numbers get two decimals.
function shape(name, attributes, content = "") {
  const list = Object.entries(attributes).map(([key, value]) =>
    ` ${key}="${typeof value === "number" ? Number(value.toFixed(2)) : value}"`);
  return `<${name}${list.join("")}>${content}</${name}>`;
}

// The figure, `width` wide: its text, and where its cells lie. `vector`: cells are shapes, if they are not too many;
// `title`: lines above it.
function mapFigure({ map, hideFirst, theme, width, vector = false, title = [] }) {
  const n = tokenCount, ink = inks[theme], entropyWidth = Math.min(90, Math.max(40, width / 8));
  const named = n <= 60 && (0.7 * width) / n >= 9; // else places are numbered
  const labels = named ? page.tokens.map((_, i) => tokenLabel(i, 14)) : [];
  const rough = Math.min(14, Math.max(8, (width / n) * 0.62));
  const longest = Math.max(...labels.map((l) => widthOf(l, rough)));
  const left = named ? Math.ceil(Math.min(width / 4, longest + 10)) : 34;
  const cell = Math.min(40, (width - left - entropyWidth - 12) / n), edge = cell * n;
  const top = left + (title.length ? 14 + 20 * title.length : 0), right = left + edge, bottom = top + edge;
  const height = Math.round(bottom + 66);
  const out = [shape("rect", { width, height, fill: ink.ground })];
  const text = (x, y, what, more) => out.push(shape("text", { x, y, ...more }, escaped(what)));
  const small = { "font-size": 10, fill: ink.faint };

  title.forEach((line, i) => text(left, 20 + 20 * i, line,
    i ? { "font-size": 12, fill: ink.faint } : { "font-size": 15, "font-weight": 600, fill: ink.text }));

  out.push(shape("rect", { x: left, y: top, width: edge, height: edge, fill: "none", stroke: ink.line }));
  if (vector && n <= 128) {
    for (let i = 0; i < n; ++i)
      for (let j = 0; j <= i; ++j) {
        const p = map.p(i, j, hideFirst), says = tokenLabel(i) + " → " + tokenLabel(j) + ": " + percent(p);
        out.push(shape("rect", { x: left + j * cell, y: top + i * cell, width: cell, height: cell,
          fill: cssColour(shade(p, theme)) }, shape("title", {}, escaped(says))));
      }
  } else {
    const scale = Math.max(1, Math.min(16, Math.ceil((2 * edge) / n)));
    out.push(shape("image", { x: left, y: top, width: edge, height: edge, "image-rendering": "pixelated",
      preserveAspectRatio: "none", href: mapPicture(map, hideFirst, theme, scale) }));
  }

  // The tokens of rows and columns.
  const label = named ? { "font-size": Math.min(rough, cell * 0.85), fill: ink.text } : small;
  const step = named ? 1 : [5, 10, 20, 50, 100, 200, 500].find((s) => s * cell >= 26) || 1000;
  for (let i = 0; i < n; i += step) {
    const what = named ? labels[i] : String(i), middle = (i + 0.5) * cell, x = left + middle, y = top - 6;
    text(left - 6, top + middle, what, { ...label, "text-anchor": "end", "dominant-baseline": "central" });
    if (named) text(x, y, what, { ...label, "dominant-baseline": "central", transform: `rotate(-90 ${x} ${y})` });
    else if (middle < edge - 12) text(x, y, what, { ...label, "text-anchor": "middle" }); // "entropy" begins there
  }

  // Entropies, as long as their share of the most that is possible.
  const most = Math.max(1, Math.log2(n));
  for (let i = 0; i < n; ++i)
    out.push(shape("rect", { x: right + 8, y: top + (i + 0.15) * cell, height: 0.7 * cell,
      width: (map.entropy(i, hideFirst) / most) * (entropyWidth - 8), fill: ink.faint }));
  text(right + 8, top - 6, "entropy", small);

  // What the colours mean.
  const legend = Math.max(150, Math.min(edge, 360)), y = bottom + 16, last = shades[theme].length - 1;
  const stops = shades[theme].map((colour, i) => shape("stop", { offset: i / last, "stop-color": colour }));
  out.push(shape("linearGradient", { id: "shades" }, stops.join("")));
  out.push(shape("rect", { x: left, y, width: legend, height: 10, fill: "url(#shades)", stroke: ink.line }));
  for (let i = 0; i <= 5; ++i)
    text(left + (legend * i) / 5, y + 24, 4 * i * i + (i === 5 ? " %" : ""), { ...small, "text-anchor": "middle" });
  const hidden = hideFirst ? "; first token hidden, the rest scaled up to 100 %" : "";
  text(left, y + 42, "mean entropy " + map.meanEntropy(hideFirst).toFixed(2) + " bits" + hidden,
    { "font-size": 12, fill: ink.faint });

  const svg = shape("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}`,
    "font-family": "system-ui, sans-serif" }, out.join(""));
  return { svg, left, top, cell, edge, width, height };
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// An SVG as a picture of dots, two for a unit.
function asPng(figure) {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = 2 * figure.width;
      canvas.height = 2 * figure.height;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png");
    };
    image.onerror = () => reject(new Error("no picture"));
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(figure.svg);
  });
}
