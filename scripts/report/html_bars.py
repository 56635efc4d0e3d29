"""What share of the ceiling each format and size reaches, the stages' times and the bytes, as
plotly figures."""

from __future__ import annotations

from . import html_look as looks
from . import panels, stage_times, storage, style, tables
from .cells import pixels
from .html_throughput import panel
from .text import amount, clean, plotly, spread

# Cividis: even steps of lightness, the same to every colour vision.
LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"}
SCALE = [[0, "#00224E"], [0.25, "#35456C"], [0.5, "#7D7C78"], [0.75, "#BCAF6F"], [1, "#FEE838"]]


def best_cells(setting, gpus):
    """[(series, size, best cell), …] in the order of the kinds, then of the sizes; size None: no
    stored size."""
    mine = panels.at_gpus(setting, gpus)
    sizes = panels.image_sizes(mine)
    sizes = (
        [None] if None not in sizes and any(c.image_size is None for c in mine) else []
    ) + sizes
    found = []
    for series in style.series_of(mine):
        for size in sizes:
            best = panels.best([c for c in panels.of_series(mine, series) if c.image_size == size])
            if best:
                found.append((series, size, best))
    return found


def heat_map(setting, gpus, cells):
    """% of the ceiling by format and stored size, each at the workers chosen. × is missing; empty:
    not asked for."""
    best = best_cells(setting, gpus)
    if not any(c.ratio for _, _, c in best):
        return []
    rows = list(dict.fromkeys(looks.label(s) for s, _, _ in best))
    sizes = list(
        dict.fromkeys(
            size for _, size, _ in sorted(best, key=lambda b: (b[1] is not None, pixels(b[1])))
        )
    )
    at = {(looks.label(s), size): c for s, size, c in best}
    grid = [[at.get((row, size)) for size in sizes] for row in rows]
    odd = any(c and not c.ratio for row in grid for c in row)
    words = [clean(size) if size is not None else "no stored size" for size in sizes]
    return [
        panel(
            "",
            [_fields(grid, cells)] + ([_words_of_fields(grid, cells)] if odd else []),
            {
                "xaxis": looks.positions(
                    "", range(len(sizes)), words, showgrid=False, range=[-0.5, len(sizes) - 0.5]
                ),
                "yaxis": looks.positions(
                    "",
                    range(len(rows)),
                    rows,
                    showgrid=False,
                    range=[len(rows) - 0.5, -0.5],
                    automargin=True,
                ),
            },
            height=110 + 46 * len(rows),
        )
    ]


def _fields(grid, cells):
    """Bars of one length side by side: fields without a picture in them, which prints sharply and
    needs no inline style."""
    known = [(x, y, c) for y, row in enumerate(grid) for x, c in enumerate(row) if c and c.ratio]
    return {
        "type": "bar",
        "orientation": "h",
        "base": [x - 0.5 for x, _, _ in known],
        "x": [1] * len(known),
        "width": 1,
        "y": [y for _, y, _ in known],
        "text": [_cell_words(c) for _, _, c in known],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "constraintext": "none",
        "textangle": 0,
        "insidetextfont": {
            "size": 13,
            "color": ["#FFFFFF" if c.ratio.mean < 0.55 else "#111111" for _, _, c in known],
        },
        "marker": {
            "color": [100 * c.ratio.mean for _, _, c in known],
            "cmin": 0,
            "cmax": 100,
            "colorscale": SCALE,
            "line": {"width": 3, "color": "@paper"},
        },
        "hoverinfo": "text",
        "hovertext": [cells.hover(c) for _, _, c in known],
        "customdata": [cells.number_of(c) for _, _, c in known],
    }


