"""How figures look: colours, markers and line styles fixed per kind of data, fonts, rcParams."""

from collections import Counter
from dataclasses import dataclass

from ..ledger.cells import kind_rank
from ..text import plain
from . import typeface

# Okabe and Ito's palette: told apart with every common colour blindness.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILLION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
# Tol's and one of our own, as those eight are all in use; as far from each of them.
WINE, INDIGO, BROWN = "#882255", "#332288", "#5D3A1A"
GREY, LIGHT = "#666666", "#D9D9D9"

SMALL, TINY, LEAST = 9.5, 8.0, 7.0  # points; the first two as on a sheet, the last in print


@dataclass(frozen=True)
class Medium:
    """What a figure is drawn for. Every other size follows from that of its text."""

    name: str
    suffix: str  # of its files
    width: float  # inches
    height: object  # inches; None: as tall as its panels need
    text: float  # points of an axis label
    dpi: int

    # Title, notes and provenance are said beside a bare one, by a caption or by the page.
    is_bare = property(lambda self: self.height is None)
    # There is room for few words.
    is_narrow = property(lambda self: self.width < 5)


# 16:9, for a screen: 1600 pixels, what a slide of 1920 shows of it
SHEET = Medium("sheet", "", 10.0, 5.625, 11, 160)
COLUMN = Medium("column", "", 3.33, None, 7.7, 300)  # of a paper; a narrow screen
WIDE = Medium("wide", ".wide", 7.0, None, 8.5, 300)  # both columns of a paper; a screen


def rc(medium):
    """matplotlib's settings for a medium."""
    factor = medium.text / SHEET.text
    found = dict(RC)
    for key, value in RC.items():
        if key.endswith("width") or key == "lines.markersize":
            found[key] = value * factor
        elif key.endswith("size"):
            found[key] = max(LEAST, value * factor)
    if factor < 1:
        parts = (f"{axis}tick.major.{part}" for axis in "xy" for part in ("size", "pad"))
        found |= dict.fromkeys(parts, 3.5 * factor)
    return found


def scaled(size):
    """A length in points, as on a sheet, in the medium that is drawn for."""
    # here, because the interactive page takes colours and needs no matplotlib
    from matplotlib import rcParams

    return size * rcParams["font.size"] / RC["font.size"]


def pt(size):
    """A type size, as on a sheet, in the medium that is drawn for; never too small to read."""
    return max(LEAST, scaled(size))


RC = {
    "font.family": [typeface.CUT, typeface.WHOLE],
    "font.size": 11,
    "axes.titlesize": 11.5,
    "axes.labelsize": 11,
    "axes.titley": 1.0,  # else every draw looks for a place, and there is only the one
    "xtick.labelsize": 10.5,
    "ytick.labelsize": 10.5,
    "legend.fontsize": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "axes.edgecolor": "#444444",
    "axes.linewidth": 0.9,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.7,
    "lines.linewidth": 2.0,
    "lines.markersize": 7,
    "hatch.linewidth": 0.7,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "feedrate",
    "text.usetex": False,
    "savefig.facecolor": "white",
    "figure.facecolor": "white",
}


DARK_YELLOW = "#857A00"  # lines and rims of yellow markers: yellow alone does not show on white


@dataclass(frozen=True)
class Look:
    """Colour, marker and line: any one of the three tells the kind in greyscale too."""

    colour: str
    marker: str
    line: object

    @property
    def rim(self):
        """The colour of its lines and of its markers' rims."""
        return DARK_YELLOW if self.colour == YELLOW else self.colour


