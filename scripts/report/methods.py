"""How the numbers were made, in sentences: what a paper's methods section must say. All of it is
from the ledger; what the ledger does not say is left out, and where its records differ the sentence
gives the range."""

from __future__ import annotations

from . import ledger, statistics
from .cells import Ceiling
from .heading import EMULATION, heading
from .tables import flag_names
from .text import amount, clean, latex, listing, markdown, signed_percent


def paragraphs(settings, context):
    """Lists of sentences: what was measured and how, then the data, then what to doubt."""
    cells = [c for s in settings for c in s.ceilings + s.cells]
    records = [r for c in cells for r in c.runs + c.lost]
    runs = [r for c in cells for r in c.runs]
    # others were only planned
    measured = [s for s in settings if any(c.runs for c in s.ceilings + s.cells)] or settings
    found = [
        _measured(measured, records, context) + _software(records) + _host(records),
        _procedure(settings, runs, records),
        _data(runs),
        _doubts(settings, cells),
    ]
    return [paragraph for paragraph in found if paragraph]


def write_markdown(settings, context):
    return (
        "\n\n".join(
            ["# Methods", *(" ".join(map(markdown, p)) for p in paragraphs(settings, context))]
        )
        + "\n"
    )


def write_latex(settings, context):
    return (
        "\n\n".join(
            [
                r"\subsection*{Methods}",
                *("\n".join(map(latex, p)) for p in paragraphs(settings, context)),
            ]
        )
        + "\n"
    )


# Where older records have it.
OLDER = {("environment", "memory", "total"): ("environment", "memory_total")}


def _values(records, *keys):
    """The distinct values below some keys, in order of appearance; what says nothing is left
    out."""
    places = [keys, OLDER[keys]] if keys in OLDER else [keys]
    found = [ledger.part(record, *place) for record in records for place in places]
    return list(
        dict.fromkeys(
            v
            for v in found
            if isinstance(v, (str, int, float))
            and v not in ("", "unknown")
            and not isinstance(v, bool)
        )
    )


def _said(values, unit=""):
    """ "3", "3 to 5", "a and b"; "" for nothing."""
    numbers = [v for v in values if ledger.number(v) is not None]
    if not values:
        return ""
    if len(numbers) < len(values):
        return listing(clean(v, 120) for v in values)
    low, high = _figure(min(numbers)), _figure(max(numbers))
    return (low if low == high else f"{low} to {high}") + unit


def _figure(value):
    return (
        f"{value:,}"
        if isinstance(value, int)
        else f"{value:,.4g}"
        if abs(value) < 1e5
        else amount(value)
    )


def _measured(settings, records, context):
    version = f" with feedrate {context.version}" if context.version else ""
    commits = _values(records, "environment", "git_commit")
    version += f" (commit {_said(commits)})" if commits else ""
    lines = [f"Training throughput was measured{version}: {_settings(settings)}."]
    if any(s.kind == "emulated" for s in settings):
        sources = _said(
            _values(
                [r for r in records if ledger.part(r, "device", "kind") == "emulated"],
                "device",
                "source",
            )
        )
        lines.append(
            "EMULATED DEVICE: no GPU was measured; such a device takes real batches at a published"
            " or given rate" + (f" ({sources})" if sources else "") + f"; {EMULATION}."
        )
    dates = sorted(
        str(r["started_at"])[:10] for r in records if isinstance(r.get("started_at"), str)
    )
    if dates:
        lines.append(
            "The runs began "
            + (
                f"on {clean(dates[0], 10)}."
                if dates[0] == dates[-1]
                else f"between {clean(dates[0], 10)} and {clean(dates[-1], 10)} (UTC)."
            )
        )
    return lines


def _settings(settings):
    """All settings in words; those that differ in one thing alone as one, with what that takes."""
    rows = [[*heading(s).split(" · "), _counts(s)] for s in settings]
    columns = list(zip(*rows))
    differing = [i for i, column in enumerate(columns) if len(set(column)) > 1]
    if len({len(row) for row in rows}) > 1 or len(differing) > 1:
        return "; ".join(" · ".join(row) for row in rows)
    return " · ".join(listing(dict.fromkeys(column)) for column in columns)


def _counts(setting):
    noun = ("replica", "replicas") if setting.kind == "cpu" else ("GPU", "GPUs")
    counts = (
        sorted({c.gpus for c in setting.ceilings + setting.cells if c.runs}) or setting.gpu_counts()
    )
    return f"{listing(counts)} {noun[counts != [1]]}"


