"""The short table in LaTeX, for \\input in a paper (booktabs)."""

from __future__ import annotations

from ..claims import tables
from ..text import latex

ROWS = 40  # of a tabular: a page holds no more
ALIGNED = "llrrrrrrll"


def write(settings, title_of):
    """A tabular for each setting and variant, cut into pages; what a cell suffers from stays beside
    it."""
    lines = [
        r"% \usepackage{booktabs,textcomp}",
        r"% One tabular for each setting and variant: put each into a table of its own.",
        (
            r"% ! marks what carries a serious flag: not to be quoted. * marks a share of a ceiling"
            r" that drifted."
        ),
    ]
    for setting in settings:
        for variant, cells in tables.by_variant(setting):
            title = title_of(setting) + (f", with {variant}" if variant else "")
            for at in range(0, len(cells), ROWS):
                more = ", continued" if at else ""
                lines += ["", *_tabular(cells[at : at + ROWS], title + more)]
    return "\n".join(lines) + "\n"


def _tabular(cells, title):
    head, *rows = (
        " & ".join(map(latex, words)) + r" \\" for words in (tables.HEAD, *map(tables.row, cells))
    )
    return [
        r"\begin{tabular}{@{}" + ALIGNED + "@{}}",
        rf"\multicolumn{{{len(ALIGNED)}}}{{@{{}}l@{{}}}}{{{latex(title)}}} \\",
        r"\toprule",
        head,
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
    ]
