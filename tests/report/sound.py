"""Ledgers for the tests of compare and check. All their numbers agree with each other, as in the
ledger of a sweep. The rates follow from the steps, so they are near those asked for, not equal to
them.
"""

import datetime
import os

import ledgers
from report.ledger import intervals, pairs

STEPS = 40
LIMITS = {
    "warmup_seconds": 1.0,
    "max_warmup_seconds": 60.0,
    "min_seconds": 0.5,
    "max_seconds": 120.0,
    "min_steps": 20,
}
ENVIRONMENT = {
    "feedrate_version": "0.1.0",
    "git_commit": "0123456789ab",
    "binary_xxh3": "00112233445566aa",
    "host": "node1",
    "kernel": "Linux 6.1",
    "cpu": {"model": "Xeon", "cores": 2},
    "memory": {"total": "24684096 kB", "swap": "0 kB"},
    "gpus": [],
    "file_system": {"type": "ext4", "device": "/dev/vda", "mount_options": "rw"},
}


def summary(values):
    ordered = sorted(values)
    found = {
        name: round(intervals.quantile(ordered, q), 3)
        for name, q in (("median", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1.0))
    }
    return {**found, "mean": round(sum(values) / len(values), 3), "raw": values}


def record(cell, rate, repetition=0, role="cell", place=0, schema=3, **changes):
    """One run that came to about `rate`."""
    batch, gpus = cell["batch-size"], cell["gpus"]
    step = 1e3 * batch * gpus / rate
    raw = [round(step * (1 + 0.01 * (i % 3 - 1)), 3) for i in range(STEPS)]
    window, images = sum(raw) / 1e3, STEPS * batch * gpus
    idle = [round(0.25 * v, 3) for v in raw]
    rate = images / window
    low, high = intervals.of_blocks(raw, batch * gpus)[0]
    found = ledgers.record(cell, rate, repetition, role)
    found.update(
        schema=f"feedrate.result/{schema}",
        ci95=[low, high],
        steps=STEPS,
        images=images,
        window_s=window,
        warmup_steps=20,
        warmup_s=1.5,
        step_ms=summary(raw),
        data_wait_ms=summary(idle),
        device_idle_ms=summary(idle),
        device_idle_fraction=sum(idle) / 1e3 / window,
        device_rate={
            "imgs_per_s": images / (window - sum(idle) / 1e3),
            "ci95": list(intervals.of_blocks([a - b for a, b in zip(raw, idle)], batch * gpus)[0]),
        },
        cpu_wait_s=0.0,
        queue={"capacity_samples": 64, "drawn_fraction": 0.0, "rank": 0},
        bad_samples=0,
        ranks=[
            {
                "rank": i,
                "gpu": None,
                "imgs_per_s": rate / gpus,
                "window_s": window,
                "data_wait_ms_mean": summary(idle)["mean"],
                "sync_ms_mean": 0.0,
            }
            for i in range(gpus)
        ],
        straggler=None,
        threads={"loader": (cell["workers"] or 0) * gpus, "cpus": 8, "cpu_capacity": 8.0},
        verdict="",
        monitors=_monitors(),
        dataset=None if cell["data"] == "synthetic" else _dataset(cell),
        environment=ENVIRONMENT,
        limits=LIMITS,
        seed=0,
        place=place,
    )
    if str(cell["device"]).startswith("emulated"):
        found["flags"] = [
            {"name": "emulated", "severity": "note", "reason": "no GPU", "remedy": "a GPU"}
        ]
    else:
        found["device"] = {
            "name": "NVIDIA H100" if cell["device"] == "cuda" else "Xeon",
            "kind": cell["device"],
        }
    found.setdefault("stages", [])
    found.setdefault("capacities", [])
    if found["capacities"]:
        found["capacities"] = _capacities(rate)
    if schema > 1:
        found["valid"] = True
    return {**found, **changes}


