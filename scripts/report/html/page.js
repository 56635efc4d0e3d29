// Puts the page together: a heading, and for each machine setting what was found, its figures, its
// table.

function header() {
  const from = `${report.ledger}, ${plural(report.records.length, "record")}${
      report.version ? `, feedrate ${report.version}` : ""}`;
  const links = report.settings.length > 1 ?
      el("nav", {"aria-label": "Settings"},
         report.settings.map((setting, i) => el("a", {href: `#setting-${i}`}, setting.heading))) :
      null;
  return el(
      "header", {class: "top"},
      el("div", {class: "title"}, el("h1", {}, "feedrate report"), themeSwitch()),
      el("p", {class: "note"}, from), links);
}

function settingBox(setting, i) {
  const hidden = new Set();
  const badge = setting.badge ?
      el("span", {class: `badge ${setting.kind === "emulated" ? "emulated" : "cpu"}`},
         setting.badge) :
      null;
  const box = el(
      "section", {class: "setting", id: `setting-${i}`}, el("h2", {}, setting.heading, " ", badge));
  if (setting.kind === "emulated")
    box.append(
        el("p", {class: "note"},
           "An emulated device takes real batches at a published rate; no GPU was measured."));
  box.append(
      ...[countSwitch(setting, box)].filter(Boolean),
      el("div", {class: "tiles"}, setting.tiles.map(tile)), warningsBox(setting),
      ...(setting.diagnosis ? [diagnosisBox(setting)] : []), legend(setting, hidden, box));
  box.append(...setting.figures.map((figure) => figureBox(figure, setting, hidden)));
  return el("div", {}, box);
}

// Figures at one number of GPUs; the smallest first, as in the printed report.
function countSwitch(setting, box) {
  const choose = (count) => {
    for (const one of box.querySelectorAll("[data-gpus]"))
      one.hidden = Number(one.dataset.gpus) !== count;
    for (const one of bar.querySelectorAll("button"))
      one.setAttribute("aria-pressed", String(Number(one.dataset.count) === count));
  };
  const unit = setting.cpu ? "replica" : "GPU";
  const bar =
      el("div", {class: "segments", role: "group", "aria-label": `Number of ${unit}s`},
         setting.gpus.map(
             (count) => button(
                 plural(count, unit), {"data-count": count, "aria-pressed": "false"},
                 () => choose(count))));
  requestAnimationFrame(() => choose(setting.first));
  return setting.gpus.length > 1 ? bar : null;
}

function tile(one) {
  const made = button(
      [], {class: "tile" + (one.invalid ? " invalid" : ""), "data-gpus": one.gpus},
      (event) => openRecords(one.cell, event.currentTarget));
  const dot = el("span", {class: "dot"});
  dot.style.setProperty("background", themed({color: one.colour}, {}).color);
  themeListeners.push(
      () => dot.style.setProperty("background", themed({color: one.colour}, {}).color));
  made.append(
      el("span", {class: "tile-title"}, dot, one.title),
      el("span", {class: "tile-rate"}, one.rate,
         /^missing/.test(one.rate) ? null : el("small", {}, " images/s")));
  if (one.share !== null) {
    const fill = el("span", {class: "fill"});
    fill.style.setProperty("width", `${Math.min(100, 100 * one.share)}%`);
    made.append(el("span", {class: "bar"}, fill));
  }
  made.append(
      el("span", {}, one.share_words), el("span", {class: "muted"}, one.where),
      one.how ? el("span", {class: "muted"}, one.how) : "",
      one.verdict ? el("span", {class: "verdict"}, one.verdict) : "");
  if (one.invalid) made.append(el("span", {class: "badge bad"}, `! not valid: ${one.invalid}`));
  made.append(el("span", {class: "muted lines"}, lineWords(report.cells[one.cell].records)));
  return made;
}

