"""Derives the flags of a record again from its own numbers. No flag may be missing, unfounded or
too mild: without its flag a doubtful number looks sound."""

from __future__ import annotations

from . import axes as axis_tables
from . import intervals, ledger
from .ledger import number

ORDER = ("note", "warning", "serious")
NEAR = 0.001  # shares are written to three decimals: at the very limit rounding decides
OLD_AT_REST = 0.01  # before schema 3, a queue was at rest below it
# As src/measure/nvml.cpp names them. At its power limit a GPU is capped, not throttled.
HELD_BACK = {
    "hardware slowdown",
    "software thermal slowdown",
    "hardware thermal slowdown",
    "power brake",
}
POWER_CAP = "power cap"
# They rest on something that no record keeps: how the warm-up ended, planted times, what was
# forced.
UNSEEN = {
    "unsteady",
    "short_warmup",
    "planted",
    "cached_part",  # how much a diagnosis keeps stands in no record
    "scaled_rate",
    "clock_changed",
    "gpu_unseen",
    "unseen_queue",
    "ceiling_drifted",
    "mixed_ledger",
    "ceiling_unfit",  # sequence.py looks at that ceiling
    "step_differs",  # from the steps of two records
}
# What spoils the ceiling of a run in pairs with it.
SPOILS_BOTH = {"stopped", "harness_bound"}
# And what spoils its rate, though both shared it, and so not the share.
SPOILS_CEILING = SPOILS_BOTH | {"throttled"}
TRACED = "emulated:trace="  # how an axis `device` begins that replays recorded steps
# What `page_cache` stands for where what is read is to come from storage.
PAST_MEMORY = ("cold", "bypassed")
RULES = axis_tables.own().rules
MAYBE = object()  # so near to a limit that either is right


def problems(record):
    """A line for each flag that is not as the record's numbers make it."""
    newest = ledger.since(record, 3)
    stated = {}
    for flag in ledger.flags(record):
        stated.setdefault(str(flag.get("name")), []).append(str(flag.get("severity")))
    expected = dict(_expected(record))
    for name, called_for in expected.items():
        known = [s for s in called_for if s is not MAYBE]
        if known and name not in stated:
            yield f"the flag {name} is missing: the record's own numbers call for it"
        elif known and _most(stated[name]) != _most(known) and MAYBE not in called_for:
            yield (
                f"the flag {name} is {_most(stated[name])}, the record's own numbers make it"
                f" {_most(known)}"
            )
        elif newest and not called_for and name in stated:
            yield f"the flag {name} is there, and the record's own numbers do not call for it"
    for name in stated if newest else []:
        if name not in UNSEEN and name not in expected:
            yield f"the flag {name[:40]} is none that there is"
    if newest and (
        ("mixed_ledger" in stated) != bool(record.get("forced"))
        or "mixed_ledger" in stated
        and _most(stated["mixed_ledger"]) != _of_forced(record["forced"])
    ):
        yield (
            f"the flag mixed_ledger is {_most(stated.get('mixed_ledger', [])) or 'missing'},"
            f" `forced` is {str(record.get('forced'))[:80]}"
        )
    for name, severities in stated.items():
        if odd := set(severities) - _possible(name):
            yield f"the flag {name} is {min(odd)[:20]}, which it never is"


def _most(severities):
    return max((s for s in severities if s in ORDER), key=ORDER.index, default="")


def _expected(record):
    """(name, the severities that are called for) of each flag that the record can decide."""
    found = {}
    for name, severity, holds in [
        *_of_any_schema(record),
        *(_of_schema_2(record) if ledger.since(record, 2) else []),
        *(_of_schema_3(record) if ledger.since(record, 3) else []),
    ]:
        found.setdefault(name, [])
        if holds:
            found[name].append(MAYBE if holds is MAYBE else severity)
    return found.items()


def _possible(name):
    """The severities that a flag can have."""
    rules = [rule for rule in RULES.values() if rule.name == name]
    known = {rule.severity for rule in rules} | (
        {"serious"} if any(rule.serious is not None for rule in rules) else set()
    )
    return known | {"serious"} if name == "mixed_ledger" else known or set(ORDER)


def _of_forced(forced):
    """The severity of mixed_ledger where --force-resume accepted these differences."""
    other = any(map(axis_tables.own().is_other_work, forced))
    return "serious" if other else RULES["mixed_ledger"].severity


