"""What the host and the GPUs did over the time of a run, second by second."""

import itertools
import math

from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

from ..claims import panels
from ..ledger import ledger
from ..ledger.readings import GPU, HOST, chosen, host, of_gpus
from ..look import style
from ..text import clean, listing, percent, plain, tick
from ..text import gpus as gpu_words
from . import findings
from .page import page_of

DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (4, 1.5, 1, 1.5)))
LINES = tuple(zip(style.READINGS, DASHES))
MEANS = {"busy": "cpu_busy", "iowait": "cpu_iowait", "others": "cpu_other_processes"}


def claim(plan, claims):
    return findings.of_places(plan, claims, lambda *_: _busy(plan))


def _busy(plan):
    cell, record = chosen(plan.setting, plan.gpus)
    if record is None:
        return ""
    words = f"One run of {_name(cell)}{' (invalid)' * bool(cell.serious)}"
    busy = _mean(record, "cpu_busy")
    return words if busy is None else f"{words}: the CPUs were {percent(busy)} busy"


def _mean(record, key):
    """Over the window; None: unknown."""
    value = ledger.number(ledger.part(record, "monitors", key))
    return None if value is None or value < 0 else value


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
    wide = 0.95 if page.narrow else 0.66
    axes = page.panels(len(wanted), over=over, high=over + 0.44, wide=wide, tall=0.8)
    last = max(x[-1] for _, _, lines in wanted for _, x, _ in lines)
    for ax, (title, top, lines) in zip(axes, wanted):
        _panel(ax, title, top, lines, last, 2 if page.bare else 4)
    whole = "run in pairs" if ledger.in_pairs(record) else "window"
    page.name_below("seconds" if page.narrow else f"seconds of the {whole}")
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
    means = {label: _mean(record, key) for label, key in MEANS.items()}
    means = [f"{label} {100 * mean:.1f} %" for label, mean in means.items() if mean is not None]
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
    has_names = bool(lines[0][0])
    for (label, x, y), (colour, dashes) in zip(lines, itertools.cycle(LINES)):
        how = dict(color=colour, linestyle=dashes, linewidth=style.scaled(1.6))
        how |= dict(marker="." if len(x) < 60 else None, markersize=style.scaled(4))
        ax.plot(x, y, label=plain(label, 30) or "_", **how)
    above = 13 * math.ceil(len(lines) / columns) if has_names else 0
    pad = style.scaled(5 + above)
    ax.set_title(plain(title), loc="left", fontsize=style.pt(10.5), pad=pad)
    if has_names:
        look = dict(frameon=False, borderaxespad=0, borderpad=0.1, columnspacing=0.8)
        look |= dict(fontsize=style.pt(style.SMALL), handlelength=1.5, handletextpad=0.4)
        place = dict(loc="lower left", bbox_to_anchor=(-0.02, 1.02))
        ax.legend(ncol=min(columns, len(lines)), **place, **look)
    ax.set_xlim(0, max(1.02 * last, 1e-9))  # the last point whole
    ax.set_ylim(0, 1.04 * top if top else 1.1 * max(_known(lines)))
    ax.yaxis.set_major_formatter(FuncFormatter(tick))
    ax.xaxis.set_major_locator(MaxNLocator(4, integer=last > 4))
    ax.yaxis.set_major_locator(FixedLocator(range(0, 101, 25)) if top else MaxNLocator(4))
