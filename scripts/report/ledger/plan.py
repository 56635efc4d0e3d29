"""plan.json beside a ledger: the runs that its sweeps set out to make. A run that was not made
becomes a record without a result, so that every figure and file shows it as missing."""

from __future__ import annotations

import json
import os

from . import ledger

SCHEMA = "feedrate.plan/1"


def _path_of(ledger_path):
    return os.path.join(os.path.dirname(os.path.abspath(ledger_path)), "plan.json")


def load(ledger_path):
    """plan.json as it is; {} where there is none, or none that can be read."""
    try:
        with open(_path_of(ledger_path), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def read(ledger_path, note=lambda text: None):
    """[(records that the ledger held when the sweep began, a record of the status ledger.NOT_RUN),
    …] in the plan's order; [] without a plan, as older sweeps have none. A plan that cannot be read
    is noted and ignored."""
    path, plan = _path_of(ledger_path), load(ledger_path)
    if not os.path.exists(path):
        return []
    try:
        if plan["schema"] != SCHEMA:
            raise ValueError
        return [
            (_count(sweep["records"]), _not_run(plan["cells"], *run))
            for sweep in plan["sweeps"]
            for run in sweep["runs"]
        ]
    except (ValueError, KeyError, TypeError):
        unknown = f"{path}: is no plan of {SCHEMA}: whether runs are missing cannot be told"
        note(f"{unknown}; the next `feedrate sweep --resume` writes it anew")
        return []


def _not_run(cells, cell_id, role, repetition, place):
    record = {
        "schema": ledger.SCHEMAS[-1],
        "cell": cells[cell_id],
        "cell_id": cell_id,
        "role": role,
        "repetition": repetition,
        "place": _count(place),
        "status": "failed",
        "imgs_per_s": None,
        "valid": False,
    }
    if problem := ledger.problem(record):
        raise ValueError(problem)
    return {**record, "status": ledger.NOT_RUN}


def _count(value):
    if type(value) is not int:
        raise ValueError(value)
    return value


def complete(records, planned):
    """The records and, after them, the runs of the plan that have none."""
    there = {_run(record) for record in records}
    return records + [record for _, record in planned if _run(record) not in there]


def missing(records, planned):
    """A line that says how many of the planned runs have no record; none where all have one."""
    count = len(complete(records, planned)) - len(records)
    words = f"{count} of {len(planned)} planned runs have no record and are shown as missing"
    return [f"{words}: `feedrate sweep -o DIR --resume` measures them"] if count else []


def has_ended(ledger_path):
    """Whether the last sweep ended by itself and carried out all its runs, as plan.json says
    then."""
    ended = load(ledger_path).get("ended")
    return isinstance(ended, dict) and ended.get("whole", True)


def _run(record):
    return str(record["cell_id"]), record["repetition"], str(record.get("place") or 0)
