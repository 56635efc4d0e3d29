"""Throughput against workers and against GPUs, and scaling efficiency, as plotly figures."""

from __future__ import annotations

import math
from dataclasses import replace

from . import html_look as looks
from . import panels, settings, style
from .cells import DRIFTED
from .html_cells import bad_flags
from .text import gpus as gpu_words
from .text import plotly, plus_minus, spread

CEILING = style.KINDS["synthetic"]
# Crosses for missing cells stand on an axis of their own, at its foot, since they have no height.
FOOT = {"overlaying": "y", "range": [0, 1], "visible": False, "fixedrange": True}


def over_workers(setting, gpus, cells):
    """[panel, …]: one for each stored size."""
    mine = [c for c in panels.at_gpus(setting, gpus) if c.workers is not None]
    if not any(c.rate for c in mine):
        return []
    log, found = _wants_log(mine), []
    for size in panels.image_sizes(mine):
        here = panels.in_panel(mine, size)
        data = []
        least = min([c.workers for c in here if c.workers], default=1)
        for series in style.series_of(mine):
            line = sorted(panels.of_series(here, series), key=lambda c: c.workers)
            # No worker at all stands apart: the training thread loads, which is no point of the
            # same curve.
            for part in ([c for c in line if c.workers], [c for c in line if not c.workers]):
                data += _series(part, series, cells, lambda c: _place(c.workers, least))
        counts = sorted({c.workers for c in here})
        places = [_place(w, least) for w in counts]
        data += _ceiling_line(panels.ceilings_for(here, setting, gpus), places, cells)
        words = "workers" if setting.kind == "cpu" else "workers per GPU"
        found.append(
            panel(
                panels.panel_title(size, setting),
                data,
                {
                    "xaxis": looks.positions(
                        words, places, counts, range=[places[0] - 0.4, places[-1] + 0.4]
                    ),
                    "yaxis": _rates(log),
                    "yaxis2": FOOT,
                },
                shared=True,
            )
        )
    return found


def panel(title, data, layout, shared=False, height=340):
    """`shared`: the panels of the figure get one vertical range."""
    return {
        "title": plotly(title),
        "data": data,
        "layout": layout,
        "shared": shared,
        "height": height,
    }


def _place(workers, least):
    return math.log2(workers) if workers else math.log2(least) - 1


def _wants_log(cells):
    """As in the printed figure: linear from zero unless the ceiling would press the data flat."""
    rates = sorted(c.rate.mean for c in cells if c.rate)
    return (
        max(rates + [c.ceiling.rate.mean for c in cells if c.ceiling]) > 12 * rates[len(rates) // 2]
    )


def _rates(log, words="images per second"):
    return {
        "title": {"text": words + (", log scale" if log else "")},
        "type": "log" if log else "linear",
        "rangemode": "tozero",
    }


def _series(line, series, cells, place):
    """The line with its intervals (a gap where a cell is missing), and crosses for the missing."""
    data, gone = [], [c for c in line if not c.rate]
    if len(gone) < len(line):
        done = [c for c in line if c.rate]
        data.append(
            _points([place(c) for c in line], line, series.look, cells, meta=looks.key(series))
        )
        data.append(
            _intervals(
                [place(c) for c in done],
                done,
                [c.rate for c in done],
                series.look,
                looks.key(series),
            )
        )
    if gone:
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": [place(c) for c in gone],
                "yaxis": "y2",
                "y": [0.035] * len(gone),
                "marker": looks.cross(series.look),
                "meta": looks.key(series),
                "hoverinfo": "text",
                "hovertext": [cells.hover(c) for c in gone],
                "customdata": [cells.number_of(c) for c in gone],
                "cliponaxis": False,
            }
        )
    return data


def _points(xs, line, look, cells, ys=None, hovers=None, meta="", invalid=None):
    invalid = invalid or [c.serious for c in line]
    ys = ys or [c.rate.mean if c.rate else None for c in line]
    return {
        "type": "scatter",
        "mode": "lines+markers+text",
        "x": xs,
        "y": ys,
        "connectgaps": False,
        "line": looks.line(look),
        "marker": looks.markers(invalid, look),
        "text": looks.marks(invalid),
        "textposition": "top left",
        "textfont": {"size": 16, "color": looks.INK},
        "meta": meta,
        "hoverinfo": "text",
        "hovertext": hovers or [cells.hover(c) for c in line],
        "customdata": [cells.number_of(c) for c in line],
    }


def _intervals(xs, line, estimates, look, meta):
    """Error bars as a trace of their own: a gap in the line would take them along."""
    known = [(x, e) for x, e in zip(xs, estimates) if e.low is not None]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [x for x, _ in known],
        "y": [e.mean for _, e in known],
        "marker": {"size": 1, "color": looks.colour(look)},
        "hoverinfo": "skip",
        "meta": meta,
        "error_y": looks.error_bars([e for _, e in known], look),
    }


