"""Busy time of the workers by stage, per image."""

from __future__ import annotations

from ..ledger import ledger, statistics
from ..look import style
from ..text import clean


def per_image(cell):
    """[(stage, its ms, CPU ms of them), …] per image, over all runs; [] where no stage was timed.
    What the workers waited for a CPU comes last, as CPU_WAIT: a thread without a CPU stands
    wherever it was, which is not that stage's time (docs/measuring.md)."""
    return _parts(cell.runs)


def by_repetition(cell):
    """{repetition: what per_image() gives of its runs}, of those in which a stage was timed."""
    found = {n: _parts(runs) for n, runs in cell.runs_by_repetition.items()}
    return {n: parts for n, parts in found.items() if _total(parts) > 0}


def load_ms(cell):
    """Estimate of the ms of one worker per image; None where no stage was timed."""
    values = [_total(parts) for parts in by_repetition(cell).values()]
    return statistics.estimate(values, cell.pilot) if values else None


def _total(parts):
    return sum(ms for _, ms, _ in parts)


def _parts(records):
    totals, cpu_wait = {}, 0.0
    for record in records:
        cpu_wait += ledger.number(record.get("cpu_wait_s")) or 0.0
        for stage in ledger.stages(record):
            if ledger.positive(stage.get("items")):
                total = totals.setdefault(clean(stage.get("name") or "?", 30), [0.0, 0.0, 0])
                total[0] += ledger.number(stage.get("wall_s")) or 0.0
                total[1] += ledger.number(stage.get("cpu_s")) or 0.0
                total[2] += stage["items"]
    # A clock's grain may put a little more CPU than wall time into a short stage.
    off_cpu = sum(max(wall - cpu, 0.0) for wall, cpu, _ in totals.values())
    share = min(cpu_wait / off_cpu, 1.0) if off_cpu > 0 else 0.0
    found, waits_ms = [], 0.0
    for name, (wall, cpu, items) in totals.items():
        waiting = share * max(wall - cpu, 0.0)
        waits_ms += 1e3 * waiting / items
        found.append((name, 1e3 * (wall - waiting) / items, 1e3 * min(cpu, wall) / items))
    return found + ([(style.CPU_WAIT, waits_ms, 0.0)] if waits_ms > 0 else [])


def budget(cell):
    """ms that the workers of one GPU may spend on an image before the device has to wait."""
    if not cell.ceiling:
        return None
    return 1e3 * cell.gpus / cell.ceiling.rate.mean * max(cell.workers or 0, 1)


def names_of(all_times):
    """The stages that were timed, the known ones in their order first."""
    known = list(style.STAGES)
    found = {name for times in all_times for name, _, _ in times}
    return [n for n in known if n in found] + sorted(found - set(known))


def largest_share(cell):
    """(stage or CPU_WAIT, Estimate of its share of a worker's busy time): the largest over all
    runs, a value for each repetition."""
    name = max(per_image(cell), key=lambda part: part[1])[0]
    values = [
        sum(ms for part, ms, _ in parts if part == name) / _total(parts)
        for parts in by_repetition(cell).values()
    ]
    return name, statistics.mean_share(values or [0.0])
