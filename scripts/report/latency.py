"""How long each batch and each read takes: the cell that loses most beside its ceiling."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from . import figures, findings, intervals, ledger, marks, panels, statistics, style
from .page import Page, at_bottom
from .text import amount, plain, spread, tick

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
    title = findings.headline(figures.Plan("", "latency", setting, gpus, ""), context.claims)
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
    notes += panels.cut_short([c.cell for c in curves])
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
    if _needs_log(row):
        _log(ax, row)
    else:
        ax.set_xlim(0, 1.3 * max(_largest(c) for c in row))
        ax.xaxis.set_major_formatter(FuncFormatter(tick))
        ax.xaxis.set_major_locator(MaxNLocator(5))
    for i, curve in enumerate(row):
        _curve(ax, curve, is_second=i > 0)
    ax.set_ylim(0, 112)
    ax.set_yticks([0, 25, 50, 75, 100])


def _largest(curve):
    return curve.values[-1] if curve.values else curve.percentiles[-1][1]


def _needs_log(row):
    """Whether a linear axis would press most of the cell's curve into its left edge."""
    values = [v for v in _of(row[0]) if v > 0]
    return len(values) > 1 and intervals.quantile(values, 0.99) > FAR * intervals.quantile(
        values, 0.1
    )


def _of(curve):
    return curve.values or [ms for _, ms in curve.percentiles]


def _log(ax, row):
    values = [v for v in _of(row[0]) if v > 0]
    low, high = intervals.quantile(values, 0.01) / 1.6, max(_largest(c) for c in row) * 4
    ax.set_xscale("log")
    ax.set_xlim(low, high)
    marks.log_ticks(ax.xaxis, low, high)


def _curve(ax, curve, is_second):
    colour = style.marker(curve.look)["color"]
    left = ax.get_xlim()[0] if ax.get_xscale() == "log" else 0.0
    if curve.values:
        places = _thinned(len(curve.values))
        ax.plot(
            [max(curve.values[i], left) for i in places],
            [100 * (i + 1) / len(curve.values) for i in places],
            drawstyle="steps-post",
            linestyle=curve.look.line,
            color=colour,
            linewidth=style.scaled(1.6),
            zorder=3,
        )
    marked = curve.percentiles or [(q, intervals.quantile(curve.values, q)) for q in MARKED]
    for share, ms in marked:
        (point,) = ax.plot([max(ms, left)], [100 * share], linestyle="none", **_marker(curve))
        marks.link([point], curve.cell)
        _label(ax, f"p{100 * share:g} {amount(ms)}", (max(ms, left), 100 * share), is_second)


def _thinned(count):
    """Places in a rising series, the first and the last among them; all of the last hundredth of a
    short one."""
    if count <= MOST:
        return range(count)
    return sorted({round(i * (count - 1) / (MOST - 1)) for i in range(MOST)})


def _label(ax, words, at, is_second):
    """The second curve's above and left of its point, the first's below and right, as far as the
    panel goes."""
    x, _ = ax.transAxes.inverted().transform(ax.transData.transform(at))
    is_left = x > 0.62 or (is_second and x > 0.3)
    ax.annotate(
        words,
        at,
        (style.scaled(-6 if is_left else 6), style.scaled(4 if is_second else -4)),
        textcoords="offset points",
        ha="right" if is_left else "left",
        va="bottom" if is_second else "top",
        fontsize=style.pt(style.SMALL),
        zorder=6,
    )
