"""What else differs between two ledgers: machine, software, program, storage. It is the first thing
that is asked when a number has changed."""

from __future__ import annotations

import json

from ..text import clean, listing, percent
from . import ledger

# A record's values by path, with the words for them, in the order in which they are asked for.
NAMED = (
    ("device.name", "device"),
    ("device.software", "device software"),
    ("stands_for.precision", "precision"),
    ("stands_for.memory-format", "memory format"),
    ("stands_for.batch-norm", "batch normalisation"),
    ("stands_for.optimizer", "optimizer"),
    ("stands_for.master-weights", "master weights"),
    ("stands_for.cudnn-benchmark", "cuDNN by trial"),
    ("stands_for.cuda-graph", "CUDA graph"),
    ("stands_for.graph-memsets", "the graph's memsets"),
    ("stands_for.stem", "first convolution"),
    ("environment.nvidia_driver", "NVIDIA driver"),
    ("environment.cpu.model", "CPU"),
    ("environment.cpu.cores", "CPU cores"),
    ("environment.cpu.governor", "CPU governor"),
    ("environment.memory.total", "memory"),
    ("environment.host", "host"),
    ("environment.kernel", "kernel"),
    ("environment.os", "system"),
    ("environment.file_system.type", "file system"),
    ("environment.file_system.device", "mounted device"),
    ("environment.file_system.mount_options", "mount options"),
    ("environment.feedrate_version", "feedrate"),
    ("environment.git_commit", "commit"),
    ("environment.binary_xxh3", "program file"),
    ("environment.compiler", "compiler"),
    ("environment.opencv", "OpenCV"),
    ("environment.decoders", "decoders"),
    ("seed", "seed"),
)
UNLIKE = (
    ("environment.cpu.model", "CPU"),
    ("environment.cpu.cores", "CPU cores"),
    ("environment.cpu.governor", "CPU governor"),
    ("environment.cpu.turbo_off", "turbo switched off"),
    ("environment.limits.cpu_max", "CPU quota"),
    ("environment.limits.cpus", "CPUs allowed"),
)
# Monitor readings of what else took the CPUs, with the least difference that makes machines unlike.
SHARES = (
    ("cpu_steal", "taken by the hypervisor (steal)", 0.005),
    ("cpu_quota_stopped", "stopped by the CPU quota", 0.005),
    ("cpu_other_processes", "taken by other processes", 0.05),
    ("psi_memory_some", "waited for memory", 0.01),
)
# What older records call otherwise.
OLDER = {"environment.memory_total": "environment.memory.total"}
# Differs whenever the folder of the results does.
UNASKED = ("environment.command",)


def differences(a_records, b_records):
    """[(what, value in A, value in B), …] for the named values that differ, then the names of
    others in the environment that do."""
    a, b = _values(a_records), _values(b_records)
    known = [path for path, _ in NAMED]
    named = [
        (words, _words(a.get(path)), _words(b.get(path)))
        for path, words in NAMED
        if a.get(path, set()) != b.get(path, set())
    ]
    more = {path for path in a.keys() | b.keys() if a.get(path) != b.get(path)}
    more -= {*known, *UNASKED}
    others = sorted(path for path in more if path.startswith("environment."))
    return named, [clean(path.partition(".")[2], 60) for path in others]


def unlike(a_records, b_records):
    """[(what, in A, in B), …] of what makes two machines unlike whatever their names are: how much
    of them the run could have, and at what clocks. A reader must know it before the verdicts."""
    a, b = _values(a_records), _values(b_records)
    found = []
    for path, words in UNLIKE:
        if a.get(path, set()) != b.get(path, set()):
            # an empty limit: there is none
            without = "none" if ".limits." in path else "unknown"
            found.append(
                (words, *(_words(side[path]) if side.get(path) else without for side in (a, b)))
            )
    for key, words, least in SHARES:
        shares = [_mean_share(records, key) for records in (a_records, b_records)]
        if None not in shares and abs(shares[0] - shares[1]) > least:
            found.append((words, *map(percent, shares)))
    return found


def _mean_share(records, key):
    """Mean of a monitor over the runs that know it; None where none does."""
    known = [ledger.number(ledger.part(r, "monitors", key)) for r in records]
    known = [value for value in known if value is not None and value >= 0]
    return sum(known) / len(known) if known else None


def lines(a_records, b_records):
    """The same as lines of text."""
    named, others = differences(a_records, b_records)
    out = [f"{words}: {a} in A, {b} in B" for words, a, b in named]
    if others:
        out.append("other entries of `environment` that differ: " + listing(others))
    return out or ["nothing that the ledgers record of machine, software and storage"]


def within(records):
    """What the records of one ledger agree in, [(what, value), …]; then, for each record, the place
    of its own in a list of [(what, value), …] for what they differ in."""
    keys = [
        json.dumps([r.get(k) for k in ("device", "stands_for", "environment", "seed", "search")])
        for r in records
    ]
    found = {key: _values([record]) for key, record in dict(zip(keys, records)).items()}
    known = dict(NAMED)
    more = {p for values in found.values() for p in values if p.startswith("environment.")}
    alike, apart = [], []
    for path in [*known, *sorted(more - known.keys() - set(UNASKED))]:
        seen = {frozenset(values.get(path, ())) for values in found.values()}
        if seen != {frozenset()}:
            (alike if len(seen) == 1 else apart).append(path)
    told = lambda values, paths: [
        (known.get(path) or clean(path.partition(".")[2], 60), _words(values.get(path)))
        for path in paths
    ]
    first = next(iter(found.values()), {})
    places = {key: n for n, key in enumerate(found)}
    return (
        told(first, alike),
        [places[key] for key in keys],
        [told(values, apart) for values in found.values()],
    )


def _values(records):
    """{path: the values that the records have there}, as JSON so that any value can be in a set."""
    found = {}
    for record in records:
        shared = {name: record.get(name) for name in ("device", "stands_for", "environment")}
        for name, part in {**shared, "seed": ledger.seed(record)}.items():
            for path, value in _leaves(name, part):
                found.setdefault(OLDER.get(path, path), set()).add(
                    json.dumps(value, sort_keys=True)
                )
    return found


def _leaves(path, value):
    if not isinstance(value, dict):
        return [] if value in (None, "") else [(path, value)]
    return [leaf for key, inner in value.items() for leaf in _leaves(f"{path}.{key}", inner)]


def _words(values):
    if not values:
        return "unknown"
    decoded = (json.loads(value) for value in sorted(values))
    return listing([clean(v if isinstance(v, str) else json.dumps(v), 70) for v in decoded])
