"""Throughput against GPUs: what each kind of data makes of more devices, beside the ceiling. One
panel a stored size, each series at the workers chosen."""

import math

from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullLocator

from ..claims import panels
from ..ledger import settings
from ..ledger.heading import devices
from ..look import style
from ..text import plain, spread, tick
from . import findings, marks
from .page import page_of

CEILING = style.Look(style.BLACK, "_", style.KINDS["synthetic"].line)


def claim(plan, claims):
    """How the kinds of data scale; nothing with a single number of GPUs, or without a ceiling: a
    search for capacity has none, and a figure of its own."""
    if len(plan.setting.gpu_counts()) < 2 or not _has_ceiling(plan.setting.cells):
        return ""
    return findings.of_places(plan, claims, lambda *given: _scales(plan.setting, *given))


def _scales(setting, cells, claims):
    if len({c.gpus for c in cells}) < 2:
        return ""
    cell, claim, _, known = findings.worst(cells, claims.scaling)
    if not cell:
        return findings.none(known, "loss of scaling")
    keeps = f"{panels.kind(cell)} keeps {spread(claim.share)} of linear scaling"
    return f"{keeps} at {devices(cell.gpus, setting)}"


def draw(setting, gpus, context):
    cells = [c for c in setting.cells if c.data != "synthetic"]
    counts = sorted({c.gpus for c in cells if c.rate})
    if len(counts) < 2 or not panels.any_valid(cells) or not _has_ceiling(cells):
        return None
    sizes, series = panels.image_sizes(cells), style.series_of(cells)
    page = page_of("throughput_vs_gpus", setting, gpus, context, 1.0 if len(sizes) <= 3 else 1.3)
    ceiling = Line2D([], [], color=CEILING.colour, linestyle=CEILING.line, marker="_")
    linear = Line2D([], [], color=style.GREY, linestyle=":", linewidth=1.2)
    more = (ceiling, "ceiling (synthetic)"), (linear, "linear from the first")
    page.legend([*((marks.sample(s.look), s.label) for s in series), *more])
    chosen = {
        (size, s): panels.best_by_count(panels.of_series(panels.in_panel(cells, size), s))
        for size in sizes
        for s in series
    }
    drawn = list({id(c): c for row in chosen.values() for c in row}.values())
    page.foot(drawn, [panels.workers_used(chosen), *_scaling(chosen, sizes)])
    log = counts[-1] > 8 * counts[0]  # on either pair of axes linear is straight
    axes = page.panels(len(sizes))
    for ax, size in zip(axes, sizes):
        here = [chosen[size, s] for s in series]
        for below, s, row in zip(reversed(range(len(series))), series, here):
            _line(ax, row, s.look, below)
        shown = [c for row in here for c in row]
        tops = (_top(shown, setting, n) for n in counts)
        _line(ax, [top for top in tops if top], CEILING)
        _frame(ax, counts, log)
        ax.set_title(plain(panels.panel_title(size, setting)), loc="left")
    marks.share_heights(axes)
    page.name_below("replicas" if setting.kind == "cpu" else "GPUs")
    page.sides("images per second" + (", log scale" if log else ""))
    return page


def _has_ceiling(cells):
    return any(c.ceiling for c in cells)


def _top(cells, setting, gpus):
    """The ceiling at that number of GPUs: of the cells drawn, or else any."""
    tops = [c.ceiling for c in cells if c.ceiling and c.gpus == gpus]
    tops += [c for c in setting.ceilings if c.gpus == gpus and c.rate]
    return tops[0] if tops else None


def _scaling(chosen, sizes):
    """A note: the share of linear scaling that each series keeps at its most GPUs."""
    words = {}
    for (size, series), row in chosen.items():
        done = [c for c in row if c.rate]
        kept = settings.scaling(done[-1], done[0]) if len(done) > 1 else None
        if kept:
            name = panels.row_name(size, series, row, sizes)
            mark = " !" if done[-1].serious or done[0].serious else ""
            words[name] = f"{name} {spread(kept)} at {done[-1].gpus}{mark}"
    return [f"Of linear scaling from the fewest: {'; '.join(words.values())}."] if words else []


def _line(ax, cells, look, below=0):
    """The cells at their numbers of GPUs, and from the first of them on what every further GPU
    would add if it cost nothing."""
    done = [c for c in cells if c.rate]
    rates = [c.rate.mean if c.rate else math.nan for c in cells]
    how = dict(linestyle=look.line, color=look.rim, zorder=3)
    how |= dict(linewidth=style.scaled(1.6), zorder=3.5) if look is CEILING else {}
    ax.plot([c.gpus for c in cells], rates, **how)
    marks.points(ax, [(c.gpus, c, c.rate, c.serious) for c in done], look, below)
    for c in cells:
        if not c.rate:
            marks.missing(ax, c.gpus, look.rim)
    if done:
        first, last = done[0].gpus, done[-1].gpus
        ends = [done[0].rate.mean, done[0].rate.mean * last / first]
        colour = style.GREY if look is CEILING else look.rim
        ax.plot([first, last], ends, ":", color=colour, linewidth=1.2, zorder=2)


def _frame(ax, counts, log):
    if log:
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set_xlim(counts[0] / 1.18, counts[-1] * 1.18)
        marks.log_ticks(ax.yaxis, *ax.get_ylim())
    else:
        ax.set_xlim(0, counts[-1] + 0.07 * counts[-1])
        ax.set_ylim(0, None)
        ax.yaxis.set_major_formatter(FuncFormatter(tick))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticks(counts, [str(n) for n in counts])
