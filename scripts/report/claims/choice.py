"""Which worker count stands for a kind of data at a stored size: the fewest workers that are shown
to be within 1 % of every other count, else the fastest. Whoever takes the best of several noisy
numbers takes one that noise has raised; so the rate that stands for it is corrected for the choice.
"""

from __future__ import annotations

import functools
import math
import random
from dataclasses import dataclass, fields, replace

from ..ledger import ledger, statistics
from ..ledger.cells import Cell
from ..ledger.settings import paired
from ..text import listing

MARGIN = math.log(1.01)
RULE = (
    "the fewest workers (per GPU) shown to be within 1 % of every other count, else the fastest;"
    " corrected for that choice"
)
RESAMPLES = 100


@dataclass(eq=False)
class Chosen(Cell):
    """The cell chosen, with its rate and share corrected for the choice."""

    origin: object = None
    counts: tuple = ()  # of workers that it was chosen from
    is_shown: bool = False  # to be within the margin of every other count
    bias: float = 0.0  # that the choice has put into its mean log rate, over `chosen_on`
    chosen_on: int = 0  # repetitions
    share_bias: float = 0.0  # and into its mean log share

    def bias_of(self, n):
        """In a mean over n repetitions: in further ones nothing was chosen."""
        return self.bias * min(1.0, self.chosen_on / n)

    @property
    def how(self):
        """How it was chosen, in words; "" where there was no choice."""
        if len(self.counts) < 2:
            return ""
        counts = listing("no" if count is None else count for count in self.counts)
        if self.is_shown and self.workers == self.counts[-1]:
            return f"the most of {counts} workers: fewer are not shown to be within 1 %"
        if self.is_shown:
            return f"the fewest of {counts} workers shown to be within 1 % of every other count"
        if self.rate and self.rate.low is None:
            return f"the fastest of {counts} workers, in too few repetitions to show anything"
        return (
            f"the fastest of {counts} workers: none is shown to be within 1 % of every other count"
        )


@functools.cache  # by identity: a cell does not change once it is grouped
def choose(cells):
    """The Chosen of a tuple of cells that differ in their workers alone; None without cells. Valid
    cells are preferred, then cells with enough repetitions for an interval. If no cell has a
    result, one that tells why.
    """
    done = [c for c in cells if c.rate and not c.serious] or [c for c in cells if c.rate]
    if not done:
        return (
            _as_chosen(min(cells, key=lambda c: c.state == ledger.NOT_RUN), ()) if cells else None
        )
    done = [c for c in done if c.rate.n >= statistics.LEAST] or done
    done.sort(key=lambda c: (c.workers is not None, c.workers))
    both, rates = common(done)
    if len(done) == 1 or len(both) < statistics.LEAST:
        found = _as_chosen(max(done, key=lambda c: c.rate.mean), done)
        return found if len(done) == 1 else _without_intervals(found)
    pilot = done[0].pilot
    place, shown = _pick(rates, pilot)
    found = _as_chosen(done[place], done)
    found.is_shown = shown
    picks = [
        (places, _pick([[one[i] for i in places] for one in rates], pilot)[0])
        for places in _resamples(len(both))
    ]
    found.bias, found.chosen_on = _bias(picks, rates, place), len(both)
    found.rate = statistics.shifted(found.rate, found.bias_of(found.rate.n))
    if found.ratio:
        _correct_share(found, done, both, picks, place)
    return found


def common(cells):
    """(the repetitions that all of the cells have, the logarithms of each cell's rates in them)."""
    both = sorted(set.intersection(*(set(c.by_repetition) for c in cells)))
    return both, [[math.log(c.by_repetition[n]) for n in both] for c in cells]


def _as_chosen(cell, among):
    values = {f.name: getattr(cell, f.name) for f in fields(Cell)}
    return Chosen(**values, origin=cell, counts=tuple(c.workers for c in among))


def _without_intervals(found):
    """The same without intervals: too few repetitions hold every worker count."""
    bare = {"low": None, "high": None, "kind": statistics.NO_INTERVAL}
    found.rate = replace(found.rate, **bare)
    found.ratio = found.ratio and replace(found.ratio, **bare, p_low=1.0)
    return found


def _pick(logs, pilot=None):
    """(place of the choice, whether it is shown to be within the margin of every other count)."""
    found = last_within(logs, pilot, statistics.LEVEL, lambda i: logs[:i] + logs[i + 1 :])
    if found is not None:
        return found, True
    return max(range(len(logs)), key=lambda place: sum(logs[place])), False


def last_within(logs, pilot, level, others):
    """From the most workers down, the last place of which it is shown that its mean falls short of
    each that others(place) names by less than the margin; None where the first is not. Each step is
    an intersection of one-sided tests (Berger 1982), their fixed order keeps the level for all of
    them (Maurer, Hothorn and Lehmacher 1995)."""
    found = None
    for place in reversed(range(len(logs))):
        for other in others(place):
            lacks = [a - b for a, b in zip(logs[place], other)]
            centre, _, error, degrees = statistics.t_interval(lacks, pilot)
            if centre + MARGIN <= statistics.t_quantile(1 - level, degrees) * error:
                return found
        found = place
    return found


def _bias(picks, logs, place):
    """By how much choosing raises the mean logarithm of a count: the bootstrap's estimate (Efron
    and Tibshirani 1993, chapter 10; for the winner's curse Sun and Bull 2005). `picks` holds the
    choice in each resample of the repetitions. The chosen count's mean in the resample is compared
    with its mean over all repetitions, in standard errors of the latter, so that a steady count
    does not pay for a noisy one. Of a mean over further repetitions, in which nothing was chosen,
    it is the smaller part."""
    n = len(logs[0])
    moments = [statistics.mean_and_error(one) for one in logs]
    total = 0.0
    for places, chosen in picks:
        mean, error = moments[chosen]
        total += (sum(logs[chosen][i] for i in places) / n - mean) / error
    return total / len(picks) * math.sqrt(n / (n - 1)) * moments[place][1]


@functools.cache
def _resamples(n):
    """Balanced resamples: each repetition is drawn equally often, so that an effect that all counts
    share in one repetition adds nothing. They depend on n alone, so that the same ledger gives the
    same report."""
    drawn = list(range(n)) * RESAMPLES
    random.Random(n).shuffle(drawn)
    return [drawn[i : i + n] for i in range(0, len(drawn), n)]


def _correct_share(found, among, both, picks, place):
    """Corrects the share by its own scatter if every count has a share in all of these repetitions,
    else by the bias of the rate."""
    whole = [dict(shares(c)) for c in among]
    bias = found.bias_of(len(paired(found)))
    if all(set(both) <= of.keys() for of in whole):
        bias = _bias(picks, [[math.log(of[n]) for n in both] for of in whole], place)
        bias *= len(both) / len(paired(found))
    found.share_bias = bias
    most = found.ratio.most
    found.ratio = statistics.share(paired(found), bias, statistics.T_CHOSEN, found.pilot, most)


def shares(cell):
    """[(repetition, share of the ceiling), …]; nothing without a ceiling that was run."""
    if not cell.ceiling or cell.ceiling.recorded:
        return []
    return [
        (n, rate / cell.references[n])
        for n, rate in cell.by_repetition.items()
        if n in cell.references
    ]
