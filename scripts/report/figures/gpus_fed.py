"""How many GPUs a storage feeds: what so many need, what was delivered to them, and their
utilisation."""

import math
from collections import Counter

from matplotlib import rcParams
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullLocator

from ..claims import memory_limit, panels
from ..claims import utilisation as au
from ..claims.claims import LOOK
from ..ledger import statistics
from ..look import style
from ..text import amount, counted, plus_minus, spread, tick
from . import findings, marks
from .page import page_of

LEVEL = au.LEAST
STRIP = f"95 % interval of the most GPUs that keep {100 * LEVEL:.0f} %"
AT_LEVEL = f"at an AU of {100 * LEVEL:.0f} % or more"
ABOUT = (
    "Emulated GPUs: no result of MLPerf Storage or any consortium's benchmark. AU: the share of the"
    " window in which they compute, averaging gradients left out of both."
)
LIMITS = {
    memory_limit.STORAGE: "",
    memory_limit.MACHINE: ": this machine is the limit, the storage may feed more",
    memory_limit.NOT_CLEAR: ": whether it or this machine is the limit is not clear",
    "": ", read by this machine",
}
NEEDED = dict(color=style.GREY, linestyle=(0, (1, 1)))
MEMORY = dict(color=style.BLACK, linestyle=(0, (6, 3)))
FAR = 1.6  # times what is drawn else: beyond, the machine's limit is said at the edge


def claim(plan, claims):
    """With how many GPUs the utilisation holds, as far as no serious flag forbids to say it and the
    numbers on both sides of the answer were repeated; "" where no number of GPUs is known."""
    lines = au.lines(plan.setting)
    valid = [line for line in lines if not au.is_serious(line.cells)]
    told = [line for line in valid if au.is_repeated(line.unbroken)]
    if not told:
        look = f"{plan.figure.title}: {LOOK}" if valid else findings.NOTHING
        return look if lines else ""
    left = dict.fromkeys(
        f"{line.name} ({'not repeated' if line in valid else 'not valid'})"
        for line in lines
        if line not in told
    )
    if len(lines) == 1:
        words = _of_one(told[0], plan.setting.memory)
    else:
        each = dict.fromkeys(f"{line.name}: {_fed(line).words}" for line in told)
        words = f"AU of {100 * LEVEL:.0f} % or more: {'; '.join(each)} (emulated)"
    return words + (f"; not judged: {', '.join(left)}" if left else "")


def draw(setting, gpus, context):
    """`gpus` is None: the figure is over their number."""
    lines = au.lines(setting)
    if all(au.is_serious([cell]) for cell in _cells(lines)):
        return None
    page = page_of("gpus_fed", setting, gpus, context)
    looks, memory = _looks(lines), setting.memory
    answer = _fed(lines[0]) if len(lines) == 1 else None
    has_strip = bool(answer and answer.gpus and answer.starved is not None)
    _legend(page, lines, looks, memory, has_strip)
    page.foot(_footed(lines), _notes(lines, memory))
    axes = page.panels(2, wide=0.8, columns=1, right=0.89 if page.narrow else 0.955)
    numbers = sorted({c.gpus for c in _cells(lines)})
    for ax in axes:
        _frame(ax, numbers, answer)
        if has_strip:
            half = 0.012 * numbers[-1]  # one number has a width, too
            ax.axvspan(answer.low - half, answer.high + half, color=style.LIGHT, zorder=0.4)
    _delivered(axes[0], lines, looks, memory)
    axes[0].set_title("images/s", loc="left")
    _utilisation(axes[1], lines, looks)
    axes[1].set_title("AU, %", loc="left")
    page.name_below("emulated GPUs")
    return page


def _fed(line):
    return au.fed(line.unbroken)


def _cells(lines):
    """Each once: tensors have no stored size, and are in the lines of all."""
    return list({id(c): c for line in lines for c in line.cells}.values())


def _footed(lines):
    """Those that the answer rests on, and what must be warned of. A search runs the numbers on its
    way once: few runs of those are no look."""
    cells = _cells(lines)
    if not _is_searched(lines):
        return cells
    return [c for c in cells if not c.rate or c.serious or c.rate.n >= statistics.LEAST]


def _is_searched(lines):
    return all(au.is_repeated(line.unbroken) for line in lines)


def _looks(lines):
    """Each line's, in the colour of its kind; further sizes of a kind lighter or darker."""
    seen, looks = Counter(), []
    for line in lines:
        looks.append(style.variant_of(line.series.look, seen[line.series]))
        seen[line.series] += 1
    return looks


def _of_one(line, memory):
    """What feeds how many, and whether it is the limit: what was measured is storage and machine
    together."""
    fed = _fed(line)
    words = f"{line.source} feeds {fed.words} {AT_LEVEL} (emulated)"
    return words + (LIMITS[memory_limit.of_line(memory, line)[0]] if fed.starved else "")


