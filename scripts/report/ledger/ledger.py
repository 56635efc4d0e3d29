"""Reads ledger.jsonl and checks each record against its schema. Knows nothing of figures."""

from __future__ import annotations

import json
import math
import os
import sys

from ..errors import ReportError
from ..text import clean

MOST = sys.float_info.max
EXACT = 1e-9  # relative: what printing a double and dividing again may cost
SCHEMAS = tuple(f"feedrate.result/{version}" for version in (1, 2, 3, 4))  # the newest last
WHOLE = 3  # the first version whose records lack nothing that a report asks for
LINE = "_line"  # where read() notes the line of the ledger that a record stands in
STATUSES = ("ok", "failed", "interrupted", "invalid")
NOT_RUN = "not run"  # planned, and in no ledger; see plan.py
ROLES = ("cell", "ceiling")
TRACED = "emulated:trace="  # how an axis `device` begins that replays recorded steps
# What `page_cache` stands for where what is read is to come from storage.
PAST_MEMORY = ("cold", "bypassed")
REQUIRED_AXES = ("device", "model", "batch-size", "data")


def find(folder):
    """The ledger's path for a result folder, or for the path of a ledger itself."""
    path = folder if os.path.isfile(folder) else os.path.join(folder, "ledger.jsonl")
    if not os.path.isfile(path):
        remedy = "run `feedrate sweep -o DIR` first, then `feedrate report DIR` with the same DIR"
        raise ReportError(path, "there is no ledger", remedy)
    return path


TORN = "torn (the run was cut off while writing it)"
EDITED = "the ledger was damaged or edited: restore or delete that line"


def read(path, note):
    """The records of the ledger in the order in which they were written, as the newest schema has
    them. note(text) is told of a torn last line; a broken line anywhere else is an error. Each
    record gets its line number (from 1) as record[LINE], so that every number leads back to it.
    """
    records, older = [], []
    for n, record, problem in scan(path):
        if problem and problem[0] == TORN:
            note(f"{path}: line {n} is {TORN} and skipped")
        elif problem:
            raise ReportError(f"{path}, line {n}", *problem)
        else:
            records.append({**upgrade(record), LINE: n})
            older += [] if since(record, WHOLE) else [record["schema"]]
    if any(map(of_jobs, records)):
        why = "it holds runs of `feedrate jobs`, which printed their answer itself"
        remedy = "reports and comparisons are made of `feedrate sweep -o DIR`"
        raise ReportError(path, why, remedy)
    if older:
        note(
            f"{path}: {len(older)} of {len(records)} records are of an older schema ({min(older)}):"
            " read as far as it goes"
        )
    if not records:
        remedy = "run `feedrate sweep -o DIR` (or the same with --resume) first"
        raise ReportError(path, "the ledger holds no result", remedy)
    return records


def since(record, version):
    """Whether its schema is this version or a later one."""
    return SCHEMAS.index(record["schema"]) >= version - 1


def in_pairs(record):
    """Whether short blocks of its cell and of its ceiling took turns in one run: it holds its own
    ceiling."""
    return since(record, 4) and isinstance(record.get("pairs"), dict)


def of_jobs(record):
    """Whether it is a run of `feedrate jobs`, alone or together: several may be of one cell and
    repetition."""
    return isinstance(record.get("jobs"), dict)


def seed(record):
    """The seed that was asked for. Runs of `feedrate capacity` and `feedrate jobs` each have their
    own."""
    part = object_at(record, "jobs" if of_jobs(record) else "search")
    return part.get("base_seed", record.get("seed"))


def scan(path):
    """Yields (line number, record, problem) for every line that is not blank: the record as it was
    written, None where the line is no JSON, and (reason, remedy) or None where all is well. A last
    line without its end is TORN: that is what a crash leaves."""
    try:
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
    except OSError as error:
        raise ReportError(path, error.strerror or "cannot be read", "check its permissions")
    for n, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
        except (ValueError, RecursionError):
            yield n, None, (TORN, "") if n == len(lines) else ("not a JSON object", EDITED)
            continue
        yield n, record, problem(record)


def upgrade(record):
    """A sound record of any schema as reports read it. 2 added `valid`; 3 checksums, each rank's
    window, and a ceiling that is the one that opened the repetition; 4 runs in pairs."""
    if record["schema"] != SCHEMAS[0]:
        return record
    return {**record, "schema": SCHEMAS[1], "valid": valid_by_flags(record)}


def tried(records):
    """The records of runs that were tried, if any: why those failed says more than that other runs
    never started."""
    return [r for r in records if r["status"] != NOT_RUN] or records


def valid_by_flags(record):
    """Whether the number may be quoted: ok, and no serious flag."""
    return record["status"] == "ok" and not any(
        flag.get("severity") == "serious" for flag in flags(record)
    )


