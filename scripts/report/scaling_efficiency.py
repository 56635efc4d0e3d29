"""Scaling efficiency: what share of its pace each GPU keeps when there are more of them."""

from __future__ import annotations

from matplotlib.ticker import FuncFormatter, NullLocator

from . import figures, marks, over_gpus, panels, settings, style

SENTENCE = (
    "Images per second per GPU as a share of those with the fewest GPUs, paired within each"
    " repetition, each point at the workers chosen, with its interval"
)


def draw(setting, context):
    over = over_gpus.lay_out(
        setting,
        context,
        figures.TITLES["scaling_efficiency"],
        notes=lambda counts: [_words(counts[0])],
    )
    if over is None:
        return None
    top = 1.0
    axes = over.page.panels(len(over.sizes))
    for ax, size in zip(axes, over.sizes):
        rows = over.rows(size)
        ceilings = _ceilings([c for cells, _ in rows for c in cells], setting, over.counts)
        for cells, look in [*rows, (ceilings, over.ceiling_look)]:
            top = max(top, _line(ax, [c for c in cells if c.rate], look))
        ax.axhline(1, color=style.GREY, linestyle=":", linewidth=1.2, zorder=1)
    for i, (ax, size) in enumerate(zip(axes, over.sizes)):
        _frame(ax, over.counts, top)
        over_gpus.label(ax, axes, i, size, setting)
    over.page.sides("of linear scaling")
    return over.page


def _words(first):
    return (
        f"100 % is the pace of {'one' if first == 1 else first} GPU{'' if first == 1 else 's'},"
        " each series beside its own. The ratio is formed within each repetition."
    )


def _ceilings(cells, setting, counts):
    found = [panels.ceilings_for([c for c in cells if c.gpus == n], setting, n) for n in counts]
    return [there[0] for there in found if there]


def _line(ax, cells, look):
    """Draws a series; returns the highest end of its intervals."""
    if len(cells) < 2:
        return 0.0
    first = cells[0]
    cells, points = zip(
        *((c, point) for c in cells for point in [settings.scaling(c, first)] if point)
    )
    colour = style.marker(look)["color"] if look.marker != "_" else "black"
    ax.plot(
        [c.gpus for c in cells],
        [p.mean for p in points],
        linestyle=look.line,
        color=colour,
        zorder=3,
    )
    # An efficiency beside an invalid cell is invalid too.
    marks.points(ax, [(c.gpus, p, c.serious or first.serious) for c, p in zip(cells, points)], look)
    return max(p.high or p.mean for p in points)


def _frame(ax, counts, top):
    if counts[-1] > 8 * counts[0]:
        ax.set_xscale("log", base=2)
        ax.set_xlim(counts[0] / 1.18, counts[-1] * 1.18)
    else:
        ax.set_xlim(0, 1.07 * counts[-1])
    ax.set_ylim(0, 1.08 * min(top, 1.5))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticks(counts)
    ax.set_xticklabels([str(n) for n in counts])
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{100 * v:.0f} %"))
