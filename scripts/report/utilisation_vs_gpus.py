"""Utilisation against the number of emulated GPUs, and with how many it holds; in a second panel,
what is read beside what so many need."""

from __future__ import annotations

import math
from collections import Counter

from matplotlib import rcParams
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from . import figures, findings, marks, over_gpus, style, utilisation
from .claims import LOOK
from .page import Page, at_bottom
from .text import plain, stored_at, tick

LEVELS = (utilisation.BETTER, utilisation.LEAST)
MB = 1e6
ABOUT = (
    "AU: the share of the window in which the GPUs compute, averaging gradients left out of both;"
    " MLPerf Storage takes it over a whole run but for the first step's reading. The GPUs are"
    " emulated: this is no result of that or any consortium's benchmark."
)
NEEDS = (
    "MB/s of all workers and GPUs together; 1 MB is 1,000,000 bytes. Needed: GPUs × images/s of one"
    " × mean size of a file."
)
NEEDED = dict(color=style.GREY, linestyle=(0, (1, 1)))


def claim(plan, _):
    """With how many GPUs the utilisation holds, as far as no serious flag forbids to say it and the
    numbers on both sides of an answer were repeated; "" where no number of GPUs is known."""
    lines = utilisation.lines(plan.setting)
    valid = [line for line in lines if not utilisation.is_serious(line.cells)]
    told = [line for line in valid if utilisation.is_repeated(line.unbroken)]
    if not told:
        look = f"{plan.figure.title}: {LOOK}" if valid else findings.NOTHING
        return look if lines else ""
    words = dict.fromkeys(
        f"{line.name}: AU of "
        + ", of ".join(
            f"{100 * level:.0f} % or more: {line.words(level)}" for level in LEVELS[::-1]
        )
        for line in told
    )
    left = dict.fromkeys(
        f"{line.name} ({'not repeated' if line in valid else 'not valid'})"
        for line in lines
        if line not in told
    )
    said = "; ".join(words) + " (emulated)"
    return said + (f"; not judged: {', '.join(left)}" if left else "")


def draw(setting, gpus, context):
    lines = utilisation.lines(setting)
    if all(utilisation.is_serious([cell]) for cell in _cells(lines)):
        return None
    page = Page(setting, figures.NAMED["utilisation_vs_gpus"].title, context)
    sizes = list(dict.fromkeys(line.size for line in lines))
    reads = len(sizes) == 1 and all(c.read and c.needed for line in lines for c in line.counts)
    alone = len(lines) == 1
    _legend(page, lines, reads)
    page.foot(_cells(lines), _notes(lines, sizes, reads))
    axes = _panels(page, len(sizes), reads, alone)
    told = [c for line in lines for c in line.counts] + [c for c in _cells(lines) if not c.rate]
    numbers = sorted({c.gpus for c in told})
    first = [utilisation.held(lines[0].unbroken, level).gpus for level in LEVELS if alone]
    for i, ax in enumerate(axes):
        _frame(ax, numbers, first)
        if at_bottom(axes, i):
            ax.set_xlabel("emulated GPUs")
    for ax, size in zip(axes, sizes):
        _utilisation(ax, [line for line in lines if line.size == size])
        _levels(ax, lines[0] if alone else None, page.narrow)
        _scale(ax, [share for line in lines for c in line.counts for share in c.shares])
        ax.set_title("AU, %" if size is None or reads else plain(stored_at(size)), loc="left")
    if reads:
        _reading(axes[-1], lines)
        axes[-1].set_title("read, MB/s", loc="left")
    else:
        page.sides("AU, %")
    return page


def _cells(lines):
    """Each once: tensors have no stored size, and are in the panels of all."""
    return list({id(c): c for line in lines for c in line.cells}.values())


def _panels(page, sizes, reads, alone):
    """With room for the words beside the level lines, right of each panel of AU."""
    if page.narrow:
        right = 0.79 if alone else 0.895
        return page.panels(sizes + reads, right=right, wide=0.8, columns=1 if reads else None)
    if reads:
        return page.panels(2, wide=1.75 if alone else 1.1)
    return page.panels(sizes, right=0.87 if alone else 0.925, wide=0.7)


def _legend(page, lines, reads):
    """Each kind of data, where there are several; then what the marks are."""
    series = list(dict.fromkeys(line.series for line in lines))
    look = series[0].look if len(series) == 1 else style.OTHER
    handles = [
        (Line2D([], [], linestyle=s.look.line, **style.marker(s.look)), s.label)
        for s in series
        if len(series) > 1
    ]
    handles += [
        (Line2D([], [], linestyle="none", **_run_look(look)), "a run"),
        (Line2D([], [], linestyle=look.line, **style.marker(look)), "median of the runs"),
        (
            Line2D([], [], linestyle="none", **_held_look("white")),
            "most GPUs that keep 90, 95 %",
        ),
    ]
    if reads:
        handles.append((Line2D([], [], linewidth=style.scaled(2), **NEEDED), "needed"))
    page.legend([line for line, _ in handles], [label for _, label in handles])


def _colour(line):
    return style.marker(line.series.look)["color"]


def _run_look(look):
    colour = style.marker(look)["color"]
    return dict(
        marker="o",
        color=colour,
        markerfacecolor=style.lighter(colour, 0.75),
        markersize=style.scaled(4),
        markeredgewidth=style.scaled(0.7),
        zorder=5,  # on the mean: a run that is like it shows too
    )


