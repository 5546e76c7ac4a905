
/* The matrix of requirements and targets: a tree of chapters that is moved in with the arrow keys. */

const BAD = new Set(["failed", "error", "not_judged"]);
const SIGNS = {
  "newly failing": "worse", "newly unsupported": "worse", vanished: "worse", "new and failing": "worse",
  "still failing": "still", fixed: "better", "newly supported": "better", new: "new", same: "same",
};

const kindMark = (kind) => make("span", { class: `ch-${SIGNS[kind]}` }, icon(SIGNS[kind] === "still" ? "same" : SIGNS[kind]));

/** How the cases ended in one column: an icon and a number for each status, in words for a reader. */
function tallyCell(data, entries, column) {
  const counts = new Map();
  for (const entry of entries) {
    const letter = entry.letters[column];
    if (data.letters[letter]) counts.set(letter, (counts.get(letter) || 0) + 1);
  }
  const cell = make("td", { role: "gridcell", class: "cell" });
  const told = [];
  for (const letter of data.order) {
    const count = counts.get(letter);
    if (!count) continue;
    const status = data.letters[letter];
    told.push(`${count} ${words(status)}`);
    cell.append(make("span", { class: `tally st-${status}` }, icon(status), ` ${number(count)}`));
  }
  const text = told.join(", ") || "no case";
  cell.title = text;
  cell.setAttribute("aria-label", `${data.columns[column]}: ${text}`);
  return cell;
}

function changeCell(data, entries) {
  const counts = new Map();
  for (const entry of entries) counts.set(entry.kind, (counts.get(entry.kind) || 0) + 1);
  const cell = make("td", { role: "gridcell", class: "cell change" });
  for (const kind of data.kinds) {
    if (!counts.has(kind) || kind === "same") continue;
    const waived = entries.filter((entry) => entry.kind === kind && entry.waived).length;
    const note = waived ? make("small", {}, ` (${waived === counts.get(kind) ? "waived" : `${waived} waived`})`) : "";
    cell.append(make("span", { class: "tally" }, kindMark(kind), ` ${number(counts.get(kind))} ${kind}`, note));
  }
  return cell;
}

class Matrix {
  constructor(data) {
    this.data = data;
    this.chapters = [];
    this.table = make("table", { role: "treegrid", "aria-label": "Requirements by target" });
    this.table.append(this.head());
    const chapters = new Map();
    for (const rule of data.rules) {
      const name = rule.id.split(".")[0];
      if (!chapters.has(name)) chapters.set(name, []);
      chapters.get(name).push(rule);
    }
    for (const [name, rules] of chapters) this.addChapter(name, rules);
    this.table.addEventListener("click", (event) => this.act(event.target.closest("tbody tr")));
    this.table.addEventListener("keydown", (event) => this.key(event));
    this.table.addEventListener("focusin", (event) => this.rove(event.target.closest("tbody tr")));
    byId("matrix").classList.toggle("many", data.columns.length > 4);
    byId("matrix").append(this.table);
    this.rove(this.rows()[0]);
  }

  head() {
    const row = make("tr", { role: "row" }, make("th", { role: "columnheader", scope: "col" }, "Requirement"));
    for (const label of this.data.columns) row.append(make("th", { role: "columnheader", scope: "col", class: "target" }, label));
    if (this.data.kinds.length) row.append(make("th", { role: "columnheader", scope: "col" }, "Change"));
    return make("thead", { role: "rowgroup" }, row);
  }

  addChapter(name, rules) {
    const entries = [...new Set(rules.flatMap((rule) => rule.cases))];
    const count = make("span", { class: "quiet" });
    const head = make(
      "tr", { role: "row", class: "chapter", "aria-level": "1", "aria-expanded": "false", tabindex: "-1" },
      make("th", { role: "rowheader", scope: "row" }, make("span", { class: "fold" }, icon("fold")), shown(name), " ", count),
      ...this.cells(entries),
    );
    const chapter = { name, head, count, entries, rules: [], open: false };
    for (const rule of rules) {
      const row = make(
        "tr", { role: "row", class: "rule", "aria-level": "2", "aria-selected": "false", tabindex: "-1" },
        make(
          "th", { role: "rowheader", scope: "row" },
          make("span", { class: "rule-id" }, shown(rule.id)),
          ...(rule.level === "must" ? [] : [" ", make("span", { class: "level" }, rule.level)]),
          make("span", { class: "rule-text" }, shown(rule.text)),
        ),
        ...this.cells(rule.cases),
      );
      row.dataset.rule = rule.id;
      rule.row = row;
      chapter.rules.push(rule);
    }
    this.table.append(make("tbody", { role: "rowgroup" }, head, ...chapter.rules.map((rule) => rule.row)));
    this.chapters.push(chapter);
    const isBad = (entry) => [...entry.letters].some((letter) => BAD.has(this.data.letters[letter]));
    const isWorse = (entry) => SIGNS[entry.kind] === "worse" && !entry.waived;
    this.fold(chapter, this.data.kinds.length ? entries.some(isWorse) : entries.some(isBad));
  }

