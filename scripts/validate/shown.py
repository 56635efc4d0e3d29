"""How often the intervals that users are shown hold the truth: simulated ledgers, read back from
the tables of `feedrate report`."""

import csv
import math
import os
import random

from . import simulated

KINDS = ("jpeg", "png", "bmp", "npy")
SIZE = 0.02
# of a repetition's speed; SIZE for the others
COMMON = {"two equal counts, 10 % in common": 0.10}
# What is drawn, and the true images/s of each count of workers (of 1, 2, 4, 8, 16).
CURVES = {
    "one count": (500.0,),
    "one count, ceilings around": (500.0,),
    "two equal counts": (500.0, 500.0),
    "five equal counts": (500.0,) * 5,
    "two equal counts, 10 % in common": (500.0, 500.0),
    "rising, the last two equal": (250.0, 450.0, 495.0, 500.0, 500.0),
    "within 1 % of each other": (496.0, 498.0, 499.0, 500.0),
}
WORKERS = (1, 2, 4, 8, 16)


def _write(folder, curve, count, settings, seed):
    """Writes `settings` settings of four kinds of data, on 1 GPU and on 2 GPUs with a scaling
    efficiency of 90 %."""
    source, ledger = random.Random(f"{seed} {curve} {count}"), simulated.Ledger("2026-01-01")
    for setting in range(1, settings + 1):
        for gpus, scale in ((1, 1.0), (2, 1.8)):
            cells = [
                (simulated.axes(data, setting, workers=workers, gpus=gpus), scale * true)
                for data in KINDS
                for workers, true in zip(WORKERS, CURVES[curve])
            ]
            for n in range(count):
                # The machine's speed differs between repetitions, alike for all their runs: shares
                # and scaling must not depend on it.
                common = math.exp(source.gauss(0, COMMON.get(curve, SIZE)))
                scaled = [(cell, true * common) for cell, true in cells]
                simulated.repetition(
                    ledger,
                    source,
                    n,
                    setting,
                    scaled,
                    "normal",
                    SIZE,
                    source.gauss(0, 0.01),
                    ceiling=scale * 1000.0 * common,
                    gpus=gpus,
                    in_pairs="around" not in curve,
                )
    return ledger.write(folder)


def _rows(folder, name):
    with open(os.path.join(folder, "report", name), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _held(row, name, truth):
    return float(row[f"{name}_low95"]) <= truth <= float(row[f"{name}_high95"])


def covered(program, folder, curve, count, settings, seed=1):
    """{what: (how often the interval holds the truth, of how many)}."""
    _write(folder, curve, count, settings, seed)
    simulated.answer(program, "report", folder, "--no-figures", "--no-html")
    found = {}

    def add(what, holds):
        held, of = found.get(what, (0, 0))
        found[what] = held + holds, of + 1

    for row in (r for r in _rows(folder, "table.csv") if r["role"] == "cell"):
        gpus = int(row["gpus"])
        truth = CURVES[curve][WORKERS.index(int(row["workers"]))]
        add(
            f"rate, {gpus} GPU{'s' * (gpus > 1)}",
            _held(row, "imgs_per_s", truth * (1 if gpus == 1 else 1.8)),
        )
        add("share of the ceiling", _held(row, "ceiling_fraction", truth / 1000))
        if gpus == 2:
            add("scaling efficiency", _held(row, "scaling_efficiency", 0.9))
    for row in _rows(folder, "workers.csv"):
        truth = CURVES[curve][WORKERS.index(int(row["workers"]))]
        add(
            "rate at the workers chosen",
            _held(row, "imgs_per_s", truth * (1 if int(row["gpus"]) == 1 else 1.8)),
        )
        add("share at the workers chosen", _held(row, "ceiling_fraction", truth / 1000))
    return found


def run(options, folder):
    settings, missed, total = 15 if options.small else 125, [], {}
    print(
        "`feedrate report`: intervals of its tables that hold the truth, of 2 % noise from run to"
        " run, 2 % more that a repetition has in common, and 1 % of drift within it.\n"
    )
    print(
        "| true rates over workers | repetitions | what | intervals | hold the truth |\n| --- |"
        " ---: | --- | ---: | ---: |"
    )
    for curve in CURVES:
        for count in (3, 6, 12):
            found = covered(
                options.program,
                os.path.join(folder, f"{len(total)}-{count}"),
                curve,
                count,
                settings,
            )
            for what, (held, of) in found.items():
                if "one count" not in curve and "chosen" not in what:
                    continue
                print(
                    f"| {curve} | {count} | {what} | {of} | {100 * held / of:.1f} % |", flush=True
                )
                total[curve, count, what] = held, of
                # Three standard errors of a proportion of that many.
                slack = 3 * (0.05 * 0.95 / of) ** 0.5
                if (
                    not (0.93 - slack if options.small else 0.93)
                    <= held / of
                    <= (1 if options.small else 0.97)
                ):
                    missed.append(
                        f"{curve}, {count} repetitions: {what} {100 * held / of:.1f} %, 93 to 97 %"
                        " are asked"
                    )
    return missed
