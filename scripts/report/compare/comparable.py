"""Whether a cell and its counterpart can be compared at all, and what is to be said beside it."""

from __future__ import annotations

from ..claims.tables import ABOVE, incomplete
from ..ledger import ledger, statistics
from ..ledger.cells import Ceiling

# Each value of these axes has its own data: a comparison across them expects different data.
DATA_AXES = {"data", "image-size", "input-size", "tensor-dtype", "container"}
# Limits that set how long is measured count always; the maxima only where a run came up to them.
LIMITS = ("warmup_seconds", "min_seconds", "min_steps")
MAXIMA = ("max_warmup_seconds", "max_seconds")
OF_A_RUN = ("started_at", "imgs_per_s", "window_s", "step_ms", "stages", "monitors")
OF_A_RUN += ("resident_bytes",)
AT_THE_MAXIMUM = {"unsteady", "short_warmup", "short_window", "queue_not_at_rest"}


def obstacle(pair, rules):
    """Why the pair cannot be compared, in few words, and what to do about it; "", "" where it
    can."""
    for check, remedy in CHECKS:
        if reason := check(pair, rules):
            return reason, remedy
    return "", ""


def caveats(pair):
    """What a reader of a comparison should know beside it."""
    notes, counts = [], [len(cell.by_repetition) for cell in (pair.a, pair.b)]
    if counts[0] != counts[1]:
        notes.append(f"{counts[0]} repetitions in A, {counts[1]} in B")
    for side, cell in (("A", pair.a), ("B", pair.b)):
        if cell.lost:
            n = len(cell.by_repetition) + len(cell.lost)
            notes.append(f"{len(cell.lost)} of {n} repetitions have no result in {side}")
        if why := why_invalid(cell):
            notes.append(f"{why} in {side}: do not quote it")
        if names := _flag_names(cell.runs, "warning"):
            notes.append(f"{side} is flagged {', '.join(names)}")
        ceiling = cell if isinstance(cell, Ceiling) else cell.divided_by
        if cell.above_ceiling:
            words = "its share of the ceiling lies above 1 by more than its interval"
            notes.append(f"{ABOVE} in {side}: {words}")
        if ceiling and not ceiling.recorded and ceiling.drifts:
            moved = f"moved within a repetition, on average {ceiling.mean_drift_words}"
            notes.append(f"the ceiling of {side} {moved}")
        notes += [f"{words} ({side})" for words in incomplete(ceiling)] if ceiling else []
        if cell.runs and cell.data != "synthetic" and not _manifests(cell):
            notes.append(f"the dataset of {side} is unknown")
    if pair.a.in_pairs != pair.b.in_pairs:
        side = "A" if pair.a.in_pairs else "B"
        notes.append(f"measured in pairs with its ceiling in {side} alone")
    if apart := _limits_apart(pair):
        notes.append(apart)
    return notes


def is_emulated(cell):
    kinds = [r["device"].get("kind") for r in cell.records if isinstance(r.get("device"), dict)]
    return str(cell.axes["device"]).startswith("emulated") or "emulated" in kinds


def why_invalid(cell):
    """How many of its runs may not be quoted, and the flags that say so; "" where all may. A
    ceiling without runs is judged by the records that name it."""
    records = cell.runs or cell.records
    bad = [r for r in records if not r["valid"] or not ledger.valid(r)]
    if not bad:
        return ""
    names = ", ".join(_flag_names(bad, "serious"))
    return f"{len(bad)} of {len(records)} runs invalid" + (names and f" ({names})")


def _flag_names(records, severity):
    return ledger.named([f for r in records for f in ledger.flags(r)], severity)


def _manifests(cell):
    """{variant: the hashes that name the data} of its runs."""
    found = {}
    for dataset in (r["dataset"] for r in cell.runs if isinstance(r.get("dataset"), dict)):
        if dataset.get("manifest_xxh3"):
            found.setdefault(str(dataset.get("variant")), set()).add(str(dataset["manifest_xxh3"]))
    return found


# What forbids a comparison, the first that applies: each gives the reason in few words, or "".


def _missing(pair, rules):
    return "missing in " + ("A" if pair.a is None else "B") if None in (pair.a, pair.b) else ""


def _failed(pair, rules):
    return _either(pair, lambda cell: "" if cell.records else cell.state)


def _emulated(pair, rules):
    return "emulated against real" if is_emulated(pair.a) != is_emulated(pair.b) else ""


def _invalid(pair, rules):
    return "" if rules.allow_invalid else _either(pair, why_invalid)


def _same_runs(pair, rules):
    # Two emulated runs may begin within a second and take the same steps; what else their processes
    # did differs.
    runs = [{tuple(repr(r.get(k)) for k in OF_A_RUN) for r in c.records} for c in (pair.a, pair.b)]
    return "A and B hold the same run" if runs[0] & runs[1] else ""


def _other_data(pair, rules):
    a, b = _manifests(pair.a), _manifests(pair.b)
    both = a.keys() & b.keys()
    by_design = not both and DATA_AXES & set(rules.across)
    is_same = not a or not b or by_design or both and all(a[v] == b[v] for v in both)
    return "" if is_same else "other data: the datasets' manifests differ"


def _other_limits(pair, rules):
    return "" if rules.allow_limits else _limits_apart(pair)


def _limits_apart(pair):
    names = set().union(*(ledger.flag_names(r) for c in (pair.a, pair.b) for r in c.records))
    for name in LIMITS + (MAXIMA if names & AT_THE_MAXIMUM else ()):
        a, b = _limit(pair.a, name), _limit(pair.b, name)
        if a and b and a != b:
            a, b = (" and ".join(sorted(values)) for values in (a, b))
            return f"other limits: {name} {a} in A, {b} in B"
    return ""


def _limit(cell, name):
    limits = [r["limits"] for r in cell.records if isinstance(r.get("limits"), dict)]
    return {f"{ledger.number(x[name]):g}" for x in limits if ledger.number(x.get(name)) is not None}


def _too_few(pair, rules):
    def why(cell):
        n = len(cell.by_repetition)
        return "" if n >= statistics.LEAST else f"n = {n}"

    return _either(pair, why)


def _either(pair, why):
    a, b = why(pair.a), why(pair.b)
    if a and a == b:
        return f"{a} in A and B"
    return f"{a} in A" if a else f"{b} in B" if b else ""


REPEAT = (
    f"below {statistics.LEAST} repetitions the spread between runs is unknown: measure with"
    " --repetitions 6"
)
CHECKS = (
    (_missing, ""),
    (_failed, "its error is in the ledger: `feedrate report` shows it"),
    (_emulated, "an emulated device shows what host and storage can feed, not what a GPU does"),
    (_invalid, "measure again without what the flag names; --allow-invalid compares all the same"),
    (_same_runs, "compare ledgers that were measured independently"),
    (_other_data, "measure both on the same dataset"),
    (_other_limits, "measure both with the same limits; --allow-limits compares all the same"),
    (_too_few, REPEAT),
)
