"""The report's type: DejaVu Sans, cut once to the letters that reports are written with. A PDF
embeds the letters that it uses, and looking for those in the whole font, with all its rules for
scripts that no report has, costs more than drawing the figure. What the cut lacks still comes from
the whole font."""

import atexit
import functools
import importlib.util
import os
import shutil
import tempfile

from .. import interrupts

FACES = (("DejaVuSans.ttf", 400), ("DejaVuSans-Bold.ttf", 700))
CUT = "DejaVu Sans"  # the name that the figures ask for, now of the cut font
WHOLE = "DejaVu Sans (whole)"  # and of the one that it was cut from
USUAL = {"style": "normal", "variant": "normal", "stretch": "normal", "size": "scalable"}
LETTERS = (
    range(0x20, 0x180),
    range(0x370, 0x400),
    range(0x2010, 0x2040),
    range(0x2070, 0x20D0),
    range(0x2190, 0x2194),
    range(0x2200, 0x2270),
)


@functools.cache  # once; a process keeps what matplotlib has found
def cut():
    """The folder of the cut faces, which goes when this process ends."""
    folder = tempfile.mkdtemp(prefix="feedrate-type-")
    interrupts.discard(folder)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    from fontTools import subset

    dropped = ["FFTM", "PfEd", "GSUB", "GPOS", "GDEF"]
    options = subset.Options(layout_features=[], legacy_kern=True, drop_tables=dropped)
    options.glyph_names = options.recommended_glyphs = True
    for name, _ in FACES:
        font = subset.load_font(os.path.join(_originals(), name), options)
        cutter = subset.Subsetter(options)
        cutter.populate(unicodes=[letter for letters in LETTERS for letter in letters])
        cutter.subset(font)
        subset.save_font(font, os.path.join(folder, name), options)
    return folder


@functools.cache  # once in each process
def use(folder):
    """From now on matplotlib writes with the cut faces, and with the whole ones where those lack a
    letter."""
    from matplotlib.font_manager import FontEntry, fontManager

    for place, family in ((folder, CUT), (_originals(), WHOLE)):
        for name, weight in FACES:
            # Of two that fit a name equally well, the first is taken.
            font = FontEntry(os.path.join(place, name), family, **USUAL, weight=weight)
            fontManager.ttflist.insert(0, font)


def _originals():
    """matplotlib's own fonts, found without importing it."""
    found = importlib.util.find_spec("matplotlib")
    if found is None:
        raise ImportError("no matplotlib", name="matplotlib")
    return os.path.join(found.submodule_search_locations[0], "mpl-data", "fonts", "ttf")
