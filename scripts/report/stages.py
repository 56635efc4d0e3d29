"""Where a worker's time goes, stage by stage, against what the device leaves for an image."""
from __future__ import annotations

from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from . import ledger, rows, style
from .page import Page
from .text import amount, clean, percent, plain, tick

SENTENCE = ("Busy time per image of one worker by stage, computing and waiting apart, against the "
            "device's time per image × workers: a bar that passes the mark limits the training")


def draw(setting, gpus, context):
    groups = [(heading, [r for r in group if r.cell.data != "synthetic"])
              for heading, group in rows.plan(setting, gpus)]
    groups = [(heading, group) for heading, group in groups if group]
    all_rows = [row for _, group in groups for row in group]
    times = {id(r): per_image(r.cell) for r in all_rows}
    if not any(times.values()):
        return None
    page = Page(setting, "Where the workers' time goes", gpus, rows.scale_for(groups))
    names = _names(times.values())
    colours = _colours(names)
    page.legend([Patch(facecolor=colours[n], edgecolor=style.EDGE) for n in names] +
                [Patch(facecolor="white", edgecolor=style.EDGE, hatch="////"),
                 Patch(facecolor="black", edgecolor="black")],
                [plain(n, 30) for n in names] + ["waiting (wall − CPU)",
                                                  "device's time × workers"])
    page.foot([r.cell for r in all_rows], context, [_caption(all_rows, times)])
    ax = rows.lay_out(page, groups, over=0.10)
    notes = []
    for row in all_rows:
        if row.cell.rate:
            notes.append(_bar(ax, row, times[id(row)], colours))
        else:
            rows.missing(ax, row)
    rows.make_room(page, ax, 0, notes)
    ax.set_xlabel("ms of one worker per image")
    ax.xaxis.set_major_locator(MaxNLocator(8))
    ax.xaxis.set_major_formatter(FuncFormatter(tick))
    return page.figure


def per_image(cell):
    """[(stage, wall ms, CPU ms), …] per image, over all runs; [] where no stage was timed."""
    totals = {}
    for record in cell.runs:
        for stage in record.get("stages") or []:
            if isinstance(stage, dict) and ledger.positive(stage.get("items")):
                total = totals.setdefault(clean(stage.get("name") or "?", 30), [0.0, 0.0, 0])
                total[0] += ledger.number(stage.get("wall_s")) or 0.0
                total[1] += ledger.number(stage.get("cpu_s")) or 0.0
                total[2] += stage["items"]
    # A clock's grain may put a little more CPU than wall time into a short stage.
    return [(name, 1e3 * wall / items, 1e3 * min(cpu, wall) / items)
            for name, (wall, cpu, items) in totals.items()]


def budget(cell):
    """ms that the workers of one GPU may spend on an image before the device has to wait."""
    if not cell.ceiling:
        return None
    return 1e3 * cell.gpus / cell.ceiling.rate.mean * max(cell.workers or 0, 1)


def limit(cell, times):
    """What limits, in words: the workers where their time passes what the device leaves them. With
    no worker of its own the loading stands in the training thread and overlaps with nothing."""
    total = sum(wall for _, wall, _ in times)
    leaves = budget(cell)
    if not times or not leaves:
        return ""
    largest = max(times, key=lambda t: t[1])
    share = f"{clean(largest[0], 20)} {100 * largest[1] / total:.0f} %" if total else ""
    mine = "loader" if total > leaves else "device"
    if cell.workers == 0:
        return f"no overlap: {share}"
    words = f"loader limits: {share}" if mine == "loader" else "device limits"
    counted, stage = cell.largest_stage()
    if mine == "loader" and counted == "cpu":
        return f"all CPUs busy, most with {clean(stage, 20)}"
    if counted and counted != mine and not 0.95 < total / leaves < 1.05:
        words += f" (capacities: {counted})"
    return words


def _names(all_times):
    known = list(style.STAGES)
    found = {name for times in all_times for name, _, _ in times}
    return [n for n in known if n in found] + sorted(found - set(known))


def _colours(names):
    spare = [n for n in names if n not in style.STAGES]
    return {n: style.STAGES[n][0] if n in style.STAGES
            else style.SPARE[spare.index(n) % len(style.SPARE)] for n in names}


def _bar(ax, row, times, colours):
    x = 0.0
    for name, wall, cpu in times:
        for width, hatch, tone in ((cpu, None, 0.0), (wall - cpu, "////", 0.62)):
            ax.barh(row.y, width, left=x, height=0.92 * row.thick, zorder=3, hatch=hatch,
                    linewidth=0.6, facecolor=style.lighter(colours[name], tone),
                    edgecolor=style.EDGE)
            x += width
    leaves = budget(row.cell)
    if leaves:
        ends = [row.y - 0.64 * row.thick, row.y + 0.64 * row.thick]
        ax.plot([leaves] * 2, ends, color="black", linewidth=3.2, solid_capstyle="butt", zorder=5)
    words = f"{amount(x)} ms" + (f" of {amount(leaves)}" if leaves else "")
    verdict = limit(row.cell, times)
    words += (f", {verdict}" if verdict else "") + (" !" if row.cell.serious else "")
    return rows.note(ax, row, max(x, leaves or 0), words)


def _caption(all_rows, times):
    """The row that falls shortest, in a sentence."""
    short = [(sum(w for _, w, _ in times[id(r)]) / budget(r.cell), r) for r in all_rows
             if times[id(r)] and budget(r.cell)]
    head = "The mark: the device's time per image at the ceiling × workers. A bar right of it " \
           "cannot keep the device busy. "
    if not short:
        return head
    factor, row = max(short, key=lambda pair: pair[0])
    where = row.label + (f" at {row.cell.image_size}" if row.cell.image_size else "")
    verdict = limit(row.cell, times[id(row)])
    if factor > 1:
        worst = f"Furthest from it: {where}, {factor:.1f} times what the device leaves"
    else:
        worst = f"All are left of it; nearest: {where}, {percent(factor)} of what the device leaves"
    return head + worst + (f" ({verdict})." if verdict else ".")
