"""Groups records: a ledger holds machine settings, a setting holds cells and their ceilings."""

from __future__ import annotations

from dataclasses import replace

from ..text import clean
from . import axes as axis_tables
from . import ledger, statistics
from .cells import Ceiling, Cell, Setting, effective_input, kind_rank, pixels, sizes_of, value_rank

COORDINATES = ("data", "image-size", "workers", "gpus")
# By default these depend on the number of workers: a change in them alone makes no new series.
FOLLOWERS = ("prefetch",)
# how far an emulated ceiling may lie from its given rate and still be shown as set; beyond that the
# measured rate counts
HELD = 0.01


def group(records, note=lambda text: None, tables=None):
    """The settings of a ledger, in its order. `tables` says which axes make one: see axes.py."""
    tables = tables or axis_tables.own()
    records = list(records)
    cells, ceilings = _pool(records, note)
    sittings = Sittings(records, tables)
    measured = {ceiling_key(c.axes, tables) for c in ceilings if c.rate}
    for cell in [
        c for c in cells if c.data == "synthetic" and ceiling_key(c.axes, tables) not in measured
    ]:
        # A `synthetic` cell of a sweep without ceilings of its own is the ceiling.
        ceilings.append(_pooled(Ceiling, cell.axes, cell.cell_id, cell.runs + cell.lost, note))
        cells.remove(cell)
    settings = {}
    for cell in cells + ceilings:
        mine = {axis: cell.axes.get(axis) for axis in tables.of_setting}
        here = settings.setdefault(tuple(map(str, mine.values())), Setting(mine, tables))
        (here.ceilings if isinstance(cell, Ceiling) else here.cells).append(cell)
    of_key = {ceiling_key(c.axes, tables): c for c in reversed(ceilings) if c.rate}
    for setting in settings.values():
        _name_ceilings(setting, of_key)
        for cell in setting.cells:
            _divide(cell, of_key, sittings, setting)
        _scale(setting.cells + setting.ceilings)
        _name_variants(setting)
        sizes = [None, *sizes_of(setting.cells)]
        setting.cells.sort(
            key=lambda c: (
                c.variant_rank,
                c.variant,
                kind_rank(c.data),
                sizes.index(c.image_size or None),
                c.gpus,
                -1 if c.workers is None else c.workers,
            )
        )
        setting.ceilings.sort(key=lambda c: (pixels(c.input_size), c.gpus))
    return list(settings.values())


def _pool(records, note):
    found = {}
    for record in records:
        found.setdefault((record["role"], str(record["cell_id"])), []).append(record)
    pooled = [
        _pooled(Ceiling if role == "ceiling" else Cell, rs[0]["cell"], cell_id, rs, note)
        for (role, cell_id), rs in found.items()
    ]
    return [c for c in pooled if not isinstance(c, Ceiling)], [
        c for c in pooled if isinstance(c, Ceiling)
    ]


def _pooled(kind, axes, cell_id, records, note):
    """A cell from its records. A run that was made again, after a failure or because its number
    must not be quoted, counts once."""
    repetitions = {}
    for record in records:
        repetitions.setdefault(record["repetition"], []).append(record)
    runs, lost = {}, []
    for repetition, tries in sorted(repetitions.items()):
        # A ceiling has more results where cells were added later, see Sittings.
        good = _counting(
            [r for r in tries if r["status"] == "ok"],
            note if kind is Cell else lambda text: None,
        )
        if good:
            runs[repetition] = good
        else:
            lost.append(ledger.tried(tries)[-1])
    cell = kind(axes, cell_id, [r for good in runs.values() for r in good], lost)
    if runs:
        cell.rate = statistics.estimate(list(cell.by_repetition.values()), cell.pilot)
    if runs and kind is Ceiling:
        cell.rate = _set(cell, cell.rate) or cell.rate
        moved = [good for good in runs.values() if len(good) > 1]
        cell.drift = (
            statistics.share([(good[-1]["imgs_per_s"], good[0]["imgs_per_s"]) for good in moved])
            if moved
            else None
        )
    return cell


