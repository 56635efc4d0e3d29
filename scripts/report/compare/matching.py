"""Which cell of one ledger stands beside which of another: the one with the same axes, or, across
chosen axes, the one that is alike in all others."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from ..errors import ReportError, TypedError
from ..ledger.cells import Ceiling
from ..text import axis_value, clean


@dataclass(frozen=True)
class Pair:
    """A cell of the baseline and its counterpart; None where there is none."""

    a: object
    b: object

    one = property(lambda self: self.a or self.b)


def key(cell, across=()):
    """What a cell_id is made of, less the axes that are compared across: an axis that does not
    concern the cell is as good as one that an older version does not know."""
    return isinstance(cell, Ceiling), tuple(
        (axis, repr(value))
        for axis, value in sorted(cell.axes.items())
        if value is not None and axis not in across
    )


def pairs(a_cells, b_cells, across=()):
    """Every cell of both sides once, in the order of A, then what only B has. Cells that are alike
    in every axis are paired first, then the others across the chosen axes."""
    known = {axis for cell in a_cells + b_cells for axis in cell.axes}
    for axis in across:
        if axis not in known:
            near = difflib.get_close_matches(axis, known, 1)
            raise TypedError(
                f"--across {clean(axis, 40)}",
                "no cell has such an axis"
                + (f": did you mean {clean(near[0], 40)}?" if near else ""),
                "choose from " + ", ".join(clean(a, 40) for a in sorted(known)),
            )
    found = _same(a_cells, b_cells)
    a_left = [cell for cell in a_cells if id(cell) not in found]
    b_taken = {id(cell) for cell in found.values()}
    b_left = [cell for cell in b_cells if id(cell) not in b_taken]
    if across:
        found.update(_alike(a_left, b_left, across))
        b_taken = {id(cell) for cell in found.values()}
    return [Pair(cell, found.get(id(cell))) for cell in a_cells] + [
        Pair(None, cell) for cell in b_cells if id(cell) not in b_taken
    ]


def _same(a_cells, b_cells):
    """{id of A's cell: B's cell} with the same axes."""
    of_b = {key(cell): cell for cell in b_cells}
    return {id(cell): of_b[key(cell)] for cell in a_cells if key(cell) in of_b}


def _alike(a_cells, b_cells, across):
    """The same for cells that differ in `across` alone. Two such cells on one side are an error:
    only the user can choose between them."""
    sides = {}
    for side, cells in enumerate((a_cells, b_cells)):
        for cell in cells:
            sides.setdefault(key(cell, across), ([], []))[side].append(cell)
    both = [s for s in sides.values() if s[0] and s[1]]
    for side in (side for s in both for side in s if len(side) > 1):
        raise ReportError(
            "--across " + ",".join(across),
            f"one ledger holds {len(side)} cells that differ in it "
            f"alone ({_telling(side, across)}), so that none is the other's counterpart",
            "leave out the axis in which they differ, or measure one of them into a folder of"
            " its own",
        )
    return {id(a[0]): b[0] for a, b in both}


def _telling(cells, across):
    words = [
        ", ".join(f"{axis} {axis_value(cell.axes.get(axis))}" for axis in across)
        for cell in cells[:3]
    ]
    return "; ".join(words)


def suggestion(found):
    """The axes across which most cells without a counterpart would find one; () if there is no way.
    Worked out from every such cell and the one on the other side that is nearest to it."""
    a_left = [pair.a for pair in found if pair.b is None][:200]
    b_left = [pair.b for pair in found if pair.a is None][:200]
    counts = {}
    for a in a_left:
        near = [
            _differing(a, b) for b in b_left if isinstance(a, Ceiling) == isinstance(b, Ceiling)
        ]
        if near:
            axes = min(near, key=lambda axes: (len(axes), axes))
            counts[axes] = counts.get(axes, 0) + 1
    for axes, _ in sorted(counts.items(), key=lambda item: (-item[1], len(item[0]), item[0])):
        try:
            if any(pair.a and pair.b for pair in pairs(a_left, b_left, axes)):
                return axes
        except ReportError:  # ambiguous: the next best
            continue
    return ()


def _differing(a, b):
    return tuple(
        axis
        for axis in dict.fromkeys([*a.axes, *b.axes])
        if repr(a.axes.get(axis)) != repr(b.axes.get(axis))
    )
