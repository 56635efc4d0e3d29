"""Which worker count stands for a kind of data at a stored size: the fewest workers that are shown to be within 1 % of every
other count, else the fastest. Whoever takes the best of several noisy numbers takes one that noise has raised; so the rate
that stands for it is corrected for the choice."""
from __future__ import annotations

import functools
import math
import random
from dataclasses import dataclass, fields, replace

from . import ledger, statistics
from .cells import Cell
from .settings import paired
from .text import listing

MARGIN = math.log(1.01)
LEVEL = 0.05
RESAMPLES = 100


@dataclass(eq=False)
class Chosen(Cell):
    """The cell chosen, with its rate and share corrected for the choice."""
    origin: object = None
    counts: tuple = ()          # of workers that it was chosen from
    is_shown: bool = False      # to be within the margin of every other count

    @property
    def how(self):
        """How it was chosen, in words; "" where there was no choice."""
        if len(self.counts) < 2:
            return ""
        counts = listing(self.counts)
        if self.is_shown and self.workers == max(self.counts):
            return f"the most of {counts} workers: fewer are not shown to be within 1 %"
        if self.is_shown:
            return f"the fewest of {counts} workers shown to be within 1 % of every other count"
        return f"the fastest of {counts} workers: none is shown to be within 1 % of every other count"


@functools.lru_cache(maxsize=None)      # by identity: a cell does not change once it is grouped
def choose(cells):
    """The Chosen of a tuple of cells that differ in their workers alone. Valid ones come first; where none has a result, one
    that tells why; None without cells."""
    done = [c for c in cells if c.rate and not c.serious] or [c for c in cells if c.rate]
    if not done:
        return _as_chosen(min(cells, key=lambda c: c.state == ledger.NOT_RUN), ()) if cells else None
    done.sort(key=lambda c: c.workers or 0)
    counts = tuple(c.workers for c in done)
    both = sorted(set.intersection(*(set(c.by_repetition) for c in done)))
    if len(done) == 1 or len(both) < statistics.LEAST:
        found = _as_chosen(max(done, key=lambda c: c.rate.mean), counts)
        return found if len(done) == 1 else _without_intervals(found)
    logs = [[math.log(c.by_repetition[n]) for n in both] for c in done]
    place, shown = _pick(logs)
    found = _as_chosen(done[place], counts)
    found.is_shown = shown
    _correct(found, _bias(logs, place))
    return found


def _as_chosen(cell, counts):
    values = {f.name: getattr(cell, f.name) for f in fields(Cell)}
    return Chosen(**values, origin=cell, counts=counts)


def _without_intervals(found):
    """Too few repetitions to correct for the choice in."""
    bare = {"low": None, "high": None, "kind": statistics.NO_INTERVAL}
    found.rate = replace(found.rate, **bare)
    found.ratio = found.ratio and replace(found.ratio, **bare, p_low=1.0)
    return found


def _pick(logs):
    """(place of the choice, whether it is shown): from the most workers down, stopping at the first count that is not shown to
    be within the margin of every other. Each step is an intersection of one-sided tests (Berger 1982), their fixed order keeps
    the level for all of them (Maurer, Hothorn and Lehmacher 1995)."""
    found = None
    for place in range(len(logs) - 1, -1, -1):
        others = (other for n, other in enumerate(logs) if n != place)
        if not all(_is_within(logs[place], other) for other in others):
            break
        found = place
    if found is not None:
        return found, True
    return max(range(len(logs)), key=lambda place: sum(logs[place])), False


def _is_within(mine, other):
    """Whether the mean of `mine` is shown to fall short of the other's by less than the margin."""
    centre, error = statistics.mean_and_error([a - b for a, b in zip(mine, other)])
    return centre + MARGIN > statistics.t_quantile(1 - LEVEL, len(mine) - 1) * error


def _bias(logs, place):
    """What choosing puts into the mean logarithm of the choice: the bootstrap's estimate (Efron and Tibshirani 1993, chapter 10;
    for the winner's curse Sun and Bull 2005). Of resampled repetitions the choice is made again: how far its mean in them lies
    above its mean in all, in standard errors of whatever was chosen, so that a steady count does not pay for a noisy one."""
    n = len(logs[0])
    moments = [statistics.mean_and_error(one) for one in logs]
    total = 0.0
    for places in _resamples(n):
        drawn = [[one[i] for i in places] for one in logs]
        chosen, _ = _pick(drawn)
        mean, error = moments[chosen]
        total += (sum(drawn[chosen]) / n - mean) / error
    return total / RESAMPLES * math.sqrt(n / (n - 1)) * moments[place][1]


@functools.lru_cache(maxsize=None)
def _resamples(n):
    """The same for the same n: a report of the same ledger is the same."""
    source = random.Random(n)
    return [[source.randrange(n) for _ in range(n)] for _ in range(RESAMPLES)]


def _correct(found, bias):
    found.rate = statistics.shifted(found.rate, bias)
    if found.ratio:
        found.ratio = statistics.share(paired(found), bias, statistics.T_CHOSEN)
