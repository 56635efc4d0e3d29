// All cells of a setting: sorted by any column, filtered by words, a row opens its records.

function tableBox(setting) {
  const cells = setting.cells.map((number) => ({number, ...report.cells[number]}));
  const state = {column: -1, down: false, words: "", odd: false};
  const body = el("tbody", {});
  const count = el("span", {class: "note", role: "status"});
  const headers = report.head.map((words, i) => {
    const th = el("th", {scope: "col", "aria-sort": "none", class: numeric(i) ? "number" : null});
    th.append(button(words, {}, () => {
      state.down = state.column === i ? !state.down : false;
      state.column = i;
      headers.forEach((other) => other.setAttribute("aria-sort", "none"));
      th.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      show();
    }));
    return th;
  });
  const rows = new Map(cells.map((cell) => [cell.number, row(cell)]));
  const show = () => {
    const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
    const found = cells.filter(
        (cell) => (!state.odd || cell.invalid || cell.missing || cell.row[9] !== "-") &&
            words.every(
                (word) => (cell.name + " " + cell.row.join(" ")).toLowerCase().includes(word)));
    if (state.column >= 0)
      found.sort((a, b) => compare(a.keys[state.column], b.keys[state.column], state.down));
    body.replaceChildren(...found.map((cell) => rows.get(cell.number)));
    count.textContent = `${found.length} of ${plural(cells.length, "cell")}`;
  };
  const filter = el(
      "input",
      {type: "search", placeholder: "Filter: jpeg 8 …", "aria-label": "Filter the cells by words"});
  filter.addEventListener("input", () => {
    state.words = filter.value;
    show();
  });
  const odd = el("input", {type: "checkbox"});
  odd.addEventListener("change", () => {
    state.odd = odd.checked;
    show();
  });
  show();
  return el(
      "section", {class: "figure"}, el("h3", {}, "All cells"),
      el("p", {class: "sentence"},
         `± is the wider side of the interval (${setting.intervals.join("; ") || "none"}); ` +
             "n counts repetitions; ! is not valid; a * marks a share of a ceiling that drifted. " +
             "A row opens the records behind it."),
      el("div", {class: "controls"}, filter, el("label", {}, odd, " flagged or missing only"),
         count),
      el("div", {class: "table"}, el("table", {}, el("thead", {}, el("tr", {}, headers)), body)));
}

function numeric(column) {
  return column >= 2 && column <= 7;
}

function row(cell) {
  const line = el("tr", {
    class: [
      cell.invalid ? "invalid" : "", cell.missing ? "missing" : "", cell.ceiling ? "ceiling" : ""
    ].join(" ").trim() ||
        null
  });
  cell.row.forEach((words, i) => {
    const shown = words.length > 60 ? words.slice(0, 57) + "…" : words;
    const mark =
        i === 5 && cell.invalid ? el("span", {class: "badge bad small"}, "! invalid") : null;
    const content = i === 0 ?
        button(shown, {class: "link", "aria-label": `Records of ${cell.name}`}, () => {}) :
        shown;
    line.append(el("td", {class: numeric(i) ? "number" : null}, content, mark));
  });
  line.addEventListener("click", () => openRecords(cell.number, line.querySelector("button")));
  return line;
}

// What is unknown goes last, whichever way the rest goes.
function compare(a, b, down) {
  if (a === null || b === null) return (a === null) - (b === null);
  const order = Array.isArray(a) ? a[0] - b[0] || (a[1] < b[1] ? -1 : Number(a[1] > b[1])) :
      a < b                      ? -1 :
                                   Number(a > b);
  return down ? -order : order;
}
