"""How long loading takes with how much there is to see in the pictures: the numbers of the cells
that differ in their detail alone."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from . import axes as axis_tables
from . import panels, settings, stage_times, statistics, storage
from .text import clean, workers

AXIS = "detail"


@dataclass(frozen=True)
class Point:
    """A cell of a series."""

    cell: object
    detail: str
    file_kb: float  # mean size of a file, 1 kB is 1,000 bytes
    load: object  # Estimate of the ms of one worker per image
    parts: tuple  # of it by stage, see stage_times.mean_parts()


@dataclass(frozen=True, eq=False)
class Series:
    """Cells that differ in their detail alone."""

    data: str
    name: str  # without its workers
    workers: str
    cells: tuple  # all of them, those without a result too
    points: tuple  # of those that have one, the least detail first

    @property
    def is_serious(self):
        """Whether either end carries a serious flag: no comparison of them is to be quoted."""
        return any(point.cell.serious for point in (self.points[0], self.points[-1]))

    label = property(lambda self: f"{self.name}, {self.workers}")
    least = property(lambda self: _said(self.points[0].detail))
    most = property(lambda self: _said(self.points[-1].detail))

    @functools.cached_property
    def speed(self):
        """Estimate of how fast a worker loads at the most detail, as a share of its speed at the
        least: paired within each repetition; None where no repetition has both."""
        least, most = (stage_times.totals(self.points[end].cell) for end in (0, -1))
        pairs = settings.common(least, most)
        return statistics.share(pairs, pilot=self.points[-1].cell.pilot) if pairs else None


def _said(detail):
    """ "the lowest", but "low"."""
    return f"the {detail}" if detail.endswith("est") else detail


def slower(speed):
    """Estimate of how many times as long loading takes, from that of the speed."""
    low, high = (None, None) if speed.low is None else (1 / speed.high, 1 / speed.low)
    points = tuple(1 / point for point in speed.points)
    return statistics.Estimate(1 / speed.mean, low, high, speed.n, speed.kind, points)


@functools.cache  # by identity: a setting does not change once it is grouped
def series(setting, gpus):
    """Every Series of two details or more; of several worker counts the fewest, so that workers
    wait for each other least."""
    alike = {}
    for cell in panels.at_gpus(setting, gpus):
        if cell.axes.get(AXIS) is not None:
            alike.setdefault(_but_for(cell, AXIS), []).append(cell)
    found = {}
    for cells in alike.values():
        one = _made(cells)
        if len(one.points) > 1:
            found.setdefault(_but_for(one.cells[0], AXIS, "workers", "prefetch"), []).append(one)
    return tuple(min(same, key=lambda s: _few_first(s.cells[0].workers)) for same in found.values())


def _but_for(cell, *axes):
    return tuple(
        (axis, str(value)) for axis, value in sorted(cell.axes.items()) if axis not in axes
    )


def _few_first(count):
    """The training thread, which loads where there is no worker, comes last."""
    return not count, count or 0


def _made(cells):
    known = axis_tables.own().axes[AXIS].values
    rank = {detail: place for place, detail in enumerate(known)}
    cells = sorted(cells, key=lambda c: (rank.get(c.axes[AXIS], len(rank)), str(c.axes[AXIS])))
    return Series(
        cells[0].data,
        _name(cells[0]),
        workers(cells[0].workers),
        tuple(cells),
        tuple(point for cell in cells for point in [_point(cell)] if point),
    )


def _name(cell):
    words = [part for part in cell.variant.split(", ") if part != f"{AXIS} {cell.said(AXIS)}"]
    return (
        clean(cell.data, 30)
        + (f" {clean(cell.image_size, 30)}" if cell.image_size else "")
        + (f" ({clean(', '.join(words), 60)})" if any(words) else "")
    )


def _point(cell):
    load, size = stage_times.load_ms(cell), storage.file_bytes(cell)
    if load is None or size is None:
        return None
    return Point(
        cell, clean(cell.axes[AXIS], 20), size / 1e3, load, tuple(stage_times.mean_parts(cell))
    )
