"""The cells as a table: one list of columns, written as CSV and as Markdown."""
from __future__ import annotations

import csv
import io

from . import ledger
from .cells import Ceiling
from .text import amount, axis_value, clean, csv_cell, markdown, percent, plus_minus


def all_rows(settings):
    """Every ceiling and cell, setting by setting."""
    return [cell for s in settings for cell in s.ceilings + s.cells]


def write_csv(settings):
    """Every axis and every number, one line a cell; missing numbers are empty, never zero."""
    rows = all_rows(settings)
    axes = list(dict.fromkeys(axis for cell in rows for axis in cell.axes))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([csv_cell(axis) for axis in axes] + [name for name, _ in COLUMNS])
    for cell in rows:
        writer.writerow([csv_cell(cell.axes.get(axis)) for axis in axes]
                        + [csv_cell(get(cell)) for _, get in COLUMNS])
    return out.getvalue()


def _of(estimate, part):
    return getattr(estimate, part) if estimate else None


def _summary(key, part):
    """Mean over the runs of one number of a summary such as step_ms."""
    def get(cell):
        found = [r[key] for r in cell.runs if isinstance(r.get(key), dict)]
        values = [ledger.number(summary.get(part)) for summary in found]
        values = [v for v in values if v is not None]
        return sum(values) / len(values) if values else None
    return get


def _errors(cell):
    return "; ".join(f"repetition {r['repetition']}: {r['status']}"
                     + (f" ({r['error']})" if r.get("error") else "") for r in cell.lost)


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
    ("ceiling_drift", lambda c: c.drift if isinstance(c, Ceiling) and not c.recorded
        else c.ceiling.drift if c.ceiling and not c.ceiling.recorded else None),
    ("scaling_efficiency", lambda c: _of(c.scaling, "mean")),
    ("scaling_efficiency_low95", lambda c: _of(c.scaling, "low")),
    ("scaling_efficiency_high95", lambda c: _of(c.scaling, "high")),
    ("device_idle_fraction", lambda c: c.mean("device_idle_fraction")),
    ("step_ms_median", _summary("step_ms", "median")), ("step_ms_p99", _summary("step_ms", "p99")),
    ("step_ms_max", _summary("step_ms", "max")),
    ("data_wait_ms_median", _summary("data_wait_ms", "median")),
    ("data_wait_ms_p99", _summary("data_wait_ms", "p99")),
    ("limiting_resource", lambda c: c.largest_stage()[0] or None),
    ("largest_stage", lambda c: c.largest_stage()[1] or None),
    ("valid", lambda c: "yes" if c.rate and not c.serious else "no"),
    ("flags", lambda c: " ".join(flag_names(c)) or None),
    ("errors", lambda c: _errors(c) or None),
]


# What a cell has from others: a share of an invalid ceiling, a scaling beside an invalid cell.
DERIVED = {"invalid-ceiling!": "the ceiling carries a serious flag: do not quote shares of it",
           "invalid-first-count!": "the cell with the fewest GPUs carries a serious flag: do not quote its scaling"}


def flag_names(cell):
    """The names of the cell's flags, each once; what its ceiling suffers from is added where it applies."""
    names = [clean(f.get("name") or "?", 40) + ("!" if f.get("severity") == "serious" else "")
             for f in cell.flags]
    names += [name for name, base in zip(DERIVED, (cell.ceiling, cell.first))
              if base and base is not cell and base.serious]
    if drifted(cell):
        names.append("ceiling-drift")
    return list(dict.fromkeys(names))


def drifted(cell):
    ceiling = cell if isinstance(cell, Ceiling) else cell.ceiling
    return bool(ceiling and ceiling.drifted)


HEAD = ("data", "image size", "workers", "GPUs", "n", "imgs/s", "% of ceiling", "device waits",
        "largest stage", "flags")


def short_row(cell):
    """The ten cells of HEAD as text: what the terminal and Markdown show."""
    dash = "-"
    data = "ceiling" if isinstance(cell, Ceiling) else clean(cell.data, 20)
    size = cell.image_size
    if not cell.rate:
        rate, share, idle, stage = f"missing: {cell.state}", dash, dash, dash
    else:
        rate = plus_minus(cell.rate) + (" !" if cell.serious else "")
        share = percent(cell.ratio.mean) + ("!" if cell.share_serious else "") if cell.ratio else dash
        idle = cell.mean("device_idle_fraction")
        idle = dash if idle is None else f"{100 * idle:.1f} %"
        stage = cell.largest_stage()[1] or cell.largest_stage()[0] or dash
    share += "*" if drifted(cell) and share != dash else ""
    workers = dash if cell.workers is None else str(cell.workers)
    return [data, dash if size is None else clean(size, 20), workers, str(cell.gpus),
            _count(cell), rate, share, idle, clean(stage, 16)]


def _count(cell):
    """Repetitions with a result; "2/3" where some have none."""
    n = cell.rate.n if cell.rate else 0
    return f"{n}/{n + len(cell.lost)}" if cell.lost else str(n)


def write_markdown(settings, title_of):
    """A table for each setting and variant; title_of(setting) is its heading."""
    lines = ["# Results", ""]
    for setting in settings:
        lines += [f"## {markdown(title_of(setting))}", "", *_notes(setting)]
        for variant in sorted({c.variant for c in setting.ceilings + setting.cells}):
            if variant:
                lines += [f"With {markdown(variant)}:", ""]
            lines += ["| " + " | ".join(HEAD) + " |", "|" + " --- |" * 2 + " ---: |" * 6
                      + " --- |" * 2]
            for cell in (c for c in setting.ceilings + setting.cells if c.variant == variant):
                words = short_row(cell) + [" ".join(flag_names(cell)) or "-"]
                lines.append("| " + " | ".join(markdown(w) for w in words) + " |")
            lines.append("")
    return "\n".join(lines)


def _notes(setting):
    """The interval behind every ± and every drift, in sentences."""
    kinds = sorted({c.rate.kind for c in setting.ceilings + setting.cells if c.rate})
    lines = [f"± is the wider side of the interval: {'; '.join(kinds)}. n counts repetitions.", ""]
    lines += [f"\\* {line}" + "\n" for line in drift_lines(setting)]
    return lines


def drift_lines(setting):
    """One warning for each ceiling that moved between a repetition's first and last look at it."""
    return [f"ceiling drifted by {percent(c.drift)} (first to last of a repetition, "
            f"{c.gpus} GPU{'' if c.gpus == 1 else 's'}, input {axis_value(c.input_size)}, "
            f"{amount(c.rate.mean)} imgs/s): every share of it is that unsure"
            for c in setting.ceilings if c.rate and c.drifted]
