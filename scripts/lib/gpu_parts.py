"""The parts of gpu-check that are more than a cell: each yields its section of the table, a record
with `columns` and `rows`, as soon as a row has ended."""

import itertools
import json
import os
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field

import kernel_groups
from cuda_checks import run_checks
from timed_run import last_line, timed_run

# Ways of making a step that an H200 has chosen, and what has been made since: typed, they need no
# qualification, and no cell lacks the time for one.
BEST = {
    "memory-format": "channels_last",
    "batch-norm": "fused",
    "optimizer": "fused",
    "master-weights": "on",
    "cudnn-benchmark": "on",
    "cuda-graph": "on",
    "stem": "space-to-depth",
    "graph-memsets": "nodes",
}
# What is typed instead where a check of this name has failed.
WITHOUT = {
    "CudaBatchNorm": ("batch-norm", "library"),
    "CudaSpaceToDepth": ("stem", "convolution"),
    "CudaNormalise": ("stem", "convolution"),
}
# The checks of the kernels alone; all of them take a minute (part `checks`).
OF_KERNELS = "CudaBatchNorm.*:CudaSpaceToDepth.*:CudaNormalise*.*:CudaStep.KernelsTake*"

SIZES, LARGE = ("224x224", "500x375"), "768x768"
COUNT = 1024  # and a quarter of the large ones
# In pictures of 500x375, which one of 224x224 is about a quarter of; PNG of the large ones, too.
PICTURES_IN_ALL = int(COUNT * 1.3 + COUNT / 4 * 3.2)
WORKERS, REPETITIONS = (2, 4, 8, 16), 2
KINDS = ("tensor", "jpeg", "png")
EMULATED_WORKERS = (2, 8, 16)
EMULATED_CELLS = len(KINDS) * len(EMULATED_WORKERS)
SCALING_WORKERS = (1, 2, 4, 8, 12, 16)
SCALING_BATCH = 64  # one worker makes no 256 pictures a second of every kind
BATCHES = (256, 400, 512)
TURNS = 2  # of either way
PEERS_S, COMPILE_MAX_S = 240.0, 480.0
RUN_S = 90.0  # of one run, before it counts as hanging
TOOL_S = 120.0  # of a tool that takes kernels apart


def cells_of_sweep():
    return len(WORKERS) * (1 + 2 * len(SIZES))  # a tensor has the input's size


def cells_of_scaling():
    return 2 * len(SCALING_WORKERS)


def runs_of_turns():
    return 5 * 2 * TURNS + len(BATCHES)


def ceilings_of_emulator():
    return len(KINDS)  # one behind each kind's cells


