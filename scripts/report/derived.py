"""The files of a report that are text, and what their writers draw on."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from . import latex_table, methods, output, tables
from .figures import NAMED
from .heading import heading


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


@dataclass(frozen=True)
class Source:
    """What a writer may draw on."""

    settings: list
    context: Context
    figures: tuple = ()  # a line of the index for each
    leads_to: tuple = ()  # what else the index names: keys of output.ELSEWHERE


# A new file of text: one line here, and it is written with every report. The captions of a paper
# are not here: they are written while the figures are drawn.
TABLES = {
    "table.csv": lambda source: tables.write_csv(source.settings),
    "table.md": lambda source: tables.write_markdown(source.settings, heading),
    "workers.csv": lambda source: tables.write_chosen_csv(source.settings),
    "table.tex": lambda source: latex_table.write(source.settings, heading),
}
PAPER = {
    "paper/methods.md": lambda source: methods.write_markdown(source.settings, source.context),
    "paper/methods.tex": lambda source: methods.write_latex(source.settings, source.context),
}
INDEX = {
    "index.md": lambda source: output.index(
        source.settings, heading, source.figures, source.leads_to, source.context
    ),
}


def write(folder, writers, source):
    """The names of the files."""
    for name, make in writers.items():
        output.write(os.path.join(folder, name), make(source))
    return list(writers)
