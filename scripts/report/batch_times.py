"""The time of every batch over the run: spikes, drifts and stalls that a mean hides."""
from __future__ import annotations

from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from . import panels, style
from .page import Page, at_bottom
from .text import amount, plain, tick

SENTENCE = ("The time of every batch of one run each of the slowest, the fastest and the most "
            "uneven cell and of the ceiling, spikes and all")


def draw(setting, gpus, context):
    chosen = _exemplars(setting, gpus)
    if not chosen:
        return None
    page = Page(setting, "Every batch of the run", gpus)
    cells = [cell for _, cell, _ in chosen]
    cut = panels.cut_short(cells)
    page.foot(cells, context,
              ["One run each" + ("." if cut else ", no batch left out.") +
               " Dashed: mean, which the throughput comes from. "
               "Solid: median. A wide gap between the two is the work of spikes."] + cut,
              single_runs=True)
    flat = [ms for _, _, step in chosen for ms in step if ms > 0]
    log = max(flat) > 5 * sorted(flat)[len(flat) // 2] or max(flat) > 30 * min(flat)
    axes = page.panels(len(chosen), left=0.096, right=0.965, over=0.45, high=0.80, wide=0.40)
    for i, (ax, (why, cell, step)) in enumerate(zip(axes, chosen)):
        _panel(ax, cell, step, why)
        if log:
            ax.set_yscale("log")
        ax.yaxis.set_major_formatter(FuncFormatter(tick))
        ax.yaxis.set_minor_formatter(NullFormatter())
        ax.set_ylim((min(flat) / 1.4, max(flat) * 1.5) if log else (0, max(flat) * 1.08))
        if not ax.get_subplotspec().is_first_col():
            ax.tick_params(labelleft=False)
        if at_bottom(axes, i):
            ax.set_xlabel("batch of the measured window")
    page.sides("ms per batch" + (", log scale" if log else ""))
    return page.figure


def _exemplars(setting, gpus):
    """[(why, cell, step times)]: slowest, fastest, most uneven, and the ceiling."""
    cells = [(c, panels.steps(c)[0]) for c in panels.at_gpus(setting, gpus)]
    cells = [(c, step) for c, step in cells if len(step) >= 2]
    picked = []
    if cells:
        # Rates that agree to a thousandth are equal; among those the order of the cells decides.
        by_rate = sorted(cells, key=lambda pair: pair[0].rate.mean)
        top = by_rate[-1][0].rate.mean
        fastest = next(pair for pair in cells if pair[0].rate.mean >= 0.999 * top)
        uneven = max(cells, key=lambda pair: max(pair[1]) / max(_median(pair[1]), 1e-9))
        for why, pair in (("slowest", by_rate[0]), ("fastest", fastest),
                          ("most uneven", uneven)):
            if all(pair[0] is not other for _, other, _ in picked):
                picked.append((why, *pair))
    for ceiling in panels.ceilings_for([c for _, c, _ in picked], setting, gpus)[:1]:
        step = panels.steps(ceiling)[0]
        if len(step) >= 2:
            picked.append(("ceiling", ceiling, step))
    return picked


def _median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


def _panel(ax, cell, step, why):
    look = style.KINDS.get(cell.data, style.OTHER)
    colour = style.marker(look)["color"]
    x = list(range(len(step)))
    ax.vlines(x, 0, step, color=colour,
              alpha=0.35 if len(step) < 500 else 0.2, linewidth=0.8, rasterized=len(step) > 2000)
    ax.plot(x, step, ".", color=colour, markersize=5 if len(step) < 500 else 3, zorder=3,
            rasterized=len(step) > 2000)
    of_all = panels.step_statistics(cell)
    mean, median = of_all["mean"], of_all["median"]
    ax.axhline(mean, color="black", linestyle=(0, (5, 2)), linewidth=1.3, zorder=4)
    ax.axhline(median, color="black", linestyle="-", linewidth=1.0, zorder=4)
    words = "synthetic" if why == "ceiling" else panels.name(cell)
    mark = " !" if cell.serious else ""
    words = plain(f"{why}: {words}", 60) + mark
    ax.set_title(words + f"\nmean {amount(mean)} · median {amount(median)}"
                 f" · p99 {amount(of_all['p99'])} · max {amount(of_all['max'])} ms", loc="left", fontsize=10)
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    ax.set_xlim(-0.02 * len(step), 1.02 * len(step))
