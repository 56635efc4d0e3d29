"""What the input costs, waiting and longer steps: hours over an epoch of ImageNet, and over 90."""

from __future__ import annotations

from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from . import epoch, figures, panels, rows, style
from .epoch import EPOCHS, IMAGES
from .page import Page
from .text import duration, spread, tick

SENTENCE = (
    "Hours lost to the input, waiting for data and longer steps, over one epoch of"
    f" {IMAGES:,} images and over {EPOCHS} epochs: images / measured rate − images / ceiling,"
    " at the workers chosen"
)


# How pale a part of a bar is: what it stands for. A loss that is not shown is not divided.
WAITS, WHOLE, SLOWER = 0.0, 0.4, 0.75
PALE = {
    WAITS: "the device waits for data",
    SLOWER: "its steps take longer than at the ceiling",
    WHOLE: "not shown to be a loss: not divided",
}


def draw(setting, gpus, context):
    groups = [
        (heading, [r for r in group if r.cell.data != "synthetic"])
        for heading, group in rows.plan(setting, gpus)
    ]
    groups = [(heading, group) for heading, group in groups if group]
    cells = [row.cell for _, group in groups for row in group]
    lost = {id(c): epoch.hours_lost(c) for c in cells if c.ratio}
    if not lost:
        return None
    page = Page(setting, figures.TITLES["waiting_cost"], context, gpus, rows.scale_for(groups))
    page.foot(cells, [_caption(cells, setting, gpus)])
    ax = rows.lay_out(page, groups, over=0.52)
    low = min(0.0, min(v.mean - v.error_bar[0] for v in lost.values()))
    if low < 0:
        ax.axvline(0, color="black", linewidth=1)
    parts = {
        id(c): _parts(c, lost[id(c)].mean, context.claims.loss(c)) for c in cells if id(c) in lost
    }
    drawn = {pale for of in parts.values() for pale, hours in of if hours}
    shown = [pale for pale in PALE if pale in drawn]
    page.legend(
        [Patch(facecolor=style.lighter(style.GREY, pale), edgecolor=style.EDGE) for pale in shown],
        [PALE[pale] for pale in shown],
    )
    notes = []
    for row in (row for _, group in groups for row in group):
        if id(row.cell) in lost:
            hours, claim = lost[id(row.cell)], context.claims.loss(row.cell)
            notes.append(
                _bar(ax, row, hours, parts[id(row.cell)], _words(hours, claim, page.compact))
            )
        elif not row.cell.rate:
            rows.missing(ax, row)
    rows.make_room(page, ax, low * 1.1, notes)
    ax.set_xlabel("hours lost per epoch" + ("" if page.compact else f" of {IMAGES:,} images"))
    _over_all_epochs(ax, 5 if page.compact else 7)
    return page


def _caption(cells, setting, gpus):
    """How long an epoch takes at the ceiling: what the hours lost come on top of."""
    ceilings = [c for c in panels.ceilings_for(cells, setting, gpus) if c.rate]
    if len(ceilings) != 1:
        return "Lost on top of an epoch at the ceiling of each input size."
    hours = IMAGES / ceilings[0].rate.mean / 3600
    return (
        f"An epoch at the ceiling takes {duration(hours)}, {EPOCHS} epochs "
        f"{duration(EPOCHS * hours)}; what is lost comes on top."
    )


def _bar(ax, row, hours, parts, words):
    left = 0.0
    for pale, part in parts:
        bar = {"height": row.thick, "zorder": 3, **style.bar(row.look, row.cell.serious)}
        if not row.cell.serious:
            bar["facecolor"] = style.lighter(row.look.colour, pale)
        ax.barh(row.y, part, left=left, **bar)
        left += part
    above = rows.interval(ax, row, hours)
    words += " !" if row.cell.share_serious else ""
    return rows.note(ax, row, max(hours.mean + above, 0), words)


def _parts(cell, hours, claim):
    """[(how pale, hours), …], from the left."""
    waiting = epoch.hours_waiting(cell)
    if cell.serious or waiting is None or not claim.is_shown:
        return [(WHOLE, hours)]
    waits = min(waiting, hours)
    return [(WAITS, waits), (SLOWER, hours - waits)]


def _words(hours, claim, compact):
    """What is shown to be lost; else how much that could be."""
    if claim.is_known and not claim.is_shown:
        most = duration(max(hours.high, 0.0))
        return f"below {most}" if compact else claim.none_of(f"at most {most} per epoch")
    if hours.low is None:
        return spread(hours, duration) + f" (n = {hours.n})"
    return (
        duration(hours.mean)
        if compact
        else f"{spread(hours, duration)} per epoch, {duration(EPOCHS * hours.mean)} over {EPOCHS}"
    )


def _over_all_epochs(ax, most):
    ax.xaxis.set_major_locator(MaxNLocator(most))
    ax.xaxis.set_major_formatter(FuncFormatter(tick))
    above = ax.secondary_xaxis("top", functions=(lambda x: x * EPOCHS, lambda x: x / EPOCHS))
    above.xaxis.set_major_locator(MaxNLocator(most))
    above.xaxis.set_major_formatter(FuncFormatter(tick))
    above.set_xlabel(f"hours lost over {EPOCHS} epochs")
    above.spines["top"].set_visible(True)