def _of_any_schema(record):
    cell = record["cell"]
    newest = ledger.since(record, 3)
    stock = abs(number(ledger.object_at(record, "queue").get("drawn_fraction")) or 0)
    at_rest = RULES["queue_not_at_rest"].threshold if newest else OLD_AT_REST
    cpus = _part(record, "threads", "cpu_capacity" if newest else "cpus")
    workers = (cell.get("workers") or 0) * (cell.get("gpus") or 1)
    return [
        _row("emulated", ledger.object_at(record, "device").get("kind") == "emulated"),
        _short_window(record),
        _row("queue_not_at_rest", _above(stock, at_rest, 1e-9), stock),
        *(row for machine in _machines(record) for row in _of_machine(machine)),
        _row(
            "oversubscribed",
            bool(
                cpus and _is_streamed(cell) and workers > RULES["oversubscribed"].threshold * cpus
            ),
        ),
        _row("lenient_decoder", cell.get("loader") == "dali" and _trains_on_what_is_loaded(cell)),
        _row("no_jpeg_engine", _lacks_engine(record)),
        _row("gpu_slice", " MIG " in str(ledger.object_at(record, "device").get("name"))),
        _row("client_cold", _told(record) in PAST_MEMORY),
        _row(
            "bad_samples", (number(record.get("bad_samples")) or 0) > RULES["bad_samples"].threshold
        ),
    ]


def _of_schema_2(record):
    reasons = {
        reason
        for rank in record.get("ranks") or []
        for reason in str(ledger.part(rank, "gpu", "throttled") or "").split(", ")
    }
    return [
        _row("throttled", bool(reasons & HELD_BACK)),
        _row("power_capped", POWER_CAP in reasons),
        _row("gpu_shared", _beyond("gpu_shared", _most_processes(record))),
        *(
            _row("memory_pressure", _beyond("memory_pressure", machine.get("psi_memory_some")))
            for machine in _machines(record)
        ),
        *_page_cache(record),
        _row("harness_bound", _is_harness_bound(record)),
    ]


def _of_schema_3(record):
    steps, few = number(record["steps"]), RULES["short_window.steps"]
    ceiling = number(record.get("ceiling_imgs_per_s"))
    is_fit = ceiling and "ceiling_unfit" not in ledger.flag_names(record)
    above = record["imgs_per_s"] / ceiling - 1 if is_fit else 0.0
    took, stopped = _took(record, record["window_s"]), _part(record, "monitors", "stopped_s") or 0.0
    waits = _part(record, "straggler", "others_wait_ms") or 0.0
    share = waits / max(_part(record, "step_ms", "mean") or 0.0, 1e-9)
    return [
        (few.name, "serious" if steps < few.serious else few.severity, steps < few.threshold),
        _row("ceiling_exceeded", _is_exceeded(record, above), above),
        _row("stopped", _above(stopped / took, RULES["stopped"].threshold, NEAR / took)),
        _row(
            "stopped.machine",
            _above(
                _part(record, "monitors", "suspended_s"), RULES["stopped.machine"].threshold, 1e-9
            ),
        ),
        _row("straggler", _above(share, RULES["straggler"].threshold)),
        _row("jobs_not_overlapping", _is_apart(record)),
        *(_row("host_unseen", machine.get("cpu_busy") == -1) for machine in _machines(record)),
        *(_of_its_own_ceiling(record) if ledger.in_pairs(record) else ()),
    ]


def _is_exceeded(record, above):
    """Not where the interval of a run in pairs says that it may be chance."""
    interval = record.get("ceiling_fraction_ci95") if ledger.in_pairs(record) else None
    both = [_above(above, RULES["ceiling_exceeded"].threshold, 1e-9)]
    if isinstance(interval, list) and interval:
        both.append(_above(interval[0], 1.0, 1e-12))
    return False if False in both else MAYBE if MAYBE in both else True


def _of_its_own_ceiling(record):
    """Of a run in pairs, whose ceiling is no other record."""
    return [
        _row("ceiling_drifted", False),
        _row("ceiling_disturbed", _beyond("ceiling_disturbed", _disturbed(record))),
        _row("ceiling_unfit", bool(SPOILS_BOTH & ledger.flag_names(record))),
    ]


def _disturbed(record):
    """The share of its pairs in which workers did not stand still for the ceiling; 0 where an older
    record does not say."""
    said = record["pairs"].get("ceiling_disturbed") or []
    return sum(map(bool, said)) / max(len(said), 1)


def _lacks_engine(record):
    """Whether pictures were decoded on a GPU, and none by its engine, which was asked for."""
    decoded = ledger.object_at(record, "arrivals", "decoded")
    return bool(decoded and record["cell"].get("jpeg-engine") and not decoded.get("engine"))


