"""The cells as the page knows them: a number each, the records behind them, a row of the table."""

from __future__ import annotations

from . import ledger, panels, statistics, storage, tables
from .cells import DRIFTED, Ceiling, kind_rank, pixels
from .html_look import lines
from .text import clean, listing, plus_minus, spread

HEAD = (*tables.HEAD, "ledger lines")


class Cells:
    """Numbers the cells and finds the ledger's lines behind each."""

    def __init__(self, settings, records, claims):
        self.claims = claims
        self.all = [
            (number, cell) for number, s in enumerate(settings) for cell in s.ceilings + s.cells
        ]
        self.number = {id(cell): n for n, (_, cell) in enumerate(self.all)}
        self._records = {}
        for n, record in enumerate(records):
            self._records.setdefault((record["role"], str(record["cell_id"])), []).append(n)
        self._place = {id(record): n for n, record in enumerate(records)}
        self._lines = [record.get(ledger.LINE) for record in records]

    def number_of(self, cell):
        """Its number; of one that was chosen among several, that of the cell itself."""
        return self.number[id(cell.origin)]

    def behind(self, cell):
        """(records that count, others of the same cell: tries that a later one replaced), as places
        in the ledger."""
        # not run: no line
        counted = [self._place[id(r)] for r in cell.runs + cell.lost if id(r) in self._place]
        counted += [self._place[id(r)] for r in getattr(cell, "named_by", ())]
        keys = {(r["role"], str(r["cell_id"])) for r in cell.runs + cell.lost}
        every = {n for key in keys for n in self._records.get(key, [])}
        return sorted(set(counted)), sorted(every - set(counted))

    def lines_of(self, cell):
        return [self._lines[n] for n in self.behind(cell)[0]]

    def hover(self, cell, *more):
        """The text at a point: what it is, its number, its share, where it stands in the ledger."""
        share = _share(cell, " of the ceiling") if cell.ratio else ""
        rate = (
            f"{plus_minus(cell.rate)} images/s, n = {cell.rate.n}"
            if cell.rate
            else f"missing: {cell.state}"
        )
        claim = self.claims.loss(cell).words() if cell.how and cell.ratio else ""
        return lines(
            name(cell),
            rate,
            share,
            cell.how,
            claim,
            *more,
            "! " + bad_flags(cell) if cell.serious else "",
            bad_ceiling(cell),
            DRIFTED if tables.drifted(cell) else "",
            tables.ABOVE if cell.above_ceiling else "",
            self.words(cell),
        )

    def words(self, cell):
        found = self.lines_of(cell)
        shown = (
            listing(found[:6])
            if len(found) <= 6
            else ", ".join(map(str, found[:5])) + f" … ({len(found)})"
        )
        return f"ledger line{'' if len(found) == 1 else 's'} {shown}" if found else ""

    def described(self):
        return [self._described(setting, cell) for setting, cell in self.all]

    def _described(self, setting, cell):
        counted, others = self.behind(cell)
        row = tables.short_row(cell) + [" ".join(tables.flag_names(cell)) or "-"]
        span = [str(n) for n in self.lines_of(cell)]
        return {
            "setting": setting,
            "name": clean(name(cell), 120),
            "invalid": cell.serious,
            "missing": not cell.rate,
            "ceiling": isinstance(cell, Ceiling),
            "recorded": getattr(cell, "recorded", False),
            "in_pairs": isinstance(cell, Ceiling) and cell.in_pairs,
            "records": counted,
            "others": others,
            "row": [clean(w, 300) for w in row] + [", ".join(span)],
            "keys": _keys(cell) + [self.lines_of(cell)[0] if span else None],
            "facts": _facts(cell),
        }


def name(cell):
    """As in the figures; a ceiling by its pixels."""
    if isinstance(cell, Ceiling):
        return f"ceiling (synthetic), input {cell.input_size}, {_gpus(cell)}"
    return panels.name(cell) + (f", {_gpus(cell)}" if cell.gpus > 1 else "")


def _gpus(cell):
    return "1 GPU" if cell.gpus == 1 else f"{cell.gpus} GPUs"


def bad_flags(cell):
    """The names of the serious flags; "not valid" if there are none."""
    names = sorted(
        {clean(f.get("name") or "?", 40) for f in cell.flags if f.get("severity") == "serious"}
    )
    return ", ".join(names) or "not valid"


def bad_ceiling(cell):
    """Why its share may not be quoted whatever the cell itself is worth; "" where it may."""
    ceiling = cell.divided_by if cell.ratio else None
    return f"! ceiling: {bad_flags(ceiling)}" if ceiling and ceiling.serious else ""


def _share(cell, of=""):
    return spread(cell.ratio) + of + _mark(cell.share_serious)


def _mark(invalid):
    return " !" if invalid else ""


def _keys(cell):
    """What the table's columns are sorted by; None (missing) goes last either way."""
    return [
        [kind_rank(cell.data)[0], clean(cell.data, 60)],
        pixels(cell.image_size)[0] if cell.image_size else None,
        cell.workers,
        cell.gpus,
        cell.rate.n if cell.rate else 0,
        cell.rate.mean if cell.rate else None,
        cell.ratio.mean if cell.ratio else None,
        cell.mean("device_idle_fraction"),
        clean(cell.limiting()[1] or cell.limiting()[0], 40) or None,
        " ".join(tables.flag_names(cell)) or None,
    ]


def _facts(cell):
    """[(word, value), …] for the head of the records' dialogue, from the same functions as the
    figures."""
    facts = []
    if cell.rate:
        low = cell.rate.low
        facts.append(("images/s", plus_minus(cell.rate) + _mark(cell.serious)))
        facts.append(
            (
                "interval",
                (
                    cell.rate.kind
                    if low is None
                    else f"{low:,.6g} to {cell.rate.high:,.6g} ({cell.rate.kind})"
                ),
            )
        )
        facts.append(
            (
                "repetitions",
                f"{cell.rate.n}" + (f", {len(cell.lost)} more missing" if cell.lost else ""),
            )
        )
        if cell.rate.kind == statistics.NO_INTERVAL:
            facts.append(
                (
                    "caution",
                    (
                        f"fewer than {statistics.LEAST} repetitions are a look: nothing is claimed"
                        " of them"
                    ),
                )
            )
    else:
        facts.append(("images/s", f"missing: {cell.state}"))
    if cell.ratio:
        facts.append(("of the ceiling", _share(cell)))
        if bad_ceiling(cell):
            facts.append(("not valid", bad_ceiling(cell)))
    if cell.scaling:
        facts.append(
            ("scaling efficiency", spread(cell.scaling) + _mark(cell.serious or cell.first.serious))
        )
    for word, rate in (
        ("from files", storage.files_rate(cell)),
        ("of it from storage", storage.storage_rate(cell)),
    ):
        if rate is not None:
            facts.append((word, f"{rate / 1e6:,.4g} MB/s"))
    facts.append(
        (
            "axes",
            ", ".join(
                f"{clean(a, 40)} {cell.said(a)}" for a, v in cell.axes.items() if v is not None
            ),
        )
    )
    return [(word, clean(value, 1500)) for word, value in facts]
