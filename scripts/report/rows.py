"""Horizontal bars in labelled groups: the frame of stages and the like. Unlike vertical
bars, they leave space for words."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

from . import panels, style
from .cells import pixels
from .page import LEFT
from .text import clean, plain, stored_at, tick, workers


@dataclass
class Row:
    """One bar to come: its cell (or ceiling), its words at the left, its place."""

    cell: object
    look: object
    label: str
    y: float = 0.0
    thick: float = 0.72  # of the distance between two rows


def plan(setting, gpus):
    """[(group heading, [Row, …]), …]: the ceiling and what has no stored size first, then a group
    for each stored size; a series stands with the workers chosen."""
    cells = panels.at_gpus(setting, gpus)
    series = style.series_of(cells)
    native = setting.axes["input-size"] == "native"
    groups = []
    for size in sorted(
        {c.image_size for c in cells} | ({None} if not native or not cells else set()),
        key=_none_first,
    ):
        here = [c for c in cells if c.image_size == size]
        tops = panels.ceilings_for(here, setting, gpus) if native or size is None else []
        rows = [
            Row(c, style.KINDS["synthetic"], _ceiling_label(c, native and not cells)) for c in tops
        ]
        for s in series:
            best = panels.best(panels.of_series(here, s))
            if best:
                rows.append(Row(best, s.look, _label(s, best)))
        if rows:
            groups.append((_heading(size, setting), rows))
    return groups


def _none_first(size):
    return size is not None, pixels(size)


def _heading(size, setting):
    if size is not None:
        return stored_at(size)
    return f"input size {clean(setting.axes['input-size'])}"


def _ceiling_label(ceiling, say_size):
    return "ceiling (synthetic)" + (f", {plain(ceiling.input_size)}" if say_size else "")


def _label(series, cell):
    chosen = f" ({cell.how.split()[1]})" if cell.how else ""  # "the fewest of …"
    return series.label + ("" if cell.workers is None else ", " + workers(cell.workers)) + chosen


def scale_for(groups, at_most=16):
    """How much larger the sheet must be for its rows."""
    return max(1.0, sum(len(rows) + 0.8 for _, rows in groups) / at_most)


def lay_out(page, groups, right=0.955, under=0.52, over=0.08, long_headings=False):
    """An axes with a place for every row, labels at the left and headings above their groups; long
    ones reach above the bars."""
    y = 0.0
    for _, rows in groups:
        y -= 0.85
        for row in rows:
            row.y = y
            y -= 1.0
    longest = max(len(row.label) for _, rows in groups for row in rows)
    size = style.pt(10.5 if longest <= 30 else style.SMALL)
    inches = longest * 0.092 * size / 10.5
    if not long_headings:
        inches = max(inches, max(len(h) for h, _ in groups) * 0.094 * page.factor)
    start = 0.02 if page.bare else LEFT
    left = start + 0.01 + min(inches / page.width, 0.46 if page.narrow else 0.42)
    (ax,) = page.panels(1, left=left, right=right, under=under, over=over, tall=-0.17 * y)
    labels = [row for _, rows in groups for row in rows]
    ax.set_yticks([row.y for row in labels])
    ax.set_yticklabels([row.label for row in labels], fontsize=size)
    ax.tick_params(axis="y", length=0)
    ax.grid(False, axis="y")
    ax.set_ylim(y + 0.35, 0.0)
    inches = ax.get_window_extent().height / page.figure.dpi / -(y + 0.35)
    for row in labels:  # few rows are no reason for fat bars
        row.thick = min(0.72, 0.42 / inches)
    for heading, rows in groups:
        # Headings begin where the labels do, not where the bars do.
        above = min(0.80, 0.5 * rows[0].thick + 0.25 * page.factor / inches)
        ax.annotate(
            plain(heading),
            (start, rows[0].y + above),
            xycoords=("figure fraction", "data"),
            va="center",
            fontsize=style.pt(10.5),
            weight="bold",
            annotation_clip=False,
        )
    return ax


def fill(page, ax, rows, bar, words, marks):
    """Calls bar(row), which returns its note, for each row that has a result; the others say that
    they have none. Then labels the axis with `words` and at most `marks` ticks, as far as there is
    something to read: right of it are the words alone."""
    notes = []
    for row in rows:
        if row.cell.rate:
            notes.append(bar(row))
        else:
            missing(ax, row)
    make_room(page, ax, 0, notes)
    ax.set_xlabel(words)
    end = max((note.xy[0] for note in notes), default=0.0)
    ax.xaxis.set_major_locator(FixedLocator(ticks_up_to(end, ax.get_xlim()[1], marks)))
    ax.xaxis.set_major_formatter(FuncFormatter(tick))
    ax.spines["bottom"].set_bounds(0, end or ax.get_xlim()[1])


def ticks_up_to(end, limit, most):
    """The ticks of an axis from 0 to `limit`, on which nothing lies beyond `end`; `most` of them
    would fill it."""
    count = max(2, round(most * end / limit))
    return [x for x in MaxNLocator(count).tick_values(0, end) if 0 <= x <= end] if end else [0.0]


def interval(ax, row, found):
    """The error bar of an estimate, or the points of its repetitions where it has none; how far
    right of the mean it reaches."""
    below, above = found.error_bar
    if found.low is not None:
        ax.errorbar(
            found.mean,
            row.y,
            xerr=[[below], [above]],
            color="black",
            capsize=style.scaled(3.5),
            elinewidth=style.scaled(1.3),
            zorder=4,
        )
    elif found.n > 1:
        ax.plot(
            found.points,
            [row.y] * len(found.points),
            linestyle="none",
            marker="|",
            color="black",
            markersize=style.scaled(9),
            zorder=4,
        )
        above = max(found.points, default=found.mean) - found.mean
    return above


def note(ax, row, x, words):
    """Writes words right of a bar that ends at x; make_room() then ensures that they fit."""
    return ax.annotate(
        plain(words),
        (x, row.y),
        (style.scaled(7), 0),
        textcoords="offset points",
        va="center",
        fontsize=style.pt(10 if len(words) < 60 else style.SMALL),
        zorder=6,
        annotation_clip=False,
        bbox=dict(facecolor="white", edgecolor="none", pad=2.0),
    )


def make_room(page, ax, low, notes):
    """The x limits that let every note end within the axes: the anchor moves with the limit, the
    words keep their width."""
    width = ax.get_window_extent().width
    renderer = page.figure.canvas.get_renderer()
    pixels_per_point = page.figure.dpi / 72
    high = low + 1e-9
    for words in notes:
        share = (words.get_window_extent(renderer).width + 12 * pixels_per_point) / width
        high = max(high, low + (words.xy[0] - low) / max(1 - share, 0.15))
    ax.set_xlim(low, high)


def missing(ax, row):
    """In place of a bar: that there is none, and why. Never a bar of zero."""
    ax.annotate(
        f"× {row.cell.state}",
        (0, row.y),
        (5, 0),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        va="center",
        fontsize=style.pt(style.SMALL),
        color=style.EDGE,
        weight="bold",
    )
