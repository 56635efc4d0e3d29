// A plot: drawn when it comes into sight, drawn again when the colours or what is hidden change.

const touch = window.matchMedia("(pointer: coarse)").matches;
const PLOT_FONT =
    'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif';
const CONFIG = {
  responsive: false,
  displaylogo: false,
  displayModeBar: touch ? false : "hover",
  showLink: false,
  showSendToCloud: false,
  plotlyServerURL: "",
  topojsonURL: "",
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
  scrollZoom: false,
};
const plots = new Map();
const sight = new IntersectionObserver((entries) => {
  for (const entry of entries)
    if (entry.isIntersecting) draw(plots.get(entry.target));
}, {rootMargin: "500px"});

// make() gives {data, layout}; hidden is a set of keys of traces not shown; file names the picture
// to save.
function plot(make, height, badge, hidden, file, words) {
  const place = el("div", {class: "plot", role: "img", "aria-label": words});
  place.style.setProperty("min-height", `${height}px`);
  plots.set(place, {
    place,
    make,
    height,
    badge,
    hidden: hidden || new Set(),
    file,
    drawn: false,
    work: Promise.resolve()
  });
  sight.observe(place);
  return place;
}

// Forgets plots that leave the page; plotly trips over one that is taken from it in the middle of
// its work.
function discard(place) {
  for (const gone of place.querySelectorAll(".plot")) {
    sight.unobserve(gone);
    plots.get(gone).work.then(() => Plotly.purge(gone));
    plots.delete(gone);
  }
}

function draw(one) {
  if (!one || !one.place.isConnected || !one.place.clientWidth) return;
  let made;
  try {
    made = one.make();
  } catch (error) {
    one.place.replaceChildren(
        el("p", {class: "note warning"}, "This figure could not be drawn from its record."));
    return;
  }
  const {data, layout} = made;
  const visible = data.map((trace) => ({...trace, visible: !one.hidden.has(trace.meta)}));
  const whole = merged(frame(one), layout);
  whole.annotations = [...frame(one).annotations, ...ceilingNames(visible, whole)];
  if (whole.showlegend && one.place.clientWidth < 520)
    whole.height += 20 * visible.filter((trace) => trace.showlegend !== false).length;
  const figure = themed({data: visible, layout: whole}, {});
  one.work = Plotly.react(
      one.place, figure.data, figure.layout,
      {...CONFIG, toImageButtonOptions: {filename: one.file, scale: 2}});
  if (!one.drawn) {
    one.place.on("plotly_click", (event) => {
      const cell =
          event.points.map((point) => point.customdata).find((value) => Number.isInteger(value));
      if (cell !== undefined) openRecords(cell, one.place);
    });
  }
  one.drawn = true;
}

// The words of a ceiling stand above its line, where there is room.
function ceilingNames(traces, layout) {
  return traces
      .filter((trace) => trace.visible && trace.meta === "ceiling" && trace.name && layout.yaxis2)
      .map((trace) => ({
             text: trace.name,
             showarrow: false,
             xref: "paper",
             x: 0,
             xanchor: "left",
             yanchor: "bottom",
             yshift: 5,
             xshift: 4,
             y: layout.yaxis.type === "log" ? Math.log10(trace.y[0]) : trace.y[0],
             font: {size: 12, color: "@ink"}
           }));
}

function frame(one) {
  const axis = {
    gridcolor: "@grid",
    zerolinecolor: "@grid",
    linecolor: "@line",
    tickcolor: "@line",
    automargin: true,
    ticks: "outside",
    ticklen: 4,
    title: {standoff: 10, font: {size: 13}},
    separatethousands: true
  };
  return {
    height: one.height,
    width: one.place.clientWidth,
    margin: {l: 58, r: 16, t: 34, b: 66},
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    showlegend: false,
    hovermode: "closest",
    dragmode: touch ? false : "zoom",
    separators: ".,",
    font: {family: PLOT_FONT, size: 12.5, color: "@ink"},
    xaxis: axis,
    yaxis: axis,
    hoverlabel: {
      bgcolor: "@paper",
      bordercolor: "@line",
      align: "left",
      font: {color: "@ink", size: 12.5, family: PLOT_FONT}
    },
    modebar: {bgcolor: "@paper", color: "@muted", activecolor: "@ink"},
    annotations: one.badge ? [{
      text: one.badge,
      showarrow: false,
      xref: "paper",
      yref: "paper",
      x: 1,
      y: 0,
      xanchor: "right",
      yanchor: "top",
      yshift: one.height < 250 ? -24 : -46,
      font: {size: 10.5, color: one.badge === "CPU" ? "@accent" : "@warn"}
    }] :
                             [],
  };
}

function merged(under, over) {
  const out = {...under};
  for (const [key, value] of Object.entries(over || {})) {
    const both = value && typeof value === "object" && !Array.isArray(value) && out[key] &&
        typeof out[key] === "object";
    out[key] = both ? merged(out[key], value) : value;
  }
  return out;
}

function panelTitle(words) {
  return {
    text: words,
    x: 0,
    xref: "paper",
    xanchor: "left",
    y: 1,
    yref: "paper",
    yanchor: "bottom",
    pad: {b: 10},
    font: {size: 13.5}
  };
}

// One vertical range for panels that are to be compared.
function sharedRange(panels) {
  let low = Infinity, high = -Infinity;
  for (const trace of panels.flatMap((panel) => panel.data).filter((one) => one.yaxis !== "y2")) {
    (trace.y || []).forEach((y, i) => {
      if (typeof y !== "number") return;
      const bars = trace.error_y || {array: [], arrayminus: []};
      high = Math.max(high, Math.min(y + (bars.array[i] || 0), 3 * y));
      low = Math.min(low, y);
    });
  }
  if (!(high > 0)) return null;
  const log = panels[0].layout.yaxis.type === "log";
  return log ? [Math.log10(low / 1.6), Math.log10(high * 1.8)] : [0, high * 1.12];
}

function figureBox(figure, setting, hidden) {
  const box =
      el("section", {class: "figure", "data-gpus": figure.gpus === null ? null : figure.gpus});
  box.append(el("h3", {}, figure.title), el("p", {class: "sentence"}, figure.sentence));
  if (figure.failed) box.append(el("p", {class: "note warning"}, figure.failed));
  const range = figure.panels.length && figure.panels[0].shared ? sharedRange(figure.panels) : null;
  const panels = el("div", {class: figure.panels.length > 1 ? "panels" : "panels single"});
  figure.panels.forEach((panel, i) => {
    const layout = merged({title: panelTitle(panel.title)}, panel.layout);
    if (range) layout.yaxis = {...layout.yaxis, range};
    const words = `${figure.title}. ${panel.title}. The numbers are in the table of all cells.`;
    panels.append(plot(
        () => ({data: panel.data, layout}), panel.height, setting.badge, hidden,
        `${figure.stem}.${i + 1}`, words));
  });
  box.append(panels);
  return box;
}

themeListeners.push((all) => {
  for (const one of plots.values())
    if (one.drawn || all) draw(one);
});
window.addEventListener("resize", () => {
  for (const one of plots.values())
    if (one.drawn) draw(one);
});
