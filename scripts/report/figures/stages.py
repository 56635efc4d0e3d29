"""Where a worker's time goes, stage by stage, against what the device leaves for an image:
horizontal bars in a group for each stored size, which leave space for words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ..claims import limiting, panels
from ..claims.stage_times import budget, largest_share, names_of, per_image
from ..ledger.cells import sizes_of
from ..look import style
from ..text import amount, clean, percent, plain, spread, tick, workers
from . import findings, forest, marks
from .page import Page

ROWS = 16  # on a sheet; more make it larger
HATCH = "////"


@dataclass
class Row:
    """A bar to come."""

    cell: object
    label: str
    times: list  # of stage_times.per_image()
    words: str = ""  # the numbers
    y: float = 0.0
    thick: float = 0.72  # of the distance between two rows


def claim(plan, claims):
    return findings.of_places(plan, claims, _largest)


def _largest(cells, claims):
    return findings.of_worst([c for c in cells if per_image(c)], claims.loss, _takes_most)


def _takes_most(cell, claim):
    stage, share = largest_share(cell)
    return (
        f"{findings.name(cell)} loses {spread(claim.loss)}; {clean(stage, 20)} takes"
        f" {spread(share)} of a worker's busy time"
    )


def draw(setting, gpus, context):
    groups = _groups(setting, gpus)
    rows = [row for _, group in groups for row in group]
    if not any(r.times for r in rows) or not panels.any_valid(r.cell for r in rows):
        return None
    scale = max(1.0, sum(len(group) + 0.8 for _, group in groups) / ROWS)
    page = Page(
        setting, findings.title("stages", setting, gpus, context.claims), context, gpus, scale
    )
    names = names_of(r.times for r in rows)
    spare = [n for n in names if n not in style.STAGES]
    colours = {n: style.SPARE[i % len(style.SPARE)] for i, n in enumerate(spare)}
    colours |= {n: style.STAGES[n] for n in names if n in style.STAGES}
    handles = [(Patch(facecolor=colours[n], edgecolor=style.EDGE), plain(n, 30)) for n in names]
    waits = Patch(facecolor="white", edgecolor=style.EDGE, hatch=HATCH)
    handles += [(waits, "waiting (wall − CPU)"), (Patch(color="black"), "device's time × workers")]
    page.legend(*zip(*handles))
    page.foot([r.cell for r in rows], [_caption(rows, context.claims)])
    for row in rows:
        row.words = _words(row, page.narrow, context.claims)
    ax = _lay_out(page, groups)
    for row in rows:
        if row.cell.rate:
            _bar(ax, row, colours)
            if not page.narrow:
                _say(ax, row)
        else:
            _missing(ax, row)
    ax.set_xlim(0, 1.02 * max(_end(row) for row in rows))
    ax.set_xlabel("ms per image" if page.narrow else "ms of one worker per image")
    ax.xaxis.set_major_locator(MaxNLocator(5 if page.narrow else 8))
    ax.xaxis.set_major_formatter(FuncFormatter(tick))
    return page


def _groups(setting, gpus):
    """[(heading, Rows), …]: what has no stored size first, then a group for each stored size; a
    series stands with the workers chosen."""
    cells, groups = panels.at_gpus(setting, gpus), []
    for size in [None, *sizes_of(cells)]:
        rows = []
        for s in style.series_of(cells):
            same = [c for c in panels.of_series(cells, s) if c.image_size == size]
            if best := panels.best(same):
                rows.append(Row(best, _label(s, best), per_image(best)))
        if rows:
            groups.append((panels.panel_title(size, setting), rows))
    return groups


def _label(series, cell):
    chosen = f" ({cell.how.split()[1]})" if cell.how else ""  # "the fewest of …"
    return series.label + ("" if cell.workers is None else ", " + workers(cell.workers)) + chosen


def _lay_out(page, groups):
    """An axes with a place for every row, labels at the left and headings above their groups."""
    y = 0.0
    for _, group in groups:
        y -= 0.85
        for row in group:
            row.y, y = y, y - 1.0
    rows = [row for _, group in groups for row in group]
    size = style.pt(10.5 if max(len(row.label) for row in rows) <= 30 else style.SMALL)
    room = (0.5 if page.narrow else 0.41) * page.width
    names = [forest.broken(page, row.label, size, room) for row in rows]
    if page.narrow:  # the numbers stand below the name: there is no room for them at the right
        names = [f"{name}\n{row.words}".strip() for name, row in zip(names, rows)]
    lines = max(name.count("\n") + 1 for name in names)
    heads = forest.widest(page, [heading for heading, _ in groups], size)
    wide = max(forest.widest(page, names, size), 1.15 * heads)  # which are bold
    left = page.edge + wide + 0.1
    right = (
        0.1
        if page.narrow
        else page.edge + 0.1 + forest.widest(page, [r.words for r in rows], style.pt(10.5))
    )
    sides = dict(left=left / page.width, right=1 - right / page.width)
    (ax,) = page.panels(1, over=0.10, tall=(0.06 + 0.11 * lines) * -y, **sides)
    ax.set_yticks([row.y for row in rows], names, fontsize=size, linespacing=1.05)
    ax.tick_params(axis="y", length=0)
    ax.grid(False, axis="y")
    ax.set_ylim(y + 0.35, 0.0)
    inches = ax.get_window_extent().height / page.figure.dpi / -(y + 0.35)
    for row in rows:  # few rows are no reason for fat bars
        row.thick = min(0.72, 0.42 / inches)
    for heading, group in groups:
        # Headings begin where the labels do, not where the bars do.
        above = min(0.80, 0.5 * group[0].thick + style.scaled(0.25) / inches)
        how = dict(xycoords=("figure fraction", "data"), va="center", weight="bold")
        marks.say(
            ax, plain(heading), (page.edge / page.width, group[0].y + above), (0, 0), 10.5, **how
        )
    return ax


def _bar(ax, row, colours):
    x = 0.0
    for name, wall, cpu in row.times:
        for width, hatch, tone in ((cpu, None, 0.0), (wall - cpu, HATCH, 0.62)):
            look = dict(facecolor=style.lighter(colours[name], tone), edgecolor=style.EDGE)
            look |= dict(hatch=hatch, linewidth=style.scaled(0.6), zorder=3)
            marks.link(ax.barh(row.y, width, 0.92 * row.thick, x, **look), row.cell)
            x += width
    if leaves := budget(row.cell):
        ends = [row.y - 0.64 * row.thick, row.y + 0.64 * row.thick]
        look = dict(color="black", solid_capstyle="butt", zorder=5)
        ax.plot([leaves] * 2, ends, linewidth=style.scaled(3.2), **look)


def _say(ax, row):
    how = dict(xycoords=("axes fraction", "data"), va="center")
    marks.say(ax, plain(row.words), (1, row.y), (8, 0), 10.5, **how)


def _end(row):
    """The end of its bar or its mark, whichever lies further right."""
    return max(sum(wall for _, wall, _ in row.times), budget(row.cell) or 0.0, 1e-9)


def _words(row, is_narrow, claims):
    if not row.cell.rate:
        return ""
    takes, leaves = sum(wall for _, wall, _ in row.times), budget(row.cell)
    words = f"takes {amount(takes)} of {amount(leaves)} ms" if leaves else f"{amount(takes)} ms"
    # what, without its numbers: the note has those of the furthest
    is_told = claims.loss(row.cell).is_shown
    why = re.split(", |: (?=[0-9.,]+ of )", limiting.of_cell(row.cell))[0] if is_told else ""
    words += f", {why}" if why and not is_narrow else ""
    return words + (" !" if row.cell.share_serious else "")


def _missing(ax, row):
    """In place of a bar: that there is none, and why. Never a bar of zero."""
    how = dict(xycoords=("axes fraction", "data"), va="center", color=style.EDGE, weight="bold")
    marks.say(ax, f"× {row.cell.state}", (0, row.y), (5, 0), **how)


def _caption(rows, claims):
    """Of the rows that are shown to lose, the one that falls shortest, in a sentence."""
    head = "A bar beyond the mark cannot keep the device busy. "
    short = [
        (sum(wall for _, wall, _ in r.times) / budget(r.cell), r)
        for r in rows
        if r.times and budget(r.cell) and claims.loss(r.cell).is_shown
    ]
    if not short:
        return head + "None of the rows is shown to lose."
    factor, row = max(short, key=lambda pair: pair[0])
    where = row.label + (f" at {row.cell.image_size}" if row.cell.image_size else "")
    why = limiting.of_cell(row.cell)
    words = f"{factor:.1f} times" if factor > 1 else percent(factor)
    words = f"Of those shown to lose, furthest: {where}, {words} of what the device leaves"
    return head + words + (f" ({why})." if why else ".")