def _software(records):
    named = (
        ("", ("device", "software")),
        ("loader library ", ("loader_library",)),
        ("compiler ", ("environment", "compiler")),
        ("OpenCV ", ("environment", "opencv")),
        ("decoders ", ("environment", "decoders")),
        ("NVIDIA driver ", ("environment", "nvidia_driver")),
    )
    words = [
        name + said for name, keys in named for said in [_said(_values(records, *keys))] if said
    ]
    return [f"Software: {'; '.join(words)}."] if words else []


def _host(records):
    named = (
        ("host ", ("environment", "host"), ""),
        ("CPU ", ("environment", "cpu", "model"), ""),
        ("", ("environment", "cpu", "cores"), " logical CPUs that the program may use"),
        ("frequency governor ", ("environment", "cpu", "governor"), ""),
        ("memory ", ("environment", "memory", "total"), ""),
        ("kernel ", ("environment", "kernel"), ""),
        ("", ("environment", "os"), ""),
        ("data on ", ("environment", "file_system", "type"), ""),
    )
    words = [
        name + said + unit
        for name, keys, unit in named
        for said in [_said(_values(records, *keys))]
        if said
    ]
    return [f"Machine: {'; '.join(words)}."] if words else []


def _procedure(settings, runs, records):
    lines = []
    limits = {
        key: _said(_values(records, "limits", key))
        for key in (
            "warmup_seconds",
            "max_warmup_seconds",
            "min_seconds",
            "max_seconds",
            "min_steps",
        )
    }
    ways = _ways(runs)
    if limits["warmup_seconds"] and limits["max_warmup_seconds"]:
        lines.append(
            f"A run was warmed up for at least {limits['warmup_seconds']} s, until its steps were"
            f" steady, and for at most {limits['max_warmup_seconds']} s"
            + ("; in pairs, for at most three times the least." if ways[0] else ".")
        )
    if limits["min_seconds"] and limits["max_seconds"] and limits["min_steps"]:
        lines += _lasted(limits, *ways)
    took = [
        f"{said} {unit}"
        for key, unit in (
            ("warmup_s", "s of warm-up"),
            ("window_s", "s of window"),
            ("steps", "steps"),
        )
        for said in [_said(_values(runs, key))]
        if said
    ]
    blocks = [ledger.part(r, "pairs", "cell_s") for r in runs if ledger.in_pairs(r)]
    if pairs := [len(seconds) for seconds in blocks if isinstance(seconds, list)]:
        took.append(f"{_said(pairs)} pairs")
    if took:
        lines.append(f"What the runs took: {', '.join(took)}.")
    cells = [c for s in settings for c in s.planned if c.rate]
    if cells:
        counts = _said(sorted({c.rate.n for c in cells}))
        lines.append(
            f"Repetitions of each of the {_counted(cells)}: {counts}."
            if len(cells) > 1
            else f"Repetitions: {counts}."
        )
    lines += _precision(cells)
    lines += _order(records, *ways)
    kinds = sorted({c.rate.kind for c in cells} - {statistics.SET})
    if kinds:
        lines.append(
            f"Intervals: {'; '.join(kinds)}; throughput is images by wall time of the window, the"
            " mean over the repetitions; a share of the ceiling is the mean log ratio to the"
            f" ceiling of the same repetition ({_whose_ceiling(*ways)}); a loss is"
            " claimed where a one-sided test shows it at 5 % for all cells together (Holm)."
        )
    return lines


def _ways(runs):
    """(whether cells were measured in pairs, whether any lay between runs of its ceiling)."""
    pairs = [ledger.in_pairs(r) for r in runs if r["role"] == "cell"]
    return any(pairs), not pairs or not all(pairs)


def _lasted(limits, in_pairs, between):
    least = f"at least {limits['min_seconds']} s and {limits['min_steps']} steps"
    most = f"at most {limits['max_seconds']} s"
    window = "The measured window then lasted" if not in_pairs else "Any other window lasted"
    return [
        words
        for words, holds in (
            (
                "A run in pairs then let short blocks of its cell's steps, which are its window,"
                " and of synthetic steps, which are its ceiling, take turns, in random order within"
                f" each pair, for at least {limits['min_seconds']} s with what the blocks took to"
                f" settle, and until the cell had {limits['min_steps']} steps; {most}.",
                in_pairs,
            ),
            (f"{window} {least}, {most}.", between),
        )
        if holds
    ]


def _whose_ceiling(in_pairs, between):
    words = ["that of the same run's blocks"] * in_pairs
    return ", or ".join(words + ["the mean of its opening and closing run"] * between)


