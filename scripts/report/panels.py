"""What several figures ask of a setting: its panels, the best cell of a series, sample runs."""
from __future__ import annotations

from . import ledger
from .cells import pixels
from .text import clean


def at_gpus(setting, gpus):
    """The cells of real data at that GPU count."""
    return [c for c in setting.cells if c.gpus == gpus and c.data != "synthetic"]


def image_sizes(cells):
    """The stored sizes, smallest first; [None] where the cells have none (tensors alone)."""
    return sorted({c.image_size for c in cells if c.image_size}, key=pixels) or [None]


def in_panel(cells, size):
    """Cells of that stored size, and those to which a stored size means nothing (tensors)."""
    return [c for c in cells if c.image_size == size or c.image_size is None]


def panel_title(size, setting):
    if size is None:
        return f"stored at input size {clean(setting.axes['input-size'])}"
    return f"stored at {clean(size)}"


def of_series(cells, series):
    return [c for c in cells if (c.data, c.variant) == (series.data, series.variant)]


def best(cells):
    """The fastest cell; where none is ok, one that tells why; None without cells."""
    done = [c for c in cells if c.rate]
    return max(done, key=lambda c: c.rate.mean) if done else cells[0] if cells else None


def ceilings_for(cells, setting, gpus):
    """The ceilings of the cells drawn, or where there are none all that the GPU count has."""
    used = []
    for cell in cells:
        if cell.ceiling and cell.ceiling not in used:
            used.append(cell.ceiling)
    return used or [c for c in setting.ceiling_at(gpus) if c.rate]


def steps(cell):
    """(step_ms, data_wait_ms) per batch of the first run that kept both or the steps; ([], [])."""
    for record in cell.runs:
        step, wait = ledger.raw(record, "step_ms"), ledger.raw(record, "data_wait_ms")
        if step:
            return step, wait if len(wait) == len(step) else []
    return [], []


def name(cell):
    """A cell in a few words: "png 1024x768, 8 workers"."""
    words = clean(cell.data, 30) + (f" {clean(cell.image_size, 30)}" if cell.image_size else "")
    if cell.workers is not None:
        words += f", {cell.workers} worker" + ("" if cell.workers == 1 else "s")
    return words + (f" ({clean(cell.variant, 60)})" if cell.variant else "")
