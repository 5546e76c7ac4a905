
/* How well the suite tells right from wrong: lies that its cases caught, servers that do nothing. */

/** The data's lies as objects, and of each rule those that it guards against. */
function readScores(data) {
  if (!data.scores) return;
  const guards = new Map();
  data.scores.lies = data.scores.lies.map(([chapter, name, lie, caught, cases]) => {
    const entry = { chapter, name, lie, caught, cases: cases.map(([id, failed, rules]) => ({ id, failed, rules })) };
    for (const { failed, rules } of entry.cases) {
      for (const rule of failed ? rules : []) guards.set(rule, (guards.get(rule) || new Set()).add(entry));
    }
    return entry;
  });
  data.scores.musts = new Set(data.scores.musts);
  data.scores.guards = guards;
}

/** A bar of parts, each a style and a count; what it says stands beside it as text. */
function scoreBar(...parts) {
  const bar = make("div", { class: "bar", "aria-hidden": "true" });
  for (const [style, count] of parts) {
    if (!count) continue;
    const part = make("span", { class: style });
    part.style.flexGrow = count;
    bar.append(part);
  }
  return bar;
}

function scoreSection(data) {
  if (!data.scores) return;
  const { sentence, runs, chapters, lies } = data.scores;
  const section = byId("scores");
  section.hidden = false;
  section.append(
    make("p", {}, shown(`${sentence[0].toUpperCase()}${sentence.slice(1)}.`)),
    make("p", { class: "quiet" }, "A lie is the reference with one thing wrong, which a case must notice. A server that does nothing must pass almost nothing."),
  );
  const survived = lies.filter((entry) => !entry.caught);
  if (survived.length) section.append(make("h3", {}, `${plural(survived.length, "lie")} not caught`), lieTable(data, survived));
  const beside = make("div", { class: "beside" });
  if (chapters.length) beside.append(make("div", {}, make("h3", {}, "Lies caught, by chapter"), chapterTable(chapters)));
  if (data.scores.nulls.length) beside.append(make("div", {}, make("h3", {}, "Servers that do nothing"), nullTable(data.scores)));
  section.append(beside);
  if (lies.length) section.append(make("h3", {}, "What each lie is, and what catches it"));
  for (const [chapter] of chapters) {
    const own = lies.filter((entry) => entry.chapter === chapter);
    if (!own.length) continue;
    section.append(make("details", { class: "case" }, make("summary", {}, shown(`${chapter}: ${plural(own.length, "lie")}`)), lieTable(data, own)));
  }
  section.append(...runs.map(([made, command, release]) => make("p", { class: "quiet" }, shown(`Made ${made} on vLLM ${release} by ${command}`))));
}

function chapterTable(chapters) {
  const body = make("tbody", {});
  for (const [name, musts, guarded, mutants, caught] of chapters) {
    const told = make("span", { class: "quiet" }, mutants ? `${number(caught)} of ${number(mutants)}` : "none");
    body.append(make(
      "tr", {}, make("th", { scope: "row" }, shown(name)),
      make("td", { class: "wide" }, scoreBar(["st-passed", caught], ["st-failed", mutants - caught]), told),
      make("td", { class: "num" }, `${number(guarded)} of ${number(musts)}`),
    ));
  }
  return make("table", { class: "list" }, headRow("Chapter", "Lies caught", "Musts guarded"), body);
}

function nullTable({ nulls, ends }) {
  const body = make("tbody", {});
  for (const [name, does, share, counts] of nulls) {
    const ended = ends.map((end, at) => [end, counts[at]]).filter(([, count]) => count);
    const told = ended.map(([end, count]) => `${number(count)} ${words(end)}`).join(", ");
    body.append(make(
      "tr", {}, make("th", { scope: "row" }, shown(name), make("span", { class: "rule-text" }, shown(does))),
      make("td", { class: "wide" }, scoreBar(...ended.map(([end, count]) => [`st-${end}`, count])), make("span", { class: "quiet" }, told)),
      make("td", { class: "num" }, share),
    ));
  }
  return make("table", { class: "list" }, headRow("Server", "Its cases", "Passes"), body);
}

function lieTable(data, entries) {
  const body = make("tbody", {});
  for (const { name, lie, cases } of entries) {
    const told = make("td", {});
    for (const { id, failed, rules } of cases) {
      told.append(make("p", { class: "file" }, shown(failed ? id : `${id} (did not fail)`)), make("p", {}, ...listed(rules.map((rule) => ruleButton(data, rule)))));
    }
    body.append(make("tr", {}, make("td", {}, shown(lie), make("span", { class: "file" }, shown(` ${name}`))), told));
  }
  return make("table", { class: "list" }, headRow("Lie", "Case, and rules it judges"), body);
}

function ruleButton(data, id) {
  const rule = data.byRule.get(id);
  if (!rule?.cases.length) return make("span", { class: "mono" }, shown(id));
  const button = make("button", { type: "button", class: "plain mono", onclick: () => openRule(data, rule, button) }, shown(id));
  return button;
}

/** For the panel of a rule: the lies that guard it; nothing where it is not of level must and has none. */
function guardsOf(data, rule) {
  const found = [...(data.scores?.guards.get(rule.id) || [])];
  if (!found.length) return data.scores?.musts.has(rule.id) && data.scores.lies.length ? ["no lie"] : [];
  const told = found.map(({ name, lie }) => make("div", {}, shown(lie), make("span", { class: "file" }, shown(` ${name}`))));
  return told.length > 3 ? [make("details", {}, make("summary", {}, plural(told.length, "lie")), ...told)] : told;
}
