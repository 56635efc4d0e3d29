"""The life of a batch: what its samples went through in the workers, then the queue, the copy, the
waiting behind the step before, and its step."""

from __future__ import annotations

from ..ledger import trace_lives
from ..ledger.trace import COPIES, STAGES, STEPS, TRAINING
from ..look import style
from ..text import amount, plain
from . import trace_drawing as drawing
from .page import Page, at_bottom

ROW = 0.135  # inches, as on a sheet
MOST = {
    "made": "until it is made",
    "queued": "in the queue",
    "to device": "on its way to the device",
    "behind step": "behind the step before",
    "step": "in its step",
}
MOST_LABELS = 16  # of workers in a panel


def draw(trace, ranks, options, context):
    """The page, and the lives that it shows."""
    chosen, note = trace_lives.chosen(trace, ranks, options.batch)
    kinds = _kinds(life for _, life in chosen)
    rank = chosen[0][1].rank
    tall = ROW * sum(_rows(life) for _, life in chosen) + 2.9  # inches
    scale = min(1.6, max(1.0, tall / style.SHEET.height))
    words = rank.device or "a device without a name"
    page = Page(drawing.setting_of(rank), _title(*chosen[0]), context, scale=scale, words=words)
    drawing.legend(page, kinds)
    ranges = [life.ms for _, life in chosen]
    alike = max(ranges) <= 3 * min(ranges)
    notes = ["Pale: other batches. " + note] + (
        [] if alike else ["The two panels differ in scale."]
    )
    page.foot([], notes)
    heights = [_rows(life) for _, life in chosen]
    axes = page.panels(len(chosen), left=0.135, over=0.34, heights=heights)
    for i, (ax, (why, life)) in enumerate(zip(axes, chosen)):
        _panel(ax, life, max(ranges) if alike else life.ms)
        several = f"rank {life.rank.number}, " if len(ranks) > 1 else ""
        title = f"{several}batch {life.batch}: {amount(life.ms)} ms" + (f" ({why})" if why else "")
        pad = style.scaled(5)
        ax.set_title(plain(title), fontsize=style.pt(10), loc="left", pad=pad)
        ax.set_title(_sum_of(life), fontsize=style.pt(style.TINY), loc="right", pad=pad)
        if at_bottom(axes, i):
            ax.set_xlabel("ms since its first event")
    return page, chosen


def _title(why, life):
    """What most of the life of the first batch is."""
    what, ms = max(life.parts(), key=lambda part: part[1])
    which = "The median batch" if why.startswith("median") else f"Batch {life.batch}"
    return f"{which} lives {amount(life.ms)} ms, {amount(ms)} ms of them {MOST[what]}"


def _sum_of(life):
    return " + ".join(f"{what} {amount(ms)}" for what, ms in life.parts() if ms > 0) + " ms"


def _workers(life):
    """The rows that made samples of it."""
    return [
        row
        for row in life.rank.loaders
        if any(row.batches[i] == life.batch and row.kinds[i] in STAGES for i in _around(row, life))
    ]


def _rows(life):
    return min(len(_workers(life)), MOST_LABELS) + 4.5


def _around(row, life):
    return row.between(life.begins, life.ends)


def _kinds(lives):
    """Those that the figure shows, in the order of a batch's way."""
    found = set()
    for life in lives:
        spans = ((row, i) for row in _workers(life) for i in _around(row, life))
        found |= {row.kinds[i] for row, i in spans if row.batches[i] == life.batch}
        found |= {"wait", "submit", "step"}
        found |= {"queue"} if life.ready is not None else set()
        found |= {"copy"} if life.copy else set()
        found |= {"before"} if life.starts > life.there else set()
    return [k for k in (*STAGES, "wait", "queue", "submit", "copy", "before", "step") if k in found]


def _panel(ax, life, width):
    workers = [row for row in _workers(life) if row is not life.rank.row(TRAINING)]
    y, labels = 0.0, []
    for n, row in enumerate(workers):
        _stages(ax, y, row, life)
        if len(workers) <= MOST_LABELS or n % (len(workers) // MOST_LABELS + 1) == 0:
            labels.append((y, row.name))
        y -= 1
    if life.ready is not None:
        _bar(ax, y, "queue", (life.ready, life.taken), life)
        labels.append((y, "queue"))
        y -= 1
    training = life.rank.row(TRAINING)
    _others(ax, y, training, life, ("submit",))
    _bar(ax, y, "wait", life.wait, life)
    _stages(ax, y, training, life)
    _bar(ax, y, "submit", life.submit, life)
    labels.append((y, "training thread"))
    y -= 1
    if life.copy:
        _others(ax, y, life.rank.row(COPIES), life)
        _bar(ax, y, "copy", life.copy, life)
        labels.append((y, "copies"))
        y -= 1
    _others(ax, y, life.rank.row(STEPS), life)
    _bar(ax, y + 0.26, "before", (life.there, life.starts), life, 0.26)
    _bar(ax, y, "step", (life.starts, life.ends), life)
    labels.append((y, "steps"))
    drawing.label_rows(ax, labels)
    ax.set_ylim(y - 0.6, 0.6)
    drawing.time_axis(ax, width * 1.01)


def _bar(ax, y, kind, span, life, height=0.78):
    """One that is the batch's own; what came before its life is not shown."""
    spans = drawing.shifted([(max(span[0], life.begins), span[1])], life.begins)
    drawing.bars(ax, y, height, kind, spans, rim=True)


def _stages(ax, y, row, life):
    own, others = [], []
    for i in _around(row, life):
        if row.kinds[i] in STAGES:
            (own if row.batches[i] == life.batch else others).append(i)
    for places, faint in ((others, True), (own, False)):
        for kind, spans in drawing.of_kinds(row, places).items():
            drawing.bars(ax, y, 0.78, kind, drawing.shifted(spans, life.begins), faint)


def _others(ax, y, row, life, only=None):
    places = [i for i in _around(row, life) if row.batches[i] != life.batch]
    places = [i for i in places if only is None or row.kinds[i] in only]
    for kind, spans in drawing.of_kinds(row, places).items():
        drawing.bars(ax, y, 0.78, kind, drawing.shifted(spans, life.begins), faint=True)
