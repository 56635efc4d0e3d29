"""A comparison as text: an aligned table for the terminal, and what is to be said below it."""

from __future__ import annotations

import math
from collections import Counter
from types import SimpleNamespace

from ..answer.terminal import aligned, wrapped
from ..claims.tables import letters
from ..ledger import axes as axis_tables
from ..ledger import surroundings
from ..ledger.cells import Ceiling
from ..ledger.heading import heading
from ..text import clean, gpus, listing, percent, plus_minus, workers
from .verdicts import EQUAL, FASTER, INCOMPARABLE, LEVEL, SLOWER, SMALL, UNSEEN

HEAD = ("cell", "n", "A, imgs/s", "B, imgs/s", "B/A", "95 % interval", "% of ceiling", "verdict")
LEFT = (0, 7)


def told(baseline, side, found, rules):
    """What every form of the comparison of a side with the baseline says; `tables`: {machine
    settings: rows under HEAD}."""
    notes = letters(dict.fromkeys(words for c in found for words in c.notes))
    tables, records = {}, (baseline.records, side.records)
    for c in found:
        tables.setdefault(headings(c, baseline, side), []).append(row(c, notes, rules))
    return SimpleNamespace(
        path=side.path,
        unlike=surroundings.unlike(*records),
        differences=surroundings.lines(*records),
        summary=summary(found, rules),
        tables=tables,
        footnotes=footnotes(found, notes),
    )


def text(baseline, side, found, rules):
    """For the terminal."""
    said, lines = told(baseline, side, found, rules), []
    if said.unlike:
        words = "; ".join(f"{words}: {a} in A, {b} in B" for words, a, b in said.unlike)
        lines += [*wrapped(f"UNLIKE MACHINES: {words}.", "  "), ""]
    lines += [f"A: {clean(baseline.path, 90)}", f"B: {clean(side.path, 90)}", ""]
    every = [HEAD, *(r for rows in said.tables.values() for r in rows)]
    widths = [max(map(len, column)) for column in zip(*every)][:-1] + [0]
    for title, rows in said.tables.items():
        lines += [line for words in title for line in wrapped(words, "   ")] + [""]
        lines += [aligned(words, widths, LEFT) for words in (HEAD, *rows)] + [""]
    lines += [line for words in said.footnotes for line in wrapped(words, "  ")]
    lines += ["", "Differs between A and B:"]
    lines += ["  " + line for words in said.differences for line in wrapped(words, "  ")]
    lines += ["", *(line for words in said.summary for line in wrapped(words, "  "))]
    return "\n".join(lines)


def headings(comparison, side_a, side_b):
    """The machine setting, or both where they differ."""
    pair = comparison.pair
    words = [
        (name, heading(side.setting_of[id(cell)]))
        for name, side, cell in (("A", side_a, pair.a), ("B", side_b, pair.b))
        if cell
    ]
    if len({title for _, title in words}) == 1:
        return (words[0][1],)
    return tuple(f"{name}: {title}" for name, title in words)


def label(comparison, across):
    """The cell in words; an axis that was compared across as "pool → batch"."""
    pair = comparison.pair
    cell = pair.one
    size = cell.image_size or ("" if cell.axes.get("input-size") != "native" else cell.input_size)
    words = ["ceiling" if isinstance(cell, Ceiling) else clean(cell.data, 20)]
    words[0] += f" {clean(size, 20)}" if size else ""
    words += [workers(cell.workers)] if cell.workers is not None else []
    words += [gpus(cell.gpus)] if cell.gpus > 1 else []
    variants = [cell.variant for cell in (pair.a, pair.b) if cell and cell.variant]
    words += [max(variants, key=len)] if variants else []
    for axis in across if pair.a and pair.b else ():
        values = [c.said(axis) for c in (pair.a, pair.b)]
        if values[0] != values[1] and axis not in axis_tables.own().of_setting:
            words.append(f"{clean(axis, 40)} {values[0]} → {values[1]}")
    return ", ".join(words)


def row(c, notes, rules):
    """The texts under HEAD."""
    low, high = c.rate.interval if c.rate else (None, None)
    marks = "".join(f" [{notes[words]}]" for words in c.notes)
    return (
        label(c, rules.across),
        _counts(c.pair),
        _rate(c.pair.a),
        _rate(c.pair.b),
        factor(c.rate.ratio) if c.rate else "-",
        f"{factor(low)} to {factor(high)}" if c.rate else "-",
        _share(c),
        verdict_words(c) + marks,
    )


def _counts(pair):
    """Repetitions with a result, of A and B."""
    counts = [cell.rate.n if cell and cell.rate else 0 for cell in (pair.a, pair.b)]
    return str(counts[0]) if counts[0] == counts[1] else f"{counts[0]}, {counts[1]}"


def _rate(cell):
    return plus_minus(cell.rate) if cell and cell.rate else "-"


def _share(c):
    values = [cell.ratio.mean if cell and cell.ratio else None for cell in (c.pair.a, c.pair.b)]
    if None in values or not c.share:
        return "-"
    sign = {FASTER: " up", SLOWER: " down"}.get(c.share_verdict, "")
    return " → ".join(f"{100 * v:.1f}" for v in values) + sign


def factor(value):
    """A ratio: three digits after the point, as long as that is readable."""
    return f"{value:.3f}" if value < 99.95 else f"{value:,.0f}" if value < 1e7 else f"{value:.2g}"


def verdict_words(c):
    """The verdict, with what could have been seen where nothing was, or why there is none."""
    if c.verdict == INCOMPARABLE:
        return f"{INCOMPARABLE}: {c.reason}"
    if c.verdict in (UNSEEN, SMALL):
        width = math.expm1(c.rate.half_width)
        return f"{c.verdict} (±{percent(width) if width < 10 else '1000 % or more'})"
    return c.verdict


def footnotes(found, notes):
    """What the marks mean, and a remedy for every kind of reason."""
    lines = []
    if any(c.verdict == UNSEEN for c in found):
        lines.append(
            "no difference seen (±x %): a difference of less than x % would not have shown in these"
            " repetitions; it does not say that there is none."
        )
    if any(c.share for c in found):
        lines.append(
            "% of ceiling: A → B (each repetition by its own ceiling); up or down where it is shown"
            " to differ, by more than the margin: no mark does not say that both are equal."
        )
    lines += [f"[{mark}] {words}" for words, mark in notes.items()]
    remedies = {}
    for c in found:
        if c.remedy:
            remedies.setdefault(c.remedy, []).append(c.reason)
    for remedy, reasons in remedies.items():
        lines.append(f"{listing(dict.fromkeys(reasons[:3]))}: {remedy}.")
    return lines


def summary(found, rules):
    """The counts, and how many differences chance alone would show."""
    count = Counter(c.verdict for c in found)
    compared = sum(c.rate is not None for c in found)
    margin = f"±{100 * rules.margin:g} %"
    lines = [
        f"{len(found)} cells: {count[FASTER]} faster, {count[SLOWER]} slower, {count[EQUAL]} equal"
        f" within {margin}, {count[UNSEEN] + count[SMALL]} with no difference seen beyond it,"
        f" {count[INCOMPARABLE]} not comparable."
    ]
    if compared and rules.adjust == "holm":
        lines.append(
            "Holm: the risk that any of the cells compared, those of all folders together, is"
            " called different and is not is 5 %. The intervals are 95 % each, not adjusted."
        )
    elif compared > 1:
        lines.append(
            f"{compared} cells compared at 5 % each: up to {LEVEL * compared:.2g} would be called"
            " different by chance if none were. --adjust holm bounds that risk for all of them"
            " together."
        )
    return lines
