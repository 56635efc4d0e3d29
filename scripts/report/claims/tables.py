"""The cells as a table: one list of columns, written as CSV and as Markdown."""

from __future__ import annotations

from ..ledger import ledger, statistics, storage
from ..ledger.cells import DRIFTED, Ceiling
from ..text import (
    axis_value,
    clean,
    csv_text,
    gpus,
    listing,
    markdown,
    markdown_table,
    plus_minus,
    share_words,
    spread,
)
from . import claims, panels, stage_times, time_shares


def all_rows(settings):
    """Every ceiling and cell, setting by setting."""
    return [cell for s in settings for cell in s.ceilings + s.cells]


def by_variant(setting):
    """[(variant, its ceilings and cells), …]: each is a table of its own."""
    cells = setting.ceilings + setting.cells
    return [
        (v, [c for c in cells if c.variant == v]) for v in dict.fromkeys(c.variant for c in cells)
    ]


def write_csv(settings):
    """Every axis and every number, one line a cell; missing numbers are empty, never zero."""
    return _csv(all_rows(settings), COLUMNS)


def _csv(cells, columns, without=()):
    axes = [a for a in dict.fromkeys(a for c in cells for a in c.axes) if a not in without]
    head = axes + [name for name, _ in columns]
    lines = ([c.axes.get(a) for a in axes] + [get(c) for _, get in columns] for c in cells)
    return csv_text([head, *lines])


def _of(estimate, part):
    return getattr(estimate, part) if estimate else None


def _drift(cell, part):
    """How much the ceiling moved within a repetition, on average: last / first − 1."""
    ceiling = cell if isinstance(cell, Ceiling) else cell.divided_by
    value = _of(ceiling and ceiling.drift, part)
    return None if value is None else value - 1


def _summary(key, part):
    """Mean over the runs of one number of a summary such as step_ms."""

    def get(cell):
        found = [r[key] for r in cell.runs if isinstance(r.get(key), dict)]
        values = [ledger.number(summary.get(part)) for summary in found]
        values = [v for v in values if v is not None]
        return sum(values) / len(values) if values else None

    return get


def _errors(cell):
    return "; ".join(
        f"repetition {r['repetition']}: {r['status']}"
        + (f" ({r['error']})" if r.get("error") else "")
        for r in cell.lost
    )


COLUMNS = [
    ("cell_id", lambda c: c.cell_id),
    ("role", lambda c: "ceiling" if isinstance(c, Ceiling) else "cell"),
    ("repetitions", lambda c: _of(c.rate, "n") or 0),
    ("repetitions_missing", lambda c: len(c.lost)),
    ("imgs_per_s", lambda c: _of(c.rate, "mean")),
    ("imgs_per_s_low95", lambda c: _of(c.rate, "low")),
    ("imgs_per_s_high95", lambda c: _of(c.rate, "high")),
    ("interval", lambda c: _of(c.rate, "kind")),
    ("ceiling_imgs_per_s", lambda c: _of(c.ceiling and c.ceiling.rate, "mean")),
    ("ceiling_fraction", lambda c: _of(c.ratio, "mean")),
    ("ceiling_fraction_low95", lambda c: _of(c.ratio, "low")),
    ("ceiling_fraction_high95", lambda c: _of(c.ratio, "high")),
    ("ceiling_drift", lambda c: _drift(c, "mean")),
    ("ceiling_drift_low95", lambda c: _drift(c, "low")),
    ("ceiling_drift_high95", lambda c: _drift(c, "high")),
    ("scaling_efficiency", lambda c: _of(c.scaling, "mean")),
    ("scaling_efficiency_low95", lambda c: _of(c.scaling, "low")),
    ("scaling_efficiency_high95", lambda c: _of(c.scaling, "high")),
    ("device_idle_fraction", lambda c: c.mean("device_idle_fraction")),
    ("step_ms_median", _summary("step_ms", "median")),
    ("step_ms_p99", _summary("step_ms", "p99")),
    ("step_ms_max", _summary("step_ms", "max")),
    ("data_wait_ms_median", _summary("data_wait_ms", "median")),
    ("data_wait_ms_p99", _summary("data_wait_ms", "p99")),
    ("load_ms_per_image", lambda c: _of(stage_times.load_ms(c), "mean")),
    ("load_ms_per_image_low95", lambda c: _of(stage_times.load_ms(c), "low")),
    ("load_ms_per_image_high95", lambda c: _of(stage_times.load_ms(c), "high")),
    ("file_bytes_mean", storage.file_bytes),
    ("read_waiting_fraction", lambda c: _of(time_shares.waiting(c, "read"), "mean")),
    ("cpu_busy", lambda c: _of(time_shares.of_machine(c, time_shares.BUSY), "mean")),
    ("cpu_other_processes", lambda c: _of(time_shares.of_machine(c, time_shares.OTHERS), "mean")),
    ("cpu_iowait", lambda c: _of(time_shares.of_machine(c, time_shares.IOWAIT), "mean")),
    ("psi_io_some", lambda c: _of(time_shares.of_machine(c, time_shares.PRESSURE), "mean")),
    ("limiting_resource", lambda c: c.limiting()[0] or None),
    ("largest_stage", lambda c: c.limiting()[1] or None),
    ("valid", lambda c: "yes" if c.rate and not c.serious else "no"),
    ("flags", lambda c: " ".join(flag_names(c)) or None),
    ("errors", lambda c: _errors(c) or None),
]