def _is_apart(record):
    """Whether it measured beside other jobs for too small a part of the longest window."""
    overlap = _part(record, "jobs", "overlap")
    return overlap is not None and overlap < RULES["jobs_not_overlapping"].threshold


def _most_processes(record):
    """On any GPU, at any reading."""
    counts = [ledger.part(r, "gpu", "compute_processes") for r in record.get("ranks") or []]
    return max(
        (n for of in counts if isinstance(of, list) for n in map(number, of) if n), default=0
    )


def _part(record, *path):
    return number(ledger.part(record, *path))


def _machines(record):
    """The monitors of rank 0's machine, and of each other one."""
    others = record.get("other_machines") or []
    return [ledger.object_at(of, "monitors") for of in (record, *others)]


def _of_machine(monitors):
    others = max(
        number(monitors.get(of)) or 0
        for of in ("cpu_other_processes", "usable_cpus_other_processes")
    )
    return [
        _row("noisy_neighbour", _beyond("noisy_neighbour", others)),
        _row("cpu_steal", _beyond("cpu_steal", monitors.get("cpu_steal"))),
        _row("cpu_quota", _beyond("cpu_quota", monitors.get("cpu_quota_stopped"))),
    ]


def _row(rule_id, holds, value=0.0):
    """(the flag's name, how severe it is at that value, whether it is called for)."""
    rule = RULES[rule_id]
    return (
        rule.name,
        "serious" if rule.serious is not None and value > rule.serious else rule.severity,
        holds,
    )


def _took(record, window):
    """Seconds of a run in pairs, the blocks of its ceiling included; of any other, its window."""
    return record["pairs"]["took_s"] if ledger.in_pairs(record) else window


def _short_window(record):
    limits, rule = ledger.object_at(record, "limits"), RULES["short_window"]
    asked = [
        (number(record["steps"]), number(limits.get("min_steps"))),
        (_took(record, ledger.first_window(record)), number(limits.get("min_seconds"))),
    ]
    far = any(least and value < rule.serious * least for value, least in asked)
    return (
        rule.name,
        "serious" if far else rule.severity,
        any(least and value < rule.threshold * least for value, least in asked),
    )


def _told(record):
    """What the cell's page cache stood for. What `auto` stood for, a record says since schema 3."""
    return ledger.object_at(record, "dataset").get("page_cache", record["cell"].get("page-cache"))


def _asked(record):
    """Bytes that the stage `read` took in."""
    return sum(
        number(s.get("bytes")) or 0
        for s in record.get("stages") or []
        if isinstance(s, dict) and s.get("name") == "read"
    )


def _page_cache(record):
    """For each rule of the page cache."""
    told, asked = _told(record), _asked(record)
    dataset = ledger.object_at(record, "dataset")
    before = number(dataset.get("page_cache_before"))
    fetched = number(ledger.object_at(record, "monitors").get("storage_read_bytes"))
    known = fetched is not None
    newest = ledger.since(record, 3)
    first = dataset.get("page_cache_first_state")
    start, left, elsewhere = (
        RULES[f"page_cache.{which}"].threshold for which in ("start", "left", "elsewhere")
    )
    return [
        _row(
            "page_cache.unknown",
            told in ("warm", "cold") and before is not None and before < 0,
            0.0 if record["cell"].get("page-cache") == "auto" else 1.0,
        ),
        _row("page_cache.state", newest and bool(told) and first not in (None, told)),
        _row("page_cache.start", told == "warm" and before is not None and 0 <= before < start),
        _row("page_cache.left", told == "warm" and asked > 0 and known and fetched > left * asked),
        _row(
            "page_cache.elsewhere",
            told in PAST_MEMORY and known and 0 <= fetched < elsewhere * asked,
        ),
        *(_behind_loops(record, told, asked) if told in PAST_MEMORY else ()),
        _row("page_cache.memory", told == "cold" and _is_small(dataset)),
        *(_left_as_is(record, before, asked, fetched) if told == "as-is" else ()),
    ]


def _behind_loops(record, told, asked):
    """Rules about the files of loop devices under the dataset; none where there are none."""
    dataset = ledger.object_at(record, "dataset")
    before, after = (
        number(dataset.get(f"page_cache_backing_{when}")) for when in ("before", "after")
    )
    if before is None:
        return []
    held = max(before, after or 0.0) if told == "bypassed" else before
    lowest, below = _lowest_device(record), RULES["page_cache.below"].threshold
    return [
        _row("page_cache.unknown", before < 0),
        _row("page_cache.backing", held > RULES["page_cache.backing"].threshold),
        _row("page_cache.below", lowest is not None and lowest < below * asked),
    ]


