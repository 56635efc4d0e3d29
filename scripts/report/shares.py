"""What a record says of its surroundings: shares within their limits, and the flags that its own
numbers call for. A flag that is missing makes a doubtful number look sound."""
from __future__ import annotations

from . import ledger
from .ledger import number

SLACK = 0.02       # two clocks are read one after the other
UNKNOWN = -1
MONITORS = ("cpu_busy", "cpu_iowait", "cpu_steal", "cpu_other_processes", "psi_cpu_some", "psi_io_some",
            "psi_memory_some", "cpu_quota_stopped")
# As src/measure/nvml.cpp names them. At its power limit a GPU is capped, not throttled.
HELD_BACK = {"hardware slowdown", "software thermal slowdown", "hardware thermal slowdown", "power brake"}
POWER_CAP = "power cap"


def within_limits(record):
    """Every share from 0 to 1, or -1 where it may be unknown."""
    monitors = ledger.object_at(record, "monitors")
    dataset = ledger.object_at(record, "dataset")
    values = [(f"monitors.{key}", monitors.get(key), True) for key in MONITORS]
    values += [(f"dataset.{key}", dataset.get(key), True) for key in ("page_cache_before", "page_cache_after")]
    values += [("device_idle_fraction", record.get("device_idle_fraction"), False)]
    values += [(f"capacities.{c.get('resource')}.largest_share"[:60], c.get("largest_share"), False)
               for c in record.get("capacities") or [] if isinstance(c, dict)]
    for name, value, may_be_unknown in values:
        if value is not None and not _is_share(value, may_be_unknown):
            yield f"{name} is {str(value)[:40]}, no share from 0 to 1"


def _is_share(value, may_be_unknown):
    value = number(value)
    return value is not None and (-1e-9 <= value <= 1 + SLACK or may_be_unknown and value == UNKNOWN)


def series(record):
    """Lists of one length, in the order of time, with shares as above."""
    found = ledger.object_at(record, "monitors").get("series")
    if not isinstance(found, dict):
        return
    lengths = {name: len(values) if isinstance(values, list) else None for name, values in found.items()}
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


def flags(record):
    """Those that follow from numbers of the record itself. At the very limit rounding decides."""
    expected = _of_any_schema(record)
    if record["schema"] != ledger.SCHEMAS[0]:      # which was written before these were there
        expected += _of_schema_2(record)
    names = ledger.flag_names(record)
    for name, called_for in expected:
        if called_for and name not in names:
            yield f"the flag {name} is missing: the record's own numbers call for it"


def _of_any_schema(record):
    limits, monitors, queue = (ledger.object_at(record, key) for key in ("limits", "monitors", "queue"))
    return [("emulated", ledger.object_at(record, "device").get("kind") == "emulated"),
            ("short_window", _below(record["steps"], limits.get("min_steps"), 0)
             or _below(record["window_s"], limits.get("min_seconds"), 0)),
            ("queue_not_at_rest", _below(0.01, abs(number(queue.get("drawn_fraction")) or 0), 1e-9)),
            ("noisy_neighbour", any(_below(0.10, monitors.get(of), 0.001) for of in ("cpu_other_processes", "usable_cpus_other_processes"))),
            ("cpu_steal", _below(0.02, monitors.get("cpu_steal"), 0.001)),
            ("cpu_quota", _below(0.01, monitors.get("cpu_quota_stopped"), 0.001)),
            ("bad_samples", _below(0, record.get("bad_samples"), 0))]


def _of_schema_2(record):
    reasons = {reason for rank in record.get("ranks") or []
               for reason in str(ledger.part(rank, "gpu", "throttled") or "").split(", ")}
    told = record["cell"].get("page-cache") in ("warm", "cold")
    return [("throttled", bool(reasons & HELD_BACK)),
            ("power_capped", POWER_CAP in reasons),
            ("memory_pressure", _below(0.01, ledger.object_at(record, "monitors").get("psi_memory_some"), 0.001)),
            ("page_cache", told and _below(ledger.object_at(record, "dataset").get("page_cache_before"), 0, 0)),
            ("harness_bound", _is_harness_bound(record))]


def _is_harness_bound(record):
    """Whether an emulated device fell short of its rate although nothing was loaded: the program itself is the limit."""
    cell, device = record["cell"], ledger.object_at(record, "device")
    step_ms = number(device.get("step_ms"))
    loads = cell["data"] != "synthetic" and cell.get("cache") != "device"
    if device.get("kind") != "emulated" or loads or step_ms is None:
        return False
    if step_ms <= 0:        # a rate without an end, which no program reaches
        return True
    asked = 1e3 * cell["batch-size"] * (cell.get("gpus") or 1) / step_ms
    return _below(record["imgs_per_s"], 0.99 * asked, 1e-9 * asked)


def _below(value, limit, slack):
    value, limit = number(value), number(limit)
    return value is not None and limit is not None and value < limit - slack
