"""The knee of a series over workers: the count from which more workers gain less than the margin,
with its 95 % interval over the repetitions. Imports nothing that draws."""

from __future__ import annotations

import math
from dataclasses import dataclass

from . import statistics
from .choice import MARGIN

FEWEST = 3  # worker counts: two are a difference, no curve


@dataclass(frozen=True)
class Knee:
    """Worker counts, all of them among those that were tried."""

    workers: int  # by the means over the repetitions
    low: int  # 95 % interval
    high: int
    most: int  # that were tried: whether more would gain is unknown

    @property
    def is_reached(self):
        """Whether fewer than the most that were tried gain as much: else the rate may still
        rise."""
        return self.workers < self.most

    @property
    def words(self):
        """ "knee: 4 workers (95 %: 2 to 8)"."""
        if not self.is_reached:
            return f"no knee up to {self.most} workers" + (
                f" (95 %: {self.low} or more)" if self.low < self.most else ""
            )
        high = f"{self.high} or more" if self.high == self.most else f"{self.high}"
        between = "" if self.low == self.high else f" (95 %: {self.low} to {high})"
        return f"knee: {self.workers} worker{'' if self.workers == 1 else 's'}{between}"


def of(cells):
    """The Knee of cells that differ in their workers alone. None where fewer than FEWEST valid
    counts, or fewer than three repetitions, hold all of them. No workers at all (the training
    thread loads) are another way to load, and no point of the curve."""
    done = sorted(
        (c for c in cells if c.rate and not c.serious and c.workers), key=lambda c: c.workers
    )
    if len(done) < FEWEST:
        return None
    both = sorted(set.intersection(*(set(c.by_repetition) for c in done)))
    if len(both) < statistics.LEAST:
        return None
    logs = [[math.log(c.by_repetition[n]) for n in both] for c in done]
    pilot = done[0].pilot
    counts = [c.workers for c in done]
    return Knee(
        counts[_by_means(logs)], counts[_low(logs, pilot)], counts[_high(logs, pilot)], counts[-1]
    )


def _gains(logs, place):
    """[what each larger count gains in each repetition, on the log scale, …]."""
    return [[b - a for a, b in zip(logs[place], more)] for more in logs[place + 1 :]]


def _by_means(logs):
    """The first place from which the mean gain of every larger count is below the margin."""
    return next(
        place
        for place in range(len(logs))
        if all(sum(gain) / len(gain) < MARGIN for gain in _gains(logs, place))
    )


def _low(logs, pilot):
    """The first place of which it is not shown that a larger count gains the margin or more, at
    2.5 % for all its larger counts together (Bonferroni)."""
    for place in range(len(logs)):
        gains = _gains(logs, place)
        level = statistics.LEVEL / 2 / max(len(gains), 1)
        if not any(_margins(gain, pilot, level)[0] > MARGIN for gain in gains):
            return place
    return len(logs) - 1


def _high(logs, pilot):
    """From the most workers down, the last place of which it is shown that every larger count gains
    less than the margin, at 2.5 %: an intersection of one-sided tests (Berger 1982), in a fixed
    order (see choice.py)."""
    found = len(logs) - 1
    for place in range(len(logs) - 2, -1, -1):
        ends = [_margins(gain, pilot, statistics.LEVEL / 2)[1] for gain in _gains(logs, place)]
        if not all(end < MARGIN for end in ends):
            break
        found = place
    return found


def _margins(gain, pilot, level):
    """(low, high) one-sided bounds of the mean gain, each at that level."""
    centre, _, error, degrees = statistics.t_interval(gain, pilot)
    half = statistics.t_quantile(1 - level, degrees) * error
    return centre - half, centre + half
