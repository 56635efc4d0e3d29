"""How busy the device seems to be beside the share of its ceiling that it reaches: a busy device
may be a slow one."""

from dataclasses import dataclass, replace

from matplotlib.lines import Line2D
from matplotlib.transforms import Bbox

from ..claims import panels
from ..ledger import ledger, statistics
from ..look import style
from ..text import plain, spread
from . import findings, marks
from .page import page_of

# of a name beside its point: points to the right, and lines up
PLACES = [(dx, lines) for lines in (0, -1, 1, -2, -3) for dx in (8, -8)]
GAP = 0.05  # between the two, from which on the utilisation misleads
LEAST = 2  # cells
SERIES = 6  # in a legend: of more, the names beside the points tell


@dataclass(frozen=True)
class Point:
    cell: object
    busy: object  # Estimate of the share of the time in which the device seems busy
    is_monitored: bool  # by the driver of the GPU, as nvidia-smi does


def claim(plan, claims):
    """The cell whose device is much busier than it is fast; "" where none is shown to be."""
    points = _points(plan.setting, plan.gpus)
    trap = _trap(points, claims)
    if not trap:
        return ""
    # the most extreme of several: its own intervals would promise too much
    share = statistics.widened(claims.loss(trap.cell).share, len(points))
    busy = statistics.widened_mean(trap.busy, len(points))
    busy = replace(busy, low=max(busy.low, 0.0), high=min(busy.high, 1.0))
    words = f"The device is {spread(busy)} busy at {spread(share)} of the ceiling"
    left = findings.not_judged([p.cell for p in points], claims)
    return f"{words}: {panels.name(trap.cell)}{left}"


def draw(setting, gpus, context):
    points = _points(setting, gpus)
    trap = _trap(points, context.claims)
    if not trap:  # all on the diagonal: the share alone says it, in its own figure
        return None
    page = page_of("au_vs_share", setting, gpus, context)
    series = style.series_of([p.cell for p in points])
    look_of = {(s.data, s.variant): s.look for s in series}
    samples = [Line2D([], [], linestyle="none", **style.marker(s.look)) for s in series]
    if len(series) <= SERIES:
        page.legend([(sample, s.label) for sample, s in zip(samples, series)])
    page.foot([p.cell for p in points], _notes(points))
    # a square one reads best: what lies above the diagonal is as far from it as what lies below
    sides = dict(left=0.12, right=0.97) if page.narrow else dict(left=0.31, right=0.69)
    (ax,) = page.panels(1, tall=2.4, **sides)
    top = max(1.0, *(p.cell.ratio.high or p.cell.ratio.mean for p in points))
    ax.plot([0, top], [0, top], color=style.GREY, linewidth=style.scaled(1.0), zorder=1.5)
    for point in points:
        _point(ax, point, look_of[point.cell.data, point.cell.variant])
    ax.set_xlim(0, 1.03 * top)
    ax.set_ylim(0, 1.03 * top)
    marks.ticks(ax.xaxis, 100)
    marks.ticks(ax.yaxis, 100)
    ax.set_xlabel("% of the ceiling")
    ax.set_title("device busy, %", loc="left")
    _name_all(page, ax, points, trap)
    return page


def _points(setting, gpus):
    """The cells at the workers chosen whose ceiling and utilisation are known."""
    cells = panels.places(panels.at_gpus(setting, gpus))
    return [point for c in cells if c.rate and c.ratio and (point := _of(c))]


def _of(cell):
    """The utilisation by the driver where all runs have it, else by the device's own steps."""
    for is_monitored, share_of in ((True, _monitored), (False, _working)):
        values = [list(map(share_of, runs)) for runs in cell.runs_by_repetition.values()]
        if values and all(None not in of for of in values):
            means = [sum(of) / len(of) for of in values]
            return Point(cell, statistics.mean_share(means, cell.pilot), is_monitored)
    return None


def _monitored(record):
    """Mean over the GPUs and the window; None where a GPU did not tell. In a run in pairs the
    readings are of the ceiling's blocks, too: they say nothing of the cell."""
    ranks = record.get("ranks")
    if ledger.in_pairs(record) or not isinstance(ranks, list) or not ranks:
        return None
    means = []
    for rank in ranks:
        readings = ledger.part(rank, "gpu", "utilisation_percent")
        known = [ledger.number(v) for v in readings] if isinstance(readings, list) else []
        known = [v / 100 for v in known if v is not None and 0 <= v <= 100]
        if not known:
            return None
        means.append(sum(known) / len(known))
    return sum(means) / len(means)


def _working(record):
    """What is left of the window when the device does not wait for data."""
    idle = ledger.number(record.get("device_idle_fraction"))
    return None if idle is None or not 0 <= idle <= 1 else 1 - idle


def _trap(points, claims):
    """The Point furthest above the diagonal, of those whose loss is shown and whose device is shown
    to be busier, by GAP or more; None where there is none, or fewer than LEAST Points."""
    if len(points) < LEAST:
        return None
    known = ((claims.loss(p.cell), p) for p in points if p.busy.low is not None)
    shown = ((c.share, p) for c, p in known if c.is_shown)  # nothing is of an invalid cell
    far = [(p.busy.mean - share.mean, p) for share, p in shown if p.busy.low > share.high]
    gap, furthest = max(far, key=lambda pair: pair[0], default=(0.0, None))
    return furthest if gap >= GAP else None


def _notes(points):
    count = sum(p.is_monitored for p in points)
    some = "" if count == len(points) else f" of {count} of {len(points)}"
    notes = [
        "On the line, a device is as busy as it is fast. Above it, its steps take longer than at"
        " the ceiling, and it counts as busy meanwhile."
    ]
    if count:
        notes.append(
            f"Busy{some}: as the GPU's driver reports it (nvidia-smi): the share of the time in"
            " which any kernel ran."
        )
    if some:
        notes.append("Busy, without such readings: the share of the time without waiting for data.")
    return notes


def _point(ax, point, look):
    cell, busy, share = point.cell, point.busy, point.cell.ratio
    how = dict(ecolor=look.rim, zorder=3, capsize=0)
    marks.whisker(ax, share.mean, busy.mean, busy.error_bar, share.error_bar, **how)
    how = style.marker(look, cell.share_serious)
    marks.point(ax, share.mean, busy.mean, cell, cell.share_serious, **how)


def _box(ax, point):
    """What its marker takes."""
    x, y = ax.transData.transform((point.cell.ratio.mean, point.busy.mean))
    half = style.scaled(4) / 72 * ax.figure.dpi
    return Bbox.from_extents(x - half, y - half, x + half, y + half)


def _name_all(page, ax, points, trap):
    """Each point's name where it touches no other, the trap's first: right or left of the point,
    there or a few lines off; none where there is no room."""
    renderer = page.figure.canvas.get_renderer()
    inside, taken = ax.get_window_extent(renderer), [_box(ax, p) for p in points]
    for point in sorted(points, key=lambda p: p is not trap):
        weight = "bold" if point is trap else "normal"
        at = point.cell.ratio.mean, point.busy.mean
        text = marks.say(ax, plain(panels.name(point.cell), 60), at, va="center", weight=weight)
        for dx, lines in PLACES:
            text.set_ha("right" if dx < 0 else "left")
            text.set_position((style.scaled(dx), 1.15 * lines * text.get_fontsize()))
            box = text.get_window_extent(renderer)
            is_inside = inside.contains(box.x0, box.y0) and inside.contains(box.x1, box.y1)
            if is_inside and not box.count_overlaps(taken):
                taken.append(box)
                break
        else:
            text.remove()
