"""Accelerator utilisation (AU): that of emulated GPUs in each run's window, and with how many of
them it holds, as src/session/capacity_search.cpp and src/judge/gpu_search.cpp compute them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from . import intervals, ledger, panels, statistics, storage, style
from .text import clean
from .text import gpus as gpu_words

LEAST, BETTER = 0.90, 0.95  # MLPerf Storage asks for the first of ResNet-50
CORRECTED = "queue_not_at_rest"  # the flag of what _time_of_step() takes off


@dataclass(frozen=True)
class Count:
    """What the runs of a cell with so many GPUs came to."""

    gpus: int
    cell: object
    shares: tuple  # the utilisation of each run that says enough
    read: tuple  # bytes/s that each of them read from files; () where one did not count
    needed: float | None  # bytes/s that the GPUs would take without waiting

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
        kept = sustained(record) / record["imgs_per_s"]
        ends, _ = intervals.of_blocks(steps, kept * _images_per_step(record))
        return tuple(_at_rate(record, end) for end in ends)

    @property
    def read_median(self):
        return statistics.median(self.read)


@dataclass(frozen=True)
class Held:
    """The most GPUs that keep a utilisation; 0: not even the fewest tried, if they are known."""

    gpus: int
    starved: int | None  # the next number that is known; None: no more is

    @property
    def words(self):
        if not self.gpus:
            return "not known" if self.starved is None else "none"
        return ("at least " if self.starved is None else "") + gpu_words(self.gpus)


@dataclass(frozen=True)
class Fed:
    """The most GPUs that keep a utilisation, with the 95 % interval that the runs allow: it may
    name numbers that were not tried."""

    gpus: int
    low: int
    high: int
    at_least: bool  # nothing larger is known

    @property
    def words(self):
        """ "4 GPUs (95 %: 4 to 5)"."""
        if self.at_least:
            return f"at least {gpu_words(self.gpus)}" if self.gpus else "an unknown number of GPUs"
        between = "" if self.low == self.high else f" (95 %: {self.low} to {self.high})"
        return (gpu_words(self.gpus) if self.gpus else "not one GPU") + between


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

    def words(self, share):
        """With how many GPUs the share holds; with ! where a flag forbids to quote it."""
        return held(self.unbroken, share).words + (" !" if is_serious(self.cells) else "")


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
    found = []
    for cell in cells:
        told = [r for r in cell.runs if not lacks(r)]
        if told:
            shares = tuple(map(of_run, told))
            found.append(Count(cell.gpus, cell, shares, _read(cell, told), _needed(cell, told[0])))
    return found


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


def held(found, share):
    """With how many GPUs the median utilisation is `share` or more, which one spoilt run does not
    move: the last count before the first one that is below it."""
    most = 0
    for count in found:
        if count.median < share:
            return Held(most, count.gpus)
        most = count.gpus
    return Held(most, None)


def is_repeated(found, shares=(LEAST, BETTER)):
    """Whether there are repetitions enough on both sides of each answer."""
    sides = {n for share in shares for h in [held(found, share)] for n in (h.gpus, h.starved)}
    return all(len(c.shares) >= statistics.LEAST for c in found if c.gpus in sides)


def is_serious(cells):
    """Whether a serious flag forbids to quote the answer, other than that of what is corrected."""
    flags = (flag for cell in cells for flag in cell.flags)
    return any(f.get("severity") == "serious" and f.get("name") != CORRECTED for f in flags)


def is_corrected(cell):
    return any(f.get("name") == CORRECTED for f in cell.flags)


def fed(found, share):
    """The Fed of some counts, as GpuSearch::fed() has it: where N GPUs starve, what is delivered no
    longer depends on their number, so that it feeds u * N / share of them."""
    most = held(found, share)
    low, high = 0, most.gpus
    for count in (c for c in found if c.gpus <= most.gpus):
        end = count.interval[0]
        low = max(low, count.gpus if end >= share else _fed_by_as_much(end, count.gpus, share))
    for count in (c for c in found if c.gpus > most.gpus):
        end = count.interval[1]
        if end < share:
            up_to = max(high, count.gpus - 1)
            high = min(max(_fed_by_as_much(end, count.gpus, share), high), up_to)
            break
        high = count.gpus
    return Fed(most.gpus, low, high, most.starved is None)


def _fed_by_as_much(utilisation, gpus, share):
    return int(max(0.0, utilisation) * gpus / share + 1e-9)  # 5 GPUs at just the share are 5


def _time_of_step(record):
    """Milliseconds, at the rate that can be kept up."""
    rate = sustained(record)
    return 1e3 * _images_per_step(record) / rate if rate > 0 else math.inf


def _at_rate(record, rate):
    """The utilisation of the same GPUs if they are given so many images/s."""
    step_ms = 1e3 * _images_per_step(record) / rate
    return _device(record, "step_ms") / (step_ms - _device(record, "all_reduce_ms"))


def _drawn(record):
    """The mean share over all queues. Older records only have that of the queue that was least at
    rest: it is the mean if there is one queue, or if all rest."""
    mean, worst = (
        ledger.number(ledger.part(record, "queue", key)) for key in ("drawn_mean", "drawn_fraction")
    )
    if mean is not None:
        return mean
    return worst if worst == 0 or _gpus(record) == 1 else None


def _needed(cell, record):
    size = storage.file_bytes(cell) if storage.takes_from_files(cell) else None
    per_step = _images_per_step(record)
    return None if size is None else size * 1e3 * per_step / _device(record, "step_ms")


def _read(cell, records):
    rates = [storage.run_rate(cell, record) for record in records]
    return () if None in rates else tuple(rates)


def _device(record, key):
    return ledger.number(ledger.part(record, "device", key))


def _images_per_step(record):
    return record["cell"]["batch-size"] * _gpus(record)


def _gpus(record):
    return record["cell"].get("gpus") or 1
