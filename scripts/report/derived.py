"""The files of a report that are text, and what their writers draw on."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from . import latex_table, methods, output, tables
from .figures import NAMED
from .heading import heading
from .text import clean


@dataclass
class Context:
    """Where the numbers come from, what is wanted of them, and what has been written so far."""

    ledger_name: str
    version: str
    planned: list = field(default_factory=list)  # of plan.read()
    options: object = None
    claims: object = None  # claims.Claims of the settings
    medium: object = None  # what is drawn for: style.SHEET, style.COLUMN, style.WIDE
    figures: tuple = tuple(NAMED)  # names of those that the report may have
    drawn: list = field(default_factory=list)  # drawing.Drawn, in order
    failed: list = field(default_factory=list)  # names of what should be there and is not
    records: int = 0  # how many the ledger holds
    say: object = print  # say(text): a line of talk


def name_of(path, most=60):
    """Of a ledger: its folder's and its own."""
    return clean("/".join(os.path.abspath(path).split(os.sep)[-2:]), most)


# A new file of text: one line here, and it is written with every report. The captions of a paper
# are not here: they are written while the figures are drawn.
TABLES = {
    "table.csv": lambda settings, _: tables.write_csv(settings),
    "table.md": lambda settings, _: tables.write_markdown(settings, heading),
    "workers.csv": lambda settings, _: tables.write_chosen_csv(settings),
    "table.tex": lambda settings, _: latex_table.write(settings, heading),
}
PAPER = {"paper/methods.md": methods.write_markdown, "paper/methods.tex": methods.write_latex}


def write(folder, writers, settings, context):
    """The names of the files."""
    for name, make in writers.items():
        output.write(os.path.join(folder, name), make(settings, context))
    return list(writers)
