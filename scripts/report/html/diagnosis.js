// What feedrate diagnose found of one cell: verdict, waterfall, and the numbers behind them.

function diagnosisBox(setting) {
  const found = setting.diagnosis;
  const box =
      el("section", {class: "figure diagnosis"}, el("h3", {}, found.title),
         el("p", {class: "sentence"}, found.label), el("p", {class: "verdict"}, found.verdict),
         found.sentence ? el("p", {}, found.sentence) : null,
         el("dl", {},
            found.facts.flatMap(([name, words]) => [el("dt", {}, name), el("dd", {}, words)])));
  for (const panel of found.panels) {
    const words = `${found.title}: ${found.verdict}. The numbers are in the table below.`;
    box.append(
        el("p", {class: "sentence"}, found.explains),
        el("div", {class: "panels single"},
           plot(
               () => ({data: panel.data, layout: panel.layout}), panel.height, setting.badge, null,
               "waterfall", words)));
  }
  box.append(...found.notes.map((words) => el("p", {class: "note"}, words)));
  for (const table of found.tables) box.append(...plainTable(table));
  return box;
}

// A table of words: nothing in it opens anything.
function plainTable(table) {
  const kind = (i) => (table.numbers.includes(i) ? "number" : null);
  const head = table.head.map((words, i) => el("th", {scope: "col", class: kind(i)}, words));
  const rows = table.rows.map(
      (row, n) =>
          el("tr", {class: table.classes[n] || null},
             row.map((words, i) => el("td", {class: kind(i)}, words))));
  return [
    el("h4", {}, table.title), table.note ? el("p", {class: "note"}, table.note) : null,
    el("div", {class: "table plain"},
       el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows)))
  ].filter(Boolean);
}
