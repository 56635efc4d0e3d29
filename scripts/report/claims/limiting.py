"""What is busiest in a cell that loses, with its demand, in words. Nothing here was perturbed, so
nothing is called a cause: only `feedrate diagnose` shows one."""

from __future__ import annotations

from ..ledger import ledger, storage
from ..text import amount, clean, workers
from . import epoch, stage_times, time_shares

FULL = 0.9  # of the CPUs: then they are busy
MOST = 0.5  # of the workers' time: then they wait for reads


def of_cell(cell):
    """ "likely storage: 60 of 281 MB/s (needed)", "busiest: CPU, 1.9 of 2 cores"; "" where no run
    tells."""
    return _cpu(cell) or _reads(cell) or _steps(cell) or _workers(cell)


def are_workers(cell):
    """Whether the workers themselves are busiest, while CPUs are known to be idle."""
    is_known = _cores(cell) and time_shares.of_machine(cell, time_shares.BUSY)
    return bool(is_known and of_cell(cell).startswith(f"busiest: {workers(cell.workers)}"))


def _cpu(cell):
    cores, busy = _cores(cell), time_shares.of_machine(cell, time_shares.BUSY)
    own = time_shares.own(cell)
    if not cores or not busy:
        return ""
    every, usable = cores
    used, of = (own.mean * every, usable) if usable < every and own else (busy.mean * every, every)
    if used < FULL * of:
        return ""
    stage = cell.limiting()[1]
    part = f", most of the loading {clean(stage, 20)}" if stage and stage != "step" else ""
    return f"busiest: CPU, {min(used, of):.1f} of {of:g} cores{part}"


def _cores(cell):
    """(those of the machine, those that the run may use) of the latest run; None if unknown."""
    record = cell.runs[-1]
    every = ledger.number(ledger.part(record, "environment", "cpu", "cores"))
    every = every or ledger.number(ledger.part(record, "threads", "cpus"))
    usable = ledger.number(ledger.part(record, "threads", "cpu_capacity"))
    return (every, usable or every) if every else None


def _reads(cell):
    waits, from_storage = time_shares.waiting(cell, "read"), storage.storage_rate(cell)
    read, needed = storage.files_rate(cell), storage.needed_rate(cell)
    if not waits or waits.mean < MOST or not read or not needed:
        return ""
    is_cached = from_storage is not None and from_storage < read / 2
    name = "reads, mostly from the page cache" if is_cached else "storage"
    read, needed = (amount(rate / 1e6) for rate in (read, needed))
    return f"likely {name}: {read} of {needed} MB/s (needed)"


def _steps(cell):
    """Where the device waits for data less than half of what is lost."""
    waiting = epoch.hours_waiting(cell)
    if waiting is None or not cell.ratio or waiting >= epoch.hours_lost(cell).mean / 2:
        return ""
    return "likely the steps, which take longer than at the ceiling"


def _workers(cell):
    """Which have room to spare where the verdict of the latest run names the device."""
    if cell.limiting()[0] == "device":
        return "likely uneven service, or a copy that nothing hides"
    if not stage_times.per_image(cell):
        return ""
    name, share = stage_times.largest_share(cell)
    share, stage = f"{100 * share.mean:.0f} %", clean(name, 20)
    if not cell.workers:
        return f"no overlap of loading and steps, {share} of the loading is {stage}"
    return f"busiest: {workers(cell.workers)}, {share} of their work is {stage}"