def _counting(results, note):
    """The last valid result of each place (a ceiling has two in a repetition), or the last one."""
    of_place = {}
    for record in results:
        of_place.setdefault(record.get("place") or 0, []).append(record)
    for found in of_place.values():
        valid = [r for r in found if ledger.valid(r)]
        if len(valid) > 1:
            note(
                f"cell {clean(found[0]['cell_id'], 20)}, repetition {found[0]['repetition']}:"
                f" {len(valid)} results, the last one counts"
            )
        found[:] = (valid or found)[-1:]
    return [r for _, (r,) in sorted(of_place.items())]


def _set(ceiling, measured):
    """An emulated device's ceiling is the rate that was given, as long as its records keep to it;
    None for any other."""
    device = ledger.object_at(ceiling.records[-1], "device")
    if device.get("kind") != "emulated" and not str(ceiling.axes["device"]).startswith("emulated"):
        return None
    step_ms = ledger.number(device.get("step_ms"))
    rate = 1e3 * ceiling.axes["batch-size"] * ceiling.gpus / step_ms if step_ms else measured.mean
    if any(abs(r[ceiling.rate_field] / rate - 1) > HELD for r in ceiling.records):
        return None
    return statistics.Estimate(rate, None, None, measured.n, statistics.SET)


def ceiling_key(axes, tables):
    """What a cell and its ceiling share: the axes of the setting, gpus and pixels seen."""
    seen = {**axes, "input-size": effective_input(axes)}
    return (*(str(seen.get(a)) for a in tables.of_setting), axes.get("gpus") or 1)


class Sittings:
    """The ceilings around each run. Within a repetition, an opening ceiling after the closing one
    begins another sitting: cells that were added later, on a machine that may have changed."""

    def __init__(self, records, tables):
        self.tables = tables
        self.places = {}  # (ceiling, repetition) -> a {place: record} for each sitting
        self.number = {}  # of a record's sitting, by its identity
        self.closed = set()  # ceilings that the sweep runs at the end, too
        for record in records:
            here = self.places.setdefault(self._block(record), [])
            place = record.get("place") or 0
            is_ceiling = record["cell"]["data"] == "synthetic"
            if not here or (is_ceiling and place == 0 and 1 in here[-1]):
                here.append({})
            self.number[id(record)] = len(here) - 1
            if is_ceiling and record["status"] == "ok":
                before = here[-1].get(place)
                if before is None or ledger.valid(record) or not ledger.valid(before):
                    here[-1][place] = record
                if place:
                    self.closed.add(self._block(record)[0])

    def _block(self, record):
        return ceiling_key(record["cell"], self.tables), record["repetition"]

    def references(self, cell):
        """{repetition: images/s of the ceiling that the cell's run is divided by}: what the run
        itself names, if it took turns with its ceiling or the ledger holds no run of that; else the
        mean rate of the ceilings around it, where both are there, if the sweep has closing
        ceilings."""
        key = ceiling_key(cell.axes, self.tables)
        asked = {0, 1} if key in self.closed else {0}
        found = {}
        for repetition, runs in cell.runs_by_repetition.items():
            there = self.places[key, repetition][self.number[id(runs[-1])]]
            if ledger.in_pairs(runs[-1]) or cell.ceiling.recorded:
                if ledger.positive(named := runs[-1].get("ceiling_imgs_per_s")):
                    found[repetition] = named
            elif asked <= there.keys():
                rates = [record["imgs_per_s"] for record in there.values()]
                found[repetition] = sum(rates) / len(rates)
        return found


def _name_ceilings(setting, ceilings):
    """Adds to the setting, and to {key: Ceiling}, the ceilings that records of cells name: those
    that took turns with them, and those of which the ledger holds no run."""
    naming = {}
    for cell in setting.cells:
        key = ceiling_key(cell.axes, setting.tables)
        for record in cell.runs:
            is_alone = key not in ceilings and ledger.positive(record.get("ceiling_imgs_per_s"))
            if is_alone or ledger.in_pairs(record):
                naming.setdefault(key, (cell, []))[1].append(record)
    for key, (cell, records) in naming.items():
        in_pairs = [record for record in records if ledger.in_pairs(record)]
        records = list(filter(ledger.valid, in_pairs)) or in_pairs or records
        before = ceilings.get(key) or _unmeasured(setting, cell)
        ceilings[key] = replace(before, named_by=records)
        ceilings[key].rate = _named_rate(ceilings[key])
        setting.ceilings = [c for c in setting.ceilings if c is not before] + [ceilings[key]]


