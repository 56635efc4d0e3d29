"""Points, the mark of an invalid one, and the ticks of a log axis, as several figures draw them."""

from __future__ import annotations

from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from . import style
from .text import tick


def points(ax, places, look):
    """Markers with error bars at (x, estimate, invalid), or with the points of the repetitions
    where there is no interval; those that are invalid hollow and with their mark."""
    for invalid in (False, True):
        here = [(x, estimate) for x, estimate, serious in places if serious == invalid]
        if not here:
            continue
        how = style.marker(look, invalid)
        if look.marker == "_":  # the ceiling's
            how = dict(
                color="black",
                marker="_",
                markersize=style.scaled(11),
                markeredgewidth=style.scaled(2),
            )
        ax.errorbar(
            [x for x, _ in here],
            [e.mean for _, e in here],
            list(zip(*(e.error_bar for _, e in here))),
            linestyle="none",
            capsize=style.scaled(3.5),
            elinewidth=style.scaled(1.3),
            **how,
        )
        for x, estimate in ((x, e) for x, e in here if e.low is None and len(e.points) > 1):
            ax.plot(
                [x] * len(estimate.points),
                estimate.points,
                linestyle="none",
                marker="_",
                color=style.EDGE,
                markersize=style.scaled(7),
                zorder=5,
            )
        for x, estimate in here if invalid else []:
            exclaim(ax, x, estimate.mean)


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
