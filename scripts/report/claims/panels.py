"""What several figures ask of a setting: its panels, the best cell of a series, names."""

from __future__ import annotations

from ..ledger import ledger
from ..ledger.cells import sizes_of
from ..text import clean, listing, percent, stored_at, workers
from . import choice


def at_gpus(setting, gpus):
    """The cells of real data at that GPU count."""
    return [c for c in setting.cells if c.gpus == gpus and c.data != "synthetic"]


def image_sizes(cells):
    """The stored sizes, smallest first; [None] where the cells have none (tensors alone)."""
    return sizes_of(cells) or [None]


def in_panel(cells, size):
    """Cells of that stored size, and those to which a stored size means nothing (tensors)."""
    return [c for c in cells if c.image_size == size or c.image_size is None]


def panel_title(size, setting):
    if size is None:
        return f"stored at input size {clean(setting.axes['input-size'])}"
    return stored_at(size)


def of_series(cells, series):
    return [c for c in cells if (c.data, c.variant) == (series.data, series.variant)]


def any_valid(cells):
    """Whether a figure of these cells would say anything."""
    return any(c.rate and not c.serious for c in cells)


def best(cells):
    """The cell that stands for some that differ in their workers alone; where none has a result,
    one that tells why; None without cells."""
    return choice.choose(tuple(cells))


def best_by_count(cells):
    """The best cell at each GPU count, fewest first."""
    return [best([c for c in cells if c.gpus == n]) for n in sorted({c.gpus for c in cells})]


def series_key(cell):
    """What cells share that differ in their workers and GPUs alone."""
    return cell.data, cell.variant, cell.image_size


def places(cells):
    """The best of the cells of stored data of every kind, variant, stored size and GPU count, in
    their order."""
    found = {}
    for c in cells:
        if c.data != "synthetic":
            found.setdefault((series_key(c), c.gpus), []).append(c)
    return [best(same) for same in found.values()]


def shares_the_cpu(cells):
    """A note on the CPU time that the loader took from the training steps: cells may differ
    although no step waited for data."""
    taken = [(share, c) for c in cells for share in [_loader_share(c)] if share is not None]
    if not taken:
        return []
    most, cell = max(taken, key=lambda pair: pair[0])
    return [
        "Training and loader share this machine's CPUs: the loader computes for up to"
        f" {percent(most)} of their time ({name(cell)})."
    ]


def _loader_share(cell):
    """The loader's CPU time as a share of the machine's over the window, mean of the runs."""
    shares = []
    for record in cell.runs if cell.axes.get("device") == "cpu" else []:
        cpus = ledger.part(record, "threads", "cpus")
        cpus = cpus or ledger.part(record, "environment", "cpu", "cores")
        busy = [ledger.number(stage.get("cpu_s")) or 0 for stage in ledger.stages(record)]
        if busy and ledger.positive(record.get("window_s")) and ledger.positive(cpus):
            shares.append(sum(busy) / (record["window_s"] * cpus))
    return sum(shares) / len(shares) if shares else None


def kind(cell, most=30):
    """A cell without its workers and GPUs: "png 1024x768 (detail high)"; `most` letters a word."""
    words = clean(cell.data, most) + (f" {clean(cell.image_size, most)}" if cell.image_size else "")
    return words + (f" ({clean(cell.variant, 2 * most)})" if cell.variant else "")


def name(cell, joint=", ", most=30):
    """The same with its workers: "png 1024x768, 8 workers"."""
    words = kind(cell, most)
    return words if cell.workers is None else f"{words}{joint}{workers(cell.workers)}"


def workers_used(chosen):
    """Which worker counts were chosen, in one line."""
    used = {key: [c.workers for c in row if c.rate] for key, row in chosen.items()}
    every = {w for row in used.values() for w in row if w is not None}
    if len(every) < 2:
        each = every.pop() if every else None
        counts = sorted({c.gpus for row in chosen.values() for c in row})
        of_all = "" if each is None else f" ({listing([each * n for n in counts])} in all)"
        return f"Workers per GPU: {'none' if each is None else each}{of_all}."
    known = [count for count in every if count is not None]
    return f"Workers per GPU: {min(known)} to {max(known)}, as workers.csv has them."


def row_name(size, series, cells, sizes):
    """A series of a panel, with its stored size where there are several."""
    sized = any(c.image_size for c in cells) and len(sizes) > 1
    return f"{series.label} {size}" if sized else series.label
