"""Throughput by kind of data and stored size, at the best worker count, beside the ceiling."""
from __future__ import annotations

from matplotlib.ticker import FuncFormatter, MaxNLocator

from . import panels, rows, style
from .page import Page
from .text import percent, plus_minus, tick

SENTENCE = ("Images per second of every kind of data at its best worker count beside the synthetic "
            "ceiling, with the share of the ceiling")


def draw(setting, gpus, context):
    groups = rows.plan(setting, gpus)
    cells = [row.cell for _, group in groups for row in group]
    if not any(c.rate for c in cells):
        return None
    page = Page(setting, "Throughput by kind of data", gpus, rows.scale_for(groups))
    page.foot(cells, context, ["Each bar: the worker count (per GPU) that was fastest. "
                               "% is the share of the ceiling."] + panels.shares_the_cpu(cells))
    ax = rows.lay_out(page, groups)
    notes = []
    for _, group in groups:
        _ceiling_line(ax, group)
        for row in group:
            if row.cell.rate:
                notes.append(_bar(ax, row))
            else:
                rows.missing(ax, row)
    rows.make_room(page, ax, 0, notes)
    ax.set_xlabel("images per second")
    ax.xaxis.set_major_locator(MaxNLocator(7))
    ax.xaxis.set_major_formatter(FuncFormatter(tick))
    return page.figure


def _bar(ax, row):
    rate, cell = row.cell.rate, row.cell
    is_ceiling = cell.data == "synthetic"
    look = style.bar(row.look, cell.serious)
    if is_ceiling and not cell.serious:
        look["facecolor"] = "#444444"
    ax.barh(row.y, rate.mean, height=row.thick, zorder=3, **look)
    below, above = rate.error_bar
    if rate.low is not None:
        ax.errorbar(rate.mean, row.y, xerr=[[below], [above]], color="black", capsize=3.5,
                    elinewidth=1.3, zorder=4)
    words = plus_minus(rate)
    if cell.ratio:
        words += f"   {percent(cell.ratio.mean)}"
    words += "  drifted" if is_ceiling and cell.drifted else ""
    words += " !" if cell.serious else ""
    return rows.note(ax, row, rate.mean + above, words)


def _ceiling_line(ax, group):
    """The ceiling as a dashed line through the rows that are held against it."""
    rates = [r.cell.ceiling.rate.mean for r in group if r.cell.ceiling]
    if rates:
        bottom, top = group[-1].y - 0.45, group[0].y + 0.45
        ax.plot([rates[0]] * 2, [bottom, top], color="black", linewidth=1.3,
                linestyle=style.KINDS["synthetic"].line, zorder=2.5)
