"""What `feedrate diagnose` found, as the page tells it: verdict, waterfall, tables."""

from __future__ import annotations

from . import diagnosis, diagnosis_tables, figures, style, waterfall
from . import html_look as looks
from .html_throughput import panel
from .text import clean, plotly

SENTENCE = (
    "From the synthetic ceiling down to what the cell reaches: each bar is what a step between two"
    " rungs takes, with its 95 % interval. Gray: not told from 0. Hatched:"
    " the rung after the step is faster. Heavy rim: named by the verdict."
)
DISCARD = "discard"
THICK = 0.64  # of a row, a bar


def described(setting, cells):
    found = setting.diagnosis
    return {
        "title": figures.NAMED["waterfall"].title,
        "label": clean(found.label, 200),
        "verdict": found.words(),
        "sentence": "" if found.is_look else clean(found.verdict.sentence, 600),
        "facts": _facts(found),
        "explains": SENTENCE,
        "panels": _waterfall(found, _number(setting, cells)),
        "notes": found.caveats + ([waterfall.BESIDE] if found.rate(diagnosis.DISCARD) else []),
        "tables": diagnosis_tables.of(found),
    }


def _facts(found):
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
    took = f" in {found.seconds:.0f} s" if found.seconds is not None else ""
    measured = [("Measured", f"{found.rounds} round{'' if found.rounds == 1 else 's'}{took}")]
    # with so few rounds nothing is claimed, so there is no confidence to tell either
    return measured if found.is_look else [*(pair for pair in facts if pair[1]), *measured]


def _number(setting, cells):
    """Of the ledger's cell that was diagnosed; None where it holds none."""
    want = {k: v for k, v in setting.diagnosis.cell.items() if v is not None}
    same = (c for c in setting.cells if {k: v for k, v in c.axes.items() if v is not None} == want)
    return next(map(cells.number_of, same), None)


def _waterfall(found, number):
    """Rows from the top: the ceiling, a step each, what is reached; words beside each bar."""
    if not found.ceiling or not found.reached:
        return []
    bars, discard = found.bars(), found.rate(diagnosis.DISCARD)
    ceiling, reached = found.ceiling, found.reached.rate
    names = ["ceiling", *(clean(b.step.name, 24) for b in bars), waterfall.reached(found)]
    names += [DISCARD] if discard else []
    end = len(bars) + 1
    data = [
        _bars([0, end], [0, 0], [ceiling, reached], [_whole(ceiling), _whole(reached)]),
        _steps(bars),
        _words(found, bars, discard, end),
    ]
    if discard:
        data.append(_beside(end + 1, discard))
    for trace in data if number is not None else ():
        trace["customdata"] = [number] * len(trace["y"])
    layout = {
        "barmode": "overlay",
        "xaxis": {
            "title": {"text": "images per second"},
            "range": [min([0, *(b.ends[0] for b in bars)]), 1.62 * _high(found, bars)],
        },
        "yaxis": {
            **looks.positions("", range(len(names)), names),
            "range": [len(names) - 0.5, -0.5],
            "showgrid": False,
        },
    }
    return [panel("", data, layout, height=110 + 36 * len(names))]


def _high(found, bars):
    return max(
        [r.rate.mean for r in found.ladder if r.rate] + [max(b.top, b.ends[1]) for b in bars]
    )


def _bars(places, bases, rates, hovers):
    return {
        "type": "bar",
        "orientation": "h",
        "width": THICK,
        "y": places,
        "base": bases,
        "x": [r.mean for r in rates],
        "error_x": looks.error_bars(rates, style.KINDS["synthetic"]),
        "marker": {"color": style.lighter(style.BLACK, 0.65)},
        "hoverinfo": "text",
        "hovertext": hovers,
        "showlegend": False,
    }


def _steps(bars):
    """Floating, from the rate before the step to the rate after it, which has the whisker."""
    drawn = [waterfall.look_of(bar) for bar in bars]
    ends = [bar.ends for bar in bars]
    return {
        "type": "bar",
        "orientation": "h",
        "width": THICK,
        "y": list(range(1, len(bars) + 1)),
        "base": [bar.top for bar in bars],
        "x": [-bar.step.lost.mean for bar in bars],
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [max(high - bar.bottom, 0) for bar, (_, high) in zip(bars, ends)],
            "arrayminus": [max(bar.bottom - low, 0) for bar, (low, _) in zip(bars, ends)],
            "color": looks.INK,
            "thickness": 1.3,
            "width": 4,
        },
        "marker": {
            "color": [fill for fill, *_ in drawn],
            "line": {
                "color": [looks.INK if bar.is_named else looks.MUTED for bar in bars],
                "width": [2.5 if bar.is_named else 0.7 for bar in bars],
            },
            "pattern": {"shape": ["/" if hatch else "" for *_, hatch in drawn]},
        },
        "hoverinfo": "text",
        "hovertext": [_hover(bar) for bar in bars],
        "showlegend": False,
    }


def _words(found, bars, discard, end):
    """Right of all bars, one below the other: on a phone there is no room beside a bar."""
    texts = [(0, _rate(found.ceiling)), (end, _rate(found.reached.rate) + _reached(found))]
    texts += [(y, "{} ({})".format(*bar.words)) for y, bar in enumerate(bars, 1)]
    texts += [(end + 1, _rate(discard))] if discard else []
    return {
        "type": "scatter",
        "mode": "text",
        "x": [1.02 * _high(found, bars)] * len(texts),
        "y": [y for y, _ in texts],
        "text": [plotly(words, 60) for _, words in texts],
        "textposition": "middle right",
        "textfont": {"color": looks.INK, "size": 10.5},
        "hoverinfo": "skip",
        "showlegend": False,
        "cliponaxis": False,
    }


def _reached(found):
    return f" ({diagnosis.share_words(found.reached.rate.mean / found.ceiling.mean)})"


def _rate(rate):
    return diagnosis.rate_words(rate.mean)


def _beside(y, rate):
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [rate.mean],
        "y": [y],
        "error_x": looks.error_bars([rate], style.KINDS["synthetic"]),
        "marker": {
            "symbol": "diamond-open",
            "size": 11,
            "color": looks.INK,
            "line": {"width": 2, "color": looks.INK},
        },
        "hoverinfo": "text",
        "hovertext": [_whole(rate)],
        "showlegend": False,
    }


def _whole(rate):
    return looks.lines(f"{diagnosis_tables.interval(rate)} images/s", f"n = {rate.n}")


def _hover(bar):
    step, (rate, share) = bar.step, bar.words
    return looks.lines(
        step.name,
        f"from {step.start} to {step.end}",
        f"{rate} images/s, {share} of the ceiling",
        f"lost: {diagnosis_tables.interval(step.lost, diagnosis_tables.signed)} images/s",
        "" if bar.how in (diagnosis.LOSS, diagnosis.GAIN) else bar.how,
    )
