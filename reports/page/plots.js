
/* What the cases measured: for each rule a row of dots, on a logarithmic scale with a place for 0. */

const PLOTS = {
  "Log probabilities, nats": [
    "How far log probabilities moved",
    "The largest difference that each case saw, in nats, between answers that must agree within the limit (the dashed line), or, where there is no limit, beside other requests.",
  ],
  "Aborts, seconds": ["How soon an aborted request stopped", "Seconds from the abort, or from the client\u2019s leaving, until the engine had stopped; the dashed line is what the case allows."],
  "Aborts, tokens": ["How far an aborted request came", "Tokens that it had made when it stopped; the dashed line is what the case allows."],
};
const MOST_ROWS = 100; // drawn at once; the others when they are asked for

class Plot {
  constructor(data, { family, unit, rows }) {
    Object.assign(this, { data, unit, dots: new Map(), lines: [] });
    const [title, note] = PLOTS[`${family}, ${unit}`] || [family, `In ${unit}.`];
    const sorted = rows.map(([rule, dots]) => [rule, dots.map(([place, column, value, limit, name]) => ({ entry: data.cases[place], column, value, limit, name }))]);
    this.all = sorted.flatMap(([, dots]) => dots);
    this.scale = scaleOf(this.all);
    const axis = drawn("svg", { height: "18", "aria-hidden": "true" });
    for (const [at, text] of this.scale.ticks) axis.append(drawn("text", { x: percent(at), y: "13" }, text));
    const body = make("tbody", {});
    // Where not all rows are drawn, those with something beyond its limit are.
    if (sorted.length > MOST_ROWS) sorted.sort((one, other) => other[1].some(isBeyond) - one[1].some(isBeyond));
    const add = (some) => some.forEach(([rule, dots]) => body.append(this.row(rule, dots)));
    add(sorted.splice(0, MOST_ROWS));
    this.table = make(
      "table", { class: "list plot", "aria-label": `${title}, by rule` },
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Rule"), make("th", { scope: "col", class: "dots", "aria-label": "Cases" }, axis), make("th", { scope: "col" }, "Largest"))),
      body,
    );
    this.table.addEventListener("click", (event) => this.open(event.target.closest(".dot")));
    this.table.addEventListener("keydown", (event) => this.key(event));
    this.lines[0][0].setAttribute("tabindex", "0");
    const rest = make("button", { type: "button" }, `Draw ${plural(sorted.length, "more rule")}`);
    rest.hidden = !sorted.length;
    rest.addEventListener("click", () => {
      rest.hidden = true;
      add(sorted.splice(0));
    });
    this.parts = [make("h3", {}, shown(title)), make("p", { class: "quiet" }, shown(note)), this.table, rest, this.numbers(title)];
  }

  row(rule, dots) {
    const picture = drawn("svg", { role: "group", "aria-label": `Cases of ${shown(rule)}` });
    const levels = []; // the place of the last dot on each
    const marks = this.places(dots).map(([at, dot, more]) => {
      const free = levels.findIndex((last) => at - last > BIN);
      const level = free < 0 ? levels.length : free;
      levels[level] = at;
      const others = more ? `\nand ${plural(more, "other case")} here` : "";
      const text = `${shown(dot.entry.file)}::${shown(dot.entry.name)}\n${this.data.columns[dot.column]}: ${shown(dot.name)} ${told(dot, this.unit)}${others}`;
      const mark = markOf(this.data, dot.column, { x: percent(at), y: MARGIN + level * LEVEL, tabindex: "-1", role: "button" }, drawn("title", {}, text));
      if (isBeyond(dot)) mark.classList.add("beyond");
      this.dots.set(mark, dot);
      return mark;
    });
    picture.setAttribute("height", 2 * MARGIN + (levels.length - 1) * LEVEL);
    const line = (at, name) => drawn("line", { class: name, x1: percent(at), x2: percent(at), y1: 0, y2: "100%" });
    picture.append(
      ...this.scale.ticks.map(([at]) => line(at, "tick")),
      ...[...new Set(dots.map((dot) => dot.limit))].filter((limit) => limit != null).map((limit) => line(this.scale.place(limit), "limit")),
      ...marks,
    );
    this.lines.push(marks);
    const name = this.data.byRule.has(rule)
      ? make("button", { type: "button", class: "plain mono", onclick: (event) => openRule(this.data, this.data.byRule.get(rule), event.currentTarget) }, shown(rule))
      : make("span", { class: "mono" }, shown(rule));
    return make("tr", {}, make("th", { scope: "row" }, name), make("td", { class: "dots" }, picture), make("td", { class: "largest" }, ...this.largest(dots)));
  }

  /** Where dots stand, from left to right; where many meet, the last of them stands for the others. */
  places(dots) {
    const most = Math.max(1, Math.floor(LEVELS / this.data.columns.length));
    const met = new Map(), kept = [];
    for (const dot of dots) {
      const at = this.scale.place(dot.value);
      const key = `${binOf(at)} ${dot.column} ${isBeyond(dot)}`;
      const here = met.get(key) ?? [];
      met.set(key, here);
      if (here.length < most) {
        here.push([at, dot, 0]);
        kept.push(here.at(-1));
      } else here.at(-1)[2] += 1;
    }
    return kept.sort((one, other) => one[0] - other[0]);
  }

