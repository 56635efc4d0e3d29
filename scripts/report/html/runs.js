// One run looked at closely: every batch, and the monitors second by second.

const HOST = [
  [
    "CPU, share of all", 1,
    [
      ["cpu_busy", "busy", "#0072B2"], ["cpu_iowait", "waits for I/O", "#E69F00"],
      ["cpu_steal", "stolen", "#D55E00"], ["cpu_other_processes", "others", "#CC79A7"]
    ]
  ],
  [
    "Pressure (PSI, some), share of time", 1,
    [
      ["psi_cpu_some", "for a CPU", "#0072B2"], ["psi_io_some", "for I/O", "#E69F00"],
      ["psi_memory_some", "for memory", "#009E73"]
    ]
  ],
  [
    "Bytes in, MB/s", 1,
    [
      ["disk_read_bytes_per_s", "disks", "#0072B2"],
      ["network_receive_bytes_per_s", "network", "#D55E00"]
    ]
  ],
  ["Memory available, GB", 1e-3, [["memory_available_bytes", "available", "#009E73"]]],
];
const DEVICE = [
  ["GPU utilisation, %", "utilisation_percent"],
  ["GPU memory utilisation, %", "memory_utilisation_percent"],
  ["SM clock, MHz", "sm_mhz"],
  ["Memory clock, MHz", "memory_mhz"],
  ["Power, W", "power_w"],
  ["Temperature, °C", "temperature_c"],
  ["GPU memory used, MB", "memory_used_mb"],
  ["PCIe in, MB/s", "pcie_rx_mb_s"],
  ["PCIe out, MB/s", "pcie_tx_mb_s"],
];
const RANKS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#666666", "@ink"];

function runsBox(setting) {
  const looked = setting.cells.filter(
      (n) => report.cells[n].records.some((place) => hasRun(report.records[place])));
  if (!looked.length) return null;
  const box =
      el("section", {class: "figure runs"},
         el("h3", {}, "One run: every batch, and the monitors over time"));
  const sentence = el(
      "p", {class: "sentence"},
      "Throughput comes from the mean (dashed). Where the median (solid line) lies far below it, " +
          "a few long batches cost the time.");
  const cells = el(
      "select", {"aria-label": "Cell"},
      looked.map(
          (n) => el(
              "option", {value: n}, report.cells[n].name + (report.cells[n].invalid ? " !" : ""))));
  const runs = el("select", {"aria-label": "Repetition"});
  const place = el("div", {});
  const fill = () => {
    const found =
        report.cells[Number(cells.value)].records.filter((n) => hasRun(report.records[n]));
    runs.replaceChildren(...found.map(
        (n) =>
            el("option", {value: n},
               `repetition ${report.records[n].repetition}, line ${report.records[n].line}`)));
    show();
  };
  const show = () => {
    discard(place);
    place.replaceChildren(
        ...runPlots(report.records[Number(runs.value)], setting, Number(cells.value)));
  };
  const quick = setting.runs.map((run) => button(run.why, {title: run.name, class: "chip"}, () => {
                                   cells.value = String(run.cell);
                                   fill();
                                 }));
  cells.addEventListener("change", fill);
  runs.addEventListener("change", show);
  box.append(sentence, el("div", {class: "controls"}, cells, runs, quick), place);
  const first = setting.runs.find((run) => run.why === "most uneven") || setting.runs[0];
  if (first) cells.value = String(first.cell);
  fill();
  return box;
}

function hasRun(record) {
  return record.step || record.series || record.gpus.some((gpu) => gpu) || means(record).length;
}

function runPlots(record, setting, cell) {
  const parts = [];
  const open = button(
      `ledger line ${record.line}`, {class: "link"},
      (event) => openRecords(cell, event.currentTarget));
  parts.push(
      el("p", {class: "note"}, open,
         record.valid ? null : el("span", {class: "badge bad"}, "! not valid")));
  if (record.step)
    parts.push(
        el("p", {class: "note"}, batchWords(record)),
        plot(
            () => batches(record), 300, setting.badge, null, `batches.line-${record.line}`,
            "Time of every batch"));
  const panels = el("div", {class: "panels small"});
  for (const [title, factor, lists] of HOST) {
    const known = lists.filter(([name]) => record.series && record.series.lists[name]);
    if (known.length)
      panels.append(plot(
          () => overTime(
              title,
              known.map(([name, words, colour]) => [listOf(record.series, name), words, colour]),
              factor),
          210, setting.badge, null, `monitors.line-${record.line}`, title));
  }
  for (const [title, name] of DEVICE) {
    const known = record.gpus
                      .map(
                          (gpu, i) =>
                              [gpu && gpu.lists[name] ? listOf(gpu, name) : null, `rank ${i}`,
                               RANKS[i % RANKS.length]])
                      .filter(([list]) => list);
    if (known.length)
      panels.append(plot(
          () => overTime(title, known, 1), 210, setting.badge, null, `gpu.line-${record.line}`,
          title));
  }
  if (panels.children.length)
    parts.push(panels);
  else if (means(record).length) {
    parts.push(
        el("p", {class: "note"},
           "This record holds no monitors over time; their means over the window: " +
               means(record)
                   .map(([name, value]) => `${name} ${value.toLocaleString("en")}`)
                   .join(", ") +
               "."));
  }
  return parts;
}

