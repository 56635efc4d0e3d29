"""The life of a batch: what its samples went through in the workers, then the queue, the copy, the
waiting behind the step before, and its step."""

from ..ledger import trace_lives
from ..ledger.trace import COPIES, STAGES, STEPS, TRAINING
from ..look import style
from ..text import amount, plain
from . import trace_drawing as drawing
from .page import Page

ROW = 0.135  # inches, as on a sheet
THICK = 0.78  # of a row, that a bar takes
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
    heights = [_rows(life) for _, life in chosen]
    tall = ROW * sum(heights) + 2.9  # inches
    scale = min(1.6, max(1.0, tall / style.SHEET.height))
    words = rank.device or "a device without a name"
    page = Page(drawing.setting_of(rank), _title(*chosen[0]), context, scale=scale, words=words)
    drawing.legend(page, kinds)
    ranges = [life.ms for _, life in chosen]
    alike = max(ranges) <= 3 * min(ranges)
    notes = ["Pale: other batches. " + note, "" if alike else "The two panels differ in scale."]
    page.foot([], list(filter(None, notes)))
    axes = page.panels(len(chosen), left=0.135, over=0.34, heights=heights)
    for ax, (why, life) in zip(axes, chosen):
        _panel(ax, life, max(ranges) if alike else life.ms)
        several = f"rank {life.rank.number}, " if len(ranks) > 1 else ""
        title = f"{several}batch {life.batch}: {amount(life.ms)} ms" + (f" ({why})" if why else "")
        pad = style.scaled(5)
        ax.set_title(plain(title), fontsize=style.pt(10), loc="left", pad=pad)
        ax.set_title(_sum_of(life), fontsize=style.pt(style.TINY), loc="right", pad=pad)
    page.name_below("ms since its first event")
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
    found = {"wait", "submit", "step"}
    for life in lives:
        for row in _workers(life):
            own = set(_around(row, life)) - set(_others(row, life))
            found |= {row.kinds[i] for i in own}
        found |= {"queue"} if life.ready is not None else set()
        found |= {"copy"} if life.copy else set()
        found |= {"before"} if life.starts > life.there else set()
    return [k for k in (*STAGES, "wait", "queue", "submit", "copy", "before", "step") if k in found]


def _panel(ax, life, width):
    training, steps = life.rank.row(TRAINING), life.rank.row(STEPS)
    workers = [row for row in _workers(life) if row is not training]
    every = 1 if len(workers) <= MOST_LABELS else len(workers) // MOST_LABELS + 1
    labels = [(-n, row.name) for n, row in enumerate(workers) if n % every == 0]
    for n, row in enumerate(workers):
        _stages(ax, -n, row, life)
    y = -len(workers)
    if life.ready is not None:
        _bar(ax, y, "queue", (life.ready, life.taken), life)
        labels.append((y, "queue"))
        y -= 1
    others = _others(training, life)
    _row(ax, y, training, [i for i in others if training.kinds[i] == "submit"], life, faint=True)
    _bar(ax, y, "wait", life.wait, life)
    _stages(ax, y, training, life)
    _bar(ax, y, "submit", life.submit, life)
    labels.append((y, "training thread"))
    y -= 1
    if life.copy:
        copies = life.rank.row(COPIES)
        _row(ax, y, copies, _others(copies, life), life, faint=True)
        _bar(ax, y, "copy", life.copy, life)
        labels.append((y, "copies"))
        y -= 1
    _row(ax, y, steps, _others(steps, life), life, faint=True)
    _bar(ax, y + 0.26, "before", (life.there, life.starts), life, 0.26)
    _bar(ax, y, "step", (life.starts, life.ends), life)
    drawing.label_rows(ax, [*labels, (y, "steps")])
    ax.set_ylim(y - 0.6, 0.6)
    drawing.time_axis(ax, width * 1.01)


def _bar(ax, y, kind, span, life, height=THICK):
    """One that is the batch's own; what came before its life is not shown."""
    span = max(span[0], life.begins) - life.begins, span[1] - life.begins
    drawing.bars(ax, y, height, kind, [span], rim=True)


def _row(ax, y, row, places, life, faint):
    drawing.row(ax, y, THICK, row, places, life.begins, faint=faint)


def _stages(ax, y, row, life):
    places = [i for i in _around(row, life) if row.kinds[i] in STAGES]
    _row(ax, y, row, [i for i in places if row.batches[i] != life.batch], life, faint=True)
    _row(ax, y, row, [i for i in places if row.batches[i] == life.batch], life, faint=False)


def _others(row, life):
    """Where other batches' spans are."""
    return [i for i in _around(row, life) if row.batches[i] != life.batch]
