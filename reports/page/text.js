
/* Small tools. Whatever a report says reaches the page through textContent alone. */

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children; a child that is a string becomes text. */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child != null && child !== ""));
  return element;
}

function icon(name) {
  const element = document.createElementNS(SVG, "svg");
  element.setAttribute("class", "icon");
  element.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#i-${name}`);
  element.append(use);
  return element;
}

const byId = (id) => document.getElementById(id);
const words = (name) => name.replaceAll("_", " ");
const number = (count) => count.toLocaleString("en");
const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

/** The part of an address that opens a rule. */
const address = (id) => `#${encodeURIComponent(id.toWellFormed())}`;

/** Characters that cannot be seen, or that turn the text around, as their escapes. */
function shown(text) {
  return String(text).replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]/gu,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * JSON with line breaks, every number and string as it was sent: values are not parsed, because a large
 * number or a key that stands twice would not survive it. What is not JSON, or not the start of it where
 * the text is cut, stays as it is.
 */
function pretty(text, isCut = false) {
  const start = text.trimStart()[0];
  if (start !== "{" && start !== "[") return text;
  try {
    if (!isCut) JSON.parse(text);
    return reindented(text);
  } catch { // no JSON, or nested too deep to follow
    return text;
  }
}

const PER_LINE = 10; // of a long list of numbers

function reindented(text) {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"?|[{}[\],:]|[^\s{}[\],:"]+/gs) || [];
  let at = 0;
  const value = (indent) => {
    const token = tokens[at++];
    if (token !== "{" && token !== "[") return token;
    const close = token === "{" ? "}" : "]";
    let members = [];
    while (at < tokens.length && tokens[at] !== close) {
      let member = "";
      if (token === "{") {
        member = `${tokens[at]}: `;
        at += 2;
      }
      members.push(member + (at < tokens.length ? value(`${indent}  `) : ""));
      if (tokens[at] === ",") at += 1;
    }
    if (token === "[" && members.length > PER_LINE && members.every((member) => member.length < 9)) {
      members = members.flatMap((_, first) => (first % PER_LINE ? [] : [members.slice(first, first + PER_LINE).join(", ")]));
    }
    if (at >= tokens.length) return `${token}\n${indent}  ${members.join(`,\n${indent}  `)}`;
    at += 1;
    const line = members.join(", ");
    if (line.length < 72 && !line.includes("\n")) return token + line + close;
    return `${token}\n${indent}  ${members.join(`,\n${indent}  `)}\n${indent}${close}`;
  };
  const whole = value("");
  return at < tokens.length ? text : whole;
}

/** What two runs never share: times, random ids and ports. */
const steady = (line) =>
  line
    .replace(/"created":\s*\d+/g, '"created": \u2026')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{16,}/g, "\u2026")
    .replace(/(127\.0\.0\.1|localhost):\d+/g, "$1:\u2026");

const MOST_LINES = 1500;

/** Two lists side by side: pairs of places, null where one has no such item; null where they are too long. */
function aligned(one, two) {
  let head = 0, tail = 0;
  const shorter = Math.min(one.length, two.length);
  while (head < shorter && one[head] === two[head]) head += 1;
  while (tail < shorter - head && one.at(-1 - tail) === two.at(-1 - tail)) tail += 1;
  const rows = one.length - head - tail, columns = two.length - head - tail;
  if (rows > MOST_LINES || columns > MOST_LINES) return null;
  const width = columns + 1;
  const common = new Uint16Array((rows + 1) * width); // the longest common rest
  for (let row = rows - 1; row >= 0; row -= 1) {
    for (let column = columns - 1; column >= 0; column -= 1) {
      common[row * width + column] = one[head + row] === two[head + column]
        ? common[(row + 1) * width + column + 1] + 1
        : Math.max(common[(row + 1) * width + column], common[row * width + column + 1]);
    }
  }
  const pairs = [];
  for (let at = 0; at < head; at += 1) pairs.push([at, at]);
  let row = 0, column = 0;
  while (row < rows || column < columns) {
    if (row < rows && column < columns && one[head + row] === two[head + column]) {
      pairs.push([head + row++, head + column++]);
    } else if (column === columns || (row < rows && common[(row + 1) * width + column] >= common[row * width + column + 1])) {
      pairs.push([head + row++, null]);
    } else {
      pairs.push([null, head + column++]);
    }
  }
  for (let at = tail; at > 0; at -= 1) pairs.push([one.length - at, two.length - at]);
  return pairs;
}

/** Pairs of [sign, line], the sign one of " ", "-", "+"; null where the texts are too long to compare. */
function difference(old, now) {
  const before = old.split("\n"), after = now.split("\n");
  const pairs = aligned(before.map(steady), after.map(steady));
  return pairs && pairs.map(([one, two]) => {
    if (one == null) return ["+", after[two]];
    return two == null ? ["-", before[one]] : [" ", after[two]];
  });
}

/** A button that copies `text` as it is; it says so to a reader of screens too. */
function copyButton(text, what) {
  const said = make("span", { role: "status" }, "Copy");
  const button = make("button", { type: "button", "aria-label": `Copy ${what}`, class: "copy" }, icon("copy"), " ", said);
  button.addEventListener("click", async () => {
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = make("textarea", { "aria-hidden": "true" });
      area.value = text;
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
      button.focus();
    }
    said.textContent = done ? "Copied" : "Not allowed";
    setTimeout(() => { said.textContent = "Copy"; }, 1600);
  });
  return button;
}

/** A line to run, with its copy button. */
const copyLine = (text, what) =>
  make("div", { class: "line" }, make("pre", { "data-copy": what, tabindex: "0" }, shown(text)), copyButton(text, what));
