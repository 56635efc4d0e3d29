"""Reads and validates ledger.jsonl. Knows the schema of a record and nothing of figures."""
from __future__ import annotations

import json
import math
import os

SCHEMA = "feedrate.result/1"
STATUSES = ("ok", "failed", "interrupted", "invalid")
ROLES = ("cell", "ceiling")
REQUIRED_AXES = ("device", "model", "batch-size", "data")


class ReportError(Exception):
    """A failure that the user can meet: one line "thing: reason; remedy"."""

    def __init__(self, thing, reason, remedy=""):
        super().__init__(f"{thing}: {reason}" + (f"; {remedy}" if remedy else ""))


def find(folder):
    """The ledger's path for a result folder, or for the path of a ledger itself."""
    path = folder if os.path.isfile(folder) else os.path.join(folder, "ledger.jsonl")
    if not os.path.isfile(path):
        raise ReportError(path, "there is no ledger", "run `feedrate sweep -o DIR` first, then "
                          "`feedrate report DIR` with the same DIR")
    return path


def read(path, note):
    """The records of the ledger in the order in which they were written. note(text) is told of a
    torn last line, which is what a crash leaves; a broken line anywhere else is an error."""
    try:
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
    except OSError as error:
        raise ReportError(path, error.strerror or "cannot be read", "check its permissions")
    numbered = [(n, line) for n, line in enumerate(lines, 1) if line.strip()]
    records = []
    for n, line in numbered:
        try:
            record = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
        except (ValueError, RecursionError):
            if n == numbered[-1][0]:
                note(f"{path}: line {n} is torn (the run was cut off while writing it) and skipped")
                continue
            raise ReportError(f"{path}, line {n}", "not a JSON object",
                              "the ledger was damaged or edited: restore or delete that line")
        records.append(_validate(record, f"{path}, line {n}"))
    if not records:
        raise ReportError(path, "the ledger holds no result",
                          "run `feedrate sweep -o DIR` (or the same with --resume) first")
    return records


def _no_constant(name):
    raise ValueError(name)


def _validate(record, where):
    edited = "the ledger was damaged or edited: restore or delete that line"
    if not isinstance(record, dict):
        raise ReportError(where, "not a JSON object", edited)
    schema = record.get("schema")
    if schema != SCHEMA:
        raise ReportError(where, f"schema {str(schema)[:60]!r} is unknown, {SCHEMA} is expected",
                          "use the report of the feedrate that wrote it, or run the sweep again")
    cell = record.get("cell")
    if not isinstance(cell, dict) or any(cell.get(axis) is None for axis in REQUIRED_AXES):
        raise ReportError(where, "`cell` lacks one of " + ", ".join(REQUIRED_AXES), edited)
    odd = [axis for axis, value in cell.items() if isinstance(value, (list, dict))]
    if odd or not isinstance(cell["data"], str):
        raise ReportError(where, f"axis {(odd or ['data'])[0][:40]!r} has no single value", edited)
    for axis, least in (("gpus", 1), ("workers", 0)):
        value = cell.get(axis)
        if value is not None and (not isinstance(value, int) or value < least):
            raise ReportError(where, f"{axis} is {str(value)[:40]!r}", edited)
    for key, known in (("status", STATUSES), ("role", ROLES)):
        if record.get(key) not in known:
            raise ReportError(where, f"{key} {str(record.get(key))[:40]!r} is none of "
                              + ", ".join(known), edited)
    if not isinstance(record.get("repetition"), int) or not record.get("cell_id"):
        raise ReportError(where, "`repetition` or `cell_id` is missing", edited)
    if record["status"] == "ok" and not positive(record.get("imgs_per_s")):
        raise ReportError(where, "status is ok but imgs_per_s is not a positive number", edited)
    return record


def positive(value):
    """Whether it is a finite number above zero (True is none)."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) \
        and math.isfinite(value) and value > 0


def number(value):
    """The value if it is a finite number, else None."""
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return value if good else None


def raw(record, key):
    """The per-batch milliseconds of `key` (step_ms, data_wait_ms), [] where none were kept."""
    summary = record.get(key)
    values = summary.get("raw") if isinstance(summary, dict) else None
    return [v for v in values if number(v) is not None] if isinstance(values, list) else []


def version(record):
    """The feedrate that wrote the record, as far as its environment tells; "" where it does not."""
    environment = record.get("environment")
    places = [record.get("feedrate_version")]
    if isinstance(environment, dict):
        versions = environment.get("versions")
        places += [environment.get("feedrate_version"), environment.get("feedrate"),
                   versions.get("feedrate") if isinstance(versions, dict) else None]
    for place in places:
        if isinstance(place, dict):
            place = place.get("version")
        if isinstance(place, str) and place:
            return place
    return ""
