"""Accelerator utilisation (AU): that of emulated GPUs in each run's window, and with how many of
them it holds, as src/session/capacity_search.cpp and src/judge/gpu_search.cpp compute them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..ledger import intervals, ledger, statistics
from ..look import style
from ..text import clean
from ..text import gpus as gpu_words
from . import panels

LEAST = 0.90  # MLPerf Storage asks for it of ResNet-50
CORRECTED = "queue_not_at_rest"  # the flag of what _time_of_step() takes off


@dataclass(frozen=True)
class Count:
    """What the runs of a cell with so many GPUs came to."""

    gpus: int
    cell: object
    shares: tuple  # the utilisation of each run that says enough

    @property
    def records(self):
        """Those runs."""
        return [record for record in self.cell.runs if not lacks(record)]

    @property
    def median(self):
        return statistics.median(self.shares)

    @property
    def interval(self):
        """95 % of the mean of the runs: a t-interval over them, which one spoilt run widens; of a
        single run that of its steps, or its utilisation alone where they are too few."""
        if len(self.shares) > 1:
            mean, half, *_ = statistics.t_interval(self.shares)
            return mean - half, mean + half
        (record,) = self.records
        steps = ledger.raw(record, "step_ms")
        if len(steps) < 2 * intervals.BLOCKS or len(steps) != record.get("steps", len(steps)):
            return self.median, self.median
        ends, _ = intervals.of_blocks(steps, _images_per_step(record))
        return tuple(of_run({**record, "imgs_per_s": end}) for end in ends)


@dataclass(frozen=True)
class Fed:
    """The most GPUs that keep a utilisation, with the 95 % interval that the runs allow: it may
    name numbers that were not tried."""

    gpus: int  # 0: not even the fewest that were tried, if any are known
    low: int
    high: int
    starved: int | None  # the next number that is known; None: no more is

    @property
    def words(self):
        """ "4 GPUs (95 %: 4 to 5)"."""
        if self.starved is None:
            return f"at least {gpu_words(self.gpus)}" if self.gpus else "an unknown number of GPUs"
        between = "" if self.low == self.high else f" (95 %: {self.low} to {self.high})"
        none = "not one GPU" if self.starved == 1 else f"fewer than {gpu_words(self.starved)}"
        return (gpu_words(self.gpus) if self.gpus else none) + between


@dataclass(frozen=True)
class Line:
    """A kind of data at a stored size."""

    name: str  # without the size, if it has none
    size: str | None
    series: object  # style.Series
    cells: list  # the one chosen at each number of GPUs
    counts: list  # Counts of those that are known

    @property
    def unbroken(self):
        """The counts before the first number that was tried and of which nothing is known: an
        answer includes all smaller numbers."""
        known = {count.gpus for count in self.counts}
        unknown = [cell.gpus for cell in self.cells if cell.gpus not in known]
        return [count for count in self.counts if not unknown or count.gpus < min(unknown)]

    @property
    def source(self):
        """What was read from, as far as the records prove it."""
        records = [record for count in self.counts for record in count.records]
        kept = {ledger.part(record, "dataset", "page_cache") for record in records}
        if kept <= set(ledger.PAST_MEMORY):
            return "This storage"
        return "The page cache" if kept == {"warm"} else "This storage with its caches"

    @property
    def fastest(self):
        """The runs of the number of GPUs that were given most."""
        return max(
            (count.records for count in self.counts),
            key=lambda records: statistics.median(list(map(sustained, records))),
        )


def lines(setting):
    """The Lines of emulated GPUs that are known with two numbers of them or more."""
    cells = [c for c in setting.cells if c.data != "synthetic"]
    found = []
    for size in panels.image_sizes(cells) if setting.kind == "emulated" else []:
        for series in style.series_of(cells):
            chosen = panels.best_by_count(panels.of_series(panels.in_panel(cells, size), series))
            known = counts(chosen)
            if len(known) > 1:
                name = series.label + (f" {clean(size, 30)}" if chosen[0].image_size else "")
                found.append(Line(name, size, series, chosen, known))
    return found


def counts(cells):
    """The Counts of cells that differ in their GPUs, in their order; a cell of which no run says
    enough has none."""
    told = [(cell, tuple(of_run(run) for run in cell.runs if not lacks(run))) for cell in cells]
    return [Count(cell.gpus, cell, shares) for cell, shares in told if shares]


def of_run(record):
    """The share of the time in which the GPUs computed, averaging gradients left out of both. Of a
    record that lacks nothing."""
    return _device(record, "step_ms") / (_time_of_step(record) - _device(record, "all_reduce_ms"))


def sustained(record):
    """images/s that can be kept up: nobody loaded in the window what came out of the queues'
    stock. Of a record that says what did, see knows_its_stock()."""
    return record["imgs_per_s"] * (1 - max(0.0, _drawn(record)))


def knows_its_stock(record):
    return _drawn(record) is not None


def demand(record):
    """images/s that all its GPUs would take without waiting. Of a record that lacks nothing."""
    return 1e3 * _images_per_step(record) / _device(record, "step_ms")


def lacks(record):
    """Why the utilisation of a run is not known, of several runs; "" if it is."""
    if not ledger.since(record, 3):
        return "their schema is older"
    if str(record["cell"]["device"]).startswith(ledger.TRACED):
        return "their records do not say how long the recorded steps of the window were"
    if not ledger.positive(_device(record, "step_ms")) or _device(record, "all_reduce_ms") is None:
        return "their records do not say how long a step takes"
    if _drawn(record) is None:
        return "their records do not say what came out of the stock of all GPUs' queues"
    if _time_of_step(record) <= _device(record, "all_reduce_ms"):
        return "averaging the gradients takes longer than their steps"
    return ""


def is_repeated(found):
    """Whether there are repetitions enough on both sides of the answer."""
    answer = fed(found)
    sides = (answer.gpus, answer.starved)
    return all(len(c.shares) >= statistics.LEAST for c in found if c.gpus in sides)


def is_serious(cells):
    """Whether a serious flag forbids to quote the answer, other than that of what is corrected."""
    return are_serious(flag for cell in cells for flag in cell.flags)


def are_serious(flags):
    return any(f.get("severity") == "serious" and f.get("name") != CORRECTED for f in flags)


def is_corrected(cell):
    return any(f.get("name") == CORRECTED for f in cell.flags)


def fed(found):
    """The Fed of some counts, as GpuSearch::fed() has it: the median decides, which one spoilt run
    does not move. Where N GPUs starve, what is delivered no longer depends on their number, so that
    it feeds u * N / LEAST of them."""
    place = next((i for i, count in enumerate(found) if count.median < LEAST), len(found))
    most = found[place - 1].gpus if place else 0
    low, high = 0, most
    for count in found[:place]:
        end = count.interval[0]
        low = max(low, count.gpus if end >= LEAST else _fed_by_as_much(end, count.gpus))
    for count in found[place:]:
        end = count.interval[1]
        if end < LEAST:
            up_to = max(high, count.gpus - 1)
            high = min(max(_fed_by_as_much(end, count.gpus), high), up_to)
            break
        high = count.gpus
    return Fed(most, low, high, found[place].gpus if place < len(found) else None)


def _fed_by_as_much(utilisation, gpus):
    return int(max(0.0, utilisation) * gpus / LEAST + 1e-9)  # 5 GPUs at just the share are 5


def _time_of_step(record):
    """Milliseconds, at the rate that can be kept up."""
    rate = sustained(record)
    return 1e3 * _images_per_step(record) / rate if rate > 0 else math.inf


def _drawn(record):
    """The mean share over all queues. Older records only have that of the queue that was least at
    rest: it is the mean if there is one queue, or if all rest."""
    mean, worst = (
        ledger.number(ledger.part(record, "queue", key)) for key in ("drawn_mean", "drawn_fraction")
    )
    if mean is not None:
        return mean
    return worst if worst == 0 or _gpus(record) == 1 else None


def _device(record, key):
    return ledger.number(ledger.part(record, "device", key))


def _images_per_step(record):
    return record["cell"]["batch-size"] * _gpus(record)


def _gpus(record):
    return record["cell"].get("gpus") or 1
