"""How the workers' time is divided, and what the machine's CPUs did meanwhile: shares, each of them
a mean over the repetitions."""

from __future__ import annotations

from ..ledger import ledger, statistics
from . import stage_times

BUSY, OTHERS, IOWAIT = "cpu_busy", "cpu_other_processes", "cpu_iowait"
PRESSURE = "psi_io_some"


def waiting(cell, stage):
    """Estimate of the share of the workers' time in which they wait in a stage: the time for an
    image × images/s, by the threads that load. None where none was timed."""
    values = []
    for repetition, parts in stage_times.by_repetition(cell).items():
        per_ms = cell.by_repetition[repetition] / (1e3 * _threads(cell))
        # stages and steps are not cut at the same moment
        whole = max(1.0, per_ms * sum(ms for _, ms, _ in parts))
        waits = sum(ms - cpu_ms for name, ms, cpu_ms in parts if name == stage)
        values.append(per_ms * waits / whole)
    return _mean(cell, values)


def of_machine(cell, key):
    """Estimate of a share that the host's monitors give, of all CPUs or of the time; None where it
    is unknown in a run."""
    return _of_machine(cell, lambda monitors: _known(monitors, key))


def own(cell):
    """Estimate of the share of all CPUs that are busy with the run itself; None as above."""

    def busy(monitors):
        both = [_known(monitors, key) for key in (BUSY, OTHERS)]
        return None if None in both else max(both[0] - both[1], 0.0)

    return _of_machine(cell, busy)


def _known(monitors, key):
    share = ledger.number(monitors.get(key))
    return None if share is None or share < 0 else share


def _of_machine(cell, share_of):
    values = []
    for runs in cell.runs_by_repetition.values():
        shares = [share_of(ledger.object_at(record, "monitors")) for record in runs]
        if None in shares:
            return None
        values.append(sum(shares) / len(shares))
    return _mean(cell, values)


def _mean(cell, values):
    return statistics.mean_share(values, cell.pilot) if values else None


def _threads(cell):
    """DALI's own threads are not seen: one thread for each GPU asks it for batches."""
    each = 1 if cell.axes.get("loader") == "dali" else max(cell.workers or 0, 1)
    return each * cell.gpus
