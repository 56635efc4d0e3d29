"""What this machine manages from memory alone, which `feedrate capacity` measures last: the limit
that no storage moves. Its runs lie in a folder of their own below the search's."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ..errors import ReportError
from ..ledger import ledger, statistics
from ..text import amount
from . import utilisation

FOLDER = "client"  # as src/session/capacity_search.h has it
STORAGE, MACHINE, NOT_CLEAR = "storage", "machine", "not clear"
CLEARLY_MORE = 1.1  # as limit_beyond() of the program
ALIKE = ("batch-size", "model", "input-size")  # other axes of the run are those of memory
SAME_MS = 1e-3  # relative: the run's host CPU time is written with six digits


WORDS = {
    STORAGE: "the storage, or the reads in flight",
    MACHINE: "this machine",
    NOT_CLEAR: "not clear between storage and machine",
}


@dataclass(frozen=True)
class MemoryLimit:
    rate: object  # Estimate of images/s, of the repetitions
    ends: tuple  # 95 %, as interval_of() has it
    gpus: int  # whose loaders these are
    is_serious: bool  # a serious flag forbids to quote it

    def beside(self, records):
        """What ends the images/s of these runs from the storage: STORAGE where memory gives clearly
        more, MACHINE where the two are close, NOT_CLEAR where the intervals allow both, or memory
        gave less."""
        (low, high), (least, most) = interval_of(records), self.ends
        if least >= CLEARLY_MORE * high:
            return STORAGE
        are_alike = most < CLEARLY_MORE * low and high < CLEARLY_MORE * least
        return MACHINE if are_alike else NOT_CLEAR


def attach(settings, ledger_path, note=lambda text: None):
    """Gives the limit that lies below the ledger's folder to the settings whose steps cost the host
    as much."""
    path = os.path.join(os.path.dirname(os.path.abspath(ledger_path)), FOLDER, "ledger.jsonl")
    if not os.path.isfile(path):
        return
    try:
        records = [r for r in ledger.read(path, note) if _is_told(r)]
    except ReportError as error:
        note(f"{error}; what this machine manages from memory is not shown")
        return
    found = limit_of(records)
    for setting in settings if found else []:
        if setting.kind == "emulated" and _is_alike(setting, records[0]):
            setting.memory = found


def of_line(memory, line):
    """(STORAGE, MACHINE or NOT_CLEAR: what ends the images/s of a utilisation.Line, the same in
    words, with the rates); ("", "") where memory was not measured or must not be quoted."""
    if not memory or memory.is_serious:
        return "", ""
    limit = memory.beside(line.fastest)
    storage = statistics.estimate(list(map(utilisation.sustained, line.fastest))).mean
    both = f"storage gave {amount(storage)} images/s, memory {amount(memory.rate.mean)}"
    return limit, f"{WORDS[limit]}: {both}"


def limit_of(records):
    """The MemoryLimit of runs that say enough; None without any."""
    told = [record for record in records if _is_told(record)]
    if not told:
        return None
    return MemoryLimit(
        statistics.estimate(list(map(utilisation.sustained, told))),
        interval_of(told),
        told[0]["cell"].get("gpus") or 1,
        utilisation.are_serious(flag for record in told for flag in ledger.flags(record)),
    )


def _is_told(record):
    return (
        record["status"] == "ok"
        and utilisation.knows_its_stock(record)
        and utilisation.sustained(record) > 0
    )


def _is_alike(setting, record):
    if any(str(setting.axes.get(a)) != str(record["cell"].get(a)) for a in ALIKE):
        return False
    mine, its = (
        ledger.number(part.get("host_cpu_ms"))
        for part in (setting.device, ledger.object_at(record, "device"))
    )
    return mine is not None and its is not None and abs(mine - its) <= SAME_MS * max(mine, its)


def interval_of(records):
    """(low, high), 95 %, of the images/s that are kept up: over three runs or more; of fewer, what
    holds the interval of each run's steps, as far as they are known."""
    rates = list(map(utilisation.sustained, records))
    found = statistics.estimate(rates)
    if found.low is not None:
        return found.low, found.high
    ends = [end for record, rate in zip(records, rates) for end in _within(record, rate)]
    return min(ends), max(ends)


def _within(record, rate):
    ends = record.get("ci95")
    if not isinstance(ends, list) or not ledger.numbers(ends) or len(ends) != 2:
        return rate, rate
    return tuple(end * rate / record["imgs_per_s"] for end in ends)
