"""How the numbers were made, in sentences: what a paper's methods section must say. All of it is
from the ledger; what the ledger does not say is left out, and where its records differ the sentence
gives the range."""

from __future__ import annotations

from collections import Counter

from ..claims import choice, panels
from ..claims.tables import flag_names
from ..ledger import ledger, statistics
from ..ledger.cells import Ceiling
from ..ledger.heading import EMULATION, heading
from ..text import amount, clean, latex, listing, markdown, signed_percent


def paragraphs(settings, context):
    """Lists of sentences: what was measured and how, then the data, then what to doubt."""
    cells = [c for s in settings for c in s.ceilings + s.cells]
    records = [r for c in cells for r in c.runs + c.lost]
    runs = [r for c in cells for r in c.runs]
    # others were only planned
    measured = [s for s in settings if any(c.runs for c in s.ceilings + s.cells)] or settings
    found = [
        [
            *_measured(measured, records, context),
            *_listed("Software", SOFTWARE, records),
            *_listed("Machine", HOST, records),
        ],
        _procedure(settings, runs, records),
        _data(runs),
        _doubts(settings, cells),
    ]
    return [paragraph for paragraph in found if paragraph]


def write_markdown(settings, context):
    return _joined("# Methods", (" ".join(map(markdown, p)) for p in paragraphs(settings, context)))


def write_latex(settings, context):
    words = ("\n".join(map(latex, p)) for p in paragraphs(settings, context))
    return _joined(r"\subsection*{Methods}", words)


def _joined(head, parts):
    return "\n\n".join([head, *parts]) + "\n"


# Where older records have it.
OLDER = {("environment", "memory", "total"): ("environment", "memory_total")}


def _values(records, *keys):
    """The distinct values below some keys, in order of appearance; what says nothing is left
    out."""
    places = [keys, OLDER[keys]] if keys in OLDER else [keys]
    found = [ledger.part(record, *place) for record in records for place in places]
    sound = [v for v in found if isinstance(v, (str, int, float)) and not isinstance(v, bool)]
    return list(dict.fromkeys(v for v in sound if v not in ("", "unknown")))


def _said(values):
    """ "3", "3 to 5", "a and b"; "" for nothing."""
    numbers = [v for v in values if ledger.number(v) is not None]
    if not values:
        return ""
    if len(numbers) < len(values):
        return listing(clean(v, 120) for v in values)
    low, high = _figure(min(numbers)), _figure(max(numbers))
    return low if low == high else f"{low} to {high}"


def _figure(value):
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.4g}" if abs(value) < 1e5 else amount(value)


def _measured(settings, records, context):
    version = f" with feedrate {context.version}" if context.version else ""
    commits = _values(records, "environment", "git_commit")
    version += f" (commit {_said(commits)})" if commits else ""
    lines = [f"Training throughput was measured{version}: {_settings(settings)}."]
    if any(s.kind == "emulated" for s in settings):
        replayed = [r for r in records if ledger.part(r, "device", "kind") == "emulated"]
        sources = _said(_values(replayed, "device", "source"))
        lines.append(
            "EMULATED DEVICE: no GPU was measured; such a device takes real batches at a published"
            " or given rate" + (f" ({sources})" if sources else "") + f"; {EMULATION}."
        )
    dates = [r["started_at"][:10] for r in records if isinstance(r.get("started_at"), str)]
    if dates:
        first, last = (clean(date, 10) for date in (min(dates), max(dates)))
        when = f"on {first}" if first == last else f"between {first} and {last} (UTC)"
        lines.append(f"The runs began {when}.")
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
    measured = [c for c in setting.ceilings + setting.cells if c.runs]
    counts = sorted({c.gpus for c in measured}) or setting.gpu_counts()
    return f"{listing(counts)} {noun[counts != [1]]}"


# (words before, words behind, keys of a record)
SOFTWARE = (
    ("", "", "device", "software"),
    ("loader library ", "", "loader_library"),
    ("compiler ", "", "environment", "compiler"),
    ("OpenCV ", "", "environment", "opencv"),
    ("decoders ", "", "environment", "decoders"),
    ("NVIDIA driver ", "", "environment", "nvidia_driver"),
)
HOST = (
    ("host ", "", "environment", "host"),
    ("CPU ", "", "environment", "cpu", "model"),
    ("", " logical CPUs that the program may use", "environment", "cpu", "cores"),
    ("frequency governor ", "", "environment", "cpu", "governor"),
    ("memory ", "", "environment", "memory", "total"),
    ("kernel ", "", "environment", "kernel"),
    ("", "", "environment", "os"),
    ("data on ", "", "environment", "file_system", "type"),
)
TOOK = ("", " s of warm-up", "warmup_s"), ("", " s of window", "window_s"), ("", " steps", "steps")


def _found(named, records):
    """Of each of `named` the words, as far as the records have a value."""
    said = [(before, _said(_values(records, *keys)), behind) for before, behind, *keys in named]
    return [before + value + behind for before, value, behind in said if value]


