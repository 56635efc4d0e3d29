"""What the host and the GPUs did over the time of a run, second by second."""

from __future__ import annotations

import math

from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

from ..claims import panels
from ..ledger import ledger
from ..ledger.readings import GPU, HOST, chosen, host, of_gpus
from ..look import style
from ..text import clean, listing, percent, plain, tick
from ..text import gpus as gpu_words
from . import findings
from .page import at_bottom, page_of

DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (4, 1.5, 1, 1.5)))
LINES = tuple(zip(style.READINGS, DASHES))


def claim(plan, claims):
    return findings.of_places(plan, claims, lambda *_: _busy(plan))


def _busy(plan):
    cell, record = chosen(plan.setting, plan.gpus)
    if record is None:
        return ""
    busy = ledger.number(ledger.part(record, "monitors", "cpu_busy"))
    words = "One run of " + _name(cell) + (" (invalid)" if cell.serious else "")
    return (
        f"{words}: the CPUs were {percent(busy)} busy" if busy is not None and busy >= 0 else words
    )


def draw(setting, gpus, context):
    cell, record = chosen(setting, gpus)
    if record is None:
        return None
    wanted = [
        (title, top, [(r.label, x, y) for r in readings for x, y in [host(record, r)] if y])
        for title, top, readings in HOST
    ]
    wanted += [(title, top, of_gpus(record, key)) for title, top, key in GPU]
    wanted = [panel for panel in wanted if panel[2]]
    zero = [title for title, _, lines in wanted if not any(_known(lines))]
    wanted = [panel for panel in wanted if panel[0] not in zero]
    if not wanted:
        return None
    page = page_of("monitors", setting, gpus, context, 1.0 if len(wanted) <= 4 else 1.3)
    page.foot([cell], [_caption(cell, record, zero)], single_runs=True)
    over = 0.65 if page.bare else 0.45  # a bare page has its legends in two rows
    axes = page.panels(
        len(wanted), over=over, high=over + 0.44, wide=0.95 if page.narrow else 0.66, tall=0.8
    )
    last = max(x[-1] for _, _, lines in wanted for _, x, _ in lines)
    for i, (ax, (title, top, lines)) in enumerate(zip(axes, wanted)):
        _panel(ax, title, top, lines, last, 2 if page.bare else 4)
        if at_bottom(axes, i):
            whole = "run in pairs" if ledger.in_pairs(record) else "window"
            ax.set_xlabel("seconds" if page.narrow else f"seconds of the {whole}")
    return page


def _name(cell):
    return panels.name(cell) + (f", {gpu_words(cell.gpus)}" if cell.gpus > 1 else "")


def _known(lines):
    return [v for _, _, y in lines for v in y if not math.isnan(v)]


def _caption(cell, record, zero):
    """`zero`: titles of the panels that would be empty."""
    words = (
        f"The cell that kept readings and reaches the least of its ceiling: {_name(cell)},"
        f" repetition {clean(record['repetition'], 9)}" + (" !" if cell.serious else "") + "."
    )
    means = [
        (label, ledger.number(ledger.part(record, "monitors", key)))
        for label, key in (
            ("busy", "cpu_busy"),
            ("iowait", "cpu_iowait"),
            ("others", "cpu_other_processes"),
        )
    ]
    means = [
        f"{label} {100 * value:.1f} %" for label, value in means if value is not None and value >= 0
    ]
    is_paired = ledger.in_pairs(record)
    over = "blocks of the cell" if is_paired else "window"
    words += f" Mean over the {over}: CPUs " + ", ".join(means) + "." if means else ""
    words += " The lines are of the ceiling's blocks, too." if is_paired else ""
    if len(record.get("ranks") or []) > 1:
        words += " A line for each GPU; the host is the first rank's."
    if zero:
        words += f" Not drawn: {listing(title.partition(' (')[0] for title in zero)}, always 0."
    return words


def _panel(ax, title, top, lines, last, columns):
    for i, (label, x, y) in enumerate(lines):
        colour, look = LINES[i % len(LINES)]
        ax.plot(
            x,
            y,
            color=colour,
            linestyle=look,
            linewidth=style.scaled(1.6),
            label=plain(label, 30) or "_",
            marker="." if len(x) < 60 else None,
            markersize=style.scaled(4),
        )
    ax.set_title(
        plain(title),
        loc="left",
        fontsize=style.pt(10.5),
        pad=style.scaled(5 + 13 * math.ceil(len(lines) / columns) if lines[0][0] else 5),
    )
    if lines[0][0]:
        ax.legend(
            loc="lower left",
            bbox_to_anchor=(-0.02, 1.02),
            ncol=min(columns, len(lines)),
            frameon=False,
            borderaxespad=0,
            fontsize=style.pt(style.SMALL),
            handlelength=1.5,
            handletextpad=0.4,
            columnspacing=0.8,
            borderpad=0.1,
        )
    ax.set_xlim(0, max(1.02 * last, 1e-9))  # the last point whole
    ax.set_ylim(0, 1.04 * top if top else 1.1 * max(_known(lines)))
    ax.yaxis.set_major_formatter(FuncFormatter(tick))
    ax.xaxis.set_major_locator(MaxNLocator(4, integer=last > 4))
    ax.yaxis.set_major_locator(FixedLocator(range(0, 101, 25)) if top else MaxNLocator(4))
