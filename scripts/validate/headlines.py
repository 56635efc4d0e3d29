"""How often `feedrate report` claims a loss where there is none, and how often it finds a planted
one, in simulated ledgers."""

import concurrent.futures
import os
import random
import re
import shutil

from . import simulated

CLAIM = re.compile(r"\bloses?\b|\bcosts\b|\bkeeps\b|would need|\bslower\b|\bfaster\b")
KINDS = ("tensor", "jpeg", "png")
# What is planted: {kind: true share of the ceiling}; kinds, GPU counts.
CASES = {
    "three kinds, equal": (KINDS, {}, (1,)),
    "three kinds on 1 and 2 GPUs, equal": (KINDS, {}, (1, 2)),
    "three kinds, one loses 5 %": (KINDS, {"png": 0.95}, (1,)),
    "three kinds, all lose 5 %": (KINDS, dict.fromkeys(KINDS, 0.95), (1,)),
    "seven kinds, one loses 5 %": ((*KINDS, "bmp", "npy", "raw", "png0"), {"png": 0.95}, (1,)),
    "seven kinds, one loses 10 %": ((*KINDS, "bmp", "npy", "raw", "png0"), {"png": 0.90}, (1,)),
}
ASKED = {
    "three kinds, equal": (0, 50),
    "three kinds on 1 and 2 GPUs, equal": (0, 50),
    "three kinds, one loses 5 %": (900, 1000),
}


def _words(options, folder, case, number):
    """All that the report says: the terminal's table, the findings, the tables."""
    kinds, planted, counts = CASES[case]
    source, ledger = random.Random(f"{case} {number}"), simulated.Ledger("2026-01-01", whole=True)
    for n in range(6):
        for gpus in counts:
            cells = [
                (
                    simulated.axes(data, 64, workers=workers, gpus=gpus),
                    gpus * 1000.0 * planted.get(data, 1.0),
                )
                for data in kinds
                for workers in (1, 2)
            ]
            simulated.repetition(
                ledger, source, n, 64, cells, "normal", 0.02, ceiling=gpus * 1000.0, gpus=gpus
            )
    place = ledger.write(os.path.join(folder, f"{number}"))
    words = simulated.answer(options.program, "report", place, "--no-figures", "--no-html")
    for name in ("index.md", "table.md"):
        with open(os.path.join(place, "report", name), encoding="utf-8") as file:
            words += file.read()
    shutil.rmtree(place)
    return words


def run(options, folder):
    count, missed = 20 if options.small else 1000, []
    print(
        f"`feedrate report`, {count:,} ledgers each: six repetitions, two worker counts, 2 % noise"
        " in every run. A ledger counts as soon as one sentence of the terminal's table, the"
        " findings or the tables claims a loss or a difference.\n"
    )
    print("| ledgers | claim a loss anywhere |\n| --- | ---: |")
    for case in CASES:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            words = pool.map(lambda n: _words(options, folder, case, n), range(count))  # noqa: B023
            claimed = sum(bool(CLAIM.search(w)) for w in words)
        print(f"| {case} | {claimed} |", flush=True)
        least, most = ASKED.get(case, (0, 1000))
        slack = 0.2 * count if options.small else 0
        if not least * count / 1000 - slack <= claimed <= most * count / 1000 + slack:
            missed.append(
                f"{case}: {claimed} of {count} claim a loss, {least * count // 1000} to"
                f" {most * count // 1000} are asked"
            )
    return missed
