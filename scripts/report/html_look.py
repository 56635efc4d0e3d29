"""How a plotly trace looks: the looks of style.py in plotly's words. A colour that depends on light
or dark is a name with an @, which the page replaces."""

from __future__ import annotations

from . import style
from .text import plotly

INK, MUTED, DARK_YELLOW = "@ink", "@muted", "@yellow"
SYMBOLS = {
    "o": "circle",
    "s": "square",
    "^": "triangle-up",
    "v": "triangle-down",
    "<": "triangle-left",
    ">": "triangle-right",
    "D": "diamond",
    "P": "cross",
    "X": "x",
    "p": "pentagon",
    "h": "hexagon",
    "_": "line-ew",
}
THEMED = {style.BLACK: INK, style.DARK_YELLOW: DARK_YELLOW}


def symbol(look):
    """Of its marker: a circle for one that has no counterpart here."""
    return SYMBOLS.get(look.marker, "circle")


def colour(look):
    """Of lines and rims."""
    edge = style.marker(look)["color"]
    return THEMED.get(edge, edge)


def dash(line):
    """matplotlib's dashes, which count line widths, in pixels."""
    return "solid" if line == "-" else ",".join(f"{2 * part:g}px" for part in line[1])


def line(look, width=2):
    return {"color": colour(look), "dash": dash(look.line), "width": width}


def markers(invalid, look, size=8):
    """A marker for each: hollow, larger and with a ! (see marks) where it is not valid."""
    plain = symbol(look)
    # a stroke has no inside to be hollow: a hollow diamond in its place
    if plain == "line-ew":
        symbols = ["diamond-open" if bad else "line-ew-open" for bad in invalid]
    else:
        symbols = [plain + "-open" if bad else plain for bad in invalid]
    return {
        "symbol": symbols,
        "size": [size + 4 if bad else size for bad in invalid],
        "opacity": 1,
        "color": [colour(look) if bad else THEMED.get(look.colour, look.colour) for bad in invalid],
        "line": {"color": colour(look), "width": [2 if bad else 1 for bad in invalid]},
    }


def marks(invalid):
    return ["!" if bad else "" for bad in invalid]


def error_bars(estimates, look):
    """95 % intervals; none where none is known."""
    both = [e.error_bar for e in estimates]
    return {
        "type": "data",
        "symmetric": False,
        "array": [up for _, up in both],
        "visible": True,
        "arrayminus": [down for down, _ in both],
        "color": colour(look),
        "thickness": 1.3,
        "width": 4,
    }


def cross(look, size=10):
    """In place of a missing cell."""
    return {"symbol": "x-thin", "size": size, "line": {"color": colour(look), "width": 2.5}}


def lines(*parts):
    """A hover text: every part made harmless, one line each."""
    return "<br>".join(plotly(part, 120) for part in parts if part)


def key(series):
    """What traces of one series are shown and hidden by."""
    return f"{series.data}\n{series.variant}"


def label(series):
    return series.data + (f" ({series.variant})" if series.variant else "")


def positions(axis, places, words, **more):
    """An axis with ticks at the given places only."""
    return {
        "tickvals": list(places),
        "ticktext": [plotly(w, 60) for w in words],
        "title": {"text": axis},
        "zeroline": False,
        **more,
    }
