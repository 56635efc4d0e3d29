"""The cells as the page's table has them, and what a row opens to: the cell's numbers, its axes,
its records. What a row opens to is data, which page.js shows as text."""

from __future__ import annotations

from ..claims import panels, tables
from ..ledger import ledger, statistics, storage, surroundings
from ..ledger.cells import DRIFTED, Ceiling, kind_rank, mean_pixels
from ..text import amount, axis_value, clean, gpus, listing, percent, plus_minus, spread

# Of a record; what goes with step and wait is of the steps of its window.
RECORD = (
    ("line", ledger.LINE),
    ("repetition", "repetition"),
    ("images/s", "imgs_per_s"),
    ("step, ms", "step_ms", "median"),
    ("p99", "step_ms", "p99"),
    ("longest", "step_ms", "max"),
    ("wait, ms", "data_wait_ms", "median"),
    ("p99", "data_wait_ms", "p99"),
    ("longest", "data_wait_ms", "max"),
    ("steps", "steps"),
    ("window, s", "window_s"),
)
OF_CELL = 3  # the first of those that a record of a cell says of that cell alone
RECORD_HEAD = (*(words for words, *_ in RECORD), "device waits", "began")


class Cells:
    """Names the rows of a report's cells, and finds the ledger's lines behind each."""

    def __init__(self, settings, records):
        self.all = tables.all_rows(settings)
        self._ids = _ids(self.all)
        self._records = records
        self._of_cell = {}
        for n, record in enumerate(records):
            self._of_cell.setdefault((record["role"], str(record["cell_id"])), []).append(n)
        self._place = {id(record): n for n, record in enumerate(records)}
        self.surroundings, self._mine, self._apart = surroundings.within(records)
        self._flags = {}  # {(name, severity, reason, remedy): its number}

    def id_of(self, cell):
        """Of its row; of one that was chosen among several, that of the cell itself."""
        return self._ids[id(cell.origin)]

    def links(self):
        """{a link to a cell, as figures have it: as the page has it}. Where two rows go by one
        cell_id it leads to neither."""
        found = {}
        for cell in self.all:
            found.setdefault(f"#{cell.anchor}", []).append(f"#{self.id_of(cell)}")
        return {link: rows[0] for link, rows in found.items() if len(rows) == 1}

    def behind(self, cell):
        """(records that count, others of the same cell: tries that a later one replaced), as places
        in the ledger."""
        # not run: no line
        counted = [self._place[id(r)] for r in cell.runs + cell.lost if id(r) in self._place]
        counted += [self._place[id(r)] for r in getattr(cell, "named_by", ())]
        keys = {(r["role"], str(r["cell_id"])) for r in cell.runs + cell.lost}
        every = {n for key in keys for n in self._of_cell.get(key, [])}
        return sorted(set(counted)), sorted(every - set(counted))

    def row(self, cell):
        words, missing = tables.row(cell), not cell.rate
        marks = (
            ("ceiling", isinstance(cell, Ceiling)),
            ("invalid", cell.serious),
            ("missing", missing),
            ("flagged", cell.serious or missing or words[-1] != "-"),
        )
        lines = [self._records[n][ledger.LINE] for n in self.behind(cell)[0]]
        said = f"line{'s' if len(lines) > 1 else ''} {listing(lines)}" if lines else "no line"
        return {
            "id": self.id_of(cell),
            "name": name(cell),
            "marks": " ".join(mark for mark, is_so in marks if is_so),
            "variant": cell.variant,
            "words": [clean(word, 300) for word in words],
            "lines": said,
        }

    def data(self, setting):
        """{the row's id: what sorts it, and what it opens to} of the setting's cells."""
        shared, found = dict(shared_axes(setting)), {}
        for cell in setting.ceilings + setting.cells:
            own = [a for a, v in cell.axes.items() if v is not None and a not in shared]
            found[self.id_of(cell)] = {
                "keys": _keys(cell),
                "facts": self._facts(cell),
                "axes": [(clean(axis, 40), cell.said(axis)) for axis in own],
                "records": [[self._record(n, cell) for n in lines] for lines in self.behind(cell)],
            }
        return found

    def pools(self):
        """What the records of data() name by number. Ask after data()."""
        return {"flags": list(self._flags), "surroundings": self._apart}

    def _record(self, place, cell):
        record = self._records[place]
        idle = ledger.number(record.get("device_idle_fraction"))
        numbers = [_short(ledger.part(record, *keys)) for _, *keys in RECORD]
        numbers.append("" if idle is None else percent(idle))
        if getattr(cell, "named_by", ()):  # a ceiling, which that record holds beside its cell
            numbers[2:] = [_short(record.get(cell.rate_field)), *[""] * (len(numbers) - OF_CELL)]
        numbers.append(clean(record.get("started_at") or "", 40))
        parts = ("name", "severity", "reason", "remedy")
        flags = [tuple(clean(f.get(p) or "", 1000) for p in parts) for f in ledger.flags(record)]
        state = record["status"] if record["status"] != "ok" else "not valid"
        return [
            numbers,
            "" if ledger.valid(record) else state,
            clean(record.get("error") or "", 2000),
            [self._flags.setdefault(flag, len(self._flags)) for flag in flags],
            self._mine[place],
        ]

    def _facts(self, cell):
        """[(word, value), …], from the same functions as the figures."""
        share = spread(cell.ratio) + _mark(cell.share_serious) if cell.ratio else ""
        scaling = cell.scaling and spread(cell.scaling) + _mark(cell.serious or cell.first.serious)
        bad = f"! {_bad_flags(cell)}" if cell.serious else ""
        facts = [
            *(_rate(cell) if cell.rate else [("images/s", f"missing: {cell.state}")]),
            ("measured", _in_pairs(cell) if isinstance(cell, Ceiling) else ""),
            ("of the ceiling", share),
            ("not valid", " ".join(filter(None, (bad, _bad_ceiling(cell))))),
            ("", DRIFTED if tables.drifted(cell) else ""),
            ("", tables.DERIVED[tables.ABOVE] if cell.above_ceiling else ""),
            ("scaling efficiency", scaling),
            ("from files", _megabytes(storage.files_rate(cell))),
            ("of it from storage", _megabytes(storage.storage_rate(cell))),
        ]
        return [(word, clean(value, 1500)) for word, value in facts if value]


