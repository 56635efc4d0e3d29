"""What several figures draw alike: points with their whiskers, words beside them, the mark of an
invalid one, the link to a record, legends and ticks."""

from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from ..look import style
from ..text import tick


def link(artists, cell):
    """Lets what stands for a cell lead to its row on the page. In a PDF a link has no effect."""
    for artist in artists:
        artist.set_url("#" + cell.origin.anchor)


def say(ax, words, at, off=(0, 0), size=style.SMALL, **more):
    """Writes words so many points off a place; `size` as on a sheet."""
    how = dict(textcoords="offset points", fontsize=style.pt(size), zorder=6)
    off = tuple(map(style.scaled, off))
    return ax.annotate(words, at, off, **{**how, "annotation_clip": False, **more})


def say_beside(ax, words, x, y, off, size=style.SMALL, **more):
    """Writes words in the row at y, so many points off that share of the axes' width."""
    how = dict(xycoords=("axes fraction", "data"), va="center")
    return say(ax, words, (x, y), off, size, **how, **more)


def name_rows(ax, places, names, **look):
    """Names of rows, at the left in place of numbers."""
    ax.set_yticks(places, names, **look)
    ax.tick_params(axis="y", length=0)
    ax.grid(False, axis="y")


def whisker(ax, x, y, up=(), across=(), **more):
    """The bars of intervals: (below, above) each; none where both are zero."""
    up, across = ([[side] for side in sides] if any(sides) else None for sides in (up, across))
    how = dict(fmt="none", ecolor=style.EDGE, zorder=5, capsize=style.scaled(3.5))
    if up or across:
        how |= {"elinewidth": style.scaled(1.3), **more}
        ax.errorbar([x], [y], up, across, **how)


def point(ax, x, y, cell, invalid, **how):
    """A marker that leads to the cell's row; beside an invalid one its mark."""
    link(ax.plot([x], [y], linestyle="none", **how), cell)
    if invalid:
        say(ax, "!", (x, y), (-9, 7), 11, weight="bold", color=style.EDGE, zorder=7)


def points(ax, places, look, below=0, wider=0):
    """Markers with error bars at (x, cell, estimate, invalid), or with the points of the
    repetitions where there is no interval; those that are invalid hollow and with their mark. With
    `below` series that are drawn over this one they are larger, so that their rims still show, by
    `wider` points where the same line lies on it."""
    for x, cell, estimate, invalid in places:
        how = _ceiling_mark() if look.marker == "_" else style.marker(look, invalid)
        larger = max(min(1.3 * below, 4), wider)
        how["markersize"] = how.get("markersize", style.scaled(7)) + style.scaled(larger)
        bar = dict(ecolor=how["color"], zorder=how["zorder"])
        whisker(ax, x, estimate.mean, estimate.error_bar, **bar)
        point(ax, x, estimate.mean, cell, invalid, **how)
        if estimate.low is None and len(estimate.points) > 1:
            each = dict(linestyle="none", marker="_", color=style.EDGE, zorder=5)
            many = [x] * len(estimate.points)
            ax.plot(many, estimate.points, markersize=style.scaled(7), **each)


def _ceiling_mark():
    size, edge = style.scaled(11), style.scaled(2)
    return dict(color="black", marker="_", markersize=size, markeredgewidth=edge, zorder=3.5)


def sample(look):
    """For a legend."""
    return Line2D([], [], linestyle=look.line, **style.marker(look))


def ticks(axis, factor=1):
    """A few round numbers on a linear axis; `factor`: 100 for a share in percent."""
    axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: tick(round(factor * value, 6))))


def log_ticks(axis, low, high):
    """Labels at the decades of a log axis, between them too where there are few. No small ticks:
    drawing them takes longer than all the rest of a figure, and the axis says that it is
    logarithmic."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 30 * low else (1,)))
    axis.set_major_formatter(FuncFormatter(tick))
    axis.set_minor_locator(NullLocator())


def share_heights(axes):
    """The same vertical limits for all, with their numbers at the left of each row alone."""
    limits = [ax.get_ylim() for ax in axes]
    for ax in axes:
        ax.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
        if not ax.get_subplotspec().is_first_col():
            ax.tick_params(labelleft=False)


def missing(ax, x, colour, nth=0):
    """The mark of a cell without a result, at the lower edge: its place, and no value. Several at
    one place stand above each other."""
    how = dict(xycoords=("data", "axes fraction"), ha="center", weight="bold", color=colour)
    say(ax, "×", (x, 0), (0, 5 + 11 * nth), 13, **how)
