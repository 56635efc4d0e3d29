"""Throughput against loader workers, or the axis that was varied instead: a panel per stored size,
a line per kind of data."""

from __future__ import annotations

import math

from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullLocator

from . import figures, findings, marks, panels, style
from .cells import DRIFTED
from .page import Page, at_bottom
from .text import plain, plus_minus, tick
from .varied import Scale, over


def claim(plan, claims):
    return findings.of_places(plan, claims)


def draw(setting, gpus, context):
    axis, cells = over(panels.at_gpus(setting, gpus))
    if not panels.any_valid(cells):
        return None
    scale = Scale(axis, cells)
    sizes, series = panels.image_sizes(cells), style.series_of(cells)
    page = Page(setting, _title(axis), context, gpus, _size(len(sizes)))
    handles = [Line2D([], [], linestyle=s.look.line, **style.marker(s.look)) for s in series]
    page.legend(
        handles + [Line2D([], [], color="black", linestyle=style.KINDS["synthetic"].line)],
        [s.label for s in series] + ["ceiling (synthetic)"],
    )
    page.foot(cells, panels.shares_the_cpu(cells))
    log = _wants_log(cells)
    shared = len({id(c.ceiling) for c in cells if c.ceiling}) <= 1
    axes = page.panels(len(sizes), right_axis=True, wide=0.42 if shared else 1.15)
    for ax, size in zip(axes, sizes):
        _panel(ax, panels.in_panel(cells, size), series, scale, log)
        ax.set_title(plain(panels.panel_title(size, setting)), loc="left")
    if shared:
        low = min(ax.get_ylim()[0] for ax in axes)
        high = max(ax.get_ylim()[1] for ax in axes)
        for ax in axes:
            ax.set_ylim(low, high)
    first_column = {id(ax) for ax in axes if ax.get_subplotspec().is_first_col()}
    for i, ax in enumerate(axes):
        last = ax.get_subplotspec().is_last_col() or i == len(axes) - 1
        if shared and id(ax) not in first_column:
            ax.tick_params(labelleft=False)
        if last or not shared:
            _share_axis(ax, panels.in_panel(cells, sizes[i]), log)
        if at_bottom(axes, i):
            per_gpu = axis == "workers" and setting.kind != "cpu"
            ax.set_xlabel("workers per GPU" if per_gpu else plain(axis, 40))
    page.sides(
        "images per second" + (", log scale" if log else ""),
        "% of ceiling" if any(c.ceiling for c in cells) else "",
    )
    return page


def _title(axis):
    usual = figures.NAMED["throughput_vs_workers"].title
    return usual if axis == "workers" else f"Throughput against {axis}"


def _size(count):
    return 1.0 if count <= 3 else 1.2 if count == 4 else 1.5


def _wants_log(cells):
    """A linear axis from zero, unless the ceiling would press the data into the bottom."""
    rates = [c.rate.mean for c in cells if c.rate]
    top = max(rates + [c.ceiling.rate.mean for c in cells if c.ceiling])
    return top > 12 * sorted(rates)[len(rates) // 2]


def _panel(ax, cells, series, scale, log):
    for s in series:
        mine = sorted(panels.of_series(cells, s), key=scale.place)
        _line(ax, mine, s.look, scale)
    values = [c.rate.mean + c.rate.error_bar[1] for c in cells if c.rate]
    ceiling = next((c.ceiling for c in cells if c.ceiling), None)
    top = max(values + ([ceiling.rate.mean] if ceiling else []), default=1)
    if log:
        bottom = min((c.rate.mean - c.rate.error_bar[0] for c in cells if c.rate), default=1)
        ax.set_yscale("log")
        ax.set_ylim(bottom / 2, top * (top / bottom) ** 0.22)
        marks.log_ticks(ax.yaxis, *ax.get_ylim())
    else:
        ax.set_ylim(0, top * 1.13)
        ax.yaxis.set_major_formatter(FuncFormatter(tick))
    if ceiling:
        _ceiling(ax, ceiling)
    _missing(ax, cells, scale)
    _ticks(ax, scale)


def _line(ax, cells, look, scale):
    done = [(scale.place(c), c) for c in cells]
    apart = [scale.stands_apart(c) for c in cells]
    for part in ([p for p, a in zip(done, apart) if not a], [p for p, a in zip(done, apart) if a]):
        # A missing cell breaks the line instead of being bridged.
        ax.plot(
            [x for x, _ in part],
            [c.rate.mean if c.rate else math.nan for _, c in part],
            linestyle=look.line,
            color=style.marker(look)["color"],
            zorder=3,
        )
    marks.points(ax, [(x, c, c.rate, c.serious) for x, c in done if c.rate], look)


def _ceiling(ax, ceiling):
    line = ax.axhline(
        ceiling.rate.mean,
        color="black",
        linestyle=style.KINDS["synthetic"].line,
        linewidth=style.scaled(1.6),
        zorder=2,
    )
    marks.link([line], ceiling)
    mark = " !" if ceiling.serious else f" ({DRIFTED})" if ceiling.drifted else ""
    # In the strip that the limits leave free above every point and its error bar.
    ax.annotate(
        f"ceiling {plus_minus(ceiling.rate)}{mark}",
        (0.012, 0.985),
        va="top",
        xycoords="axes fraction",
        fontsize=style.pt(style.SMALL),
        zorder=6,
        bbox=dict(facecolor="white", edgecolor="none", pad=1.0),
    )


def _missing(ax, cells, scale):
    """A cross on the axis in the colour of the series; several at one place stand side by side."""
    taken = {}
    for cell in (c for c in cells if not c.rate):
        nth = taken[scale.place(cell)] = taken.get(scale.place(cell), -1) + 1
        look = style.KINDS.get(cell.data, style.OTHER)
        ax.annotate(
            "×",
            (scale.place(cell), 0),
            (0, style.scaled(5 + 11 * nth)),
            ha="center",
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            fontsize=style.pt(13),
            weight="bold",
            color=style.marker(look)["color"],
        )


def _ticks(ax, scale):
    places = scale.places
    span = max(places[-1] - places[0], 1)
    labels, last = [], -math.inf
    for place, words in zip(places, scale.words):
        room = place - last >= span * 0.075
        labels.append(plain(words, 20) if room else "")
        last = place if room else last
    ax.set_xticks(places)
    ax.set_xticklabels(labels)
    ax.xaxis.set_minor_locator(NullLocator())
    pad = 0.08 * span if len(places) > 1 else 0.5
    ax.set_xlim(places[0] - pad, places[-1] + pad)
    if scale.has_none_apart:
        ax.axvline(
            (places[0] + places[1]) / 2, color=style.LIGHT, linewidth=style.scaled(4), zorder=0
        )


def _share_axis(ax, cells, log):
    ceiling = next((c.ceiling for c in cells if c.ceiling), None)
    if not ceiling:
        return
    whole = ceiling.rate.mean / 100
    right = ax.secondary_yaxis("right", functions=(lambda y: y / whole, lambda p: p * whole))
    right.spines["right"].set_visible(True)
    right.yaxis.set_major_formatter(FuncFormatter(tick))
    right.yaxis.set_minor_locator(NullLocator())
    if not log:
        right.set_yticks([0, 20, 40, 60, 80, 100])
