"""A comparison for other programs (JSON, CSV) and for a page (Markdown)."""

from __future__ import annotations

import csv
import io
import json

from . import compare_table, surroundings, verdicts
from .cells import Ceiling
from .text import csv_cell, markdown

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
        rate = cell.rate if cell else None
        share = cell.ratio if cell else None
        out.update(
            {
                f"{side}_cell_id": cell.cell_id if cell else None,
                f"{side}_device": _device(cell),
                f"{side}_repetitions": rate.n if rate else 0,
                f"{side}_imgs_per_s": rate.mean if rate else None,
                f"{side}_imgs_per_s_low95": rate.low if rate else None,
                f"{side}_imgs_per_s_high95": rate.high if rate else None,
                f"{side}_ceiling_fraction": share.mean if share else None,
                f"{side}_ceiling_fraction_low95": share.low if share else None,
                f"{side}_ceiling_fraction_high95": share.high if share else None,
            }
        )
    out.update(
        _difference("ratio", c.rate), p=c.p, **_difference("ceiling_fraction_ratio", c.share)
    )
    out.update(ceiling_fraction_verdict=c.share_verdict or None, notes=c.notes)
    return out


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
    return json.dumps(
        {
            "schema": SCHEMA,
            "confidence": 1 - verdicts.LEVEL,
            "margin": rules.margin,
            "adjust": rules.adjust,
            "across": list(rules.across),
            "allow_invalid": rules.allow_invalid,
            "allow_limits": rules.allow_limits,
            "baseline": baseline.path,
            "exit_code": code,
            "comparisons": [
                {
                    "other": side.path,
                    "cells": [
                        {
                            **fields(c, rules),
                            "axes_a": c.pair.a and c.pair.a.axes,
                            "axes_b": c.pair.b and c.pair.b.axes,
                        }
                        for c in found
                    ],
                    "unlike": [
                        {"what": words, "a": a, "b": b}
                        for words, a, b in surroundings.unlike(baseline.records, side.records)
                    ],
                    "environment": [
                        {"what": words, "a": a, "b": b}
                        for words, a, b in surroundings.differences(baseline.records, side.records)[
                            0
                        ]
                    ],
                }
                for side, found in others
            ],
        },
        indent=1,
    )


def write_csv(baseline, others, rules):
    """A line a cell: its axes (A's, then B's where one was compared across), then the numbers."""
    everything = [c for _, found in others for c in found]
    axes = list(
        dict.fromkeys(
            axis for c in everything for cell in (c.pair.a, c.pair.b) if cell for axis in cell.axes
        )
    )
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = list(fields(everything[0], rules))
    writer.writerow(
        [csv_cell(n) for n in ["a", "b", *axes, *(f"{axis} of b" for axis in rules.across), *names]]
    )
    for side, found in others:
        for c in found:
            cells = [c.pair.one.axes.get(axis) for axis in axes]
            cells += [c.pair.b.axes.get(axis) if c.pair.b else None for axis in rules.across]
            numbers = {**fields(c, rules), "notes": "; ".join(c.notes) or None}
            writer.writerow(
                [csv_cell(v) for v in [baseline.path, side.path, *cells, *numbers.values()]]
            )
    return out.getvalue()


def write_markdown(baseline, others, rules):
    """A heading a folder, a table a machine setting."""
    lines = ["# Comparison", ""]
    for side, found in others:
        notes = compare_table.letters(found)
        lines += [f"A: {markdown(baseline.path)}  ", f"B: {markdown(side.path)}", ""]
        lines += [
            f"**Unlike machines**, {markdown(words)}: {markdown(a)} in A, {markdown(b)} in B.  "
            for words, a, b in surroundings.unlike(baseline.records, side.records)
        ]
        lines += [""] if lines[-1] else []
        groups = {}
        for c in found:
            groups.setdefault(compare_table.headings(c, baseline, side), []).append(c)
        for title, cells in groups.items():
            lines += [
                "## " + markdown("; ".join(title)),
                "",
                "| " + " | ".join(compare_table.HEAD) + " |",
                "| --- |" + " ---: |" * 6 + " --- |",
            ]
            lines += [
                "| " + " | ".join(markdown(w) for w in compare_table.row(c, notes, rules)) + " |"
                for c in cells
            ]
            lines.append("")
        lines += [f"- {markdown(w)}" for w in compare_table.footnotes(found, notes)]
        lines += ["", "What else differs:", ""]
        lines += [f"- {markdown(w)}" for w in surroundings.lines(baseline.records, side.records)]
        lines += [""] + [markdown(w) for w in compare_table.summary(found, rules)] + [""]
    return "\n".join(lines)