def _listed(what, named, records):
    words = _found(named, records)
    return [f"{what}: {'; '.join(words)}."] if words else []


def _procedure(settings, runs, records):
    lines = []
    names = ("warmup_seconds", "max_warmup_seconds", "min_seconds", "max_seconds", "min_steps")
    limits = {name: _said(_values(records, "limits", name)) for name in names}
    ways = _ways(runs)
    if limits["warmup_seconds"] and limits["max_warmup_seconds"]:
        lines.append(
            f"A run was warmed up for at least {limits['warmup_seconds']} s, until its steps were"
            f" steady, and for at most {limits['max_warmup_seconds']} s"
            + ("; in pairs, for at most three times the least." if ways[0] else ".")
        )
    if limits["min_seconds"] and limits["max_seconds"] and limits["min_steps"]:
        lines += _lasted(limits, *ways)
    took = _found(TOOK, runs)
    blocks = [ledger.part(r, "pairs", "cell_s") for r in runs if ledger.in_pairs(r)]
    if pairs := [len(seconds) for seconds in blocks if isinstance(seconds, list)]:
        took.append(f"{_said(pairs)} pairs")
    if took:
        lines.append(f"What the runs took: {', '.join(took)}.")
    cells = [c for s in settings for c in s.planned if c.rate]
    if cells:
        counts = _said(sorted({c.rate.n for c in cells}))
        each = f" of each of the {_counted(cells)}" if len(cells) > 1 else ""
        lines.append(f"Repetitions{each}: {counts}.")
    lines += [f"Of several worker counts one stands for all: {choice.RULE}."] * _is_chosen(settings)
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


def _is_chosen(settings):
    return any(c.how for s in settings for c in panels.places(s.cells))


def _ways(runs):
    """(whether cells were measured in pairs, whether any lay between runs of its ceiling)."""
    pairs = [ledger.in_pairs(r) for r in runs if r["role"] == "cell"]
    return any(pairs), not pairs or not all(pairs)


def _lasted(limits, in_pairs, between):
    least, steps = f"at least {limits['min_seconds']} s", f"{limits['min_steps']} steps"
    most = f"at most {limits['max_seconds']} s"
    window = "The measured window then lasted" if not in_pairs else "Any other window lasted"
    lines = []
    if in_pairs:
        lines.append(
            "A run in pairs then let short blocks of its cell's steps, which are its window, and of"
            " synthetic steps, which are its ceiling, take turns, in random order within each pair,"
            f" for {least} with what the blocks took to settle, and until the cell had {steps};"
            f" {most}."
        )
    return lines + ([f"{window} {least} and {steps}, {most}."] if between else [])


def _whose_ceiling(in_pairs, between):
    words = ["that of the same run's blocks"] * in_pairs
    return ", or ".join(words + ["the mean of its opening and closing run"] * between)


def _precision(cells):
    """How the number of repetitions was decided, where the sweep decided it."""
    runs = [(c.pilot, r) for c in cells if c.pilot for r in c.runs]
    target = lambda record: ledger.number(ledger.part(record, "precision", "target"))
    asked = {(pilot, target(record) or 0.0) for pilot, record in runs}
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
    if not in_pairs:
        ends = "the ceiling was measured first and last"
        return [f"In every repetition {ends}, the cells between {shuffled}."]
    other = ", or between two runs of it where that cannot be" if between else ""
    each = f"each in pairs with its ceiling{other}"
    return [f"In every repetition the cells were measured {shuffled}, {each}."]


def _data(runs):
    found, of = {}, ("variant", "samples", "mean_bytes", "manifest_xxh3")
    for data in (r["dataset"] for r in runs if isinstance(r.get("dataset"), dict)):
        found[tuple(str(data.get(key) or "") for key in of)] = data
    words = []
    for data in found.values():
        _, samples, size, manifest = map(data.get, of)
        parts = [f"{samples:,} samples"] if isinstance(samples, int) else []
        parts += [f"mean {size:,.0f} bytes"] if ledger.positive(size) else []
        parts += [f"manifest XXH3-64 {clean(manifest, 20)}"] if manifest else []
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
    drifts = [p - 1 for s in settings for c in s.ceilings if c.drift for p in c.drift.points]
    if drifts:
        lines.append(
            "Between the first and the last ceiling of a repetition throughput changed by at most "
            f"{signed_percent(max(drifts, key=abs))}."
        )
    planned = [c for s in settings for c in s.planned]
    names = Counter(name for cell in planned for name in flag_names(cell))
    if names:
        counts = "; ".join(f"{name} {count}" for name, count in names.items())
        lines.append(f"Flags, of {_counted(planned)} (! is serious: not to be quoted): {counts}.")
    lost = [r for c in cells for r in c.lost]
    if lost:
        states = sorted({r["status"] for r in lost})
        lines.append(
            f"Repetitions without a result ({listing(states)}), left out and never counted as zero:"
            f" {len(lost)}."
        )
    return lines
