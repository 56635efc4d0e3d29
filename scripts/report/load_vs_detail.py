"""Load time against picture complexity: a panel for each kind of data, a point for each detail."""

from __future__ import annotations

from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from . import figures, load_detail, marks, style
from .page import Page, at_bottom
from .stage_times import colours_of, names_of
from .text import amount, plain, spread, tick

SENTENCE = (
    "Time that one worker spends on a picture, stage by stage, against the mean size of the files:"
    " generated pictures of one size that differ in how much there is to see"
)
STEPS = [1, 2, 2.5, 5, 10]  # between ticks


def draw(setting, gpus, context):
    series = load_detail.series(setting, gpus)
    if not series:
        return None
    page = Page(
        setting,
        figures.TITLES["load_vs_detail"],
        context,
        gpus,
        1.0 if len(series) <= 3 else 1.3,
    )
    names = names_of([point.parts for s in series for point in s.points])
    colours = colours_of(names)
    page.legend(
        [Patch(facecolor=_pale(colours[n]), edgecolor=style.EDGE) for n in names]
        + [Line2D([], [], linestyle="-", **style.marker(style.OTHER, color=style.EDGE))],
        [plain(n, 30) for n in names] + ["all stages"],
    )
    page.foot([c for s in series for c in s.cells], [_caption(series)])
    axes = page.panels(len(series), wide=0.66, columns=1 if len(series) <= 3 else 2)
    for i, (ax, s) in enumerate(zip(axes, series)):
        _panel(page, ax, s, names, colours)
        ax.set_title(plain(s.label, 70), loc="left")
        if at_bottom(axes, i):
            ax.set_xlabel("kB per file" if page.compact else "mean size of a file (kB)")
    page.sides("ms per image and worker")
    return page


def _pale(colour):
    return style.lighter(colour, 0.45)


def _caption(series):
    words = []
    for s in series:
        least, most = s.points[0], s.points[-1]
        words.append(
            f"{s.label}: {least.detail} has {amount(least.file_kb)} kB per file and takes"
            f" {spread(least.load, _ms)}, {most.detail} {amount(most.file_kb)} kB and"
            f" {spread(most.load, _ms)}"
        )
    return (
        "Areas: the stages, and what the worker waited for a CPU; they are joined between the"
        f" points. 1 kB is 1,000 bytes. {'; '.join(words)}."
    )


def _ms(value):
    return f"{amount(value)} ms"


def _panel(page, ax, series, names, colours):
    xs = [point.file_kb for point in series.points]
    times = [{name: ms for name, ms, _ in point.parts} for point in series.points]
    _areas(ax, xs, [[of.get(name, 0.0) for of in times] for name in names], names, colours)
    look = style.KINDS.get(series.data, style.OTHER)
    ax.plot(
        xs,
        [point.load.mean for point in series.points],
        color=style.marker(look)["color"],
        linestyle="-",
        linewidth=style.scaled(1.3),
        zorder=3,
    )
    marks.points(
        ax, [(point.file_kb, point.load, point.cell.serious) for point in series.points], look
    )
    tops = [max(p.load.high or 0.0, *p.load.points) for p in series.points]
    ax.set_ylim(0, (1.42 if page.compact else 1.28) * max(tops))
    span = max(xs) - min(xs) or 1.0
    ax.set_xlim(min(xs) - 0.12 * span, max(xs) + 0.12 * span)
    _name_points(page, ax, series, tops)
    ax.xaxis.set_major_locator(MaxNLocator(6, steps=STEPS))
    ax.xaxis.set_major_formatter(FuncFormatter(tick))
    ax.yaxis.set_major_locator(MaxNLocator(4 if page.compact else 6, steps=STEPS))
    ax.yaxis.set_major_formatter(FuncFormatter(tick))


def _areas(ax, xs, layers, names, colours):
    under = [0.0] * len(xs)
    order = sorted(range(len(xs)), key=lambda i: xs[i])
    for name, layer in zip(names, layers):
        over = [a + b for a, b in zip(under, layer)]
        ax.fill_between(
            [xs[i] for i in order],
            [under[i] for i in order],
            [over[i] for i in order],
            facecolor=_pale(colours[name]),
            edgecolor=style.EDGE,
            linewidth=style.scaled(0.5),
            zorder=2,
        )
        under = over


def _name_points(page, ax, series, tops):
    """The details above their points; a name that would meet the one before stands above it."""
    renderer, taken = page.figure.canvas.get_renderer(), []
    order = sorted(range(len(tops)), key=lambda i: series.points[i].file_kb)
    for i in order:
        point, up = series.points[i], 8.0
        words = ax.annotate(
            plain(point.detail, 20),
            (point.file_kb, tops[i]),
            (0, style.scaled(up)),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=style.pt(style.SMALL),
            zorder=6,
        )
        while up < 60 and any(words.get_window_extent(renderer).overlaps(box) for box in taken):
            up += 5.0
            words.set_position((0, style.scaled(up)))
        taken.append(words.get_window_extent(renderer))
