"""Points, the mark of an invalid one, the link to a record, and the ticks of a log axis, as several
figures draw them."""

from __future__ import annotations

from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from . import style
from .text import tick


def anchor(cell):
    """What the page calls the row of a cell or a ceiling: the id of its element."""
    return f"cell-{cell.origin.cell_id}"


def link(artists, cell):
    """Lets what stands for a cell lead to its row on the page. In a PDF a link has no effect."""
    for artist in artists:
        artist.set_url("#" + anchor(cell))


def points(ax, places, look):
    """Markers with error bars at (x, cell, estimate, invalid), or with the points of the
    repetitions where there is no interval; those that are invalid hollow and with their mark."""
    for x, cell, estimate, invalid in places:
        how = _ceiling_mark() if look.marker == "_" else style.marker(look, invalid)
        ax.errorbar(
            [x],
            [estimate.mean],
            [[side] for side in estimate.error_bar],
            fmt="none",
            ecolor=how["color"],
            capsize=style.scaled(3.5),
            elinewidth=style.scaled(1.3),
            zorder=how["zorder"],
        )
        link(ax.plot([x], [estimate.mean], linestyle="none", **how), cell)
        if estimate.low is None and len(estimate.points) > 1:
            ax.plot(
                [x] * len(estimate.points),
                estimate.points,
                linestyle="none",
                marker="_",
                color=style.EDGE,
                markersize=style.scaled(7),
                zorder=5,
            )
        if invalid:
            exclaim(ax, x, estimate.mean)


def _ceiling_mark():
    return dict(
        color="black",
        marker="_",
        markersize=style.scaled(11),
        markeredgewidth=style.scaled(2),
        zorder=3.5,
    )


def log_ticks(axis, low, high):
    """Labels at the decades of a log axis, between them too where there are few. No small ticks:
    drawing them takes longer than all the rest of a figure, and the axis says that it is
    logarithmic."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 30 * low else (1,)))
    axis.set_major_formatter(FuncFormatter(tick))
    axis.set_minor_locator(NullLocator())


def missing(ax, x, colour):
    """The mark of a cell without a result, at the lower edge: its place, and no value."""
    ax.annotate(
        "×",
        (x, 0),
        (0, 5),
        xycoords=("data", "axes fraction"),
        ha="center",
        textcoords="offset points",
        fontsize=style.pt(13),
        weight="bold",
        color=colour,
    )


def exclaim(ax, x, y):
    """The mark beside a hollow point: the cell carries a serious flag."""
    ax.annotate(
        "!",
        (x, y),
        (style.scaled(-9), style.scaled(7)),
        textcoords="offset points",
        weight="bold",
        fontsize=style.pt(11),
        color=style.EDGE,
        zorder=7,
    )