ABOVE = "above_ceiling"
# Flags that no single record carries, because they follow from several records: a share of an
# invalid ceiling, scaling relative to an invalid cell.
DERIVED = {
    "invalid_ceiling!": "the ceiling carries a serious flag: do not quote shares of it",
    "invalid_first_count!": (
        "the cell with the fewest GPUs carries a serious flag: do not quote its scaling"
    ),
    ABOVE: (
        "the share of the ceiling lies above 1 by more than its interval: the ceiling was measured"
        " too low, or the cell too high; measure both again (chance alone does this to one cell in"
        " forty at the ceiling)"
    ),
}


def flag_names(cell):
    """The names of the cell's flags, each once; what its ceiling suffers from is added where it
    applies."""
    names = [flag_name(flag) for flag in cell.flags]
    bases = (("invalid_ceiling!", cell.divided_by), ("invalid_first_count!", cell.first))
    names += [name for name, base in bases if base and base is not cell and base.serious]
    if cell.above_ceiling:
        names.append(ABOVE)
    if drifted(cell):
        names.append(DRIFTED)
    return list(dict.fromkeys(names))


def marks(cells):
    """{flag name: its mark} of the cells; drift has its own star."""
    return letters(dict.fromkeys(n for c in cells for n in flag_names(c) if n != DRIFTED))


def letters(names):
    """{flag name: its mark}: a letter each, with ! where it is serious."""
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    return {
        name: (alphabet[i] if i < 26 else str(i)) + ("!" if name.endswith("!") else "")
        for i, name in enumerate(names)
    }


def flag_name(flag):
    """With ! where it is serious."""
    return clean(flag.get("name") or "?", 40) + ("!" if flag.get("severity") == "serious" else "")


def drifted(cell):
    ceiling = cell if isinstance(cell, Ceiling) else cell.divided_by
    return bool(ceiling and ceiling.drifted)


HEAD = ("data", "image size", "workers", "GPUs", "n", "imgs/s", "% of ceiling")
HEAD += ("device waits", "largest stage", "flags")


def row(cell):
    """The ten cells of HEAD as text."""
    return short_row(cell) + [" ".join(flag_names(cell)) or "-"]


def short_row(cell):
    """Those before the flags."""
    data = "ceiling" if isinstance(cell, Ceiling) else clean(cell.data, 20)
    rate, share, idle, stage = f"missing: {cell.state}", "-", "-", "-"
    if cell.rate:
        rate = plus_minus(cell.rate) + (" !" if cell.serious else "")
        waits = cell.mean("device_idle_fraction")
        idle = "-" if waits is None else f"{100 * waits:.1f} %"
        stage = cell.limiting()[1] or cell.limiting()[0] or "-"
    if cell.rate and cell.ratio:
        share = share_words(cell.ratio) + ("!" if cell.share_serious else "")
        share += "*" if drifted(cell) else ""
    size = "-" if cell.image_size is None else clean(cell.image_size, 20)
    workers = "-" if cell.workers is None else str(cell.workers)
    gpus = str(cell.gpus)
    return [data, size, workers, gpus, _count(cell), rate, share, idle, clean(stage, 16)]


def _count(cell):
    """Repetitions with a result; "2/3" where some have none."""
    n = cell.rate.n if cell.rate else 0
    return f"{n}/{n + len(cell.lost)}" if cell.lost else str(n)


