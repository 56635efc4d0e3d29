"""What `feedrate diagnose` found, as tables."""

from __future__ import annotations

from ..text import amount, clean, spread
from . import diagnosis


def of(found):
    """[{title, note, head, numbers (the columns that are), rows, classes}, …], those with rows."""
    keys = ("title", "note", "head", "rows", "numbers", "classes")
    tables = [dict(zip(keys, (*parts, (), ())[: len(keys)])) for parts in _all(found)]
    for table in tables:
        table["rows"] = [[clean(word, 400) for word in row] for row in table["rows"]]
    return [table for table in tables if table["rows"]]


def _all(found):
    bars = {id(bar.step): bar for bar in found.bars()}
    yield (
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
    yield (
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
    yield (
        "Capacities",
        "What each resource could give alone, and how much of it is in use.",
        ["resource", "images/s", "in use", "largest stage", "its share"],
        found.capacities,
        (1, 2, 4),
    )
    yield (
        "Stages",
        "Of one sample in one worker.",
        ["stage", "ms", "ms of CPU"],
        found.stages,
        (1, 2),
    )
    yield (
        "Advice",
        "Images per second: predicted from the diagnosis, with what it may be (no 95 % interval);"
        " measured where a run tried it.",
        ["remedy", "options", "predicted", "measured", "why"],
        list(map(_advice, found.advice)),
        (2, 3),
    )
    yield (
        "Patterns over time",
        "",
        ["pattern", "statistic", "what it says"],
        found.patterns,
    )


def _advice(advice):
    not_tried = f"not tried: {advice.not_tried}" if advice.not_tried else ""
    why = "; ".join(filter(None, (advice.why, advice.by_workers, not_tried)))
    measured = interval(advice.measured)
    if not measured:
        measured = "in the ladder" if advice.options.startswith("--cache ") else "not tried"
        measured = measured if advice.options else "a what-if"
    return [advice.remedy, advice.options, interval(advice.predicted), measured, why]


def _class(bar):
    if bar is None:
        return ""
    return "named" if bar.is_named else "untold" if bar.how == diagnosis.NOT_TOLD else ""


def _slope(value):
    return f"{value:.2f}".replace("-", "−")


def interval(estimate, words=amount):
    return "" if estimate is None else spread(estimate, words)


def signed(value):
    return amount(value).replace("-", "−")
