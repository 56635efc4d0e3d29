"""What workers, queue and device did over some steps, rank by rank."""

from bisect import bisect_right

from ..errors import ReportError
from ..ledger import trace_lives
from ..ledger.trace import COPIES, STAGES, STEPS, TRAINING
from ..look import style
from ..text import percent
from . import marks
from . import trace_drawing as drawing
from .page import Page

MOST_LABELS = 28  # of rows


def draw(trace, ranks, options, context):
    """The page, and the span that it shows."""
    low, high, note = span(trace, ranks, options.at, options.steps)
    kinds = _kinds(ranks, low, high)
    names = list(dict.fromkeys(rank.device for rank in ranks if rank.device))
    count = max(sum(low < end <= high for end in rank.row(STEPS).ends) for rank in ranks)
    idle = [_idle_share(rank, low, high) for rank in ranks]
    shares = list(dict.fromkeys(percent(share) for share in (min(idle), max(idle))))
    of = "The device is" if len(ranks) == 1 else "The devices are"
    steps = f"these {count} steps" if count != 1 else "this step"
    title = f"{of} idle for {' to '.join(shares)} of {steps}"
    words = ", ".join(names) or "a device without a name"
    words += f" · {len(ranks)} ranks" if len(ranks) > 1 else ""
    scale = max(1.0, _rows(ranks) / 60)
    page = Page(drawing.setting_of(ranks[0]), title, context, scale=scale, words=words)
    drawing.legend(page, kinds)
    page.foot([], [f"An example, no measurement. {note}".strip()])
    (ax,) = page.panels(1, left=0.135, over=0.10)
    _fill(ax, ranks, low, high)
    drawing.time_axis(ax, high - low)
    ax.set_xlabel(f"ms from {low / 1e3:.3f} s of the trace")
    return page, (low, high)


def span(trace, ranks, at=None, steps=10):
    """(from, to, a note): so many steps of the first rank around `at` seconds, or in the middle of
    the window; from the start of one to the end of one."""
    begins, ends, note = trace_lives.window(trace, ranks)
    row = ranks[0].row(STEPS)
    middle = (begins + ends) / 2 if at is None else 1e3 * at
    if not row.starts[0] <= middle <= row.ends[-1]:
        thing = "trace" if at is None else f"--at {at:g}"
        known = f"choose from {row.starts[0] / 1e3:.3f} to {row.ends[-1] / 1e3:.3f} s"
        raise ReportError(thing, "no step ran then", known)
    nth = max(bisect_right(row.starts, middle) - 1, 0)
    first = max(0, min(nth - steps // 2, len(row) - steps))
    last = min(first + steps, len(row)) - 1
    # the waiting before the first step belongs to it
    low = row.ends[first - 1] if first > 0 else row.starts[first]
    return low, row.ends[last], note if at is None else ""


def _idle_share(rank, low, high):
    row = rank.row(STEPS)
    busy = sum(min(row.ends[i], high) - max(row.starts[i], low) for i in row.between(low, high))
    return max(0.0, 1 - busy / (high - low))


def _rows(ranks):
    return sum(len(rank.workers) + 3 + 2 * bool(rank.queue) for rank in ranks)


def _kinds(ranks, low, high):
    rows = [row for rank in ranks for row in rank.rows.values()]
    found = {row.kinds[i] for row in rows for i in row.between(low, high)}
    if any(_depth(rank, low, high) for rank in ranks):
        found.add("queue")
    if any(_gaps(rank.row(STEPS), low, high) for rank in ranks):
        found.add("idle")
    return [k for k in (*STAGES, "queue", "wait", "submit", "copy", "step", "idle") if k in found]


def _fill(ax, ranks, low, high):
    # few rows are no reason for fat bars
    thick = min(0.80, 0.45 * _rows(ranks) / (ax.get_window_extent().height / ax.figure.dpi))
    y, labels = 0.0, []
    few = _rows(ranks) <= MOST_LABELS
    for rank in ranks:
        training, copies, steps = map(rank.row, (TRAINING, COPIES, STEPS))
        top, names = y, []
        for row in rank.workers:
            _row(ax, y, row, low, high, STAGES, thick)
            names.append((y, row.name))
            y -= 1
        if moments := _depth(rank, low, high):
            most = max(count for _, count in moments)
            _ready(ax, y - 1.5, 1.85, moments, most, high - low)
            names.append((y - 0.55, f"batches ready\n(top: {most})"))
            y -= 2.1
        _row(ax, y, training, low, high, ("wait", "submit"), thick)
        _row(ax, y, training, low, high, STAGES, thick)
        names.append((y, "training thread"))
        y -= 1
        if len(copies):
            _row(ax, y, copies, low, high, ("copy",), thick)
            names.append((y, "copies"))
            y -= 1
        _row(ax, y, steps, low, high, ("step",), thick)
        gaps = [(start - low, end - low) for start, end in _gaps(steps, low, high)]
        drawing.bars(ax, y, thick, "idle", gaps)
        names.append((y, "device"))
        middle, name = (top + y) / 2, f"rank {rank.number}"
        labels += names if few else [(middle, name)]
        if few and len(ranks) > 1:
            marks.say_beside(ax, name, 1.004, middle, (0, 0), rotation=90)
        y -= 1
        if rank is not ranks[-1]:
            ax.axhline(y + 0.25, color="#444444", linewidth=style.scaled(0.9))
            y -= 0.5
    drawing.label_rows(ax, labels)
    ax.set_ylim(y + 0.4, 0.6)


def _row(ax, y, row, low, high, kinds, thick):
    places = [i for i in row.between(low, high) if row.kinds[i] in kinds]
    drawing.row(ax, y, thick, row, places, low, high)


def _gaps(row, low, high):
    """When no step ran; what rounding leaves between two steps is no gap."""
    found, at = [], low
    for i in row.between(low, high):
        found.append((at, row.starts[i]))
        at = max(at, row.ends[i])
    return [(start, end) for start, end in found + [(at, high)] if end - start > 2e-6]


def _depth(rank, low, high):
    """[(moment, batches that are ready from then on), …], the first at the start of the span."""
    moments, counts = rank.ready
    if not moments:
        return []
    first, last = bisect_right(moments, low), bisect_right(moments, high)
    before = counts[first - 1] if first > 0 else 0
    return [(0.0, before)] + [(moments[i] - low, counts[i]) for i in range(first, last)]


def _ready(ax, bottom, height, moments, most, width):
    scale = height / max(most, 1)
    x = [moment for moment, _ in moments] + [width]
    y = [bottom + scale * count for _, count in moments]
    y.append(y[-1])
    how = dict(facecolor=drawing.COLOURS["queue"], linewidth=0, zorder=3)
    ax.fill_between(x, bottom, y, step="post", **how)
    ax.step(x, y, where="post", color=style.EDGE, linewidth=style.scaled(1.0), zorder=4)
    ax.plot([0, width], [bottom] * 2, color=style.EDGE, linewidth=style.scaled(0.5), zorder=4)
