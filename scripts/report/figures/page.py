"""The page that every figure is drawn on: a 16:9 sheet with title, tag strip, legend, notes and
footer, or a bare one of a paper or of the page, beside which a caption says what the sheet writes
around its panels.
"""

import math
import re
import textwrap

from matplotlib import rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.transforms import ScaledTranslation

from .. import lines
from ..claims import footnotes
from ..ledger.heading import heading
from ..look import style
from ..text import plain
from . import findings

LEFT, RIGHT = 0.05, 0.965
TAG = 2.05  # inches of its width, at the right edge
# Lines of a title and its points, of which the first that does is taken.
TITLES = ((1, 15), (1, 14), (1, 13), (2, 14), (2, 13), (2, 12), (2, 11))
NOTES, LETTERS = 3, 156  # lines below the panels of a sheet, and letters in each
ACROSS = 46  # letters of a legend's entry in a column
WORDS = 32  # of a caption, without its marks; the claim, which it begins with, is whole in any case
DARK = "#222222"


class Page:
    """A figure in the making. The order is: legend(), foot(), panels(), sides(). `scale` enlarges
    the sheet, so that more rows keep their type size relative to each other; a slide then shows
    them smaller. A `bare` one gets its height from panels() instead. On a `narrow` one, a paper's
    column, there is room for few words."""

    def __init__(self, setting, title, context, gpus=None, scale=1.0, words=""):
        """`words` stand below the title in place of the setting's."""
        medium = context.medium
        self.setting, self.context = setting, context
        self.bare, self.narrow = medium.is_bare, medium.is_narrow
        self.scale = 1.0 if self.bare else scale
        self.width = medium.width * self.scale
        self.height = (medium.height or medium.width) * self.scale
        self.edge = 0.06 if self.bare else LEFT * self.width  # inches, free at the left
        words = words or heading(setting, gpus)
        self.caption, self.notes = [title + "."], []  # a paper's words for it; all that is said
        self._tell(words + ".")
        self.figure = Figure(figsize=(self.width, self.height))
        FigureCanvasAgg(self.figure)
        # Inches right of and above the upper left corner, wherever panels() puts that.
        inches = self.figure.dpi_scale_trans
        self.from_top = inches + ScaledTranslation(0, 1, self.figure.transFigure)
        self.above, self.below = (0.03, 0.03) if self.bare else (0.83, 0.62)  # inches, taken
        tag = style.TAGS.get(setting.kind)
        if tag:
            self._tag(*tag)
        if not self.bare:
            self._title(plain(title, 300), TAG if tag else 0)
            at = 1 - self.inches(self.above - 0.23)
            self._line(plain(words, 240), at, 11, color="#333333")  # all of a setting

    def inches(self, value):
        """Inches of height as a share of the page."""
        return value / self.height

    def _tell(self, words):
        """In the caption as far as there is room, in the notes in any case."""
        self.notes.append(words)
        if sum(map(_count, [*self.caption, words])) <= WORDS:
            self.caption.append(words)

    def _tag(self, words, colour):
        """A strip in the corner of a sheet; of a bare page, in a line of its own."""
        look = dict(color="white", weight="bold")
        if self.bare:
            look |= dict(fontsize=style.LEAST, ha="right", va="top", transform=self.from_top)
            box = dict(facecolor=colour, edgecolor="none", pad=1.5)
            self.figure.text(self.width - 0.05, -0.04, words, bbox=box, **look)
            self.above = 0.19
            return
        width, height = TAG / self.width, self.inches(0.40)
        corner, where = (1 - width, 1 - height), dict(transform=self.figure.transFigure)
        box = Rectangle(corner, width, height, color=colour, zorder=10, **where)
        self.figure.add_artist(box)
        look |= dict(fontsize=12.5, ha="center", va="center", zorder=11)
        self.figure.text(1 - width / 2, 1 - height / 2, words, **look)

    def _title(self, words, tag):
        """In at most two lines, the first beside the tag, which takes that many inches, a little
        smaller if need be; only what does not fit so takes more."""
        whole = (RIGHT - LEFT) * self.width
        rooms = ((1 - LEFT - 0.01) * self.width - tag, whole) if tag else (whole,)
        for most, size in TITLES:
            width_of = lambda part, size=size: self.widest([part], size, "bold")
            found = lines.of_title(words, width_of, rooms)
            if len(found) <= most:
                break
        top = 0.31 if len(found) == 1 else 0.28
        for i, line in enumerate(found):
            self._line(line, 1 - self.inches(top + 0.25 * i), size, weight="bold")
        self.above += 0.25 * (len(found) - 1)

    def widest(self, words, size, weight="normal"):
        """The width of the widest of these, inches."""
        renderer, widest = self.figure.canvas.get_renderer(), 0.0
        for one in dict.fromkeys(words):
            text = self.figure.text(0, 0, one, fontsize=size, weight=weight)
            widest = max(widest, text.get_window_extent(renderer).width / self.figure.dpi)
            text.remove()
        return widest

    def explain(self, words):
        """Sentences below the heading; of a bare page, in the caption."""
        self._tell(words)
        if self.bare:
            return
        for line in textwrap.wrap(plain(words, 600), int(122 * self.scale)):
            self._line(line, 1 - self.inches(self.above + 0.02), 10, color=DARK)
            self.above += 0.19
        self.above += 0.05

    def _line(self, words, y, size, **more):
        """Of a sheet; smaller where it is too long."""
        room = (RIGHT - LEFT) * self.width
        width = self.widest([words], size, more.get("weight", "normal"))
        size = size if width <= room else max(6.5, size * room / width)
        self.figure.text(LEFT, y, words, fontsize=size, va="center", **more)

    def legend(self, entries):
        """[(what it looks like, words), …] between the title and the panels, in as few rows as the
        page's width allows."""
        handles, labels = [handle for handle, _ in entries], [words for _, words in entries]
        if self.narrow:
            labels = [textwrap.fill(words, ACROSS) for words in labels]
        left = 0.04 if self.bare else self.edge
        room = self.width - 0.08 if self.bare else (RIGHT - LEFT) * self.width
        at = (left, (0.0 if self.bare else 0.09) - self.above)
        look = dict(loc="upper left", bbox_to_anchor=at, bbox_transform=self.from_top)
        look |= dict(frameon=False, handlelength=2.6, handletextpad=0.6, borderaxespad=0)
        look |= dict(borderpad=0, columnspacing=1.0 if self.bare else 1.5)
        for rows in range(1, len(labels) + 1):
            columns = math.ceil(len(labels) / rows)
            legend = self.figure.legend(handles, labels, ncol=columns, **look)
            box = legend.get_window_extent(self.figure.canvas.get_renderer())
            if box.width <= room * self.figure.dpi or rows == len(labels):
                self.above += box.height / self.figure.dpi + style.scaled(0.09)
                return
            legend.remove()

    def foot(self, cells, notes=(), single_runs=False, source=""):
        """What to know of the cells and then notes on this figure, in NOTES lines, and where its
        numbers come from, first of all from `source`; call before panels()."""
        notes = footnotes.warnings(cells, single_runs) + list(notes)
        told = footnotes.provenance(cells, self.context, single_runs, self.setting.kind)
        source = f"{source} · {told}" if source else told
        marked = "; ".join(footnotes.marks(cells))
        self.notes += [*notes, source + "."]
        if marked:
            self.caption.append(marked + ".")
        if self.bare:
            left, step, start = 0.05, 0.115, 0.04
            parts = [(line, DARK) for line in textwrap.wrap(marked, 56 if self.narrow else 120)]
        else:
            left, step, start = self.edge, 0.148, 0.09
            width = int(LETTERS * self.scale)
            said = lines.of_notes(plain(" ".join(notes), 4000), width, NOTES)
            parts = [(line, DARK) for line in said]
            said = lines.of_notes(plain(source, 600), width, 1)
            parts += [(line, style.GREY) for line in said]
        look = dict(fontsize=style.pt(style.TINY), va="bottom")
        look |= dict(transform=self.figure.dpi_scale_trans)
        for i, (line, colour) in enumerate(parts, 1):
            y = start + (len(parts) - i) * step
            self.figure.text(left, y, line, color=colour, **look)
        self.below = start + 0.04 + len(parts) * step

    def panels(
        self,
        count,
        left=None,
        right=None,
        under=0.52,
        over=0.30,
        wide=0.45,
        high=0.62,
        tall=None,
        columns=None,
        heights=None,
    ):
        """`count` axes in as square a grid as 16:9 wants; `under`, `over`, `wide` and `high` are
        the inches (of a sheet) that tick labels and titles need below, above and between them. In a
        column a panel is `tall` inches and there are `columns` of them; on a wider bare page it is
        higher, as its type is. With `heights`, of panels one above the other, their ratios are
        these."""
        if self.narrow:
            columns = columns or min(count, 2)
            left, right = left or 0.155, right or 0.955
        else:
            columns = 1 if heights else count if count <= 3 else math.ceil(math.sqrt(count))
            left, right = left or 0.103, right or 0.967
        rows = math.ceil(count / columns)
        above, below = self.above + style.scaled(over), self.below + style.scaled(under)
        high, wide = style.scaled(high), 0.45 * wide if self.narrow else style.scaled(wide)
        width = ((right - left) * self.width - (columns - 1) * wide) / columns
        if self.bare:
            self.height = above + below + rows * self._tall(tall, width) + (rows - 1) * high
            self.figure.set_size_inches(self.width, self.height)
        height = (self.height - above - below - (rows - 1) * high) / rows
        top, bottom = 1 - self.inches(above), self.inches(below)
        space = dict(left=left, right=right, top=top, bottom=bottom)
        space |= dict(wspace=wide / width, hspace=high / height)
        grid = self.figure.add_gridspec(rows, columns, height_ratios=heights, **space)
        self.middle = (top + bottom) / 2
        axes = [self.figure.add_subplot(grid[i // columns, i % columns]) for i in range(count)]
        self.bottom = axes[-columns:]  # no panel lies below them
        for ax in axes:
            self._fix_labels(ax)
        return axes

    def name_below(self, words):
        """The words of the horizontal axes, where no panel lies below."""
        for ax in self.bottom:
            ax.set_xlabel(words)

    def _tall(self, tall, width):
        """The inches of a panel that is so wide and, in a column, so tall (None: as usual)."""
        if tall is not None:
            return style.scaled(tall) * style.SHEET.text / style.COLUMN.text
        return 1.25 if self.narrow else min(max(0.62 * width, 1.5), 2.6)

    def _fix_labels(self, ax):
        """Sets where the axis label stands. Otherwise every draw would lay out all ticks once more
        to find its place. Vertical axes have no label of their own, see sides()."""
        points = style.scaled(11) + 1.16 * rcParams["xtick.labelsize"]
        below = ax.transAxes + ScaledTranslation(0, -points / 72, self.figure.dpi_scale_trans)
        ax.xaxis.set_label_coords(0.5, 0, transform=below)
        ax.yaxis.set_label_coords(0, 0.5)

    def sides(self, left, right=""):
        """The words of the vertical axes, once for all panels."""
        edge = 0.022 if self.narrow else 0.016
        look = dict(rotation=90, ha="center", va="center", fontsize=style.pt(11))
        for x, words in ((edge, left), (1 - edge, right)):
            self.figure.text(x, self.middle, words, **look)


def page_of(name, setting, gpus, context, scale=1.0):
    """The Page of the figure of that name, whose title is what it shows."""
    title = findings.title(name, setting, gpus, context.claims)
    return Page(setting, title, context, gpus, scale)


def _count(words):
    return len(re.findall(r"\w[\w.,/:]*", words))
