"""Whether the records of a ledger fit each other: order, times, one program on one machine, one
result for each run, and ceilings that are the ones that stand in the ledger."""

from __future__ import annotations

from ..ledger import axes, ledger
from ..ledger.cells import DRIFT
from ..ledger.settings import ceiling_key
from . import arithmetic

# Of the environment, what `sweep --resume` insists on; records that differ in it are two
# experiments in one file.
SAME = ("feedrate_version", "git_commit", "binary_xxh3", "host")


def problems(numbered):
    """[(line number, text), …] for [(line number, sound record), …]."""
    found = [entry for check in CHECKS for entry in check(numbered)]
    return sorted(found, key=lambda entry: entry[0])


def _order(numbered):
    last = None
    for place, (n, record) in enumerate(numbered):
        order = ledger.number(record.get("order"))
        if order is None:
            yield n, "order is missing"
            continue
        due = place if last is None else last + 1
        if last is not None and order <= last:
            moved = "lines were moved, copied or put together from two ledgers"
            yield n, f"order is {order:g} after {last:g}: {moved}"
        elif order != due:
            why = "a record before it is gone, or it was moved"
            yield n, f"order is {order:g}, {due:g} is due: {why}"
        last = order


def _times(numbered):
    last = None
    for n, record in numbered:
        now = arithmetic.started(record)
        if now and last and now < last:
            before = (last - now).total_seconds()
            yield n, f"started_at is {before:.0f} s before that of an earlier line"
        last = max(filter(None, (now, last)), default=None)


def _results(numbered):
    seen, closed, anew = {}, set(), set()
    for n, record in numbered:
        if ledger.of_jobs(record):  # each cell alone, and as often as there are jobs of it
            continue
        run = str(record["cell_id"]), record["repetition"], str(record.get("place") or 0)
        block = ceiling_key(record["cell"], axes.own()), record["repetition"]
        # What failed or must not be quoted is measured again; what comes after the ceiling that
        # closed its repetition, between ceilings of its own.
        if record["role"] == "ceiling" and not record.get("place") and block in closed:
            closed.discard(block)
            for place in ("0", "1"):
                seen.pop((run[0], run[1], place), None)
        if record["status"] != "ok" or not ledger.valid(record):
            anew.add(block)
        else:
            if run in seen and block not in anew:
                which = f"cell {run[0][:20]}, repetition {run[1]}, place {run[2]}"
                yield n, f"a second result of {which}: the first is in line {seen[run]}"
            seen.setdefault(run, n)
        if record["role"] == "ceiling" and record.get("place"):
            closed.add(block)


def _jobs(numbered):
    """Of `feedrate jobs`: a repetition comes after the one before it, and each job has its run
    beside others once in it, after its cell's run alone."""
    last, alone, seen = 0, set(), set()
    for n, record in numbered:
        if not ledger.of_jobs(record):
            continue
        repetition, job = record["repetition"], str(record["jobs"].get("job"))
        if not last <= repetition <= last + 1:
            yield n, f"repetition is {repetition} after {last}: lines were moved or edited"
        last = repetition
        cell = repetition, str(record["cell_id"])
        if not record["jobs"].get("together"):
            alone.add(cell)
            continue
        if cell not in alone:
            yield n, f"job {job[:20]} did not run alone before, in repetition {repetition}"
        if (repetition, job) in seen:
            yield n, f"a second result of job {job[:20]}, repetition {repetition}"
        seen.add((repetition, job))


def _cells(numbered):
    """A cell_id is a hash of the axes: one cannot change without the other."""
    axes_of, id_of = {}, {}
    for n, record in numbered:
        cell_id = str(record["cell_id"])
        axes = tuple(sorted((axis, repr(v)) for axis, v in record["cell"].items() if v is not None))
        if axes_of.setdefault(cell_id, axes) != axes:
            yield n, f"cell_id {cell_id[:20]} has other axes than in an earlier line"
        elif id_of.setdefault(axes, cell_id) != cell_id:
            earlier = f"an earlier line with the same axes has {id_of[axes][:20]}"
            yield n, f"cell_id is {cell_id[:20]}, {earlier}"


def _experiment(numbered):
    first = {}
    for n, record in numbered:
        if "mixed_ledger" in ledger.flag_names(record):  # it says so itself
            continue
        for what, value in _shared(record).items():
            if repr(first.setdefault(what, value)) != repr(value):
                earlier = f"earlier lines have {str(first[what])[:60]!r}"
                yield n, f"{what[0]} is {str(value)[:60]!r}, {earlier}"
                first[what] = value  # said once for each change, not for each line after it


