"""The files of a report that are text."""

from __future__ import annotations

import os

from .. import output
from ..answer import methods
from ..claims import tables
from ..ledger.heading import heading
from . import latex_table

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
