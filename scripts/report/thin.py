"""Long series made short enough for a page: the least and the largest value of every bucket stay,
so that no spike is lost; what lies between is left out."""

from __future__ import annotations

from . import ledger


def min_max(values, most):
    """(places, values): all of them where there are at most `most`, else two of every bucket in
    their order. What is no finite number is None; it keeps a place only where nothing is thinned.
    """
    whole = ledger.numbers(values)
    if not whole:
        values = [ledger.number(v) for v in values]
    if len(values) <= most:
        return list(range(len(values))), list(values)
    places, buckets = [], max(most // 2, 1)
    for n in range(buckets):
        begin, end = n * len(values) // buckets, (n + 1) * len(values) // buckets
        here = values[begin:end]
        known = here if whole else [v for v in here if v is not None]
        if known:
            places += sorted({begin + here.index(min(known)), begin + here.index(max(known))})
    return places, [values[place] for place in places]


def steps_of(places):
    """The differences of rising places: shorter to write down."""
    return [b - a for a, b in zip([0] + places, places)]


def allowance(budget, series, least, most):
    """How many values each of so many series may keep."""
    return max(least, min(most, budget // max(series, 1)))
