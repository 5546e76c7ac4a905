
/* The data is read, everything is drawn, and the keyboard is listened to. */

function readData() {
  const data = JSON.parse(byId("index").textContent);
  data.order = Object.keys(data.letters);
  data.rules = data.rules.map(([id, text, level, roles, since, references, needs]) => ({
    id, text, level, roles, since, references, needs, cases: [],
    words: `${id} ${text} ${references.join(" ")}`.toLowerCase(),
  }));
  data.byRule = new Map(data.rules.map((rule) => [rule.id, rule]));
  data.cases = data.cases.map(([file, name, rules, letters, detail, kind, waived]) => {
    const entry = {
      file: data.files[file], name: name || data.files[file], letters, detail, kind: data.kinds[kind], waived: data.waived[waived],
      words: `${data.files[file]}::${name}`.toLowerCase(),
    };
    for (const rule of rules) data.rules[rule].cases.push(entry);
    return entry;
  });
  data.rules = data.rules.filter((rule) => rule.cases.length);
  readScores(data);
  return data;
}

function keeps(data, asked, rule) {
  if (asked.level.size && !asked.level.has(rule.level)) return [];
  if (asked.role.size && !rule.roles.some((role) => asked.role.has(role))) return [];
  return rule.cases.filter((entry) => (
    (!asked.status.size || [...entry.letters].some((letter) => asked.status.has(data.letters[letter]))) &&
    (!asked.change.size || asked.change.has(entry.kind)) &&
    asked.text.every((word) => rule.words.includes(word) || entry.words.includes(word))
  ));
}

function draw() {
  const data = readData();
  summarise(data);
  const matrix = new Matrix(data);
  const filter = filterForm(data, (asked, told) => {
    const cases = new Set();
    const rules = matrix.filter((rule) => {
      const kept = keeps(data, asked, rule);
      for (const entry of kept) cases.add(entry);
      return kept.length > 0;
    }, told.length > 0);
    byId("shown").textContent = `${plural(rules, "requirement")}, ${plural(cases.size, "case")}${told.length ? `: filtered by ${told.join(", ")}` : ""}`;
    byId("nothing").hidden = rules > 0;
    clear.hidden = !told.length;
  });
  const tool = (text, act) => make("button", { type: "button", class: "plain", onclick: act }, text);
  const clear = tool("Clear filter", filter.clear);
  byId("tools").append(clear, tool("Unfold all", () => matrix.foldAll(true)), tool("Fold all", () => matrix.foldAll(false)));
  filter.tell();
  measuredSection(data);
  shapeSection(data);
  gridSection(data);
  scoreSection(data);
  runSection(data);
  for (const section of document.querySelectorAll("main > section:not([hidden]) > h2")) {
    byId("contents").append(make("a", { href: `#${section.parentElement.id}` }, section.textContent));
  }
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("input, textarea");
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      filter.field.focus();
      filter.field.select();
    } else if (event.key === "Escape" && isTyping) {
      event.preventDefault();
      filter.clear();
    } else if (event.key === "Escape" && !panel.hidden) {
      event.preventDefault();
      closePanel();
    }
  });
  const chosen = data.rules.find((rule) => address(rule.id) === location.hash);
  if (chosen?.cases.length) {
    matrix.choose(chosen);
    chosen.row.scrollIntoView({ block: "center" });
  }
}

draw();
// After the next frame the matrix is on the screen; the tests read when that was.
requestAnimationFrame(() => setTimeout(() => {
  document.documentElement.dataset.drawn = performance.now().toFixed(1);
}));
