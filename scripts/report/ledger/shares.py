"""What a record says of its surroundings: shares within their limits."""

from __future__ import annotations

from . import ledger
from .ledger import number

SLACK = 0.02  # two clocks are read one after the other
UNKNOWN = -1
MONITORS = (
    "cpu_busy",
    "cpu_iowait",
    "cpu_steal",
    "cpu_other_processes",
    "psi_cpu_some",
    "psi_io_some",
    "psi_memory_some",
    "cpu_quota_stopped",
)


def within_limits(record):
    """Every share from 0 to 1, or -1 where it may be unknown."""
    monitors = ledger.object_at(record, "monitors")
    dataset = ledger.object_at(record, "dataset")
    values = [(f"monitors.{key}", monitors.get(key), True) for key in MONITORS]
    values += [
        (f"dataset.{key}", dataset.get(key), True)
        for key in (
            *(f"page_cache_{when}" for when in ("before", "after", "first")),
            *(f"page_cache_backing_{when}" for when in ("before", "after")),
        )
    ]
    values += [("device_idle_fraction", record.get("device_idle_fraction"), False)]
    values += [
        (f"capacities.{c.get('resource')}.largest_share"[:60], c.get("largest_share"), False)
        for c in record.get("capacities") or []
        if isinstance(c, dict)
    ]
    for name, value, may_be_unknown in values:
        if value is not None and not _is_share(value, may_be_unknown):
            yield f"{name} is {str(value)[:40]}, no share from 0 to 1"


def _is_share(value, may_be_unknown):
    value = number(value)
    return value is not None and (
        -1e-9 <= value <= 1 + SLACK or may_be_unknown and value == UNKNOWN
    )


def series(record):
    """Lists of one length, in the order of time, with shares as above."""
    found = ledger.object_at(record, "monitors").get("series")
    if not isinstance(found, dict):
        return
    lengths = {
        name: len(values) if isinstance(values, list) else None for name, values in found.items()
    }
    if len(set(lengths.values())) > 1 or None in lengths.values():
        yield "monitors.series: its lists are not equally long"
        return
    at = found.get("at_s") or []
    if any(number(t) is None for t in at) or any(b <= a for a, b in zip(at, at[1:])):
        yield "monitors.series.at_s does not rise"
    for name in MONITORS:
        odd = [v for v in found.get(name) or [] if not _is_share(v, True)]
        if odd:
            yield f"monitors.series.{name} holds {str(odd[0])[:40]}, no share from 0 to 1"
