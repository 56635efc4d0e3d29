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
CPUS = 16


def start_s():
    """Of a run on the GPU by itself: its process, LibTorch, the warm-up with cuDNN's search."""
    rows = [json.loads(line) for line in MEASURED.read_text().splitlines()]
    runs = [
        row for row in rows if row["record"].get("window_s") and "qualify_s" not in row["record"]
    ]
    return statistics.median(row["took_s"] - row["record"]["window_s"] for row in runs)


def runs_s(count):
    return count * (start_s() + SHORT_S)


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
        lambda: FIRST_START_S + parts.PICTURES_IN_ALL * PICTURE_CPU_S / CPUS,
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
            runs_s(1 + parts.EMULATED_CELLS) + parts.EMULATED_CELLS * (EMULATED_START_S + SHORT_S)
        ),
    ),
    Part(
        "scaling",
        2,
        "the loader alone over workers",
        parts.scaling,
        lambda: parts.cells_of_scaling() * (EMULATED_START_S + SHORT_S),
    ),
    Part("trace", 2, "one step of each way, kernel by kernel", parts.trace, lambda: runs_s(4)),
    Part(
        "turns",
        2,
        "what each change of the step gains: two runs of either, in turns",
        parts.turns,
        lambda: runs_s(parts.runs_of_turns()),
    ),
    Part("peers", 3, "beside PyTorch, in turns", parts.peers, lambda: parts.PEERS_S),
    Part(
        "compile-max",
        3,
        "beside torch.compile's mode max-autotune",
        parts.compile_max,
        lambda: parts.COMPILE_MAX_S,
    ),
    Part("sanitizer", 3, "kernels under compute-sanitizer", parts.sanitizer, lambda: 60.0),
    Part("ncu", 3, "kernels in Nsight Compute", parts.ncu, lambda: 60.0),
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
