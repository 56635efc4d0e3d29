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

from .conditions import neighbour

CELL = [
    *("--device", "cpu", "--model", "resnet18", "--input-size", "32", "--batch-size", "8"),
    *("--data", "tensor", "--tensor-dtype", "uint8", "--workers", "1"),
]
REPETITIONS = 3  # of the way before, the fewest that have an interval
EACH = ["--warmup-seconds", "0.3", "--min-seconds", "0.8"]
STARTS_S = 2.5  # of a run in pairs: its process, its warm-up


class Shares:
    def __init__(self, options, folder):
        self.program, self.folder = os.path.abspath(options.program), folder
        self.data = os.path.join(folder, "data")
        self.call(
            *("gen", self.data, "--count", "256", "--format", "tensor", "--input-size", "32"),
            *("--image-size", "32"),
        )

    def call(self, *words):
        return subprocess.run(
            [self.program, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True
        ).stdout.decode()

    def run(self, *words):
        lines = self.call("run", *CELL, "--dataset", self.data, "--json", *words).splitlines()
        return [json.loads(line) for line in lines]

    def before(self):
        """(share, low, high, seconds): the ceiling and the cell one after the other, in processes
        of their own, three times. A trace is what is still measured so."""
        began = time.monotonic()
        with tempfile.NamedTemporaryFile(dir=self.folder, suffix=".json") as trace:
            records = self.run(*EACH, "--repetitions", str(REPETITIONS), "--trace", trace.name)
        took = time.monotonic() - began
        from report import statistics

        shares = [(r["imgs_per_s"], r["ceiling_imgs_per_s"]) for r in records]
        found = statistics.share(shares)
        return found.mean, found.low, found.high, took

    def in_pairs(self, seconds):
        """The same by one run that takes about as long."""
        began = time.monotonic()
        (record,) = self.run(*EACH[:2], "--min-seconds", f"{max(2.0, seconds - STARTS_S):.1f}")
        took = time.monotonic() - began
        return record["ceiling_fraction"], *record["ceiling_fraction_ci95"], took


@contextlib.contextmanager
def coming_and_going(planted):
    """Another program on one CPU, for 7 s of every 14, from a random moment on."""
    stop = threading.Event()

    def disturb():
        stop.wait(random.uniform(0, 7))
        while not stop.is_set():
            with neighbour(1):
                stop.wait(7)
            stop.wait(7)

    thread = threading.Thread(target=disturb)
    if planted:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        if planted:
            thread.join()


def width(found):
    """Of the interval, as a part of the share."""
    return math.log(found[2] / found[1])


def median(values):
    return sorted(values)[len(values) // 2]


def run(options, folder):
    shares, missed = Shares(options, folder), []
    counts = {False: 2, True: 2} if options.small else {False: 16, True: 32}
    order = [planted for planted, count in counts.items() for _ in range(count)]
    random.Random(1).shuffle(order)
    found = {(planted, way): [] for planted in counts for way in ("before", "in pairs")}
    for planted in order:
        with coming_and_going(planted):
            before = shares.before()
            found[planted, "before"].append(before)
            found[planted, "in pairs"].append(shares.in_pairs(before[3]))
    print(
        "| machine | share of the ceiling | runs | seconds, median | share: median, smallest to"
        " largest | width of the 95 % interval, median | holds the truth |\n"
        "|---|---|---:|---:|---:|---:|---:|"
    )
    for (planted, way), runs in found.items():
        # Both ways measure the same: the truth is the geometric mean of all runs in pairs.
        logs = [math.log(r[0]) for r in found[planted, "in pairs"]]
        truth = math.exp(sum(logs) / len(logs))
        values = sorted(r[0] for r in runs)
        held = sum(low <= truth <= high for _, low, high, _ in runs)
        print(
            f"| {'another program comes and goes' if planted else 'quiet'} | {way} | {len(runs)} |"
            f" {median([r[3] for r in runs]):.1f} |"
            f" {median(values):.3f}, {values[0]:.3f} to {values[-1]:.3f} |"
            f" {100 * median([width(r) for r in runs]):.1f} % | {held} |"
        )
        if way == "in pairs" and not options.small and held < 0.85 * len(runs):
            missed.append(f"{held} of {len(runs)} intervals hold the truth, 93 to 97 % are asked")
    for planted, most in ((True, 1 / 3), (False, 1.0)):
        ratio = median([width(r) for r in found[planted, "in pairs"]]) / median(
            [width(r) for r in found[planted, "before"]]
        )
        print(f"\nWidth in pairs / before, {'wandering' if planted else 'quiet'}: {ratio:.2f}.")
        if ratio > most and not options.small:
            missed.append(f"the interval is {ratio:.2f} times as wide, {most:.2f} is asked")
    return missed