KINDS = {
    "synthetic": Look(BLACK, "_", (0, (6, 3))),
    "tensor": Look(BLUE, "o", "-"),
    "jpeg": Look(VERMILLION, "s", (0, (7, 1.5))),
    "png": Look(GREEN, "^", (0, (4, 1.5, 1, 1.5))),
    "png0": Look(PURPLE, "v", (0, (1, 1))),
    "bmp": Look(ORANGE, "D", (0, (3, 1, 1, 1, 1, 1))),
    "npy": Look(YELLOW, "P", (0, (5, 3))),
    "npz": Look(WINE, "h", (0, (2, 1, 6, 1))),
    "raw": Look(SKY, "X", (0, (9, 2, 2, 2))),
    "webp": Look(INDIGO, "<", (0, (6, 2, 6, 2, 1, 2))),
    "auto": Look(BROWN, ">", (0, (2, 2, 9, 2))),
}
OTHER = Look(GREY, "p", (0, (2, 2)))
EDGE = "#333333"  # rim of bars, and the mark beside hollow ones

# A further variant of the same data keeps the colour and the marker and gets the next of these.
VARIANT_LINES = (None, "-", (0, (1, 1.5)), (0, (8, 2, 1, 2, 1, 2)), (0, (3, 4)))
VARIANT_TONES = (0.0, 0.42, -0.40, 0.22, -0.20)  # mixed with white, or with black

# A colour has one meaning: what time goes to, what a monitor reads and what a device is have tones
# that no kind of data has.
CPU_WAIT = "CPU wait"  # no stage, but drawn beside them
STAGES = {
    "lock": "#EFA08A",
    "read": "#9FD3E6",
    "decode": "#C9B458",
    "augment": "#9CCFA4",
    "collate": "#C3A6D8",
    CPU_WAIT: "#8C8C8C",
}
NORMALISE, COPY, STORAGE, SUBMIT = "#6F86B5", "#E8DDB0", "#8E9E4E", "#B5B5B5"
STEP = "#1F5F5B"
SPARE = (NORMALISE, STORAGE)
READINGS = ("#222222", "#7A4EAB", "#A05A5A", "#4F7F7F")

TAGS = {"emulated": ("EMULATED DEVICE", "#B00020"), "cpu": ("CPU", "#24303C")}


@dataclass(frozen=True)
class Series:
    """Cells that share the kind of data and the variant: one line of a figure."""

    data: str
    variant: str
    label: str
    look: Look


def series_of(cells):
    """The series of some cells, in the fixed order of the kinds, each with its look and label."""
    real = [c for c in cells if c.data != "synthetic"]
    found = {(kind_rank(c.data), c.variant_rank, c.variant, c.data) for c in real}
    count, series = Counter(), []
    for *_, variant, data in sorted(found):
        label = plain(data + (f" ({variant})" if variant else ""), 70)
        # matplotlib leaves a label that begins with an underscore out of the legend
        label = " " + label if label.startswith("_") else label
        look = variant_of(KINDS.get(data, OTHER), count[data])
        series.append(Series(data, variant, label, look))
        count[data] += 1
    return series


def variant_of(base, nth):
    """The look of the nth that shares colour and marker with others, from 0 on."""
    line = VARIANT_LINES[nth % len(VARIANT_LINES)] or base.line
    tone = VARIANT_TONES[nth % len(VARIANT_TONES)]
    return Look(lighter(base.colour, tone), base.marker, line)


def lighter(colour, share):
    """The colour mixed with that share of white, or below zero of black."""
    if not share:
        return colour
    aim = 255 if share > 0 else 0
    parts = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(p + (aim - p) * abs(share)):02x}" for p in parts)


def marker(look, serious=False):
    """Keyword arguments of a marker: hollow where the cell carries a serious flag."""
    how = dict(color=look.rim, marker=look.marker, markeredgecolor=look.rim)
    if not serious:
        return how | dict(markerfacecolor=look.colour, markeredgewidth=scaled(0.8), zorder=4)
    # Hollow ones are larger, without a fill and on top: what they lie over still shows.
    how |= dict(markerfacecolor="none", markeredgewidth=scaled(1.6), zorder=6)
    return how | dict(markersize=scaled(11))
