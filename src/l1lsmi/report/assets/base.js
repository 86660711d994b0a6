// Functions that all plots use. Names and values are data: they are only ever written to text nodes.
const report = JSON.parse(document.getElementById("report-data").textContent);
const featureById = new Map(report.features.map((feature) => [feature.id, feature]));
const isSelected = (id) => featureById.get(id).selected;
const nameOf = (id) => featureById.get(id).name;

/** An element of the SVG namespace with attributes and children. */
const svg = (tag, attributes = {}, ...children) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
};

/** An HTML element with attributes and children. */
const html = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
};

/** A number with three significant digits, formatted as in the tables of the page. */
const sig = (x) => {
  if (x === null || x === undefined || !Number.isFinite(x)) return "n/a";
  if (x === 0) return "0";
  const rounded = Number(x.toPrecision(3));
  const size = Math.abs(rounded);
  const sign = rounded < 0 ? "\u2212" : "";
  if (size >= 1e6 || size < 1e-4) return sign + size.toExponential(2).replace("e-", "e\u2212").replace("e+", "e");
  if (size >= 1000) return sign + size.toLocaleString("en", { useGrouping: true });
  return sign + size.toPrecision(3);
};

/** Whether numbers of a column are days since 1970, and are shown as dates. */
const isDate = (unit) => unit === "days since 1970-01-01";

/** A value of a column: a date where it stands for one, and whole numbers such as years without separators. */
const inUnit = (x, unit) => {
  if (!isDate(unit) && Number.isInteger(x) && Math.abs(x) >= 1e3 && Math.abs(x) < 1e4) return String(x).replace("-", "\u2212");
  const moment = isDate(unit) && x !== null ? new Date(Math.floor(x) * 864e5) : null;
  return moment === null || Number.isNaN(moment.getTime()) ? sig(x) : moment.toISOString().slice(0, 10);
};

const percent = (x) => `${sig(x * 100)}\u202f%`;

/** A tick label, with as many digits as the step between ticks needs. */
const onAxis = (x, step, unit = null) => {
  if (isDate(unit)) return inUnit(x, unit).slice(0, step >= 28 ? 7 : 10);
  if (Math.abs(x) >= 1e6 || (step < 1e-4 && x !== 0)) return sig(x);
  const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  const places = Math.min(digits, 6);
  const digitsShown = { minimumFractionDigits: places, maximumFractionDigits: places, useGrouping: Math.abs(x) >= 1e4 };
  return x.toLocaleString("en", digitsShown).replace("-", "\u2212");
};

const letters = typeof Intl.Segmenter === "function"
  ? (text) => Array.from(new Intl.Segmenter().segment(text), (piece) => piece.segment)
  : (text) => Array.from(text);

/** At most `most` characters of a name, its beginning and its end, isolated from text in the other writing direction. */
const short = (name, most) => {
  const pieces = letters(name);
  if (pieces.length <= most) return `\u2068${name}\u2069`;
  const end = Math.floor((most - 1) / 3);
  const start = Math.max(1, most - 1 - end);
  return `\u2068${pieces.slice(0, start).join("").trimEnd()}\u2026${pieces.slice(pieces.length - end).join("").trimStart()}\u2069`;
};

/** A name as nodes, with places for line breaks between the words of names without spaces. */
const breakable = (name) =>
  name.split(/(?<=[_.:;/\\-])(?=\p{L})|(?<=\p{Ll})(?=\p{Lu})/u).flatMap((piece, i) => (i ? [html("wbr"), piece] : [piece]));

const count = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

/** About `wanted` round numbers in an interval, and at least two. */
const ticks = (low, high, wanted) => {
  const span = high - low || Math.abs(high) || 1;
  const least = span / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(least));
  const steps = [10, 5, 2, 1, 0.5, 0.2].map((factor) => factor * power).filter((step) => step < least * 10);
  const start = steps.findLastIndex((step) => step >= least * 0.999);
  for (const step of steps.slice(start)) {
    const values = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i += 1) values.push(i * step + 0); // + 0: no minus zero
    if (values.length > 1 || high === low) return { values, step };
  }
  return { values: [low, high], step: span };
};

/** The linear map from one interval to another. */
const scale = (from, to) => {
  const span = from[1] - from[0] || 1;
  return (x) => to[0] + ((x - from[0]) / span) * (to[1] - to[0]);
};

/** An empty SVG of the width of its figure; it is redrawn when the width changes. */
const canvas = (figure, height, label) => {
  const width = Math.max(260, Math.round(figure.clientWidth));
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": label });
  figure.querySelectorAll(":scope > svg").forEach((old) => old.remove());
  figure.append(picture);
  return { picture, width, height };
};

const words = (x, y, text, attributes = {}) => svg("text", { x, y, ...attributes }, text);

/** Horizontal grid lines with tick labels. */
const gridLines = (picture, values, step, y, left, right, unit = "") => {
  for (const value of values) {
    picture.append(
      svg("line", { class: "axis", x1: left, x2: right, y1: y(value), y2: y(value) }),
      words(left - 8, y(value) + 4, onAxis(value, step) + unit, { "text-anchor": "end" }),
    );
  }
};

/** New positions of labels, moved apart where they would overlap. */
const spread = (places, gap, low, high) => {
  const order = places.map((place, i) => [place, i]).sort((a, b) => a[0] - b[0]);
  let previous = low - gap;
  for (const item of order) previous = item[0] = Math.max(item[0], previous + gap);
  let next = high + gap;
  for (const item of order.reverse()) next = item[0] = Math.min(item[0], next - gap);
  const moved = new Array(places.length);
  for (const [place, i] of order) moved[i] = place;
  return moved;
};