def _notes(lines, memory):
    cells, notes = _cells(lines), [ABOUT]
    if len(lines) > 1:
        parts = [f"{n.name} {_fed(n).words}{' !' * au.is_serious(n.cells)}" for n in lines]
        notes.append(f"Fed by the medians of the runs: {', '.join(dict.fromkeys(parts))}.")
    if memory:
        invalid = " (invalid: not to be quoted)" if memory.is_serious else ""
        notes.append(
            f"From memory alone, the loaders of {memory.gpus} GPUs on this machine manage"
            f" {spread(memory.rate, amount)} images/s{invalid}: no storage gives more here."
        )
    else:
        notes.append("What the machine manages from memory was not measured: it may be the limit.")
    if any(c.rate and c.rate.n < statistics.LEAST for c in cells) and _is_searched(lines):
        notes.append("Numbers of GPUs on the way to the answer were run once or twice.")
    if any(map(au.is_corrected, cells)):
        notes.append(f"{au.CORRECTED}: corrected for.")
    reasons = Counter(why for cell in cells for run in cell.runs if (why := au.lacks(run)))
    notes += [f"{counted(count, 'run')} left out: {why}." for why, count in sorted(reasons.items())]
    if any(line.cells[0].how for line in lines):
        chosen = {(line.size, line.series): line.cells for line in lines}
        notes.append(panels.workers_used(chosen))
    return notes


def _legend(page, lines, looks, memory, has_strip):
    handles, look = [], looks[0] if len(lines) == 1 else style.OTHER
    if len(lines) > 1:
        handles = [(marks.sample(look), line.name) for line, look in zip(lines, looks)]
    handles += [
        (Line2D([], [], linewidth=style.scaled(2), **NEEDED), "needed"),
        (Line2D([], [], linestyle="none", **_run_look(look)), "a run"),
        (marks.sample(look), "median of the runs"),
    ]
    if has_strip:
        handles.append((Patch(color=style.LIGHT), STRIP))
    if memory:
        handles.append((Line2D([], [], **MEMORY), "from memory"))
    page.legend(handles)


def _run_look(look):
    """On the median: a run that is like it shows too."""
    how = dict(marker="o", color=look.rim, markerfacecolor=style.lighter(look.rim, 0.75))
    return dict(how, markersize=style.scaled(4), markeredgewidth=style.scaled(0.7), zorder=5)


def _delivered(ax, lines, looks, memory):
    for line, look in zip(lines, looks):
        needed = [statistics.median(list(map(au.demand, c.records))) for c in line.counts]
        how = {**NEEDED, **({"color": look.rim} if len(lines) > 1 else {})}
        ax.plot([c.gpus for c in line.counts], needed, linewidth=style.scaled(2), zorder=2, **how)
        _points(ax, line, look, [list(map(au.sustained, c.records)) for c in line.counts])
    _, top = ax.get_ylim()
    ax.set_ylim(0, _memory(ax, memory.rate, top) if memory else top)
    ax.yaxis.set_major_formatter(FuncFormatter(tick))


def _memory(ax, rate, top):
    """The line of what memory gives; where it lies far above all else, its number at the upper
    edge. Gives the upper limit of the axis."""
    if rate.mean > FAR * top:
        words = f"↑ from memory: {plus_minus(rate)}"
        marks.say(ax, words, (0.012, 0.97), xycoords="axes fraction", va="top")
        return 1.12 * top
    ax.axhline(rate.mean, linewidth=style.scaled(1.4), **MEMORY)
    if rate.low is not None:
        ax.axhspan(rate.low, rate.high, color=style.LIGHT, alpha=0.6, zorder=0.5)
    return max(top, 1.08 * (rate.high or rate.mean))


def _utilisation(ax, lines, looks):
    for line, look in zip(lines, looks):
        _points(ax, line, look, [[100 * share for share in c.shares] for c in line.counts])
        for cell in (c for c in line.cells if not c.rate):
            marks.missing(ax, cell.gpus, look.rim)
    ax.axhline(100 * LEVEL, color=style.EDGE, linewidth=style.scaled(1.1), zorder=1.5)
    marks.say_beside(ax, f"{100 * LEVEL:.0f} %", 1, 100 * LEVEL, (4, 0), color=style.EDGE)
    shares = [share for line in lines for c in line.counts for share in c.shares]
    bottom = 10 * math.floor(10 * min(*shares, LEVEL) - 0.5)
    ax.set_ylim(max(0, bottom), 100 * max(*shares, 1.0) + 3)
    marks.ticks(ax.yaxis)


def _points(ax, line, look, values):
    """Each run, and their median: hollow and with ! where a flag is serious."""
    medians, numbers = list(map(statistics.median, values)), [c.gpus for c in line.counts]
    ax.plot(numbers, medians, linestyle=look.line, color=look.rim, zorder=3)
    for count, runs, median in zip(line.counts, values, medians):
        ax.plot([count.gpus] * len(runs), runs, linestyle="none", **_run_look(look))
        how = style.marker(look, count.cell.serious)
        marks.point(ax, count.gpus, median, count.cell, count.cell.serious, **how)


def _frame(ax, numbers, answer):
    """The same scale of GPUs in each panel: not logarithmic, as the numbers around the answer are
    the ones to tell apart."""
    ax.set_xlim(min(0, numbers[0] - 0.03 * numbers[-1]), 1.07 * numbers[-1])
    ax.xaxis.set_minor_locator(NullLocator())
    first = [answer.gpus] if answer else []
    said = _apart(ax, numbers, [*first, numbers[-1], numbers[0]])
    ax.set_xticks(numbers, [str(n) if n in said else "" for n in numbers])


def _apart(ax, numbers, first):
    """Those of the numbers whose words do not touch, `first` before the others."""
    points = 72 / ax.figure.dpi  # of a dot of the canvas
    wide = 0.62 * rcParams["xtick.labelsize"]  # points of a digit
    places, said = {n: points * ax.transData.transform((n, 1))[0] for n in numbers}, []
    for n in [n for n in first if n in places] + numbers:
        far = (abs(places[n] - places[m]) / (1 + 0.5 * len(f"{n}{m}")) for m in said if m != n)
        if all(each > wide for each in far):
            said.append(n)
    return said
