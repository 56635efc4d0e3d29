"""With how many emulated GPUs a search of `feedrate capacity` found that the storage keeps up, and
what ends it: as src/judge/gpu_search.cpp and src/session/capacity_search.cpp compute them."""

from __future__ import annotations

import os
from dataclasses import dataclass

from . import intervals, ledger, statistics, utilisation
from .heading import emulated
from .text import amount, clean

SHARE, CORRECTED = utilisation.LEAST, utilisation.CORRECTED
CLIENT = "client"  # the folder beside the ledger that holds the runs from memory
CLEARLY_MORE = 1.1  # times what the storage gave: then memory gives more
LEAST_STEPS = 20  # that an interval within one run takes


@dataclass(frozen=True)
class Limit:
    """What ends the images/s."""

    words: str = ""  # "" where it was not measured
    is_machine: bool = False
    is_storage: bool = False


@dataclass(frozen=True)
class Search:
    """What the runs of a search came to."""

    held: object  # utilisation.Held
    low: int  # 95 %
    high: int
    rate: float  # images/s that each GPU takes
    device: str  # whose rate that is
    is_repeated: bool
    is_valid: bool
    limit: Limit
    cell: object  # at the most GPUs that are fed, or the fewest

    @property
    def words(self):
        """ "5 GPUs (95 %: 4 to 5)"."""
        told = self.held.words if self.held.gpus else "not even the fewest GPUs that were tried"
        is_known = self.held.starved is not None and self.low != self.high
        return told + (f" (95 %: {self.low} to {self.high})" if is_known else "")


def is_search(setting):
    """Whether a search made its runs."""
    return any(isinstance(r.get("search"), dict) for c in setting.cells for r in c.runs + c.lost)


def of(setting, path):
    """The Search of a setting; None where it tells no number of GPUs. `path`: of the ledger."""
    lines = [line for line in utilisation.lines(setting) if line.unbroken]
    if not lines:
        return None
    line = lines[0]  # a search has one kind of data, at one size
    held = utilisation.held(line.unbroken, SHARE)
    low, high = ends(line.unbroken, held)
    at = next((c for c in line.unbroken if c.gpus == held.gpus), line.unbroken[0])
    record = at.cell.runs[-1]
    return Search(
        held,
        low,
        high,
        1e3 * record["cell"]["batch-size"] / ledger.part(record, "device", "step_ms"),
        emulated(clean(setting.device.get("name") or setting.axes["device"], 80)),
        utilisation.is_repeated(line.unbroken, (SHARE,)),
        not utilisation.is_serious(line.cells),
        _limit(line.unbroken, path),
        at.cell,
    )


def ends(counts, held):
    """The ends of the 95 % interval of the GPUs that are fed, which may be numbers that were not
    tried: where GPUs starve, what is delivered no longer depends on their number."""
    fed = [c for c in counts if c.gpus <= held.gpus]
    least = max((_least(c) for c in fed), default=0)
    most = held.gpus
    for count in counts[len(fed) :]:
        high = interval(count)[1]
        if high < SHARE:
            return least, min(max(_fed_by(high, count.gpus), most), max(most, count.gpus - 1))
        most = count.gpus
    return least, most


def _least(count):
    low = interval(count)[0]
    return count.gpus if low >= SHARE else _fed_by(low, count.gpus)


def _fed_by(share, gpus):
    """How many GPUs work enough on what keeps so many of them at a lower share of their time."""
    return int(max(0.0, share) * gpus / SHARE + 1e-9)


def interval(count):
    """(low, high), 95 %, of the mean utilisation of a utilisation.Count: over its runs, within the
    run where there is one; the utilisation itself where that has too few steps."""
    if len(count.shares) > 1:
        centre, half, _, _ = statistics.t_interval(count.shares)
        return centre - half, centre + half
    (record,) = (r for r in count.cell.runs if not utilisation.lacks(r))
    steps = ledger.raw(record, "step_ms")
    if len(steps) < LEAST_STEPS:
        return count.shares[0], count.shares[0]
    images = record["cell"]["batch-size"] * count.gpus
    rates, _ = intervals.of_blocks(steps, images)
    return tuple(utilisation.of_run({**record, "imgs_per_s": rate}) for rate in rates)


def _limit(counts, path):
    """The storage where memory gives clearly more than it did, this machine where memory does
    not."""
    memory = _rates_from_memory(path)
    if not memory:
        return Limit()
    fastest = max(counts, key=lambda c: statistics.median([r["imgs_per_s"] for r in c.cell.runs]))
    storage, memory = _interval_of(fastest.cell.runs), _interval_of(memory)
    both = f"storage gave {amount(storage[1])} images/s, memory {amount(memory[1])}"
    if memory[0] >= CLEARLY_MORE * storage[2]:
        return Limit(f"the storage, or the reads in flight: {both}", is_storage=True)
    if memory[2] < CLEARLY_MORE * storage[0]:
        return Limit(f"this machine: {both}", is_machine=True)
    return Limit(f"not clear between storage and machine: {both}")


def _rates_from_memory(path):
    """The runs of the ledger beside it that were fed from memory; [] where there are none."""
    place = os.path.join(os.path.dirname(os.path.abspath(path)), CLIENT, "ledger.jsonl")
    try:
        records = ledger.read(place, lambda text: None) if path else []
    except ledger.ReportError:
        return []
    return [r for r in records if r["role"] == "cell" and r["status"] == "ok"]


def _interval_of(records):
    """(low, mean, high) of the images/s: over three runs or more, else what holds the interval of
    each."""
    rates = [r["imgs_per_s"] for r in records]
    if len(rates) >= statistics.LEAST:
        found = statistics.estimate(rates)
        return found.low, found.mean, found.high
    mean = sum(rates) / len(rates)
    within = [r.get("ci95") for r in records]
    if not all(isinstance(ci, list) and len(ci) == 2 for ci in within):
        return mean, mean, mean
    return min(ci[0] for ci in within), mean, max(ci[1] for ci in within)
