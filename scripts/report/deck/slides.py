"""slides.pptx: six slides that stand alone (what was found, what was measured, how fast, what
limits, what helps, how sure), then an appendix: the other figures, all cells, and how it was
measured. Every title is a placeholder and every table a table, so that all of it can be edited.
"""

from __future__ import annotations

import io
import os

from pptx import Presentation

from .. import output
from ..answer import answer, methods
from ..claims import diagnosis_tables, tables
from ..ledger.heading import heading
from ..text import clean, counted
from . import deck

LINES, WIDE = 16, 40  # lines of a table on one slide; letters of the flags in one of them
NOTE = (
    "! or red: carries a serious flag, or its ceiling does: not to be quoted. *: share of a ceiling"
    " that drifted. missing is not zero."
)
OTHERS = 6  # settings whose answers stand on the last of the six slides
# The figure of a slide is the first of these that was drawn.
SPEED = ("throughput_vs_gpus", "share", "throughput_vs_workers")
FED = ("gpus_fed", *SPEED)
LIMIT = ("waterfall", "stages")


def write_files(settings, context, folder):
    output.write(os.path.join(folder, "slides.pptx"), _bytes(settings, context))
    return ["slides.pptx"]


def _bytes(settings, context):
    presentation = Presentation()
    presentation.slide_width, presentation.slide_height = deck.WIDTH, deck.HEIGHT
    slides = Slides(presentation)
    used = _six(slides, answer.of(settings, context), context)
    for drawn in context.drawn:
        if drawn not in used:
            _figure(slides, drawn)
    for setting in settings:
        _tables(slides, setting)
    paragraphs = [" ".join(sentences) for sentences in methods.paragraphs(settings, context)]
    deck.text(slides.add("How it was measured, and what to doubt"), paragraphs)
    deck.date(presentation, _last_run(settings), context.version)
    stream = io.BytesIO()
    presentation.save(stream)
    return deck.without_times(stream.getvalue())


class Slides:
    """The slides so far, no two of which have the same title."""

    def __init__(self, presentation):
        self._presentation, self._titles = presentation, set()

    def add(self, *titles, line=""):
        """One more, with the first of the titles that no other slide has."""
        fitting = [deck.fitting(words) for words in titles if words]
        numbered = (deck.fitting(f"({n}) {titles[-1]}") for n in range(2, len(self._titles) + 3))
        title = next(t for t in (*fitting, *numbered) if t not in self._titles)
        self._titles.add(title)
        return deck.slide(self._presentation, title, line)


def _six(slides, answers, context):
    """The slides that stand alone; the figures that they show."""
    first = answers[0]
    slide = slides.add(first.found, line=first.about)
    deck.lines(slide, _finding(first), not first.is_valid)
    deck.lines(slides.add(_measured_title(first)), _measured(first, context))
    speed = _drawn(first, context, FED if first.verdict == answer.FEEDS else SPEED)
    limit = _drawn(first, context, LIMIT)
    unknown = first.limit[:1].upper() + first.limit[1:] or "What limits is not known"
    for drawn, title in ((speed, "How fast: no figure was drawn"), (limit, unknown)):
        if drawn:
            own = (title,) if drawn is limit and first.limit else ()
            _figure(slides, drawn, *own)
        else:
            deck.lines(slides.add(title, line=first.about), [("Next", first.next)])
    _remedy(slides, first)
    sure = slides.add(_sure_title(first), line=first.about)
    deck.lines(sure, _doubts(answers))
    return [drawn for drawn in (speed, limit) if drawn]


def _finding(found):
    return [
        ("Found", found.found),
        ("Limit", found.limit),
        ("Cost", found.cost),
        ("How sure", found.validity),
        ("Device", dict(found.facts).get("device", "")),
        ("Next", found.next),
    ]


def _sure_title(found):
    n = found.cell.ratio.n if found.cell and found.cell.ratio else 0
    runs = f"; {counted(n, 'repetition')}" if n else ""
    return f"How sure: {found.validity.partition(';')[0]}{runs}"


