"""Throughput against GPUs: what each kind of data makes of more devices, beside the ceiling."""
from __future__ import annotations

import math

from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from . import panels, style
from .page import Page, at_bottom
from .text import listing, plain, tick

SENTENCE = ("Images per second of all GPUs together against their number, each point at its best "
            "worker count, with the straight line from the first point (dotted)")


def draw(setting, context):
    cells = [c for c in setting.cells if c.data != "synthetic"]
    counts = sorted({c.gpus for c in cells if c.rate})
    if len(counts) < 2:
        return None
    sizes, series = panels.image_sizes(cells), style.series_of(cells)
    page = Page(setting, "Throughput against GPUs", None, 1.0 if len(sizes) <= 3 else 1.3)
    ceiling_look = style.Look("#000000", "_", style.KINDS["synthetic"].line)
    page.legend([Line2D([], [], linestyle=s.look.line, **style.marker(s.look)) for s in series]
                + [Line2D([], [], color="black", linestyle=ceiling_look.line, marker="_"),
                   Line2D([], [], color=style.GREY, linestyle=":", linewidth=1.2)],
                [s.label for s in series] + ["ceiling (synthetic)", "linear from the first"])
    chosen = {(size, s): _best_by_count(panels.of_series(panels.in_panel(cells, size), s))
              for size in sizes for s in series}
    drawn = list({id(c): c for row in chosen.values() for c in row}.values())
    page.foot(drawn, context, [_workers_used(chosen, sizes)])
    log = counts[-1] > 8 * counts[0]    # on either pair of axes linear is straight
    axes = page.panels(len(sizes), right=0.965)
    for ax, size in zip(axes, sizes):
        for s in series:
            _line(ax, chosen[size, s], s.look)
        _ceiling(ax, [c for s in series for c in chosen[size, s]], setting, counts, ceiling_look)
        _frame(ax, counts, log)
        ax.set_title(plain(panels.panel_title(size, setting)), loc="left")
    for i, ax in enumerate(axes):
        if at_bottom(axes, i):
            ax.set_xlabel("replicas" if setting.kind == "cpu" else "GPUs")
        ax.set_ylim(min(a.get_ylim()[0] for a in axes), max(a.get_ylim()[1] for a in axes))
        if not ax.get_subplotspec().is_first_col():
            ax.tick_params(labelleft=False)
    page.sides("images per second" + (", log scale" if log else ""))
    return page.figure


def _best_by_count(cells):
    return [panels.best([c for c in cells if c.gpus == n]) for n in sorted({c.gpus for c in cells})]


def _workers_used(chosen, sizes):
    """Which worker counts were the best, in one line: all equal, or by series and size."""
    used = {key: [c.workers for c in row if c.rate] for key, row in chosen.items()}
    every = {w for row in used.values() for w in row if w is not None}
    if len(every) <= 1:
        return "Workers per GPU: " + (str(every.pop()) if every else "none") + "."
    words = {}
    for (size, s), row in used.items():
        if any(w is not None for w in row):
            sized = any(c.image_size for c in chosen[size, s]) and len(sizes) > 1
            name = f"{s.label} {size}" if sized else s.label
            words[name] = str(row[0]) if len(set(row)) == 1 else listing(row)
    words = [f"{name}: {row}" for name, row in words.items()]
    return "Best workers per GPU, by GPU count where they differ: " + "; ".join(words) + "."


def _line(ax, cells, look):
    done = [c for c in cells if c.rate]
    ax.plot([c.gpus for c in cells], [c.rate.mean if c.rate else math.nan for c in cells],
            linestyle=look.line, color=style.marker(look)["color"], zorder=3)
    for cell in done:
        below, above = cell.rate.error_bar
        ax.errorbar(cell.gpus, cell.rate.mean, [[below], [above]], linestyle="none", capsize=3.5,
                    elinewidth=1.3, **style.marker(look, cell.serious))
        if cell.serious:
            ax.annotate("!", (cell.gpus, cell.rate.mean), (-9, 7), textcoords="offset points",
                        weight="bold", color=style.EDGE)
    for cell in (c for c in cells if not c.rate):
        ax.annotate("×", (cell.gpus, 0), (0, 5), xycoords=("data", "axes fraction"), ha="center",
                    textcoords="offset points", fontsize=13, weight="bold",
                    color=style.marker(look)["color"])
    if done:
        _linear(ax, done, style.marker(look)["color"])


def _linear(ax, done, colour):
    """From the first point on: what every further GPU would add if it cost nothing."""
    start, last = done[0], done[-1].gpus
    grid = [start.gpus * (last / start.gpus) ** (i / 40) for i in range(41)]
    ax.plot(grid, [start.rate.mean * g / start.gpus for g in grid], ":", color=colour,
            linewidth=1.2, zorder=2)


def _ceiling(ax, cells, setting, counts, look):
    found = {}
    for n in counts:
        there = panels.ceilings_for([c for c in cells if c.gpus == n], setting, n)
        if there:
            found[n] = there[0]
    if not found:
        return
    ax.errorbar(list(found), [c.rate.mean for c in found.values()],
                [[c.rate.error_bar[i] for c in found.values()] for i in (0, 1)],
                linestyle=look.line, color="black", marker="_", markersize=11,
                markeredgewidth=2, linewidth=1.6, capsize=3, zorder=3.5)
    _linear(ax, list(found.values()), style.GREY)


def _frame(ax, counts, log):
    if log:
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set_xlim(counts[0] / 1.18, counts[-1] * 1.18)
    else:
        ax.set_xlim(0, counts[-1] + 0.07 * counts[-1])
        ax.set_ylim(0, None)
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticks(counts)
    ax.set_xticklabels([str(n) for n in counts])
    ax.yaxis.set_major_formatter(FuncFormatter(tick))
    ax.yaxis.set_minor_formatter(NullFormatter())
