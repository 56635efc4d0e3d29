"""What a figure shows, in one line: the title of its slide, and a line of the index. A finding
claims only losses that a test in claims.py shows; else it says that no loss is measurable, and how
large one could be. It uses valid cells alone.
"""

from __future__ import annotations

from dataclasses import replace

from . import (
    epoch,
    figures,
    load_detail,
    panels,
    readings,
    stage_times,
    statistics,
    storage,
    time_shares,
    utilisation,
)
from .claims import LOOK, none_words
from .text import amount, clean, duration, percent, spread
from .text import gpus as gpu_words

NOTHING = "No valid result: every cell carries a serious flag or is missing"
ALONE = "Ceiling alone: no cell of stored data"


def finding(plan, claims):
    """The line for a figure of the plan; its title where there is nothing to be said."""
    if plan.module in figures.OF_DIAGNOSIS:
        found = plan.setting.diagnosis
        return f"{figures.TITLES[plan.module]}, {clean(found.label, 80)}: {found.words()}"
    if plan.module in figures.OVER_COUNTS and len(plan.setting.gpu_counts()) < 2:
        return figures.TITLES[plan.module]
    if plan.module == "load_vs_detail":  # which needs no ceiling, like the next
        return _grows(plan, claims) or figures.TITLES[plan.module]
    if plan.module == "utilisation_vs_gpus":
        return _feeds(plan) or figures.TITLES[plan.module]
    here = [c for c in plan.setting.cells if c.data != "synthetic" and plan.gpus in (None, c.gpus)]
    places = [c for c in panels.places(here) if c.rate and not c.share_serious]
    if not places:
        return NOTHING if here else ALONE
    if all(c.rate.n < statistics.LEAST for c in places):
        return f"{figures.TITLES[plan.module]}: {LOOK}"
    lines = {
        "batch_times": _longest,
        "load_vs_step": _waits,
        "stages": _largest,
        "disk_or_cpu": _waits_for_disks,
        "storage_bandwidth": _reads,
        "waiting_cost": _costs,
        "throughput_vs_gpus": _scales,
        "scaling_efficiency": _scales,
        "monitors": _busy,
    }
    words = lines.get(plan.module, _loses)(places, plan, claims)
    if words and plan.module in figures.OF_RESULTS:
        words += _not_judged([c for c in panels.places(here) if c.rate], claims)
    return words or figures.TITLES[plan.module]


def _not_judged(cells, claims):
    """The kinds and sizes that a sentence leaves out, and why: their silence must not pass for a
    result."""
    left = [(c, claims.why_not(c)) for c in cells]
    words = [f"{_name(c)} ({why})" for c, why in left if why]
    more = f" and {len(words) - 3} more" if len(words) > 3 else ""
    return f"; not judged: {', '.join(words[:3])}{more}" if words else ""


def headline(plan, claims):
    """The same for a slide: where no loss is shown, it says first what the figure is about."""
    if plan.module in figures.OF_DIAGNOSIS:  # the figure itself names the cell
        return f"{figures.TITLES[plan.module]}: {plan.setting.diagnosis.words()}"
    words = finding(plan, claims)
    return (
        f"{figures.TITLES[plan.module]}: {words[0].lower()}{words[1:]}"
        if words.startswith(("No measurable", "No loss is"))
        else words
    )


def _name(cell):
    """The cell without its workers."""
    return (
        clean(cell.data, 30)
        + (f" {clean(cell.image_size, 30)}" if cell.image_size else "")
        + (f" ({clean(cell.variant, 60)})" if cell.variant else "")
    )


def _with(cell):
    return (
        ""
        if cell.workers is None
        else f" with {cell.workers} worker" + ("" if cell.workers == 1 else "s")
    )


def _worst(cells, claim_of):
    """(the cell with the largest loss that is shown or None, its claim, how many lose, the claims
    that are known)."""
    known = [(claim_of(c), c) for c in cells]
    known = [(claim, c) for claim, c in known if claim.is_known]
    shown = sorted(
        ((claim, c) for claim, c in known if claim.is_shown), key=lambda pair: pair[0].share.mean
    )
    claim, cell = shown[0] if shown else (None, None)
    if len(shown) > 1:  # the most extreme of several: its own interval would promise too much
        claim = replace(claim, share=statistics.widened(claim.share, len(known)))
    return cell, claim, len(shown), [claim for claim, _ in known]


def _none(known, what="loss"):
    """Says that no loss is shown, and how large one could still be."""
    if not known:
        return "Nothing to hold the cells against: no share of the ceiling has an interval"
    words = none_words(known)
    return words[0].upper() + words[1:].replace("loss", what, 1)


def _loses(cells, _, claims):
    cell, claim, count, known = _worst(cells, claims.loss)
    if not cell:
        return _none(known)
    if len(known) == 1:
        return f"{_name(cell)}{_with(cell)} loses {spread(claim.loss)} of the ceiling"
    which = (
        _name(cell) + _with(cell)
        if count == 1
        else f"the largest measured, {_name(cell)}{_with(cell)},"
    )
    return (
        f"a loss is shown for {count} of {len(known)} kinds and sizes: {which} loses"
        f" {spread(claim.loss)}"
    )


def _longest(cells, *_):
    kept = [c for c in cells if len(panels.steps(c)[0]) >= 2]
    if not kept:
        return ""
    numbers = {id(c): panels.step_statistics(c) for c in kept}
    worst = max(kept, key=lambda c: numbers[id(c)]["max"] / max(numbers[id(c)]["median"], 1e-9))
    mine = numbers[id(worst)]
    return (
        f"In one run of {panels.name(worst)} the longest batch took {amount(mine['max'])} ms, the"
        f" median one {amount(mine['median'])} ms"
    )


