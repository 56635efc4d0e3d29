"""Waiting for data against step time, batch by batch, between full overlap and none."""

from __future__ import annotations

from matplotlib.lines import Line2D

from . import figures, marks, panels, style
from .page import Page, at_bottom
from .text import plain, workers

SENTENCE = (
    "Every batch of the workers chosen: how long the training thread waited for it against "
    "its step time; on the flat part the device sets the pace, on the rise the data"
)
FLOOR = 0.1  # ms: a wait of zero is drawn here, because a log axis has no zero
# What a step takes after a wait, if the device's work hides behind the wait wholly, or not at all.
OVERLAPS = (
    ("-", ("step, if loading overlaps: max(wait, ceiling's step)", "max(wait, step)"), max),
    (":", ("if not: wait + ceiling's step", "wait + step"), lambda wait, work: wait + work),
)


def draw(setting, gpus, context):
    cells = panels.at_gpus(setting, gpus)
    series = style.series_of(cells)
    chosen = {}
    for size in panels.image_sizes(cells):
        for s in series:
            best = panels.best(panels.of_series(panels.in_panel(cells, size), s))
            if best and panels.shown(best) and panels.steps(best)[1]:
                chosen.setdefault(size, []).append((s, best))
    if not chosen:
        return None
    page = Page(
        setting, figures.TITLES["load_vs_step"], context, gpus, 1.0 if len(chosen) <= 3 else 1.3
    )
    used = [s for s in series if any(s is t for row in chosen.values() for t, _ in row)]
    page.legend(
        [Line2D([], [], linestyle="none", **style.marker(s.look)) for s in used]
        + [Line2D([], [], color="black", linewidth=1.3, linestyle=look) for look, _, _ in OVERLAPS],
        [
            s.label
            + (" !" if any(c.serious for row in chosen.values() for t, c in row if t is s) else "")
            for s in used
        ]
        + [words[page.compact] for _, words, _ in OVERLAPS],
    )
    drawn = list({id(c): c for row in chosen.values() for _, c in row}.values())
    page.foot(drawn, [_caption(chosen)] + panels.cut_short(drawn), single_runs=True)
    points = [p for c in drawn for p in zip(*panels.steps(c))]
    left = FLOOR / 1.5, max(max(w for _, w in points), 10 * FLOOR) * 1.6
    steps = [s for s, _ in points if s > 0] + [_ceiling_step(c) for c in drawn if c.ceiling]
    axes = page.panels(len(chosen))
    for i, (ax, (size, row)) in enumerate(zip(axes, chosen.items())):
        _panel(ax, row, left, (min(steps) / 1.6, max(steps) * 1.6))
        ax.set_title(plain(panels.panel_title(size, setting)), loc="left")
        if at_bottom(axes, i):
            ax.set_xlabel(
                "wait (ms), log"
                if page.compact
                else "training thread's wait for the batch (ms), log scale"
            )
        if not ax.get_subplotspec().is_first_col():
            ax.tick_params(labelleft=False)
    page.sides("step (ms), log scale")
    return page


def _ceiling_step(cell):
    """ms that the device takes for a batch when nothing keeps it waiting."""
    batch = cell.axes.get("batch-size")
    batch = batch if isinstance(batch, (int, float)) else 1
    return 1e3 * batch * cell.gpus / cell.ceiling.rate.mean


def _caption(chosen):
    words = []
    for s, cell in {id(c): (s, c) for row in chosen.values() for s, c in row}.values():
        share = panels.idle_share(cell)
        where = f" {cell.image_size}" if cell.image_size else ""
        count = "" if cell.workers is None else f", {workers(cell.workers)}"
        if share is not None and share >= 0.05:
            words.append(f"{s.label}{where}{count}: {100 * share:.0f} %")
    return (
        f"Share of the time in which the device waits: {'; '.join(words + ['all others'])} below 5"
        f" %. At {FLOOR} ms: {FLOOR} or less."
    ).replace(": all others", ": all")


def _panel(ax, row, x_range, y_range):
    ax.set_xscale("log")
    ax.set_yscale("log")
    dense = style.dense(sum(len(panels.steps(cell)[0]) for _, cell in row))
    for s, cell in row:
        step, wait = panels.steps(cell)
        ax.plot(
            [max(w, FLOOR) for w in wait],
            step,
            linestyle="none",
            alpha=0.55,
            rasterized=dense,
            **dict(
                style.marker(s.look, cell.serious),
                markersize=style.scaled(5),
                markeredgewidth=style.scaled(0.5),
            ),
        )
    work = [_ceiling_step(cell) for _, cell in row if cell.ceiling]
    if work:
        low, high = x_range
        grid = [low * (high / low) ** (i / 200) for i in range(201)]
        for look, _, step_of in OVERLAPS:
            ax.plot(
                grid,
                [step_of(x, work[0]) for x in grid],
                color="black",
                linewidth=style.scaled(1.3),
                linestyle=look,
                zorder=2,
            )
    ax.set_xlim(*x_range)
    ax.set_ylim(*y_range)
    marks.log_ticks(ax.xaxis, *x_range)
    marks.log_ticks(ax.yaxis, *y_range)
