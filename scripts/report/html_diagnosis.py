"""What `feedrate diagnose` found, as the page tells it: verdict, what that rests on, tables. Its
figure is the waterfall."""

from __future__ import annotations

from . import diagnosis, diagnosis_tables
from .text import clean


def described(setting, cells, not_quotable=""):
    """`not_quotable` says why nothing of it may be quoted: then no verdict is told."""
    found = setting.diagnosis
    is_told = not (found.is_look or not_quotable)
    return {
        "label": clean(found.label, 200),
        "row": _row(setting, cells),
        "verdict": not_quotable or found.words(),
        "sentence": clean(found.verdict.sentence, 600) if is_told else "",
        "facts": _facts(found, is_told),
        "notes": found.caveats,
        "tables": diagnosis_tables.of(found),
    }


def _facts(found, is_told):
    """What the verdict rests on."""
    v = found.verdict
    evidence = "; ".join(
        f"{clean(kind, 40)}: {clean(name or 'none', 60)}" for kind, name in v.evidence
    )
    facts = [
        ("Confidence", diagnosis.confidence(v.confidence) if v.confidence is not None else ""),
        ("Clear", "yes" if v.is_clear else "no"),
        ("Resources", ", ".join(clean(name, 40) for name in v.resources)),
        ("Evidence", f"{'agrees' if v.agrees else 'does not agree'} ({evidence})"),
    ]
    measured = [("Measured", found.measured)]
    # where nothing is claimed, there is no confidence to tell either
    return [*(pair for pair in facts if pair[1]), *measured] if is_told else measured


def _row(setting, cells):
    """Of the ledger's cell that was diagnosed; "" where it holds none."""
    want = {k: v for k, v in setting.diagnosis.cell.items() if v is not None}
    same = (c for c in setting.cells if {k: v for k, v in c.axes.items() if v is not None} == want)
    return next(map(cells.id_of, same), "")
