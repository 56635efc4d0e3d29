"""What the workers' time and the CPUs' goes to, as plotly figures."""

from __future__ import annotations

from . import stage_times, storage, style, time_shares
from .html_bars import LEGEND, bars, best_cells, row_axis
from .html_throughput import panel
from .text import amount, percent

UPPER, LOWER, THICK = -0.19, 0.19, 0.36  # of a row: the workers' bar above, the CPUs' below
CPUS = {
    time_shares.BUSY: ("CPUs busy", style.BLUE, ""),
    time_shares.OTHERS: ("busy with others", style.lighter(style.BLUE, 0.6), "."),
    time_shares.IOWAIT: ("iowait", style.lighter(style.WINE, 0.55), "\\"),
}


def disk_or_cpu(setting, gpus, cells):
    """The workers' time by stage, computing and waiting apart; below it the machine's CPUs."""
    rows = _rows(setting, gpus)
    cpus = [dict(time_shares.of_cpus(c)) for _, _, c in rows]
    if not any(cpus):
        return []
    data = [*_stages(rows, cells)]
    for key, (name, colour, pattern) in CPUS.items():
        values = [of.get(key) for of in cpus]
        data.append(_shares(rows, name, values, colour, pattern, cells))
    data += [_pressure(rows, cells), _rates(rows, cells)]
    return [
        panel(
            "",
            data,
            {
                "barmode": "stack",
                "xaxis": {
                    "title": {"text": "% of the workers' time (upper bar), of the CPUs' (lower)"},
                    "range": [0, 150],
                    "tickvals": [0, 25, 50, 75, 100],
                },
                "yaxis": row_axis(rows),
                "showlegend": True,
                "legend": LEGEND,
            },
            height=150 + 52 * len(rows),
        )
    ]


def _rows(setting, gpus):
    """[(series, stored size, cell), …]"""
    groups = time_shares.by_count(setting, gpus)
    if time_shares.are_all_shown(groups):
        return [(series, size, c) for series, size, cells in groups for c in cells]
    return [row for row in best_cells(setting, gpus) if storage.takes_from_files(row[2])]


def _stages(rows, cells):
    times = [
        {name: (share, computing) for name, share, computing in time_shares.of_workers(c)}
        for _, _, c in rows
    ]
    names = stage_times.names_of([[(name, 0, 0) for name in of] for of in times])
    colours = stage_times.colours_of(names)
    for i, name in enumerate(names):
        for waits in (False, True):
            values = [
                (of[name][0] - of[name][1] if waits else of[name][1]) if name in of else None
                for of in times
            ]
            words = f"{name}, waiting" if waits else name
            colour = style.lighter(colours[name], 0.55 if waits else 0.0)
            bar = _shares(rows, words, values, colour, "/" if waits else "", cells, UPPER)
            # every stage waits in its own pale colour; the legend says it once
            yield dict(bar, name="waiting", showlegend=i == 0) if waits else bar


def _shares(rows, words, values, colour, pattern, cells, shift=LOWER):
    bar = bars(
        [y + shift for y in range(len(rows))],
        [None if v is None else 100 * v for v in values],
        colour,
        [_hover(c, words, v, cells) for v, (_, _, c) in zip(values, rows)],
        rows,
        cells,
        pattern,
        words,
    )
    return dict(bar, width=THICK)


def _hover(cell, words, value, cells):
    return cells.hover(cell, f"{words}: " + ("unknown" if value is None else percent(value)))


def _pressure(rows, cells):
    values = [time_shares.of_machine(c, time_shares.PRESSURE) for _, _, c in rows]
    known = [(y, v.mean, c) for y, (v, (_, _, c)) in enumerate(zip(values, rows)) if v]
    words = "I/O pressure (PSI)"
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [100 * v for _, v, _ in known],
        "y": [y + LOWER for y, _, _ in known],
        "name": words,
        "marker": {
            "symbol": "diamond",
            "size": 11,
            "color": style.YELLOW,
            "line": {"width": 1.5, "color": "@ink"},
        },
        "hoverinfo": "text",
        "hovertext": [_hover(c, words, v, cells) for _, v, c in known],
        "customdata": [cells.number_of(c) for _, _, c in known],
        "cliponaxis": False,
    }


def _rates(rows, cells):
    """Beside the bars: images/s and their share of the ceiling; × for what is missing."""
    words = []
    for _, _, c in rows:
        share = f", {percent(c.ratio.mean)} of the ceiling" if c.rate and c.ratio else ""
        words.append(
            f"  {amount(c.rate.mean)} images/s{share}" + (" !" if c.share_serious else "")
            if c.rate
            else f"  × {c.state}"
        )
    return {
        "type": "scatter",
        "mode": "text",
        "x": [100 if c.rate else 0 for _, _, c in rows],
        "y": list(range(len(rows))),
        "text": words,
        "textposition": "middle right",
        "hoverinfo": "text",
        "hovertext": [cells.hover(c) for _, _, c in rows],
        "showlegend": False,
        "textfont": {"color": "@ink", "size": 12},
        "customdata": [cells.number_of(c) for _, _, c in rows],
        "cliponaxis": False,
    }
