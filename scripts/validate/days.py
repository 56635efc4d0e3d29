"""The same cells on another day: whether the intervals of one hold the means of the other."""

import json
import math
import os
import random

from . import simulated

REPETITIONS = 10
# How often the 95 % interval of ten repetitions holds the mean of ten others where nothing has
# changed: that mean wanders, too. P(|t| < 2.262 / sqrt(2)) with nine degrees of freedom.
ALIKE = 0.856


def run(options, folder):
    """Of the two ledgers that were given; and of simulated ones, between which nothing changes."""
    missed = []
    if options.days:
        cells = _cells(options.program, *options.days)
        _print_cells(cells)
        free = [cell for cell in cells if not _is_set(cell)]
        within, asked = sum(map(_is_within, free)), _least(len(free))
        print(
            f"\nThe second day's mean lies in the first day's interval in {within} of {len(free)}"
            f" cells; {asked} or more of them in 95 % of cases, if nothing has changed. At the rate"
            f" that is set on both days: {len(cells) - len(free)} more.\n"
        )
        if within < asked:
            missed.append(f"{within} of {len(free)} cells lie within, {asked} are asked")
    alike = _cells(options.program, *_two_days_alike(folder, 50 if options.small else 1000))
    share = sum(map(_is_within, alike)) / len(alike)
    print(
        f"Simulated, {len(alike)} cells of {REPETITIONS} repetitions a day, nothing changed:"
        f" {100 * share:.1f} %; {100 * ALIKE:.1f} % are due."
    )
    if abs(share - ALIKE) > 3 * math.sqrt(ALIKE * (1 - ALIKE) / len(alike)):
        missed.append(f"{100 * share:.1f} % of simulated cells lie within")
    return missed


def _least(count):
    """Of so many cells, how many lie within in 95 % of cases where nothing has changed."""
    likely = 0.0
    for within in range(count + 1):
        likely += math.comb(count, within) * ALIKE**within * (1 - ALIKE) ** (count - within)
        if likely > 0.05:
            return within
    return count


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


def _is_set(cell):
    """Whether both days say 100 % and nothing else, as where an emulated device's rate limits."""
    return cell["a_ceiling_fraction_low95"] > 0.9995 and cell["b_ceiling_fraction"] > 0.9995


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
