"""What the figures of a trace share: colours of what lasts, and rows of it."""

from __future__ import annotations

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


def bars(ax, y, height, kind, spans, faint=False, rim=None):
    """Draws [(start, end), …] of one kind in a row whose middle is y."""
    spans = [(start, end) for start, end in spans if end > start]
    if not spans:
        return
    low, high = y - height / 2, y + height / 2
    colour = COLOURS.get(kind, style.GREY)
    hatch = None if faint else HATCHES.get(kind)
    rim = hatch or kind == "step" if rim is None else rim
    edge = "white" if kind == "step" else style.EDGE
    if kind == "copy" and not rim:  # else short ones vanish
        rim, edge = True, style.lighter(colour, FAINT) if faint else colour
    ax.add_collection(
        PolyCollection(
            [[(a, low), (a, high), (b, high), (b, low)] for a, b in spans],
            facecolors=style.lighter(colour, FAINT) if faint else colour,
            edgecolors=edge if rim else "none",
            linewidths=style.scaled(0.6) if rim else 0,
            hatch=hatch,
            zorder=2 if faint else 3,
            rasterized=len(spans) > DENSE,
        ),
        autolim=False,
    )


def of_kinds(row, places):
    """{kind: [(start, end), …]} of those places of a row."""
    found = {}
    for i in places:
        found.setdefault(row.kinds[i], []).append((row.starts[i], row.ends[i]))
    return found


def shifted(spans, origin):
    return [(start - origin, end - origin) for start, end in spans]


def legend(page, kinds):
    look = dict(edgecolor=style.EDGE, linewidth=0.6)
    patches = [Patch(facecolor=COLOURS[k], hatch=HATCHES.get(k), **look) for k in kinds]
    page.legend(patches, [WORDS.get(k, k) for k in kinds])


def time_axis(ax, width):
    ax.set_xlim(0, width)
    ax.xaxis.set_major_locator(MaxNLocator(12))
    ax.xaxis.set_major_formatter(FuncFormatter(tick))


def label_rows(ax, labels):
    """[(y, words), …] at the left."""
    marks.name_rows(ax, *zip(*labels), fontsize=style.pt(style.SMALL))
