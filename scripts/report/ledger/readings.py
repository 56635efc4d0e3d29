"""What a run's monitors kept of the host and the GPUs, second by second, as lines to be drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass

from . import ledger


@dataclass(frozen=True)
class Reading:
    """A line: the key in the ledger, its words, the factor to what the panel shows."""

    key: str
    label: str
    factor: float = 1.0


# (title, top of the axis or None, readings)
HOST = (
    (
        "CPU (% of all CPUs)",
        100,
        (
            Reading("cpu_busy", "busy", 100),
            Reading("cpu_iowait", "iowait", 100),
            Reading("cpu_steal", "steal", 100),
            Reading("cpu_other_processes", "others", 100),
        ),
    ),
    (
        "pressure (% of time)",
        100,
        (
            Reading("psi_cpu_some", "CPU", 100),
            Reading("psi_io_some", "I/O", 100),
            Reading("psi_memory_some", "memory", 100),
        ),
    ),
    (
        "input (MB/s)",
        None,
        (
            Reading("disk_read_bytes_per_s", "disk", 1e-6),
            Reading("network_receive_bytes_per_s", "network", 1e-6),
        ),
    ),
    ("memory available (GB)", None, (Reading("memory_available_bytes", "", 1e-9),)),
)
GPU = (
    ("GPU utilisation (%)", 100, "utilisation_percent"),
    ("SM clock (MHz)", None, "sm_mhz"),
    ("power (W)", None, "power_w"),
    ("temperature (°C)", None, "temperature_c"),
)
LEAST = 5  # readings: of the host one a second, of a GPU two; fewer are no course of a run


def chosen(setting, gpus):
    """(cell, record): a run of the cell that kept readings and reaches the least of its ceiling,
    one with GPUs' before one without, a valid one before an invalid one. `gpus` None: any."""
    cells = [c for c in setting.cells if c.data != "synthetic" and gpus in (None, c.gpus)]
    found = [
        (c.serious, not _has_gpu(r), *_pace(c), i, c, r)
        for i, c in enumerate(cells)
        for r in c.runs[:1]
        if _has_host(r) or _has_gpu(r)
    ]
    return min(found, key=lambda f: f[:5])[5:] if found else (None, None)


def _pace(cell):
    """Sort key: by the share of the ceiling; those without one last, by their rate a GPU."""
    share = cell.ratio
    return share is None, share.mean if share else cell.rate.mean / cell.gpus


def _has_host(record):
    return any(host(record, reading)[1] for _, _, readings in HOST for reading in readings)


def _has_gpu(record):
    return any(of_gpus(record, key) for _, _, key in GPU)


def host(record, reading):
    return _line(ledger.part(record, "monitors", "series"), "at_s", reading.key, reading.factor)


def of_gpus(record, key):
    """[(label, seconds, values), …], a line for each GPU that says it."""
    ranks = record.get("ranks") if isinstance(record.get("ranks"), list) else []
    lines = [_line(r.get("gpu"), "seconds", key, 1.0) for r in ranks if isinstance(r, dict)]
    return [("", x, y) for x, y in lines if y]


def _line(series, time, key, factor):
    """(seconds, values) of a reading, with a gap where it was unknown; ([], []) if fewer than LEAST
    are known."""
    x, y = (ledger.part(series, name) for name in (time, key))
    if not isinstance(x, list) or not isinstance(y, list):
        return [], []
    points = [(ledger.number(a), ledger.number(b)) for a, b in zip(x, y)]
    points = [
        (a, math.nan if b is None or b < 0 else factor * b) for a, b in points if a is not None
    ]
    return tuple(zip(*points)) if sum(not math.isnan(b) for _, b in points) >= LEAST else ([], [])
