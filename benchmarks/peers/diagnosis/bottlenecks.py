"""Twenty bottlenecks with a known answer: the same stages with the same service times for every
tool. Milliseconds: read, decode, augment and collate are of each sample, in a worker, which does
them one after the other; copy is of each batch; step and all_reduce are of each step. Times are
slept, but those of the stages that `burnt` names, which take that much CPU time.

A batch takes the workers BATCH x (read + decode + augment + collate) / workers: "read 2x" means
that this is twice the step, and that reading is most of it. "step 2x" means that the step takes
twice what the workers need. Everything runs on CPUS processors, or "shared CPU" would not be what
it says.
"""

import dataclasses
import os

BATCH = 16
STEP = 40.0
CPUS = 2
STAGES = ("read", "decode", "augment", "collate")
# The other stages of a slow one, per sample: 9 ms a batch by 4 workers.
SMALL = {"read": 0.5, "decode": 1.0, "augment": 0.5, "collate": 0.25}


@dataclasses.dataclass(frozen=True)
class Bottleneck:
    name: str
    truth: str  # input, copy, compute, or none: two resources are equally slow
    stages: tuple  # the stages that an answer may name, in feedrate's words
    read: float = SMALL["read"]
    decode: float = SMALL["decode"]
    augment: float = SMALL["augment"]
    collate: float = SMALL["collate"]
    copy: float = 1.0
    step: float = STEP
    all_reduce: float = 0.0
    workers: int = 4
    batch: int = BATCH
    burnt: tuple = ()
    spike: float = 0.0  # more reading for every `every`-th sample
    every: int = 0

    @property
    def input_ms(self):
        """What the workers need for a batch, while there is a processor for each that burns."""
        spikes = self.spike / self.every if self.every else 0
        each = [getattr(self, stage) for stage in STAGES]
        workers = self.batch * (sum(each) + spikes) / self.workers
        cpus = self.batch * sum(getattr(self, stage) for stage in self.burnt) / CPUS
        return max(workers, cpus)

    @property
    def period_ms(self):
        """Of a step at the rate of the slowest resource."""
        return max(self.input_ms, self.copy, self.step + self.all_reduce)


def slow_input(times, *stages):
    """Workers that need `times` the step, `stages` sharing what the others leave."""
    each = times * STEP * 4 / BATCH
    rest = sum(ms for stage, ms in SMALL.items() if stage not in stages)
    return {stage: (each - rest) / len(stages) for stage in stages}


def slow_step(times):
    """Workers that need STEP for a batch, and a step that takes `times` that."""
    return {"read": 2.0, "decode": 5.0, "augment": 2.0, "collate": 1.0, "step": times * STEP}


BOTTLENECKS = (
    Bottleneck("read 1.2x", "input", ("read", "storage"), **slow_input(1.2, "read")),
    Bottleneck("read 2x", "input", ("read", "storage"), **slow_input(2, "read")),
    Bottleneck("read 5x", "input", ("read", "storage"), **slow_input(5, "read")),
    Bottleneck("decode 1.2x", "input", ("decode",), **slow_input(1.2, "decode")),
    Bottleneck("decode 2x", "input", ("decode",), **slow_input(2, "decode")),
    Bottleneck("decode 5x", "input", ("decode",), **slow_input(5, "decode")),
    Bottleneck("augment 1.5x", "input", ("augment",), **slow_input(1.5, "augment")),
    Bottleneck("augment 3x", "input", ("augment",), **slow_input(3, "augment")),
    Bottleneck("collate 2x", "input", ("collate",), **slow_input(2, "collate")),
    Bottleneck(
        "read and decode 2x",
        "input",
        ("read", "decode", "storage"),
        **slow_input(2, "read", "decode"),
    ),
    # The mean is 1.5 steps; one sample of three batches holds most of it.
    Bottleneck("read in bursts", "input", ("read", "storage"), spike=612.0, every=48),
    Bottleneck("too few workers", "input", ("decode",), decode=3.75, workers=1),
    # Four workers would do, at 0.9 of the step, if each had a processor.
    Bottleneck("shared CPU", "input", ("shared CPU",), decode=7.5, burnt=("decode",)),
    Bottleneck("copy 2x", "copy", ("copy",), copy=2 * STEP),
    Bottleneck("copy 5x", "copy", ("copy",), copy=5 * STEP),
    Bottleneck("step 1.2x", "compute", ("compute",), **slow_step(1.2)),
    Bottleneck("step 2x", "compute", ("compute",), **slow_step(2)),
    Bottleneck("step 5x", "compute", ("compute",), **slow_step(5)),
    Bottleneck("all-reduce 1.5x", "compute", ("all-reduce",), all_reduce=1.5 * STEP),
    Bottleneck("two alike", "none", ("compute", "decode"), **slow_input(1, "decode")),
)


def named(name):
    return next(one for one in BOTTLENECKS if one.name == name)


def use_the_processors():
    """This process and those that it starts run on CPUS processors."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CPUS])


if __name__ == "__main__":
    for one in BOTTLENECKS:
        print(
            f"{one.name:20} {one.truth:8} input {one.input_ms:5.1f} ms, copy {one.copy:5.1f},"
            f" step {one.step + one.all_reduce:5.1f}"
        )