def _shared(record):
    """{(what, of which): value} of all that records of one experiment have in common."""
    environment, device, limits, dataset = (
        ledger.object_at(record, key) for key in ("environment", "device", "limits", "dataset")
    )
    found = {(name, ""): environment.get(name) for name in SAME}
    jobs = ledger.of_jobs(record)  # each may read a dataset of its own
    if not jobs or "base_seed" in record["jobs"]:
        found["seed", ""] = ledger.seed(record)
    found["environment.gpus", ""] = environment.get("gpus")
    axis = str(record["cell"]["device"])
    if record["status"] == "ok":  # of one cell: another may need a longer window
        found.update(
            {
                (f"limits.{name}", str(record["cell_id"])): value
                for name, value in limits.items()
                # how long a read may take is no part of what is measured
                if name != "stall_seconds"
            }
        )
    if device:  # a run that failed early has none
        for name in ("name", "source", "precision"):
            found[f"device.{name}", axis] = device.get(name)
        found["device.bus_bytes_per_s", axis] = device.get("bus_bytes_per_s")
        # Several GPUs have a library more, which averages their gradients.
        found["device.software", (axis, record["cell"].get("gpus"))] = device.get("software")
    if dataset and not jobs:
        for name in ("manifest_xxh3", "samples", "bytes"):
            found[f"dataset {str(dataset.get('variant'))[:60]}.{name}", ""] = dataset.get(name)
        for name in ("type", "device"):
            found[f"file_system.{name}", ""] = ledger.part(environment, "file_system", name)
    return found


def _drifts(numbered):
    """A closing ceiling whose rate differs from that of the opening one must carry a flag that says
    so."""
    opening = {}
    for n, record in numbered:
        if record["cell"]["data"] != "synthetic" or record["status"] != "ok":
            continue
        repetition = str(record["cell_id"]), record["repetition"]
        if not record.get("place"):
            opening[repetition] = record["imgs_per_s"]
        elif repetition in opening and ledger.since(record, 2):
            drift = record["imgs_per_s"] / opening[repetition] - 1
            is_told = "ceiling_drifted" in ledger.flag_names(record)
            if abs(drift) > DRIFT.threshold + ledger.EXACT and not is_told:
                far = f"{100 * drift:+.1f} % from the repetition's first ceiling"
                yield n, f"the flag ceiling_drifted is missing: it is {far}"


def _ceilings(numbered):
    """From schema 3 on, a cell's ceiling is the one that opened its repetition. In older schemas it
    is the mean of the ceilings so far. A run in pairs holds its own."""
    rates, opening = {}, {}  # all so far; the record of each repetition's first
    for n, record in numbered:
        if ledger.in_pairs(record):
            continue
        key = ceiling_key(record["cell"], axes.own())
        of, is_new = (key, record["repetition"]), ledger.since(record, 3)
        stated, is_ok = ledger.number(record.get("ceiling_imgs_per_s")), record["status"] == "ok"
        if is_new:
            expected = opening[of]["imgs_per_s"] if of in opening else None
            what = "the ceiling that opened the repetition"
            if is_ok and record["role"] == "cell" and stated is None and expected is not None:
                yield n, f"ceiling_imgs_per_s is missing, {what} is {expected:.8g}"
        else:
            before = rates.get(key)
            expected = sum(before) / len(before) if before else None
            what = "the mean of its ceilings in earlier lines"
        if stated is not None and expected is None:
            none = "but no ceiling of its setting stands in an earlier line"
            yield n, f"ceiling_imgs_per_s is {stated:.6g}, {none}"
        elif stated is not None and abs(expected / stated - 1 if stated else 1) > ledger.EXACT:
            yield n, f"ceiling_imgs_per_s is {stated:.8g}, {what} is {expected:.8g}"
        elif stated is not None and is_new:
            first = opening[of]
            is_unfit = "ceiling_unfit" in ledger.flag_names(record)
            if record.get("ceiling_device_rate") != first.get("device_rate"):
                yield n, "ceiling_device_rate is not the device_rate of that ceiling"
            elif is_unfit == ledger.valid(first):
                yield n, "the flag ceiling_unfit and the flags of that ceiling do not fit"
        if record["cell"]["data"] == "synthetic" and is_ok:
            rates.setdefault(key, []).append(record["imgs_per_s"])
            if not record.get("place"):
                opening[of] = record


CHECKS = (_order, _times, _results, _jobs, _cells, _experiment, _drifts, _ceilings)
