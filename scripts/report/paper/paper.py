"""The files of a report that are text: tables, and what a paper takes beside its figures."""

from __future__ import annotations

import os

from .. import output
from ..answer import methods
from ..claims import tables
from ..figures import drawing, figures
from ..ledger.heading import heading
from ..text import clean, latex
from . import latex_table

# A new file of text: one line here, and it is written with every report. The captions of a paper
# are not here: they are written while the figures are drawn.
TABLES = {
    "table.csv": lambda settings, _: tables.write_csv(settings),
    "table.md": lambda settings, _: tables.write_markdown(settings, heading),
    "workers.csv": lambda settings, _: tables.write_chosen_csv(settings),
    "table.tex": lambda settings, _: latex_table.write(settings),
}
PAPER = {"paper/methods.md": methods.write_markdown, "paper/methods.tex": methods.write_latex}


def write(folder, writers, settings, context):
    """The names of the files."""
    for name, make in writers.items():
        output.write(os.path.join(folder, name), make(settings, context))
    return list(writers)


def write_files(settings, context, folder):
    """Writes paper/figures.tex, methods.md and methods.tex, and deletes what an earlier report left
    of the figures."""
    place = os.path.join(folder, "paper")
    output.make_folder(place)
    output.write(os.path.join(place, "figures.tex"), _captions(context.drawn))
    texts = write(folder, PAPER, settings, context)
    drawn = set(drawing.paper_files(context.drawn))
    if not context.options.only and "figures" not in context.failed:
        output.remove_stale(place, figures.NAMED, drawn)
    return [*(f"paper/{name}" for name in [*sorted(drawn), "figures.tex"]), *texts]


def _captions(drawn):
    """A figure environment for each PDF. Numbers in it come from the ledger; the words are a
    start, and what else there is to say stands above it as a comment."""
    lines = [
        r"% \usepackage{graphicx,textcomp}; the figures are 3.33 in wide: one column.",
        r"% Each is there as NAME.wide.pdf, too, 7 in wide: for figure*.",
        r"% Set \graphicspath{{paper/}} to the folder of the PDFs.",
    ]
    for d in drawn:
        name = d.plan.name.replace(".", "-").replace("_", "-")
        lines += [
            "",
            *(f"% {clean(words, 2000)}" for words in d.notes),
            r"\begin{figure}",
            r"  \centering",
            rf"  \includegraphics{{{{{d.plan.name}}}.pdf}}",
            r"  \caption{" + " ".join(latex(words) for words in d.caption) + "}",
            rf"  \label{{fig:{name}}}",
            r"\end{figure}",
        ]
    return "\n".join(lines) + "\n"