def _words_of_fields(grid, cells):
    """What stands where a cell has no share of the ceiling."""
    odd = [(x, y, c) for y, row in enumerate(grid) for x, c in enumerate(row) if c and not c.ratio]
    return {
        "type": "scatter",
        "mode": "text",
        "x": [x for x, _, _ in odd],
        "y": [y for _, y, _ in odd],
        "text": ["no ceiling" if c.rate else f"× {c.state}" for _, _, c in odd],
        "hoverinfo": "text",
        "textfont": {"color": "@warn", "size": 13},
        "hovertext": [cells.hover(c) for _, _, c in odd],
        "customdata": [cells.number_of(c) for _, _, c in odd],
    }


def _cell_words(cell):
    return (
        spread(cell.ratio)
        + ("*" if tables.drifted(cell) else "")
        + (" !" if cell.share_serious else "")
    )


def stages(setting, gpus, cells):
    """ms of one worker per image by stage, computing solid and waiting hatched, and what the device
    leaves for it."""
    best = [(s, size, c) for s, size, c in best_cells(setting, gpus)]
    times = {id(c): stage_times.per_image(c) for _, _, c in best}
    if not any(times.values()):
        return []
    names = stage_times.names_of(times.values())
    colours = stage_times.colours_of(names)
    ys = list(range(len(best)))
    data = []
    for n in names:
        for part, words in ((1, "computing"), (0, "waiting (wall − CPU)")):
            values = [_stage(times[id(c)], n, part) for _, _, c in best]
            hovers = [
                cells.hover(c, f"{n}, {words}: {amount(v)} ms per image") if v is not None else ""
                for v, (_, _, c) in zip(values, best)
            ]
            data.append(
                bars(
                    ys,
                    values,
                    style.lighter(colours[n], 0.0 if part else 0.55),
                    hovers,
                    best,
                    cells,
                    "" if part else "/",
                    n if part else "waiting (wall − CPU)",
                )
            )
    # every stage waits in its own pale colour; the legend says it once
    for waits in data[3::2]:
        waits["showlegend"] = False
    data += [_marks(best, ys, cells), _words(best, times, ys, cells)]
    top = max(
        [sum(w for _, w, _ in t) for t in times.values()]
        + [stage_times.budget(c) or 0 for _, _, c in best]
    )
    return [
        panel(
            "",
            [d for d in data if d],
            {
                "barmode": "stack",
                "xaxis": {"title": {"text": "ms of one worker per image"}, "range": [0, 1.3 * top]},
                "yaxis": row_axis(best),
                "showlegend": True,
                "legend": LEGEND,
            },
            height=150 + 46 * len(best),
        )
    ]


def _stage(times, name, computing):
    found = [(wall, cpu) for n, wall, cpu in times if n == name]
    return None if not found else found[0][1] if computing else found[0][0] - found[0][1]


def bars(ys, values, colour, hovers, best, cells, pattern, name):
    return {
        "type": "bar",
        "orientation": "h",
        "y": ys,
        "x": values,
        "name": plotly(name, 40),
        "width": 0.62,
        "marker": {
            "color": colour,
            "line": {"color": "@ink", "width": 0.5},
            "pattern": {"shape": pattern, "size": 6, "fgcolor": style.EDGE},
        },
        "hoverinfo": "text",
        "hovertext": hovers,
        "textposition": "none",
        "customdata": [cells.number_of(c) for _, _, c in best],
    }


def _marks(best, ys, cells):
    """The device's time per image × workers: where a bar passes it, the loader limits."""
    known = [
        (y, stage_times.budget(c), c)
        for y, (_, _, c) in zip(ys, best)
        if stage_times.budget(c) and c.rate
    ]
    return {
        "type": "scatter",
        "mode": "markers",
        "y": [y for y, _, _ in known],
        "x": [leaves for _, leaves, _ in known],
        "name": "device's time × workers",
        "marker": {"symbol": "line-ns", "size": 30, "line": {"width": 3.5, "color": "@ink"}},
        "hoverinfo": "text",
        "hovertext": [
            cells.hover(
                c, f"the device leaves {amount(leaves)} ms" + (" !" if c.share_serious else "")
            )
            for _, leaves, c in known
        ],
        "customdata": [cells.number_of(c) for _, _, c in known],
    }


