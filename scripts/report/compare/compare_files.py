"""A comparison for other programs (JSON, CSV) and for a page (Markdown)."""

from __future__ import annotations

import json

from ..ledger import surroundings
from ..ledger.cells import Ceiling
from ..text import csv_text, markdown, markdown_table
from . import compare_table, verdicts

SCHEMA = "feedrate.compare/1"


def fields(c, rules):
    """Every number of a comparison by its name; None where there is none."""
    out = {
        "cell": compare_table.label(c, rules.across),
        "role": "ceiling" if isinstance(c.pair.one, Ceiling) else "cell",
        "verdict": c.verdict,
        "reason": c.reason or None,
        "remedy": c.remedy or None,
    }
    for side, cell in (("a", c.pair.a), ("b", c.pair.b)):
        rate, share = (cell.rate, cell.ratio) if cell else (None, None)
        out[f"{side}_cell_id"] = cell.cell_id if cell else None
        out[f"{side}_device"] = _device(cell)
        out[f"{side}_repetitions"] = rate.n if rate else 0
        for name, found in (("imgs_per_s", rate), ("ceiling_fraction", share)):
            for part, suffix in (("mean", ""), ("low", "_low95"), ("high", "_high95")):
                out[f"{side}_{name}{suffix}"] = getattr(found, part) if found else None
    out |= _difference("ratio", c.rate) | {"p": c.p}
    out |= _difference("ceiling_fraction_ratio", c.share)
    return out | {"ceiling_fraction_verdict": c.share_verdict or None, "notes": c.notes}


def _difference(name, difference):
    low, high = difference.interval if difference else (None, None)
    return {
        name: difference.ratio if difference else None,
        f"{name}_low95": low,
        f"{name}_high95": high,
    }


def _device(cell):
    """What ran it, as it calls itself: an emulated device says so in its name."""
    for record in cell.records + cell.lost if cell else []:
        if isinstance(record.get("device"), dict) and record["device"].get("name"):
            return str(record["device"]["name"])
    return str(cell.axes["device"]) if cell else None


def write_json(baseline, others, rules, code):
    """One object: the rules, the folders, and a list of cells for each folder beside the first."""
    comparisons = []
    for side, found in others:
        sides = baseline.records, side.records
        cells = [
            fields(c, rules)
            | {"axes_a": c.pair.a and c.pair.a.axes, "axes_b": c.pair.b and c.pair.b.axes}
            for c in found
        ]
        one = {"other": side.path, "cells": cells, "unlike": _apart(surroundings.unlike(*sides))}
        one["environment"] = _apart(surroundings.differences(*sides)[0])
        comparisons.append(one)
    whole = {
        "schema": SCHEMA,
        "confidence": 1 - verdicts.LEVEL,
        "margin": rules.margin,
        "adjust": rules.adjust,
        "across": list(rules.across),
        "allow_invalid": rules.allow_invalid,
        "allow_limits": rules.allow_limits,
        "baseline": baseline.path,
        "exit_code": code,
        "comparisons": comparisons,
    }
    return json.dumps(whole, indent=1)


def _apart(found):
    return [{"what": words, "a": a, "b": b} for words, a, b in found]


def write_csv(baseline, others, rules):
    """A line a cell: its axes (A's, then B's where one was compared across), then the numbers."""
    everything = [c for _, found in others for c in found]
    cells = [cell for c in everything for cell in (c.pair.a, c.pair.b) if cell]
    axes = list(dict.fromkeys(axis for cell in cells for axis in cell.axes))
    names = list(fields(everything[0], rules))
    rows = [["a", "b", *axes, *(f"{axis} of b" for axis in rules.across), *names]]
    for side, found in others:
        for c in found:
            cells = [c.pair.one.axes.get(axis) for axis in axes]
            cells += [c.pair.b.axes.get(axis) if c.pair.b else None for axis in rules.across]
            numbers = {**fields(c, rules), "notes": "; ".join(c.notes) or None}
            rows.append([baseline.path, side.path, *cells, *numbers.values()])
    return csv_text(rows)


def write_markdown(baseline, others, rules):
    """A heading a folder, a table a machine setting."""
    lines = ["# Comparison", ""]
    for side, found in others:
        said = compare_table.told(baseline, side, found, rules)
        lines += [f"A: {markdown(baseline.path)}  ", f"B: {markdown(side.path)}", ""]
        for words in said.unlike:
            what, a, b = map(markdown, words)
            lines.append(f"**Unlike machines**, {what}: {a} in A, {b} in B.  ")
        lines += [""] if lines[-1] else []
        for title, rows in said.tables.items():
            lines += ["## " + markdown("; ".join(title)), ""]
            lines += [*markdown_table(compare_table.HEAD, rows, range(1, 7)), ""]
        lines += [f"- {markdown(words)}" for words in said.footnotes]
        lines += ["", "What else differs:", ""]
        lines += [f"- {markdown(words)}" for words in said.differences]
        lines += ["", *map(markdown, said.summary), ""]
    return "\n".join(lines)
