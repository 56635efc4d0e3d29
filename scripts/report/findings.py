"""What a figure shows, in one line that is computed from its cells: the title of its slide. Valid cells alone speak;
where there is none, the line says that."""
from __future__ import annotations

from . import monitors, panels, stages, statistics, storage_bandwidth, waiting_cost
from .text import amount, clean, duration, gpus as gpu_words, percent

NOTHING = "No valid result: every cell carries a serious flag or is missing"


def finding(plan):
    """The line for a figure of the plan."""
    here = [c for c in plan.setting.cells if c.data != "synthetic" and plan.gpus in (None, c.gpus)]
    good = [c for c in here if c.rate and not c.share_serious]
    if not good and here:
        return NOTHING
    lines = {"throughput_vs_workers": _reaches, "bars": _spread, "ceiling_heatmap": _near, "batch_times": _longest,
             "load_vs_step": _waits, "stages": _largest, "storage_bandwidth": _reads, "waiting_cost": _costs,
             "throughput_vs_gpus": _speedup, "scaling_efficiency": _efficiency, "monitors": _busy}
    return (lines[plan.module](good, plan) if good else "") or "Ceiling alone: no cell of stored data"


def _best(cells):
    """The best cell of every kind, stored size and variant, the nearest to its ceiling first."""
    places = dict.fromkeys((c.data, c.variant, c.image_size) for c in cells)
    best = [panels.best([c for c in cells if (c.data, c.variant, c.image_size) == place]) for place in places]
    return sorted(best, key=lambda c: -(c.ratio.mean if c.ratio else 0))


def _name(cell):
    """The cell without its workers."""
    return clean(cell.data, 30) + (f" {clean(cell.image_size, 30)}" if cell.image_size else "") \
        + (f" ({clean(cell.variant, 60)})" if cell.variant else "")


def _with(cell):
    return "" if cell.workers is None else f" with {cell.workers} worker" + ("" if cell.workers == 1 else "s")


def _of_ceiling(cell):
    return f"{percent(cell.ratio.mean)} of the ceiling" if cell.ratio else f"{amount(cell.rate.mean)} images/s"


def _reaches(cells, _):
    best = _best([c for c in cells if c.workers is not None])
    return f"{_name(best[-1])} reaches {_of_ceiling(best[-1])}{_with(best[-1])}" if best else ""


def _spread(cells, _):
    best = _best(cells)
    words = f"{_name(best[0])} reaches {_of_ceiling(best[0])}"
    return words + ("" if len(best) == 1 else f", {_name(best[-1])} {_of_ceiling(best[-1])}")


def _near(cells, _):
    best = [c for c in _best(cells) if c.ratio]
    if not best:
        return ""
    near = sum(c.ratio.mean >= 0.95 for c in best)
    return (f"{near} of {len(best)} combinations reach 95 % of the ceiling; the lowest is {_name(best[-1])} with "
            f"{percent(best[-1].ratio.mean)}")


def _longest(cells, _):
    kept = [c for c in cells if len(panels.steps(c)[0]) >= 2]
    if not kept:
        return ""
    numbers = {id(c): panels.step_statistics(c) for c in kept}
    worst = max(kept, key=lambda c: numbers[id(c)]["max"] / max(numbers[id(c)]["median"], 1e-9))
    mine = numbers[id(worst)]
    return (f"{panels.name(worst)}: the longest batch takes {amount(mine['max'])} ms, the median one "
            f"{amount(mine['median'])} ms")


def _waits(cells, _):
    known = [(share, c) for c in _best(cells) if panels.shown(c) for share in [panels.idle_share(c)] if share is not None]
    if not known:
        return ""
    share, cell = max(known, key=lambda pair: pair[0])
    return f"The device waits for data {percent(share)} of the time with {panels.name(cell)}"


def _largest(cells, _):
    short = [(sum(w for _, w, _ in times) / (stages.budget(c) or 1), c, times)
             for c in _best(cells) for times in [stages.per_image(c)] if times]
    if not short:
        return ""
    _, cell, times = max(short, key=lambda s: s[0])
    name, wall, _ = max(times, key=lambda t: t[1])
    share = wall / max(sum(w for _, w, _ in times), 1e-12)
    return f"{panels.name(cell)}: {clean(name, 20)} takes {percent(share)} of a worker's busy time"


def _reads(cells, _):
    found = [(b.needed / b.read, c, b) for c in _best(cells) for b in [storage_bandwidth.bandwidth(c)]
             if b.read and b.needed]
    if not found:
        return "No valid cell says both what its workers read and what the ceiling would need"
    _, cell, b = max(found, key=lambda f: f[0])
    return (f"{panels.name(cell)}: the workers read {amount(b.read / 1e6)} MB/s, the ceiling would need "
            f"{amount(b.needed / 1e6)}")


def _costs(cells, _):
    lost = [(statistics.hours_lost(waiting_cost.IMAGES, *c.paired).mean, c) for c in _best(cells)
            if c.ceiling]
    if not lost:
        return ""
    hours, cell = max(lost, key=lambda pair: pair[0])
    if hours <= 0:
        return "No cell is slower than its ceiling"
    return f"{panels.name(cell)}: waiting for data costs {duration(hours)} per epoch of {waiting_cost.IMAGES:,} images"


def _over(cells):
    """(first, last) best cells over the GPU counts of the series that gains least."""
    pairs = []
    for place in dict.fromkeys((c.data, c.variant, c.image_size) for c in cells):
        row = panels.best_by_count([c for c in cells if (c.data, c.variant, c.image_size) == place])
        if len(row) > 1:
            pairs.append((row[0], row[-1]))
    return min(pairs, key=lambda p: p[1].rate.mean / p[0].rate.mean / p[1].gpus * p[0].gpus, default=None)


def _devices(cell, plan):
    if plan.setting.kind != "cpu":
        return gpu_words(cell.gpus)
    return f"{cell.gpus} replica" + ("" if cell.gpus == 1 else "s")


def _speedup(cells, plan):
    pair = _over(cells)
    if not pair:
        return ""
    first, last = pair
    return (f"{_name(last)}: {_devices(last, plan)} give {last.rate.mean / first.rate.mean:.2f} times the images/s of "
            f"{_devices(first, plan)}")


def _efficiency(cells, plan):
    pair = _over(cells)
    if not pair:
        return ""
    first, last = pair
    share = statistics.scaling(last.rate, last.gpus, first.rate, first.gpus).mean
    return f"{_name(last)} keeps {percent(share)} of linear scaling at {_devices(last, plan)}"


def _busy(_, plan):
    cell, record = monitors.chosen(plan.setting, plan.gpus)
    busy = record["monitors"].get("cpu_busy") if isinstance(record.get("monitors"), dict) else None
    words = panels.name(cell) + (" (invalid)" if cell.serious else "")
    return f"{words}: the CPUs are {percent(busy)} busy" if isinstance(busy, (int, float)) and busy >= 0 else words
