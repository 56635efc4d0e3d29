"""The share of its ceiling that each cell reaches: a row a cell, the one that loses most first."""

from ..claims import panels
from ..claims.claims import MARGIN, MARGIN_WORDS
from ..ledger.cells import kind_rank, mean_pixels
from ..look import style
from ..text import gpus as gpu_words
from ..text import spread
from . import findings, forest, marks
from .page import page_of


def claim(plan, claims):
    """How many cells lose, and the largest loss; or that none is shown."""
    return findings.of_places(plan, claims, _loses)


def _loses(cells, claims):
    cell, found, count, known = findings.worst(cells, claims.loss)
    if not cell:
        return findings.none(known)
    name = _name(cell, len({c.gpus for c in cells}) > 1)
    reaches = f"{spread(found.share)} of the ceiling"
    if count > 1:
        return f"{count} of {len(known)} cells lose; the worst, {name}, reaches {reaches}"
    others = len(known) - 1
    others = f"; no loss is shown for {others} other{'s' * (others > 1)}" if others else ""
    return f"{name} reaches {reaches}{others}"


def draw(setting, gpus, context):
    """`gpus` is None: the rows are of every number of GPUs."""
    judged, others = _rows(setting, context.claims)
    if not judged:
        return None
    most = forest.room_for([row.name for row in judged + others], context.medium)
    # what may not be quoted, or is missing, is said in any case
    rows = (judged[: max(most - len(others), most // 2)] + others)[:most]
    left = forest.left_out(len(judged) + len(others) - len(rows), context.medium)
    page = page_of("share", setting, gpus, context)
    page.foot([row.cell for row in rows], left + _notes(context.claims, judged + others))
    ax = forest.draw(page, rows)
    most = forest.ends(rows)[1]
    ax.set_xlim(0, 1.02 * most if most > 1 else 1)
    ax.axvspan(1 - MARGIN, min(1 + MARGIN, ax.get_xlim()[1]), color=style.LIGHT, zorder=1)
    ax.axvline(1, color=style.BLACK, linewidth=style.scaled(0.9), zorder=2)
    marks.ticks(ax.xaxis, 100)
    ax.set_xlabel("% of the ceiling")
    return page


def _rows(setting, claims):
    """(rows of the valid places, the largest loss first; those of invalid ones and then of missing
    ones)."""
    places = panels.places(setting.cells)
    several = len({c.gpus for c in places}) > 1
    places.sort(key=lambda c: (kind_rank(c.data), mean_pixels(c), c.gpus))
    rows = [_row(c, several, claims) for c in places]
    known = sorted((row for row in rows if row.found), key=lambda row: row.found.mean)
    invalid = [row for row in known if row.is_invalid]
    missing = [row for row in rows if not row.found]
    return [row for row in known if not row.is_invalid], invalid + missing


def _row(cell, several, claims):
    name = _name(cell, several)
    if not cell.rate or not cell.ratio:
        return forest.Row(cell, name, None, "no ceiling" if cell.rate else cell.state)
    words = spread(cell.ratio)
    words += " !" if cell.share_serious else ", above it" if cell.above_ceiling else ""
    is_shown = claims.loss(cell).is_shown
    return forest.Row(cell, name, cell.ratio, words, is_shown, cell.share_serious)


def _name(cell, several):
    return panels.name(cell) + (f", {gpu_words(cell.gpus)}" if several else "")


def _notes(claims, rows):
    """`rows` holds those that are left out, too."""
    notes = [
        "In colour: a loss is shown; grey: none is. The strip: within"
        f" {MARGIN_WORDS} of the ceiling, a difference that matters to nobody."
    ]
    if sum(row.is_told for row in rows) > 1:
        known = sum(claims.loss(row.cell).is_known for row in rows)
        notes.append(
            f"The title's interval holds for the worst of {known} cells; a row's for itself alone."
        )
    return notes
