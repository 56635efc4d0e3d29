"""What the figures over the number of GPUs share: one panel a stored size, each series at the
workers chosen."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.lines import Line2D

from . import panels, style
from .page import Page, at_bottom
from .text import listing, plain


@dataclass
class OverGpus:
    page: Page
    sizes: list  # stored sizes, one panel each
    series: list
    counts: list  # of GPUs, fewest first
    chosen: dict  # (size, series) -> its chosen cell at each count
    ceiling_look: style.Look

    def rows(self, size):
        """(cells, look) of each series in a panel."""
        return [(self.chosen[size, s], s.look) for s in self.series]


def lay_out(setting, context, title, more_legend=(), notes=lambda over: []):
    """The page with its legend and foot, before its panels; None where there is only one count, or
    no valid cell."""
    cells = [c for c in setting.cells if c.data != "synthetic"]
    counts = sorted({c.gpus for c in cells if c.rate})
    if len(counts) < 2 or not panels.any_valid(cells):
        return None
    sizes, series = panels.image_sizes(cells), style.series_of(cells)
    page = Page(setting, title, context, None, 1.0 if len(sizes) <= 3 else 1.3)
    look = style.Look("#000000", "_", style.KINDS["synthetic"].line)
    handles = [
        (Line2D([], [], linestyle=s.look.line, **style.marker(s.look)), s.label) for s in series
    ]
    handles += [
        (Line2D([], [], color="black", linestyle=look.line, marker="_"), "ceiling (synthetic)"),
        *more_legend,
    ]
    page.legend([line for line, _ in handles], [label for _, label in handles])
    chosen = {
        (size, s): panels.best_by_count(panels.of_series(panels.in_panel(cells, size), s))
        for size in sizes
        for s in series
    }
    drawn = list({id(c): c for row in chosen.values() for c in row}.values())
    over = OverGpus(page, sizes, series, counts, chosen, look)
    page.foot(drawn, [workers_used(chosen, sizes), *notes(over)])
    return over


def label(ax, axes, i, size, setting):
    """The panel's title, and the words of its horizontal axis where it is the lowest."""
    ax.set_title(plain(panels.panel_title(size, setting)), loc="left")
    if at_bottom(axes, i):
        ax.set_xlabel("replicas" if setting.kind == "cpu" else "GPUs")
    if not ax.get_subplotspec().is_first_col():
        ax.tick_params(labelleft=False)


def workers_used(chosen, sizes):
    """Which worker counts were chosen, in one line: all equal, or by series and size."""
    used = {key: [c.workers for c in row if c.rate] for key, row in chosen.items()}
    every = {w for row in used.values() for w in row if w is not None}
    if len(every) == 1:
        each = every.pop()
        counts = sorted({c.gpus for row in chosen.values() for c in row})
        return f"Workers per GPU: {each} ({listing([each * n for n in counts])} in all)."
    if not every:
        return "Workers per GPU: none."
    words = {}
    for (size, s), row in used.items():
        if any(w is not None for w in row):
            told = str(row[0]) if len(set(row)) == 1 else listing(row)
            words[row_name(size, s, chosen[size, s], sizes)] = told
    words = [f"{name}: {row}" for name, row in words.items()]
    return "Workers chosen per GPU, by GPU count where they differ: " + "; ".join(words) + "."


def row_name(size, series, cells, sizes):
    """A series of a panel, with its stored size where there are several."""
    sized = any(c.image_size for c in cells) and len(sizes) > 1
    return f"{series.label} {size}" if sized else series.label
