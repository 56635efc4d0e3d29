"""A machine setting as the page tells it: the answer, its figures, flags, diagnosis and cells."""

from __future__ import annotations

from xml.etree.ElementTree import ParseError

from . import answer, figures, html_cells, html_diagnosis, html_flags, html_svg, statistics, tables
from .terminal import losses
from .text import clean

FIRST = "share"  # the figure that stands above the others
NARROW, WIDE = "column", "wide"


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
        "flags": html_flags.of(setting, cells),
        "notes": tables.incomplete_lines(setting),
        "losses": [words for cell in every for words in losses(cell)],
        "diagnosis": setting.diagnosis
        and html_diagnosis.described(setting, cells, "" if found.is_valid else found.validity),
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
    plan, parts, why = drawn.plan, {}, ""
    try:
        for part, svg in drawn.svg.items():
            parts[part] = html_svg.embedded(svg, f"f{n}{part[0]}-", links)
    except ParseError as error:
        parts, why = {}, f"its SVG cannot be read: {error}"
    return {
        "name": plan.name,
        "module": plan.module,
        "title": clean(drawn.finding, 400) or plan.module,
        # "4 GPUs", "4 replicas": with these the setting's words end
        "at": plan.words.rpartition(" · ")[2]
        if plan.gpus and len(setting.gpu_counts()) > 1
        else "",
        "sentence": drawn.sentence.rstrip("."),
        "files": [(kind.upper(), f"{plan.name}.{kind}") for kind in drawn.kinds],
        "parts": [(part, parts[part]) for part in (WIDE, NARROW) if part in parts],
        "why": "" if parts else why or "it was drawn for its files alone",
    }


def _why_none(context):
    if "figures" in context.failed:
        return "No figure was drawn: a Python module is missing, which the command named."
    if context.options and context.options.no_figures:
        return "No figure was drawn: --no-figures was given."
    return "No figure was drawn: none would say anything of these cells."
