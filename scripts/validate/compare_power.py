"""How often `feedrate compare` is wrong, and what it sees: simulated pairs of ledgers, judged by
the command."""

import json
import os
import random
from dataclasses import dataclass, replace

from . import simulated

AT_MOST, AT_LEAST, LOSS = 0.065, 0.95, 0.05


@dataclass(frozen=True)
class Row:
    """One factor at a time differs from the first row."""

    noise: str = "normal"
    sizes: tuple = (0.02, 0.02)  # of A and B: the standard deviation of a run
    counts: tuple = (6, 6)  # repetitions
    ceilings: str = "in pairs"

    @property
    def words(self):
        return (
            f"{self.noise}, " + " and ".join(dict.fromkeys(f"{100 * s:g} %" for s in self.sizes)),
            " and ".join(dict.fromkeys(map(str, self.counts))),
            self.ceilings,
        )


BASE = Row()
ROWS = (
    BASE,
    replace(BASE, sizes=(0.01, 0.01)),
    replace(BASE, sizes=(0.03, 0.03)),
    replace(BASE, counts=(3, 3)),
    replace(BASE, counts=(12, 12)),
    replace(BASE, sizes=(0.03, 0.03), counts=(12, 12)),
    replace(BASE, ceilings="in pairs, drifting"),
    replace(BASE, ceilings="around"),
    replace(BASE, ceilings="around, drifting"),
    replace(BASE, ceilings="around, drifting alike"),
    replace(BASE, noise="skewed (exponential slow-downs)"),
    replace(BASE, noise="skewed (one in ten loses 3 sigma)"),
    replace(BASE, counts=(3, 12)),
    replace(BASE, sizes=(0.01, 0.03)),
)
ASKED = ((0.02, 0.02), (6, 6))  # where 950 of 1,000 are asked to be found


def _slopes(row, source, count):
    """The machine's drift within each repetition: it falls by 8 % on average, as one that heats
    up."""
    drifts = "drifting" in row.ceilings
    return [source.gauss(-0.08, 0.03) if drifts else 0.0 for _ in range(count)]


def _ledgers(row, pairs, seed):
    """A and B: `pairs` settings whose cells are equal, then as many in which B is 5 % slower."""
    source = random.Random(f"{seed} {row}")
    sides = simulated.Ledger("2026-01-01"), simulated.Ledger("2026-01-02")
    for setting in range(2 * pairs):
        common = max(row.counts)
        slopes, places = (
            _slopes(row, source, common),
            [source.uniform(-0.5, 0.5) for _ in range(common)],
        )
        for side, ledger in enumerate(sides):
            if not row.ceilings.endswith("alike"):
                slopes, places = (
                    _slopes(row, source, common),
                    [source.uniform(-0.5, 0.5) for _ in range(common)],
                )
            true = 500.0 * (1 - LOSS if side and setting >= pairs else 1)
            cells = [(simulated.axes("jpeg", 1 + setting), true)]
            for n in range(row.counts[side]):
                simulated.repetition(
                    ledger,
                    source,
                    n,
                    1 + setting,
                    cells,
                    row.noise,
                    row.sizes[side],
                    slopes[n],
                    places[n : n + 1],
                    in_pairs=row.ceilings.startswith("in pairs"),
                )
    return sides


def judged(program, row, pairs, folder, seed=1):
    """({"equal" or "slower": {verdict: how often}}, the same for the share of the ceiling)."""
    a, b = (
        ledger.write(os.path.join(folder, name))
        for name, ledger in zip("ab", _ledgers(row, pairs, seed))
    )
    cells = json.loads(simulated.answer(program, "compare", a, b, "--json"))["comparisons"][0][
        "cells"
    ]
    found = {"equal": {}, "slower": {}}, {"equal": {}, "slower": {}}
    for cell in (c for c in cells if c["role"] == "cell"):
        kind = "equal" if cell["axes_a"]["batch-size"] <= pairs else "slower"
        for counts, verdict in zip(found, (cell["verdict"], cell["ceiling_fraction_verdict"])):
            counts[kind][verdict] = counts[kind].get(verdict, 0) + 1
    return found


def _different(counts):
    return counts.get("slower", 0) + counts.get("faster", 0)


def run(options, folder):
    pairs, missed, found_at = 50 if options.small else 1000, [], {}
    print(
        f"`feedrate compare A B`, {pairs:,} simulated pairs of each kind in a row. Noise is the"
        " standard deviation of a run, and of its share of the ceiling in pairs; around: the"
        " ceiling is measured before and after the cell; drifting: the machine loses 8 % (± 3 %)"
        " within a repetition, alike: A and B lose the same.\n"
    )
    print(
        "| noise of a run | repetitions | ceilings | equal: called different | 5 % slower: called"
        " slower | called faster | share of the ceiling, equal: called different | 5 % lower:"
        " called lower |\n| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |"
    )
    for i, row in enumerate(ROWS):
        rates, shares = judged(options.program, row, pairs, os.path.join(folder, str(i)))
        wrong, right = _different(rates["equal"]), rates["slower"].get("slower", 0)
        found_at[row] = right
        print(
            "| "
            + " | ".join(row.words)
            + f" | {wrong} | {right} | {rates['slower'].get('faster', 0)} |"
            f" {_different(shares['equal'])} | {shares['slower'].get('slower', 0)} |",
            flush=True,
        )
        name = ", ".join(row.words)
        if wrong > (0.2 if options.small else AT_MOST) * pairs:
            missed.append(
                f"{name}: {wrong} equal pairs called different, at most {AT_MOST * pairs:g} are"
                " asked"
            )
        if row == BASE and right < (0.85 if options.small else AT_LEAST) * pairs:
            missed.append(f"{name}: 5 % found in {right}, {AT_LEAST * pairs:g} are asked")
    for fewer, more in ((BASE, ROWS[4]), (ROWS[2], ROWS[5]), (ROWS[3], BASE)):
        if found_at[more] < found_at[fewer] - 3 * (0.25 * pairs) ** 0.5:
            missed.append(f"{more.words}: found less often than with fewer repetitions")
    return missed
