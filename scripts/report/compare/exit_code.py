"""The exit code of a comparison, for a program that asks whether something has become slower. If
nothing was compared, the exit code is not 0: it must not look like equality."""

from __future__ import annotations

from ..ledger import statistics
from ..ledger.cells import Ceiling
from ..text import counted
from . import comparable, verdicts

NOTHING, NAMED = 1, 3
KINDS = ("slower", "lost", "different", "incomparable", "never")
DEFAULT = ("slower", "lost")
LOST = (
    f"measured in A; in B missing, failed, invalid or, of {statistics.LEAST} repetitions or more,"
    " left with fewer"
)


def outcome(others, fail_on, rules):
    """(exit code, why, in words) for [(folder, its Comparisons), …]; no words where the table says
    it."""
    everything = [c for _, found in others for c in found]
    if not any(c.rate for c in everything):
        return NOTHING, "no cell could be compared: the verdicts say why"
    blind = [side.path for side, found in others if _ceilings_alone(found)]
    if blind and "never" not in fail_on:
        why = "no cell of stored data could be compared: the verdicts say why"
        return NOTHING, f"{blind[0]}: {why}"
    gone = sum(lost(c.pair, rules) for c in everything) if "lost" in fail_on else 0
    if gone:
        rest = ",".join(kind for kind in fail_on if kind != "lost") or "never"
        words = f"{counted(gone, 'cell')} lost ({LOST})"
        return NAMED, f"{words}; --fail-on {rest} lets that pass"
    bad = {
        "slower": {verdicts.SLOWER},
        "different": {verdicts.SLOWER, verdicts.FASTER},
        "incomparable": {verdicts.INCOMPARABLE},
    }
    failing = set().union(*(bad.get(kind, ()) for kind in fail_on))
    return (NAMED if any(c.verdict in failing for c in everything) else 0), ""


def lost(pair, rules):
    """Whether A has a result, and B has no result, an invalid one, or too few repetitions for a
    verdict although A has enough."""
    if not (pair.a and pair.a.records):
        return False
    if not (pair.b and pair.b.records):
        return True
    a, b = (
        0 if comparable.why_invalid(cell) and not rules.allow_invalid else len(cell.by_repetition)
        for cell in (pair.a, pair.b)
    )
    return b < min(a, statistics.LEAST) and (b == 0 or a >= statistics.LEAST)


def _ceilings_alone(found):
    """Whether A holds cells of stored data and none of them has a verdict."""
    asked = [c for c in found if c.pair.a and not isinstance(c.pair.a, Ceiling)]
    return bool(asked) and all(c.verdict == verdicts.INCOMPARABLE for c in asked)
