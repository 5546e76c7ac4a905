
/* What stands around the matrix: the summary, the filter, the wire's shape, the grid, the run. */

function summarise(data) {
  byId("title").textContent = data.kinds.length
    ? `${data.columns[1]} against ${data.columns[0]}`
    : data.columns.length > 3 ? `${data.columns[0]} to ${data.columns.at(-1)}` : data.columns.join(", ");
  byId("sentence").textContent = shown(data.sentence);
  for (const problem of data.problems) byId("problems").append(make("li", {}, shown(`Problem: ${problem}`)));
  data.columns.forEach((label, column) => {
    const counts = data.order.map((letter) => [data.letters[letter], data.cases.filter((entry) => entry.letters[column] === letter).length]);
    byId("summary").append(tallyBar(label, counts.reverse().filter(([, count]) => count), (status) => `st-${status}`, words, statusMark));
  });
  if (!data.kinds.length) return;
  const counts = data.kinds.map((kind) => [kind, data.cases.filter((entry) => entry.kind === kind).length]);
  const waived = (kind) => {
    const count = data.cases.filter((entry) => entry.kind === kind && entry.waived).length;
    return kind + (count ? ` (${number(count)} waived)` : "");
  };
  byId("summary").append(tallyBar("What changed", counts.filter(([, count]) => count), (kind) => `ch-${SIGNS[kind]}`, waived, kindMark));
}

function tallyBar(label, counts, style, told, mark) {
  const bar = make("div", { class: "bar", "aria-hidden": "true" });
  const list = make("ul", { class: "counts" });
  for (const [name, count] of counts) {
    const part = make("span", { class: style(name) });
    part.style.flexGrow = count;
    bar.append(part);
    list.append(make("li", { class: style(name) }, mark(name), make("span", {}, " ", make("b", {}, number(count)), ` ${told(name)}`)));
  }
  return make("div", { class: "run" }, make("h2", {}, label), bar, list);
}

/** The filter's form; `changed` is called with what is asked for. */
function filterForm(data, changed) {
  const form = byId("filter");
  const asked = { text: [], status: new Set(), change: new Set(), level: new Set(), role: new Set() };
  const field = make("input", {
    type: "search", id: "search", placeholder: "Rule, word or case", "aria-label": "Filter by text", "aria-keyshortcuts": "/", autocomplete: "off", spellcheck: "false",
  });
  const tell = () => changed(asked, [...asked.text, ...[asked.status, asked.change, asked.level, asked.role].flatMap((set) => [...set])].map(words));
  field.addEventListener("input", () => {
    asked.text = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    tell();
  });
  form.append(field);
  const group = (title, key, names, mark) => {
    if (names.length < 2) return;
    const set = make("fieldset", {}, make("legend", {}, title));
    for (const name of names) {
      const button = make("button", { type: "button", "aria-pressed": "false", "data-filter": `${key}:${name}` }, mark ? mark(name) : "", mark ? " " : "", words(name));
      button.addEventListener("click", () => {
        const on = !asked[key].delete(name);
        if (on) asked[key].add(name);
        button.setAttribute("aria-pressed", String(on));
        tell();
      });
      set.append(button);
    }
    form.append(set);
  };
  const present = data.order.filter((letter) => data.cases.some((entry) => entry.letters.includes(letter)));
  group("Status", "status", present.map((letter) => data.letters[letter]), statusMark);
  group("Change", "change", data.kinds.filter((kind) => data.cases.some((entry) => entry.kind === kind)), kindMark);
  group("Level", "level", ["must", "should", "survey"].filter((level) => data.rules.some((rule) => rule.level === level)));
  group("Role", "role", [...new Set(data.rules.flatMap((rule) => rule.roles))]);
  form.addEventListener("submit", (event) => event.preventDefault());
  const clear = () => {
    field.value = "";
    for (const set of Object.values(asked)) if (set instanceof Set) set.clear();
    asked.text = [];
    for (const button of form.querySelectorAll("[aria-pressed]")) button.setAttribute("aria-pressed", "false");
    tell();
  };
  return { field, clear, tell };
}

const headRow = (...names) => make("thead", {}, make("tr", {}, ...names.map((name) => make("th", { scope: "col" }, name))));

function shapeSection(data) {
  if (!data.kinds.length) return;
  const section = byId("shapes");
  section.hidden = false;
  if (!data.shapes) {
    section.append(make("p", { class: "quiet" }, "One of the two reports was made before reports kept the shapes of answers, so that they cannot be compared."));
    return;
  }
  section.append(...data.shapes.readers.map((line) => make("p", {}, shown(line))));
  if (!data.shapes.moves.length) return;
  const body = make("tbody", {});
  for (const [kind, route, path, told, rules] of data.shapes.moves) {
    body.append(make(
      "tr", {}, make("td", {}, kind), make("td", { class: "mono" }, shown(route)),
      make("td", {}, make("code", {}, shown(path)), ` ${shown(told)}`),
      make("td", {}, ...listed(rules.map((id) => make("code", {}, shown(id))))),
    ));
  }
  section.append(make("table", { class: "list" }, headRow("Move", "Route and status", "What moved", "Seen by"), body));
}

