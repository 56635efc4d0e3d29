"""What gpu-check measures in half an hour of a GPU: the parts in their order, in calls of ten
minutes, the most valuable first, and how long each is likely to take."""

import json
import pathlib
import statistics
from dataclasses import dataclass

import gpu_parts as parts

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEASURED = ROOT / "results" / "reference" / "h200" / "gpu_check.jsonl"
CALL_S = 540  # what is planned of a call of ten minutes

# Seconds, on an H200 with 16 CPUs where something else was not measured.
CELL_IN_SWEEP_S = 8.2  # rehearsed on two CPUs: its warm-up, pairs and queue
FIRST_START_S = 15.0  # more, of the first process on a machine
SHORT_S = 3.0  # the window of a run by itself
EMULATED_START_S = 1.5  # with its warm-up
PICTURE_CPU_S = 0.15  # to draw and store one in one size, of 500x375
KERNEL_CHECKS_S = 20.0
CPUS = 16
GPU_IMGS_PER_S = 7490
# What one worker makes of 500x375, images/s: 16 made 7,538 JPEGs at least; PNGs take three times
# as long, tensors hardly any time.
A_WORKER_MAKES = {"tensor": 4000, "jpeg": 471, "png": 157}
WARM_STEPS, LEAST_STEPS = 16, 8  # a run is steady after so many, and has so many at least


def start_s():
    """Of a run on the GPU by itself: its process, LibTorch, the warm-up with cuDNN's search."""
    rows = [json.loads(line) for line in MEASURED.read_text().splitlines()]
    runs = [
        row for row in rows if row["record"].get("window_s") and "qualify_s" not in row["record"]
    ]
    return statistics.median(row["took_s"] - row["record"]["window_s"] for row in runs)


def runs_s(count):
    return count * (start_s() + SHORT_S)


def slower_s(kind, workers, batch, device_imgs_per_s):
    """How much longer a run of this cell takes than one whose steps are short."""
    step_s = batch / min(device_imgs_per_s, workers * A_WORKER_MAKES[kind])
    return max(0, WARM_STEPS * step_s - 1) + max(0, LEAST_STEPS * step_s - SHORT_S)


def slow_cells_s():
    """Of the part `emulator`, on both devices."""
    return 2 * sum(
        slower_s(kind, workers, 256, GPU_IMGS_PER_S)
        for kind in parts.KINDS
        for workers in parts.EMULATED_WORKERS
    )


def slow_scaling_s():
    return sum(
        slower_s(kind, workers, parts.SCALING_BATCH, float("inf"))
        for kind in parts.KINDS[1:]
        for workers in parts.SCALING_WORKERS
    )


def pictures_s(count):
    return count * PICTURE_CPU_S / CPUS


@dataclass(frozen=True)
class Part:
    name: str
    call: int  # of ten minutes, in which it is measured
    shows: str
    work: object  # work(bench) yields its section of the table so far, see gpu_parts.py
    likely_s: object  # () -> seconds


ORDER = [
    Part(
        "gen",
        1,
        "pictures on this machine's CPUs; kernels beside fp64 meanwhile",
        parts.gen,
        lambda: FIRST_START_S + max(KERNEL_CHECKS_S, pictures_s(parts.PICTURES_IN_ALL)),
    ),
    Part(
        "sweep",
        1,
        "tensor, JPEG and PNG over sizes and workers, in pairs with the ceiling",
        parts.sweep,
        lambda: parts.REPETITIONS * (start_s() + parts.cells_of_sweep() * CELL_IN_SWEEP_S),
    ),
    Part(
        "large",
        1,
        "pictures of 768x768",
        parts.large,
        lambda: parts.REPETITIONS * (start_s() + 2 * CELL_IN_SWEEP_S),
    ),
    Part(
        "emulator",
        2,
        "whether an emulated GPU starves when the real one does",
        parts.emulator,
        lambda: (
            FIRST_START_S
            + pictures_s(1.3 * parts.COUNT)
            + runs_s(1 + parts.EMULATED_CELLS + parts.ceilings_of_emulator())
            + parts.EMULATED_CELLS * (EMULATED_START_S + SHORT_S)
            + slow_cells_s()
        ),
    ),
    Part(
        "turns",
        2,
        "what each change of the step gains: two runs of either, in turns",
        parts.turns,
        lambda: runs_s(parts.runs_of_turns()),
    ),
    Part(
        "scaling",
        3,
        "the loader alone over workers",
        parts.scaling,
        lambda: parts.cells_of_scaling() * (EMULATED_START_S + SHORT_S) + slow_scaling_s(),
    ),
    Part("trace", 3, "one step of each way, kernel by kernel", parts.trace, lambda: runs_s(4)),
    Part("peers", 3, "beside PyTorch, in turns", parts.peers, lambda: parts.PEERS_S),
    Part("sanitizer", 3, "kernels under compute-sanitizer", parts.sanitizer, lambda: 120.0),
    Part("ncu", 3, "kernels in Nsight Compute", parts.ncu, lambda: 60.0),
    Part(
        "compile-max",
        4,
        "beside torch.compile's mode max-autotune",
        parts.compile_max,
        lambda: parts.COMPILE_MAX_S,
    ),
]
NAMES = [part.name for part in ORDER]


def of_call(number):
    return [part.name for part in ORDER if part.call == number]


def plan_text(names):
    """The parts, and how long they and their calls are likely to take."""
    chosen = [part for part in ORDER if part.name in names]
    lines = [
        f"{part.name:12} call {part.call}  about {part.likely_s():4.0f} s  {part.shows}"
        for part in chosen
    ]
    for call in sorted({part.call for part in chosen}):
        seconds = sum(part.likely_s() for part in chosen if part.call == call)
        lines.append(f"call {call}: about {seconds:.0f} s")
    return "\n".join(lines)