def _ceiling_line(ceilings, places, cells):
    """A dashed line with its 95 % band, over the whole width; clicked like a point."""
    data, width = [], (places[0] - 0.4, places[-1] + 0.4)
    for ceiling in ceilings:
        rate = ceiling.rate
        xs = [width[0] + (width[1] - width[0]) * i / 24 for i in range(25)]
        if rate.low is not None:
            data.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "x": [width[0], width[1], width[1], width[0]],
                    "y": [rate.low, rate.low, rate.high, rate.high],
                    "fill": "toself",
                    "line": {"width": 0},
                    "fillcolor": "@band",
                    "hoverinfo": "skip",
                    "meta": "ceiling",
                }
            )
        mark = " !" if ceiling.serious else f" ({DRIFTED})" if ceiling.drifted else ""
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": xs,
                "y": [rate.mean] * 25,
                "line": looks.line(CEILING),
                "name": f"ceiling {plus_minus(rate)}{mark}",
                "hoverinfo": "text",
                "meta": "ceiling",
                "hovertext": [cells.hover(ceiling)] * 25,
                "customdata": [cells.number_of(ceiling)] * 25,
            }
        )
    return data


def over_gpus(setting, cells):
    """Images/s of all GPUs together, each series at the workers chosen, with the straight line from
    its first."""
    found = []
    for size, rows, counts in _by_size(setting):
        data, log = [], counts[-1] > 8 * counts[0]
        for line, look, meta in rows:
            data += _line_over_gpus(line, look, meta, cells)
            data += _linear([c for c in line if c.rate], counts, look, meta)
        found.append(
            panel(
                panels.panel_title(size, setting),
                data,
                {"xaxis": _gpu_axis(setting, counts, log), "yaxis": _rates(log), "yaxis2": FOOT},
                shared=True,
            )
        )
    return found


def efficiency(setting, cells):
    """Images/s per GPU as a share of those with the fewest, with the interval of the ratio."""
    found = []
    for size, rows, counts in _by_size(setting):
        data = [
            {
                "type": "scatter",
                "mode": "lines",
                "x": [counts[0], counts[-1]],
                "y": [100, 100],
                "hoverinfo": "skip",
                "line": {"color": looks.MUTED, "dash": "dot", "width": 1.2},
            }
        ]
        for line, look, meta in rows:
            data += _share_over_gpus([c for c in line if c.rate], look, meta, cells)
        axis = {"title": {"text": "% of linear scaling"}, "rangemode": "tozero", "ticksuffix": " %"}
        found.append(
            panel(
                panels.panel_title(size, setting),
                data,
                {"xaxis": _gpu_axis(setting, counts, counts[-1] > 8 * counts[0]), "yaxis": axis},
                shared=True,
            )
        )
    return found


def _by_size(setting):
    """[(size, [(best cell at each count, look, key), …], counts)]; the ceilings are the last
    line."""
    mine = [c for c in setting.cells if c.data != "synthetic"]
    counts = sorted({c.gpus for c in mine if c.rate})
    if len(counts) < 2:
        return []
    found = []
    for size in panels.image_sizes(mine):
        here = panels.in_panel(mine, size)
        rows = [
            (panels.best_by_count(panels.of_series(here, s)), s.look, looks.key(s))
            for s in style.series_of(mine)
        ]
        tops = [
            panels.ceilings_for([c for c in here if c.gpus == n], setting, n)[:1] for n in counts
        ]
        rows.append(([c for there in tops for c in there], CEILING, "ceiling"))
        found.append((size, [row for row in rows if row[0]], counts))
    return found


def _line_over_gpus(line, look, meta, cells):
    done, gone = [c for c in line if c.rate], [c for c in line if not c.rate]
    data = (
        [
            _points([c.gpus for c in line], line, look, cells, meta=meta),
            _intervals([c.gpus for c in done], done, [c.rate for c in done], look, meta),
        ]
        if done
        else []
    )
    if gone:
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": [c.gpus for c in gone],
                "y": [0.035] * len(gone),
                "yaxis": "y2",
                "marker": looks.cross(look),
                "meta": meta,
                "hoverinfo": "text",
                "hovertext": [cells.hover(c) for c in gone],
                "customdata": [cells.number_of(c) for c in gone],
            }
        )
    return data


def _linear(done, counts, look, meta):
    if not done:
        return []
    first = done[0]
    xs = [first.gpus * (counts[-1] / first.gpus) ** (i / 24) for i in range(25)]
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": xs,
            "y": [first.rate.mean * x / first.gpus for x in xs],
            "line": {"color": looks.colour(look), "dash": "dot", "width": 1.2},
            "hoverinfo": "skip",
            "meta": meta,
        }
    ]


def _share_over_gpus(done, look, meta, cells):
    if len(done) < 2:
        return []
    first = done[0]
    shares = [settings.scaling(c, first) for c in done]
    done, shares = zip(*((c, share) for c, share in zip(done, shares) if share))
    xs = [c.gpus for c in done]
    # An efficiency beside an invalid cell is invalid too.
    invalid = [c.serious or first.serious for c in done]
    beside = f"! at {gpu_words(first.gpus)}: {bad_flags(first)}" if first.serious else ""
    hovers = [
        cells.hover(c, _linear_words(s) + (" !" if bad else ""), "" if c is first else beside)
        for c, s, bad in zip(done, shares, invalid)
    ]
    hundred = [
        replace(s, mean=100 * s.mean, low=s.low and 100 * s.low, high=s.high and 100 * s.high)
        for s in shares
    ]
    return [
        _points(xs, done, look, cells, [s.mean for s in hundred], hovers, meta, invalid),
        _intervals(xs, done, hundred, look, meta),
    ]


def _linear_words(share):
    return f"{spread(share)} of linear"


def _gpu_axis(setting, counts, log):
    words = "replicas" if setting.kind == "cpu" else "GPUs"
    return looks.positions(
        words,
        counts,
        counts,
        type="log" if log else "linear",
        **({} if log else {"range": [0, 1.07 * counts[-1]]}),
    )
