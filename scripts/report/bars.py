"""Throughput by kind of data and stored size, at the best worker count, beside the ceiling."""

from __future__ import annotations

from . import choice, figures, panels, rows, style
from .cells import DRIFTED
from .page import Page
from .text import plus_minus, spread

SENTENCE = (
    "Images per second of every kind of data at the workers chosen beside the synthetic "
    "ceiling, with the share of the ceiling"
)


def draw(setting, gpus, context):
    groups = rows.plan(setting, gpus)
    cells = [row.cell for _, group in groups for row in group]
    if not any(c.rate for c in cells):
        return None
    page = Page(setting, figures.TITLES["bars"], context, gpus, rows.scale_for(groups))
    page.foot(
        cells,
        [f"Each bar: {choice.RULE}. % is the share of the ceiling."] + panels.shares_the_cpu(cells),
    )
    ax = rows.lay_out(page, groups)
    for _, group in groups:
        _ceiling_line(ax, group)
    rows.fill(
        page,
        ax,
        [row for _, group in groups for row in group],
        lambda row: _bar(ax, row),
        "images per second",
        4 if page.compact else 7,
    )
    return page


def _bar(ax, row):
    rate, cell = row.cell.rate, row.cell
    is_ceiling = cell.data == "synthetic"
    look = style.bar(row.look, cell.serious)
    if is_ceiling and not cell.serious:
        look["facecolor"] = "#444444"
    ax.barh(row.y, rate.mean, height=row.thick, zorder=3, **look)
    above = rows.interval(ax, row, rate)
    words = plus_minus(rate)
    if cell.ratio:
        words += f"   {spread(cell.ratio)}" + (
            " (!)" if cell.share_serious and not cell.serious else ""
        )
    words += f"  {DRIFTED}" if is_ceiling and cell.drifted else ""
    words += " !" if cell.serious else ""
    return rows.note(ax, row, rate.mean + above, words)


def _ceiling_line(ax, group):
    """The ceiling as a dashed line through the rows that are held against it."""
    rates = [r.cell.ceiling.rate.mean for r in group if r.cell.ceiling]
    if rates:
        bottom, top = group[-1].y - 0.45, group[0].y + 0.45
        ax.plot(
            [rates[0]] * 2,
            [bottom, top],
            color="black",
            linewidth=style.scaled(1.3),
            linestyle=style.KINDS["synthetic"].line,
            zorder=2.5,
        )