function warningsBox(setting) {
  if (!setting.warnings.length && !setting.losses.length)
    return el("p", {class: "note"}, "No flags, nothing missing.");
  const line = (one) =>
      el("li", {class: `severity-${one.severity}`}, one.words + " ",
         one.cells.length ? el("span", {class: "where"},
                               one.cells.slice(0, 8).map(
                                   (n) => button(
                                       report.cells[n].name, {class: "link"},
                                       (event) => openRecords(n, event.currentTarget))),
                               one.cells.length > 8 ? `and ${one.cells.length - 8} more` : "") :
                            null);
  const serious = setting.warnings.filter((one) => one.severity === 0).length;
  const words = [
    serious ? `${plural(serious, "serious flag")}` : "",
    setting.warnings.length - serious ? plural(setting.warnings.length - serious, "other flag") :
                                        "",
    setting.losses.length ? `${setting.losses.length} missing` : ""
  ].filter(Boolean).join(", ");
  const list = el("ul", {class: "warnings"}, setting.warnings.map(line));
  const box = el("details", {class: "flags"}, el("summary", {}, "Before quoting: ", words), list);
  if (setting.losses.length)
    box.append(
        el("p", {}, "Missing, never counted as zero:"),
        el("ul", {class: "warnings"}, setting.losses.map(line)));
  box.open = serious > 0 || setting.losses.length > 0;
  return box;
}

const SHAPES = {
  circle: "M9,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0",
  square: "M9.5,-3.5h7v7h-7z",
  "triangle-up": "M13,-4.5l4.5,8h-9z",
  "triangle-down": "M13,4.5l4.5,-8h-9z",
  diamond: "M13,-5l5,5l-5,5l-5,-5z",
  cross: "M11.5,-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
  x: "M9,-3l1.5,-1.5l2.5,2.5l2.5,-2.5l1.5,1.5l-2.5,3l2.5,3l-1.5,1.5l-2.5,-2.5l-2.5,2.5l-1.5,-1.5" +
      "l2.5,-3z",
  pentagon: "M13,-4.8l4.6,3.4l-1.8,5.3h-5.6l-1.8,-5.3z"
};

// Colour, line and marker of each kind of data, once for all figures; pressing one hides it in all
// of them.
function legend(setting, hidden, box) {
  const bar =
      el("div", {class: "legend", role: "group", "aria-label": "Kinds of data: press to hide"});
  for (const one of setting.legend) {
    const sample =
        svg("svg", {viewBox: "0 -7 26 14", width: 26, height: 14, "aria-hidden": "true"});
    const paint = () => {
      const [line, fill] = themed({color: [one.colour, one.fill]}, {}).color;
      sample.replaceChildren(svg("line", {
        x1: 0,
        x2: 26,
        y1: 0,
        y2: 0,
        stroke: line,
        "stroke-width": 2,
        "stroke-dasharray": one.dash === "solid" ? "none" : one.dash.replaceAll("px", "")
      }));
      if (SHAPES[one.symbol])
        sample.append(svg("path", {d: SHAPES[one.symbol], fill, stroke: line}));
    };
    paint();
    themeListeners.push(paint);
    const toggle = button([sample, one.label], {"aria-pressed": "true", class: "chip"}, () => {
      if (hidden.delete(one.key) === false) hidden.add(one.key);
      toggle.setAttribute("aria-pressed", String(!hidden.has(one.key)));
      for (const place of box.querySelectorAll(".plot"))
        if (plots.get(place) && plots.get(place).drawn) draw(plots.get(place));
    });
    bar.append(toggle);
  }
  bar.append(
      el("span", {class: "note"}, "hollow or !: not valid · ×: missing · bars and band: 95 %"));
  return bar;
}

function footer() {
  return el(
      "footer", {class: "note"},
      el("p", {},
         `From ${report.ledger}, ${plural(report.last_line, "line")}, SHA-256 ${
             report.sha256}. Click a point, a bar, a tile or a row for its lines of the ledger.`),
      report.thinned ?
          el("p", {},
             "Long series of batches and seconds are thinned out for this page: of every stretch " +
                 "the least and the largest value stay, so that no spike is lost. The ledger has " +
                 "them all. Means, medians and percentiles are of all batches.") :
          null,
      el("p", {},
         `This file asks nothing of any network: ${
             report.plotly_mb} MB of it are plotly.js (MIT licence), which draws the figures.`));
}

const page = document.getElementById("page");
const main = el("main", {id: "main"});
page.replaceChildren(header(), main, footer());
report.settings.forEach((setting, i) => {
  const box = settingBox(setting, i);
  main.append(box);
  const runs = runsBox(setting);
  box.firstChild.append(...[runs, tableBox(setting)].filter(Boolean));
});
