"""What the workers read and what storage gave, beside what the ceiling would need."""

from __future__ import annotations

from matplotlib.patches import Patch

from . import figures, rows, storage, style
from .page import Page
from .text import amount

SENTENCE = (
    "Megabytes per second that the workers read and that storage really delivered, beside what the "
    "ceiling would need of files of that mean size (the mark), at the workers chosen"
)
MB = 1e6


def draw(setting, gpus, context):
    groups = [
        (heading, [r for r in group if storage.takes_from_files(r.cell)])
        for heading, group in rows.plan(setting, gpus)
    ]
    groups = [(heading, group) for heading, group in groups if group]
    all_rows = [row for _, group in groups for row in group]
    found = {id(r): storage.bandwidth(r.cell) for r in all_rows}
    if not any(b.read is not None or b.storage is not None for b in found.values()):
        return None
    page = Page(setting, figures.TITLES["storage_bandwidth"], context, gpus, rows.scale_for(groups))
    page.legend(
        [
            Patch(facecolor="#BBBBBB", edgecolor=style.EDGE),
            Patch(**_storage_look()),
            Patch(facecolor="black", edgecolor="black"),
        ],
        ["read by the workers", "from storage", "needed at the ceiling"],
    )
    page.foot([r.cell for r in all_rows], [_caption(all_rows, found)])
    ax = rows.lay_out(page, groups, over=0.10)
    rows.fill(
        page,
        ax,
        all_rows,
        lambda row: _bars(ax, row, found[id(row)], page.compact),
        "MB/s",
        5 if page.compact else 8,
    )
    return page


def _storage_look():
    return dict(facecolor="white", edgecolor=style.EDGE, hatch="////", linewidth=style.scaled(0.8))


def _bars(ax, row, found, compact):
    half = 0.46 * row.thick
    if found.read is not None:
        ax.barh(
            row.y + half / 2,
            found.read / MB,
            height=half,
            zorder=3,
            **style.bar(row.look, row.cell.serious),
        )
    if found.storage is not None:
        ax.barh(row.y - half / 2, found.storage / MB, height=half, zorder=3, **_storage_look())
    if found.needed is not None:
        ax.plot(
            [found.needed / MB] * 2,
            [row.y - 0.64 * row.thick, row.y + 0.64 * row.thick],
            color="black",
            linewidth=style.scaled(3.2),
            solid_capstyle="butt",
            zorder=5,
        )
    end = max((v for v in (found.read, found.storage, found.needed) if v is not None), default=0.0)
    return rows.note(
        ax, row, end / MB, _words(found, compact) + (" !" if row.cell.share_serious else "")
    )


def _words(found, compact):
    read, storage, needed = (
        "?" if v is None else amount(v / MB) for v in (found.read, found.storage, found.needed)
    )
    if compact:
        return f"{read}, {storage} of {needed}"
    return f"reads {read}, from storage {storage}, needs {needed} MB/s"


def _caption(all_rows, found):
    words = (
        "MB/s of all workers and GPUs together; 1 MB is 1,000,000 bytes. Needed: images/s of the"
        " ceiling × mean size of a file. Less from storage than read: the page cache gave the rest."
    )
    if any(
        b.read is None or b.storage is None for r in all_rows for b in [found[id(r)]] if r.cell.rate
    ):
        words += " ?: not counted in this run."
    return words
