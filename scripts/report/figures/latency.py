"""How long each batch and each read takes: the cell that loses most beside its ceiling."""

from dataclasses import dataclass

from matplotlib.lines import Line2D

from ..claims import panels
from ..ledger import intervals, ledger, statistics
from ..look import style
from ..text import amount, counted, plain, spread
from . import findings, marks
from .page import page_of

MARKED = (0.5, 0.99)
READS = {"median": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
FAR = 20.0  # times the 10th percentile, from which on the 99th needs a log scale
MOST = 400  # points of a curve
SAID, LINE = 2, 0.17  # lines of numbers above a panel, and the inches of each


@dataclass(frozen=True)
class Curve:
    """Times in ms."""

    cell: object
    look: object
    name: str
    values: tuple  # every one of them, in rising order; (): a few percentiles alone are known
    marked: list  # [(share, ms), …]: percentiles, in rising order

    @property
    def times(self):
        return self.values or [ms for _, ms in self.marked]

    @property
    def marker(self):
        return dict(style.marker(self.look, self.cell.serious), markersize=style.scaled(7))


def claim(plan, claims):
    """How much the cell that is drawn loses and how long its steps take; or that no loss is shown,
    and which cell is drawn."""
    words = findings.of_worst(plan, claims, _kept, _takes)
    cell = _chosen(plan.setting, plan.gpus, claims)
    if cell is None or words.startswith(panels.name(cell)):
        return words
    return f"{words or plan.figure.title}; shown: {panels.name(cell)}"


def _takes(cell, claim):
    median, p99 = _times(cell)
    words = f"{panels.name(cell)} loses {spread(claim.loss)}: its steps take {median} ms (p50)"
    words += f" and {p99} ms (p99)"
    if cell.ceiling and _kept(cell.ceiling):
        words += f"; at the ceiling {' and '.join(_times(cell.ceiling))} ms"
    return words


def _times(cell):
    """The median and the 99th percentile of its steps, ms."""
    return [amount(intervals.quantile(_all(cell, "step_ms"), q)) for q in MARKED]


def draw(setting, gpus, context):
    cell = _chosen(setting, gpus, context.claims)
    if cell is None:
        return None
    found = _panels(cell)
    page = page_of("latency", setting, gpus, context)
    curves = list({id(c.cell): c for _, row in found for c in row}.values())
    mark = lambda curve: " !" if curve.cell.serious else ""
    samples = [Line2D([], [], linestyle=c.look.line, **c.marker) for c in curves]
    page.legend([(s, plain(c.name, 90) + mark(c)) for s, c in zip(samples, curves)])
    page.foot([c.cell for c in curves], _notes(cell, curves, found))
    tall = 1.05 if page.narrow else None
    over = 0.30 + LINE * SAID  # the numbers stand above the panel: no curve is there
    axes = page.panels(len(found), wide=0.35, columns=1, tall=tall, over=over, high=over + 0.32)
    for ax, (name, row) in zip(axes, found):
        _panel(ax, row)
        ax.set_title(name, loc="left", pad=style.scaled(72 * (over - 0.20)))
        _say(ax, row)
        if ax in page.bottom or not page.narrow:
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
    own = cell, style.KINDS.get(cell.data, style.OTHER), panels.name(cell)
    both, found = [own], []
    if cell.ceiling and _kept(cell.ceiling):
        look = style.Look(style.BLACK, "D", style.KINDS["synthetic"].line)
        both.append((cell.ceiling, look, "ceiling (synthetic)"))
    for title, key in (("a step", "step_ms"), ("its wait for data", "data_wait_ms")):
        row = []
        for of in both:
            if values := _all(of[0], key):
                row.append(Curve(*of, values, [(q, intervals.quantile(values, q)) for q in MARKED]))
        if any(c.values[-1] > 0 for c in row):
            found.append((title, row))
    if reads := _reads(cell):
        found.append(("one read", [Curve(*own, (), reads)]))
    return found


def _reads(cell):
    """The median over the runs of each percentile that all of them know."""
    found = []
    for key, share in READS.items():
        known = [ledger.number(ledger.part(r, "io", "latency_us", key)) for r in cell.runs]
        if known and None not in known:
            found.append((share, statistics.median(known) / 1e3))
    return found


def _notes(cell, curves, found):
    runs = [f"{c.name}: {counted(len(c.cell.runs), 'run')}" for c in curves]
    notes = [f"All batches of all runs together ({', '.join(runs)})."]
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
    if any(_needs_log(row) and row[0].values for _, row in found):
        notes.append("On a log scale, what took still less is drawn at the left edge.")
    return notes


def _panel(ax, row):
    largest = max(c.times[-1] for c in row)
    if _needs_log(row):
        low = intervals.quantile([v for v in row[0].times if v > 0], 0.01) / 1.6
        ax.set_xscale("log")
        ax.set_xlim(low, 1.2 * largest)
        marks.log_ticks(ax.xaxis, low, 1.2 * largest)
    else:
        ax.set_xlim(0, 1.05 * largest)
        marks.ticks(ax.xaxis)
    for curve in row:
        _curve(ax, curve)
    ax.set_ylim(0, 103)
    ax.set_yticks([0, 25, 50, 75, 100])


def _needs_log(row):
    """Whether a linear axis would press most of the cell's curve into its left edge."""
    values = [v for v in row[0].times if v > 0]
    if len(values) < 2:
        return False
    return intervals.quantile(values, 0.99) > FAR * intervals.quantile(values, 0.1)


def _curve(ax, curve):
    left, count = ax.get_xlim()[0], len(curve.values)
    if curve.values:
        places = sorted({round(i * (count - 1) / (MOST - 1)) for i in range(MOST)})
        x = [max(curve.values[i], left) for i in places]
        how = dict(linestyle=curve.look.line, color=curve.look.rim, zorder=3)
        how |= dict(drawstyle="steps-post", linewidth=style.scaled(1.6))
        ax.plot(x, [100 * (i + 1) / count for i in places], **how)
    how = dict(linestyle="none", clip_on=False, **curve.marker)
    for share, ms in curve.marked:
        marks.link(ax.plot([max(ms, left)], [100 * share], **how), curve.cell)


def _say(ax, row):
    """The numbers of each curve in its colour, in SAID lines above the panel."""
    parts = []
    for curve in row:
        words = [f"p{100 * share:g} {amount(ms)}" for share, ms in curve.marked]
        colour = style.lighter(curve.look.rim, -0.35)  # thin letters are pale
        parts += [(", ".join(words[i : i + 2]), colour) for i in range(0, len(words), 2)]
    for i, (words, colour) in enumerate(parts):
        up = 5 + 72 * LINE * (SAID - 1 - i)
        marks.say(ax, words, (0, 1), (0, up), xycoords="axes fraction", color=colour)