def _unmeasured(setting, cell):
    """The cell's ceiling, of which there is no run."""
    axes = dict(setting.axes, **{"data": "synthetic", "gpus": cell.gpus})
    if setting.axes["input-size"] == "native":
        axes["image-size"] = cell.image_size
    return Ceiling(axes, "", [], [])


def _named_rate(ceiling):
    found = statistics.estimate(list(ceiling.by_repetition.values()), ceiling.pilot)
    if ceiling.in_pairs:
        return _set(ceiling, found) or found
    # Older records name a mean of all ceilings so far: its scatter is not that of repetitions.
    return replace(found, low=None, high=None, kind=statistics.NO_INTERVAL, points=())


def _divide(cell, ceilings, sittings, setting):
    """Finds the cell's ceiling and its share of it."""
    cell.ceiling = ceilings.get(ceiling_key(cell.axes, setting.tables))
    if not cell.ceiling:
        return
    cell.references = sittings.references(cell)
    if pairs := paired(cell):
        most = 1.0 if setting.is_bounded else None
        cell.ratio = statistics.share(pairs, pilot=cell.pilot, most=most)
    if cell.rate and setting.is_bounded and cell.ceiling.rate.kind == statistics.SET:
        cell.rate = statistics.bounded(cell.rate, cell.ceiling.rate.mean)


def paired(cell):
    """[(images/s, the ceiling's), …]: one a repetition, over those in which both were measured and
    that are complete."""
    return common(cell.by_repetition, cell.references)


def common(mine, its):
    """[(mine, its), …] of the repetitions that both have."""
    return [(rate, its[n]) for n, rate in mine.items() if n in its]


def _scale(cells):
    """Sets the scaling efficiency of each cell, relative to the same cell with the fewest GPUs."""
    alike = {}
    for cell in (c for c in cells if c.rate):
        key = tuple((a, str(v)) for a, v in sorted(cell.axes.items()) if a != "gpus")
        alike.setdefault((isinstance(cell, Ceiling), key), []).append(cell)
    for same in alike.values():
        first = min(same, key=lambda c: c.gpus)
        for cell in same if len(same) > 1 else []:
            cell.scaling = scaling(cell, first)
            cell.first = first


def scaling(cell, first):
    """The share of linear scaling: the rate over what as many GPUs would reach at the pace of the
    first count's, paired within each repetition. 1 by definition at the first count itself; None
    where no repetition has both.
    """
    if cell is first:
        return statistics.Estimate(1.0, None, None, cell.rate.n, statistics.NO_INTERVAL)
    pairs = common(
        cell.by_repetition,
        {n: rate * cell.gpus / first.gpus for n, rate in first.by_repetition.items()},
    )
    chosen = bool(cell.how or first.how)
    return (
        statistics.share(
            pairs,
            cell.bias_of(len(pairs)) - first.bias_of(len(pairs)),
            statistics.T_CHOSEN if chosen else statistics.T_INTERVAL,
            cell.pilot,
        )
        if pairs
        else None
    )


def _name_variants(setting):
    for data in {cell.data for cell in setting.cells}:
        same = [cell for cell in setting.cells if cell.data == data]
        axes = sorted({a for c in same for a in c.axes} - setting.axes.keys() - set(COORDINATES))
        telling = _telling(axes, same)
        for cell in same:
            cell.variant = ", ".join(f"{clean(axis, 40)} {cell.said(axis)}" for axis in telling)
            cell.variant_rank = tuple(value_rank(axis, cell.axes.get(axis)) for axis in telling)


def _telling(axes, cells):
    """Those of the axes that tell the cells apart: all that have several values, and of the others,
    which follow from those or do not concern every cell, those that are still needed."""
    telling = [axis for axis in axes if axis not in FOLLOWERS and _has_several(axis, cells)]
    for axis in axes:
        if axis not in telling and _tells_apart(axis, cells, telling):
            telling.append(axis)
    return sorted(telling)


def _has_several(axis, cells):
    return len({str(c.axes[axis]) for c in cells if c.axes.get(axis) is not None}) > 1


def _tells_apart(axis, cells, others):
    """Whether cells that are alike in the others differ in it."""
    at = {}
    for c in cells:
        place = tuple(str(c.axes.get(a)) for a in (*COORDINATES, *others))
        at.setdefault(place, set()).add(str(c.axes.get(axis)))
    return any(len(seen) > 1 for seen in at.values())
