"""Throughput against GPUs: what each kind of data makes of more devices, beside the ceiling."""

from __future__ import annotations

import math

from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullLocator

from . import figures, findings, marks, over_gpus, panels, settings, style
from .text import spread, tick


def claim(plan, claims):
    """How the kinds of data scale; nothing with a single number of GPUs."""
    if len(plan.setting.gpu_counts()) < 2:
        return ""
    return findings.of_places(plan, claims, lambda *given: _scales(plan.setting, *given))


def _scales(setting, cells, claims):
    if len({c.gpus for c in cells}) < 2:
        return ""
    cell, claim, _, known = findings.worst(cells, claims.scaling)
    if not cell:
        return findings.none(known, "loss of scaling")
    noun = "replica" if setting.kind == "cpu" else "GPU"
    devices = f"{cell.gpus} {noun}" + ("" if cell.gpus == 1 else "s")
    return f"{findings.short_name(cell)} keeps {spread(claim.share)} of linear scaling at {devices}"


def draw(setting, gpus, context):
    linear = Line2D([], [], color=style.GREY, linestyle=":", linewidth=1.2), "linear from the first"
    title = figures.NAMED["throughput_vs_gpus"].title
    over = over_gpus.lay_out(setting, context, title, [linear], _scaling)
    if over is None:
        return None
    log = over.counts[-1] > 8 * over.counts[0]  # on either pair of axes linear is straight
    axes = over.page.panels(len(over.sizes))
    for ax, size in zip(axes, over.sizes):
        for cells, look in over.rows(size):
            _line(ax, cells, look)
        _ceiling(
            ax,
            [c for cells, _ in over.rows(size) for c in cells],
            setting,
            over.counts,
            over.ceiling_look,
        )
        _frame(ax, over.counts, log)
    for i, (ax, size) in enumerate(zip(axes, over.sizes)):
        over_gpus.label(ax, axes, i, size, setting)
        ax.set_ylim(min(a.get_ylim()[0] for a in axes), max(a.get_ylim()[1] for a in axes))
    over.page.sides("images per second" + (", log scale" if log else ""))
    return over.page


def _scaling(over):
    """A note: the share of linear scaling that each series keeps at its most GPUs."""
    words = {}
    for (size, series), row in over.chosen.items():
        done = [c for c in row if c.rate]
        kept = settings.scaling(done[-1], done[0]) if len(done) > 1 else None
        if kept:
            name = over_gpus.row_name(size, series, row, over.sizes)
            mark = " !" if done[-1].serious or done[0].serious else ""
            words[name] = f"{name} {spread(kept)} at {done[-1].gpus}{mark}"
    return [f"Of linear scaling from the fewest: {'; '.join(words.values())}."] if words else []


def _line(ax, cells, look):
    done = [c for c in cells if c.rate]
    ax.plot(
        [c.gpus for c in cells],
        [c.rate.mean if c.rate else math.nan for c in cells],
        linestyle=look.line,
        color=style.marker(look)["color"],
        zorder=3,
    )
    marks.points(ax, [(c.gpus, c, c.rate, c.serious) for c in done], look)
    for cell in (c for c in cells if not c.rate):
        marks.missing(ax, cell.gpus, style.marker(look)["color"])
    if done:
        _linear(ax, done, style.marker(look)["color"])


def _linear(ax, done, colour):
    """From the first point on: what every further GPU would add if it cost nothing."""
    start, last = done[0], done[-1].gpus
    grid = [start.gpus * (last / start.gpus) ** (i / 40) for i in range(41)]
    ax.plot(
        grid,
        [start.rate.mean * g / start.gpus for g in grid],
        ":",
        color=colour,
        linewidth=1.2,
        zorder=2,
    )


def _ceiling(ax, cells, setting, counts, look):
    found = {}
    for n in counts:
        there = panels.ceilings_for([c for c in cells if c.gpus == n], setting, n)
        if there:
            found[n] = there[0]
    if not found:
        return
    ax.plot(
        list(found),
        [c.rate.mean for c in found.values()],
        linestyle=look.line,
        color="black",
        linewidth=style.scaled(1.6),
        zorder=3.5,
    )
    marks.points(ax, [(n, c, c.rate, c.serious) for n, c in found.items()], look)
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
    if log:
        marks.log_ticks(ax.yaxis, *ax.get_ylim())
    else:
        ax.yaxis.set_major_formatter(FuncFormatter(tick))
