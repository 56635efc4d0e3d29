"""The parts of a 16:9 deck in python-pptx: slides, pictures, tables, and bytes that are the same
for the same ledger."""

from __future__ import annotations

import datetime
import io
import textwrap
import zipfile

from pptx.dml.color import RGBColor
from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
from pptx.util import Inches, Pt

from ..text import clean

WIDTH, HEIGHT = Inches(13.333), Inches(7.5)
MARGIN = Inches(0.5)
WHOLE = WIDTH - 2 * MARGIN
INK, GREY, RED = RGBColor(0x11, 0x11, 0x11), RGBColor(0x59, 0x59, 0x59), RGBColor(0xB0, 0x3A, 0x00)
HEADED_LAYOUT = 5  # of python-pptx's own template, with a title alone
TITLE_SIZE = 24  # points
WIDEST = 0.7  # of its size, what a letter takes in bold DejaVu Sans
LETTERS = int(WHOLE / Pt(1) / (WIDEST * TITLE_SIZE))  # of a line of a title
MEANS_LITTLE = 20  # letters: a shorter clause says nothing by itself
MARGINS = 4  # letters that a table cell's margins take
EPOCH = datetime.datetime(2000, 1, 1)


def slide(presentation, words, line=""):
    """A slide with its title, which takes two lines at most, and what it is of below it."""
    made = presentation.slides.add_slide(presentation.slide_layouts[HEADED_LAYOUT])
    title = made.shapes.title
    title.left, title.top, title.width, title.height = MARGIN, Inches(0.15), WHOLE, Inches(0.95)
    _fill(title.text_frame, [words], TITLE_SIZE, bold=True)
    if line:
        _fill(_box(made, 1.08, 0.35), [line], 13 if len(line) < 120 else 11, GREY)
    return made


def _box(slide, top, height):
    return slide.shapes.add_textbox(MARGIN, Inches(top), WHOLE, Inches(height)).text_frame


def fitting(words):
    """As much of a title as two lines hold, even in a wide typeface: only the reader's program
    knows which typeface it has. Whole clauses go first."""
    words = clean(words, 400)
    while not _fits(words):
        shorter = max(words.rfind("; "), words.rfind(": "))
        if shorter < MEANS_LITTLE:
            most = 2 * LETTERS - 12
            return textwrap.shorten(words, most, placeholder="…", break_on_hyphens=False)
        words = words[:shorter]
    return words


def _fits(words):
    return len(textwrap.wrap(words, LETTERS)) <= 2


def lines(slide, labelled, is_doubtful=False):
    """Labelled lines of text below the title, in a size that leaves room for all of them."""
    labelled = [(label, clean(words, 600)) for label, words in labelled if words]
    length = sum(max(len(words), 60) for _, words in labelled)
    size = 18 if length < 900 else 14 if length < 1800 else 11
    frame = _box(slide, 1.5, 5.6)
    frame.word_wrap = True
    for i, (label, words) in enumerate(labelled):
        paragraph = _paragraph(frame, i)
        paragraph.space_after = Pt(size / 2)
        for part, bold in ((f"{label}: " if label else "", True), (words, False)):
            run = paragraph.add_run()
            run.text = part
            run.font.size, run.font.bold = Pt(size), bold
            run.font.color.rgb = RED if is_doubtful and not bold else INK


def picture(slide, data, words):
    """Adds a picture as large as the space below the title allows; `words` is its description."""
    top, high = Inches(1.45), Inches(5.95)
    if not data:
        return
    shape = slide.shapes.add_picture(io.BytesIO(data), 0, top, height=high)
    if shape.width > WHOLE:
        shape.height = int(shape.height * WHOLE / shape.width)
        shape.width = WHOLE
    shape.left = int((WIDTH - shape.width) / 2)
    shape.name = words.partition(":")[0]
    # python-pptx has no name for alternative text
    shape._element.nvPicPr.cNvPr.set("descr", words)


def table(slide, head, rows, wide):
    """A table of (words, doubtful) rows; doubtful ones are red throughout. No column is wider than
    `wide` letters."""
    count = len(rows) + 1
    place = MARGIN, Inches(1.45), WHOLE, Inches(0.32) * count
    shape = slide.shapes.add_table(count, len(head), *place)
    longest = [max(map(len, column)) for column in zip(head, *(words for words, _ in rows))]
    shares = [min(max(n, 5), wide) + MARGINS for n in longest]
    for column, share in zip(shape.table.columns, shares):
        column.width = int(WHOLE * share / sum(shares))
    # by row; asked for one by one, each is looked for from the start
    cells = shape.table.iter_cells()
    for y, (words, doubtful) in enumerate([(head, False), *rows]):
        for word in words:
            _cell(next(cells), word, y == 0, doubtful)


def _cell(cell, words, is_head, doubtful):
    run = cell.text_frame.paragraphs[0].add_run()
    run.text = clean(words, 200)
    run.font.size = Pt(11)
    if doubtful:
        run.font.color.rgb = RED
    if is_head or doubtful:
        run.font.bold = True


def note(slide, words):
    _fill(_box(slide, 6.98, 0.35), [words], 11, GREY)


def text(slide, paragraphs):
    """Running text, as large as its length lets it be."""
    frame, length = _box(slide, 1.2, 6.1), sum(map(len, paragraphs))
    size = 16 if length < 1500 else 13 if length < 2600 else 10 if length < 4400 else 7
    _fill(frame, paragraphs, size)
    for paragraph in frame.paragraphs:
        paragraph.space_after = Pt(8)


def _paragraph(frame, i):
    """A frame has one from the start."""
    return frame.paragraphs[0] if i == 0 else frame.add_paragraph()


def _fill(frame, lines, size, colour=INK, bold=False):
    frame.word_wrap = True
    frame.vertical_anchor = MSO_ANCHOR.TOP
    for i, line in enumerate(lines):
        paragraph = _paragraph(frame, i)
        paragraph.alignment = PP_ALIGN.LEFT
        run = paragraph.add_run()
        run.text = clean(line, 9000)
        run.font.size, run.font.bold, run.font.color.rgb = Pt(size), bold, colour


def date(presentation, started, version):
    """The deck's dates are those of the ledger's last run."""
    try:
        when = datetime.datetime.strptime(started, "%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        when = EPOCH
    properties = presentation.core_properties
    properties.created = properties.modified = when
    properties.title, properties.revision = "feedrate report", 1
    author = f"feedrate {clean(version, 60)}".strip()
    properties.author = properties.last_modified_by = author


def without_times(data):
    """The same archive without the times at which its parts were packed."""
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            kind = zipfile.ZIP_STORED if name.endswith(".png") else zipfile.ZIP_DEFLATED
            undated = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            new.writestr(undated, old.read(name), compress_type=kind)
    return stream.getvalue()
