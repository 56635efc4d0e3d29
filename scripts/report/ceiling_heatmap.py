"""How much of the ceiling every kind of data reaches at every stored size, on one map."""

from __future__ import annotations

from matplotlib import colormaps
from matplotlib.patches import Rectangle

from . import choice, figures, findings, marks, panels, style
from .cells import pixels
from .page import Page
from .text import clean, percent, plain, share_words, workers

NO_SIZE = "no stored size"
LEAST = 12  # cells: fewer are better told by their numbers than by their colours


def claim(plan, claims):
    return findings.of_places(plan, claims)


def draw(setting, gpus, context):
    cells = panels.at_gpus(setting, gpus)
    series, columns = (
        style.series_of(cells),
        sorted({c.image_size for c in cells}, key=_sized_first),
    )
    chosen = {
        (s, size): panels.best([c for c in panels.of_series(cells, s) if c.image_size == size])
        for s in series
        for size in columns
    }
    drawn = [c for c in chosen.values() if c]
    if not any(c.ratio for c in drawn) or len(drawn) < LEAST or not panels.any_valid(drawn):
        return None
    page = Page(
        setting, figures.NAMED["ceiling_heatmap"].title, context, gpus, max(1.0, len(series) / 9)
    )
    page.foot(
        drawn,
        [
            f"Each cell: {choice.RULE}; their number stands below the share. "
            "Darker is nearer to the ceiling; "
            "empty: not asked for."
        ],
    )
    longest = max(len(s.label) for s in series)
    inches = longest * 0.092 * style.pt(10.5) / 10.5 + 0.15
    (ax,) = page.panels(
        1,
        left=min(inches / page.width, 0.35) + 0.03,
        under=0.30,
        over=0.15,
        tall=0.36 * len(series),
    )
    for y, s in enumerate(series):
        for x, size in enumerate(columns):
            _cell(ax, x, -y, chosen[s, size], page.narrow)
    _frame(ax, columns, series)
    return page


def _sized_first(size):
    return size is None, pixels(size)


def _cell(ax, x, y, cell, is_narrow):
    if cell is None:
        ax.add_patch(
            Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor="white", edgecolor=style.LIGHT, zorder=2)
        )
        return
    if not cell.rate or not cell.ratio:
        _box(ax, x, y, facecolor="#F2F2F2", edgecolor="#BBBBBB", hatch="////")
        _words(ax, x, y, f"× {cell.state}" if not cell.rate else "no ceiling", style.EDGE)
        return
    share = cell.ratio.mean
    tone = colormaps["cividis_r"](0.92 * max(0.0, min(1.0, share)))
    if cell.share_serious:  # hollow, as everywhere: nobody reads its colour as a result
        box = _box(ax, x, y, facecolor="white", edgecolor=tone)
    else:
        box = _box(ax, x, y, facecolor=tone, edgecolor="white")
    marks.link([box], cell)
    dark = not cell.share_serious and 0.299 * tone[0] + 0.587 * tone[1] + 0.114 * tone[2] < 0.5
    words = (percent(share) if is_narrow else share_words(cell.ratio)) + (
        " !" if cell.share_serious else ""
    )
    words += (
        ""
        if cell.workers is None
        else f"\n({cell.workers})"
        if is_narrow
        else "\n" + workers(cell.workers)
    )
    _words(ax, x, y, words, "white" if dark else "black")


def _box(ax, x, y, **look):
    return ax.add_patch(
        Rectangle((x - 0.47, y - 0.47), 0.94, 0.94, linewidth=style.scaled(2.5), zorder=3, **look)
    )


def _words(ax, x, y, words, colour):
    ax.text(
        x,
        y,
        words,
        ha="center",
        va="center",
        color=colour,
        zorder=5,
        fontsize=style.pt(style.SMALL),
        linespacing=1.15,
    )


def _frame(ax, columns, series):
    ax.grid(False)
    ax.set_xlim(-0.5, len(columns) - 0.5)
    ax.set_ylim(0.5 - len(series), 0.5)
    ax.set_xticks(range(len(columns)))
    ax.set_xticklabels([plain(NO_SIZE if size is None else clean(size), 30) for size in columns])
    ax.set_yticks([-y for y in range(len(series))])
    ax.set_yticklabels([s.label for s in series])
    ax.tick_params(length=0)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