def _monitors():
    return {
        "cpu_busy": 0.5,
        "cpu_iowait": 0.0,
        "cpu_steal": 0.0,
        "cpu_other_processes": 0.01,
        "usable_cpus_other_processes": 0.01,
        "psi_cpu_some": 0.1,
        "psi_io_some": -1,
        "psi_memory_some": -1,
        "cpu_quota_stopped": 0.0,
        "storage_read_bytes": 0,
        "stopped_s": 0.0,
        "suspended_s": 0.0,
        "series": {"at_s": [0.5, 1.5], "cpu_busy": [0.4, 0.6], "psi_io_some": [-1, -1]},
    }


def _dataset(cell):
    return {
        "path": "data",
        "variant": cell["data"] + "/" + str(cell.get("image-size") or "224x224"),
        "samples": 1024,
        "bytes": 1 << 20,
        "mean_bytes": 1024,
        "manifest_xxh3": "e661f421177593e3",
        "page_cache": "warm",
        "fits_in_memory": True,
        "page_cache_before": 1.0,
        "page_cache_first": None,
    }


def _capacities(rate):
    return [
        {
            "resource": resource,
            "imgs_per_s": capacity,
            "utilisation": rate / capacity,
            "largest_stage": stage,
            "largest_share": 0.9,
        }
        for resource, capacity, stage in (
            ("loader", 1.02 * rate, "decode"),
            ("device", 4 * rate, "step"),
        )
    ]


def paired(cell, rate, ceiling, repetition=0, count=8, **changes):
    """One run in pairs."""
    found = ledgers.in_pairs(record(cell, rate, repetition, **changes), ceiling, count)
    if interval := pairs.interval(found):
        found["ceiling_fraction_ci95"] = list(interval[0])
    return found


def sweep(rates, start="2026-11-21T08:00:00Z", axes=None, in_pairs=(), **changes):
    """A whole ledger. `rates`: {"ceiling" or data: [images/s in each repetition]}; a ceiling's may
    be a pair (first, last). Order, places, times and what each cell is divided by follow from it.
    `in_pairs`: the data that are measured so; the ceiling is only run around the others.
    """
    changed = axes or {}
    changes = {"schema": 4 if in_pairs else 3, **changes}
    ceilings = [r if isinstance(r, tuple) else (r, r) for r in rates["ceiling"]]
    records, past = [], []
    for n, (first, last) in enumerate(ceilings):
        measured = [d for d, of in rates.items() if d != "ceiling" and of[n] is not None]
        runs = [
            (ledgers.axes(data, **changed), rates[data][n], "cell", 0)
            for data in measured
            if data not in in_pairs
        ]
        if runs or not in_pairs:
            runs.insert(0, (ledgers.axes(**changed), first, "ceiling", 0))
            runs.append((ledgers.axes(**changed), last, "ceiling", 1))
        for cell, rate, role, place in runs:
            new = record(cell, rate, n, role, place, **changes)
            _divide(new, past)
            past += [new] if role == "ceiling" else []
            records.append(new)
        records += [
            paired(ledgers.axes(data, **changed), rates[data][n], first, n, **changes)
            for data in measured
            if data in in_pairs
        ]
    begun = datetime.datetime.strptime(start, "%Y-%m-%dT%H:%M:%SZ")
    for i, new in enumerate(records):
        new.update(
            order=i,
            started_at=(begun + datetime.timedelta(seconds=7 * i)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        )
    return records


def _divide(new, past):
    """Sets the ceiling of a record, `past` being the ceilings before it: from schema 3 on the one
    that opened its repetition, in older schemas the mean of those so far."""
    if new["schema"] in ("feedrate.result/3", "feedrate.result/4"):
        opening = [r for r in past if r["repetition"] == new["repetition"] and not r["place"]]
        if new["role"] == "cell":
            new["ceiling_imgs_per_s"] = opening[-1]["imgs_per_s"]
            new["ceiling_device_rate"] = opening[-1]["device_rate"]
    elif past:
        new["ceiling_imgs_per_s"] = sum(r["imgs_per_s"] for r in past) / len(past)
        new["ceiling_fraction"] = new["imgs_per_s"] / new["ceiling_imgs_per_s"]


def folder(parent, name, records, tail=""):
    """A result folder with these records; its path."""
    path = os.path.join(parent, name)
    ledgers.write(path, records, tail)
    return path
