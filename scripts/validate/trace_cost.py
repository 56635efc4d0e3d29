"""What `run --trace` costs: pairs of runs, with it and without, in an order that a coin decides."""

import json
import os
import random
import subprocess

from report import statistics

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
    coin, pairs = random.Random(1), 3 if options.small else 40
    print("| cell | pairs | images/s without | with / without | 95 % |\n|---|---|---|---|---|")
    missed = []
    for name, cell in CELLS.items():
        ratios, rates = [], []
        for _ in range(pairs):
            found = {}
            for traced in (True, False) if coin.random() < 0.5 else (False, True):
                found[traced] = _rate(options, data, cell, trace if traced else "")
            ratios.append(found[True] / found[False])
            rates.append(found[False])
        ratio = statistics.estimate(ratios)
        print(
            f"| {name} | {pairs} | {statistics.estimate(rates).mean:,.0f} | {ratio.mean:.4f} |"
            f" {ratio.low:.4f} to {ratio.high:.4f} |"
        )
        if ratio.mean < 1 - MOST:
            missed.append(f"{name}: {1 - ratio.mean:.1%} slower, at most {MOST:.0%} is asked")
    return missed
