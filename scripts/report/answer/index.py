"""index.md: the answer of each setting, and what leads to the rest of a report."""

from __future__ import annotations

from ..claims import diagnosis_tables
from ..claims.tables import DERIVED, flag_names, incomplete_lines
from ..ledger.heading import heading
from ..text import clean, markdown, markdown_table
from . import answer
from .terminal import losses, wordings

# What a report may have beside tables and figures: {a file of it: the index's words for it}.
ELSEWHERE = {
    "index.html": "Interactive: [index.html](index.html).",
    "slides.pptx": "Slides: [slides.pptx](slides.pptx).",
    "paper/methods.md": (
        "For a paper: [figures with captions](paper/figures.tex), [methods](paper/methods.md)."
    ),
}


def _figure(drawn):
    """Its files, the setting, what it says and what it shows."""
    name = drawn.plan.name
    links = ", ".join(f"[{kind.upper()}]({name}.{kind})" for kind in drawn.kinds)
    return (
        f"- **{name}** ({links}): {markdown(drawn.plan.words)}. {markdown(drawn.finding)}."
        f" {markdown(drawn.sentence)}."
    )


def text(settings, written, context):
    """index.md: the answer of each setting, what else there is of the files `written`, a line for
    each figure, the flags, what is missing."""
    version = f", written by feedrate {markdown(context.version)}" if context.version else ""
    elsewhere = "".join(" " + words for key, words in ELSEWHERE.items() if key in written)
    answers = answer.of(settings, context)
    lines = _answer("#", answers[0]) if answers else ["# Report", ""]
    lines += [
        f"Drawn from {markdown(context.ledger_name)}{version}. Tables: [table.md](table.md),"
        " [table.csv](table.csv), [table.tex](table.tex), [workers.csv](workers.csv)." + elsewhere,
        "",
    ]
    for other in answers[1:]:
        lines += _answer("##", other)
    none = ["None: no cell has a result, or figures were not asked for."]
    lines += ["## Figures", "", *(map(_figure, context.drawn) if context.drawn else none)]
    for setting in settings:
        lines += ["", f"## {markdown(heading(setting))}", "", "Flags:", ""]
        lines += _flags(setting) or ["- none"]
        gone = [w for cell in setting.ceilings + setting.cells for w in losses(cell)]
        if gone:
            lines += ["", "Missing (never counted as zero):", ""]
            lines += [f"- {markdown(words)}" for words in gone]
        lines += _diagnosis(setting.diagnosis) if setting.diagnosis else []
    return "\n".join(lines) + "\n"


def _answer(level, found):
    parts = (
        ("Found", found.found),
        ("Limit", found.limit),
        ("Cost", found.cost),
        ("How sure", found.validity),
        *((label.capitalize(), words) for label, words in found.facts),
        ("Next", found.advice),
    )
    lines = [f"- {label}: {markdown(words)}" for label, words in parts if words]
    command = f"      {clean(found.command, 4000)}"
    return [f"{level} {markdown(found.title)}", "", *lines, "", command, ""]


def _diagnosis(found):
    lines = ["", f"### Diagnosis of {markdown(found.label)}", "", f"{markdown(found.words())}."]
    lines += ["", *(f"- {markdown(words)}" for words in found.caveats)] if found.caveats else []
    for table in diagnosis_tables.of(found):
        lines += ["", " ".join(f"{table['title']}. {table['note']}".split()), ""]
        lines += markdown_table(table["head"], table["rows"], table["numbers"])
    return lines


def _flags(setting):
    cells, found = setting.planned, {}
    lines = [f"- warning: {markdown(line)}" for line in incomplete_lines(setting)]
    for cell in cells:
        for name in flag_names(cell):
            found[name] = found.get(name, 0) + 1
    said = wordings(cells)
    named = dict.fromkeys([*(name for name in DERIVED if name in found), *said])
    of = {name: f"({found[name]} of {len(cells)} cells)" for name in named}
    words = {**said, **{name: f"{name}: {why}" for name, why in DERIVED.items()}}
    return lines + [f"- {markdown(words[name])} {of[name]}" for name in named]
