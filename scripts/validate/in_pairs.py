"""Shares of the ceiling that `feedrate run` states, in pairs and the way before it: how wide their
intervals are, and how often they hold the truth."""

import contextlib
import itertools
import json
import math
import os
import random
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field

from report.ledger import statistics

from .conditions import NotAllowed, group, neighbour

DATA = ["--data", "tensor", "--tensor-dtype", "uint8", "--workers", "1", "--input-size", "32"]
WARMUP = ["--warmup-seconds", "0.3", "--max-warmup-seconds", "2"]
REPETITIONS = 3  # of the way before, the fewest that have an interval
NO_INTERVAL = 1e-9, 1e9  # of a run with fewer than three pairs
CHANGES_S = 7.0  # between two changes of a machine that wanders


@dataclass(frozen=True)
class Step:
    """What takes the batches. Its loader costs little, so that the machine moves the cell and the
    ceiling alike."""

    name: str
    words: list
    starts_s: float  # of a run in pairs: its process, its warm-up
    most: float | None = None  # of the share, where the rate is set
    truth: float | None = None  # the share, where it is known


CPU = Step(
    "ResNet-18 on the CPU",
    ["--device", "cpu", "--model", "resnet18", "--batch-size", "4"],
    starts_s=6,
)
BURNS = ["--device", "emulated:inf", "--host-cpu-ms", "10", "--batch-size", "8"]
HOST = Step("emulated, 10 ms of CPU", BURNS, starts_s=0.8, most=1.0)
# The cell's batch lies on the device, as the ceiling's do: both take the same steps.
SAME = Step("the same, no loader", [*BURNS, "--cache", "device"], starts_s=0.8, most=1.0, truth=1.0)


@contextlib.contextmanager
def quiet(_):
    yield None


@contextlib.contextmanager
def another_program(stop):
    """On one CPU, for 7 s of every 14, from a random moment on."""

    def disturb():
        stop.wait(random.uniform(0, CHANGES_S))
        while not stop.is_set():
            with neighbour(1):
                stop.wait(CHANGES_S)
            stop.wait(CHANGES_S)

    with _beside(disturb, stop):
        yield None


QUIET_OR_NOT = (("quiet", quiet), ("another program", another_program))


@contextlib.contextmanager
def changing_quota(stop):
    """Of two CPUs and of one, in turns, from a random moment on. Yields what makes a process join
    it."""
    with group(2) as (join, allow):

        def change():
            stop.wait(random.uniform(0, CHANGES_S))
            while not stop.is_set():
                for cpus in (1, 2):
                    allow(cpus)
                    stop.wait(CHANGES_S)

        with _beside(change, stop):
            yield join


@contextlib.contextmanager
def _beside(work, stop):
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@dataclass(eq=False)
class Row:
    step: Step
    machine: str
    condition: object
    both: int  # rounds of the way before and, for as long, in pairs
    short: int = 0  # further runs in pairs, of 2 s
    before: list = field(default_factory=list)
    pairs: list = field(default_factory=list)
    short_pairs: list = field(default_factory=list)

    @property
    def in_pairs(self):
        return self.pairs + self.short_pairs


@dataclass(frozen=True)
class Run:
    """Or three of the way before."""

    share: float
    low: float
    high: float
    seconds: float
    steal: float = 0.0  # of the CPUs' time, by the hypervisor

    @property
    def width(self):
        """Of the interval, as a part of the share: twice its lower half, since a share that
        cannot exceed 1 has its upper end cut."""
        return 2 * math.log(self.share / self.low)


def rows(small):
    counts = iter((1,) * 6 + (2,) * 2 if small else (4, 4, 8, 8, 8, 8, 60, 192))
    cpu = [Row(CPU, name, of, next(counts)) for name, of in QUIET_OR_NOT]
    host = [Row(HOST, name, of, next(counts)) for name, of in QUIET_OR_NOT]
    host.append(Row(HOST, "changing quota", changing_quota, next(counts)))
    same = Row(SAME, "another program", another_program, next(counts))
    host[0].short, same.short = next(counts), next(counts)
    return [*cpu, *host, same]


class Shares:
    def __init__(self, options, folder):
        self.program, self.folder = os.path.abspath(options.program), folder
        self.seeds = itertools.count()  # of each run its own: in what order the pairs' blocks come
        self.data = os.path.join(folder, "data")
        words = ["--count", "256", "--format", "tensor", "--input-size", "32", "--image-size", "32"]
        subprocess.run([self.program, "gen", self.data, *words], check=True, capture_output=True)

    def run(self, row, *words):
        """(records, seconds)"""
        command = [self.program, "run", *row.step.words, *DATA, "--dataset", self.data]
        command += ["--seed", str(next(self.seeds))]
        with row.condition(threading.Event()) as join:
            began = time.monotonic()
            done = subprocess.run(
                [*command, *WARMUP, "--json", *words],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                check=True,
                preexec_fn=join,
            )
            took = time.monotonic() - began
        return [json.loads(line) for line in done.stdout.splitlines()], took

    def before(self, row):
        """The ceiling and the cell one after the other, in processes of their own, three times. A
        trace is what is still measured so."""
        with tempfile.NamedTemporaryFile(dir=self.folder, suffix=".json") as trace:
            words = ("--min-seconds", "0.8", "--repetitions", str(REPETITIONS))
            records, took = self.run(row, *words, "--trace", trace.name)
        rates = [(r["imgs_per_s"], r["ceiling_imgs_per_s"]) for r in records]
        found = statistics.share(rates)  # cut at the most, as that in pairs is
        return Run(found.mean, found.low, min(found.high, row.step.most or found.high), took)

    def in_pairs(self, row, seconds):
        """The same by one run that takes about as long."""
        (record,), took = self.run(row, "--min-seconds", f"{max(2, seconds - row.step.starts_s)}")
        low, high = record["ceiling_fraction_ci95"] or NO_INTERVAL
        steal = record["monitors"]["cpu_steal"] or 0.0
        return Run(record["ceiling_fraction"], low, high, took, steal)


