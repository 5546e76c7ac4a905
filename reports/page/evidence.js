
/* The evidence of a case: unpacked when it is asked for, one side or two with their difference marked. */

const chunks = new Map();

/** The cases of one chunk, by their place. */
function unpacked(chunk) {
  if (!chunks.has(chunk)) {
    const bytes = Uint8Array.from(atob(byId(`chunk-${chunk}`).textContent), (sign) => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    chunks.set(chunk, new Response(stream).json());
  }
  return chunks.get(chunk);
}

const bodyText = (body) => {
  if (!body) return "";
  return "text" in body ? pretty(body.text, body.cut > 0 || body.truncated) : `(not text; base64)\n${body.base64}`;
};

const sizeOf = (body) => (body ? `${plural(body.bytes, "byte")}${body.cut ? ", cut on this page" : body.truncated ? ", cut in the report" : ""}` : "none");

/** Both texts in one block, each line with its sign. */
function differenceBlock(old, now) {
  const lines = difference(old, now);
  if (!lines) return null;
  const block = make("pre", { class: "diff", tabindex: "0" });
  for (let at = 0; at < lines.length; at += 1) {
    const [sign, line] = lines[at];
    if (sign === " ") {
      let end = at;
      while (end < lines.length && lines[end][0] === " ") end += 1;
      // Three lines around a difference say where it is.
      if (end - at > 9) {
        const first = at === 0 ? 0 : 3, last = end === lines.length ? 0 : 3;
        for (const [, kept] of lines.slice(at, at + first)) block.append(`  ${shown(kept)}\n`);
        block.append(make("span", { class: "skip-lines" }, `  \u2026 ${plural(end - at - first - last, "line")} the same`));
        for (const [, kept] of lines.slice(end - last, end)) block.append(`  ${shown(kept)}\n`);
        at = end - 1;
        continue;
      }
      block.append(`  ${shown(line)}\n`);
    } else {
      block.append(make(sign === "-" ? "del" : "ins", {}, `${sign} ${shown(line)}`));
    }
  }
  return block;
}

/** A named text of each side: once where they agree, else their difference. */
function compared(name, sides, text, size) {
  const part = make("div", {});
  const texts = sides.map(([, exchange]) => text(exchange));
  const heading = (note) => make("h4", {}, `${name} ${note}`);
  const same = texts.every((one) => steady(one) === steady(texts[0]));
  if (sides.length === 1 || same) {
    const note = `(${size(sides.at(-1)[1])}${sides.length > 1 ? ", the same on both" : ""})`;
    part.append(heading(note));
    if (texts.at(-1)) part.append(make("pre", { tabindex: "0" }, shown(texts.at(-1))));
    return part;
  }
  const block = sides.length === 2 && differenceBlock(texts[0], texts[1]);
  if (block) {
    part.append(heading(`(\u2212 ${sides[0][0]}, + ${sides[1][0]})`), block);
    return part;
  }
  sides.forEach(([label, exchange], at) => {
    part.append(heading(`on ${label} (${size(exchange)})`), make("pre", { tabindex: "0" }, shown(texts[at])));
  });
  return part;
}

const headerText = (headers) => Object.entries(headers || {}).map(([key, value]) => `${key}: ${value}`).join("\n");

const answered = (exchange) => (exchange.status == null ? "no answer" : String(exchange.status));

const isSame = (one, other) =>
  answered(one) === answered(other) && steady(bodyText(one.body)) === steady(bodyText(other.body)) &&
  steady(bodyText(one.request)) === steady(bodyText(other.request));

/** The exchanges of all sides in order, those of one method and path side by side. */
function asked(sides) {
  const key = (exchange) => `${exchange.method} ${exchange.path}`;
  let rows = [];
  for (const [label, side] of sides) {
    const keys = rows.map((row) => key(row[0][1]));
    rows = aligned(keys, side.exchanges.map(key)).map(([row, at]) => [
      ...(row == null ? [] : rows[row]), ...(at == null ? [] : [[label, side.exchanges[at]]]),
    ]);
  }
  return rows;
}

/** One exchange, of each side that made it; `only` names the side that alone did. */
function exchangeBlock(sides, only, open) {
  const [, newest] = sides.at(-1);
  const codes = [...new Set(sides.map(([, exchange]) => answered(exchange)))];
  const differs = sides.length > 1 && !sides.every(([, exchange]) => isSame(exchange, newest));
  const block = make(
    "details", { class: "exchange", open },
    make("summary", {}, `${newest.number}. ${shown(newest.method)} ${shown(newest.path)} \u2192 ${codes.join(" / ")} `,
      only || differs ? make("span", { class: "differs" }, only ? `only on ${only}` : "\u2260 differs") : ""),
  );
  const fill = () => {
    if (block.childElementCount > 1) return;
    block.append(compared("Request", sides, (one) => bodyText(one.request), (one) => sizeOf(one.request)));
    block.append(compared(`Answer ${codes.join(" / ")}`, sides, (one) => bodyText(one.body), (one) => sizeOf(one.body)));
    for (const [label, exchange] of sides) {
      if (exchange.error) block.append(make("h4", {}, `Error on ${label}`), make("pre", {}, shown(exchange.error)));
    }
    const headers = make("details", {}, make("summary", { class: "quiet" }, "Headers, node and time"));
    for (const [label, exchange] of sides) {
      headers.append(make("p", { class: "side" }, shown(`${label}, ${exchange.node || "no node"}, ${(exchange.seconds * 1000).toFixed(1)} ms`)));
      headers.append(make("pre", { tabindex: "0" }, shown(`${headerText(exchange.request_headers)}\n\n${headerText(exchange.headers)}`)));
    }
    block.append(headers, make("h4", {}, "Run it again"));
    const lines = sides.length > 1 && steady(sides[0][1].curl) === steady(newest.curl) ? [sides.at(-1)] : sides;
    for (const [label, exchange] of lines) {
      if (lines.length > 1) block.append(make("p", { class: "side" }, label));
      block.append(copyLine(exchange.curl, "curl"));
    }
  };
  block.addEventListener("toggle", fill);
  if (open) fill();
  return block;
}

/** All that the page has of a case: `detail` is a side or null for each column. */
function evidence(detail, columns) {
  const body = make("div", { class: "body" });
  const sides = columns.map((label, at) => [label, detail[at]]).filter(([, side]) => side);
  for (const [label, side] of sides) {
    const by = side.observed && side.observed !== side.status ? ` (by itself: ${words(side.observed)})` : "";
    body.append(make(
      "p", { class: "side" }, statusMark(side.status), ` ${words(side.status)}${by} on ${label}`,
      make("span", { class: "quiet" }, shown(`, ${side.node || "no node"}, engine ${side.engine}, ${side.seconds.toFixed(2)} s`)),
    ));
    if (side.message) body.append(make("pre", { class: "message", tabindex: "0" }, shown(side.message)));
    if (side.replay) body.append(copyLine(side.replay, "pytest"));
  }
  const rows = asked(sides);
  const differs = (row) => !row.every(([, exchange]) => isSame(exchange, row[0][1]));
  const first = rows.findIndex(differs);
  rows.forEach((row, at) => {
    const only = sides.length > 1 && row.length === 1 ? row[0][0] : "";
    body.append(exchangeBlock(row, only, at === (first < 0 ? rows.length - 1 : first)));
  });
  for (const [label, side] of sides) {
    const gone = side.made - side.exchanges.length;
    if (gone) body.append(make("p", { class: "note" }, `${plural(gone, "exchange")} of ${number(side.made)} on ${label} are not on this page.`));
  }
  if (!rows.length) body.append(make("p", { class: "note" }, "No exchange: the case ended before it asked anything."));
  return body;
}
