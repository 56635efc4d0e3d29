"""The ledger's records for the page: every field as JSON text, once where records share it, long
lists as series."""

from __future__ import annotations

import json

from . import ledger, panels, thin
from .text import clean

STEP_VALUES, MONITOR_VALUES = 130_000, 150_000  # of all records together; see thin.py
MOST_ITEMS, DEEPEST, LONGEST = 64, 12, 4000
MONITORS = (
    "cpu_busy",
    "cpu_iowait",
    "cpu_steal",
    "cpu_other_processes",
    "psi_cpu_some",
    "psi_io_some",
    "psi_memory_some",
    "disk_read_bytes_per_s",
    "network_receive_bytes_per_s",
    "memory_available_bytes",
)
SCALES = {name: 1e-6 for name in MONITORS if "bytes" in name}  # shown in MB
GPU = (
    "utilisation_percent",
    "memory_utilisation_percent",
    "sm_mhz",
    "memory_mhz",
    "power_w",
    "temperature_c",
    "memory_used_mb",
    "pcie_rx_mb_s",
    "pcie_tx_mb_s",
)


def described(records):
    """(records, texts, shapes): a record's fields are places in the texts, its names a place in the
    shapes; what records share is there once."""
    steps = thin.allowance(STEP_VALUES, 3 * len(records), 30, 4000)
    lists = sum(len(_series(r)) + sum(len(g) for g in _gpus(r)) for r in records)
    points = thin.allowance(MONITOR_VALUES, lists, 6, 1200)
    pool, shapes, out = {}, {}, []
    for record in records:
        out.append(_described(record, pool, shapes, steps, points))
    return out, list(pool), [list(names) for names in shapes]


def _described(record, pool, shapes, steps, points):
    fields = [
        pool.setdefault(_text(value), len(pool))
        for name, value in record.items()
        if name != ledger.LINE
    ]
    names = tuple(clean(name, 80) for name in record if name != ledger.LINE)
    flags = [
        [clean(f.get(part) or "", 1000) for part in ("name", "severity", "reason", "remedy")]
        for f in _list(record.get("flags"))
        if isinstance(f, dict)
    ]
    step, wait = ledger.raw(record, "step_ms"), ledger.raw(record, "data_wait_ms")
    return {
        "line": record[ledger.LINE],
        "status": record["status"],
        "role": record["role"],
        "valid": ledger.valid(record),
        "repetition": record["repetition"],
        "rate": ledger.number(record.get("imgs_per_s")),
        "started": clean(record.get("started_at") or "", 40),
        "error": clean(record.get("error") or "", 2000),
        "flags": flags,
        "shape": shapes.setdefault(names, len(shapes)),
        "fields": fields,
        "step": _thinned(step, 2 * steps),
        "wait": _thinned(wait, steps) if len(wait) == len(step) else None,
        "kept": len(step),
        "made": ledger.number(record.get("steps")),
        "statistics": panels.statistics_of(record, sorted(step)),
        "series": _monitors(_series(record), _at(record), points),
        "gpus": [_monitors(g, g_at, points) for g, g_at in zip(_gpus(record), _gpus_at(record))],
    }


def _thinned(values, most):
    """[steps from place to place, values]; None without values."""
    places, kept = thin.min_max(values, most)
    return [thin.steps_of(places), [_short(v) for v in kept]] if values else None


def _monitors(lists, at, points):
    """{"at": seconds, name: [steps from place to place or null for every place, values]}; -1, which
    means unknown, is null. A list of unknowns alone is left out."""
    out = {}
    for name, values in lists.items():
        # Only a share, a rate or a size can be -1: none of them is ever below zero.
        if not (ledger.numbers(values) and min(values) >= 0):
            values = [None if ledger.number(v) is None or v < 0 else v for v in values]
        if any(v is not None for v in values):
            places, kept = thin.min_max(values, points)
            out[name] = [
                None if len(kept) == len(values) else thin.steps_of(places),
                [_short(v, SCALES.get(name, 1), 3) for v in kept],
            ]
    longest = max(map(len, lists.values()), default=0)
    return (
        {"at": [_short(v) for v in (at + list(range(len(at), longest)))[:longest]], "lists": out}
        if out
        else None
    )


def _short(value, scale=1, figures=4):
    """As many figures as a screen shows. The record's own text keeps what the ledger has."""
    if value is None or (scale == 1 and type(value) is int and value < 10000):
        return value
    short = float(f"{value * scale:.{figures}g}")
    return int(short) if short.is_integer() else short


def _series(record):
    series = ledger.object_at(record, "monitors", "series")
    return {name: _list(series.get(name)) for name in MONITORS if _list(series.get(name))}


def _at(record):
    return [ledger.number(v) or 0 for v in _list(ledger.part(record, "monitors", "series", "at_s"))]


def _gpus(record):
    return [
        {name: _list(gpu.get(name)) for name in GPU if _list(gpu.get(name))}
        for gpu in _with_gpu(record)
    ]


def _gpus_at(record):
    return [[ledger.number(v) or 0 for v in _list(gpu.get("seconds"))] for gpu in _with_gpu(record)]


def _with_gpu(record):
    return [
        rank["gpu"]
        for rank in _list(record.get("ranks"))
        if isinstance(rank, dict) and isinstance(rank.get("gpu"), dict)
    ]


def _text(value):
    """JSON, exact to the digit; long lists are counted, what would not print is written \\uXXXX."""
    text = json.dumps(_trimmed(value), ensure_ascii=False, separators=(",", ":"))
    return text if text.isprintable() else "".join(map(_printable, text))


def _printable(c):
    if c.isprintable():
        return c
    return f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}"


def _trimmed(value, depth=0):
    """What is left out says so; it is in the ledger's line."""
    if isinstance(value, str) and len(value) > LONGEST:
        return value[:LONGEST] + f"… ({len(value)} characters)"
    if isinstance(value, (list, dict)) and depth > DEEPEST:
        return "(deeper than is shown here)"
    if isinstance(value, dict):
        if len(value) > 4 and all(
            isinstance(v, list) and (not v or _is_long(v)) for v in value.values()
        ):
            return f"({len(value)} lists of up to {max(map(len, value.values()))} numbers)"
        return {k: _trimmed(v, depth + 1) for k, v in value.items()}
    if isinstance(value, list):
        if _is_long(value):
            return f"({len(value)} numbers)"
        kept = [_trimmed(v, depth + 1) for v in value[:MOST_ITEMS]]
        return kept + ([f"({len(value) - MOST_ITEMS} more)"] if len(value) > MOST_ITEMS else [])
    return value


def _is_long(values):
    return len(values) > 6 and set(map(type, values)) <= {int, float}


def _list(value):
    return value if isinstance(value, list) else []
