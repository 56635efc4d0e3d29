"""How often `feedrate report` claims a loss where there is none, and how often it finds a planted
one, in simulated ledgers: anywhere in what it says, and in the answer that it opens with."""

import concurrent.futures
import os
import random
import re
import shutil

from report.answer import answer
from report.claims import choice
from report.figures.context import Context
from report.ledger import ledger, settings

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
# At least and at most, of 1,000 ledgers: that claim a loss anywhere, whose answer is one.
ASKED = {
    "three kinds, equal": ((0, 50), (0, 50)),
    "three kinds on 1 and 2 GPUs, equal": ((0, 50), (0, 50)),
    "three kinds, one loses 5 %": ((900, 1000), (900, 1000)),
    "seven kinds, one loses 5 %": ((0, 1000), (800, 1000)),
}


def made(case, number):
    """The simulated.Ledger of that number."""
    kinds, planted, counts = CASES[case]
    source, found = random.Random(f"{case} {number}"), simulated.Ledger("2026-01-01", whole=True)
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
                found, source, n, 64, cells, "normal", 0.02, ceiling=gpus * 1000.0, gpus=gpus
            )
    return found


def answers(records):
    """What a report of these records opens with."""
    found = answer.of(settings.group(records), Context("", ""))
    choice.choose.cache_clear()  # or the cells of all ledgers stay
    return found


def _claims(options, folder, case, number):
    """(whether anything that the report says claims a loss: the terminal's words, the index, the
    tables; whether its answer is one)."""
    place = made(case, number).write(os.path.join(folder, f"{number}"))
    words = simulated.answer(options.program, "report", place, "--no-figures", "--no-html")
    for name in ("index.md", "table.md"):
        with open(os.path.join(place, "report", name), encoding="utf-8") as file:
            words += file.read()
    first = answers(ledger.read(ledger.find(place), lambda text: None))[0]
    shutil.rmtree(place)
    return bool(CLAIM.search(words)), first.verdict == answer.LOSES


def run(options, folder):
    count, missed = 20 if options.small else 1000, []
    print(
        f"`feedrate report`, {count:,} ledgers each: six repetitions, two worker counts, 2 % noise"
        " in every run. A ledger counts as soon as one sentence of the terminal, the index or the"
        " tables claims a loss or a difference; beside it, those whose answer is a loss.\n"
    )
    print("| ledgers | claim a loss anywhere | the answer is one |\n| --- | ---: | ---: |")
    for case in CASES:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(lambda n: _claims(options, folder, case, n), range(count)))  # noqa: B023
        claimed = [sum(which) for which in zip(*found)]
        print(f"| {case} | {claimed[0]} | {claimed[1]} |", flush=True)
        slack = 0.2 * count if options.small else 0
        for seen, (least, most) in zip(claimed, ASKED.get(case, ())):
            if not least * count / 1000 - slack <= seen <= most * count / 1000 + slack:
                missed.append(
                    f"{case}: {seen} of {count} claim a loss, {least * count // 1000} to"
                    f" {most * count // 1000} are asked"
                )
    return missed
