"""A run in pairs: short blocks of its cell's steps and of synthetic ones, which are its ceiling,
take turns. What its record says of both, derived again from the blocks."""

from __future__ import annotations

from . import intervals, ledger, statistics
from .ledger import EXACT, number

LISTS = ("cell_steps", "cell_s", "ceiling_steps", "ceiling_s")  # as intervals.of_pairs() has them
BUSY = ("cell_busy_s", "ceiling_busy_s")
INTERVAL = "ceiling_fraction_ci95"


def blocks(record):
    """A line for each number that does not follow from the blocks."""
    if not ledger.in_pairs(record):
        return
    pairs = record["pairs"]
    if odd := _odd(pairs):
        yield f"pairs: {odd}"
        return
    whole = sum(pairs["cell_s"]) + sum(pairs["ceiling_s"])
    if pairs["took_s"] < whole * (1 - EXACT):
        yield f"pairs.took_s is {pairs['took_s']:.8g}, its blocks alone took {whole:.8g}"
    for key, value in _derived(record, pairs).items():
        stated = number(record.get(key))
        if stated is None or abs(stated / value - 1) > EXACT:
            yield f"{key} is {str(record.get(key))[:40]}, the blocks of its pairs give {value:.8g}"
    yield from _device_rates(record, pairs)
    yield from _interval(record, pairs)


def _odd(pairs):
    """Why these are no blocks; "" if they are."""
    lists = [pairs.get(name) for name in (*LISTS, *BUSY, "ceiling_first")]
    if not all(isinstance(values, list) for values in lists) or not lists[0]:
        return "one of its lists is missing or empty"
    if len(set(map(len, lists))) > 1:
        return "its lists are not equally long"
    for name in ("cell_steps", "ceiling_steps"):
        if not all(type(steps) is int and steps > 0 for steps in pairs[name]):
            return f"{name} holds a value that is no number of steps"
    if not all(map(ledger.positive, pairs["cell_s"] + pairs["ceiling_s"])):
        return "a block took no time"
    if not all(ledger.number(s) is not None and s >= 0 for name in BUSY for s in pairs[name]):
        return "a device worked for less than no time"
    if not all(isinstance(first, bool) for first in pairs["ceiling_first"]):
        return "ceiling_first holds what is neither true nor false"
    return "" if ledger.positive(pairs.get("took_s")) else "took_s is not above zero"


def _derived(record, pairs):
    images = record["cell"]["batch-size"] * (record["cell"].get("gpus") or 1)
    return {
        "steps": sum(pairs["cell_steps"]),
        "window_s": sum(pairs["cell_s"]),
        "ceiling_imgs_per_s": images * sum(pairs["ceiling_steps"]) / sum(pairs["ceiling_s"]),
        "ceiling_fraction": record["imgs_per_s"] / record["ceiling_imgs_per_s"],
    }


def interval(record):
    """((low, high), slack) around its share, as intervals.of_pairs(), widened by what was drawn
    from the queue; on an emulated device no share exceeds 1. None where there is none."""
    drawn, share = ledger.drawn(record), record["ceiling_fraction"]
    each = list(zip(*(record["pairs"][name] for name in LISTS)))
    if len(each) < intervals.LEAST_PAIRS or drawn >= 1:
        return None
    (low, high), slack = intervals.widened(intervals.of_pairs(each, share), drawn)
    if ledger.part(record, "device", "kind") == "emulated":
        high = statistics.cut_at(1.0, low, high, share)
    return (low, high), slack


def _device_rates(record, pairs):
    images = record["images"] / record["steps"]
    for of, key in (("cell", "device_rate"), ("ceiling", "ceiling_device_rate")):
        stated = ledger.part(record, key, "imgs_per_s")
        busy = sum(pairs[f"{of}_busy_s"])
        if not ledger.positive(stated):
            if of == "ceiling":
                yield f"{key} is missing, and the run is one in pairs"
        elif busy > 0 and abs(stated * busy / images / sum(pairs[f"{of}_steps"]) - 1) > EXACT:
            yield (
                f"{key} is {stated:.8g}, the blocks of its pairs give"
                f" {images * sum(pairs[f'{of}_steps']) / busy:.8g}"
            )


def _interval(record, pairs):
    stated = record.get(INTERVAL)
    found = interval(record)
    if found is None:
        if stated is not None:
            what = "images from the queue's stock alone"
            if len(pairs["cell_s"]) < intervals.LEAST_PAIRS:
                what = f"{len(pairs['cell_s'])} pairs"
            yield f"{INTERVAL} is not null, {what} give no interval"
        return
    if not isinstance(stated, list) or len(stated) != 2 or None in map(number, stated):
        yield f"{INTERVAL} {str(stated)[:60]} is no interval"
        return
    ends, slack = found
    # An end may be too small to be told from zero.
    if any(abs(mine - end) > slack * end + 1e-12 for mine, end in zip(stated, ends)):
        yield (
            f"{INTERVAL} is {stated[0]:.6g} to {stated[1]:.6g}, the blocks of its pairs give"
            f" {ends[0]:.6g} to {ends[1]:.6g}"
        )
