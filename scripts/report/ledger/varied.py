"""The axis that a figure is drawn over: the loader's workers, or what was varied in their place."""

from __future__ import annotations

import copy
import math

from . import axes as axis_tables
from . import ledger
from .cells import value_rank
from .settings import FOLLOWERS

WORKERS, DETAIL = "workers", "detail"
APART = ("data", "image-size", "gpus")  # each value is a line, a panel or a figure of its own


def over(cells):
    """(the axis of which a line of the figure has several values, the cells that have one); "" and
    [] where there is no such axis. The variant of these cells does not name the axis."""
    others = [axis for axis in axis_tables.own().axes if axis not in (*APART, WORKERS)]
    for axis in (WORKERS, *others):
        mine = [c for c in cells if c.axes.get(axis) is not None]
        if _is_ordered(axis, mine) and _most_values(axis, mine) > 1:
            return axis, mine if axis == WORKERS else [_without(axis, c) for c in mine]
    return "", []


def _is_ordered(axis, cells):
    """Whether a line between its values means anything."""
    return axis == DETAIL or all(ledger.number(c.axes[axis]) is not None for c in cells)


def _most_values(axis, cells):
    """Of the cells that differ in nothing else."""
    alike = {}
    left_out = (axis, *(FOLLOWERS if axis == WORKERS else ()))
    for cell in cells:
        rest = tuple((a, str(v)) for a, v in sorted(cell.axes.items()) if a not in left_out)
        alike.setdefault(rest, set()).add(str(cell.axes[axis]))
    return max(map(len, alike.values()), default=0)


def _without(axis, cell):
    """The cell under the name of its line."""
    made = copy.copy(cell)
    words = f"{axis} {cell.said(axis)}"
    made.variant = ", ".join(part for part in cell.variant.split(", ") if part != words)
    made.variant_rank = ()
    return made


class Scale:
    """Where the values of the axis stand: workers by their logarithm, no worker at all (the
    training thread loads) a step left of the least; others side by side."""

    def __init__(self, axis, cells):
        self.axis = axis
        self.values = sorted({c.axes[axis] for c in cells}, key=lambda v: value_rank(axis, v))
        self.words = [str(value) for value in self.values]
        self.places = [self._place(value) for value in self.values]

    def place(self, cell):
        return self.places[self.values.index(cell.axes[self.axis])]

    def stands_apart(self, cell):
        return self.axis == WORKERS and not cell.workers

    @property
    def has_none_apart(self):
        return self.axis == WORKERS and len(self.values) > 1 and not self.values[0]

    def _place(self, value):
        if self.axis != WORKERS:
            return self.values.index(value)
        least = min((w for w in self.values if w), default=1)
        return math.log2(value) if value else math.log2(least) - 1
