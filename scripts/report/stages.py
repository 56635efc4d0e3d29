"""Where a worker's time goes, stage by stage, against what the device leaves for an image."""

from __future__ import annotations

from matplotlib.patches import Patch

from . import figures, rows, style
from .page import Page
from .stage_times import budget, colours_of, limit, names_of, per_image
from .text import amount, percent, plain

SENTENCE = (
    "Busy time per image of one worker by stage, computing and waiting apart, against the "
    "device's time per image × workers: a bar that passes the mark limits the training"
)


def draw(setting, gpus, context):
    groups = [
        (heading, [r for r in group if r.cell.data != "synthetic"])
        for heading, group in rows.plan(setting, gpus)
    ]
    groups = [(heading, group) for heading, group in groups if group]
    all_rows = [row for _, group in groups for row in group]
    times = {id(r): per_image(r.cell) for r in all_rows}
    if not any(times.values()):
        return None
    page = Page(setting, figures.TITLES["stages"], context, gpus, rows.scale_for(groups))
    names = names_of(times.values())
    colours = colours_of(names)
    page.legend(
        [Patch(facecolor=colours[n], edgecolor=style.EDGE) for n in names]
        + [
            Patch(facecolor="white", edgecolor=style.EDGE, hatch="////"),
            Patch(facecolor="black", edgecolor="black"),
        ],
        [plain(n, 30) for n in names] + ["waiting (wall − CPU)", "device's time × workers"],
    )
    page.foot([r.cell for r in all_rows], [_caption(all_rows, times, context.claims)])
    ax = rows.lay_out(page, groups, over=0.10)
    rows.fill(
        page,
        ax,
        all_rows,
        lambda row: _bar(
            ax,
            row,
            times[id(row)],
            colours,
            "" if page.compact else limit(row.cell, context.claims.loss(row.cell)),
        ),
        "ms of one worker per image",
        5 if page.compact else 8,
    )
    return page


def _bar(ax, row, times, colours, verdict):
    x = 0.0
    for name, wall, cpu in times:
        for width, hatch, tone in ((cpu, None, 0.0), (wall - cpu, "////", 0.62)):
            ax.barh(
                row.y,
                width,
                left=x,
                height=0.92 * row.thick,
                zorder=3,
                hatch=hatch,
                linewidth=style.scaled(0.6),
                facecolor=style.lighter(colours[name], tone),
                edgecolor=style.EDGE,
            )
            x += width
    leaves = budget(row.cell)
    if leaves:
        ends = [row.y - 0.64 * row.thick, row.y + 0.64 * row.thick]
        ax.plot(
            [leaves] * 2,
            ends,
            color="black",
            linewidth=style.scaled(3.2),
            solid_capstyle="butt",
            zorder=5,
        )
    words = f"{amount(x)} ms" + (f" of {amount(leaves)}" if leaves else "")
    words += (f", {verdict}" if verdict else "") + (" !" if row.cell.share_serious else "")
    return rows.note(ax, row, max(x, leaves or 0), words)


def _caption(all_rows, times, claims):
    """Of the rows that are shown to lose, the one that falls shortest, in a sentence."""
    head = (
        "The mark: the device's time per image at the ceiling × workers. A bar right of it cannot"
        " keep the device busy. "
    )
    short = [
        (sum(w for _, w, _ in times[id(r)]) / budget(r.cell), r)
        for r in all_rows
        if times[id(r)] and budget(r.cell) and claims.loss(r.cell).is_shown
    ]
    if not short:
        return head + "None of the rows is shown to lose."
    factor, row = max(short, key=lambda pair: pair[0])
    where = row.label + (f" at {row.cell.image_size}" if row.cell.image_size else "")
    verdict = limit(row.cell, claims.loss(row.cell))
    words = f"{factor:.1f} times" if factor > 1 else percent(factor)
    return (
        head
        + f"Of those shown to lose, furthest: {where}, {words} of what the device leaves"
        + (f" ({verdict})." if verdict else ".")
    )