def valid(record):
    """As valid_by_flags(), unless the record itself says that it is not (from schema 2 on)."""
    return valid_by_flags(record) and record.get("valid") is not False


def flags(record):
    """The record's flags, as far as they are flags."""
    found = record.get("flags")
    return [f for f in found if isinstance(f, dict)] if isinstance(found, list) else []


def named(flags, severity):
    """The names of those flags of that severity, in order."""
    found = (flag for flag in flags if flag.get("severity") == severity)
    return sorted({clean(flag.get("name") or "?", 40) for flag in found})


def flag_names(record):
    return {str(flag.get("name")) for flag in flags(record)}


def _no_constant(name):
    raise ValueError(name)


def problem(record):
    """(reason, remedy) why it is no record, or None."""
    if not isinstance(record, dict):
        return "not a JSON object", EDITED
    schema = record.get("schema")
    if schema not in SCHEMAS:
        return (
            f"schema {str(schema)[:60]!r} is unknown, {' or '.join(SCHEMAS)} is expected",
            "use the report of the feedrate that wrote it, or run the sweep again",
        )
    reason = _cell_problem(record.get("cell"))
    for key, known in (("status", STATUSES), ("role", ROLES)):
        if record.get(key) not in known:
            reason = reason or f"{key} {str(record.get(key))[:40]!r} is none of " + ", ".join(known)
    if not isinstance(record.get("repetition"), int) or not record.get("cell_id"):
        reason = reason or "`repetition` or `cell_id` is missing"
    if schema != SCHEMAS[0] and not isinstance(record.get("valid"), bool):
        reason = reason or "`valid` is neither true nor false"
    if record.get("status") == "ok" and not positive(record.get("imgs_per_s")):
        reason = reason or "status is ok but imgs_per_s is not a positive number"
    is_paired = record.get("status") == "ok" and in_pairs(record)
    if is_paired and not positive(record.get("ceiling_imgs_per_s")):
        reason = reason or "it was measured in pairs, but its ceiling_imgs_per_s is no rate"
    return (reason, EDITED) if reason else None


def _cell_problem(cell):
    if not isinstance(cell, dict) or any(cell.get(axis) is None for axis in REQUIRED_AXES):
        return "`cell` lacks one of " + ", ".join(REQUIRED_AXES)
    odd = [axis for axis, value in cell.items() if isinstance(value, (list, dict))]
    if odd or not isinstance(cell["data"], str):
        return f"axis {(odd or ['data'])[0][:40]!r} has no single value"
    for axis, least in (("gpus", 1), ("workers", 0), ("batch-size", 1)):
        value = cell.get(axis)
        if value is not None and (not isinstance(value, int) or not least <= value <= 1 << 40):
            return f"{axis} is {str(value)[:40]!r}"
    return ""


def part(record, *keys):
    """The value below some keys; None where a step of the way is missing."""
    for key in keys:
        record = record.get(key) if isinstance(record, dict) else None
    return record


def object_at(record, *keys):
    """The object below some keys; an empty one where there is none."""
    value = part(record, *keys)
    return value if isinstance(value, dict) else {}


def first_window(record):
    """Seconds of the first rank's window, which step_ms, device_idle_fraction and the flags are
    of."""
    ranks = record.get("ranks")
    first = number(part(ranks[0], "window_s")) if isinstance(ranks, list) and ranks else None
    return record["window_s"] if first is None else first


def drawn(record):
    """The share of its images that was drawn from the queue or has filled it; 0 before schema 3."""
    return abs(number(part(record, "queue", "drawn_fraction")) or 0.0) if since(record, 3) else 0.0


def stages(record):
    """Those that were timed, as objects."""
    found = record.get("stages")
    return [stage for stage in found if isinstance(stage, dict)] if isinstance(found, list) else []


def positive(value):
    """Whether it is a finite number above zero (True is none)."""
    return number(value) is not None and value > 0


def number(value):
    """The value if it is a finite number, else None."""
    # Compared, not asked of math.isfinite(): that trips over an integer of hundreds of digits.
    return value if type(value) in (float, int) and -MOST <= value <= MOST else None


def numbers(values):
    """Whether all are finite numbers: number() for long lists, in a tenth of the time."""
    if not set(map(type, values)) <= {float, int}:
        return False
    try:
        return math.isfinite(sum(values))
    except OverflowError:
        return False


def raw(record, key):
    """The per-batch milliseconds of `key` (step_ms, data_wait_ms), [] where none were kept."""
    values = part(record, key, "raw")
    if not isinstance(values, list):
        return []
    return values if numbers(values) else [v for v in values if number(v) is not None]


def version(record):
    """The feedrate that wrote the record, as its environment says; "" where it does not."""
    found = part(record, "environment", "feedrate_version")
    return found if isinstance(found, str) else ""
