"""How the workers' time is divided, and what the machine's CPUs did meanwhile: shares, each of them
a mean over the repetitions."""

from __future__ import annotations

from . import ledger, panels, stage_times, statistics, storage, style

BUSY, OTHERS, IOWAIT = "cpu_busy", "cpu_other_processes", "cpu_iowait"
PRESSURE = "psi_io_some"
MOST = 24  # cells of a figure; beyond, a series is shown at the workers chosen alone


def by_count(setting, gpus):
    """[(series, stored size, its cells by worker count), …] of what is read from files."""
    cells = [c for c in panels.at_gpus(setting, gpus) if storage.takes_from_files(c)]
    found = []
    for series in style.series_of(cells):
        mine = panels.of_series(cells, series)
        for size in dict.fromkeys(c.image_size for c in mine):
            found.append((series, size, [c for c in mine if c.image_size == size]))
    return found


def are_all_shown(groups):
    """Whether every worker count is shown: where there are several, and not too many cells."""
    counts = [len(cells) for _, _, cells in groups]
    return max(counts, default=0) > 1 and sum(counts) <= MOST


def of_workers(cell):
    """[(stage, share of the workers' time, of it computing), …], CPU_WAIT last; [] where no stage
    was timed. What lacks to 1 the workers did not load: there was no room for a batch."""
    each = list(_by_repetition(cell).values())
    names = stage_times.names_of(each)
    return [
        (name, *(sum(_part(parts, name, which) for parts in each) / len(each) for which in (1, 2)))
        for name in names
    ]


def waiting(cell, stage):
    """Estimate of the share of the workers' time in which they wait in a stage; None where none was
    timed."""
    return _mean(
        cell,
        [
            _part(parts, stage, 1) - _part(parts, stage, 2)
            for parts in _by_repetition(cell).values()
        ],
    )


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


def of_cpus(cell):
    """[(key, share of all CPUs), …]: the run's own work, or all where that is not told apart, other
    programs', and idling with I/O outstanding; what is unknown is left out."""
    mine, busy, iowait = own(cell), of_machine(cell, BUSY), of_machine(cell, IOWAIT)
    if not busy:
        return []
    parts = (
        [(BUSY, mine.mean), (OTHERS, max(busy.mean - mine.mean, 0.0))]
        if mine
        else [(BUSY, busy.mean)]
    )
    return parts + ([(IOWAIT, iowait.mean)] if iowait else [])


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


def _part(parts, name, which):
    return sum(part[which] for part in parts if part[0] == name)


def _by_repetition(cell):
    """{repetition: [(stage, share, of it computing), …]}: the time for an image × images/s, by the
    threads that load."""
    found = {}
    for repetition, parts in stage_times.by_repetition(cell).items():
        per_ms = cell.by_repetition[repetition] / (1e3 * _threads(cell))
        # stages and steps are not cut at the same moment
        whole = max(1.0, per_ms * sum(ms for _, ms, _ in parts))
        found[repetition] = [
            (name, per_ms * ms / whole, per_ms * cpu_ms / whole) for name, ms, cpu_ms in parts
        ]
    return found


def _threads(cell):
    """DALI's own threads are not seen: one thread for each GPU asks it for batches."""
    each = 1 if cell.axes.get("loader") == "dali" else max(cell.workers or 0, 1)
    return each * cell.gpus
