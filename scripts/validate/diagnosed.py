"""Bottlenecks that are planted, and what `feedrate diagnose` names."""

import json
import math
import os
import random
import subprocess
import tempfile

BATCH = 16
BALANCED_MS = 20.0  # of a batch: what the loaders take where nothing is planted beyond them
WORKERS = 2
SIZE = "64x64"
PICTURES = 512


class Case:
    """A cell with a known bottleneck: the options that plant it, and the names that are right."""

    def __init__(self, kind, factor, names, options, rate, workers=WORKERS, gpus=1):
        self.kind, self.factor, self.names = kind, factor, names
        self.options, self.rate, self.workers, self.gpus = options, rate, workers, gpus

    def command(self, program, data, budget, seed):
        return [
            program,
            "diagnose",
            *("--dataset", data, "--data", "jpeg", "--image-size", SIZE, "--input-size", "64"),
            *("--device", f"emulated:{self.rate:.6g}", "--batch-size", str(BATCH)),
            *("--workers", str(self.workers), "--gpus", str(self.gpus)),
            *("--budget", budget, "--seed", str(seed), "--json"),
            *self.options,
        ]


def _per_sample(batch_ms, workers=WORKERS):
    return batch_ms * workers / BATCH


def _plant(**times):
    words = []
    for place, ms in times.items():
        words += ["--plant", f"{place.replace('_', '-')}={ms}"]
    return words


def _rate(step_ms):
    return 1e3 * BATCH / step_ms


# What the real work takes of each sample is small beside what is planted, and part of neither.
def loader_stage(stage, factor, workers=WORKERS):
    """One stage takes `factor` times as long as the step, all workers together."""
    planted = _plant(**{stage: f"{_per_sample(factor * BALANCED_MS, workers):.4f}"})
    return Case(stage, factor, {stage}, planted, _rate(BALANCED_MS), workers)


def copy(factor):
    others = f"{_per_sample(BALANCED_MS):.4f}"
    planted = _plant(copy=f"{factor * BALANCED_MS:.4f}", decode=others)
    return Case("copy", factor, {"copy"}, planted, _rate(BALANCED_MS / 2))


def step(factor):
    others = f"{_per_sample(BALANCED_MS):.4f}"
    return Case("step", factor, {"compute"}, _plant(decode=others), _rate(factor * BALANCED_MS))


def shared_cpu(factor):
    """Steps and loaders together compute `factor` times as long as the CPUs have time in a step;
    a good third of it are the steps'. These are of two GPUs: a thread that launches the steps of
    one alone would be busy nearly all the time, and limit as well."""
    cpus, gpus = len(os.sched_getaffinity(0)), 2
    all_ms = factor * BALANCED_MS * cpus
    of_steps = min(0.42 * all_ms, 0.9 * gpus * factor * BALANCED_MS)
    half = f"{(all_ms - of_steps) / (gpus * BATCH) / 2:.4f}:burn"
    return Case(
        "shared CPU",
        factor,
        {"shared CPU"},
        [*_plant(decode=half, augment=half), "--host-cpu-ms", f"{of_steps / gpus:.4f}"],
        _rate(max(BALANCED_MS, of_steps / gpus + 0.001)),  # no step is shorter than its burn
        workers=cpus,
        gpus=gpus,
    )


def all_reduce(factor):
    others = f"{_per_sample(BALANCED_MS):.4f}"
    steps = 0.3 * BALANCED_MS
    planted = _plant(decode=others, all_reduce=f"{factor * BALANCED_MS - steps:.4f}")
    return Case("all-reduce", factor, {"all-reduce"}, planted, _rate(steps), gpus=2)


def nothing():
    half = f"{_per_sample(BALANCED_MS / 2):.4f}"
    return Case("nothing", 1, {"compute"}, _plant(decode=half), _rate(BALANCED_MS))


def two_equal():
    same = f"{_per_sample(BALANCED_MS) - REAL_MS:.4f}"
    return Case("two equal", 1, {"decode", "compute"}, _plant(decode=same), _rate(BALANCED_MS))


REAL_MS = 0.12  # about what the real stages take of a sample of SIZE: the two are to be equal
STAGES = {"read": "read", "decode": "decode", "resize": "augment", "collate": "collate"}
PLANTED = {
    **{
        name: lambda factor, stage=stage: loader_stage(stage, factor)
        for name, stage in STAGES.items()
    },
    "copy": copy,
    "step": step,
    "shared CPU": shared_cpu,
    "all-reduce": all_reduce,
}


def held_out(count, seed):
    """[(name, case, seed)]: bottlenecks by chance, of factors and numbers of workers that nothing
    was tuned on."""
    chance = random.Random(seed)
    drawn = []
    for i in range(count):
        name = chance.choice(list(PLANTED))
        factor = round(math.exp(chance.uniform(math.log(1.15), math.log(6))), 3)
        workers = chance.choice((1, 2, 3, 4))
        is_stage = name in STAGES
        case = loader_stage(STAGES[name], factor, workers) if is_stage else PLANTED[name](factor)
        drawn.append((name, case, 1000 * (seed + 1) + i))
    return drawn


def is_right(case, verdict):
    """One is named, alone and clearly; of two that are equal both, clearly or not."""
    is_clear = verdict["clear"] or len(case.names) > 1
    return is_clear and set(verdict["names"]) == case.names


def burns(case):
    """Whether it needs the CPUs for itself; the others sleep nearly all the time."""
    return any(":burn" in word for word in case.options)


