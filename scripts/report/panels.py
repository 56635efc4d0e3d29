"""What several figures ask of a setting: its panels, the best cell of a series, sample runs."""

from __future__ import annotations

import functools

from . import choice, ledger
from .cells import pixels
from .text import clean, percent, stored_at


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


def places(cells):
    """The best cell of every kind, variant, stored size and GPU count, in their order."""
    found = {}
    for c in cells:
        found.setdefault((c.data, c.variant, c.image_size, c.gpus), []).append(c)
    return [best(same) for same in found.values()]


def ceilings_for(cells, setting, gpus):
    """The ceilings of the cells drawn; if they have none, all ceilings at that GPU count."""
    used = []
    for cell in cells:
        if cell.ceiling and cell.ceiling not in used:
            used.append(cell.ceiling)
    return used or [c for c in setting.ceiling_at(gpus) if c.rate]


@functools.cache  # by identity: a cell does not change once it is grouped
def shown(cell):
    """The run whose batches are drawn: the first that kept them; None where none did."""
    return next((record for record in cell.runs if ledger.raw(record, "step_ms")), None)


@functools.cache
def steps(cell):
    """(step_ms, data_wait_ms) per batch of the run shown, as far as kept; no waits: [] for them."""
    record = shown(cell)
    if record is None:
        return [], []
    step, wait = ledger.raw(record, "step_ms"), ledger.raw(record, "data_wait_ms")
    return step, wait if len(wait) == len(step) else []


@functools.cache
def step_statistics(cell):
    """{mean, median, p99, max} in ms over all steps of the run shown, kept one by one or not."""
    return statistics_of(shown(cell), sorted(steps(cell)[0]))


def statistics_of(record, step):
    """The same for any run, from its sorted step times; {} if there are none."""
    if not step:
        return {}
    ours = {
        "mean": sum(step) / len(step),
        "median": step[len(step) // 2],
        "p99": step[min(len(step) - 1, int(0.99 * len(step)))],
        "max": step[-1],
    }
    theirs = {key: ledger.number(record["step_ms"].get(key)) for key in ours}
    return {key: ours[key] if theirs[key] is None else theirs[key] for key in ours}


def idle_share(cell):
    """Share of the time of the run shown in which the device waited for data. The training thread
    may wait longer: while it waits for the next batch the device still works on the one before."""
    return ledger.number(shown(cell).get("device_idle_fraction"))


def exemplars(setting, gpus):
    """[(why, cell, step times)]: lowest and highest mean rate, most uneven, and the ceiling."""
    cells = [(c, steps(c)[0]) for c in at_gpus(setting, gpus)]
    cells = [(c, step) for c, step in cells if len(step) >= 2]
    picked = []
    if cells:
        # Rates that agree to a thousandth are equal; among those the order of the cells decides.
        by_rate = sorted(cells, key=lambda pair: pair[0].rate.mean)
        top = by_rate[-1][0].rate.mean
        fastest = next(pair for pair in cells if pair[0].rate.mean >= 0.999 * top)
        uneven = max(cells, key=lambda pair: max(pair[1]) / max(_median(pair[1]), 1e-9))
        for why, pair in (
            ("lowest mean", by_rate[0]),
            ("highest mean", fastest),
            ("most uneven", uneven),
        ):
            if all(pair[0] is not other for _, other, _ in picked):
                picked.append((why, *pair))
    for ceiling in ceilings_for([c for _, c, _ in picked], setting, gpus)[:1]:
        step = steps(ceiling)[0]
        if len(step) >= 2:
            picked.append(("ceiling", ceiling, step))
    return picked


def _median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


def cut_short(cells):
    """A note where the ledger kept only the first batches of a run; [] where it kept all."""
    cut = [(len(steps(c)[0]), ledger.number(shown(c).get("steps"))) for c in cells if shown(c)]
    cut = [(kept, made) for kept, made in cut if made and made > kept]
    if not cut:
        return []
    return [
        f"Drawn are the first {min(cut)[0]} batches of up to {max(m for _, m in cut):.0f}: the "
        "ledger keeps no more one by one. Means, medians and percentiles are of all."
    ]


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
        cpus = (record.get("threads") or {}).get("cpus") or (
            (record.get("environment") or {}).get("cpu") or {}
        ).get("cores")
        busy = [ledger.number(stage.get("cpu_s")) or 0 for stage in record.get("stages") or []]
        window = ledger.number(record.get("window_s"))
        if busy and window and ledger.number(cpus):
            shares.append(sum(busy) / (window * cpus))
    return sum(shares) / len(shares) if shares else None


def name(cell):
    """A cell in a few words: "png 1024x768, 8 workers"."""
    words = clean(cell.data, 30) + (f" {clean(cell.image_size, 30)}" if cell.image_size else "")
    if cell.workers is not None:
        words += f", {cell.workers} worker" + ("" if cell.workers == 1 else "s")
    return words + (f" ({clean(cell.variant, 60)})" if cell.variant else "")
