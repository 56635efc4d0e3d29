"""How long each batch and each read takes: the cell that loses most beside its ceiling."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.lines import Line2D

from . import findings, intervals, ledger, marks, panels, statistics, style
from .page import Page, at_bottom
from .text import amount, plain, spread

MARKED = (0.5, 0.99)
READS = {"median": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
FAR = 20.0  # times the 10th percentile, from which on the 99th needs a log scale
MOST = 400  # points of a curve


@dataclass(frozen=True)
class Curve:
    """Times in ms: every one of them, or a few percentiles {share: ms} alone."""

    cell: object
    look: object
    name: str
    values: tuple = ()  # in rising order
    percentiles: tuple = ()  # (share, ms), in rising order


def claim(plan, claims):
    """How much the cell loses and how long its steps take; or that no loss is shown."""
    return findings.of_places(plan, claims, _loses)


def _loses(cells, claims):
    cell, found, _, known = findings.worst([c for c in cells if _kept(c)], claims.loss)
    if not cell:
        return findings.none(known) if known else ""
    words = f"{panels.name(cell)} loses {spread(found.loss)}: its steps take {_times(cell)}"
    if cell.ceiling and _kept(cell.ceiling):
        words += f"; at the ceiling {_times(cell.ceiling)}"
    return words


def draw(setting, gpus, context):
    cell = _chosen(setting, gpus, context.claims)
    if cell is None:
        return None
    found = _panels(cell)
    title = findings.title("latency", setting, gpus, context.claims)
    page = Page(setting, title, context, gpus)
    curves = list({id(c.cell): c for _, row in found for c in row}.values())
    page.legend(
        [Line2D([], [], linestyle=c.look.line, **_marker(c)) for c in curves],
        [plain(c.name, 60) + (" !" if c.cell.serious else "") for c in curves],
    )
    page.foot([c.cell for c in curves], _notes(cell, curves, found))
    tall = 1.05 if page.narrow else None
    axes = page.panels(len(found), wide=0.35, columns=1, tall=tall)
    for i, (ax, (name, row)) in enumerate(zip(axes, found)):
        _panel(ax, row)
        ax.set_title(name, loc="left")
        if at_bottom(axes, i) or not page.narrow:
            ax.set_xlabel("ms" + (", log scale" if ax.get_xscale() == "log" else ""))
        if not ax.get_subplotspec().is_first_col():
            ax.tick_params(labelleft=False)
    page.sides("% that took so long or less")
    return page


def _chosen(setting, gpus, claims):
    """The valid cell with the largest loss that is shown; where none is, the one that reaches the
    least of its ceiling; None where none kept its steps."""
    places = panels.places(panels.at_gpus(setting, gpus))
    kept = [c for c in places if c.rate and not c.share_serious and _kept(c)]
    cell, *_ = findings.worst(kept, claims.loss)
    if cell or not kept:
        return cell
    return min(kept, key=lambda c: c.ratio.mean if c.ratio else c.rate.mean)


def _kept(cell):
    return any(len(ledger.raw(record, "step_ms")) > 1 for record in cell.runs)


def _all(cell, key):
    """Of all runs, in rising order."""
    return tuple(sorted(v for record in cell.runs for v in ledger.raw(record, key)))


def _panels(cell):
    """[(title, Curves), …]"""
    both = [Curve(cell, style.KINDS.get(cell.data, style.OTHER), panels.name(cell))]
    if cell.ceiling and _kept(cell.ceiling):
        look = style.Look(style.BLACK, "D", style.KINDS["synthetic"].line)
        both.append(Curve(cell.ceiling, look, "ceiling (synthetic)"))
    found = []
    for title, key in (("a step", "step_ms"), ("its wait for data", "data_wait_ms")):
        row = [Curve(c.cell, c.look, c.name, _all(c.cell, key)) for c in both]
        if any(c.values and c.values[-1] > 0 for c in row):
            found.append((title, [c for c in row if c.values]))
    if reads := _reads(cell):
        found.append(("one read", [Curve(cell, both[0].look, both[0].name, (), reads)]))
    return found


def _reads(cell):
    """The median over the runs of each percentile that all of them know."""
    found = []
    for key, share in READS.items():
        known = [ledger.number(ledger.part(r, "io", "latency_us", key)) for r in cell.runs]
        if known and None not in known:
            found.append((share, statistics.median(known) / 1e3))
    return tuple(found)


# What is said.


def _times(cell):
    """ "98.1 ms (p50) and 120 ms (p99)"."""
    median, p99 = (intervals.quantile(_all(cell, "step_ms"), q) for q in MARKED)
    return f"{amount(median)} ms (p50) and {amount(p99)} ms (p99)"


def _notes(cell, curves, found):
    runs = [f"{c.name}: {len(c.cell.runs)}" for c in curves]
    notes = [f"All batches of all runs together ({', '.join(runs)}). Marked: p50 and p99."]
    kept = [(len(ledger.raw(r, "step_ms")), r.get("steps")) for c in curves for r in c.cell.runs]
    cut = [(few, made) for few, made in kept if few and ledger.positive(made) and made > few]
    if cut:
        notes.append(
            f"Drawn are the first {min(cut)[0]} batches of up to {max(m for _, m in cut):.0f} of a"
            " run: the ledger keeps no more one by one."
        )
    if len(curves) == 1 and cell.ceiling:
        notes.append("No step of the ceiling is kept one by one.")
    if any(title == "one read" for title, _ in found):
        notes.append("Reads: percentiles, the median over the runs of each.")
    if any(_needs_log(row) and any(c.values for c in row) for _, row in found):
        notes.append("On a log scale, what took still less is drawn at the left edge.")
    return notes


# What is drawn.


def _marker(curve):
    return dict(style.marker(curve.look, curve.cell.serious), markersize=style.scaled(7))


def _panel(ax, row):
    largest = max(_of(c)[-1] for c in row)
    if _needs_log(row):
        low = intervals.quantile([v for v in _of(row[0]) if v > 0], 0.01) / 1.6
        ax.set_xscale("log")
        ax.set_xlim(low, 4 * largest)
        marks.log_ticks(ax.xaxis, low, 4 * largest)
    else:
        ax.set_xlim(0, 1.3 * largest)
        marks.ticks(ax.xaxis)
    for i, curve in enumerate(row):
        _curve(ax, curve, is_second=i > 0)
    ax.set_ylim(0, 112)
    ax.set_yticks([0, 25, 50, 75, 100])


def _needs_log(row):
    """Whether a linear axis would press most of the cell's curve into its left edge."""
    values = [v for v in _of(row[0]) if v > 0]
    low, high = (intervals.quantile(values, q) for q in (0.1, 0.99)) if values else (0, 0)
    return len(values) > 1 and high > FAR * low


