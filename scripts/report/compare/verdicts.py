"""How far a cell and its counterpart are apart, and the verdict on it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ..ledger import settings, statistics
from ..ledger.cells import Ceiling
from . import comparable

FASTER, SLOWER, EQUAL = "faster", "slower", "equal within the margin"
UNSEEN, SMALL = "no difference seen", "no difference beyond the margin"
INCOMPARABLE = "not comparable"
LEVEL = statistics.LEVEL


@dataclass(frozen=True)
class Rules:
    margin: float = 0.01  # of the ratio: differences that do not matter
    across: tuple = ()
    adjust: str = "none"
    allow_invalid: bool = False
    allow_limits: bool = False


@dataclass
class Comparison:
    """A pair and what came out of it."""

    pair: object
    reason: str = ""  # why it cannot be compared
    remedy: str = ""  # what to do about it
    rate: statistics.Difference | None = None  # of images/s
    share: statistics.Difference | None = None  # of the share of the ceiling
    # of the rate, adjusted if that was asked for
    p: float | None = None
    verdict: str = INCOMPARABLE
    share_verdict: str = ""
    notes: list = field(default_factory=list)


def compare(sides, rules):
    """A list of Comparisons for each list of pairs. Verdicts come last: an adjustment needs the
    p-values of all sides, since whoever looks for a difference looks through all of them."""
    found = [[_measure(pair, rules) for pair in pairs] for pairs in sides]
    able = [c for side in found for c in side if not c.reason]
    for kind in ("rate", "share"):
        some = [c for c in able if getattr(c, kind)]
        values = [getattr(c, kind).p for c in some]
        for c, p in zip(some, statistics.holm(values) if rules.adjust == "holm" else values):
            verdict = judge(getattr(c, kind), p, rules.margin)
            if kind == "share":
                c.share_verdict = verdict
                continue
            c.p, c.verdict = p, verdict
            if verdict == UNSEEN and c.rate.p < LEVEL:
                c.notes.append("different at 5 % alone, but not as one of so many (Holm)")
    return found


def judge(difference, p, margin):
    """The verdict on a difference whose p-value, adjusted or not, is p."""
    if found := direction(difference, p, margin):
        return found
    if abs(difference.log) + difference.half_width <= math.log1p(margin):
        return EQUAL
    return SMALL if p < LEVEL else UNSEEN


def direction(difference, p, margin):
    """FASTER, SLOWER, or "" where neither is shown. The margin is the same factor to both sides, so
    that exchanging A and B exchanges the two."""
    if p >= LEVEL or abs(difference.log) <= math.log1p(margin):
        return ""
    return FASTER if difference.log > 0 else SLOWER


def _measure(pair, rules):
    found = Comparison(pair)
    found.reason, found.remedy = comparable.obstacle(pair, rules)
    if found.reason:
        return found
    pilots = (pair.a.pilot, pair.b.pilot)
    found.rate = statistics.welch(
        list(pair.a.by_repetition.values()), list(pair.b.by_repetition.values()), pilots
    )
    a, b = shares(pair.a, rules), shares(pair.b, rules)
    if min(len(a), len(b)) >= statistics.LEAST:
        found.share = statistics.welch(a, b, pilots)
    found.notes = comparable.caveats(pair)
    return found


def shares(cell, rules):
    """The share of the ceiling in each repetition: that ceiling saw the machine in the same state.
    [] if the ceiling may not be quoted."""
    if isinstance(cell, Ceiling) or not cell.ceiling or cell.ceiling.recorded:
        return []
    if cell.divided_by and comparable.why_invalid(cell.ceiling) and not rules.allow_invalid:
        return []
    return [rate / ceiling for rate, ceiling in settings.paired(cell)]
