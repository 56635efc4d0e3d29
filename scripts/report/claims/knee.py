"""The knee of a series over workers: the count from which more workers gain less than the margin,
with its 95 % interval over the repetitions. Imports nothing that draws."""

from __future__ import annotations

from dataclasses import dataclass

from ..ledger import statistics
from ..text import workers
from .choice import MARGIN, common, last_within

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
            least = f" (95 %: {self.low} or more)" if self.low < self.most else ""
            return f"no knee up to {workers(self.most)}{least}"
        high = f"{self.high} or more" if self.high == self.most else f"{self.high}"
        between = "" if self.low == self.high else f" (95 %: {self.low} to {high})"
        return f"knee: {workers(self.workers)}{between}"


def of(cells):
    """The Knee of cells that differ in their workers alone. None where fewer than FEWEST valid
    counts, or fewer than three repetitions, hold all of them. No workers at all (the training
    thread loads) are another way to load, and no point of the curve."""
    done = sorted(
        (c for c in cells if c.rate and not c.serious and c.workers), key=lambda c: c.workers
    )
    if len(done) < FEWEST:
        return None
    both, logs = common(done)
    if len(both) < statistics.LEAST:
        return None
    pilot = done[0].pilot
    places = (_by_means(logs), _low(logs, pilot), _high(logs, pilot), -1)
    return Knee(*(done[place].workers for place in places))


def _by_means(logs):
    """The first place from which the mean gain of every larger count is below the margin."""
    means = [sum(one) / len(one) for one in logs]
    return next(i for i, mean in enumerate(means) if max(means[i:]) - mean < MARGIN)


def _low(logs, pilot):
    """The first place of which it is not shown that a larger count gains the margin or more, at
    2.5 % for all its larger counts together (Bonferroni)."""
    for place, mine in enumerate(logs):
        larger = logs[place + 1 :]
        for other in larger:
            gain = [b - a for a, b in zip(mine, other)]
            centre, _, error, degrees = statistics.t_interval(gain, pilot)
            level = statistics.LEVEL / 2 / len(larger)
            if centre - statistics.t_quantile(1 - level, degrees) * error > MARGIN:
                break
        else:
            return place


def _high(logs, pilot):
    """From the most workers down, the last place of which it is shown that every larger count gains
    less than the margin, at 2.5 %."""
    return last_within(logs, pilot, statistics.LEVEL / 2, lambda place: logs[place + 1 :])