@dataclass
class Bench:
    """What all parts share."""

    a: object  # the options that were typed
    program: object
    folder: object  # for ledgers and traces, beside the table
    data: object  # where the pictures lie, or will
    until: float = float("inf")
    ways: dict = field(default_factory=lambda: dict(BEST))
    checks: dict = None
    seen: dict = field(default_factory=dict)  # the device and the build, of the first record

    @property
    def trains(self):
        """Not in a rehearsal on an emulated GPU."""
        return self.a.device.startswith("cuda")

    def has_failed(self, check):
        """Of test_cuda, by a part of its name."""
        return check in str((self.checks or {}).get("error"))

    def left_s(self):
        return max(self.until - time.monotonic(), 0.1)

    def typed(self, ways=None, precision="auto"):
        """The words that say how a step is made."""
        if not self.trains:
            return []
        ways = self.ways if ways is None else ways
        return [
            "--precision",
            precision,
            *itertools.chain(*((f"--{k}", v) for k, v in ways.items())),
        ]

    def setting(self, batch=None):
        words = ["--model", self.a.model, "--batch-size", str(batch or self.a.batch_size)]
        return [*words, "--input-size", str(self.a.input_size)]

    def call(self, *words, most_s=float("inf")):
        """(exit code or None, stdout, stderr) of the program."""
        arguments = [str(self.program), *map(str, words)]
        print(f"$ {shlex.join(arguments)}", file=sys.stderr, flush=True)
        return timed_run(arguments, min(self.left_s(), most_s))

    def run(self, *words, device=None, batch=None):
        """The record of one run without a ceiling of its own, or a stand-in that says why not."""
        limits = ["--min-seconds", self.a.seconds, "--max-seconds", 4 * self.a.seconds]
        limits += ["--min-steps", "8", "--max-warmup-seconds", "30"]
        code, out, err = self.call(
            *("run", "--device", device or self.a.device, *self.setting(batch)),
            *(*limits, "--json", *words),
            most_s=RUN_S,
        )
        try:
            record = json.loads(last_line(out))
        except json.JSONDecodeError:
            why = last_line(err) or f"ended with code {code}"
            late = "no time left" if self.left_s() < 1 else f"no result within {RUN_S:.0f} s"
            return {"status": "failed", "error": late if code is None else why}
        if not str(device).startswith("emulated"):
            self.see(record)
        return record

    def see(self, record):
        if not self.seen and "device" in record:
            self.seen = {key: record[key] for key in ("device", "environment")}

    def large(self):
        """The folder of the large pictures."""
        return self.data.with_name(self.data.name + "-large")

    def make_pictures(self, has_large=True):
        """Yields (what, seconds, what went wrong) of either folder, of ImageNet's bytes; what is
        there stays."""
        for folder, sizes, count, formats in (
            (self.data, SIZES, self.a.count, "tensor,jpeg,png"),
            (self.large(), (LARGE,), max(self.a.count // 4, 1), "jpeg,png"),
        )[: 2 if has_large else 1]:
            began = time.monotonic()
            words = ["--format", formats, "--image-size", ",".join(sizes), "--count", count]
            words += ["--like", "imagenet", "--input-size", self.a.input_size]
            code, _, err = self.call("gen", folder, *words)
            wrong = "" if code == 0 else last_line(err) or "no time left"
            yield f"{count} of {' and '.join(sizes)}", time.monotonic() - began, wrong

    def need_pictures(self):
        """Those that an earlier call has made, or the same anew."""
        for _ in self.make_pictures(has_large=False):
            pass

    @property
    def libraries(self):
        """A bundle's, for its programs."""
        return self.program.parent.parent / "lib"

    @property
    def checks_program(self):
        return self.a.checks or self.program.parent / "test_cuda"


def in_turns(turn, both):
    """Either comes first as often as the other."""
    return both if turn % 2 == 0 else reversed(both)


def section(columns, rows, wrong=()):
    """A record of the table. `wrong`: lines that say what has failed."""
    record = {"status": "failed" if wrong else "ok", "columns": columns, "rows": rows}
    return record | ({"error": "; ".join(wrong)} if wrong else {})


def of_run(record):
    """Its rate, or what went wrong."""
    if record.get("status") != "ok":
        return str(record.get("error") or record.get("status")).replace("|", "/")
    mark = "" if record.get("valid", True) else " (must not be quoted)"
    return f"{record['imgs_per_s']:.0f}{mark}"


def gen(bench):
    """Pictures of ImageNet's kind, and bin/test_cuda beside it."""
    columns = ["what", "result", "seconds"]
    checks = threading.Thread(target=_check, args=(bench,), daemon=True)
    checks.start()
    rows, wrong = [], []
    for what, took_s, failed in bench.make_pictures():
        rows.append(["pictures", failed or what, f"{took_s:.1f}"])
        wrong += [failed] if failed else []
        yield section(columns, rows, wrong)
    checks.join(timeout=min(bench.left_s(), 3600))
    found = bench.checks or {"status": "failed", "error": "no time left"}
    _leave_out(bench)
    said = found.get("checks") or found.get("error")
    without = [f"{k}={v}" for k, v in bench.ways.items() if BEST[k] != v]
    then = f"; from here on, and in other calls: --ways {' '.join(without)}" if without else ""
    rows.append(["test_cuda", said + then, "-"])
    if found["status"] != "ok" and bench.trains:
        wrong.append(said)
    yield section(columns, rows, wrong)


def _check(bench):
    if not bench.trains:
        bench.checks = {"status": "failed", "error": "no GPU: not run"}
        return
    bench.checks = run_checks(bench.checks_program, bench.libraries, bench.left_s(), OF_KERNELS)


def _leave_out(bench):
    """A way of which a check has failed is not trained by."""
    for name, (axis, value) in WITHOUT.items():
        if bench.has_failed(name):
            bench.ways[axis] = value


def sweep(bench):
    words = ["--data", ",".join(KINDS), "--image-size", ",".join(SIZES)]
    words += ["--workers", ",".join(map(str, WORKERS))]
    yield _swept(bench, "sweep", bench.data, words)


def large(bench):
    words = ["--data", "jpeg,png", "--image-size", LARGE, "--workers", WORKERS[-1]]
    yield _swept(bench, "large", bench.large(), words)


def _swept(bench, name, data, words):
    """The cells of a ledger in the folder of that name, which `feedrate report` draws."""
    folder = bench.folder / name
    limits = ["--warmup-seconds", "0.3", "--max-warmup-seconds", "30"]
    limits += ["--min-seconds", bench.a.seconds, "--max-seconds", 2.7 * bench.a.seconds]
    limits += ["--repetitions", REPETITIONS]
    resumes = ["--resume"] if (folder / "ledger.jsonl").exists() else []
    code, _, err = bench.call(
        *("sweep", "--device", bench.a.device, *bench.setting(), *bench.typed()),
        *("--dataset", data, *words, *limits, "--quiet", "-o", folder, *resumes),
    )
    records = _records_of(folder / "ledger.jsonl")
    for record in records[:1]:
        bench.see(record)
    rows = list(_cells_of(records))
    columns = ["cell", "img/s", "ceiling, img/s", "of it", "device idle %", "repetitions", "flags"]
    why = "no time for all of it" if code is None else last_line(err)
    return section(columns, rows, [] if code == 0 else [why])


def _records_of(ledger):
    return [json.loads(line) for line in ledger.read_text().splitlines()] if ledger.exists() else []


def _cells_of(records):
    """A row for each cell: means over its repetitions."""
    cells = {}
    for record in records:
        cells.setdefault(record["cell_id"], []).append(record)
    for of in sorted(cells.values(), key=lambda of: _place(of[0]["cell"])):
        good = [r for r in of if r["status"] == "ok" and r.get("valid", True)]
        flags = sorted({flag["name"] for r in of for flag in r.get("flags") or []})
        name = _name_of(of[0]["cell"])
        if not good:
            yield [name, "-", "-", "-", "-", f"0 of {len(of)}", ", ".join(flags) or of[-1]["error"]]
            continue
        rate, ceiling, share, idle = (
            statistics.mean(values) if values else None
            for values in (
                [r[key] for r in good if r.get(key) is not None]
                for key in (
                    "imgs_per_s",
                    "ceiling_imgs_per_s",
                    "ceiling_fraction",
                    "device_idle_fraction",
                )
            )
        )
        yield [
            name,
            f"{rate:.0f}",
            f"{ceiling:.0f}" if ceiling else "-",
            f"{share:.3f}" if share else "-",
            f"{100 * idle:.1f}",
            f"{len(good)} of {len(of)}",
            ", ".join(flags),
        ]


def _place(cell):
    kind = KINDS.index(cell["data"]) if cell["data"] in KINDS else -1
    return kind, str(cell.get("image-size")), cell.get("workers") or 0


def _name_of(cell):
    size, workers = cell.get("image-size"), cell.get("workers")
    words = (
        [cell["data"]] + ([str(size)] if size else []) + ([f"{workers} workers"] if workers else [])
    )
    return ", ".join(words)


def emulator(bench):
    """A share of the ceiling on the GPU, and on a device that replays its steps."""
    columns = ["cell", "share, GPU", "share, emulated", "difference", "CPUs, GPU", "CPUs, emulated"]
    bench.need_pictures()
    steps = bench.folder / "steps"
    recorded = bench.run("--data", "synthetic", *bench.typed(), "--record-steps", steps)
    if recorded.get("status") != "ok":
        yield section(columns, [], [f"steps were not recorded: {of_run(recorded)}"])
        return
    ceilings, cells, wrong = [recorded["imgs_per_s"]], [], []
    for number, (kind, workers) in enumerate(itertools.product(KINDS, EMULATED_WORKERS)):
        size = [] if kind == "tensor" else ["--image-size", SIZES[-1]]
        cell = ["--dataset", bench.data, "--data", kind, *size, "--workers", workers]
        turns = [
            ("GPU", bench.a.device, bench.typed()),
            ("emulated", f"emulated:trace={steps}", []),
        ]
        found = {
            name: bench.run(*cell, *ways, "--no-ceiling", device=device)
            for name, device, ways in in_turns(number, turns)
        }
        name = f"{kind}, {workers} workers"
        if any(record.get("status") != "ok" for record in found.values()):
            wrong.append(f"{name}: {'; '.join(map(of_run, found.values()))}")
        else:
            cells.append((KINDS.index(kind), name, found))
        if workers == EMULATED_WORKERS[-1]:
            again = bench.run("--data", "synthetic", *bench.typed())
            ceilings.append(again.get("imgs_per_s") or ceilings[-1])
        yield section(columns, _shares(cells, ceilings), wrong)


def _shares(cells, ceilings):
    """A row for each cell, and their summary. The GPU's share is of the ceilings before and behind
    its kind, as it may grow warm, the emulated one's of the steps that it replays."""
    rows, differences = [], []
    for kind, name, found in cells:
        of = {"GPU": statistics.mean(ceilings[kind : kind + 2]), "emulated": ceilings[0]}
        shares = {on: record["imgs_per_s"] / of[on] for on, record in found.items()}
        differences.append(shares["emulated"] - shares["GPU"])
        rows.append(
            [name, *(f"{shares[on]:.3f}" for on in ("GPU", "emulated"))]
            + [f"{differences[-1]:+.3f}", *(_cpus(found[on]) for on in ("GPU", "emulated"))]
        )
    largest = max(map(abs, differences), default=0)
    median = statistics.median(map(abs, differences)) if differences else 0
    rows.append(["median and largest difference", "", "", f"{median:.3f}, {largest:.3f}", "", ""])
    return rows


def _cpus(record):
    """CPUs that the process kept busy."""
    used = (record.get("monitors") or {}).get("process_cpu_s")
    return f"{used / record['window_s']:.1f}" if used else "-"


def scaling(bench):
    """The loader as fast as it can, on a device that takes any batch at once."""
    columns = ["cell", "img/s", "CPU ms a picture", "of linear"]
    bench.need_pictures()
    rows, wrong, first = [], [], {}
    for kind, workers in itertools.product(KINDS[1:], SCALING_WORKERS):
        words = ["--dataset", bench.data, "--data", kind, "--image-size", SIZES[-1]]
        words += ["--workers", workers, "--no-ceiling"]
        record = bench.run(
            *words, device="emulated:inf", batch=min(SCALING_BATCH, bench.a.batch_size)
        )
        name = f"{kind}, {workers} worker{'s' if workers > 1 else ''}"
        if record.get("status") != "ok":
            wrong.append(f"{name}: {of_run(record)}")
        else:
            rate = record["imgs_per_s"]
            each = first.setdefault(kind, rate / workers)
            used = (record.get("monitors") or {}).get("process_cpu_s")
            cpu = f"{1e3 * used / record['images']:.2f}" if used else "-"
            rows.append([name, of_run(record), cpu, f"{rate / workers / each:.2f}"])
        yield section(columns, rows, wrong)


def trace(bench):
    """The step of now, and as it was when it first ran on an H200, kernel by kernel."""
    columns = ["step", "kernels", "ms a step", "on an H200 before", "expected since"]
    before = {**bench.ways, "stem": "convolution"}
    rows, wrong = [], []
    for name, ways in (("best ways", bench.ways), ("without space-to-depth", before)):
        file = bench.folder / f"{name.replace(' ', '-')}.trace.json"
        kernels = ["--trace-operators"] if bench.trains else []
        words = ["--data", "synthetic", *bench.typed(ways), "--trace", file, *kernels]
        record = bench.run(*words)
        if record.get("status") == "ok":
            rows.append([f"{name}, {of_run(record)} img/s", file.name, "", "", ""])
            rows += [["", *row] for row in kernel_groups.rows(file)]
        else:
            wrong.append(f"{name}: {of_run(record)}")
        yield section(columns, rows, wrong)


def _ways_in_turns(bench):
    """(name, words, name of the other way, its words), the most valuable first."""
    synthetic = ["--data", "synthetic"]
    usual = [*synthetic, *bench.typed()]
    noise = "pictures", usual, "noise", [*usual, "--synthetic", "noise"]
    if not bench.trains:
        yield noise
        return

    def typed(way):
        return [*synthetic, *bench.typed(bench.ways | way)]

    in_16_bits = [[*synthetic, *bench.typed(precision=name)] for name in ("fp16", "bf16")]
    yield "fp16", in_16_bits[0], "bf16", in_16_bits[1]
    if bench.ways["cuda-graph"] == "on" and not bench.has_failed("GraphsMemsets"):
        kernels = typed({"graph-memsets": "kernels"})
        yield "the graph's memsets as kernels", kernels, "as nodes", usual
    yield noise
    if bench.ways["stem"] == "space-to-depth":
        yield "space-to-depth", usual, "convolution", typed({"stem": "convolution"})
    # Last: to try all of them may take minutes, and then counts as hanging.
    yield "all of cuDNN's plans", typed({"cudnn-benchmark": "all"}), "ten of them", usual


def turns(bench):
    """The rate over batch sizes, and two ways of one thing in turns."""
    columns = ["what", "img/s", "instead of", "img/s", "times", "in each turn"]
    rows, wrong, first = [], [], None
    for batch in BATCHES:
        record = bench.run("--data", "synthetic", *bench.typed(), batch=batch)
        if record.get("status") != "ok":
            wrong.append(f"batch of {batch}: {of_run(record)}")
        else:
            first = first or record["imgs_per_s"]
            rows.append(
                [f"batch of {batch}", of_run(record), f"batch of {BATCHES[0]}", f"{first:.0f}"]
                + [f"{record['imgs_per_s'] / first:.4f}", ""]
            )
        yield section(columns, rows, wrong)
    for name, words, other, other_words in _ways_in_turns(bench):
        ours, theirs = [], []
        for turn in range(TURNS):
            for into, some in in_turns(turn, [(ours, words), (theirs, other_words)]):
                into.append(bench.run(*some))
            if ours[-1].get("status") != "ok" or theirs[-1].get("status") != "ok":
                break
        if failed := [record for record in ours + theirs if record.get("status") != "ok"]:
            wrong.append(f"{name}: {of_run(failed[0])}")
        else:
            rates = [[r["imgs_per_s"] for r in of] for of in (ours, theirs)]
            means = [statistics.mean(of) for of in rates]
            each = ", ".join(f"{a / b:.4f}" for a, b in zip(*rates))
            rows.append(
                [name, f"{means[0]:.0f}", other, f"{means[1]:.0f}", f"{means[0] / means[1]:.4f}"]
                + [each]
            )
        yield section(columns, rows, wrong)


def peers(bench):
    yield _peers(bench, PEERS_S, "feedrate", "eager", "graph", "compile")


def compile_max(bench):
    yield _peers(bench, COMPILE_MAX_S, "feedrate", "compile-max")


def _peers(bench, seconds, *rows):
    table = bench.folder / f"peers-{rows[-1]}.md"
    script = pathlib.Path(__file__).resolve().parents[1] / "gpu-peers"
    arguments = [str(script), "--budget", str(int(seconds)), "-o", str(table), "--rows", *rows]
    ways = shlex.join(f"--{k}={v}" for k, v in bench.ways.items())  # nothing is qualified
    found = _by_another(bench, [*arguments, f"--feedrate-options={ways}"], table.name)
    if bench.trains and found["status"] == "ok":
        lines = table.read_text().splitlines() if table.exists() else []
        ratios = sum(" to " in line for line in lines)  # with their intervals
        if ratios < len(rows) - 1:
            error = f"{ratios} of {len(rows) - 1} were measured: see {table.name}"
            return found | {"status": "failed", "error": error}
    return found


def sanitizer(bench):
    names = "CudaBatchNorm.PoolsAsTheLibraryDoes:CudaNormalise.*:CudaStep.KernelsTake*"
    rows, wrong = [], []
    for check in ("memcheck", "racecheck"):
        tool = ["compute-sanitizer", "--tool", check, "--error-exitcode", "9"]
        tool += [str(bench.checks_program), f"--gtest_filter={names}"]
        found = _by_another(bench, tool, check, TOOL_S)
        rows += found["rows"]
        wrong += [found["error"]] if "error" in found else []
        yield section(found["columns"], rows, wrong)


def ncu(bench):
    """This program's kernels in one step, as CSV: their times, bytes and occupancy."""
    file = bench.folder / "kernels.csv"
    step = [str(bench.program), "run", "--device", bench.a.device, *bench.setting()]
    step += [
        "--data",
        "synthetic",
        "--no-ceiling",
        *bench.typed(bench.ways | {"cuda-graph": "off"}),
    ]
    step += ["--warmup-seconds", "0", "--max-warmup-seconds", "1", "--min-seconds", "0.1"]
    tool = ["ncu", "--clock-control", "none", "--target-processes", "all"]
    tool += ["--kernel-name", "regex:feedrate|Sum|Finish|Input|Pool|Norm", "--launch-count", "60"]
    tool += ["--csv", "--page", "raw", "--log-file", str(file)]
    yield _by_another(bench, [*tool, *step], file.name, TOOL_S)


def _by_another(bench, arguments, says, most_s=float("inf")):
    columns = ["command", "said", "in"]
    if not bench.trains or not shutil.which(arguments[0]):
        said = "no GPU: not run" if not bench.trains else "not on this machine"
        return section(columns, [[os.path.basename(arguments[0]), said, "-"]])
    print(f"$ {shlex.join(arguments)}", file=sys.stderr, flush=True)
    path = f"{bench.libraries}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    code, out, err = timed_run(
        arguments,
        min(bench.left_s(), most_s),
        stdin=subprocess.DEVNULL,
        env={**os.environ, "LD_LIBRARY_PATH": path},
    )
    said = "no time left" if code is None else last_line(out) or last_line(err)
    rows = [[os.path.basename(arguments[0]), said.replace("|", "/"), says]]
    return section(columns, rows, [] if code == 0 else [said])
