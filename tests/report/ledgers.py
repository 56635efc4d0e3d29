"""Small ledgers built in code, for the tests beside this file."""

import hashlib
import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPTS = os.path.join(ROOT, "scripts")
if SCRIPTS not in sys.path:
    sys.path.insert(0, SCRIPTS)

LOADER_AXES = {
    "cache": None,
    "image-size": None,
    "tensor-dtype": None,
    "loader": None,
    "workers": None,
    "prefetch": None,
    "transfer": None,
    "pin-memory": None,
}


def axes(data="synthetic", **changes):
    cell = {
        "device": "emulated:a100",
        "gpus": 1,
        "model": "resnet50",
        "batch-size": 256,
        "precision": "fp16",
        "input-size": "224x224",
        "data": data,
        **LOADER_AXES,
    }
    if data != "synthetic":
        cell.update(
            {
                "cache": "none",
                "loader": "pool",
                "workers": 2,
                "prefetch": 4,
                "transfer": "uint8",
                "pin-memory": True,
                "image-size": None if data == "tensor" else "500x375",
            }
        )
    if data == "tensor":
        cell["tensor-dtype"] = "uint8"
    return {**cell, **changes}


def summary(values):
    ordered = sorted(values)
    return {
        "median": ordered[len(ordered) // 2],
        "mean": sum(values) / len(values),
        "p95": ordered[-1],
        "p99": ordered[-1],
        "max": ordered[-1],
        "raw": values,
    }


def record(cell, rate, repetition=0, role="cell", status="ok", **changes):
    """A record as feedrate writes it; rate None where status is not ok."""
    cell_id = hashlib.md5(json.dumps(cell, sort_keys=True).encode()).hexdigest()[:16]
    kind = str(cell["device"]).split(":")[0]
    result = {
        "schema": "feedrate.result/1",
        "cell": cell,
        "cell_id": cell_id,
        "role": role,
        "repetition": repetition,
        "order": 0,
        "status": status,
        "error": None,
        "imgs_per_s": rate if status == "ok" else None,
        "ci95": None,
        "flags": [],
        "device": {"name": "NVIDIA A100 (EMULATED)", "kind": kind, "imgs_per_s": 2470},
        "environment": {"feedrate_version": "0.1.0"},
        "started_at": "2026-11-21T08:53:11Z",
    }
    if status == "ok":
        step = 1e3 * 256 / rate
        result.update(
            ci95=[rate * 0.99, rate * 1.02],
            device_idle_fraction=0.25,
            step_ms=summary([step, step * 1.1, step * 9, step]),
            data_wait_ms=summary([0.0, step * 0.1, step * 8, 1.0]),
        )
        if role == "cell" and cell["data"] != "synthetic":
            result["stages"] = [
                {"name": "read", "wall_s": 1.0, "cpu_s": 0.25, "items": 1000, "bytes": 5e7},
                {"name": "decode", "wall_s": 3.0, "cpu_s": 2.9, "items": 1000, "bytes": 5e7},
            ]
            result["capacities"] = [
                {"resource": "loader", "imgs_per_s": rate, "largest_stage": "decode"},
                {"resource": "device", "imgs_per_s": 9000, "largest_stage": "step"},
            ]
    return {**result, **changes}


def repetitions(count=2, ceiling=1000.0, drift=0.0, cells=(("jpeg", 400.0),), **changes):
    """`count` repetitions: the ceiling first and last, the cells between."""
    records = []
    for n in range(count):
        wobble = 1 + 0.002 * n
        records.append(record(axes(**changes), ceiling * wobble, n, "ceiling"))
        records += [record(axes(data, **changes), rate * wobble, n) for data, rate in cells]
        records.append(
            record(axes(**changes), ceiling * wobble * (1 + drift), n, "ceiling", place=1)
        )
    return records


def in_pairs(found, ceiling, pairs=8):
    """Makes the record one of a run in pairs, as schema 4 has it: its steps are divided among the
    blocks, and those of the ceiling came to about so many images/s. Without the share's interval.
    """
    steps, images = found["step_ms"]["raw"], found["cell"]["batch-size"] * found["cell"]["gpus"]
    pairs = min(pairs, len(steps))
    edges = [i * len(steps) // pairs for i in range(pairs + 1)]
    blocks = [steps[a:b] for a, b in zip(edges, edges[1:])]
    off = [0.01 * (i * 3 % 5 - 2) for i in range(pairs)]
    made = {
        "cell_steps": [len(block) for block in blocks],
        "cell_s": [sum(block) / 1e3 for block in blocks],
        "ceiling_steps": [len(block) + 1 for block in blocks],
        "ceiling_s": [(len(b) + 1) * images / ceiling * (1 + o) for b, o in zip(blocks, off)],
        "ceiling_first": [i % 3 == 0 for i in range(pairs)],
    }
    work_rate = found.get("device_rate", {}).get("imgs_per_s") or found["imgs_per_s"]
    made["cell_busy_s"] = [n * images / work_rate for n in made["cell_steps"]]
    made["ceiling_busy_s"] = [s / 1.01 for s in made["ceiling_s"]]
    made["took_s"] = 1.05 * (sum(made["cell_s"]) + sum(made["ceiling_s"]))
    reached = sum(made["ceiling_steps"]) * images / sum(made["ceiling_s"])
    found.update(
        schema="feedrate.result/4",
        valid=True,
        pairs=made,
        ceiling_imgs_per_s=reached,
        ceiling_device_rate={"imgs_per_s": 1.01 * reached, "ci95": None},
        ceiling_fraction=found["imgs_per_s"] / reached,
        ceiling_fraction_ci95=None,
    )
    return found


def paired(count=2, ceiling=1000.0, cells=(("jpeg", 400.0),), **changes):
    """`count` repetitions of cells that are measured in pairs, without a run of their ceiling."""
    return [
        in_pairs(record(axes(data, **changes), rate * wobble, n), ceiling * wobble)
        for n in range(count)
        for wobble in [1 + 0.002 * n]
        for data, rate in cells
    ]


def series(seconds=8, **changes):
    """`monitors` of schema 2 with its series; one value is unknown (-1)."""
    ramp = [round(0.1 + 0.8 * n / max(seconds - 1, 1), 3) for n in range(seconds)]
    lists = {
        "at_s": list(range(seconds)),
        "cpu_busy": ramp,
        "cpu_iowait": [0.05] * seconds,
        "cpu_steal": [0.0] * seconds,
        "cpu_other_processes": [0.01] * seconds,
        "psi_cpu_some": ramp,
        "psi_io_some": [0.02] * seconds,
        "psi_memory_some": [-1] * seconds,
        "disk_read_bytes_per_s": [2.5e8] * (seconds - 1) + [-1],
        "network_receive_bytes_per_s": [1e4] * seconds,
        "memory_available_bytes": [8 << 30] * seconds,
    }
    return {
        "cpu_busy": 0.5,
        "cpu_iowait": 0.05,
        "cpu_steal": 0.0,
        "cpu_other_processes": 0.01,
        "psi_cpu_some": 0.5,
        "psi_io_some": 0.02,
        "psi_memory_some": -1,
        "storage_read_bytes": 40_000_000,
        "series": lists,
        **changes,
    }


def gpu(seconds=8):
    """`ranks[].gpu`: readings of NVML."""
    names = (
        "utilisation_percent",
        "memory_utilisation_percent",
        "sm_mhz",
        "memory_mhz",
        "power_w",
        "power_limit_w",
        "temperature_c",
        "memory_used_mb",
        "pcie_rx_mb_s",
        "pcie_tx_mb_s",
    )
    return {
        "seconds": list(range(seconds)),
        "throttled": "",
        **{n: [50 + i] * seconds for i, n in enumerate(names)},
    }


def second(records, seconds=8):
    """The records as schema 2 writes them."""
    for r in records:
        serious = any(f.get("severity") == "serious" for f in r["flags"])
        r.update(schema="feedrate.result/2", valid=r["status"] == "ok" and not serious)
        r["environment"].update(
            command=["feedrate", "sweep", "-o", "out"], host="host", git_commit="0123456789ab"
        )
        if r["status"] == "ok":
            r.update(
                window_s=2.0, monitors=series(seconds), ranks=[{"rank": 0, "gpu": gpu(seconds)}]
            )
    return records


def read_more(record, seconds=12, gpus=0, **changes):
    """The record in schema 2, with a data set, readings of the host once a second and of `gpus`
    GPUs."""
    real = record["role"] == "cell"
    record.update(
        {
            "schema": "feedrate.result/2",
            "window_s": float(seconds),
            "steps": 40,
            "warmup_s": 2.0,
            "seed": 7,
            "place": 0,
            "valid": (
                record["status"] == "ok"
                and not any(f["severity"] == "serious" for f in record["flags"])
            ),
            "monitors": {
                "cpu_busy": 0.64,
                "cpu_iowait": 0.02,
                "cpu_other_processes": 0.01,
                "psi_memory_some": -1,
                "storage_read_bytes": 2.5e7 * seconds if real else 0,
                "series": _host_series(seconds),
            },
            "ranks": (
                [{"rank": i, "gpu": _gpu_series(seconds)} for i in range(gpus)]
                or [{"rank": 0, "gpu": None}]
            ),
            "dataset": (
                {
                    "variant": "jpeg/500x375",
                    "samples": 10000,
                    "mean_bytes": 112345,
                    "manifest_xxh3": "0123456789abcdef",
                }
                if real
                else None
            ),
            "environment": _environment(),
            "limits": {
                "warmup_seconds": 1.0,
                "max_warmup_seconds": 60.0,
                "min_seconds": 3.0,
                "max_seconds": 120.0,
                "min_steps": 20,
            },
            **changes,
        }
    )
    return record


def _host_series(seconds):
    n = range(seconds)
    return {
        "at_s": [1.0 * i for i in n],
        "cpu_busy": [0.6 + 0.02 * (i % 5) for i in n],
        "cpu_iowait": [0.02] * seconds,
        "cpu_steal": [0.0] * seconds,
        "cpu_other_processes": [0.01 * (i % 3) for i in n],
        "psi_cpu_some": [0.3] * seconds,
        "psi_io_some": [0.1] * seconds,
        "psi_memory_some": [-1] * seconds,
        "disk_read_bytes_per_s": [4e7 + 1e6 * i for i in n],
        "network_receive_bytes_per_s": [1e4] * seconds,
        "memory_available_bytes": [2.0e10 - 1e7 * i for i in n],
    }


def _gpu_series(seconds):
    n = range(seconds)
    return {
        "seconds": [1.0 * i for i in n],
        "utilisation_percent": [90 - i % 7 for i in n],
        "sm_mhz": [1980] * seconds,
        "power_w": [610 + i for i in n],
        "temperature_c": [60 + i // 3 for i in n],
    }


def _environment():
    return {
        "feedrate_version": "0.1.0",
        "git_commit": "0123abcd",
        "compiler": "12.2.0",
        "opencv": "4.6.0",
        "host": "node_1",
        "kernel": "Linux 6.1",
        "os": "Debian 12",
        "libc": "2.36",
        "cpu": {"model": "Some CPU @ 2 GHz", "cores": 8, "numa_nodes": 1, "governor": ""},
        "memory": {
            "total": "24684096 kB",
            "swap": "0 kB",
            "transparent_huge_pages": "madvise",
        },
        "nvidia_driver": "",
        "gpus": [],
        "command": ["feedrate", "sweep"],
        "config": None,
    }


def write(folder, records, tail=""):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "ledger.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(json.dumps(r) + "\n" for r in records) + tail)
    return path