def write_markdown(settings, title_of):
    """A table for each setting and variant, then one of the workers chosen; title_of(setting) is
    its heading."""
    lines = ["# Results", ""]
    for setting in settings:
        lines += [f"## {markdown(title_of(setting))}", "", *_notes(setting)]
        for variant, cells in by_variant(setting):
            lines += [f"With {markdown(variant)}:", ""] if variant else []
            lines += [*markdown_table(HEAD, map(row, cells), range(2, 8)), ""]
        if rows := chosen_rows(setting, claims.of(settings)):
            lines += [CHOSEN, ""]
            lines += [*markdown_table(CHOSEN_HEAD, rows, range(2, 6)), ""]
    return "\n".join(lines)


def _notes(setting):
    """The interval behind every ± and every drift, in sentences."""
    kinds = sorted(
        {c.rate.kind for c in setting.ceilings + setting.cells if c.rate} - {statistics.SET}
    )
    lines = []
    if kinds and kinds != [statistics.NO_INTERVAL]:
        lines = [f"± is the wider side of the interval: {'; '.join(kinds)}. n counts repetitions."]
    if any(drifted(c) for c in setting.cells):
        lines.append(f"\\* {STAR}.")
    lines += [f"{markdown(words)}." for words in incomplete_lines(setting)]
    return [line for words in lines for line in (words, "")]


def incomplete_lines(setting):
    """One for each ceiling that lacks its closing run in some repetition: no share is formed
    there."""
    return [words for ceiling in setting.ceilings for words in incomplete(ceiling)]


def incomplete(ceiling):
    lacking, of = ceiling.lacking, f"{gpus(ceiling.gpus)}, input {axis_value(ceiling.input_size)}"
    if not lacking:
        return []
    s, lack = ("", "lacks its") if len(lacking) == 1 else ("s", "lack their")
    where = " of a cell between them" if ceiling.in_pairs else ""
    return [
        f"repetition{s} {listing(lacking)} of the ceiling ({of}) {lack} first or last run: no share"
        f"{where} is formed there"
    ]


STAR = (
    f"{DRIFTED}: the ceiling moved within a repetition; shares are formed within each, and their"
    " intervals hold what moved"
)


CHOSEN = "Workers chosen (rates and shares are corrected for the choice):"
CHOSEN_HEAD = ("data", "image size", "GPUs", "workers", "imgs/s", "% of ceiling")
CHOSEN_HEAD += ("chosen as", "against the ceiling")


def chosen_rows(setting, all_claims):
    """Under CHOSEN_HEAD: what stands for each kind of data, stored size and GPU count where there
    are several worker counts."""
    return [
        [
            clean(c.data, 20) + (f" ({c.variant})" if c.variant else ""),
            "-" if c.image_size is None else clean(c.image_size, 20),
            str(c.gpus),
            "-" if c.workers is None else str(c.workers),
            plus_minus(c.rate) + (" !" if c.serious else ""),
            spread(c.ratio) if c.ratio else "-",
            c.how,
            all_claims.loss(c).words() or "-",
        ]
        for c in panels.places(setting.cells)
        if c.how
    ]


CHOSEN_COLUMNS = [
    ("cell_id", lambda c: c.cell_id),
    ("workers", lambda c: c.workers),
    ("chosen_from", lambda c: " ".join(map(str, c.counts))),
    ("chosen_as", lambda c: c.how),
    ("repetitions", lambda c: c.rate.n),
    ("imgs_per_s", lambda c: c.rate.mean),
    ("imgs_per_s_low95", lambda c: c.rate.low),
    ("imgs_per_s_high95", lambda c: c.rate.high),
    ("ceiling_fraction", lambda c: _of(c.ratio, "mean")),
    ("ceiling_fraction_low95", lambda c: _of(c.ratio, "low")),
    ("ceiling_fraction_high95", lambda c: _of(c.ratio, "high")),
]


def write_chosen_csv(settings):
    """workers.csv: the same with every axis and number, a line for each."""
    chosen = [c for s in settings for c in panels.places(s.cells) if c.rate and c.how]

    def is_shown(cell):
        claim = claims.of(settings).loss(cell)
        return ("yes" if claim.is_shown else "no") if claim.is_known else None

    columns = [*CHOSEN_COLUMNS, ("loss_is_shown", is_shown)]
    return _csv(chosen, columns, without=("workers",))
