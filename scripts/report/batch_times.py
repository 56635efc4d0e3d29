"""The time of every batch over the run: spikes, drifts and stalls that a mean hides."""

from __future__ import annotations

from matplotlib.ticker import FuncFormatter, MaxNLocator

from . import figures, marks, panels, style
from .page import Page, at_bottom
from .text import amount, plain, tick

SENTENCE = (
    "The time of every batch of one run each of the cell with the lowest mean rate, of that with"
    " the highest, of the most uneven one and of the ceiling where it had a run of its own, spikes"
    " and all"
)


def draw(setting, gpus, context):
    chosen = panels.exemplars(setting, gpus)
    if not chosen:
        return None
    page = Page(setting, figures.TITLES["batch_times"], context, gpus)
    cells = [cell for _, cell, _ in chosen]
    cut = panels.cut_short(cells)
    page.foot(
        cells,
        [
            "One run each"
            + ("." if cut else ", no batch left out.")
            + " Dashed: mean, which the throughput comes from. "
            "Solid: median. A wide gap between the two is the work of spikes."
        ]
        + cut,
        single_runs=True,
    )
    flat = [ms for _, _, step in chosen for ms in step if ms > 0]
    log = max(flat) > 5 * sorted(flat)[len(flat) // 2] or max(flat) > 30 * min(flat)
    # Three lie side by side, where a title of two lines is too long.
    is_narrow = len(chosen) == 3 and not page.compact
    over = 0.65 if is_narrow else 0.45
    axes = page.panels(len(chosen), over=over, high=0.80, wide=0.40, tall=0.62, columns=1)
    for i, (ax, (why, cell, step)) in enumerate(zip(axes, chosen)):
        _panel(ax, cell, step, why, page.compact, "\n" if is_narrow else " · ")
        ax.yaxis.set_major_formatter(FuncFormatter(tick))
        if log:
            ax.set_yscale("log")
            marks.log_ticks(ax.yaxis, min(flat), max(flat))
        ax.set_ylim((min(flat) / 1.4, max(flat) * 1.5) if log else (0, max(flat) * 1.08))
        if not ax.get_subplotspec().is_first_col():
            ax.tick_params(labelleft=False)
        if at_bottom(axes, i):
            ax.set_xlabel("batch of the measured window")
    page.sides("ms per batch" + (", log scale" if log else ""))
    return page


def _panel(ax, cell, step, why, compact, between):
    look = style.KINDS.get(cell.data, style.OTHER)
    colour = style.marker(look)["color"]
    x = list(range(len(step)))
    if style.dense(len(step)):  # so many lines side by side are an area
        ax.fill_between(x, 0, step, step="mid", color=colour, alpha=0.3, linewidth=0)
    else:
        ax.vlines(x, 0, step, color=colour, alpha=0.35, linewidth=style.scaled(0.8))
    ax.plot(
        x,
        step,
        ".",
        color=colour,
        markersize=style.scaled(5) if len(step) < 500 else style.scaled(3),
        zorder=3,
        rasterized=style.dense(len(step)),
    )
    of_all = panels.step_statistics(cell)
    mean, median = of_all["mean"], of_all["median"]
    ax.axhline(mean, color="black", linestyle=(0, (5, 2)), linewidth=style.scaled(1.3), zorder=4)
    ax.axhline(median, color="black", linestyle="-", linewidth=style.scaled(1.0), zorder=4)
    words = "synthetic" if why == "ceiling" else panels.name(cell)
    mark = " !" if cell.serious else ""
    words = plain(f"{why}: {words}", 60) + mark
    ax.set_title(
        words
        + ("\n" if compact else f"\nmean {amount(mean)} · ")
        + f"median {amount(median)}{between}"
        + f"p99 {amount(of_all['p99'])} · max {amount(of_all['max'])} ms",
        loc="left",
        fontsize=style.pt(10),
    )
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    ax.set_xlim(-0.02 * len(step), 1.02 * len(step))
