"""The short table in LaTeX, for \\input in a paper (booktabs)."""

from __future__ import annotations

from . import tables
from .text import latex

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
        cells = setting.ceilings + setting.cells
        for variant in dict.fromkeys(c.variant for c in cells):
            same = [c for c in cells if c.variant == variant]
            for start in range(0, len(same), ROWS):
                title = (
                    title_of(setting)
                    + (f", with {variant}" if variant else "")
                    + (", continued" if start else "")
                )
                lines += ["", *_tabular(same[start : start + ROWS], title)]
    return "\n".join(lines) + "\n"


def _tabular(cells, title):
    head = " & ".join(latex(words) for words in tables.HEAD)
    lines = [
        r"\begin{tabular}{@{}" + ALIGNED + "@{}}",
        rf"\multicolumn{{{len(ALIGNED)}}}{{@{{}}l@{{}}}}{{{latex(title)}}} \\",
        r"\toprule",
        head + r" \\",
        r"\midrule",
    ]
    for cell in cells:
        words = tables.short_row(cell) + [" ".join(tables.flag_names(cell)) or "-"]
        lines.append(" & ".join(latex(w) for w in words) + r" \\")
    return [*lines, r"\bottomrule", r"\end{tabular}"]