def _words(best, times, ys, cells):
    xs, words, hovers = [], [], []
    for _, _, c in best:
        spent, leaves = sum(w for _, w, _ in times[id(c)]), stage_times.budget(c)
        xs.append(max(spent, leaves or 0) if c.rate else 0)
        words.append(
            f"  × {c.state}"
            if not c.rate
            else (
                "  no stage timed"
                if not times[id(c)]
                else f"  {amount(spent)} ms" + (" !" if c.share_serious else "")
            )
        )
        hovers.append(cells.hover(c, stage_times.limit(c, cells.claims.loss(c))))
    return {
        "type": "scatter",
        "mode": "text",
        "x": xs,
        "y": ys,
        "text": words,
        "textposition": "middle right",
        "hoverinfo": "text",
        "hovertext": hovers,
        "showlegend": False,
        "textfont": {"color": "@ink", "size": 12},
        "customdata": [cells.number_of(c) for _, _, c in best],
        "cliponaxis": False,
    }


def row_axis(best):
    words = [
        "<br>".join(
            plotly(part, 34)
            for part in (
                looks.label(s) + (f" {size}" if size else ""),
                "" if c.workers is None else f"{c.workers} worker{'' if c.workers == 1 else 's'}",
            )
            if part
        )
        for s, size, c in best
    ]
    return {
        "tickvals": list(range(len(best))),
        "ticktext": words,
        "range": [len(best) - 0.5, -0.5],
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
        "title": {"text": ""},
    }


def bandwidth(setting, gpus, cells):
    """MB/s out of files, and how much of it storage itself gave; unknown is said, not drawn as
    zero."""
    best = [
        row for row in best_cells(setting, gpus) if row[2].rate and storage.takes_from_files(row[2])
    ]
    rates = [(storage.files_rate(c), storage.storage_rate(c)) for _, _, c in best]
    rows = [(row, rate) for row, rate in zip(best, rates) if rate != (None, None)]
    if not rows:
        return []
    best, rates = [row for row, _ in rows], [rate for _, rate in rows]
    ys = list(range(len(best)))
    data = []
    for part, words, colour, shift in (
        (0, "from files (page cache included)", style.SKY, -0.19),
        (1, "of it from storage", style.BLUE, 0.19),
    ):
        values = [None if rate[part] is None else rate[part] / 1e6 for rate in rates]
        hovers = [
            cells.hover(c, f"{words}: " + ("unknown" if v is None else f"{amount(v)} MB/s"))
            for v, (_, _, c) in zip(values, best)
        ]
        bar = bars([y + shift for y in ys], values, colour, hovers, best, cells, "", words)
        data.append(dict(bar, width=0.36))
        data.append(
            {
                "type": "scatter",
                "mode": "text",
                "x": [v or 0 for v in values],
                "y": [y + shift for y in ys],
                "text": [_bytes_words(v, c) for v, (_, _, c) in zip(values, best)],
                "hovertext": hovers,
                "textposition": "middle right",
                "hoverinfo": "text",
                "showlegend": False,
                "cliponaxis": False,
                "textfont": {"color": "@ink", "size": 11.5},
                "customdata": [cells.number_of(c) for _, _, c in best],
            }
        )
    top = max([v / 1e6 for rate in rates for v in rate if v is not None])
    return [
        panel(
            "",
            data,
            {
                "barmode": "overlay",
                "xaxis": {"title": {"text": "MB/s (10⁶ bytes)"}, "range": [0, 1.35 * top or 1]},
                "yaxis": row_axis(best),
                "showlegend": True,
                "legend": LEGEND,
            },
            height=140 + 52 * len(best),
        )
    ]


def _bytes_words(value, cell):
    return "  " + ("unknown" if value is None else amount(value)) + (" !" if cell.serious else "")
