// The records behind a number: which lines of the ledger, what they say, word for word.

const dialog = document.getElementById("records");
let cameFrom = null;

function openRecords(number, from) {
  const cell = report.cells[number];
  cameFrom = from || null;
  const close = button("Close", {class: "close"}, () => dialog.close());
  const head = el("header", {}, el("h2", {id: "records-title"}, cell.name), close);
  const body = el("div", {class: "dialog-body"});
  body.append(badges(cell, report.settings[cell.setting]));
  body.append(el("p", {class: "note"}, report.settings[cell.setting].heading));
  body.append(el(
      "dl", {}, cell.facts.flatMap(([word, value]) => [el("dt", {}, word), el("dd", {}, value)])));
  if (cell.recorded)
    body.append(
        el("p", {class: "note"},
           "The ledger holds no run of this ceiling: the records below name it as " +
               "ceiling_imgs_per_s."));
  if (cell.in_pairs)
    body.append(el(
        "p", {class: "note"},
        "This ceiling was measured in pairs: its blocks are in the records of the cells below, " +
            "which name its rate as ceiling_imgs_per_s."));
  body.append(
      el("h3", {}, `${plural(cell.records.length, "record")} behind it`),
      el("p", {class: "note"}, `${lineWords(cell.records)} of ${report.ledger}`));
  body.append(...cell.records.map((place) => recordBox(report.records[place])));
  if (cell.others.length) {
    body.append(
        el("h3", {},
           `${plural(cell.others.length, "earlier try")}, not counted`.replace("trys", "tries")),
        ...cell.others.map((place) => recordBox(report.records[place])));
  }
  dialog.replaceChildren(head, body);
  if (!dialog.open) dialog.showModal();
  body.scrollTop = 0;
}

function badges(cell, setting) {
  const box = el("p", {class: "badges"});
  if (setting.badge)
    box.append(
        el("span", {class: `badge ${setting.kind === "emulated" ? "emulated" : "cpu"}`},
           setting.badge));
  if (cell.invalid) box.append(el("span", {class: "badge bad"}, "! not valid: do not quote"));
  if (cell.missing) box.append(el("span", {class: "badge bad"}, "× missing"));
  return box;
}

function recordBox(record) {
  const rate = record.rate === null ?
      record.status :
      `${record.rate.toLocaleString("en", {maximumSignificantDigits: 6})} images/s`;
  const box =
      el("article", {class: "record" + (record.valid ? "" : " invalid")},
         el("h4", {}, `line ${record.line}: repetition ${record.repetition}, ${rate}`,
            record.valid ? null :
                           el("span", {class: "badge bad"},
                              record.status === "ok" ? "! not valid" : `× ${record.status}`)));
  if (record.started) box.append(el("p", {class: "note"}, `started ${record.started}`));
  if (record.error) box.append(el("p", {class: "note warning"}, record.error));
  for (const [name, severity, reason, remedy] of record.flags) {
    box.append(
        el("p", {class: `flag severity-${["serious", "warning"].indexOf(severity)}`},
           el("b", {}, name || "?"), ` (${severity || "note"})`, reason ? `: ${reason}` : "",
           remedy ? el("span", {class: "remedy"}, ` Remedy: ${remedy}`) : null));
  }
  if (!record.flags.length && record.status === "ok")
    box.append(el("p", {class: "note"}, "no flags"));
  const details =
      el("details", {},
         el("summary", {}, "the record as JSON",
            el("span", {class: "aside"},
               ` (what is in brackets is in full in line ${record.line} of the ledger)`)));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(el("pre", {}, json(record)));
  });
  box.append(details);
  return box;
}

// Put together from texts, not parsed: a number of 20 digits stays one.
function json(record) {
  const names = report.shapes[record.shape];
  return "{\n" +
      record.fields
          .map((text, i) => `  ${JSON.stringify(names[i])}: ${indented(report.texts[text], 1)}`)
          .join(",\n") +
      "\n}";
}

dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
dialog.addEventListener("close", () => {
  if (cameFrom && cameFrom.focus) cameFrom.focus();
});
