"""The tables of axes and flags, as `feedrate list --json` prints them and a sweep writes them
beside its ledger."""

from __future__ import annotations

import fnmatch
import functools
import json
import os
from dataclasses import dataclass

from ..errors import ReportError

SCHEMA = "feedrate.axes/1"
NAME = "axes.json"
MOST_BYTES = 1 << 20
# A setting is named by its axes in this order, and by those between them in the order of the table.
FIRST, LAST = ("device", "device-threads", "model", "batch-size", "precision"), ("input-size",)


@dataclass(frozen=True)
class Axis:
    """What the report needs to know of an axis."""

    name: str
    usual: object  # the value that goes without saying, as text; None: each value is said
    ceiling: bool  # whether a cell and its ceiling share it
    values: tuple  # those that it can take, as text; () for a number


@dataclass(frozen=True)
class FlagRule:
    """One thing that can be wrong with a record."""

    id: str  # the flag's name; after a dot, which of several rules of that name
    name: str
    severity: str
    # beyond which it is raised, and beyond which it is serious; None: not decided by a number
    threshold: object
    serious: object
    remedy: str


@dataclass(frozen=True)
class Tables:
    axes: dict  # {name: Axis}, in the order of the program
    rules: dict  # {id: FlagRule}
    # patterns of differences that mean another machine, storage, library or data
    other_work: tuple

    @functools.cached_property
    def of_setting(self):
        """The axes that a setting is made of: those of the ceiling, but for the number of GPUs,
        which a figure is drawn over."""
        between = [
            a.name
            for a in self.axes.values()
            if a.ceiling and a.name not in (*FIRST, *LAST, "gpus")
        ]
        return (*FIRST, *between, *LAST)

    def usual(self, axis):
        return self.axes[axis].usual if axis in self.axes else None

    def is_other_work(self, difference):
        return any(fnmatch.fnmatchcase(str(difference), pattern) for pattern in self.other_work)


def beside(ledger_path):
    """The tables that the ledger was measured by; the report's own where none were written beside
    it."""
    path = os.path.join(os.path.dirname(os.path.abspath(ledger_path)), NAME)
    return read(path) if os.path.lexists(path) else own()


@functools.cache
def own():
    """Those of the program that this report belongs to."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return read(os.path.join(folder, NAME))


def read(path):
    """The tables in a file. Throws a ReportError where it holds none."""
    try:
        with open(path, "rb") as file:
            text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise ValueError(f"it is larger than {MOST_BYTES >> 20} MiB")
        tables = json.loads(text)
        if tables["schema"] != SCHEMA:
            raise ValueError("its schema is another")
        axes, rules = (
            [_axis(row) for row in tables["axes"]],
            [_rule(row) for row in tables["flags"]],
        )
        return Tables(
            {a.name: a for a in axes},
            {r.id: r for r in rules},
            tuple(map(_text, tables["other_work"])),
        )
    except OSError as error:
        raise ReportError(path, error.strerror or "cannot be read", "check its permissions")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        reason = str(error) if type(error) is ValueError else "it is damaged"
        raise ReportError(
            path,
            f"holds no tables of {SCHEMA}: {reason}",
            "delete it: the report then uses its own tables",
        )


def _axis(row):
    if not isinstance(row["ceiling"], bool):
        raise TypeError
    return Axis(
        _text(row["name"]),
        _text(row["usual"], optional=True),
        row["ceiling"],
        tuple(_text(v["value"]) for v in row["values"]),
    )


def _rule(row):
    for number in (row["threshold"], row["serious"]):
        if number is not None and type(number) not in (int, float):
            raise TypeError
    return FlagRule(
        *(_text(row[key]) for key in ("id", "name", "severity")),
        row["threshold"],
        row["serious"],
        _text(row["remedy"]),
    )


def _text(value, optional=False):
    if not (isinstance(value, str) or optional and value is None):
        raise TypeError
    return value
