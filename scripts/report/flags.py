"""The flags of a record, derived again from its own numbers: none that is missing, none that nothing calls for, none that says
less than it should. A flag that is gone makes a doubtful number look sound."""
from __future__ import annotations

from . import ledger
from .ledger import number

ORDER = ("note", "warning", "serious")
NEAR = 0.001    # shares are written to three decimals: at the very limit rounding decides
# As src/measure/nvml.cpp names them. At its power limit a GPU is capped, not throttled.
HELD_BACK = {"hardware slowdown", "software thermal slowdown", "hardware thermal slowdown", "power brake"}
POWER_CAP = "power cap"
# Flags that rest on something that no record keeps (how the warm-up ended, planted times, what was forced): how severe they are.
UNSEEN = {"unsteady": {"warning"}, "planted": {"serious"}, "scaled_rate": {"warning"}, "clock_changed": {"warning"}, "gpu_unseen": {"note"},
          "unseen_queue": {"note"}, "ceiling_drifted": {"warning"}, "mixed_ledger": {"warning", "serious"}}
MAYBE = object()    # so near to a limit that either is right


def problems(record):
    """A line for each flag that is not as the record's numbers make it."""
    newest = record["schema"] == ledger.SCHEMAS[-1]
    stated = {}
    for flag in ledger.flags(record):
        stated.setdefault(str(flag.get("name")), []).append(str(flag.get("severity")))
    expected = dict(_expected(record))
    for name, called_for in expected.items():
        known = [s for s in called_for if s is not MAYBE]
        if known and name not in stated:
            yield f"the flag {name} is missing: the record's own numbers call for it"
        elif known and _most(stated[name]) != _most(known) and MAYBE not in called_for:
            yield f"the flag {name} is {_most(stated[name])}, the record's own numbers make it {_most(known)}"
        elif newest and not called_for and name in stated:
            yield f"the flag {name} is there, and the record's own numbers do not call for it"
    for name in stated if newest else []:
        if name not in UNSEEN and name not in expected:
            yield f"the flag {name[:40]} is none that there is"
    if newest and (("mixed_ledger" in stated) != bool(record.get("forced")) or "mixed_ledger" in stated
                   and _most(stated["mixed_ledger"]) != ("serious" if _is_other_work(record["forced"]) else "warning")):
        yield f"the flag mixed_ledger is {_most(stated.get('mixed_ledger', [])) or 'missing'}, `forced` is {str(record.get('forced'))[:80]}"
    for name, severities in stated.items():
        if odd := set(severities) - UNSEEN.get(name, set(ORDER)):
            yield f"the flag {name} is {min(odd)[:20]}, which it never is"


def _most(severities):
    return max((s for s in severities if s in ORDER), key=ORDER.index, default="")


def _expected(record):
    """(name, the severities that are called for) of each flag that the record can decide."""
    found = {}
    for name, severity, holds in [*_of_any_schema(record), *(_of_schema_2(record) if record["schema"] != ledger.SCHEMAS[0] else [])]:
        found.setdefault(name, [])
        if holds:
            found[name].append(MAYBE if holds is MAYBE else severity)
    return found.items()


def _of_any_schema(record):
    cell, limits, monitors, queue = record["cell"], *(ledger.object_at(record, key) for key in ("limits", "monitors", "queue"))
    short = [(number(record["steps"]), number(limits.get("min_steps"))), (ledger.first_window(record), number(limits.get("min_seconds")))]
    stock = abs(number(queue.get("drawn_fraction")) or 0)
    others = max([number(monitors.get(of)) or 0 for of in ("cpu_other_processes", "usable_cpus_other_processes")])
    far_short = any(least and value < 0.5 * least for value, least in short)
    return [("emulated", "note", ledger.object_at(record, "device").get("kind") == "emulated"),
            ("short_window", "serious" if far_short else "warning", any(least and value < least for value, least in short)),
            ("queue_not_at_rest", "serious" if stock > 0.05 else "warning", _above(stock, 0.01, 1e-9)),
            ("noisy_neighbour", "warning", _above(others, 0.10)),
            ("cpu_steal", "warning", _above(monitors.get("cpu_steal"), 0.02)),
            ("cpu_quota", "warning", _above(monitors.get("cpu_quota_stopped"), 0.01)),
            ("oversubscribed", "note", _is_oversubscribed(record)),
            ("lenient_decoder", "note", cell.get("loader") == "dali" and _is_streamed(cell)),
            ("client_cold", "note", cell.get("page-cache") == "cold"),
            ("bad_samples", "serious", (number(record.get("bad_samples")) or 0) > 0)]


def _of_schema_2(record):
    reasons = {reason for rank in record.get("ranks") or []
               for reason in str(ledger.part(rank, "gpu", "throttled") or "").split(", ")}
    return [("throttled", "serious", bool(reasons & HELD_BACK)),
            ("power_capped", "note", POWER_CAP in reasons),
            ("memory_pressure", "warning", _above(ledger.object_at(record, "monitors").get("psi_memory_some"), 0.01)),
            *(("page_cache", severity, holds) for severity, holds in _page_cache(record)),
            ("harness_bound", "serious", _is_harness_bound(record))]


def _page_cache(record):
    told = record["cell"].get("page-cache")
    before = number(ledger.object_at(record, "dataset").get("page_cache_before"))
    asked = sum(number(s.get("bytes")) or 0 for s in record.get("stages") or [] if isinstance(s, dict) and s.get("name") == "read")
    fetched = number(ledger.object_at(record, "monitors").get("storage_read_bytes"))
    known = fetched is not None
    return [("serious", told in ("warm", "cold") and before is not None and before < 0),
            ("warning", told == "warm" and before is not None and 0 <= before < 0.95),
            ("serious", told == "warm" and asked > 0 and known and fetched > 0.05 * asked),
            ("serious", told == "cold" and known and 0 <= fetched < 0.8 * asked)]


def _is_other_work(forced):
    """As src/experiment/resume.cpp has it: another machine, storage, GPU, library or data."""
    return any(what in ("host", "gpus") or what.startswith(("device.", "file_system.", "dataset ")) for what in map(str, forced))


def _is_streamed(cell):
    return cell["data"] != "synthetic" and cell.get("cache") != "device"


def _is_oversubscribed(record):
    cell, cpus = record["cell"], number(ledger.object_at(record, "threads").get("cpus"))
    return bool(cpus and _is_streamed(cell) and (cell.get("workers") or 0) * (cell.get("gpus") or 1) > 2 * cpus)


def _is_harness_bound(record):
    """Whether an emulated device fell short of its rate although nothing was loaded: the program itself is the limit."""
    cell, device = record["cell"], ledger.object_at(record, "device")
    step_ms = number(device.get("step_ms"))
    if device.get("kind") != "emulated" or cell["data"] != "synthetic" and cell.get("cache") != "device" or step_ms is None:
        return False
    if step_ms <= 0:        # a rate without an end, which no program reaches
        return True
    asked = 1e3 * cell["batch-size"] * (cell.get("gpus") or 1) / step_ms
    return _above(0.99 * asked, record["imgs_per_s"], 1e-9 * asked)


def _above(value, limit, near=NEAR):
    """Whether it is; MAYBE where rounding decides."""
    value, limit = number(value), number(limit)
    if value is None or limit is None:
        return False
    return MAYBE if abs(value - limit) <= near else value > limit
