"""The flags of a setting as the page tells them: each once, with how many cells carry it and the
words of the worst."""

from __future__ import annotations

import re

from . import tables
from .html_cells import name
from .text import clean

RANK = {"serious": 2, "warning": 1}
SHOWN = 8  # cells of a flag that are named


def of(setting, cells):
    """[{name, severity, count, of, which, reason, remedy, rows, more}, …], the serious ones first,
    and of those the most frequent."""
    found, every = {}, setting.planned
    for cell in every:
        for flag in [*cell.flags, *_derived(cell)]:
            found.setdefault(clean(flag.get("name") or "?", 40), []).append((cell, flag))
    flags = [_described(flag, raised, len(every), cells) for flag, raised in found.items()]
    return sorted(flags, key=lambda f: (-RANK.get(f["severity"], 0), -f["count"]))


def _derived(cell):
    """Those that follow from several records."""
    return [
        {
            "name": flag.rstrip("!"),
            "severity": "serious" if flag.endswith("!") else "warning",
            "reason": tables.DERIVED[flag],
        }
        for flag in tables.flag_names(cell)
        if flag in tables.DERIVED
    ]


def _described(flag, raised, among, cells):
    worst = max((found for _, found in raised), key=_weight)
    carriers = list(dict.fromkeys(cell for cell, _ in raised))
    several = len({str(found.get("reason")) for _, found in raised}) > 1
    return {
        "name": flag,
        "severity": clean(worst.get("severity") or "note", 20),
        "count": len(carriers),
        "of": among,
        "reason": clean(worst.get("reason") or "", 500),
        "remedy": clean(worst.get("remedy") or "", 500),
        "which": "" if not several else "worst: " if _weight(worst)[1] else "for example: ",
        "rows": [(cells.id_of(cell), name(cell)) for cell in carriers[:SHOWN]],
        "more": max(len(carriers) - SHOWN, 0),
    }


def _weight(flag):
    """By its severity, then by the largest share in its reason."""
    shares = re.findall(r"(\d{1,9}(?:\.\d{1,9})?) %", str(flag.get("reason"))[:1000])
    return RANK.get(str(flag.get("severity")), 0), max(map(float, shares), default=0.0)
