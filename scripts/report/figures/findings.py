"""What a figure shows, in one line: the title of its slide, and a line of the index. The claim
itself is in the figure's module; here is what several of them share. A claim is of valid cells
alone, and of losses that a test in claims.py shows; else it says that no loss is measurable, and
how large one could be.
"""

import importlib
from dataclasses import replace

from ..claims import panels
from ..claims.claims import LOOK
from ..ledger import statistics
from ..text import at_most, listing
from . import figures

NOTHING = "No valid result: every cell carries a serious flag or is missing"
NAMED = 3  # cells of those that nobody may judge
ALONE = "Ceiling alone: no cell of stored data"


def finding(plan, claims):
    """The claim of a figure of the plan; its title where there is nothing to be said."""
    module = importlib.import_module("." + plan.module, __package__)
    return module.claim(plan, claims) or plan.figure.title


def headline(plan, claims):
    """The same for a slide: where no loss is shown, it says first what the figure is about."""
    words = finding(plan, claims)
    if words.startswith(("No measurable", "No loss is")):
        return f"{plan.figure.title}: {words[0].lower()}{words[1:]}"
    return words


def title(name, setting, gpus, claims):
    """The headline of the figure of that name."""
    return headline(figures.Plan("", name, setting, gpus, ""), claims)


def of_places(plan, claims, says):
    """What says(cells, claims) makes of the valid cells that stand for the kinds and sizes of the
    plan, and which it leaves out; why nothing can be said where there is none."""
    here = [c for c in plan.setting.cells if c.data != "synthetic" and plan.gpus in (None, c.gpus)]
    places = [c for c in panels.places(here) if c.rate]
    valid = [c for c in places if not c.share_serious]
    if not valid:
        return NOTHING if here else ALONE
    if all(c.rate.n < statistics.LEAST for c in valid):
        return f"{plan.figure.title}: {LOOK}"
    words = says(valid, claims)
    return words + not_judged(places, claims) if words and plan.figure.states_result else words


def not_judged(cells, claims):
    """The kinds and sizes that a sentence leaves out, and why: their silence must not pass for a
    result."""
    left = [(c, claims.why_not(c)) for c in cells]
    words = [f"{panels.kind(c, 16)} ({why})" for c, why in left if why]
    if len(words) > NAMED:
        words = [*words[: NAMED - 1], f"{len(words) - NAMED + 1} more"]
    return f"; not judged: {listing(words)}" if words else ""


def name(cell):
    """The cell with its workers, in a sentence."""
    return panels.name(cell, " with ")


def worst(cells, claim_of):
    """(the cell with the largest loss that is shown or None, its claim, how many lose, the claims
    that are known)."""
    known = [(claim_of(c), c) for c in cells]
    known = [(claim, c) for claim, c in known if claim.is_known]
    shown = [pair for pair in known if pair[0].is_shown]
    shown.sort(key=lambda pair: pair[0].share.mean)
    claim, cell = shown[0] if shown else (None, None)
    if len(shown) > 1:  # the most extreme of several: its own interval would promise too much
        claim = replace(claim, share=statistics.widened(claim.share, len(known)))
    return cell, claim, len(shown), [claim for claim, _ in known]


def of_worst(plan, claims, has, says):
    """What says(cell, claim) makes of the cell with the largest loss that is shown, of those of
    which has(cell); else that none is; "" where no claim is known."""

    def told(cells, claims):
        cell, claim, _, known = worst(filter(has, cells), claims.loss)
        return says(cell, claim) if cell else none(known) if known else ""

    return of_places(plan, claims, told)


def none(known, what="loss"):
    """Says that no loss is shown, and how large one could still be."""
    if not known:
        return "Nothing to hold the cells against: no share of the ceiling has an interval"
    bound = at_most(max(claim.at_most for claim in known))
    first = max(known, key=lambda claim: (claim.is_below, claim.at_most))
    words = first.none_of(bound)
    return words[0].upper() + words[1:].replace("loss", what, 1)