  cells(entries) {
    const cells = this.data.columns.map((_, column) => tallyCell(this.data, entries, column));
    return this.data.kinds.length ? [...cells, changeCell(this.data, entries)] : cells;
  }

  fold(chapter, open) {
    chapter.open = open;
    chapter.head.setAttribute("aria-expanded", String(open));
    for (const rule of chapter.rules) rule.row.classList.toggle("folded", !open);
  }

  foldAll(open) {
    for (const chapter of this.chapters) this.fold(chapter, open);
    this.rove(this.rows()[0]);
  }

  /** Show the rules that `keeps` keeps; a filter unfolds what it leaves. */
  filter(keeps, isFiltered) {
    let rules = 0;
    for (const chapter of this.chapters) {
      let kept = 0;
      for (const rule of chapter.rules) {
        rule.row.hidden = !keeps(rule);
        kept += !rule.row.hidden;
      }
      chapter.head.hidden = !kept;
      chapter.count.textContent = kept === chapter.rules.length ? number(kept) : `${number(kept)} of ${number(chapter.rules.length)}`;
      if (isFiltered && kept) this.fold(chapter, true);
      rules += kept;
    }
    const rows = this.rows();
    if (!rows.includes(this.current)) this.rove(rows[0]);
    return rules;
  }

  rows() {
    return [...this.table.tBodies].flatMap((body) => [...body.rows]).filter((row) => !row.hidden && !row.classList.contains("folded"));
  }

  /** One row alone is in the order of Tab. */
  rove(row) {
    if (!row) return;
    if (this.current) this.current.tabIndex = -1;
    this.current = row;
    row.tabIndex = 0;
  }

  chapterOf(row) {
    return this.chapters.find((chapter) => chapter.head === row.parentElement.rows[0]);
  }

  act(row) {
    if (!row) return;
    if (row.classList.contains("chapter")) {
      const chapter = this.chapterOf(row);
      this.fold(chapter, !chapter.open);
      return;
    }
    this.choose(this.data.byRule.get(row.dataset.rule));
  }

  choose(rule) {
    for (const other of this.table.querySelectorAll('[aria-selected="true"]')) other.setAttribute("aria-selected", "false");
    const chapter = this.chapterOf(rule.row);
    if (!chapter.open) this.fold(chapter, true);
    rule.row.setAttribute("aria-selected", "true");
    this.rove(rule.row);
    openRule(this.data, rule, rule.row);
  }

  key(event) {
    const row = event.target.closest("tbody tr");
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = this.rows();
    const at = rows.indexOf(row);
    const isChapter = row.classList.contains("chapter");
    const chapter = this.chapterOf(row);
    let next = null;
    if (event.key === "ArrowDown") next = rows[at + 1];
    else if (event.key === "ArrowUp") next = rows[at - 1];
    else if (event.key === "Home") next = rows[0];
    else if (event.key === "End") next = rows.at(-1);
    else if (event.key === "ArrowRight") {
      if (isChapter && !chapter.open) this.fold(chapter, true);
      else if (isChapter) next = rows[at + 1];
      else this.act(row);
    } else if (event.key === "ArrowLeft") {
      if (isChapter) this.fold(chapter, false);
      else next = chapter.head;
    } else if (event.key === "Enter" || event.key === " ") this.act(row);
    else return;
    event.preventDefault();
    if (next) {
      next.focus({ preventScroll: true });
      next.scrollIntoView({ block: "nearest" });
    }
  }
}
