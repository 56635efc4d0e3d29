"""A machine setting as the page tells it: badge, what was found in words, warnings, what is
missing."""

from __future__ import annotations

from . import html_diagnosis, html_figures, panels, stage_times, style, tables, terminal
from . import html_look as looks
from .cells import DRIFTED
from .heading import heading
from .html_bars import best_cells
from .html_cells import bad_ceiling, bad_flags, name
from .text import clean, plus_minus, spread, stored_at


def described(setting, cells, note):
    every = setting.ceilings + setting.cells
    more = {"diagnosis": html_diagnosis.described(setting, cells)} if setting.diagnosis else {}
    return {
        **more,
        "heading": heading(setting),
        "badge": style.TAGS[setting.kind][0] if setting.kind in style.TAGS else "",
        "kind": clean(setting.kind, 20),
        "gpus": setting.gpu_counts(),
        "first": setting.first_count,
        "cpu": setting.kind == "cpu",
        "legend": _legend(setting),
        "tiles": [t for n in setting.gpu_counts() for t in _tiles(setting, n, cells)],
        "intervals": sorted({c.rate.kind for c in every if c.rate}),
        "warnings": _warnings(setting, cells),
        "losses": [
            {"words": clean(words, 500), "cells": [cells.number_of(c)]}
            for c in every
            for words in terminal.losses(c)
        ],
        "figures": html_figures.of(setting, cells, note),
        "cells": [cells.number_of(c) for c in every],
        "runs": _runs(setting, cells),
    }


def _legend(setting):
    drawn = [
        {
            "key": looks.key(s),
            "label": clean(looks.label(s), 100),
            "colour": looks.colour(s.look),
            "fill": s.look.colour,
            "dash": looks.dash(s.look.line),
            "symbol": looks.symbol(s.look),
        }
        for s in style.series_of(setting.cells)
    ]
    top = style.KINDS["synthetic"]
    return drawn + [
        {
            "key": "ceiling",
            "label": "ceiling (synthetic)",
            "colour": looks.INK,
            "fill": looks.INK,
            "dash": looks.dash(top.line),
            "symbol": "",
        }
    ]


def _tiles(setting, gpus, cells):
    """What was found at that number of GPUs: each ceiling, then every kind at its smallest stored
    size and what costs the rest. The size is the smallest and not the one that came out best: a
    best of several is raised by noise.
    """
    best = best_cells(setting, gpus)
    tiles = [
        _ceiling_tile(c, gpus, cells)
        for c in panels.ceilings_for([c for _, _, c in best], setting, gpus)
    ]
    for series in dict.fromkeys(s for s, _, _ in best):
        tiles.append(_tile(series, next(c for s, _, c in best if s is series), gpus, cells))
    return tiles


def _ceiling_tile(ceiling, gpus, cells):
    why = (
        "named by the records; this ledger holds no run of it"
        if ceiling.recorded
        else f"synthetic data, input {ceiling.input_size}: nothing is loaded"
        + ("; measured in pairs with the cells" if ceiling.in_pairs else "")
        + (f"; {DRIFTED}" if ceiling.drifted else "")
    )
    return {
        "gpus": gpus,
        "cell": cells.number_of(ceiling),
        "title": "Ceiling",
        "colour": looks.INK,
        "rate": plus_minus(ceiling.rate),
        "share": None,
        "share_words": "",
        "where": clean(why, 200),
        "how": "",
        "verdict": "",
        "invalid": _invalid(ceiling),
    }


def _tile(series, cell, gpus, cells):
    where = [
        cell.image_size and stored_at(cell.image_size),
        cell.workers is not None
        and f"{cell.workers} worker{'' if cell.workers == 1 else 's'}"
        + (" per GPU" if cell.gpus > 1 else ""),
    ]
    claim = cells.claims.loss(cell)
    limit = stage_times.limit(cell, claim) if cell.rate else ""
    return {
        "gpus": gpus,
        "cell": cells.number_of(cell),
        "title": clean(looks.label(series), 100),
        "colour": looks.colour(series.look),
        "rate": plus_minus(cell.rate) if cell.rate else f"missing: {cell.state}",
        "share": cell.ratio.mean if cell.ratio else None,
        "share_words": _share_words(cell),
        "where": clean(", ".join(w for w in where if w), 120),
        "how": clean(cell.how, 160),
        "verdict": clean(limit, 120) + (" !" if limit and cell.share_serious else ""),
        "invalid": _invalid(cell),
    }


def _share_words(cell):
    if not cell.ratio:
        return "no ceiling to hold it against" if cell.rate else ""
    words = f"{spread(cell.ratio)} of the ceiling" + (
        f" ({DRIFTED})" if tables.drifted(cell) else ""
    )
    return " ".join(filter(None, [words, "!" if cell.serious else "", bad_ceiling(cell)]))


def _invalid(cell):
    return bad_flags(cell) if cell.serious else ""


def _warnings(setting, cells):
    """Every flag in full, with the cells that carry it."""
    found = {f"warning: {line}": [] for line in tables.incomplete_lines(setting)}
    order = {"serious": 0, "warning": 1}
    for cell in setting.ceilings + setting.cells:
        above = (
            [{"name": tables.ABOVE, "severity": "warning", "reason": tables.DERIVED[tables.ABOVE]}]
            if cell.above_ceiling
            else []
        )
        for flag in sorted(cell.flags + above, key=lambda f: order.get(str(f.get("severity")), 2)):
            carriers = found.setdefault(terminal.flag_words(flag), [])
            if cells.number_of(cell) not in carriers:
                carriers.append(cells.number_of(cell))

    def severity(words):
        return 0 if "(serious)" in words[:60] else 1 if "warning" in words[:60] else 2

    return [
        {"words": words, "cells": who, "severity": severity(words)}
        for words, who in sorted(found.items(), key=lambda pair: severity(pair[0]))
    ]


def _runs(setting, cells):
    """The runs worth a look first: slowest, fastest, most uneven, the ceiling."""
    picked = panels.exemplars(setting, setting.first_count)
    return [
        {"why": why, "cell": cells.number_of(c), "name": clean(name(c), 120)}
        for why, c, _ in picked
    ]
