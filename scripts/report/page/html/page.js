// What the page does beyond being read: numbers at a point, the way from a point to its row, what a
// row opens to, sorting, filtering, larger figures, a command to copy. All text goes in as text.

"use strict";
const report = JSON.parse(document.getElementById("report-data").textContent);
const tip = document.getElementById("tip");
const dialog = document.getElementById("zoom");
const rowsOf = (table) => [...table.querySelectorAll("tbody > tr[id]")];
const openedBy = (row) => row.nextElementSibling && row.nextElementSibling.matches(".opened") ?
    row.nextElementSibling :
    null;

function el(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null));
  return made;
}

// The row that a link in a figure or in the text leads to; null for any other link.
function rowOf(link) {
  const href = (link && link.getAttribute("href")) || "";
  const row = href.startsWith("#cell-") ? document.getElementById(href.slice(1)) : null;
  return row && row.matches(".cells tr") ? row : null;
}

function showTip(link, row) {
  const head = [...row.closest("table").tHead.rows[0].cells].map((th) => th.textContent);
  const numbers = [...row.cells].slice(4).map((td, i) => `${head[i + 4]}: ${td.textContent}`);
  tip.replaceChildren(
      el("b", {}, row.dataset.name),
      ...numbers.filter((words) => !words.endsWith(": -")).map((words) => el("div", {}, words)));
  (dialog.open ? dialog : document.body).append(tip);
  tip.hidden = false;
  const at = link.getBoundingClientRect(), own = tip.getBoundingClientRect();
  const left = Math.min(at.right + 8, innerWidth - own.width - 8);
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${
      at.bottom + 8 + own.height < innerHeight ? at.bottom + 8 :
                                                 Math.max(8, at.top - 8 - own.height)}px`;
}

document.addEventListener("pointerover", (event) => {
  const link = event.target.closest(".chart a");
  const row = rowOf(link);
  if (row)
    showTip(link, row);
  else
    tip.hidden = true;
});
document.addEventListener("scroll", () => tip.hidden = true, true);

// Shows the row, whatever the filter says, with its records.
function reveal(row) {
  row.hidden = false;
  row.querySelector("details").open = true;
}

document.addEventListener("click", (event) => {
  const row = rowOf(event.target.closest("a"));
  if (row) {
    tip.hidden = true;
    if (dialog.open) dialog.close();
    reveal(row);
  } else if (!event.target.closest("a, summary, button, .opened")) {
    const pressed = event.target.closest(".cells tbody > tr[id]");
    const details = pressed && pressed.querySelector("details");
    if (details) details.open = !details.open;
  }
});

function revealAddressed() {
  const row = rowOf(el("a", {href: location.hash}));
  if (row) reveal(row);
}
addEventListener("hashchange", revealAddressed);

// What a row opens to.

function pairs(list) {
  return el(
      "dl", {class: "pairs"},
      ...list.flatMap(([word, value]) => [el("dt", {}, word), el("dd", {}, value)]));
}

function recordTable(records) {
  const cells = (name, words) => words.map((word) => el(name, {}, word));
  return el(
      "div", {class: "scroll"},
      el("table", {class: "plain records"},
         el("thead", {}, el("tr", {}, ...cells("th", [...report.head, ""]))),
         el("tbody", {},
            ...records.map(
                ([numbers, state]) => el(
                    "tr", {class: state ? "invalid" : ""}, ...cells("td", [...numbers, state]))))));
}

// Each flag, error and surroundings once, with the lines of the records that have it.
function sayings(records) {
  const found = new Map();
  const say = (words, line) => found.set(words, [...(found.get(words) || []), line]);
  for (const [numbers, , error, flags, place] of records) {
    if (error) say(error, numbers[0]);
    for (const flag of flags) {
      const [name, severity, reason, remedy] = report.flags[flag];
      say(`${name || "?"} (${severity || "note"})${reason ? `: ${reason}` : ""}` +
              `${remedy ? `. ${remedy}` : ""}`,
          numbers[0]);
    }
    for (const [what, value] of report.surroundings[place]) say(`${what}: ${value}`, numbers[0]);
  }
  return [...found].map(
      ([words, lines]) =>
          el("li", {}, words, el("span", {class: "muted"}, ` line ${lines.join(", ")}`)));
}

function openedRow(row) {
  const cell = report.cells[row.id];
  const [counted, others] = cell.records;
  const said = sayings([...counted, ...others]);
  const box = el("td", {colspan: row.cells.length}, pairs(cell.facts), pairs(cell.axes));
  if (counted.length) box.append(recordTable(counted));
  if (others.length) box.append(el("p", {}, "Earlier tries, not counted"), recordTable(others));
  if (said.length) box.append(el("ul", {}, ...said));
  return el("tr", {class: "opened"}, box);
}

// The event does not bubble.
document.addEventListener("toggle", (event) => {
  const row = event.target.closest(".cells tbody > tr[id]");
  if (!row) return;
  const opened = openedBy(row);
  if (event.target.open && !opened) row.after(openedRow(row));
  if (!event.target.open && opened) opened.remove();
}, true);

// Sorting and filtering.

// What is unknown goes last, whichever way the rest goes.
function compare(a, b, down) {
  if (a === null || b === null) return (a === null) - (b === null);
  const order = a < b ? -1 : Number(a > b);
  return down ? -order : order;
}

function sort(table, column, down) {
  const key = (row) => report.cells[row.id].keys[column];
  for (const row of rowsOf(table).sort((a, b) => compare(key(a), key(b), down))) {
    const opened = openedBy(row);
    table.tBodies[0].append(row);
    if (opened) row.after(opened);
  }
}

function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((th, column) => {
    const button = el("button", {type: "button"}, th.textContent);
    button.addEventListener("click", () => {
      const down = th.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.setAttribute("aria-sort", "none");
      th.setAttribute("aria-sort", down ? "descending" : "ascending");
      sort(table, column, down);
    });
    th.replaceChildren(button);
  });
}

function makeFilter(controls, table) {
  const [field, odd] = controls.querySelectorAll("input");
  const status = controls.querySelector("[role=status]");
  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = rowsOf(table);
    for (const row of rows) {
      const text = `${row.dataset.name} ${row.textContent}`.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word)) ||
          (odd.checked && !row.classList.contains("flagged"));
      if (openedBy(row)) openedBy(row).hidden = row.hidden;
    }
    status.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} cells`;
  };
  field.addEventListener("input", show);
  odd.addEventListener("change", show);
  controls.hidden = false;
}

