"""The same cells on another day: whether the first day's intervals hold what the second day says."""

import json
import os
import random

from . import simulated

LEAST = 0.9  # of the cells
REPETITIONS = 10
# How often the 95 % interval of ten repetitions holds the mean of ten others where nothing has
# changed: that mean wanders, too. A t-value of nine degrees of freedom, over the root of two.
ALIKE = "86 %"


def run(options, folder):
    """Of the two ledgers that were given; and of simulated ones, between which nothing changes."""
    missed = []
    if options.days:
        cells = _cells(options.program, *options.days)
        _print_cells(cells)
        within = sum(map(_is_within, cells))
        print(f"\nThe second day's mean lies in the first day's interval in {within} of", end=" ")
        print(f"{len(cells)} cells; in {ALIKE} if nothing has changed.\n")
        if within < LEAST * len(cells):
            missed.append(f"{within} of {len(cells)} cells lie within, nine in ten are asked")
    alike = _cells(options.program, *_two_days_alike(folder, 50 if options.small else 1000))
    share = sum(map(_is_within, alike)) / len(alike)
    print(
        f"Simulated, {len(alike)} cells of {REPETITIONS} repetitions a day, nothing changed:",
        end=" ",
    )
    print(f"{100 * share:.1f} %.")
    return missed


def _print_cells(cells):
    print(
        "| cell | share of the ceiling, first day (95 %) | second day | within |"
        " share, second / first (95 %) |\n|---|---|---|---|---|"
    )
    for cell in cells:
        low, mean, high = (cell[f"a_ceiling_fraction{end}"] for end in ("_low95", "", "_high95"))
        change, least, most = (
            cell[f"ceiling_fraction_ratio{end}"] for end in ("", "_low95", "_high95")
        )
        print(
            f"| {cell['cell']} | {_percent(mean)} ({_percent(low)} to {_percent(high)}) |"
            f" {_percent(cell['b_ceiling_fraction'])} | {'yes' if _is_within(cell) else 'no'} |"
            f" {change:.3f} ({least:.3f} to {most:.3f}) |"
        )


def _cells(program, first, second):
    found = json.loads(
        simulated.answer(
            program, "compare", first, second, "--json", "--fail-on", "never", "--allow-invalid"
        )
    )["comparisons"][0]["cells"]
    return [
        cell
        for cell in found
        if cell["role"] == "cell"
        and None not in (cell["a_ceiling_fraction_low95"], cell["b_ceiling_fraction"])
    ]


def _is_within(cell):
    """To the tenth of a percent that is shown: a share that is set, 100 %, is the same twice."""
    low, high = cell["a_ceiling_fraction_low95"], cell["a_ceiling_fraction_high95"]
    return round(low, 3) <= round(cell["b_ceiling_fraction"], 3) <= round(high, 3)


def _two_days_alike(folder, count):
    source = random.Random(1)
    for day in ("2026-01-01", "2026-01-02"):
        ledger = simulated.Ledger(day)
        for setting in range(count):
            cells = [(simulated.axes("jpeg", 1 + setting), 500.0)]
            for number in range(REPETITIONS):
                simulated.repetition(
                    ledger, source, number, 1 + setting, cells, "normal", 0.02, places=[0.0]
                )
        yield ledger.write(os.path.join(folder, day))


def _percent(share):
    return f"{100 * share:.1f} %"
