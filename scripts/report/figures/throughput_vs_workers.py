"""Throughput against loader workers, or the axis that was varied instead: a panel per stored size,
a line per kind of data, and the workers from which on more gain next to nothing."""

import math
from collections import Counter
from dataclasses import dataclass

from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullLocator

from ..claims import knee, panels
from ..claims.claims import MARGIN_WORDS
from ..ledger.cells import DRIFTED
from ..ledger.varied import WORKERS, Scale, over
from ..look import style
from ..text import plain, plus_minus, spread, tick
from . import figures, findings, marks
from .page import Page

ALIKE = 0.01  # relative: nobody can tell such rates apart in a figure
# Points, by which a line and its markers are wider than the same line on it; all of them together.
WIDER, WIDEST = 4, 12


@dataclass(frozen=True)
class Curve:
    """A series in a panel."""

    series: object
    cells: list  # in the order of their places
    knee: object  # Knee or None
    wider: float  # points, than the lines on it that nobody can tell from it


def claim(plan, claims):
    """What is lost, and from how many workers on more of them do not help the worst."""
    return findings.of_places(plan, claims, lambda *given: _loses(plan, *given))


def _loses(plan, cells, claims):
    cell, claim, count, known = findings.worst(cells, claims.loss)
    if not cell:
        return findings.none(known)
    name, loss = findings.name(cell), spread(claim.loss)
    words = f"{name} loses {loss} of the ceiling"
    if len(known) > 1:
        name = name if count == 1 else f"the largest measured, {name},"
        words = f"A loss is shown for {count} of {len(known)} kinds and sizes: {name} loses {loss}"
    axis, line = over(panels.at_gpus(plan.setting, plan.gpus))
    same = [c for c in line if panels.series_key(c) == panels.series_key(cell)]
    found = knee.of(same) if axis == WORKERS and plan.gpus else None
    return f"{words}; {found.words}" if found else words


def draw(setting, gpus, context):
    axis, cells = over(panels.at_gpus(setting, gpus))
    if not panels.any_valid(cells):
        return None
    scale, log = Scale(axis, cells), _wants_log(cells)
    sizes, series = panels.image_sizes(cells), style.series_of(cells)
    title = _title(axis, findings.title("throughput_vs_workers", setting, gpus, context.claims))
    large = 1.0 if len(sizes) <= 3 else 1.2 if len(sizes) == 4 else 1.5
    page = Page(setting, title, context, gpus, large)
    inside = [panels.in_panel(cells, size) for size in sizes]
    curves = [_curves(some, series, axis, scale) for some in inside]
    known = [curve for row in curves for curve in row]
    handles = [(marks.sample(s.look), s.label) for s in series]
    ceiling = Line2D([], [], color="black", linestyle=style.KINDS["synthetic"].line)
    handles.append((ceiling, "ceiling (synthetic)"))
    if any(c.knee and c.knee.is_reached for c in known):
        handles.append((Line2D([], [], linestyle="none", **_ring(style.GREY, 10)), "knee"))
    page.legend(handles)
    page.foot(cells, _notes(known) + panels.shares_the_cpu(cells))
    shared = len({id(c.ceiling) for c in cells if c.ceiling}) <= 1
    right = 0.865 if page.narrow else 0.925  # free for the axis of the shares
    axes = page.panels(len(sizes), right=right, wide=0.42 if shared else 1.15)
    for ax, some, row, size in zip(axes, inside, curves, sizes):
        _panel(ax, some, scale, log)
        for below, curve in zip(reversed(range(len(row))), row):
            _line(ax, curve, scale, below)
        _rings(ax, row, scale)
        ax.set_title(plain(panels.panel_title(size, setting)), loc="left")
    if shared:
        marks.share_heights(axes)
    for ax, some in zip(axes, inside):
        if not shared or ax.get_subplotspec().is_last_col() or ax is axes[-1]:
            _share_axis(ax, some, log)
    per_gpu = axis == WORKERS and setting.kind != "cpu"
    page.name_below("workers per GPU" if per_gpu else plain(axis, 40))
    shares = "% of ceiling" if any(c.ceiling for c in cells) else ""
    page.sides("images per second" + (", log scale" if log else ""), shares)
    return page


def _title(axis, claimed):
    usual = figures.NAMED["throughput_vs_workers"].title
    return claimed if axis == WORKERS else claimed.replace(usual, f"Throughput against {axis}")


def _curves(cells, series, axis, scale):
    """In the order in which they are drawn."""
    lines = [sorted(panels.of_series(cells, s), key=scale.place) for s in series]
    depths = [0] * len(lines)
    for i, line in reversed(list(enumerate(lines))):
        above = zip(lines[i + 1 :], depths[i + 1 :])
        on_it = (depth for other, depth in above if _are_alike(line, other, scale))
        depths[i] = 1 + max(on_it, default=-1)
    step = min(WIDER, WIDEST / max(1, *depths))
    knees = [knee.of(line) if axis == WORKERS else None for line in lines]
    return [Curve(*of, step * depth) for *of, depth in zip(series, lines, knees, depths)]


