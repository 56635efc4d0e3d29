"""A machine setting as the page tells it: the answer, its figures, flags, diagnosis and cells."""

from __future__ import annotations

import re
from xml.etree.ElementTree import ParseError

from ..answer import answer
from ..answer.terminal import losses
from ..claims import diagnosis, diagnosis_tables, tables
from ..figures import figures
from ..ledger import statistics
from ..text import clean
from . import html_cells, html_svg

FIRST = "share"  # the figure that stands above the others
NARROW, WIDE = "column", "wide"
RANK = {"serious": 2, "warning": 1}  # of a flag
SHOWN = 8  # cells of a flag that are named


def of(settings, context, cells):
    """Each as the template takes it, the one to open with first."""
    drawn = _figures(settings, context, cells.links())
    return [
        _described(f"setting-{n}", found, drawn[id(found.setting)], context, cells)
        for n, found in enumerate(answer.of(settings, context), 1)
    ]


def _described(name, found, drawn, context, cells):
    setting = found.setting
    every = setting.ceilings + setting.cells
    kinds = sorted({c.rate.kind for c in every if c.rate} - {statistics.SET})
    return {
        "id": name,
        "kind": setting.kind,
        "answer": found,
        "first": [f for f in drawn if f["module"] == FIRST],
        "figures": [f for f in drawn if f["module"] != FIRST],
        "none": "" if drawn else _why_none(context),
        "flags": flags(setting, cells),
        "notes": tables.incomplete_lines(setting),
        "losses": [words for cell in every for words in losses(cell)],
        "diagnosis": setting.diagnosis
        and diagnosed(setting, cells, "" if found.is_valid else found.validity),
        "axes": html_cells.shared_axes(setting),
        "intervals": "; ".join(kinds),
        "drifted": tables.STAR if any(map(tables.drifted, setting.cells)) else "",
        "rows": [cells.row(cell) for cell in every],
    }


def _figures(settings, context, links):
    """{id of a setting: its figures}."""
    setting_of = {plan.name: plan.setting for plan in figures.plan(settings)}
    found = {id(setting): [] for setting in settings}
    for n, drawn in enumerate(context.drawn):
        setting = setting_of[drawn.plan.name]
        found[id(setting)].append(_figure(n, drawn, setting, links))
    return found


def _figure(n, drawn, setting, links):
    plan, there = drawn.plan, [part for part in (WIDE, NARROW) if part in drawn.svg]
    why = "" if there else "it was drawn for its files alone"
    try:
        parts = [
            (part, html_svg.embedded(drawn.svg[part], f"f{n}{part[0]}-", links)) for part in there
        ]
    except ParseError as error:
        parts, why = [], f"its SVG cannot be read: {error}"
    is_at = plan.gpus and len(setting.gpu_counts()) > 1
    return {
        "name": plan.name,
        "module": plan.module,
        "title": clean(drawn.finding, 400) or plan.module,
        # "4 GPUs", "4 replicas": with these the setting's words end
        "at": plan.words.rpartition(" · ")[2] if is_at else "",
        "sentence": drawn.sentence.rstrip("."),
        "files": [(kind.upper(), f"{plan.name}.{kind}") for kind in drawn.kinds],
        "parts": parts,
        "why": why,
    }


def _why_none(context):
    if "figures" in context.failed:
        return "No figure was drawn: a Python module is missing, which the command named."
    if context.options and context.options.no_figures:
        return "No figure was drawn: --no-figures was given."
    return "No figure was drawn: none would say anything of these cells."


def flags(setting, cells):
    """Each once, with how many cells carry it and the words of the worst: [{name, severity, count,
    of, which, reason, remedy, rows, more}, …], the serious ones first, and of those the most
    frequent."""
    found, every = {}, setting.planned
    for cell in every:
        for flag in [*cell.flags, *_derived(cell)]:
            found.setdefault(clean(flag.get("name") or "?", 40), []).append((cell, flag))
    told = [_flag(flag, raised, len(every), cells) for flag, raised in found.items()]
    return sorted(told, key=lambda f: (-RANK.get(f["severity"], 0), -f["count"]))


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


def _flag(flag, raised, among, cells):
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
        "rows": [(cells.id_of(cell), html_cells.name(cell)) for cell in carriers[:SHOWN]],
        "more": max(len(carriers) - SHOWN, 0),
    }


def _weight(flag):
    """By its severity, then by the largest share in its reason."""
    shares = re.findall(r"(\d{1,9}(?:\.\d{1,9})?) %", str(flag.get("reason"))[:1000])
    return RANK.get(str(flag.get("severity")), 0), max(map(float, shares), default=0.0)


def diagnosed(setting, cells, not_quotable=""):
    """What `feedrate diagnose` found: verdict, what that rests on, tables. Its figure is the
    waterfall. `not_quotable` says why nothing of it may be quoted: then no verdict is told."""
    found = setting.diagnosis
    is_told = not (found.is_look or not_quotable)
    return {
        "label": clean(found.label, 200),
        "row": _row_of(setting, cells),
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


def _row_of(setting, cells):
    """Of the ledger's cell that was diagnosed; "" where it holds none."""
    want = {k: v for k, v in setting.diagnosis.cell.items() if v is not None}
    same = (c for c in setting.cells if {k: v for k, v in c.axes.items() if v is not None} == want)
    return next(map(cells.id_of, same), "")
