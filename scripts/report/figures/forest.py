"""A forest: a row an estimate, its name at the left, mean and interval in the middle, the numbers
at the right. The frame of share and comparison."""

import textwrap
from dataclasses import dataclass

from .. import lines
from ..look import style
from ..text import counted, plain
from . import marks

# Rows: of a sheet, with names of one line and of two; of a figure that is as tall as it needs.
SHORT, LONG, TALL = 16, 9, 100
FIRST_LINE = 0.85  # of a row: free above the first and below the last


@dataclass(frozen=True)
class Row:
    """`found` holds mean, low, high and points (low and high None: no interval); None: there is no
    number, and `words` say why, in its place."""

    cell: object
    name: str
    found: object
    words: str  # the numbers
    is_told: bool = False  # a difference is shown: in the colour of its kind, else grey
    is_invalid: bool = False


def room_for(names, medium):
    """How many rows of such names a figure shows."""
    if medium.is_bare:
        return TALL
    return LONG if any(len(name) > 46 for name in names) else SHORT


def left_out(count, medium):
    """A note on rows that are not shown."""
    where = "in table.csv" if medium.is_bare else "on the page and in table.csv"
    return [f"{counted(count, 'more row')}: {where}."] if count else []


def draw(page, rows):
    """The axes with all rows, the first at the top; its horizontal limits are left to the
    caller."""
    ax = _lay_out(page, rows)
    for i, row in enumerate(rows):
        if row.found is None:  # why there is none: never a point at zero
            room = page.width * (1 - ax.get_position().x0) - 0.2
            words = broken(page, "× " + row.words, style.pt(style.SMALL), room / 1.15)  # bold
            marks.say_beside(ax, words, 0, -i, (5, 0), color=style.VERMILLION, weight="bold")
        else:
            _estimate(ax, -i, row)
            colour = style.EDGE if row.is_told else style.GREY
            marks.say_beside(ax, _words(page, row), 1, -i, (8, 0), color=colour)
    return ax


def ends(rows):
    """(least, largest) of all that the rows draw."""
    found = [row.found for row in rows if row.found is not None]
    values = [v for f in found for v in (f.mean, f.low, f.high, *f.points) if v is not None]
    return min(values), max(values)


def look_of(row):
    """Its kind's marker always: the colour alone tells nobody who sees none. A ceiling's dash would
    lie on its own interval."""
    look = style.KINDS.get(row.cell.data, style.OTHER)
    marker = "|" if look.marker == "_" else look.marker
    return style.Look(look.colour if row.is_told else style.GREY, marker, look.line)


def _lay_out(page, rows):
    """With the room at the sides that the words need, but most of the page for the rows: longer
    names stand on several lines."""
    room = 0.4 * page.width
    size = style.pt(10.5 if max(len(row.name) for row in rows) <= 36 else style.SMALL)
    names = [broken(page, row.name, size, room) for row in rows]
    numbers = [_words(page, row) for row in rows if row.found]
    left, right = page.widest(names, size) + 0.1, page.widest(numbers, size) + 0.1
    least = (0.38 if page.narrow else 0.25) * page.width
    if page.width - left - right - 2 * page.edge < least:
        names = [broken(page, row.name, size, 0.6 * room) for row in rows]
        left = page.widest(names, size) + 0.1
    high = max(words.count("\n") + 1 for words in [*names, *(_words(page, r) for r in rows)])
    left, right = (page.edge + left) / page.width, 1 - (page.edge + right) / page.width
    tall = (0.06 + 0.11 * high) * (len(rows) + FIRST_LINE)
    (ax,) = page.panels(1, left=left, right=right, over=0.12, tall=tall)
    places = [-i for i in range(len(rows))]
    marks.name_rows(ax, places, names, fontsize=size, linespacing=1.05)
    ax.set_ylim(places[-1] - FIRST_LINE, FIRST_LINE)
    return ax


def broken(page, name, size, room):
    """The name in as many lines as it takes to be at most `room` inches wide, as far as its words
    allow."""
    words = plain(name, 160)
    letters = len(words)
    while letters > 8 and (wide := page.widest(words.split("\n"), size)) > room:
        letters = min(letters - 1, int(letters * room / wide))
        wrapped = textwrap.wrap(lines.glued(plain(name, 160)), max(8, letters))
        words = "\n".join(wrapped).replace(lines.GLUE, " ")
    return words


def _words(page, row):
    """The numbers; in a column their interval, and what follows it, on lines of their own."""
    words = plain(row.words, 80)
    return words.replace(" (", "\n(", 1).replace(") ", ")\n", 1) if page.narrow else words


def _estimate(ax, y, row):
    look, found = look_of(row), row.found
    how = dict(color=look.rim, zorder=4)
    if found.low is not None:
        how |= dict(linewidth=style.scaled(1.6), solid_capstyle="butt")
        ax.plot([found.low, found.high], [y, y], **how)
    elif len(found.points) > 1:
        how |= dict(linestyle="none", marker="|", markersize=style.scaled(7))
        ax.plot(found.points, [y] * len(found.points), **how)
    how = style.marker(look, row.is_invalid)
    if look.marker == "|":
        how.update(markeredgewidth=style.scaled(2.2), markersize=style.scaled(12))
    marks.point(ax, found.mean, y, row.cell, row.is_invalid, clip_on=False, **how)
