"""What the workers' time goes to, and the machine's CPUs', for every worker count: whether loading
waits for storage or computes."""

from __future__ import annotations

from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter

from . import figures, rows, storage, style, time_shares
from .page import Page
from .stage_times import colours_of, names_of
from .text import amount, percent, plain, plus_minus, share_words, stored_at, workers

SENTENCE = (
    "Above, the workers' time by stage, computing and waiting apart; below, what the machine's CPUs"
    " did meanwhile, and how long some task waited for I/O: a disk that limits shows as waiting in"
    " read, iowait and idle CPUs"
)
CPUS = {
    time_shares.BUSY: dict(facecolor=style.BLUE),
    time_shares.OTHERS: dict(facecolor=style.lighter(style.BLUE, 0.6), hatch=".."),
    time_shares.IOWAIT: dict(facecolor=style.lighter(style.WINE, 0.55), hatch="\\\\\\\\"),
}


def draw(setting, gpus, context):
    groups, cut = _plan(setting, gpus)
    all_rows = [row for _, group in groups for row in group]
    if not any(time_shares.of_machine(row.cell, time_shares.BUSY) for row in all_rows):
        return None
    times = {id(row): time_shares.of_workers(row.cell) for row in all_rows}
    names = names_of(times.values())
    colours = colours_of(names)
    page = Page(
        setting, figures.TITLES["disk_or_cpu"], context, gpus, rows.scale_for(groups, at_most=12)
    )
    page.legend(
        [Patch(facecolor=colours[n], edgecolor=style.EDGE) for n in names]
        + [
            Patch(facecolor="white", edgecolor=style.EDGE, hatch="////"),
            Patch(facecolor="white", edgecolor=style.EDGE),
            *(Patch(edgecolor=style.EDGE, **look) for look in CPUS.values()),
            Line2D([], [], linestyle="none", **_pressure_look()),
        ],
        [plain(n, 30) for n in names]
        + ["waiting", "idle", "CPUs busy", "busy with others", "iowait", "I/O pressure (PSI)"],
    )
    page.foot([r.cell for r in all_rows], [_caption(all_rows, cut)])
    ax = rows.lay_out(page, groups, over=0.10, long_headings=True)
    ax.tick_params(axis="y", pad=style.scaled(9))  # room for a mark at 0
    ax.spines["left"].set_visible(False)  # the bars have frames, and headings reach across
    rows.fill(
        page,
        ax,
        all_rows,
        lambda row: _bars(ax, row, times[id(row)], colours, page.compact),
        "% of the time"
        if page.compact
        else "% of the workers' time (upper bar), of the CPUs' (lower bar)",
        5,
    )
    ax.xaxis.set_major_locator(
        FixedLocator([0, 0.5, 1] if page.compact else [0, 0.25, 0.5, 0.75, 1])
    )
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{100 * x:.0f}"))
    return page


def _plan(setting, gpus):
    """([(heading, [Row, …]), …], whether worker counts were left out): a group for each series and
    stored size, with every worker count; else each series with the workers chosen."""
    groups = time_shares.by_count(setting, gpus)
    if time_shares.are_all_shown(groups):
        return [
            (
                series.label + (f", {stored_at(size)}" if size else ""),
                [rows.Row(c, series.look, workers(c.workers)) for c in cells],
            )
            for series, size, cells in groups
        ], False
    chosen = [
        (heading, [r for r in group if storage.takes_from_files(r.cell)])
        for heading, group in rows.plan(setting, gpus)
    ]
    return [(heading, group) for heading, group in chosen if group], any(
        len(cells) > 1 for _, _, cells in groups
    )


def _pressure_look():
    return dict(
        marker="D",
        color="black",
        markerfacecolor=style.YELLOW,
        markersize=style.scaled(6),
        markeredgewidth=style.scaled(1.0),
        zorder=6,
    )


def _bars(ax, row, times, colours, compact):
    half = 0.46 * row.thick
    _stack(
        ax,
        row.y + half / 2,
        half,
        [
            (width, dict(facecolor=style.lighter(colours[name], tone), hatch=hatch))
            for name, share, computing in times
            for width, tone, hatch in (
                (computing, 0.0, None),
                (share - computing, 0.62, "////"),
            )
        ],
    )
    if cpus := time_shares.of_cpus(row.cell):
        _stack(ax, row.y - half / 2, half, [(share, CPUS[key]) for key, share in cpus])
    if pressure := time_shares.of_machine(row.cell, time_shares.PRESSURE):
        ax.plot([pressure.mean], [row.y - half / 2], clip_on=False, **_pressure_look())
    return rows.note(ax, row, 1.0, _words(row.cell, compact))


def _stack(ax, y, height, parts):
    """Parts of a whole, side by side, in a frame of the whole."""
    x = 0.0
    for width, look in parts:
        ax.barh(
            y,
            width,
            left=x,
            height=height,
            zorder=3,
            edgecolor=style.EDGE,
            linewidth=style.scaled(0.6),
            **look,
        )
        x += width
    ax.barh(
        y,
        1.0,
        height=height,
        zorder=2,
        facecolor="white",
        edgecolor=style.EDGE,
        linewidth=style.scaled(0.6),
    )


def _words(cell, compact):
    mark = " !" if cell.share_serious else ""
    if compact:
        share = f", {percent(cell.ratio.mean)}" if cell.ratio else ""
        return amount(cell.rate.mean) + "/s" + share + mark
    share = f", {share_words(cell.ratio)} of the ceiling" if cell.ratio else ""
    return f"{plus_minus(cell.rate)} images/s{share}{mark}"


def _caption(all_rows, cut):
    words = (
        "Upper bar: the time of all workers; idle: no room for another batch (0 workers: the step)."
        " Lower bar: all CPUs of the machine, busy with the run and with other programs; iowait:"
        " idle, with I/O outstanding. I/O pressure: share of the time in which some task waited for"
        " I/O. Beside them: images/s, and their share of the ceiling."
    )
    if cut:
        words += " Each series at the workers chosen."
    if any(
        time_shares.of_machine(r.cell, key) is None
        for r in all_rows
        if r.cell.rate
        for key in (
            time_shares.BUSY,
            time_shares.OTHERS,
            time_shares.IOWAIT,
            time_shares.PRESSURE,
        )
    ):
        words += " A lower bar or a mark that lacks: unknown in a run."
    return words
