"""What may be claimed of a report's numbers. Every finding, title, tile and sentence that claims a
loss comes from here, after a test has shown the loss. The risk that a report claims any loss where
there is none is 5 % at most, however many cells it has (Holm 1979)."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from ..ledger import statistics
from ..ledger.cells import NEGLIGIBLE
from ..ledger.settings import scaling
from ..text import at_most, percent, spread
from . import panels

LOOK = f"a look: fewer than {statistics.LEAST} repetitions, nothing is claimed"
TELLS_LITTLE = 0.2  # a loss this large that could hide is no news of the cell
# Of the ceiling: a difference that matters to nobody, as `feedrate compare` has it.
MARGIN = 0.01
MARGIN_WORDS = percent(MARGIN).replace(".0", "")
LOSES, EQUIVALENT, NOT_CLEAR = "loses", "equivalent", "not clear"


@dataclass(frozen=True)
class Claim:
    """A share of 1 (of the ceiling, of linear scaling) and whether a loss is shown."""

    share: object = None  # Estimate; None where there is nothing to hold it against
    is_shown: bool = False

    @property
    def is_known(self):
        """Whether there are repetitions enough to say anything."""
        return self.share is not None and self.share.low is not None

    @property
    def loss(self):
        """Estimate of 1 − share."""
        s = self.share
        low, high = (None, None) if s.low is None else (1 - s.high, 1 - s.low)
        return statistics.Estimate(
            1 - s.mean, low, high, s.n, s.kind, tuple(1 - p for p in s.points)
        )

    @property
    def at_most(self):
        """The upper end of the loss, not below zero."""
        return max(0.0, 1 - self.share.low)

    @property
    def verdict(self):
        """Of a claim that is known: EQUIVALENT where all of its interval lies within the margin,
        whether a loss is shown or not; LOSES where one is shown; else NOT_CLEAR."""
        if 1 - MARGIN <= self.share.low and self.share.high <= 1 + MARGIN:
            return EQUIVALENT
        return LOSES if self.is_shown else NOT_CLEAR

    def against_ceiling(self, name):
        """The verdict on what has that name, as a sentence that states interval and margin."""
        n = f"{self.share.n} repetitions"
        if self.verdict == LOSES:
            return f"{name} loses {spread(self.loss)} of its ceiling in {n}"
        within = f"{name} stays within {MARGIN_WORDS} of its ceiling"
        if self.verdict == EQUIVALENT:
            return f"{within}; {at_most(self.at_most)} is missing in {n}"
        far = (
            f"up to {percent(self.at_most)} may be missing"
            if self.at_most > MARGIN
            else f"it may lie up to {percent(self.share.high - 1)} above it"
        )
        return f"Not clear whether {within}; {far} after {n}"

    @property
    def farthest(self):
        """How far from the ceiling it may lie, to either side."""
        return max(1 - self.share.low, self.share.high - 1)

    def words(self):
        """What is lost, as "loses 38.3 % (32.9 to 43.3 %) of its throughput"; or that no loss is
        shown, or that it is a look."""
        if not self.is_known:
            return LOOK if self.share else ""
        no_loss = self.none_of(at_most(self.at_most))
        return f"loses {spread(self.loss)} of its throughput" if self.is_shown else no_loss

    @property
    def is_below(self):
        """Whether it is below 1 by its own interval: tested alone, the loss would be shown."""
        return self.share.is_below_1 and self.loss.mean >= NEGLIGIBLE

    def none_of(self, bound):
        """That no loss is shown; `bound` says how large it could still be."""
        if self.is_below:
            return f"no loss is shown for all cells together ({bound})"
        if self.at_most > TELLS_LITTLE:
            return f"too uncertain to tell a loss ({bound})"
        return f"no measurable loss ({bound})"


NOTHING = Claim()


def of(settings):
    """The Claims of all settings of a report, made once."""
    return _made(tuple(settings))


@functools.lru_cache(maxsize=8)  # by identity: a setting does not change once it is grouped
def _made(settings):
    return Claims(settings)


class Claims:
    """The tests of one report: for every kind of data, stored size and GPU count at the workers
    chosen, whether it falls short of its ceiling, and, of those with several GPU counts, whether it
    falls short of linear scaling. One-sided at 5 % for all of them together; a claim also needs its
    own two-sided interval to exclude 1, so that no figure contradicts it.
    """

    def __init__(self, settings):
        self._losses, self._scaling = {}, {}
        for setting in settings:
            self._losses.update(_losses(setting))
            self._scaling.update(_scaling(setting))
        tested = [*self._losses.values(), *self._scaling.values()]
        family = [s for s in tested if s.low is not None]
        adjusted = statistics.holm([s.p_low for s in family])
        self._shown = {
            id(s)
            for s, p in zip(family, adjusted)
            if p < statistics.LEVEL and s.is_below_1 and s.mean < 1 - NEGLIGIBLE
        }

    def loss(self, cell):
        """The Claim about the throughput of a cell from panels.best(), against its ceiling."""
        return self._claim(self._losses.get(id(cell.origin)))

    def why_not(self, cell):
        """Why the cell is not judged, in few words; "" if it is judged."""
        if cell.share_serious:
            return "not valid"
        if cell.above_ceiling:
            return "above its ceiling"
        if not cell.ratio:
            return "no ceiling"
        return "" if self.loss(cell).is_known else f"n = {cell.ratio.n}"

    def scaling(self, cell):
        """The Claim about the cell's scaling, against the fewest GPUs of its series."""
        return self._claim(self._scaling.get(id(cell.origin)))

    def _claim(self, share):
        return Claim(share, id(share) in self._shown) if share else NOTHING


def _losses(setting):
    """{id of the cell: the share of its ceiling} of the valid places."""
    return {
        id(c.origin): c.ratio
        for c in panels.places(setting.cells)
        if c.ratio and not c.share_serious and not c.above_ceiling
    }


def _scaling(setting):
    """{id of the cell: the share of linear scaling} of the valid places with more GPUs than the
    fewest."""
    found, series = {}, {}
    for c in panels.places(setting.cells):
        if c.rate and not c.serious:
            series.setdefault(panels.series_key(c), []).append(c)
    for same in series.values():
        first = min(same, key=lambda c: c.gpus)
        shares = ((c, scaling(c, first)) for c in same if c is not first)
        found.update({id(c.origin): share for c, share in shares if share})
    return found
