"""Where a worker's time goes, stage by stage, against what the device leaves for an image."""

from __future__ import annotations

from matplotlib.patches import Patch

from . import figures, findings, marks, panels, rows, style
from .page import Page
from .stage_times import budget, colours_of, largest_share, limit, names_of, per_image
from .text import amount, clean, percent, plain, spread


def claim(plan, claims):
    return findings.of_places(plan, claims, _largest)


def _largest(cells, claims):
    cell, claim, _, known = findings.worst([c for c in cells if per_image(c)], claims.loss)
    if not cell:
        return findings.none(known) if known else ""
    stage, share = largest_share(cell)
    return (
        f"{findings.name(cell)} loses {spread(claim.loss)}; {clean(stage, 20)} takes"
        f" {spread(share)} of a worker's busy time"
    )


def draw(setting, gpus, context):
    groups = [
        (heading, [r for r in group if r.cell.data != "synthetic"])
        for heading, group in rows.plan(setting, gpus)
    ]
    groups = [(heading, group) for heading, group in groups if group]
    all_rows = [row for _, group in groups for row in group]
    times = {id(r): per_image(r.cell) for r in all_rows}
    if not any(times.values()) or not panels.any_valid([r.cell for r in all_rows]):
        return None
    page = Page(setting, figures.NAMED["stages"].title, context, gpus, rows.scale_for(groups))
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
            "" if page.narrow else limit(row.cell, context.claims.loss(row.cell)),
        ),
        "ms of one worker per image",
        5 if page.narrow else 8,
    )
    return page


def _bar(ax, row, times, colours, verdict):
    x = 0.0
    for name, wall, cpu in times:
        for width, hatch, tone in ((cpu, None, 0.0), (wall - cpu, "////", 0.62)):
            bars = ax.barh(
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
            marks.link(bars, row.cell)
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
    words = times_words(x, leaves)
    words += (f", {verdict}" if verdict else "") + (" !" if row.cell.share_serious else "")
    return rows.note(ax, row, max(x, leaves or 0), words)


def times_words(takes, leaves):
    """What stands at the end of a bar, or at the mark where that is further right: so it must not
    read as the value of that place."""
    return f"takes {amount(takes)} of {amount(leaves)} ms" if leaves else f"{amount(takes)} ms"


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
