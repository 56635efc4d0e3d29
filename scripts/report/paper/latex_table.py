"""The short table in LaTeX, for \\input in a paper (booktabs), in one of its columns."""

from __future__ import annotations

from ..claims import quotable, tables
from ..ledger import ledger
from ..ledger.cells import DRIFTED, Ceiling
from ..ledger.heading import heading
from ..text import latex

ROWS = 40  # of a tabular: a page holds no more
# Columns of tables.row: those of every table, and those that the caption says where they do not
# vary.
DATA, RATE, SHARE = 0, 5, 6
MAY_VARY = (1, 2, 3, 4)
SAID = ("stored at {}", "workers: {}", "GPUs: {}", "n = {}")
# Narrow type is seldom narrow enough for long names.
FITTED = r"\resizebox{\ifdim\width>\columnwidth\columnwidth\else\width\fi}{!}{"


def write(settings):
    """A table for each setting and variant, cut into pages; below it what its marks mean."""
    lines = [r"% \usepackage{booktabs,graphicx,textcomp}; each table fits one column."]
    number = 0
    for setting in settings:
        for variant, cells in tables.by_variant(setting):
            title = heading(setting) + (f", with {variant}" if variant else "")
            for at in range(0, len(cells), ROWS):
                number += 1
                more = ", continued" if at else ""
                label = f"tab:feedrate-{number}"
                lines += ["", *_table(cells[at : at + ROWS], title + more, label)]
    return "\n".join(lines) + "\n"


def _table(cells, title, label):
    marks = _marks(cells)
    rows = [tables.short_row(cell) for cell in cells]
    columns, said = _columns(rows)
    body = [
        [*(latex(row[i]) for i in columns), *_marked(cell, marks)] for row, cell in zip(rows, cells)
    ]
    words = ["Images per second and share of the synthetic ceiling", title, *said]
    return [
        r"\begin{table}",
        r"  \centering\footnotesize\setlength{\tabcolsep}{3pt}",
        rf"  \caption{{{latex('; '.join(words))}.}}",
        rf"  \label{{{label}}}",
        "  " + FITTED,
        rf"  \begin{{tabular}}{{@{{}}l{'r' * (len(columns) - 1)}@{{\,}}l@{{}}}}",
        r"    \toprule",
        "    " + _line([latex(tables.HEAD[i]) for i in columns] + [""]),
        r"    \midrule",
        *("    " + _line(row) for row in body),
        r"    \bottomrule",
        r"  \end{tabular}}",
        *_footnotes(cells, marks),
        r"\end{table}",
    ]


def _line(words):
    return " & ".join(words) + r" \\"


def _columns(rows):
    """(the columns of a table, what its caption says of those left out)."""
    found = {i: sorted({row[i] for row in rows} - {"-"}) for i in MAY_VARY}
    said = [words.format(found[i][0]) for i, words in zip(MAY_VARY, SAID) if len(found[i]) == 1]
    return [DATA, *(i for i in MAY_VARY if len(found[i]) > 1), RATE, SHARE], said


def _marked(cell, marks):
    letters = [marks[name] for name in tables.flag_names(cell) if marks.get(name)]
    return [rf"\textsuperscript{{{latex(' '.join(letters))}}}" if letters else ""]


def _marks(cells):
    """{flag: its mark}: none for what every cell carries."""
    flags = [set(tables.flag_names(cell)) for cell in cells if not isinstance(cell, Ceiling)]
    everywhere = set.intersection(*flags) if flags else set()
    rarer = [name for name in tables.marks(cells) if name not in everywhere]
    return dict.fromkeys(sorted(everywhere - {DRIFTED}), "") | tables.letters(rarer)


def _footnotes(cells, marks):
    """What the marks of the rows mean, each in a few words."""
    notes = [
        (rf"\textsuperscript{{{latex(mark)}}}\," if mark else "") + latex(_meaning(name, cells))
        for name, mark in marks.items()
    ]
    if any(cell.serious or cell.share_serious for cell in cells):
        notes.append("! not to be quoted")
    if any(tables.drifted(cell) for cell in cells):
        notes.append(latex(f"* {tables.STAR}"))
    if not notes:
        return []
    return [
        r"  \par\smallskip",
        r"  \parbox{\columnwidth}{\scriptsize\raggedright " + ". ".join(notes) + ".}",
    ]


def _meaning(name, cells):
    """Of a flag: its name, how many of the table's runs carry it, and its worst value."""
    if name in tables.DERIVED:
        return f"{name}: {tables.DERIVED[name]}"
    runs = [ledger.flags(run) for cell in cells for run in cell.runs]
    reasons = [f.get("reason") for flags in runs for f in flags if tables.flag_name(f) == name]
    return quotable.named(name, len(reasons), len(runs), reasons)