for (const table of document.querySelectorAll(".cells")) {
  makeSortable(table);
  makeFilter(table.closest("section").querySelector(".controls"), table);
}

// Figures and commands.

function enlarge(figure) {
  const chart = figure.querySelector(".chart"), place = document.createComment("");
  chart.replaceWith(place);
  dialog.querySelector("div").replaceChildren(chart);
  dialog.addEventListener("close", () => place.replaceWith(chart), {once: true});
  dialog.showModal();
}

for (const button of document.querySelectorAll(".larger")) {
  button.addEventListener("click", () => enlarge(button.closest("figure")));
  button.hidden = false;
}
dialog.querySelector("button").addEventListener("click", () => dialog.close());
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});

for (const button of document.querySelectorAll(".command button")) {
  button.addEventListener("click", async () => {
    const code = button.previousElementSibling;
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {  // a browser may forbid it: marked, it is a key press away
      getSelection().selectAllChildren(code);
    }
  });
  button.hidden = false;
}

// On paper everything is open but the rows, whose records would fill many sheets.
const unopened = new Set();
addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("details:not([open])")) {
    if (one.closest(".cells")) continue;
    unopened.add(one);
    one.open = true;
  }
});
addEventListener("afterprint", () => {
  for (const one of unopened) one.open = false;
  unopened.clear();
});

revealAddressed();