def _lowest_device(record):
    """Bytes that the device at the bottom read, where each of those above it is made of one alone;
    None where that is not so, or unknown."""
    counters = ledger.object_at(record, "monitors").get("storage_counters")
    devices = [
        (number(c.get("depth")), number(c.get("read_bytes")))
        for c in (counters if isinstance(counters, list) else [])
        if isinstance(c, dict) and c.get("depth") is not None
    ]
    is_chain = [depth for depth, _ in devices] == list(range(len(devices)))
    if len(devices) < 2 or not is_chain or record.get("other_machines"):
        return None
    return devices[-1][1]


def _is_small(dataset):
    """Whether memory could hold a fifth of it or more, as src/judge/flags.cpp counts."""
    size, memory = number(dataset.get("bytes")), number(dataset.get("memory_bytes"))
    return (
        bool(memory) and size is not None and size < RULES["page_cache.memory"].threshold * memory
    )


def _left_as_is(record, before, asked, fetched):
    """Rules since schema 3, for files whose state nobody has made."""
    if not ledger.since(record, 3):
        return []
    dataset = ledger.object_at(record, "dataset")
    first, size = number(dataset.get("page_cache_first")), number(dataset.get("bytes")) or 1
    known = fetched is not None and (
        fetched > 0 or (fetched == 0 and before is not None and before > 0.5)
    )
    helped = (
        asked > 0 and known and _above(1 - fetched / asked, RULES["page_cache.helped"].threshold)
    )
    rested = fetched is not None and _above(
        fetched / max(asked, 1), RULES["page_cache.rested"].threshold
    )
    differs = (
        None not in (first, before)
        and min(first, before) >= 0
        and _above(abs(before - first), RULES["page_cache.differs"].threshold)
    )
    passes = dataset.get("fits_in_memory") is True and _above(
        asked / size, RULES["page_cache.passes"].threshold
    )
    return [
        _row("page_cache.unknown", asked > 0 and fetched is not None and not known),
        _row("page_cache.helped", helped),
        _row("page_cache.differs", differs),
        _row("page_cache.passes", passes),
        _row("page_cache.rested", asked > 0 and ledger.in_pairs(record) and rested),
    ]


def _is_streamed(cell):
    return cell["data"] != "synthetic" and cell.get("cache") != "device"


def _trains_on_what_is_loaded(cell):
    return _is_streamed(cell) and cell.get("cache") != "discard"


def _usual_ceiling(record):
    """Images per second in the middle one of the ceiling's blocks. A program that is the limit is
    so in all of them; where something else takes a CPU for a moment, one is slow."""
    cell, pairs = record["cell"], record["pairs"]
    rates = sorted(steps / s for steps, s in zip(pairs["ceiling_steps"], pairs["ceiling_s"]))
    return intervals.quantile(rates, 0.5) * cell["batch-size"] * (cell.get("gpus") or 1)


def _is_harness_bound(record):
    """Whether an emulated device fell short of its rate although nothing was loaded: the program
    itself is the limit."""
    cell, device = record["cell"], ledger.object_at(record, "device")
    if ledger.in_pairs(record):
        reached = _usual_ceiling(record)
    else:
        is_loaded = cell["data"] != "synthetic" and cell.get("cache") != "device"
        reached = None if is_loaded else record["imgs_per_s"]
    step_ms, host_ms, all_reduce_ms = (
        number(device.get(part)) for part in ("step_ms", "host_cpu_ms", "all_reduce_ms")
    )
    if device.get("kind") != "emulated" or reached is None or step_ms is None:
        return False
    step_ms = max(step_ms, host_ms or 0.0) + (all_reduce_ms or 0.0)
    if step_ms <= 0:  # a rate without an end, which no program reaches
        return True
    if str(cell["device"]).startswith(TRACED):  # the steps of its part of a recording differ
        return MAYBE
    asked = 1e3 * cell["batch-size"] * (cell.get("gpus") or 1) / step_ms
    return _above(RULES["harness_bound"].threshold * asked, reached, 1e-9 * asked)


def _beyond(rule_id, value):
    return _above(value, RULES[rule_id].threshold)


def _above(value, limit, near=NEAR):
    """Whether it is; MAYBE where rounding decides."""
    value, limit = number(value), number(limit)
    if value is None or limit is None:
        return False
    return MAYBE if abs(value - limit) <= near else value > limit