  /** The largest value of each column, those first that are beyond their limit. */
  largest(dots) {
    return this.data.columns.flatMap((_, column) => {
      const own = dots.filter((dot) => dot.column === column);
      if (!own.length) return [];
      const most = own.reduce((one, other) => (isBeyond(other) - isBeyond(one) || other.value - one.value) > 0 ? other : one);
      const sign = this.data.columns.length > 1 ? markSign(this.data, column) : "";
      return [make("span", { class: isBeyond(most) ? "st-failed" : "" }, sign, `${digits(most.value)}${most.limit == null ? "" : ` of ${digits(most.limit)}`}`)];
    });
  }

  /** All numbers as a table, which is made when it is opened. */
  numbers(title) {
    const block = make("details", { class: "numbers" }, make("summary", {}, `Numbers of ${plural(new Set(this.all.map((dot) => dot.entry)).size, "case")}`));
    block.addEventListener("toggle", () => {
      if (!block.open || block.querySelector("table")) return;
      const cases = new Map();
      for (const dot of this.all) {
        const key = JSON.stringify([dot.entry.file, dot.entry.name, dot.name, dot.limit]);
        if (!cases.has(key)) cases.set(key, []);
        cases.get(key).push(dot);
      }
      const body = make("tbody", {});
      for (const dots of cases.values()) {
        const [{ entry, name, limit }] = dots;
        const button = make("button", { type: "button", class: "plain mono", onclick: () => this.show(dots[0], button) }, shown(entry.name));
        const values = this.data.columns.map((_, column) => {
          const own = dots.find((dot) => dot.column === column);
          return make("td", { class: `num${own && isBeyond(own) ? " st-failed" : ""}` }, own ? String(own.value) : "");
        });
        body.append(make("tr", {}, make("td", {}, button, make("div", { class: "file" }, shown(entry.file))), make("td", {}, shown(name)), ...values, make("td", { class: "num" }, limit == null ? "none" : String(limit))));
      }
      block.append(make("table", { class: "list", "aria-label": `${title}, by case` }, headRow("Case", "Measured", ...this.data.columns, "Limit"), body));
    });
    return block;
  }

  open(mark) {
    if (!mark) return;
    this.rove(mark);
    this.show(this.dots.get(mark), mark);
  }

  /** The case of a dot in the panel, with all that it measured here. */
  show(chosen, origin) {
    const facts = make("dl", {});
    for (const dot of this.all.filter((one) => one.entry === chosen.entry)) {
      facts.append(make("dt", {}, shown(this.data.columns[dot.column])), make("dd", {}, shown(`${dot.name}: ${dot.value} ${this.unit}, ${dot.limit == null ? "no limit" : `limit ${dot.limit}`}`)));
    }
    openPanel(chosen.entry.name, origin, make("p", { class: "file" }, shown(chosen.entry.file)), facts, caseBlock(this.data, chosen.entry, true));
  }

  /** One dot alone is in the order of Tab. */
  rove(mark) {
    this.table.querySelector('.dot[tabindex="0"]').setAttribute("tabindex", "-1");
    mark.setAttribute("tabindex", "0");
    mark.focus();
  }

  key(event) {
    const mark = event.target.closest(".dot");
    if (!mark || event.ctrlKey || event.metaKey || event.altKey) return;
    const row = this.lines.findIndex((line) => line.includes(mark));
    const line = this.lines[row], at = line.indexOf(mark);
    const beside = (other) => other && other.reduce((one, two) => (Math.abs(this.left(two) - this.left(mark)) < Math.abs(this.left(one) - this.left(mark)) ? two : one));
    let next = null;
    if (event.key === "ArrowRight") next = line[at + 1];
    else if (event.key === "ArrowLeft") next = line[at - 1];
    else if (event.key === "ArrowDown") next = beside(this.lines[row + 1]);
    else if (event.key === "ArrowUp") next = beside(this.lines[row - 1]);
    else if (event.key === "Home") next = line[0];
    else if (event.key === "End") next = line.at(-1);
    else if (event.key === "Enter" || event.key === " ") this.open(mark);
    else return;
    event.preventDefault();
    if (next) this.rove(next);
  }

  left(mark) {
    return parseFloat(mark.getAttribute("x"));
  }
}

function measuredSection(data) {
  if (!data.measured.length) return;
  const section = byId("measured");
  section.hidden = false;
  section.append(make("p", { class: "quiet" }, "Each dot is a case, at the left edge where it measured 0; where many meet, one stands for several and says so. Tab to the dots, arrows to move, Enter to open the case."));
  if (data.columns.length > 1) {
    section.append(make("ul", { class: "key" }, ...data.columns.map((label, column) => make("li", {}, markSign(data, column), shown(label)))));
  }
  for (const plot of data.measured) section.append(...new Plot(data, plot).parts);
}
