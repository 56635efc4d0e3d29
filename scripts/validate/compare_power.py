#!/usr/bin/env python3
"""How often a comparison is wrong, and how small a difference it sees: simulated pairs of samples,
judged by the very functions that `feedrate compare` judges with. Prints a Markdown table.

    scripts/validate/compare_power.py [--pairs 10000] [--seed 1]

The same seed gives the same table. Exit code 1 if, under equal rates with 1 % of log-normal noise
and 6 repetitions, more than 6.5 % are called different, or if a gap of 5 % is seen in less than 95 %."""
import argparse
import math
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from report import statistics, verdicts  # noqa: E402

MARGIN = 0.01
AT_MOST, AT_LEAST = 0.065, 0.95
FAMILY = 40                     # cells of one comparison

# What one repetition's log rate is off by: zero on average, since geometric means are compared, with a
# standard deviation of `size`.
NOISES = {
    "log-normal": lambda source, size: source.gauss(0, size),
    "skewed: exponential slow-downs": lambda source, size: size - source.expovariate(1 / size),
    "skewed: one repetition in ten loses 3 sigma": lambda source, size: source.gauss(0, 0.436 * size) + (
        0.3 * size - (3 * size if source.random() < 0.1 else 0)),
    "even within a range": lambda source, size: source.uniform(-1, 1) * size * math.sqrt(3),
}

# noise, repetitions of A and B, standard deviations of A and B, true ratio B/A
CASES = (
    ("log-normal", (6, 6), (0.01, 0.01), 1.0),
    ("log-normal", (6, 6), (0.01, 0.01), 0.99),
    ("log-normal", (6, 6), (0.01, 0.01), 0.98),
    ("log-normal", (6, 6), (0.01, 0.01), 0.97),
    ("log-normal", (6, 6), (0.01, 0.01), 0.95),
    ("log-normal", (6, 6), (0.03, 0.03), 1.0),
    ("log-normal", (6, 6), (0.03, 0.03), 0.95),
    ("log-normal", (6, 6), (0.005, 0.03), 1.0),
    ("log-normal", (3, 12), (0.01, 0.01), 1.0),
    ("log-normal", (3, 3), (0.01, 0.01), 1.0),
    ("log-normal", (3, 3), (0.01, 0.01), 0.95),
    ("log-normal", (2, 2), (0.01, 0.01), 1.0),
    ("log-normal", (2, 2), (0.01, 0.01), 0.95),
    ("skewed: exponential slow-downs", (6, 6), (0.01, 0.01), 1.0),
    ("skewed: exponential slow-downs", (6, 6), (0.01, 0.01), 0.95),
    ("skewed: exponential slow-downs", (6, 6), (0.005, 0.03), 1.0),
    ("skewed: one repetition in ten loses 3 sigma", (6, 6), (0.01, 0.01), 1.0),
    ("skewed: one repetition in ten loses 3 sigma", (6, 6), (0.01, 0.01), 0.95),
    ("even within a range", (6, 6), (0.01, 0.01), 1.0),
)


def pair(source, noise, counts, sizes, ratio):
    """Two samples of rates, the second `ratio` times as fast but for the noise."""
    return [[1000 * factor * math.exp(NOISES[noise](source, size)) for _ in range(n)]
            for n, size, factor in zip(counts, sizes, (1.0, ratio))]


def shares(case, pairs, seed):
    """(share significant at 5 %, share called faster or slower beyond the margin)."""
    source = random.Random(f"{seed} {case}")
    significant = called = 0
    for _ in range(pairs):
        found = statistics.welch(*pair(source, *case))
        significant += verdicts.direction(found, found.p, 0) != ""
        called += verdicts.direction(found, found.p, MARGIN) != ""
    return significant / pairs, called / pairs


def families(pairs, seed):
    """How often any of FAMILY equal cells is called slower, {adjustment: share}; margin 0."""
    source = random.Random(f"{seed} families")
    wrong = {"none": 0, "holm": 0}
    for _ in range(pairs):
        found = [statistics.welch(*pair(source, *CASES[0])) for _ in range(FAMILY)]
        plain = [difference.p for difference in found]
        for name, values in (("none", plain), ("holm", statistics.holm(plain))):
            wrong[name] += any(verdicts.direction(d, p, 0) == verdicts.SLOWER for d, p in zip(found, values))
    return {name: count / pairs for name, count in wrong.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=10000, help="for each line (default: 10000)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"Noise is the standard deviation of a repetition. Margin {100 * MARGIN:g} %, {options.pairs:,} pairs a line, "
          f"seed {options.seed}.\n")
    print("| noise of A, B | repetitions | true B/A | significant at 5 % | called faster or slower |")
    print("| --- | ---: | ---: | ---: | ---: |")
    results = {}
    for case in CASES:
        noise, counts, sizes, ratio = case
        results[case] = shares(case, options.pairs, options.seed)
        print(f"| {noise}, {100 * sizes[0]:g} %, {100 * sizes[1]:g} % | {counts[0]}, {counts[1]} | {ratio:g} | "
              + " | ".join(f"{100 * share:.1f} %" for share in results[case]) + " |", flush=True)
    wrong = families(options.pairs // FAMILY, options.seed)
    print(f"\nOf {options.pairs // FAMILY} comparisons of {FAMILY} equal cells with margin 0, any cell is called slower in "
          f"{100 * wrong['none']:.0f} % without an adjustment and in {100 * wrong['holm']:.1f} % with Holm's.")
    bad = results[CASES[0]][0] > AT_MOST or results[CASES[0]][1] > AT_MOST or results[CASES[4]][1] < AT_LEAST
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