def _notes(curves):
    """From how many workers on more of them gain nothing that matters; what lies on each other."""
    words = [f"{panels.kind(c.cells[0])}, {c.knee.words}" for c in curves if c.knee]
    words = "; ".join(dict.fromkeys(words))
    notes = [f"Knee: more workers gain less than {MARGIN_WORDS}. {words}."] if words else []
    alike = "Of lines that lie on each other, those below are wider."
    return notes + [alike] * any(c.wider for c in curves)


def _wants_log(cells):
    """A linear axis from zero, unless the ceiling would press the data into the bottom."""
    rates = [c.rate.mean for c in cells if c.rate]
    top = max(rates + [c.ceiling.rate.mean for c in cells if c.ceiling])
    return top > 12 * sorted(rates)[len(rates) // 2]


def _panel(ax, cells, scale, log):
    values = [c.rate.mean + c.rate.error_bar[1] for c in cells if c.rate]
    ceiling = next((c.ceiling for c in cells if c.ceiling), None)
    top = max(values + ([ceiling.rate.mean] if ceiling else []), default=1)
    if log:
        bottom = min((c.rate.mean - c.rate.error_bar[0] for c in cells if c.rate), default=1)
        ax.set_yscale("log")
        ax.set_ylim(bottom / 2, top * (top / bottom) ** 0.22)
        marks.log_ticks(ax.yaxis, *ax.get_ylim())
    else:
        ax.set_ylim(0, top * 1.18)
        ax.yaxis.set_major_formatter(FuncFormatter(tick))
    if ceiling:
        _ceiling(ax, ceiling)
    taken = Counter()
    for cell in (c for c in cells if not c.rate):
        place = scale.place(cell)
        colour = style.KINDS.get(cell.data, style.OTHER).rim
        marks.missing(ax, place, colour, taken[place])
        taken[place] += 1
    _ticks(ax, scale)


def _are_alike(one, other, scale):
    rates = {scale.place(c): c.rate.mean for c in one if c.rate}
    both = [(rates.get(scale.place(c)), c.rate.mean) for c in other if c.rate]
    both = [(a, b) for a, b in both if a is not None]
    return bool(both) and all(abs(a - b) <= ALIKE * max(a, b) for a, b in both)


def _line(ax, curve, scale, below):
    look, done = curve.series.look, [(scale.place(c), c) for c in curve.cells]
    for apart in (False, True):
        part = [(x, c) for x, c in done if scale.stands_apart(c) == apart]
        # A missing cell breaks the line instead of being bridged.
        rates = [c.rate.mean if c.rate else math.nan for _, c in part]
        how = dict(linestyle=look.line, color=look.rim, zorder=3)
        how |= dict(linewidth=style.scaled(2 + curve.wider)) if curve.wider else {}
        ax.plot([x for x, _ in part], rates, **how)
    done = [(x, c, c.rate, c.serious) for x, c in done if c.rate]
    marks.points(ax, done, look, below, curve.wider)


def _rings(ax, curves, scale):
    """Around the point of each knee and the widest marker; of several at one place each ring a
    little larger. Nothing where the rate may still rise."""
    taken, near = [], 0.03 * ax.get_ylim()[1]
    size = 14 + max(curve.wider for curve in curves)
    for curve in (c for c in curves if c.knee and c.knee.is_reached):
        cell = next(c for c in curve.cells if c.workers == curve.knee.workers)
        x, y = scale.place(cell), cell.rate.mean
        nth = sum(x == far and abs(y - high) < near for far, high in taken)
        taken.append((x, y))
        ax.plot([x], [y], **_ring(curve.series.look.rim, size + 3 * nth))


def _ring(colour, size):
    """Larger than the hollow marker of an invalid cell, and around a full one."""
    edge = dict(markersize=style.scaled(size), markeredgewidth=style.scaled(1.3))
    return dict(marker="o", color=colour, markerfacecolor="none", zorder=3.2, clip_on=False, **edge)


def _ceiling(ax, ceiling):
    how = dict(linestyle=style.KINDS["synthetic"].line, linewidth=style.scaled(1.6), zorder=2)
    marks.link([ax.axhline(ceiling.rate.mean, color="black", **how)], ceiling)
    mark = " !" if ceiling.serious else f" ({DRIFTED})" if ceiling.drifted else ""
    # In the strip that the limits leave free above every point and its error bar.
    box = dict(facecolor="white", edgecolor="none", pad=1.0)
    words = f"ceiling {plus_minus(ceiling.rate)}{mark}"
    marks.say(ax, words, (0.012, 0.985), va="top", xycoords="axes fraction", bbox=box)


def _ticks(ax, scale):
    places = scale.places
    span = max(places[-1] - places[0], 1)
    labels, last = [], -math.inf
    for place, words in zip(places, scale.words):
        room = place - last >= span * 0.075
        labels.append(plain(words, 20) if room else "")
        last = place if room else last
    ax.set_xticks(places, labels)
    ax.xaxis.set_minor_locator(NullLocator())
    pad = 0.08 * span if len(places) > 1 else 0.5
    ax.set_xlim(places[0] - pad, places[-1] + pad)
    if scale.has_none_apart:
        middle = (places[0] + places[1]) / 2
        ax.axvline(middle, color=style.LIGHT, linewidth=style.scaled(4), zorder=0)


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
