
/* The dots of a plot: their marks, words and places on a logarithmic scale with a place for 0. */

const ZERO = 2.5, LEFT = 9, RIGHT = 97.5; // percent of a row's width: where 0 is, and where the scale runs
const LEVELS = 4; // dots of a bin that are drawn
const LEVEL = 10, MARGIN = 9; // pixels between dots above one another, and around them
const BIN = 1.2; // percent; dots that are nearer would cover one another

/** As `make`, for what stands in a drawing. */
function drawn(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Two or three digits, and all of a whole number: such as 0, 3.1e-4, 0.31, 2.01 and 4,072. */
function digits(value) {
  if (value >= 100) return number(Math.round(value));
  if (value === 0 || value >= 0.01) return String(Number(value.toPrecision(value >= 1 ? 3 : 2)));
  return value.toExponential(1).replace(".0e", "e");
}

const binOf = (at) => Math.round(at / BIN);
const percent = (share) => `${share.toFixed(2)}%`;

/** Powers of ten around all values above 0, and where each value stands. */
function scaleOf(dots) {
  const logs = dots.flatMap((dot) => [dot.value, dot.limit]).filter((value) => value > 0).map(Math.log10);
  const least = Math.floor(logs.reduce((one, other) => Math.min(one, other), logs[0] ?? 0));
  // Where all is 0, a limit stands well away from it.
  const low = dots.some((dot) => dot.value > 0) ? least : least - 3;
  const high = Math.max(low + 1, Math.ceil(logs.reduce((one, other) => Math.max(one, other), logs[0] ?? 0)));
  const place = (value) => (value > 0 ? LEFT + ((Math.log10(value) - low) / (high - low)) * (RIGHT - LEFT) : ZERO);
  const step = Math.ceil((high - low) / 7);
  const ticks = [];
  for (let at = low; at <= high; at += step) ticks.push([LEFT + ((at - low) / (high - low)) * (RIGHT - LEFT), at < 0 ? `1e${at}` : at < 5 ? number(10 ** at) : `1e${at}`]);
  return { place, ticks: [[ZERO, "0"], ...ticks] };
}

/** The mark of a column: the newest is a full circle, the one before an open diamond. */
function markOf(data, column, attributes = {}, ...children) {
  const back = data.columns.length - 1 - column;
  const open = (back % 2 === 1) !== (back % 8 >= 4);
  return drawn("use", { href: `#m-${back % 4}`, class: `dot${open ? " open" : ""}`, ...attributes }, ...children);
}

const markSign = (data, column) => drawn("svg", { class: "mark", "aria-hidden": "true", viewBox: "-8 -8 16 16" }, markOf(data, column));
const isBeyond = (dot) => dot.limit != null && dot.value > dot.limit;
const bound = (dot) => (dot.limit == null ? "no limit" : `limit ${digits(dot.limit)}`);
const told = (dot, unit) => `${digits(dot.value)} ${unit}, ${bound(dot)}`;
