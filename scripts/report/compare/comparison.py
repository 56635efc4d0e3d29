"""B beside A: a row a cell with the ratio of their images/s, its interval and the verdict."""

from __future__ import annotations

from matplotlib.ticker import FuncFormatter, MaxNLocator

from ..figures import forest, marks
from ..figures.page import Page
from ..ledger.statistics import T_INTERVAL, Estimate
from ..look import style
from ..text import clean, counted, percent, tick
from . import comparable, compare_table
from .compare_table import factor
from .verdicts import FASTER, INCOMPARABLE, SLOWER

WIDE = 4.0  # the largest ratio over the least, from which on a log scale is needed
TOLD = (FASTER, SLOWER)


def claim(found, rules):
    """How many cells are slower or faster in B, and the furthest of them."""
    compared = [c for c in found if c.rate]
    if not compared:
        return "No cell could be compared"
    slower, faster = ([c for c in compared if c.verdict == which] for which in (SLOWER, FASTER))
    cells = counted(len(compared), "cell")
    if not slower and not faster:
        return f"Of {cells} none is shown to be slower or faster in B"
    most = max(slower + faster, key=lambda c: abs(c.rate.log))
    counts = [
        f"{word} in {len(some)}" for word, some in ((SLOWER, slower), (FASTER, faster)) if some
    ]
    alone = len(slower + faster) == 1
    name = compare_table.label(most, _telling(found, rules.across))
    return (
        f"B is {' and '.join(counts)} of {cells}: {'' if alone else 'furthest, '}{name} at"
        f" {_words(most)} of A"
    )


def draw(baseline, side, found, rules, context):
    """The Comparisons of a compare.Side with the baseline; None where none has a ratio."""
    if not any(c.rate for c in found):
        return None
    telling = _telling(found, rules.across)
    names = [compare_table.label(c, telling) for c in found]
    shown = _shown(found, forest.room_for(names, context.medium))
    rows = [_row(c, telling) for c in shown]
    words = f"A: {clean(baseline.path, 90)} · B: {clean(side.path, 90)}"
    page = Page(_setting(baseline, side), claim(found, rules), context, words=words)
    drawn = [cell for c in shown if c.rate for cell in (c.pair.a, c.pair.b)]
    page.foot(drawn, _notes(found, shown, rules))
    ax = forest.draw(page, rows)
    _axis(ax, rows, rules.margin, page.narrow)
    return page


def _setting(baseline, side):
    """Whose tag the page has: an emulated device's, where there is one."""
    all_settings = [*baseline.setting_of.values(), *side.setting_of.values()]
    return next((s for s in all_settings if s.kind == "emulated"), all_settings[0])


def _shown(found, most):
    """In the order of the table; of too many those that differ before the others."""
    first = sorted(found, key=lambda c: c.verdict not in TOLD)[:most]
    chosen = {id(c) for c in first}
    return [c for c in found if id(c) in chosen]


def _telling(found, across):
    """Those of the axes compared across in which the cells do not all differ alike."""
    return tuple(axis for axis in across if len(_changes(found, axis)) > 1)


def _changes(found, axis):
    """{what the axis is in A and in B} of the pairs that it concerns."""
    pairs = [c.pair for c in found if c.pair.a and c.pair.b]
    values = {tuple(cell.said(axis) for cell in (pair.a, pair.b)) for pair in pairs}
    return {(a, b) for a, b in values if a != b}


def _row(c, telling):
    cell, name = c.pair.one, compare_table.label(c, telling)
    if not c.rate:
        return forest.Row(cell, name, None, f"{INCOMPARABLE}: {clean(c.reason, 50)}")
    invalid = any(comparable.why_invalid(one) for one in (c.pair.a, c.pair.b))
    words = f"{_words(c)} {_verdict(c)}" + (" !" if invalid else "")
    ratio = Estimate(c.rate.ratio, *c.rate.interval, c.pair.b.rate.n, T_INTERVAL)
    return forest.Row(cell, name, ratio, words, c.verdict in TOLD, invalid)


def _words(c):
    low, high = c.rate.interval
    return f"{factor(c.rate.ratio)} ({factor(low)} to {factor(high)})"


def _verdict(c):
    """In few words: the table has the others."""
    short = {"equal within the margin": "equal", "no difference seen": "not told"}
    return short.get(c.verdict, "within the margin") if c.verdict not in TOLD else c.verdict


def _axis(ax, rows, margin, is_narrow):
    low, high = forest.ends(rows)
    low, high = min(low, 1 / (1 + margin)), max(high, 1 + margin)
    ax.axvspan(1 / (1 + margin), 1 + margin, color=style.LIGHT, alpha=0.7, zorder=0.5)
    ax.axvline(1, color=style.BLACK, linewidth=style.scaled(1.0), zorder=2)
    if high > WIDE * low:
        ax.set_xscale("log")
        ax.set_xlim(low / 1.2, high * 1.2)
        marks.log_ticks(ax.xaxis, low, high)
    else:
        pad = 0.06 * (high - low)
        ax.set_xlim(low - pad, high + pad)
        ax.xaxis.set_major_locator(MaxNLocator(3 if is_narrow else 5))
        ax.xaxis.set_major_formatter(FuncFormatter(tick))
    ax.set_xlabel("images/s of B over A" + (", log scale" if high > WIDE * low else ""))


def _notes(found, shown, rules):
    notes = [
        "Ratio of the geometric means with its 95 % interval (Welch, on logarithms), not adjusted"
        " for the number of cells. In colour: shown to be slower or faster by more than the margin"
        f" of {percent(rules.margin)}, the strip. Not told: the interval holds 1."
    ]
    alike = [(axis, *change) for axis in rules.across for change in _changes(found, axis)]
    alike = [change for change in alike if change[0] not in _telling(found, rules.across)]
    if alike:
        words = ", ".join(f"{clean(axis, 40)} {a} → {b}" for axis, a, b in alike)
        notes.append(f"From A to B: {words}.")
    if len(shown) < len(found):
        notes.append(f"{counted(len(found) - len(shown), 'more row')}: in the table.")
    return notes
