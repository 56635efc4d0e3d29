"""What `run --trace` costs: runs with it and without, in turn.

Four runs at a time, with the trace first and last or without it first and last, so that a machine
that grows slower steadily hits both alike. A fifth of the ratios at either end is left out (a
trimmed mean, Yuen 1974): another program may have spoilt them."""

import json
import math
import os
import random
import subprocess

from report.ledger import statistics

MOST = 0.02  # of the rate
SIZE = ["--image-size", "64x64", "--input-size", "64"]
CELLS = {
    # As many events a second as this machine can make: samples that take next to nothing.
    "tensors of 64x64": ["--data", "tensor", "--input-size", "64"],
    "JPEG of 64x64": ["--data", "jpeg", *SIZE],
}


def _rate(options, data, cell, trace):
    words = [options.program, "run", "--dataset", data, *cell, "--workers", "2"]
    words += ["--device", "emulated:inf", "--batch-size", "64", "--no-ceiling"]
    words += ["--warmup-seconds", "0.2", "--min-seconds", "0.5", "--max-warmup-seconds", "1"]
    answer = subprocess.run(
        [*words, "--json", *(["--trace", trace] if trace else [])],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        check=True,
    )
    return json.loads(answer.stdout)["imgs_per_s"]


def run(options, folder):
    data, trace = os.path.join(folder, "data"), os.path.join(folder, "trace.json")
    words = [options.program, "gen", data, *SIZE, "--format", "jpeg,tensor", "--count", "512"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    coin, groups = random.Random(1), 3 if options.small else 40
    print("| cell | groups of four | images/s without | with / without | 95 % |")
    print("|---|---|---|---|---|")
    missed = []
    for name, cell in CELLS.items():
        logs, rates = [], []
        for _ in range(groups):
            found = {True: [], False: []}
            first = coin.random() < 0.5
            for traced in (first, not first, not first, first):
                found[traced].append(_rate(options, data, cell, trace if traced else ""))
            logs.append(math.log(math.prod(found[True]) / math.prod(found[False])) / 2)
            rates += found[False]
        mean, half = _trimmed(logs)
        low, ratio, high = (math.exp(x) for x in (mean - half, mean, mean + half))
        rate = statistics.estimate(rates).mean
        print(f"| {name} | {groups} | {rate:,.0f} | {ratio:.4f} | {low:.4f} to {high:.4f} |")
        if ratio < 1 - MOST:
            missed.append(f"{name}: {1 - ratio:.1%} slower, at most {MOST:.0%} is asked")
    return missed


def _trimmed(values):
    """(mean, half of its 95 % interval)."""
    n, cut = len(values), len(values) // 5
    ordered = sorted(values)
    kept = ordered[cut : n - cut]
    mean = sum(kept) / len(kept)
    # Winsorized: those that were cut off count as the nearest that were not.
    like = [kept[0]] * cut + kept + [kept[-1]] * cut
    middle = sum(like) / n
    squares = sum((x - middle) ** 2 for x in like)
    error = math.sqrt(squares / (len(kept) * (len(kept) - 1)))
    return mean, statistics.t_quantile(0.975, len(kept) - 1) * error
