"""Ledgers of made-up repetitions whose truth is known: what compare and the report say of them is
judged by the very commands that users run."""

import json
import math
import os
import subprocess

# What one repetition's log rate is off by: zero on average, with a standard deviation of `size`.
NOISES = {
    "normal": lambda source, size: source.gauss(0, size),
    "skewed (exponential slow-downs)": lambda source, size: (
        size - source.expovariate(1 / size) if size else 0.0
    ),
    "skewed (one in ten loses 3 sigma)": lambda source, size: (
        source.gauss(0, 0.436 * size) + (0.3 * size - (3 * size if source.random() < 0.1 else 0))
    ),
}
AXES = {
    "device": "cuda",
    "gpus": 1,
    "model": "resnet50",
    "precision": "fp16",
    "input-size": "224x224",
    "cache": None,
    "image-size": None,
    "workers": None,
}


def axes(data, batch, **more):
    """A cell's axes. Each batch size is a setting: many settings in a ledger keep the calls few."""
    return {
        **AXES,
        "data": data,
        "batch-size": batch,
        **({} if data == "synthetic" else {"cache": "none", "image-size": "224x224", "workers": 1}),
        **more,
    }


def drift(slope, at):
    """The machine's log speed at a place within a repetition, from -0.5 (the opening ceiling) to
    0.5 (the closing one)."""
    return slope * at


class Ledger:
    """A ledger in the making; write() puts it into a folder."""

    def __init__(self, start, whole=False):
        self.start, self.whole, self.lines, self.count = start, whole, [], 0

    def add(self, cell, rate, repetition, place=0, ceiling=None):
        """A run; of one in pairs, the images/s of its `ceiling` as well."""
        record = {
            "schema": "feedrate.result/4",
            "cell": cell,
            "cell_id": "/".join(str(v) for v in cell.values()),
            "role": "ceiling" if cell["data"] == "synthetic" else "cell",
            "repetition": repetition,
            "order": self.count,
            "place": place,
            "status": "ok",
            "error": None,
            "imgs_per_s": rate,
            "ci95": None,
            "flags": [],
            "valid": True,
            "device": {"name": "NVIDIA H100", "kind": "cuda"},
            "environment": {},
            "started_at": f"{self.start}T00:00:00Z",
            "window_s": 64 / rate,
            **({} if ceiling is None else _in_pairs(cell, rate, ceiling)),
        }
        self.lines.append(json.dumps({**record, **(_inner(record) if self.whole else {})}))
        self.count += 1

    def write(self, folder):
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "ledger.jsonl"), "w", encoding="utf-8") as file:
            file.write("\n".join(self.lines) + "\n")
        return folder


def _in_pairs(cell, rate, ceiling):
    """What a record says of the ceiling of a run in pairs."""
    steps = [10] * 4
    images = cell["batch-size"] * cell["gpus"] * steps[0]
    pairs = {
        "cell_steps": steps,
        "cell_s": [images / rate] * len(steps),
        "ceiling_steps": steps,
        "ceiling_s": [images / ceiling] * len(steps),
        "cell_busy_s": [images / rate] * len(steps),
        "ceiling_busy_s": [images / ceiling] * len(steps),
        "ceiling_first": [False, True] * 2,
        "took_s": 2 * len(steps) * images * (1 / rate + 1 / ceiling),
    }
    return {"pairs": pairs, "ceiling_imgs_per_s": ceiling, "ceiling_fraction": rate / ceiling}


def _inner(record):
    """What the other figures are drawn from: steps, waits, stages and bytes, the same in every run
    but for the rate."""
    cell, rate = record["cell"], record["imgs_per_s"]
    images, step = (
        40 * cell["batch-size"] * cell["gpus"],
        1e3 * cell["batch-size"] * cell["gpus"] / rate,
    )

    def summary(values):
        return {
            "median": values[0],
            "mean": sum(values) / len(values),
            "p95": max(values),
            "p99": max(values),
            "max": max(values),
            "raw": values,
        }

    inner = {
        "steps": 40,
        "images": images,
        "window_s": images / rate,
        "step_ms": summary([step] * 40),
        "data_wait_ms": summary([0.02 * step] * 40),
        "device_idle_fraction": 0.02,
        "monitors": {
            "storage_read_bytes": 110_000 * images,
            "cpu_busy": 0.7,
            "series": {"at_s": [0.5, 1.5, 2.5], "cpu_busy": [0.7] * 3},
        },
    }
    if cell["data"] != "synthetic":
        inner.update(
            dataset={"variant": cell["data"], "samples": 1000, "mean_bytes": 110_000},
            stages=[
                {
                    "name": "read",
                    "wall_s": 0.0002 * images,
                    "cpu_s": 0.0001 * images,
                    "items": images,
                    "bytes": 110_000 * images,
                },
                {
                    "name": "decode",
                    "wall_s": 0.0015 * images,
                    "cpu_s": 0.0015 * images,
                    "items": images,
                    "bytes": 0,
                },
            ],
        )
    return inner


def repetition(
    ledger,
    source,
    number,
    batch,
    cells,
    noise,
    size,
    slope=0.0,
    places=None,
    ceiling=1000.0,
    gpus=1,
    in_pairs=True,
):
    """One repetition of a setting: the cells [(axes, true rate), …] at random places. Each is in
    pairs with its ceiling, its rate and its share of the ceiling both noisy; or the ceiling is
    measured before them and after them."""

    def noisy(true, at=0.0):
        return true * math.exp(NOISES[noise](source, size) + drift(slope, at))

    top = axes("synthetic", batch, gpus=gpus)
    if not in_pairs:
        ledger.add(top, noisy(ceiling, -0.5), number)
    for i, (cell, true) in enumerate(cells):
        rate = noisy(true, places[i] if places else source.uniform(-0.5, 0.5))
        own = rate / noisy(true / ceiling) if in_pairs else None
        ledger.add(cell, rate, number, ceiling=own)
    if not in_pairs:
        ledger.add(top, noisy(ceiling, 0.5), number, 1)


def answer(program, *words):
    """stdout of the command; it must not fail."""
    done = subprocess.run(
        [program, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        check=False,
    )
    if done.returncode not in (0, 3):
        raise RuntimeError(f"feedrate {' '.join(words)}: {done.stderr[-500:]}")
    return done.stdout