def _precision(cells):
    """How the number of repetitions was decided, where the sweep decided it."""
    asked = {
        (c.pilot, ledger.number(ledger.part(r, "precision", "target")) or 0.0)
        for c in cells
        if c.pilot
        for r in c.runs
    }
    if not asked:
        return []
    pilots, targets = (sorted(set(values)) for values in zip(*asked))
    reached = [f"within ±{100 * t:.3g} %" if t else "the time was over" for t in targets]
    return [
        f"After {' or '.join(map(str, pilots))} repetitions of all cells, those whose share was"
        f" known least were repeated until it was {' or '.join(reached)}. Their intervals are by"
        " the wider of two spreads, that of these first repetitions (Stein's two-stage rule) and"
        f" that of all, times {statistics.WIDER}."
    ]


def _order(records, in_pairs, between):
    """What is known of the order: a sweep alone says where a ceiling stood."""
    seeds = _said(_values([{"seed": ledger.seed(r)} for r in records], "seed"))
    if not any("place" in r for r in records):
        return [f"Seed: {seeds}."] if seeds else []
    shuffled = f"in an order shuffled by the seed{' ' + seeds if seeds else ''}"
    each, other = "each in pairs with its ceiling", "between two runs of it where that cannot be"
    return [
        f"In every repetition the cells were measured {shuffled}, {each}"
        + (f", or {other}." if between else ".")
        if in_pairs
        else "In every repetition the ceiling was measured first and last, the cells between"
        f" {shuffled}."
    ]


def _data(runs):
    found = {}
    for record in runs:
        data = record.get("dataset")
        if isinstance(data, dict):
            key = tuple(
                str(data.get(k) or "")
                for k in ("variant", "samples", "mean_bytes", "manifest_xxh3")
            )
            found[key] = data
    words = []
    for data in found.values():
        parts = [f"{data['samples']:,} samples"] if isinstance(data.get("samples"), int) else []
        parts += (
            [f"mean {data['mean_bytes']:,.0f} bytes"]
            if ledger.positive(data.get("mean_bytes"))
            else []
        )
        parts += (
            [f"manifest XXH3-64 {clean(data['manifest_xxh3'], 20)}"]
            if data.get("manifest_xxh3")
            else []
        )
        if parts:
            words.append(f"{clean(data.get('variant') or 'dataset', 60)}: {', '.join(parts)}")
    return ([f"Data: {'; '.join(sorted(words))}."] if words else []) + _page_cache(runs)


def _page_cache(runs):
    """The state of the files in the page cache when the runs began, by what, and what nobody
    knows."""
    states, unknown = [], False
    for data in (ledger.object_at(record, "dataset") for record in runs):
        told, method = data.get("page_cache"), data.get("page_cache_method")
        if not isinstance(told, str) or not told:
            continue
        is_client = data.get("page_cache_scope") == "client" and told in ledger.PAST_MEMORY
        words = f"client-{told}" if is_client and told == "cold" else clean(told, 20)
        states.append(words + (f" ({clean(method, 20)})" if method not in (None, told) else ""))
        unknown = unknown or is_client
    if not states:
        return []
    served = "; what the server or program behind the files keeps in a cache is unknown"
    return [
        f"Page cache when a run began: {listing(dict.fromkeys(states))}{served if unknown else ''}."
    ]


def _counted(cells):
    with_ceilings = any(isinstance(cell, Ceiling) for cell in cells)
    return f"{len(cells)} cells" + (" and ceilings" if with_ceilings else "")


def _doubts(settings, cells):
    lines = []
    drifts = [c.drift for s in settings for c in s.ceilings if c.drift]
    if drifts:
        lines.append(
            "Between the first and the last ceiling of a repetition throughput changed by at most "
            f"{signed_percent(max((p - 1 for d in drifts for p in d.points), key=abs))}."
        )
    names, planned = {}, [c for s in settings for c in s.planned]
    for cell in planned:
        for name in flag_names(cell):
            names[name] = names.get(name, 0) + 1
    if names:
        lines.append(
            f"Flags, of {_counted(planned)} (! is serious: not to be quoted): "
            + "; ".join(f"{name} {count}" for name, count in names.items())
            + "."
        )
    lost = [r for c in cells for r in c.lost]
    if lost:
        states = sorted({r["status"] for r in lost})
        lines.append(
            f"Repetitions without a result ({listing(states)}), left out and never counted as zero:"
            f" {len(lost)}."
        )
    return lines