def median(values):
    return sorted(values)[len(values) // 2]


def measure(options, folder):
    """The rows, measured in a shuffled order."""
    shares, all_rows = Shares(options, folder), rows(options.small)
    order = [(row, True) for row in all_rows for _ in range(row.both)]
    order += [(row, False) for row in all_rows for _ in range(row.short)]
    random.Random(1).shuffle(order)
    impossible = []
    for row, is_both in order:
        if row in impossible:
            continue
        try:
            if is_both:
                row.before.append(shares.before(row))
                row.pairs.append(shares.in_pairs(row, row.before[-1].seconds))
            else:
                row.short_pairs.append(shares.in_pairs(row, 0))
        except NotAllowed as error:
            impossible.append(row)
            print(f"{row.machine}: not possible here: {error}\n")
    return [row for row in all_rows if row not in impossible]


def truth_of(row, measured):
    """What is known or, where it is not, the median of the runs in pairs on the quiet machine, of
    which some were hit by chance: their mean would be those few."""
    quiet_one = next(
        (other for other in measured if other.step is row.step and other.condition is quiet), row
    )
    return row.step.truth or median([run.share for run in quiet_one.in_pairs])


def asked_of(runs):
    """Of 100 runs and more 93 to 97 % are to hold the truth; of fewer, not less than three standard
    errors below 95 %."""
    if len(runs) >= 100:
        return 0.93, 0.97
    return 0.95 - 3 * (0.05 * 0.95 / len(runs)) ** 0.5, 1.0


def print_row(row, measured):
    """A line for each way; returns what it misses."""
    truth, missed = truth_of(row, measured), []
    ways = {"before": row.before, "in pairs": row.pairs}
    if row.short_pairs:
        ways["in pairs, and short ones"] = row.in_pairs
    for way, runs in ways.items():
        values = sorted(run.share for run in runs)
        held = sum(run.low <= truth <= run.high for run in runs)
        print(
            f"| {row.step.name} | {row.machine} | {way} | {len(runs)} |"
            f" {median([run.seconds for run in runs]):.1f} |"
            f" {median(values):.3f}, {values[0]:.3f} to {values[-1]:.3f} |"
            f" {100 * median([run.width for run in runs]):.1f} % | {truth:.4g} | {held} |"
        )
        least, most = asked_of(runs)
        if way != "before" and not least <= held / len(runs) <= most:
            missed.append(
                f"{row.step.name}, {row.machine}, {way}: {held} of {len(runs)} hold the truth,"
                f" {100 * least:.0f} to {100 * most:.0f} % are asked"
            )
    return missed


def print_widths(row):
    """How much narrower the interval is in the same time; returns what it misses."""
    ratio = median([run.width for run in row.pairs]) / median([run.width for run in row.before])
    most = 1.0 if row.condition is quiet else 1 / 3
    name = f"{row.step.name}, {row.machine}"
    print(f"{name}: the interval in pairs is {ratio:.2f} times as wide as before")
    return [] if ratio <= most else [f"{name}: {ratio:.2f} times as wide, {most:.2f} is asked"]


def print_by_steal(row):
    """Whether the share itself is another one while other machines take CPUs."""
    print(
        "\n| the short runs of: " + f"{row.step.name}, {row.machine} | share, median |\n|---|---:|"
    )
    ordered = sorted(row.short_pairs, key=lambda run: run.steal)
    for third in range(3):
        part = ordered[third * len(ordered) // 3 : (third + 1) * len(ordered) // 3]
        if part:
            print(
                f"| the hypervisor took {100 * part[0].steal:.1f} to {100 * part[-1].steal:.1f} % |"
                f" {median([run.share for run in part]):.4f} |"
            )


def run(options, folder):
    measured, missed = measure(options, folder), []
    print(
        "| step | machine | share of the ceiling | runs | seconds, median | share: median, smallest"
        " to largest | width of the 95 % interval, median | truth | holds it |\n"
        "|---|---|---|---:|---:|---:|---:|---:|---:|"
    )
    for row in measured:
        missed += print_row(row, measured)
    print()
    for row in measured:
        missed += print_widths(row)
    for row in measured:
        if row.short_pairs and row.step.truth is None:
            print_by_steal(row)
    return [] if options.small else missed
