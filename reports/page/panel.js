
/* What is chosen in the matrix or the upgrade grid, in full. */

const panel = byId("panel");
let cameFrom = null; // takes the keyboard back when the panel closes

const statusMark = (status) => make("span", { class: `st-${status}` }, icon(status));

function openPanel(title, origin, ...children) {
  cameFrom = origin;
  panel.replaceChildren(
    make("button", { type: "button", class: "close", onclick: closePanel }, "Close ", make("kbd", {}, "Esc")),
    make("h2", { id: "panel-title", tabindex: "-1" }, shown(title)),
    ...children,
  );
  panel.hidden = false;
  byId("page").classList.add("with-panel");
  panel.scrollTop = 0;
  byId("panel-title").focus({ preventScroll: true });
}

function closePanel() {
  if (panel.hidden) return;
  panel.hidden = true;
  byId("page").classList.remove("with-panel");
  panel.replaceChildren();
  for (const row of document.querySelectorAll('[aria-selected="true"]')) row.setAttribute("aria-selected", "false");
  history.replaceState(null, "", location.pathname + location.search);
  cameFrom?.focus();
}

/** A public issue or pull request in `text` as a link; anything else as it is. */
function reference(text) {
  const found = /([\w.-]+\/[\w.-]+)#(\d+)/.exec(text);
  if (!found) return document.createTextNode(shown(text));
  const [all, repository, count] = found;
  const link = make("a", { href: `https://github.com/${repository}/issues/${count}`, rel: "noreferrer noopener" }, all);
  return make("span", {}, shown(text.slice(0, found.index)), link, shown(text.slice(found.index + all.length)));
}

const listed = (items) => items.flatMap((item, at) => (at ? [", ", item] : [item]));

/** A case that can be opened; its evidence comes when it is. */
function caseBlock(data, entry, open) {
  const marks = [...entry.letters].map((letter, at) => {
    const status = data.letters[letter];
    const mark = status ? statusMark(status) : make("span", { class: "quiet" }, "\u00b7");
    mark.title = `${data.columns[at]}: ${status ? words(status) : "no such case"}`;
    return mark;
  });
  const told = [...entry.letters].map((letter) => words(data.letters[letter] || "no such case"));
  const summary = make(
    "summary", {}, ...marks.flatMap((mark) => [mark, " "]),
    make("span", { class: "case-name" }, shown(entry.name)), " ",
    make("span", { class: "quiet" }, [...new Set(told)].join(" \u2192 "), entry.kind ? `, ${entry.kind}` : ""),
  );
  const block = make("details", { class: "case" }, summary);
  block.addEventListener("toggle", async () => {
    if (!block.open || block.dataset.filled) return;
    block.dataset.filled = "yes";
    if (entry.waived) block.append(make("p", { class: "note body" }, shown(`Waived: ${entry.waived}`)));
    if (!entry.detail) {
      block.append(make("p", { class: "note body" }, "It passed. Its exchanges stand in the report; the page keeps one passed case of a rule."));
      return;
    }
    try {
      const [chunk, place] = entry.detail;
      block.append(evidence((await unpacked(chunk))[place], data.columns));
    } catch (error) {
      block.append(make("p", { class: "note body" }, `The evidence cannot be unpacked here: ${error.message}`));
    }
    block.dataset.filled = "done";
  });
  block.open = open;
  return block;
}

function caseList(data, entries) {
  const list = make("div", {});
  const rank = (entry) => Math.min(...[...entry.letters].map((letter) => data.order.indexOf(letter)).filter((at) => at >= 0));
  const sorted = entries
    .map((entry) => [data.kinds.length ? kindRank(data, entry) : 0, rank(entry), entry])
    .sort((one, other) => one[0] - other[0] || one[1] - other[1])
    .map(([, , entry]) => entry);
  const first = sorted.find((entry) => entry.detail);
  let file = null;
  for (const entry of sorted) {
    if (entry.file !== file) list.append(make("p", { class: "file" }, shown(entry.file)));
    file = entry.file;
    list.append(caseBlock(data, entry, entry === first));
  }
  return list;
}

const kindRank = (data, entry) => (entry.kind ? data.kinds.indexOf(entry.kind) : data.kinds.length);

function openRule(data, rule, origin) {
  const facts = make("dl", {});
  const fact = (name, ...values) => values.length && facts.append(make("dt", {}, name), make("dd", {}, ...values));
  fact("Level", rule.level);
  if (rule.roles.length) fact("Roles", rule.roles.join(", "));
  if (rule.since) fact("Since", rule.since);
  if (rule.references.length) fact("References", ...listed(rule.references.map(reference)));
  if (rule.needs.length) {
    fact("Needs", ...listed(rule.needs.map((id) => (data.byRule.has(id)
      ? make("button", { type: "button", class: "plain mono", onclick: () => openRule(data, data.byRule.get(id), origin) }, id)
      : make("span", { class: "mono" }, id)))));
  }
  fact("Lies it catches", ...guardsOf(data, rule));
  openPanel(
    rule.id, origin, make("p", { class: "statement" }, shown(rule.text)), facts,
    make("h3", {}, plural(rule.cases.length, "case")), caseList(data, rule.cases),
  );
  history.replaceState(null, "", address(rule.id));
}

function openCell(data, plane, cell, origin) {
  const [row, column, , met] = cell;
  const list = make("div", {});
  for (const [exchange, mix, state, rule, place, outcome] of met) {
    const [name, , expected, reason, source, contradicts] = data.grid.rules[rule];
    const facts = make("dl", {});
    const fact = (title, text) => text && facts.append(make("dt", {}, title), make("dd", {}, shown(text)));
    fact("Nodes", mix);
    fact("Outcome", [outcome, outcome === state ? "" : state].filter(Boolean).map(words).join(", "));
    fact("Expected", words(expected));
    fact("Rule", name);
    fact("Why", reason);
    fact("Reference", source);
    fact("Contradicts", contradicts);
    list.append(make("h3", {}, shown(exchange)), facts, caseBlock(data, data.cases[place], false));
  }
  openPanel(`${plane.axes[0]} ${plane.rows[row]}, ${plane.axes[1]} ${plane.columns[column]}`, origin, list);
}