// The monitors' means over the window, as far as known.
function means(record) {
  const place = report.shapes[record.shape].indexOf("monitors");
  const found = place < 0 ? null : JSON.parse(report.texts[record.fields[place]]);
  return Object.entries(found && typeof found === "object" ? found : {})
      .filter(([, value]) => typeof value === "number" && value >= 0);
}

// [seconds, values] of one monitor.
function listOf(monitors, name) {
  const [steps, values] = monitors.lists[name];
  return [placesOf(steps, values.length).map((place) => monitors.at[place]), values];
}

function batchWords(record) {
  const s = record.statistics, words = [];
  for (const key of ["mean", "median", "p99", "max"])
    if (typeof s[key] === "number") words.push(`${key} ${short(s[key])}`);
  let kept = `${words.join(" · ")} ms.`;
  if (record.made > record.kept)
    kept += ` The ledger keeps the first ${record.kept.toLocaleString("en")} of ${
        record.made.toLocaleString("en")} batches one by one; these four are of all.`;
  if (record.step[0].length < record.kept)
    kept += ` Drawn thinned out: the least and the largest of every ${
        Math.ceil(
            2 * record.kept / record.step[0].length)} batches or so, so that every spike is here.`;
  return kept;
}

function short(value) {
  return value >= 100 ? value.toLocaleString("en", {maximumFractionDigits: 0}) :
                        String(Number(value.toPrecision(3)));
}

function batches(record) {
  const ms = record.step[1], at = placesOf(record.step[0], ms.length);
  const positive = ms.filter((v) => v > 0).sort((a, b) => a - b);
  const top = positive[positive.length - 1], middle = positive[positive.length >> 1];
  const log = top > 5 * middle;
  const hollow = record.valid ? "circle" : "circle-open";
  const data = [{
    type: "scatter",
    mode: "lines+markers",
    x: at.map((x) => x + 1),
    y: ms.map((v) => (v > 0 || !log ? v : null)),
    line: {color: "#0072B2", width: 0.8},
    marker: {color: "#0072B2", size: at.length > 600 ? 3 : 5, symbol: hollow},
    hoverinfo: "text",
    name: "step",
    hovertext: at.map((x, i) => `batch ${x + 1}: step ${short(ms[i])} ms`)
  }];
  if (record.wait) {
    const wait = record.wait[1], wx = placesOf(record.wait[0], wait.length);
    data.push({
      type: "scatter",
      mode: "markers",
      x: wx.map((x) => x + 1),
      y: wait.map((v) => (v > 0 || !log ? v : null)),
      name: "waited for data",
      marker: {color: "#E69F00", size: 3.5, symbol: "x"},
      hoverinfo: "text",
      hovertext: wx.map((x, i) => `batch ${x + 1}: waited ${short(wait[i])} ms for data`)
    });
  }
  for (const [key, style] of [["mean", "dash"], ["median", "solid"]]) {
    const value = record.statistics[key];
    if (typeof value === "number")
      data.push({
        type: "scatter",
        mode: "lines",
        x: [1, record.kept],
        y: [value, value],
        name: key,
        hoverinfo: "skip",
        line: {color: "@ink", width: 1.3, dash: style}
      });
  }
  const low = Math.max(Math.min(...positive) / 1.5, top / 1e5);
  return {
    data,
    layout: {
      showlegend: true,
      legend: {orientation: "h", y: 1, yanchor: "bottom", x: 0},
      xaxis: {title: {text: "batch of the measured window"}},
      yaxis: {
        title: {text: "ms per batch" + (log ? ", log scale" : "")},
        type: log ? "log" : "linear",
        range: log ? [Math.log10(low), Math.log10(top * 1.4)] : [0, top * 1.1]
      }
    }
  };
}

function overTime(title, lists, factor) {
  const data = lists.map(
      ([[at, values], words, colour]) => ({
        type: "scatter",
        mode: "lines",
        x: at,
        y: values.map((v) => (v === null ? null : v * factor)),
        name: words,
        line: {color: colour, width: 1.6},
        connectgaps: false,
        hoverinfo: "text",
        hovertext: at.map(
            (x, i) =>
                values[i] === null ? "" : `${words}: ${short(values[i] * factor)} at ${short(x)} s`)
      }));
  return {
    data,
    layout: {
      title: panelTitle(title),
      showlegend: lists.length > 1,
      margin: {t: 30, b: 60, l: 44},
      legend: {orientation: "h", y: -0.3, yanchor: "top", x: 0, font: {size: 10.5}, itemwidth: 30},
      xaxis: {title: {text: ""}, ticksuffix: " s"},
      yaxis: {rangemode: "tozero", nticks: 5}
    }
  };
}
