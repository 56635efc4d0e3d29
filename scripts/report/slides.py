"""slides.pptx: a title, a slide a figure with what it shows as its title, the tables, and how it
was measured. Every title is a placeholder and every table a table, so that all of it can be edited.
"""

from __future__ import annotations

import io
import os

from pptx import Presentation

from . import deck, methods, output, tables
from .heading import EMULATION, heading
from .text import clean

LINES, WIDE = 16, 40  # lines of a table on one slide; letters of the flags in one of them


def write_files(settings, context, folder):
    output.write(os.path.join(folder, "slides.pptx"), _bytes(settings, context))
    return ["slides.pptx"]


def _bytes(settings, context):
    presentation = Presentation()
    presentation.slide_width, presentation.slide_height = deck.WIDTH, deck.HEIGHT
    records = [r for s in settings for c in s.ceilings + s.cells for r in c.runs + c.lost]
    started = sorted(r["started_at"] for r in records if isinstance(r.get("started_at"), str))
    _title(presentation, settings, records, started, context)
    for drawn in context.drawn:
        slide = deck.slide(presentation, drawn.finding, drawn.plan.words)
        deck.picture(
            slide, drawn.picture, f"{clean(drawn.plan.name)}: {clean(drawn.sentence, 400)}"
        )
    for setting in settings:
        _tables(presentation, setting)
    _methods(presentation, settings, context)
    deck.date(presentation, started[-1] if started else "", context.version)
    stream = io.BytesIO()
    presentation.save(stream)
    return deck.without_times(stream.getvalue())


def _title(presentation, settings, records, started, context):
    emulated = (
        f"EMULATED DEVICE: no GPU was measured; {EMULATION}"
        if any(s.kind == "emulated" for s in settings)
        else ""
    )
    hosts = dict.fromkeys(words for r in records for words in [_machine(r)] if words)
    dates = [clean(started[0][:10]), clean(started[-1][:10])] if started else []
    lines = [
        emulated,
        *dict.fromkeys(heading(s) for s in settings),
        *hosts,
        " to ".join(dict.fromkeys(dates)),
        context.ledger_name + (f", feedrate {context.version}" if context.version else ""),
    ]
    deck.title(
        presentation,
        "Training throughput of stored data against the synthetic ceiling",
        [line for line in lines if line],
        len(emulated) > 0,
    )


def _machine(record):
    cpu = record["environment"].get("cpu") if isinstance(record.get("environment"), dict) else None
    if not isinstance(cpu, dict) or not cpu.get("model"):
        return ""
    cores = f", {clean(cpu['cores'], 10)} logical CPUs" if cpu.get("cores") else ""
    host = record["environment"].get("host")
    return (f"{clean(host, 60)}: " if host else "") + clean(cpu["model"], 80) + cores


def _tables(presentation, setting):
    cells = setting.ceilings + setting.cells
    pages = _pages(cells)
    for n, page in enumerate(pages, 1):
        count = f" ({n} of {len(pages)})" if len(pages) > 1 else ""
        slide = deck.slide(presentation, "All cells" + count, heading(setting))
        deck.table(slide, tables.HEAD, [(_words(cell), cell.share_serious) for cell in page], WIDE)
        deck.note(
            slide,
            "! or red: carries a serious flag, or its ceiling does: not to be quoted. "
            "*: share of a ceiling that drifted. missing is not zero.",
        )


def _pages(cells):
    """The cells by slide: one whose flags take several lines leaves room for fewer."""
    pages, taken = [[]], 0
    for cell in cells:
        lines = max(-(-len(word) // WIDE) for word in _words(cell))
        if pages[-1] and taken + lines > LINES:
            pages.append([])
            taken = 0
        pages[-1].append(cell)
        taken += lines
    return pages


def _words(cell):
    data = tables.short_row(cell)
    data[0] += f" ({cell.variant})" if cell.variant else ""
    return data + [" ".join(tables.flag_names(cell)) or "-"]


def _methods(presentation, settings, context):
    paragraphs = [" ".join(sentences) for sentences in methods.paragraphs(settings, context)]
    slide = deck.slide(presentation, "How it was measured, and what to doubt", "")
    deck.text(slide, paragraphs)