def _measured_title(found):
    if found.setting.kind == "emulated":
        return "Measured: storage and loading; not measured: a GPU (EMULATED DEVICE)"
    on = "the CPU" if found.setting.kind == "cpu" else "GPUs"
    return f"Measured: training on {on} beside its ceiling; not measured: accuracy"


def _measured(found, context):
    cells = found.setting.cells
    missing = sum(len(c.lost) for c in found.setting.planned)
    lines = [(label.capitalize(), words) for label, words in found.facts]
    lines += [("Cells", f"{len(cells)}, of them {sum(bool(c.rate) for c in cells)} with a result")]
    if missing:
        lines += [("Missing", f"{missing} runs, which count as missing and never as zero")]
    return [*lines, ("Ledger", context.ledger_name)]


def _drawn(found, context, names):
    """The first of these figures that was drawn of the setting, at the GPUs of the answer if there
    is one."""
    about = heading(found.setting)
    mine = [d for d in context.drawn if (d.plan.words + " · ").startswith(about + " · ")]
    gpus = found.cell.gpus if found.cell else None
    for name in names:
        same = [d for d in mine if d.plan.module == name]
        if same:
            return next((d for d in same if d.plan.gpus == gpus), same[0])
    return None


def _figure(slides, drawn, *titles):
    """A slide of a figure; its title is what the figure says unless another is given."""
    named = [name.replace("_", " ").capitalize() for name in (drawn.plan.module, drawn.plan.name)]
    titles = (*titles, drawn.finding, *(f"{name}: {drawn.finding}" for name in named))
    slide = slides.add(*titles, line=drawn.plan.words)
    words = f"{clean(drawn.plan.name)}: {clean(drawn.sentence, 400)}"
    deck.picture(slide, drawn.picture, words)


def _remedy(slides, found):
    """What a diagnosis advises, with what it may give; else how to get one."""
    diagnosis = found.setting.diagnosis
    tables_of = diagnosis_tables.of(diagnosis) if diagnosis else []
    advice = next((table for table in tables_of if table["title"] == "Advice"), None)
    if not advice:
        slide = slides.add(f"Next: {found.advice}", line="What would help was not measured yet.")
        deck.lines(slide, [("Next", found.next)])
        return
    slide = slides.add(f"What helps: {found.advice}", line=advice["note"])
    deck.table(slide, advice["head"], [(row, False) for row in advice["rows"][:8]], WIDE)
    deck.note(slide, found.command)


def _doubts(answers):
    first, *others = answers
    found = [("Found", first.found), ("How sure", first.validity)]
    if first.caveat:
        found.append(("Emulated", f"no GPU was measured; {first.caveat}"))
    words = "the risk that any loss is claimed where there is none is 5 % for all cells together"
    found.append(("Intervals", f"95 %, over repetitions; {words}"))
    found += [(other.about, f"{other.found}; {other.validity}") for other in others[:OTHERS]]
    more = len(others) - OTHERS
    return found + ([("", f"and {more} more settings, in index.md")] if more > 0 else [])


def _tables(slides, setting):
    cells = setting.ceilings + setting.cells
    pages = _pages(cells)
    for n, page in enumerate(pages, 1):
        count = f" ({n} of {len(pages)})" if len(pages) > 1 else ""
        title = f"All cells{count}"
        slide = slides.add(title, f"{title}: {heading(setting)}", line=heading(setting))
        deck.table(slide, tables.HEAD, [(_words(cell), cell.share_serious) for cell in page], WIDE)
        deck.note(slide, NOTE)


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
    data, *others = tables.row(cell)
    return [data + (f" ({cell.variant})" if cell.variant else ""), *others]


def _last_run(settings):
    records = (r for s in settings for c in s.ceilings + s.cells for r in c.runs + c.lost)
    started = [r["started_at"] for r in records if isinstance(r.get("started_at"), str)]
    return max(started, default="")