class Validation:
    def __init__(self, program, budget):
        self.program, self.budget = program, budget
        self.version = version_of(program)
        self.folder = tempfile.TemporaryDirectory(prefix="feedrate-diagnosis-")
        self.data = os.path.join(self.folder.name, "data")
        subprocess.run(
            [program, "gen", self.data, "--image-size", SIZE, "--format", "jpeg"]
            + ["--count", str(PICTURES)],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def head_of(self, name, case, seed):
        """What a diagnosis is of."""
        return {
            "version": self.version,
            "planted": name,
            "factor": case.factor,
            "seed": seed,
            "budget": self.budget,
        }

    def judge(self, case, seed):
        command = case.command(self.program, self.data, self.budget, seed)
        answer, cpu_s = _run(command)
        found = json.loads(answer)
        verdict = found["verdict"]
        return {
            "names": verdict["names"],
            "clear": verdict["clear"],
            "confidence": verdict["confidence"],
            "agree": verdict["agree"],
            "evidence": verdict["evidence"],
            "slopes": {
                f"{s['place']} {s['kind']}": [
                    round(x, 3) for x in (s["slope"]["mean"], *(s["slope"]["ci95"] or []))
                ]
                for s in found["slopes"]
            },
            "seconds": round(found["seconds"], 1),
            "cpu_s": round(cpu_s, 2),
            "right": is_right(case, verdict),
        }


def version_of(program):
    """ "0.1.0 (9e3a3cb66de8)"."""
    return subprocess.run(
        [program, "--version"], check=True, stdout=subprocess.PIPE, encoding="utf-8"
    ).stdout.strip()


def _run(command):
    """What it prints, and the CPU time that it took."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8"
    ) as process:
        answer = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode and not answer:  # 1 with an answer: something of it failed
        raise subprocess.CalledProcessError(process.returncode, command)
    return answer, used.ru_utime + used.ru_stime


# --- Advice: what it promises, beside what --try measures.

# Each cell with the remedies whose prediction counts, fixed before anything was measured. What a
# planted time cannot show is not among them: reads that are slept do not overlap.
SMALL = ["--image-size", SIZE, "--input-size", "64", "--batch-size", str(BATCH)]
LARGE = ["--batch-size", "32"]
ALL_REDUCE = ["--device", f"emulated:{_rate(8):.6g}", "--gpus", "2"]


def _slow(stage, factor, workers=WORKERS):
    ms = f"{_per_sample(factor * BALANCED_MS):.4f}"
    return [
        *("--device", f"emulated:{_rate(BALANCED_MS):.6g}", "--workers", str(workers)),
        *SMALL,
        *_plant(**{stage: ms}),
    ]


def _pictures(data, size, rate, workers):
    words = ["--device", f"emulated:{rate}", "--workers", str(workers), *LARGE]
    return [*words, "--data", data, "--image-size", size]


WORKERS_AND_TENSORS = ("more workers", "precached tensors")
NEARER = "store pictures nearer to the input's size"
ADVISED = [
    *((_slow("decode", factor), WORKERS_AND_TENSORS) for factor in (1.5, 2, 3, 5)),
    *((_slow("augment", factor), WORKERS_AND_TENSORS) for factor in (1.5, 3)),
    *((_slow("read", factor), ("more workers",)) for factor in (1.5, 2, 4)),
    (_slow("decode", 4, workers=1), WORKERS_AND_TENSORS),
    (_pictures("jpeg", "500x375", 4000, 1), WORKERS_AND_TENSORS),
    (_pictures("jpeg", "500x375", 8000, 1), WORKERS_AND_TENSORS),
    (_pictures("jpeg", "1024x1024", 1500, 1), (*WORKERS_AND_TENSORS, NEARER)),
    (_pictures("jpeg", "1024x1024", 1500, 2), ("precached tensors", NEARER)),
    (_pictures("png", "1024x1024", 1500, 1), (*WORKERS_AND_TENSORS, NEARER)),
    (_pictures("png", "1024x1024", 1500, 2), ("precached tensors", NEARER)),
    *(
        (
            [*ALL_REDUCE, "--workers", "1", *SMALL, "--plant", f"all-reduce={ms}"],
            ("twice the batch",),
        )
        for ms in (8, 12, 20)
    ),
]
HELPS = 1.2  # measured / now: only remedies that help as much count
WITHIN = 0.1  # of what was measured


def make_pictures(program, folder):
    sizes = ["--image-size", f"{SIZE},500x375,1024x1024,256x256", "--format", "jpeg,tensor"]
    for more in (["--input-size", "64"], ["--input-size", "224"]):
        subprocess.run([program, "gen", folder, *sizes, *more, "--count", "512"], check=True)
    png = ["--image-size", "1024x1024,256x256", "--format", "png", "--count", "512"]
    subprocess.run([program, "gen", folder, *png], check=True)


def advised(program, data, budget, cell, seed):
    """The remedies of one diagnosis that were tried, by name: (now, predicted, interval,
    measured)."""
    words = [program, "diagnose", "--dataset", data, "--budget", budget, "--seed", str(seed)]
    answer, _ = _run([*words, "--json", "--try", *cell])
    found = json.loads(answer)
    now = next(r["imgs_per_s"]["mean"] for r in found["ladder"] if r["rung"] == "none")
    return {
        a["remedy"]: (now, a["predicted"]["mean"], a["predicted"]["ci95"], a["measured"]["mean"])
        for a in found["advice"]
        if a["measured"]
    }