def _waits(cells, _, claims):
    cell, claim, _, known = _worst([c for c in cells if panels.shown(c)], claims.loss)
    if not cell:
        return _none(known) if known else ""
    share = panels.idle_share(cell)
    waits = (
        ""
        if share is None
        else f"; its device waits for data {percent(share)} of the time in the run drawn"
    )
    return f"{_name(cell)}{_with(cell)} loses {spread(claim.loss)}{waits}"


def _largest(cells, _, claims):
    cell, claim, _, known = _worst([c for c in cells if stage_times.per_image(c)], claims.loss)
    if not cell:
        return _none(known) if known else ""
    name, share = stage_times.largest_share(cell)
    return (
        f"{_name(cell)}{_with(cell)} loses {spread(claim.loss)}; {clean(name, 20)} takes"
        f" {spread(share)} of a worker's busy time"
    )


def _waits_for_disks(cells, _, claims):
    told = [c for c in cells if time_shares.of_workers(c) and storage.takes_from_files(c)]
    cell, claim, _, known = _worst(told, claims.loss)
    if not cell:
        return _none(known) if known else ""
    own = time_shares.own(cell)
    words = (
        f"{_name(cell)}{_with(cell)} loses {spread(claim.loss)}; its workers wait for reads"
        f" {spread(time_shares.waiting(cell, 'read'), _whole_percent)} of their time"
    )
    return words + (f" and the run takes {spread(own)} of the CPUs" if own else "")


def _whole_percent(share):
    """What is too small to be shown is nothing."""
    return percent(share) if share >= 0.0005 else "0 %"


def _grows(plan, claims):
    """How many times as long loading takes at the most detail as at the least; "" where there are
    not several. The intervals hold for all that are named together."""
    found = [(s, claims.speed(s)) for s in load_detail.series(plan.setting, plan.gpus)]
    known = [(s, claim) for s, claim in found if claim.is_known]
    if not known:
        return f"{figures.TITLES[plan.module]}: {LOOK}" if found else ""
    same_workers = len({s.workers for s, _ in known}) == 1
    lines = {}
    for s, claim in known:
        longer = load_detail.slower(statistics.widened(claim.share, len(known)))
        times = (
            spread(longer, amount)
            if claim.is_shown
            else f"not shown to be above 1 (at most {amount(longer.high)})"
        )
        by = f", {s.workers}" if same_workers else ""
        name = s.name if same_workers else s.label
        lines.setdefault(f"at {s.most} detail as at {s.least}{by}", []).append(f"{name} {times}")
    words = [
        f"Loading takes so many times as long {ends}: {'; '.join(each)}"
        for ends, each in lines.items()
    ]
    left = [f"{s.name} (not valid)" for s, _ in found if s.is_serious]
    return "; ".join(words + ([f"not judged: {', '.join(left)}"] if left else []))


def _feeds(plan):
    """With how many GPUs the utilisation holds, as far as no serious flag forbids to say it and the
    numbers on both sides of an answer were repeated; "" where no number of GPUs is known."""
    lines = utilisation.lines(plan.setting)
    valid = [line for line in lines if not utilisation.is_serious(line.cells)]
    told = [line for line in valid if utilisation.is_repeated(line.unbroken)]
    if not told:
        look = f"{figures.TITLES[plan.module]}: {LOOK}" if valid else NOTHING
        return look if lines else ""
    levels = (utilisation.LEAST, utilisation.BETTER)
    words = dict.fromkeys(
        f"{line.name}: AU of "
        + ", of ".join(f"{100 * level:.0f} % or more: {line.words(level)}" for level in levels)
        for line in told
    )
    left = dict.fromkeys(
        f"{line.name} ({'not repeated' if line in valid else 'not valid'})"
        for line in lines
        if line not in told
    )
    said = "; ".join(words) + " (emulated)"
    return said + (f"; not judged: {', '.join(left)}" if left else "")


def _reads(cells, _, claims):
    found = {id(c): storage.bandwidth(c) for c in cells}
    both = [c for c in cells if found[id(c)].read and found[id(c)].needed]
    cell, _, _, known = _worst(both, claims.loss)
    if not cell:
        return _none(known) if known else ""
    b = found[id(cell)]
    return (
        f"{_name(cell)}{_with(cell)}: the workers read {amount(b.read / 1e6)} MB/s, the ceiling"
        f" would need {amount(b.needed / 1e6)}"
    )


def _costs(cells, _, claims):
    cell, claim, count, known = _worst(cells, claims.loss)
    if not cell:
        return _none(known)
    hours = epoch.hours_lost(cell)
    if count > 1:
        hours = statistics.widened_mean(hours, len(known))
    return (
        f"{_name(cell)}{_with(cell)} costs {spread(hours, duration)} per epoch of {epoch.IMAGES:,}"
        " images"
    )


def _scales(cells, plan, claims):
    if len({c.gpus for c in cells}) < 2:
        return ""
    cell, claim, _, known = _worst(cells, claims.scaling)
    if not cell:
        return _none(known, "loss of scaling")
    devices = (
        gpu_words(cell.gpus)
        if plan.setting.kind != "cpu"
        else f"{cell.gpus} replica" + ("" if cell.gpus == 1 else "s")
    )
    return f"{_name(cell)} keeps {spread(claim.share)} of linear scaling at {devices}"


def _busy(_, plan, __):
    cell, record = readings.chosen(plan.setting, plan.gpus)
    if record is None:
        return ""
    busy = record["monitors"].get("cpu_busy") if isinstance(record.get("monitors"), dict) else None
    words = "One run of " + panels.name(cell) + (" (invalid)" if cell.serious else "")
    return (
        f"{words}: the CPUs were {percent(busy)} busy"
        if isinstance(busy, (int, float)) and busy >= 0
        else words
    )
