"""Small ledgers built in code, for the tests beside this file."""
import hashlib
import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPTS = os.path.join(ROOT, "scripts")
if SCRIPTS not in sys.path:
    sys.path.insert(0, SCRIPTS)

LOADER_AXES = {"cache": None, "image-size": None, "tensor-dtype": None, "loader": None,
               "workers": None, "prefetch": None, "transfer": None, "pin-memory": None}


def axes(data="synthetic", **changes):
    cell = {"device": "emulated:a100", "gpus": 1, "model": "resnet50", "batch-size": 256,
            "precision": "fp16", "input-size": "224x224", "data": data, **LOADER_AXES}
    if data != "synthetic":
        cell.update({"cache": "none", "loader": "pool", "workers": 2, "prefetch": 4,
                     "transfer": "uint8", "pin-memory": True,
                     "image-size": None if data == "tensor" else "500x375"})
    if data == "tensor":
        cell["tensor-dtype"] = "uint8"
    return {**cell, **changes}


def summary(values):
    ordered = sorted(values)
    return {"median": ordered[len(ordered) // 2], "mean": sum(values) / len(values),
            "p95": ordered[-1], "p99": ordered[-1], "max": ordered[-1], "raw": values}


def record(cell, rate, repetition=0, role="cell", status="ok", **changes):
    """A record as feedrate writes it; rate None where status is not ok."""
    cell_id = hashlib.md5(json.dumps(cell, sort_keys=True).encode()).hexdigest()[:16]
    kind = str(cell["device"]).split(":")[0]
    result = {
        "schema": "feedrate.result/1", "cell": cell, "cell_id": cell_id, "role": role,
        "repetition": repetition, "order": 0, "status": status, "error": None,
        "imgs_per_s": rate if status == "ok" else None, "ci95": None, "flags": [],
        "device": {"name": "NVIDIA A100 (EMULATED)", "kind": kind, "imgs_per_s": 2470},
        "environment": {"feedrate": {"version": "0.1.0"}}, "started_at": "2026-11-21T08:53:11Z"}
    if status == "ok":
        step = 1e3 * 256 / rate
        result.update(
            ci95=[rate * 0.99, rate * 1.02], device_idle_fraction=0.25,
            step_ms=summary([step, step * 1.1, step * 9, step]),
            data_wait_ms=summary([0.0, step * 0.1, step * 8, 1.0]))
        if role == "cell" and cell["data"] != "synthetic":
            result["stages"] = [
                {"name": "read", "wall_s": 1.0, "cpu_s": 0.25, "items": 1000, "bytes": 5e7},
                {"name": "decode", "wall_s": 3.0, "cpu_s": 2.9, "items": 1000, "bytes": 5e7}]
            result["capacities"] = [
                {"resource": "loader", "imgs_per_s": rate, "largest_stage": "decode"},
                {"resource": "device", "imgs_per_s": 9000, "largest_stage": "step"}]
    return {**result, **changes}


def repetitions(count=2, ceiling=1000.0, drift=0.0, cells=(("jpeg", 400.0),), **changes):
    """`count` repetitions: the ceiling first and last, the cells between."""
    records = []
    for n in range(count):
        wobble = 1 + 0.002 * n
        records.append(record(axes(**changes), ceiling * wobble, n, "ceiling"))
        records += [record(axes(data, **changes), rate * wobble, n) for data, rate in cells]
        records.append(record(axes(**changes), ceiling * wobble * (1 + drift), n, "ceiling"))
    return records


def write(folder, records, tail=""):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "ledger.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(json.dumps(r) + "\n" for r in records) + tail)
    return path
