"""What the program computes from its steps, computed again from a record's raw values: quantiles,
and the interval within one run."""

from __future__ import annotations

import math

from . import statistics

BLOCKS = 10
CORRELATED = 8  # with fewer blocks, nothing is known of how alike neighbours are
LEAST_PAIRS = statistics.LEAST
NUDGES = (0.0, -0.1, 0.1)  # see of_blocks()
ROUNDING_MS = 0.0005  # raw values are written to 0.001 ms


def quantile(ordered, q):
    """With linear interpolation, as numpy's default."""
    position = q * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def of_blocks(steps_ms, images_a_step, nudge=0.0):
    """((low, high), slack): the 95 % interval around images / mean step of ten blocks of
    consecutive steps, widened for the correlation of neighbouring blocks, and how far rounding may
    move an end of it, on the log scale. `nudge`: of the degrees of freedom before they are cut to a
    whole number; rounding may move them beyond one.
    """
    n = len(steps_ms)
    mean = sum(steps_ms) / n
    length = n // BLOCKS
    last = steps_ms[n - BLOCKS * length :]
    if mean <= 0:
        return (math.nan, math.nan), math.inf
    off = [sum(last[b * length : (b + 1) * length]) / length / mean - 1 for b in range(BLOCKS)]
    squares, inflation, degrees = _scatter(off, nudge)
    half = statistics.t_quantile(0.975, degrees) * math.sqrt(
        squares / (BLOCKS - 1) / BLOCKS * inflation
    )
    rate = 1e3 * images_a_step / mean
    # Rounding moves every block's mean by so much at most, and may move the correlation a little.
    slack = 5 * ROUNDING_MS / mean + 0.02 * half + 1e-9
    return (rate * math.exp(-half), rate * math.exp(half)), slack


def _scatter(off, nudge=0.0):
    """(sum of squares, by how much the correlation of neighbours inflates it, degrees of freedom)
    of how far each block lies off the whole."""
    n = len(off)
    squares = sum(x * x for x in off)
    correlation = 0.0
    if n >= CORRELATED and squares > 0:
        alike = sum(a * b for a, b in zip(off, off[1:])) / squares
        correlation = min(max(alike + 1 / n, 0.0), 0.9)
    inflation = (1 + correlation) / (1 - correlation)
    return squares, inflation, max(2, int((n - 1) / inflation + nudge))


def widened(interval, drawn):
    """By the share of the images that was drawn from the queue or has filled it: so far what was
    measured may be off."""
    (low, high), slack = interval
    return (low * (1 - drawn), high * (1 + drawn)), slack


def of_pairs(pairs, share):
    """((low, high), slack): the 95 % interval around the share of the ceiling of a run in pairs,
    from (steps, seconds, the ceiling's steps, its seconds) of each, and how far rounding may move
    an end of it, relative. It is that of a ratio estimator (Cochran 1977, Sampling Techniques,
    chapter 6), as the share is images over time however the blocks divide them."""
    n = len(pairs)
    whole = [sum(values) for values in zip(*pairs)]
    parts = ([part / all_ for part, all_ in zip(pair, whole)] for pair in pairs)
    squares, inflation, degrees = _scatter([a - b - c + d for a, b, c, d in parts])
    error = max(math.sqrt(n / (n - 1) * squares * inflation), statistics.RESOLUTION)
    half = statistics.t_quantile(0.975, degrees) * error
    return (share * math.exp(-half), share * math.exp(half)), 1e-8 + 1e-6 * half


def of_blocks_1(steps_ms, images_a_step):
    """The same as records of schema 1 have it: a t-interval on the mean log throughput of the
    blocks."""
    n = len(steps_ms)
    edges = [i * n // BLOCKS for i in range(BLOCKS + 1)]
    blocks = [steps_ms[a:b] for a, b in zip(edges, edges[1:])]
    if not all(block and sum(block) > 0 for block in blocks):
        return (math.nan, math.nan), math.inf
    found = statistics.estimate([1e3 * images_a_step * len(block) / sum(block) for block in blocks])
    # The mean moves by at most the largest relative rounding, the half-width by less than as much.
    slack = 2.5 * ROUNDING_MS * max(len(block) / sum(block) for block in blocks)
    return (found.low, found.high), slack + 2e-4 * math.log(found.high / found.low) + 1e-9
