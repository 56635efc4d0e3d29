"""Where a worker's time goes, stage by stage, against what the device leaves for an image:
horizontal bars in a group for each stored size, which leave space for words."""

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
from .page import page_of

ROWS = 16  # on a sheet; more make it larger
HATCH = "////"


@dataclass
class Row:
    """A bar to come."""

    cell: object
    label: str
    times: list  # of stage_times.per_image()
    y: float = 0.0
    thick: float = 0.72  # of the distance between two rows

    @property
    def takes(self):
        """ms of a worker per image."""
        return sum(wall for _, wall, _ in self.times)

    @property
    def leaves(self):
        """ms per image that the device leaves the workers; 0: unknown."""
        return budget(self.cell) or 0.0


def claim(plan, claims):
    return findings.of_worst(plan, claims, per_image, _takes_most)


def _takes_most(cell, claim):
    stage, share = largest_share(cell)
    words = f"{findings.name(cell)} loses {spread(claim.loss)}; {clean(stage, 20)} takes"
    return f"{words} {spread(share)} of a worker's busy time"


def draw(setting, gpus, context):
    groups = _groups(setting, gpus)
    rows = [row for _, group in groups for row in group]
    if not any(r.times for r in rows) or not panels.any_valid(r.cell for r in rows):
        return None
    scale = max(1.0, sum(len(group) + 0.8 for _, group in groups) / ROWS)
    page = page_of("stages", setting, gpus, context, scale)
    colours = _colours(names_of(r.times for r in rows))
    bars = [(Patch(facecolor=c, edgecolor=style.EDGE), plain(n, 30)) for n, c in colours.items()]
    waits = Patch(facecolor="white", edgecolor=style.EDGE, hatch=HATCH)
    bars += [(waits, "waiting (wall − CPU)"), (Patch(color="black"), "device's time × workers")]
    page.legend(bars)
    page.foot([r.cell for r in rows], [_caption(rows, context.claims)])
    words = [_words(row, page.narrow, context.claims) for row in rows]
    ax = _lay_out(page, groups, words)
    for row, numbers in zip(rows, words):
        if not row.cell.rate:  # that there is none, and why: never a bar of zero
            how = dict(color=style.EDGE, weight="bold")
            marks.say_beside(ax, f"× {row.cell.state}", 0, row.y, (5, 0), **how)
            continue
        _bar(ax, row, colours)
        if not page.narrow:
            marks.say_beside(ax, plain(numbers), 1, row.y, (8, 0), 10.5)
    ax.set_xlim(0, 1.02 * max(1e-9, *(max(row.takes, row.leaves) for row in rows)))
    ax.set_xlabel("ms per image" if page.narrow else "ms of one worker per image")
    ax.xaxis.set_major_locator(MaxNLocator(5 if page.narrow else 8))
    ax.xaxis.set_major_formatter(FuncFormatter(tick))
    return page


def _colours(names):
    """{stage: its colour}"""
    spare = [n for n in names if n not in style.STAGES]
    others = {n: style.SPARE[i % len(style.SPARE)] for i, n in enumerate(spare)}
    return {n: style.STAGES.get(n) or others[n] for n in names}


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


def _lay_out(page, groups, words):
    """An axes with a place for every row, labels at the left and headings above their groups."""
    y = 0.0
    for _, group in groups:
        y -= 0.85
        for row in group:
            row.y, y = y, y - 1.0
    rows, end = [row for _, group in groups for row in group], y + 0.35
    size = style.pt(10.5 if max(len(row.label) for row in rows) <= 30 else style.SMALL)
    room, right = (0.5 if page.narrow else 0.41) * page.width, 0.1
    names = [forest.broken(page, row.label, size, room) for row in rows]
    if page.narrow:  # the numbers stand below the name: there is no room for them at the right
        names = [f"{name}\n{numbers}".strip() for name, numbers in zip(names, words)]
    else:
        right += page.edge + page.widest(words, style.pt(10.5))
    heads = 1.15 * page.widest([heading for heading, _ in groups], size)  # which are bold
    left = page.edge + max(page.widest(names, size), heads) + 0.1
    sides = dict(left=left / page.width, right=1 - right / page.width)
    tall = (0.06 + 0.11 * max(name.count("\n") + 1 for name in names)) * -y
    (ax,) = page.panels(1, over=0.10, tall=tall, **sides)
    marks.name_rows(ax, [row.y for row in rows], names, fontsize=size, linespacing=1.05)
    ax.set_ylim(end, 0.0)
    inches = ax.get_window_extent().height / page.figure.dpi / -end
    for row in rows:  # few rows are no reason for fat bars
        row.thick = min(0.72, 0.42 / inches)
    how = dict(xycoords=("figure fraction", "data"), va="center", weight="bold")
    for heading, (first, *_) in groups:
        # Headings begin where the labels do, not where the bars do.
        above = min(0.80, 0.5 * first.thick + style.scaled(0.25) / inches)
        place = page.edge / page.width, first.y + above
        marks.say(ax, plain(heading), place, (0, 0), 10.5, **how)
    return ax


def _bar(ax, row, colours):
    x = 0.0
    for name, wall, cpu in row.times:
        for width, hatch, tone in ((cpu, None, 0.0), (wall - cpu, HATCH, 0.62)):
            look = dict(facecolor=style.lighter(colours[name], tone), edgecolor=style.EDGE)
            look |= dict(hatch=hatch, linewidth=style.scaled(0.6), zorder=3)
            marks.link(ax.barh(row.y, width, 0.92 * row.thick, x, **look), row.cell)
            x += width
    if row.leaves:
        half = 0.64 * row.thick
        look = dict(color="black", solid_capstyle="butt", zorder=5)
        look |= dict(linewidth=style.scaled(3.2))
        ax.plot([row.leaves] * 2, [row.y - half, row.y + half], **look)


def _words(row, is_narrow, claims):
    if not row.cell.rate:
        return ""
    words = f"takes {amount(row.takes)} of {amount(row.leaves)} ms"
    words = words if row.leaves else f"{amount(row.takes)} ms"
    # what, without its numbers: the note has those of the furthest
    is_told = claims.loss(row.cell).is_shown
    why = re.split(", |: (?=[0-9.,]+ of )", limiting.of_cell(row.cell))[0] if is_told else ""
    words += f", {why}" if why and not is_narrow else ""
    return words + (" !" if row.cell.share_serious else "")


def _caption(rows, claims):
    """Of the rows that are shown to lose, the one that falls shortest, in a sentence."""
    head = "A bar beyond the mark cannot keep the device busy. "
    short = [r for r in rows if r.times and r.leaves and claims.loss(r.cell).is_shown]
    if not short:
        return head + "None of the rows is shown to lose."
    row = max(short, key=lambda r: r.takes / r.leaves)
    factor, why = row.takes / row.leaves, limiting.of_cell(row.cell)
    where = row.label + (f" at {row.cell.image_size}" if row.cell.image_size else "")
    words = f"{factor:.1f} times" if factor > 1 else percent(factor)
    words = f"Of those shown to lose, furthest: {where}, {words} of what the device leaves"
    return head + words + (f" ({why})." if why else ".")
