"""Writes the report's files, each whole or not at all, and the index that leads to them."""

from __future__ import annotations

import argparse
import io
import os
import re
import tempfile

from . import answer, diagnosis_tables, interrupts
from .ledger import ReportError
from .tables import DERIVED, flag_names, incomplete_lines
from .terminal import losses, wordings
from .text import clean, markdown, markdown_table

FORMATS = ("pdf", "svg", "png")
TEMPORARY = ".report-"  # how a file begins that is not whole yet
# What a report may have beside tables and figures: the index's words for it.
ELSEWHERE = {
    "page": "Interactive: [index.html](index.html).",
    "slides": "Slides: [slides.pptx](slides.pptx).",
    "paper": (
        "For a paper: [figures with captions](paper/figures.tex), [methods](paper/methods.md)."
    ),
}
# No dates in the files: the same ledger gives the same bytes.
METADATA = {"pdf": {"CreationDate": None, "ModDate": None}, "svg": {"Date": None}, "png": {}}


def add_options(parser, default):
    """Those of every command that writes figures."""
    words = f"where to write (default: {default})"
    parser.add_argument("-o", "--output", metavar="DIR", help=words)
    words, usual = "figure formats (default: pdf,svg,png)", "pdf,svg,png"
    parser.add_argument("--formats", default=usual, type=_formats, help=words)


def _formats(text):
    names = text.split(",")
    if not set(names) <= set(FORMATS):
        raise argparse.ArgumentTypeError(f"{text!r}: choose from pdf, svg, png")
    return names


def write(path, data):
    """Atomically: a reader sees the old file or the new one, never half of it."""
    folder = os.path.dirname(path) or "."
    interrupts.sweep(folder, TEMPORARY)
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=interrupts.prefix(TEMPORARY), dir=folder)
    except OSError as error:
        raise ReportError(
            folder,
            error.strerror or "cannot be written",
            "make it writable, or name another folder with --output",
        )
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        raise ReportError(path, error.strerror or "cannot be written", "free some space")
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def make_folder(folder):
    try:
        os.makedirs(folder, exist_ok=True)
        interrupts.sweep(folder, TEMPORARY)  # forks write there, too
    except OSError as error:
        raise ReportError(
            folder, error.strerror or "cannot be made", "name another folder with --output"
        )


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def figure_bytes(figure, kind, dpi):
    """The figure as PDF, SVG or PNG."""
    stream = io.BytesIO()
    # half the time of 6, 3 % more bytes
    packing = {"pil_kwargs": {"compress_level": 4}} if kind == "png" else {}
    figure.savefig(stream, format=kind, dpi=dpi, metadata=METADATA[kind], **packing)
    return stream.getvalue()


def remove_stale(folder, stems, written):
    """Figures of an earlier report that this ledger no longer gives; nothing else in the folder."""
    names = "|".join(map(re.escape, stems))
    ours = re.compile(rf"(?:{names})(?:\.[\w.-]+)?\.(?:pdf|svg|png)")
    for name in os.listdir(folder):
        if ours.fullmatch(name) and name not in written:
            os.unlink(os.path.join(folder, name))


def figure_line(drawn):
    """A figure in the index: its files, the setting, what it says and what it shows."""
    name = drawn.plan.name
    links = ", ".join(f"[{kind.upper()}]({name}.{kind})" for kind in drawn.kinds)
    return (
        f"- **{name}** ({links}): {markdown(drawn.plan.words)}. {markdown(drawn.finding)}."
        f" {markdown(drawn.sentence)}."
    )


def index(settings, title_of, figures, leads_to, context):
    """index.md: the answer of each setting, what else there is, a line for each figure, the flags,
    what is missing."""
    version = f", written by feedrate {markdown(context.version)}" if context.version else ""
    elsewhere = "".join(" " + words for key, words in ELSEWHERE.items() if key in leads_to)
    answers = answer.of(settings, context)
    lines = _answer("#", answers[0]) if answers else ["# Report", ""]
    lines += [
        f"Drawn from {markdown(context.ledger_name)}{version}. Tables: [table.md](table.md),"
        " [table.csv](table.csv), [table.tex](table.tex), [workers.csv](workers.csv)." + elsewhere,
        "",
    ]
    for other in answers[1:]:
        lines += _answer("##", other)
    lines += ["## Figures", "", *figures]
    lines += [] if figures else ["None: no cell has a result, or figures were not asked for."]
    for setting in settings:
        lines += ["", f"## {markdown(title_of(setting))}", "", "Flags:", ""]
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