function gridSection(data) {
  if (!data.grid) return;
  const section = byId("upgrade");
  section.hidden = false;
  const key = make("ul", { class: "key" });
  for (const [state, letter] of Object.entries(data.grid.states)) {
    key.append(make("li", {}, make("b", { class: `gr-${state}` }, letter), words(state)));
  }
  section.append(make("p", { class: "quiet" }, "A cell shows the worst of its exchanges; open it for the rule of each."), key);
  for (const plane of data.grid.planes) section.append(planeTable(data, plane));
  const body = make("tbody", {});
  for (const [name, count, expected, reason, source, contradicts] of data.grid.rules) {
    const why = make("td", {}, shown(source ? `${reason} (${source})` : reason), contradicts ? make("p", { class: "note" }, shown(`Contradicts: ${contradicts}`)) : "");
    body.append(make("tr", {}, make("td", { class: "num" }, number(count)), make("td", {}, words(expected)), make("td", { class: "mono" }, shown(name)), why));
  }
  section.append(make("h3", {}, "Rules of the cells"), make("table", { class: "list" }, headRow("Cells", "Expected", "Rule", "Why"), body));
}

function planeTable(data, plane) {
  const [down, across] = plane.axes;
  const cells = new Map(plane.cells.map((cell) => [`${cell[0]} ${cell[1]}`, cell]));
  const head = make("tr", {}, make("td", {}), ...plane.columns.map((name, at) => make("th", { scope: "col", title: name, "aria-label": name }, plane.labels[at])));
  const body = make("tbody", {});
  plane.rows.forEach((name, row) => {
    const line = make("tr", {}, make("th", { scope: "row" }, name));
    plane.columns.forEach((other, column) => {
      const cell = cells.get(`${row} ${column}`);
      if (!cell) {
        line.append(make("td", {}));
        return;
      }
      const state = cell[2];
      const button = make("button", {
        type: "button", class: `gr-${state}`, tabindex: "-1", title: words(state), "data-place": `${row} ${column}`,
        "aria-label": `${down} ${name}, ${across} ${other}: ${words(state)}, ${plural(cell[3].length, "exchange")}`,
        onclick: () => openCell(data, plane, cell, button),
      }, data.grid.states[state]);
      line.append(make("td", {}, button));
    });
    body.append(line);
  });
  const table = make("table", { "aria-label": `${down} by ${across}` }, make("thead", {}, head), body);
  table.querySelector("button").tabIndex = 0;
  table.addEventListener("keydown", (event) => {
    const step = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key];
    const from = event.target.closest("[data-place]");
    if (!step || !from) return;
    event.preventDefault();
    let [row, column] = from.dataset.place.split(" ").map(Number);
    // A mix that was not met is stepped over.
    for (;;) {
      row += step[0];
      column += step[1];
      if (row < 0 || column < 0 || row >= plane.rows.length || column >= plane.columns.length) return;
      const next = table.querySelector(`[data-place="${row} ${column}"]`);
      if (!next) continue;
      from.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
      return;
    }
  });
  return make("div", { class: "plane" }, make("h3", {}, `${down} (rows) and ${across} (columns)`), table);
}

function runSection(data) {
  const section = byId("run");
  const { cases, exchanges, texts } = data.left_out;
  const gone = [
    cases && `the exchanges of ${plural(cases, "other passed case")}`,
    exchanges && plural(exchanges, "early exchange of long cases", "early exchanges of long cases"),
    texts && `the ends of ${plural(texts, "long text")}`,
  ].filter(Boolean);
  section.append(make(
    "p", { class: "quiet" },
    "The page holds the exchanges of every case that did not simply pass, on each side, and of one passed case of each rule. " +
    (gone.length ? `Left out, and in the report, are ${gone.join("; ")}. ` : "") +
    "Between two sides, times, random ids and ports are not marked as differences.",
  ));
  for (const run of data.runs) {
    const facts = make("dl", {});
    const fact = (name, text) => facts.append(make("dt", {}, name), make("dd", {}, shown(text)));
    fact("Run", `${run.started} to ${run.finished}`);
    fact("Command", run.command.join(" "));
    fact("Cases", `${number(run.reported)} of ${number(run.planned)} planned; exit code ${run.exit_code}`);
    for (const [name, version, obtained] of run.releases) fact(`vLLM ${name}`, `${version}: ${obtained}`);
    fact("Engines", run.engines.join(", "));
    fact("Machine", `Python ${run.python}, ${run.platform}${run.seed == null ? "" : `, seed ${run.seed}`}`);
    section.append(make("h3", {}, run.targets.join(", ")), facts);
  }
}
