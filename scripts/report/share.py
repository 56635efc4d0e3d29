"""The share of its ceiling that each cell reaches: a row a cell, the one that loses most first."""

from __future__ import annotations

from matplotlib.ticker import FuncFormatter, MaxNLocator

from . import choice, figures, findings, forest, panels, style
from .cells import NEGLIGIBLE, kind_rank, pixels
from .page import Page
from .text import gpus as gpu_words
from .text import percent, spread, tick

MOST = 40  # rows


def claim(plan, claims):
    """How many cells lose, and the largest loss; or that none is shown."""
    return findings.of_places(plan, claims, _loses)


def _loses(cells, claims):
    cell, found, count, known = findings.worst(cells, claims.loss)
    if not cell:
        return findings.none(known)
    name = _name(cell, len({c.gpus for c in cells}) > 1)
    reaches = f"{spread(found.share)} of the ceiling"
    if len(known) == 1:
        return f"{name} reaches {reaches}"
    return f"{count} of {len(known)} cells lose; worst: {name} at {reaches}"


def draw(setting, gpus, context):
    """`gpus` is None: the rows are of every number of GPUs."""
    judged, others = _rows(setting, context.claims)
    if not judged:
        return None
    # what may not be quoted, or is missing, is said in any case
    room = max(MOST - len(others), MOST // 2)
    rows = (judged[:room] + others)[:MOST]
    left = len(judged) + len(others) - len(rows)
    title = findings.headline(figures.Plan("", "share", setting, None, ""), context.claims)
    page = Page(setting, title, context, None, forest.scale_for(rows))
    page.foot([row.cell for row in rows], _notes(left, context.claims, rows))
    ax = forest.draw(page, rows)
    most = forest.ends(rows)[1]
    ax.set_xlim(0, 1.02 * most if most > 1 else 1)
    ax.axvspan(1 - NEGLIGIBLE, 1, color=style.LIGHT, zorder=1)
    ax.axvline(1, color=style.BLACK, linewidth=style.scaled(0.9), zorder=2)
    ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda share, _: tick(round(100 * share, 6))))
    ax.set_xlabel("% of the ceiling")
    return page


def _rows(setting, claims):
    """(rows of the valid places, the largest loss first; those of invalid ones and then of missing
    ones)."""
    places = panels.places(c for c in setting.cells if c.data != "synthetic")
    places.sort(key=lambda c: (_mean(c), kind_rank(c.data), pixels(c.image_size), c.gpus))
    several = len({c.gpus for c in places}) > 1
    rows = [_row(c, several, claims) for c in places]
    known = [row for row in rows if row.found]
    return (
        [row for row in known if not row.is_invalid],
        [row for row in known if row.is_invalid] + [row for row in rows if not row.found],
    )


def _mean(cell):
    return cell.ratio.mean if cell.ratio else 0.0


def _row(cell, several, claims):
    if not cell.rate or not cell.ratio:
        why = "no ceiling" if cell.rate else cell.state
        return forest.Row(cell, _name(cell, several), None, why)
    words = spread(cell.ratio)
    if cell.share_serious:
        words += " !"
    elif cell.above_ceiling:
        words += ", above it"
    return forest.Row(
        cell,
        _name(cell, several),
        cell.ratio,
        words,
        claims.loss(cell).is_shown,
        cell.share_serious,
    )


def _name(cell, several):
    return panels.name(cell) + (f", {gpu_words(cell.gpus)}" if several else "")


def _notes(left, claims, rows):
    notes = [
        f"Each row: {choice.RULE}. In colour: a loss is shown; grey: none is. The strip below 100"
        f" %: {percent(NEGLIGIBLE)}, which is no loss."
    ]
    if sum(row.is_told for row in rows) > 1:
        known = sum(claims.loss(row.cell).is_known for row in rows)
        notes.append(
            f"The title's interval holds for the worst of {known} cells; a row's for itself alone."
        )
    if left:
        notes.append(f"{left} rows more are left out, which lose less than those drawn.")
    return notes
