"""How much of the ceiling every kind of data reaches at every stored size, on one map."""

import math

from matplotlib import colormaps
from matplotlib.patches import Rectangle

from ..claims import panels
from ..ledger.cells import sizes_of
from ..look import style
from ..text import clean, counted, percent, plain, share_words, spread, workers
from . import findings, forest, marks
from .page import page_of

NO_SIZE = "no stored size"
NAMED = 2  # kinds in the title
ROWS = 9  # of a sheet
LEAST = 12  # cells: fewer are better told by their numbers than by their colours


def claim(plan, claims):
    """At how many of its stored sizes each kind loses, and the largest loss; or that none is."""
    return findings.of_places(plan, claims, _loses)


def _loses(cells, claims):
    cell, claim, _, known = findings.worst(cells, claims.loss)
    if not cell:
        return findings.none(known)
    counts = []
    for s in style.series_of(cells):
        told = [claims.loss(c) for c in panels.of_series(cells, s) if claims.loss(c).is_known]
        if lost := sum(one.is_shown for one in told):
            kind = clean(s.data, 20) + (f" ({clean(s.variant, 40)})" if s.variant else "")
            counts.append((lost, f"{kind} {lost} of {len(told)}"))
    counts.sort(key=lambda pair: -pair[0])
    words = [words for _, words in counts[:NAMED]]
    words += [counted(len(counts) - NAMED, "more kind")] if len(counts) > NAMED else []
    largest = f"{panels.kind(cell)} loses {spread(claim.loss)}"
    return f"Stored sizes with a loss: {', '.join(words)}; the largest: {largest}"


def draw(setting, gpus, context):
    cells = panels.at_gpus(setting, gpus)
    every = style.series_of(cells)
    columns = sizes_of(cells) + [None] * any(not c.image_size for c in cells)
    chosen = {
        (s, size): panels.best([c for c in panels.of_series(cells, s) if c.image_size == size])
        for s in every
        for size in columns
    }
    drawn = [c for c in chosen.values() if c]
    if not any(c.ratio for c in drawn) or len(drawn) < LEAST or not panels.any_valid(drawn):
        return None
    series = _worst(every, chosen, forest.TALL if context.medium.is_bare else ROWS)
    drawn = [c for (s, _), c in chosen.items() if c and s in series]
    page = page_of("ceiling_heatmap", setting, gpus, context)
    left = forest.left_out(len(every) - len(series), context.medium)
    note = "Below each share: the workers chosen. Darker is nearer to the ceiling;"
    page.foot(drawn, left + [f"{note} empty: not asked for."])
    letters = style.pt(10.5)
    names = [forest.broken(page, s.label, letters, 0.36 * page.width) for s in series]
    left = (page.edge + page.widest(names, letters) + 0.1) / page.width
    # upright in a column, where they need the room that their letters take
    under = 1.05 if page.narrow else 0.30
    (ax,) = page.panels(1, left=left, under=under, over=0.15, tall=0.36 * len(series))
    for y, s in enumerate(series):
        for x, size in enumerate(columns):
            _cell(ax, x, -y, chosen[s, size], page.narrow)
    ax.grid(False)
    ax.set_xlim(-0.5, len(columns) - 0.5)
    ax.set_ylim(0.5 - len(series), 0.5)
    heads = [plain(clean(size or NO_SIZE), 30) for size in columns]
    ax.set_xticks(range(len(columns)), heads, rotation=90 if page.narrow else 0)
    ax.set_yticks([-y for y in range(len(series))], names, fontsize=letters, linespacing=1.05)
    ax.tick_params(length=0)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    return page


def _worst(series, chosen, most):
    """So many of the series, in their order, that reach the least of the ceiling somewhere."""
    least = {}
    for (s, _), c in chosen.items():
        if c and c.ratio:
            least[s] = min(least.get(s, math.inf), c.ratio.mean)
    worst = sorted(series, key=lambda s: least.get(s, math.inf))[:most]
    return [s for s in series if s in worst]


def _cell(ax, x, y, cell, is_narrow):
    if cell is None:
        _box(ax, x, y, 1, facecolor="white", edgecolor=style.LIGHT)
    elif not cell.rate or not cell.ratio:
        _box(ax, x, y, facecolor="#F2F2F2", edgecolor="#BBBBBB", hatch="////")
        _words(ax, x, y, f"× {cell.state}" if not cell.rate else "no ceiling", style.EDGE)
    else:
        share, is_hollow = cell.ratio.mean, cell.share_serious
        tone = colormaps["cividis_r"](0.92 * max(0.0, min(1.0, share)))
        # hollow, as everywhere: nobody reads its colour as a result
        look = ("white", tone) if is_hollow else (tone, "white")
        box = _box(ax, x, y, facecolor=look[0], edgecolor=look[1])
        marks.link([box], cell)
        is_dark = 0.299 * tone[0] + 0.587 * tone[1] + 0.114 * tone[2] < 0.5 and not is_hollow
        words = (percent(share) if is_narrow else share_words(cell.ratio)) + " !" * is_hollow
        if cell.workers is not None:
            words += f"\n({cell.workers})" if is_narrow else "\n" + workers(cell.workers)
        _words(ax, x, y, words, "white" if is_dark else "black")


def _box(ax, x, y, size=0.94, **look):
    look |= dict(linewidth=style.scaled(2.5), zorder=3) if size < 1 else dict(zorder=2)
    return ax.add_patch(Rectangle((x - size / 2, y - size / 2), size, size, **look))


def _words(ax, x, y, words, colour):
    how = dict(ha="center", va="center", color=colour, zorder=5, linespacing=1.15)
    ax.text(x, y, words, fontsize=style.pt(style.SMALL), **how)
