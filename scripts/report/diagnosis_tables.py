"""What `feedrate diagnose` found, as tables."""

from __future__ import annotations

from . import diagnosis
from .text import amount, clean, spread


def of(found):
    """[{title, note, head, numbers (the columns that are), rows, classes}, …], those with rows."""
    return [table for table in _all(found) if table["rows"]]


def _all(found):
    bars = {id(bar.step): bar for bar in found.bars()}
    yield _table(
        "Steps",
        "Lost: a number below zero is a gain. Told from 0 with a risk of 5 %: of what the"
        " verdict names, and of all others together.",
        ["step", "from", "to", "lost, images/s", "of the ceiling", "ms per step", ""],
        [
            [
                step.name,
                step.start,
                step.end,
                interval(step.lost, signed),
                f"{100 * bars[id(step)].share:.1f} %".replace("-", "−") if id(step) in bars else "",
                interval(step.ms, signed),
                told,
            ]
            for step, told in zip(found.steps, found.told())
        ],
        (3, 4, 5),
        [_class(bars.get(id(step))) for step in found.steps],
    )
    yield _table(
        "Delays put in",
        "Slope: by how much of the delay the whole is slowed. 0: it costs nothing; 1: all of it."
        " Limits with: the probability that the slope is above 1/2.",
        ["place", "kind", "delay", "pairs", "slope", "limits with"],
        [
            [s.place, s.kind, s.delay, s.slope.n, interval(s.slope, _slope), s.words]
            for s in found.slopes
        ],
        (2, 3, 4, 5),
    )
    yield _table(
        "Capacities",
        "What each resource could give alone, and how much of it is in use.",
        ["resource", "images/s", "in use", "largest stage", "its share"],
        [
            [c.resource, amount(c.rate), _percent(c.utilisation), c.stage, _percent(c.share)]
            for c in found.capacities
        ],
        (1, 2, 4),
    )
    yield _table(
        "Stages",
        "Of one sample in one worker.",
        ["stage", "ms", "ms of CPU"],
        [
            [s.name, amount(s.wall_ms), "" if s.cpu_ms is None else amount(s.cpu_ms)]
            for s in found.stages
        ],
        (1, 2),
    )
    yield _table(
        "Advice",
        "Images per second: predicted from the diagnosis, with what it may be (no 95 % interval);"
        " measured where a run tried it.",
        ["remedy", "options", "predicted", "measured", "why"],
        [
            [
                a.remedy,
                a.options,
                interval(a.predicted),
                interval(a.measured) or _unmeasured(a),
                "; ".join(filter(None, (a.why, a.by_workers, _not_tried(a)))),
            ]
            for a in found.advice
        ],
        (2, 3),
    )
    yield _table(
        "Patterns over time",
        "",
        ["pattern", "statistic", "what it says"],
        [[p.name, p.statistic, p.sentence] for p in found.patterns],
    )


def _unmeasured(advice):
    if not advice.options:
        return "a what-if"
    return "in the ladder" if advice.options.startswith("--cache ") else "not tried"


def _not_tried(advice):
    return f"not tried: {advice.not_tried}" if advice.not_tried else ""


def _table(title, note, head, rows, numbers=(), classes=()):
    return {
        "title": title,
        "note": note,
        "head": head,
        "numbers": list(numbers),
        "rows": [[clean(word, 400) for word in row] for row in rows],
        "classes": list(classes),
    }


def _class(bar):
    if bar is None:
        return ""
    return "named" if bar.is_named else "untold" if bar.how == diagnosis.NOT_TOLD else ""


def _slope(value):
    return f"{value:.2f}".replace("-", "−")


def _percent(share):
    return "" if share is None else f"{100 * share:.0f} %"


def interval(estimate, words=amount):
    return "" if estimate is None else spread(estimate, words)


def signed(value):
    return amount(value).replace("-", "−")
