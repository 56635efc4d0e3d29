"""The page that every figure is drawn on: title, tag strip, watermark, legend, notes, footer."""
from __future__ import annotations

import math
import textwrap

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from . import statistics, style
from .heading import heading
from .text import axis_value, clean, listing, percent, plain

LEFT, RIGHT = 0.05, 0.965


class Page:
    """A 16:9 figure in the making. `scale` enlarges the sheet, so that more rows keep their type
    size relative to each other; a slide then shows them smaller."""

    def __init__(self, setting, title, gpus=None, scale=1.0):
        self.setting, self.scale = setting, scale
        self.figure = Figure(figsize=(style.WIDTH * scale, style.HEIGHT * scale))
        FigureCanvasAgg(self.figure)
        self.top = 1 - self.inches(0.83)
        self.bottom = self.inches(0.62)
        self._tag(setting.kind)
        self._line(plain(title), 1 - self.inches(0.31), 15, weight="bold", room=0.68)
        self._line(plain(heading(setting, gpus)), 1 - self.inches(0.60), 11, color="#333333")

    def inches(self, value):
        """Inches of height as a share of the sheet."""
        return value / (style.HEIGHT * self.scale)

    def _line(self, words, y, size, room=RIGHT - LEFT, **more):
        text = self.figure.text(LEFT, y, words, fontsize=size, va="center", **more)
        renderer = self.figure.canvas.get_renderer()
        width = text.get_window_extent(renderer).width / self.figure.bbox.width
        if width > room:
            text.set_fontsize(max(6.5, size * room / width))
        return text

    def _tag(self, kind):
        if kind not in style.TAGS:
            return
        words, colour = style.TAGS[kind]
        width, height = 2.05 / self.scale / style.WIDTH, self.inches(0.40)
        self.figure.add_artist(Rectangle((1 - width, 1 - height), width, height, color=colour,
                                         transform=self.figure.transFigure, zorder=10))
        self.figure.text(1 - width / 2, 1 - height / 2, words, color="white", weight="bold",
                         fontsize=12.5, ha="center", va="center", zorder=11)
        if kind == "emulated":
            self.figure.text(0.5, 0.46, "EMULATED", color="#000000", alpha=0.05, rotation=26,
                             fontsize=92 * self.scale, weight="bold", ha="center", va="center",
                             zorder=-5)

    def legend(self, handles, labels):
        """Between the title and the panels, in as few rows as the sheet's width allows."""
        for rows in range(1, len(labels) + 1):
            legend = self.figure.legend(
                handles, labels, loc="upper left", ncol=math.ceil(len(labels) / rows),
                frameon=False, bbox_to_anchor=(LEFT, self.top + self.inches(0.09)),
                handlelength=2.6, handletextpad=0.6, columnspacing=1.5, borderaxespad=0,
                borderpad=0)
            width = legend.get_window_extent(self.figure.canvas.get_renderer()).width
            if width <= (RIGHT - LEFT) * self.figure.bbox.width or rows == len(labels):
                self.top -= self.inches(0.24 * rows + 0.04)
                return
            legend.remove()

    def foot(self, cells, context, notes=(), single_runs=False):
        """Notes on this figure, then where its numbers come from; call before panels()."""
        width = int(150 * self.scale)
        lines = [(line, "#222222") for note in list(notes) + _warnings(cells, single_runs)
                 for line in textwrap.wrap(plain(note, 1500), width)]
        lines += [(line, style.GREY) for line in
                  textwrap.wrap(plain(_provenance(cells, context, single_runs), 600), width)]
        step = self.inches(0.148)
        for i, (line, colour) in enumerate(reversed(lines)):
            self.figure.text(LEFT, self.inches(0.09) + i * step, line, fontsize=style.TINY,
                             color=colour, va="bottom")
        self.bottom = self.inches(0.13) + len(lines) * step

    def panels(self, count, left=0.096, right=0.93, under=0.52, over=0.30, wide=0.45, high=0.62):
        """`count` axes in as square a grid as 16:9 wants; `under`, `over`, `wide` and `high` are
        the inches that tick labels and titles need below, above and between them."""
        columns = count if count <= 3 else math.ceil(math.sqrt(count))
        rows = math.ceil(count / columns)
        top, bottom = self.top - self.inches(over), self.bottom + self.inches(under)
        between = self.inches(high), wide / (style.WIDTH * self.scale)
        height = (top - bottom - (rows - 1) * between[0]) / rows
        width = (right - left - (columns - 1) * between[1]) / columns
        grid = self.figure.add_gridspec(rows, columns, left=left, right=right, top=top,
                                        bottom=bottom, wspace=between[1] / width,
                                        hspace=between[0] / height)
        self.middle = (top + bottom) / 2
        return [self.figure.add_subplot(grid[i // columns, i % columns]) for i in range(count)]

    def sides(self, left, right=""):
        """The words of the vertical axes, once for all panels."""
        for x, words in ((0.015, left), (0.985, right)):
            self.figure.text(x, self.middle, words, rotation=90, ha="center", va="center",
                             fontsize=11)


def at_bottom(axes, i):
    """Whether panel i has no panel below it: where the words of the horizontal axis stand."""
    spec = axes[i].get_subplotspec()
    return i + spec.get_gridspec().ncols >= len(axes)


def _provenance(cells, context, single_runs):
    rates = [] if single_runs else [c.rate for c in cells if c.rate]
    parts = ["one run of each cell"] if single_runs else []
    if rates:
        counts = sorted({r.n for r in rates})
        parts.append("n = " + (f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else
                               f"{counts[0]}") + (" repetition" if counts == [1] else
                                                  " repetitions"))
        parts += sorted({r.kind for r in rates})
    for axis in ("loader", "workers"):
        values = [c.axes.get(axis) for c in cells if c.axes.get(axis) is not None]
        if values:
            known = sorted(set(values), key=lambda v: (str(type(v)), v))
            parts.append(f"{axis} " + listing(axis_value(v) for v in known))
    return " · ".join(parts + [context.ledger_name] + ([f"feedrate {context.version}"]
                                                       if context.version else []))


def _warnings(cells, single_runs):
    """What a reader must know of the cells drawn: drift, serious flags, missing ones."""
    lines = []
    drifts = [c.ceiling.drift for c in cells if c.ceiling and c.ceiling.drifted]
    drifts += [c.drift for c in cells if getattr(c, "drifted", False)]
    if drifts:
        lines.append(f"Warning: ceiling drifted by {percent(max(drifts, key=abs))} between the "
                     "first and the last measurement of a repetition: every share of it is that "
                     "unsure.")
    serious = sorted({clean(f.get("name"), 40) for c in cells for f in c.flags
                      if f.get("severity") == "serious"})
    if serious:
        lines.append("Hollow with !: the cell carries a serious flag (" + ", ".join(serious) + ").")
    unsteady = [c for c in cells if any(f.get("name") == "unsteady" for f in c.flags)]
    if unsteady:
        lines.append(f"Warning: {len(unsteady)} of {len(cells)} cells were measured before their "
                     "steps were seen to be steady.")
    if any(c.ceiling and c.ceiling.recorded for c in cells):
        lines.append("The ceiling is the one that the records name: the ledger holds no run of it.")
    missing = [c for c in cells if not c.rate]
    if missing:
        states = sorted({c.state for c in missing})
        lines.append(f"× missing, not zero: {len(missing)} cell{'s' if len(missing) > 1 else ''}, "
                     + " or ".join(states) + " (listed in index.md).")
    if not single_runs and any(c.rate and c.rate.kind == statistics.WITHIN_RUN for c in cells):
        lines.append("n = 1: the interval lies within one run and tells nothing of the spread "
                     "between runs.")
    return lines