def _held_look(colour):
    return dict(
        marker="D",
        color="black",
        markerfacecolor=colour,
        markersize=style.scaled(6.5),
        markeredgewidth=style.scaled(1.0),
        zorder=7,
        clip_on=False,
    )


def _utilisation(ax, lines):
    for line in lines:
        _points(ax, line, [(c, [100 * s for s in c.shares], 100 * c.median) for c in line.counts])
        for cell in (c for c in line.cells if not c.rate):
            marks.missing(ax, cell.gpus, _colour(line))
        for level in LEVELS:
            if most := utilisation.held(line.unbroken, level).gpus:
                colour = "white" if len(lines) == 1 else _colour(line)
                ax.plot([most], [100 * level], linestyle="none", **_held_look(colour))


def _scale(ax, shares):
    """The same for each panel of AU."""
    bottom = 10 * math.floor(10 * min(*shares, utilisation.LEAST) - 0.5)
    ax.set_ylim(max(0, bottom), 100 * max(*shares, 1.0) + 3)
    ax.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    if not ax.get_subplotspec().is_first_col():
        ax.tick_params(labelleft=False)


def _levels(ax, line, is_narrow):
    """The two lines, and beside them the answer where there is one line of data."""
    for level, place in zip(LEVELS, ("bottom", "top")):
        ax.axhline(100 * level, color=style.EDGE, linewidth=style.scaled(1.1), zorder=1.5)
        words = f"{100 * level:.0f} %"
        if line:
            words += ":\n" if is_narrow else ": "
            words += line.words(level).replace("at least", "≥")
        ax.annotate(
            words,
            (1, 100 * level),
            (style.scaled(4), style.scaled(1 if place == "bottom" else -2)),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            ha="left",
            va=place,
            fontsize=style.pt(style.SMALL),
            color=style.EDGE,
            annotation_clip=False,
        )


def _reading(ax, lines):
    """What is read, and what so many GPUs need."""
    for line in lines:
        _points(ax, line, [(c, [v / MB for v in c.read], c.read_median / MB) for c in line.counts])
        ax.plot(
            [c.gpus for c in line.counts],
            [c.needed / MB for c in line.counts],
            linewidth=style.scaled(2),
            zorder=2,
            **(NEEDED if len(lines) == 1 else {**NEEDED, "color": _colour(line)}),
        )
    ax.set_ylim(0, None)
    ax.yaxis.set_major_formatter(FuncFormatter(tick))


def _points(ax, line, places):
    """Each (Count, its runs' values, their median): hollow and with ! where a flag is serious."""
    look = line.series.look
    x = [count.gpus for count, _, _ in places]
    ax.plot(
        x, [median for _, _, median in places], linestyle=look.line, color=_colour(line), zorder=3
    )
    for count, values, median in places:
        ax.plot([count.gpus] * len(values), values, linestyle="none", **_run_look(look))
        marks.link(
            ax.plot([count.gpus], [median], **style.marker(look, count.cell.serious)), count.cell
        )
        if count.cell.serious:
            marks.exclaim(ax, count.gpus, median)


def _frame(ax, numbers, first):
    """The same scale of GPUs in each panel: not logarithmic, as the numbers around the answer are
    the ones to tell apart. Of numbers that would touch those in `first`, and then the ends, are
    said."""
    ax.set_xlim(min(0, numbers[0] - 0.03 * numbers[-1]), 1.07 * numbers[-1])
    ax.xaxis.set_minor_locator(NullLocator())
    said = _apart(ax, numbers, [*first, numbers[-1], numbers[0]])
    ax.set_xticks(numbers, [str(n) if n in said else "" for n in numbers])


def _apart(ax, numbers, first):
    """Those of the numbers whose words do not touch, `first` before the others."""
    points = 72 / ax.figure.dpi  # of a dot of the canvas
    wide = 0.62 * rcParams["xtick.labelsize"]  # points of a digit
    places, said = {n: points * ax.transData.transform((n, 1))[0] for n in numbers}, []
    for n in [n for n in first if n in places] + numbers:
        if all(
            abs(places[n] - places[m]) > wide * (1 + 0.5 * len(f"{n}{m}")) for m in said if m != n
        ):
            said.append(n)
    return said


def _notes(lines, sizes, reads):
    notes = [_answer(lines), ABOUT] + ([NEEDS] if reads else [])
    if any(map(utilisation.is_corrected, _cells(lines))):
        notes.append(
            f"{utilisation.CORRECTED}: AU is corrected for what came out of the queues' stock."
        )
    runs = (run for cell in _cells(lines) for run in cell.runs)
    reasons = Counter(why for run in runs if (why := utilisation.lacks(run)))
    notes += [
        f"{count} run{'' if count == 1 else 's'} left out: {why}."
        for why, count in sorted(reasons.items())
    ]
    if any(line.cells[0].how for line in lines):
        chosen = {(line.size, line.series): line.cells for line in lines}
        notes.append(over_gpus.workers_used(chosen, sizes))
    return notes


def _answer(lines):
    """What the diamonds say, in words."""
    parts = []
    for level in sorted(LEVELS):
        most = dict.fromkeys(
            (f"{line.name} " if len(lines) > 1 else "") + line.words(level) for line in lines
        )
        parts.append(f"of {100 * level:.0f} % or more: {', '.join(most)}")
    return f"By the medians of the runs, AU {'; '.join(parts)}."