def _of(curve):
    return curve.values or [ms for _, ms in curve.percentiles]


def _curve(ax, curve, is_second):
    left, count = ax.get_xlim()[0], len(curve.values)
    if curve.values:
        places = sorted({round(i * (count - 1) / (MOST - 1)) for i in range(MOST)})
        x = [max(curve.values[i], left) for i in places]
        how = dict(linestyle=curve.look.line, color=style.marker(curve.look)["color"], zorder=3)
        how |= dict(drawstyle="steps-post", linewidth=style.scaled(1.6))
        ax.plot(x, [100 * (i + 1) / count for i in places], **how)
    marked = curve.percentiles or [(q, intervals.quantile(curve.values, q)) for q in MARKED]
    for share, ms in marked:
        at = max(ms, left), 100 * share
        marks.link(ax.plot(*([v] for v in at), linestyle="none", **_marker(curve)), curve.cell)
        _label(ax, f"p{100 * share:g} {amount(ms)}", at, is_second)


def _label(ax, words, at, is_second):
    """The second curve's above and left of its point, the first's below and right, as far as the
    panel goes."""
    x, _ = ax.transAxes.inverted().transform(ax.transData.transform(at))
    is_left = x > 0.62 or (is_second and x > 0.3)
    off = (-6 if is_left else 6, 4 if is_second else -4)
    how = dict(ha="right" if is_left else "left", va="bottom" if is_second else "top")
    marks.say(ax, words, at, off, **how)