def shared_axes(setting):
    """[(axis, value in words), …] that all cells of the setting have alike."""
    cells = setting.cells or setting.ceilings
    return [
        (axis, cells[0].said(axis))
        for axis, value in cells[0].axes.items()
        if value is not None and len({axis_value(c.axes.get(axis)) for c in cells}) == 1
    ]


def name(cell):
    """As in the figures; a ceiling by its pixels."""
    if isinstance(cell, Ceiling):
        return f"ceiling (synthetic), input {clean(cell.input_size, 40)}, {gpus(cell.gpus)}"
    return panels.name(cell) + (f", {gpus(cell.gpus)}" if cell.gpus > 1 else "")


def _bad_flags(cell):
    """The names of the serious flags; "not valid" if there are none."""
    return ", ".join(ledger.named(cell.flags, "serious")) or "not valid"


def _bad_ceiling(cell):
    """Why its share may not be quoted whatever the cell itself is worth; "" where it may."""
    ceiling = cell.divided_by if cell.ratio else None
    return f"! ceiling: {_bad_flags(ceiling)}" if ceiling and ceiling.serious else ""


def _ids(cells):
    """{id(cell): the id of its row}: its anchor, as far as that is its alone."""
    found = {}
    for cell in cells:
        row, n = cell.anchor, 1
        while row in found:
            n += 1
            row = f"{cell.anchor}-{n}"
        found[row] = id(cell)
    return {cell: row for row, cell in found.items()}


def _rate(cell):
    rate = cell.rate
    low = "" if rate.low is None else f"{rate.low:,.6g} to {rate.high:,.6g} "
    more = f", {len(cell.lost)} more missing" if cell.lost else ""
    look = f"fewer than {statistics.LEAST} repetitions are a look: nothing is claimed of them"
    return [
        ("images/s", plus_minus(rate) + _mark(cell.serious)),
        ("interval", f"{low}({rate.kind})" if low else rate.kind),
        ("repetitions", f"{rate.n}{more}"),
        ("caution", look if rate.kind == statistics.NO_INTERVAL else ""),
    ]


def _in_pairs(ceiling):
    """Where its rate is from, if not from runs of its own."""
    if ceiling.recorded:
        return "elsewhere: its cells' records name it, this ledger holds no run of it"
    return "in pairs with its cells, whose records hold it" if ceiling.in_pairs else ""


def _mark(invalid):
    return " !" if invalid else ""


def _megabytes(rate):
    return "" if rate is None else f"{rate / 1e6:,.4g} MB/s"


def _short(value):
    number = ledger.number(value)
    return "" if number is None else str(number) if type(number) is int else amount(number)


def _keys(cell):
    """What the table's columns are sorted by; None (missing) goes last either way. JSON has no word
    for a number that is not finite."""
    keys = [
        kind_rank(cell.data)[0],
        mean_pixels(cell)[0] if cell.image_size else None,
        cell.workers,
        cell.gpus,
        cell.rate.n if cell.rate else 0,
        cell.rate.mean if cell.rate else None,
        cell.ratio.mean if cell.ratio else None,
        cell.mean("device_idle_fraction"),
        clean(cell.limiting()[1] or cell.limiting()[0], 40) or None,
        " ".join(tables.flag_names(cell)) or None,
    ]
    return [ledger.number(key) if isinstance(key, float) else key for key in keys]
