"""What the figures of a trace share: colours of what lasts, and rows of it."""

from types import SimpleNamespace

from matplotlib.collections import PolyCollection
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ..ledger.trace import STAGES
from ..look import style
from ..text import tick
from . import marks

COLOURS = {
    **{name: style.STAGES[name] for name in STAGES},
    "queue": style.LIGHT,
    "copy": style.COPY,
    "wait": "#FFFFFF",
    "submit": style.SUBMIT,
    "step": style.STEP,
    "idle": style.lighter(style.TAGS["emulated"][1], 0.75),
    "before": style.lighter(style.STEP, 0.75),
}
HATCHES = {"wait": "////", "idle": "xxxx", "before": "...."}
WORDS = {
    "queue": "in the queue",
    "wait": "training thread waits",
    "submit": "hands over",
    "idle": "device idle",
    "before": "behind the step before",
}
FAINT = 0.78  # white in the colours of what belongs to other batches
DENSE = 3000  # bars beyond which a PDF holds pixels


def setting_of(rank):
    """What a page asks of a setting."""
    device = rank.device
    kind = "emulated" if "(EMULATED" in device else "cpu" if device.endswith("(CPU)") else "gpu"
    return SimpleNamespace(kind=kind)


def row(ax, y, height, row, places, low, high=None, faint=False):
    """Draws what lies at those places of a row, from the moment `low` on; cut off at `high`."""
    found = {}
    for i in places:
        start, end = row.starts[i], row.ends[i]
        if high is not None:
            start, end = max(start, low), min(end, high)
        found.setdefault(row.kinds[i], []).append((start - low, end - low))
    for kind, spans in found.items():
        bars(ax, y, height, kind, spans, faint)


def bars(ax, y, height, kind, spans, faint=False, rim=None):
    """Draws [(start, end), …] of one kind in a row whose middle is y."""
    spans = [(start, end) for start, end in spans if end > start]
    if not spans:
        return
    low, high = y - height / 2, y + height / 2
    colour = COLOURS.get(kind, style.GREY)
    fill = style.lighter(colour, FAINT) if faint else colour
    hatch = None if faint else HATCHES.get(kind)
    edge = "white" if kind == "step" else style.EDGE
    if rim is None and kind == "copy":  # else short ones vanish
        edge = fill
    elif not (hatch or kind == "step" if rim is None else rim):
        edge = "none"
    boxes = PolyCollection(
        [[(a, low), (a, high), (b, high), (b, low)] for a, b in spans],
        facecolors=fill,
        edgecolors=edge,
        linewidths=0 if edge == "none" else style.scaled(0.6),
        hatch=hatch,
        zorder=2 if faint else 3,
        rasterized=len(spans) > DENSE,
    )
    ax.add_collection(boxes, autolim=False)


def legend(page, kinds):
    look = dict(edgecolor=style.EDGE, linewidth=0.6)
    patches = [Patch(facecolor=COLOURS[k], hatch=HATCHES.get(k), **look) for k in kinds]
    page.legend([(patch, WORDS.get(kind, kind)) for patch, kind in zip(patches, kinds)])


def time_axis(ax, width):
    ax.set_xlim(0, width)
    ax.xaxis.set_major_locator(MaxNLocator(12))
    ax.xaxis.set_major_formatter(FuncFormatter(tick))


def label_rows(ax, labels):
    """[(y, words), …] at the left."""
    marks.name_rows(ax, *zip(*labels), fontsize=style.pt(style.SMALL))
