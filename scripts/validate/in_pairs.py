"""Shares of the ceiling that `feedrate run` states, in pairs and the way before it: how wide their
intervals are, and how often they hold the truth."""

import contextlib
import json
import math
import os
import random
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field

from report import statistics

from .conditions import NotAllowed, group, neighbour

DATA = ["--data", "tensor", "--tensor-dtype", "uint8", "--workers", "1", "--input-size", "32"]
WARMUP = ["--warmup-seconds", "0.3", "--max-warmup-seconds", "2"]
REPETITIONS = 3  # of the way before, the fewest that have an interval
CHANGES_S = 7.0  # between two changes of a machine that wanders


@dataclass(frozen=True)
class Step:
    """What takes the batches. Its loader costs little, so that the machine moves the cell and the
    ceiling alike."""

    name: str
    words: list
    starts_s: float  # of a run in pairs: its process, its warm-up
    most: float | None = None  # of the share, where the rate is set; see statistics.bounded()


CPU = Step(
    "ResNet-18 on the CPU",
    ["--device", "cpu", "--model", "resnet18", "--batch-size", "4"],
    starts_s=6,
)
HOST = Step(
    "emulated, 10 ms of CPU",
    ["--device", "emulated:100000", "--host-cpu-ms", "10", "--batch-size", "8"],
    starts_s=0.8,
    most=1.0,
)


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
    before: list = field(default_factory=list)  # (share, low, high, seconds)
    pairs: list = field(default_factory=list)
    short_pairs: list = field(default_factory=list)


def rows(small):
    counts = iter((1, 1, 1, 1, 2, 1) if small else (6, 8, 16, 20, 180, 16))
    return [
        Row(CPU, "quiet", quiet, next(counts)),
        Row(CPU, "another program", another_program, next(counts)),
        Row(HOST, "quiet", quiet, next(counts)),
        Row(HOST, "another program", another_program, next(counts), next(counts)),
        Row(HOST, "changing quota", changing_quota, next(counts)),
    ]


class Shares:
    def __init__(self, options, folder):
        self.program, self.folder = os.path.abspath(options.program), folder
        self.data = os.path.join(folder, "data")
        words = ["--count", "256", "--format", "tensor", "--input-size", "32", "--image-size", "32"]
        subprocess.run([self.program, "gen", self.data, *words], check=True, capture_output=True)

    def run(self, row, *words):
        """(records, seconds)"""
        command = [self.program, "run", *row.step.words, *DATA, "--dataset", self.data]
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
        found = statistics.share(rates, most=row.step.most)
        return found.mean, found.low, found.high, took

    def in_pairs(self, row, seconds):
        """The same by one run that takes about as long."""
        (record,), took = self.run(row, "--min-seconds", f"{max(2, seconds - row.step.starts_s)}")
        return record["ceiling_fraction"], *record["ceiling_fraction_ci95"], took


def width(found):
    """Of the interval, as a part of the share."""
    return math.log(found[2] / found[1])


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
                row.pairs.append(shares.in_pairs(row, row.before[-1][3]))
            else:
                row.short_pairs.append(shares.in_pairs(row, 0))
        except NotAllowed as error:
            impossible.append(row)
            print(f"{row.machine}: not possible here: {error}\n")
    return [row for row in all_rows if row not in impossible]


def run(options, folder):
    measured, missed = measure(options, folder), []
    print(
        "| step | machine | share of the ceiling | runs | seconds, median | share: median, smallest"
        " to largest | width of the 95 % interval, median | holds the truth |\n"
        "|---|---|---|---:|---:|---:|---:|---:|"
    )
    for row in measured:
        # Both ways measure the same: the truth is the geometric mean of all runs in pairs.
        logs = [math.log(found[0]) for found in row.pairs + row.short_pairs]
        truth = math.exp(sum(logs) / len(logs))
        ways = {"before": row.before, "in pairs": row.pairs, "in pairs, short": row.short_pairs}
        for way, runs in ways.items():
            if not runs:
                continue
            values = sorted(found[0] for found in runs)
            held = sum(low <= truth <= high for _, low, high, _ in runs)
            print(
                f"| {row.step.name} | {row.machine} | {way} | {len(runs)} |"
                f" {median([found[3] for found in runs]):.1f} |"
                f" {median(values):.3f}, {values[0]:.3f} to {values[-1]:.3f} |"
                f" {100 * median(list(map(width, runs))):.1f} % | {held} |"
            )
            # Three standard errors below 95 %.
            least = 0.95 - 3 * (0.05 * 0.95 / len(runs)) ** 0.5
            if way != "before" and not options.small and held < least * len(runs):
                missed.append(
                    f"{row.step.name}, {row.machine}, {way}: {held} of {len(runs)} hold the truth,"
                    " 95 % are asked"
                )
    print()
    for row in measured:
        ratio = median(list(map(width, row.pairs))) / median(list(map(width, row.before)))
        most = 1.0 if row.condition is quiet else 1 / 3
        print(f"{row.step.name}, {row.machine}: the interval in pairs is {ratio:.2f} times as wide")
        if ratio > most and not options.small:
            missed.append(
                f"{row.step.name}, {row.machine}: {ratio:.2f} times as wide, {most:.2f} is asked"
            )
    return missed
