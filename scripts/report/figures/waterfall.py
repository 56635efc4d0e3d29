"""From the synthetic ceiling down to what a cell reaches, step by step: what the difference is made
of, as `feedrate diagnose` measured it."""

from dataclasses import dataclass

from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from ..claims import diagnosis, diagnosis_file
from ..ledger import statistics
from ..look import style
from ..text import clean, listing, plain
from . import marks
from .page import Page

COLOURS = {
    "normalise": style.NORMALISE,
    "copy": style.COPY,
    "storage": style.STORAGE,
    **style.STAGES,
}
THICK, APART = 0.62, 0.4  # of a place: a bar; what sets the mark apart that is no link of the chain
MUTED = style.lighter(style.LIGHT, 0.35)
TALL = 2.2  # inches of the panel in a column
# What a step can be, beside a loss: as the legend lists it.
TOLD = (diagnosis.GAIN, diagnosis.NOT_TOLD, diagnosis.NO_INTERVAL, diagnosis.NOT_QUOTABLE)
NAMED, DISCARDED = "named by the verdict", "discard"
BESIDE = (
    "Discard: synthetic steps with loaders beside them whose batches are thrown away; no link of"
    " the chain."
)


@dataclass(frozen=True)
class Column:
    name: str  # below it
    words: tuple  # above it: (images/s, share of the ceiling)
    top: float  # where they stand
    bar: object = None  # of a step


def claim(plan, _):
    return _title(plan.setting.diagnosis)


def _title(found):
    return f"{clean(found.label, 80)}: {found.words()}"


def draw(setting, gpus, context):
    found = setting.diagnosis
    if not found or not found.ceiling or not found.reached:
        return None
    page = Page(setting, _title(found), context, gpus)
    if not found.is_look and not found.not_quotable:
        page.explain(found.verdict.sentence)
    bars, discard = found.bars(), found.rate(diagnosis.DISCARD)
    page.legend(_legend(bars, discard))
    page.foot([], _notes(found), source=f"From {diagnosis_file.NAME}: {found.measured}")
    columns = _columns(found, bars, discard)
    # upright in a column, where they need the room that their letters take
    under = 0.12 + 0.075 * max(len(c.name) for c in columns) if page.narrow else 0.36
    (ax,) = page.panels(1, under=under, over=0.1, tall=TALL, left=0.19 if page.narrow else None)
    last = len(bars) + 1
    places = [*range(last + 1), last + 1 + APART][: len(columns)]
    _whole(ax, 0, found.ceiling)
    _whole(ax, last, found.reached.rate)
    half, how = THICK / 2, dict(color=style.GREY, linewidth=style.scaled(0.8), zorder=2)
    for x, y in enumerate([found.ceiling.mean, *(bar.bottom for bar in bars)]):
        ax.plot([x + half, x + 1 - half], [y, y], **how)  # from a bar's end to the next one's start
    for x, bar in enumerate(bars, 1):
        _step(ax, x, bar)
    if discard:
        marks.whisker(ax, places[-1], discard.mean, discard.error_bar, ecolor="black")
        ax.plot([places[-1]], [discard.mean], zorder=5, **_hollow())
        middle = places[-1] - (1 + APART) / 2
        ax.axvline(middle, color=style.LIGHT, linewidth=style.scaled(1), zorder=1)
    _axes(ax, page, places, columns)
    _label(ax, page, places, columns, min([0, *(bar.ends[0] for bar in bars)]))
    page.sides("images/s")
    return page


def _columns(found, bars, discard):
    reached = found.reached.rate
    share = diagnosis.share_words(reached.mean / found.ceiling.mean)
    cold = " (cold)" if found.reached.name == "cold" else ""  # its files not in the page cache
    wholes = [("ceiling", found.ceiling, ""), ("reached" + cold, reached, share)]
    wholes += [(DISCARDED, discard, "")] if discard else []
    columns = [
        Column(name, (diagnosis.rate_words(rate.mean), share), rate.mean + rate.error_bar[1])
        for name, rate, share in wholes
    ]
    columns[1:1] = [Column(clean(b.step.name, 18), b.words, max(b.top, b.ends[1]), b) for b in bars]
    return columns


def _notes(found):
    notes = []
    if found.not_quotable:
        notes.append(f"The ceiling and all that is held against it {found.not_quotable}.")
    if found.is_look:
        notes.append(
            f"Fewer than {statistics.LEAST} rounds: a look, without intervals; nothing is claimed."
        )
    unsure = [clean(b.step.name, 30) for b in found.bars() if b.how == diagnosis.NOT_TOLD]
    if unsure:
        notes.append(
            f"Pale: {listing(unsure)}: not told from 0 (risk: 5 % for what the verdict names,"
            " 5 % for all others together)."
        )
    notes += found.caveats
    notes.append("Above each bar: images/s taken (−) or added (+) and their share of the ceiling.")
    return notes + ([BESIDE] if found.rate(diagnosis.DISCARD) else [])


def look_of(bar):
    """(fill, rim, width of the rim, hatch): the verdict's steps in full colour with a heavy rim,
    others paler, and gray where they are not told from 0."""
    colour = COLOURS.get(bar.step.name, style.GREY)
    if bar.how not in (diagnosis.LOSS, diagnosis.GAIN):
        fill = MUTED
    else:
        fill = colour if bar.is_named else style.lighter(colour, 0.5)
    rim = "black" if bar.is_named else style.EDGE if bar.how != diagnosis.NOT_TOLD else "#999999"
    return fill, rim, 1.7 if bar.is_named else 0.7, "//" if bar.how == diagnosis.GAIN else ""


def _legend(bars, discard):
    handles = []
    for how in (how for how in TOLD if any(bar.how == how for bar in bars)):
        look = dict(facecolor=MUTED, edgecolor=style.EDGE, linewidth=style.scaled(0.7))
        look |= dict(facecolor="white", hatch="///") if how == diagnosis.GAIN else {}
        handles.append((Patch(**look), "gained" if how == diagnosis.GAIN else how))
    if any(bar.is_named for bar in bars):
        look = dict(facecolor="white", edgecolor="black", linewidth=style.scaled(2.0))
        handles.append((Patch(**look), NAMED))
    if discard:
        handles.append((Line2D([], [], **_hollow()), "discard (no link of the chain)"))
    return handles


def _hollow():
    edge = dict(markeredgecolor="black", markeredgewidth=style.scaled(1.6), markerfacecolor="none")
    return dict(marker="D", markersize=style.scaled(8), linestyle="none", **edge)


def _whole(ax, x, rate):
    """A bar from zero: the ceiling, and what is reached."""
    look = dict(facecolor=style.lighter(style.BLACK, 0.65), edgecolor=style.EDGE, zorder=3)
    ax.bar(x, rate.mean, THICK, linewidth=style.scaled(0.8), **look)
    marks.whisker(ax, x, rate.mean, rate.error_bar)


def _step(ax, x, bar):
    fill, rim, width, hatch = look_of(bar)
    look = dict(facecolor=fill, edgecolor=rim, linewidth=style.scaled(width), hatch=hatch, zorder=3)
    ax.bar(x, bar.bottom - bar.top, THICK, bar.top, **look)
    low, high = bar.ends
    marks.whisker(ax, x, bar.bottom, (max(bar.bottom - low, 0), max(high - bar.bottom, 0)))


def _axes(ax, page, places, columns):
    ax.set_xlim(-0.6, places[-1] + 0.6)
    ax.grid(False, axis="x")
    words = [plain(column.name) for column in columns]
    if not page.narrow:
        words = [name.replace(" (", "\n(") for name in words]
    ax.set_xticks(places, words, rotation=90 if page.narrow else 0)
    ax.tick_params(axis="x", length=0)
    _fit(ax, page, columns, ax.get_xticklabels())
    marks.ticks(ax.yaxis)


def _fit(ax, page, columns, texts):
    """Makes the words of what the verdict names bold, and those of what is not told grey; then all
    smaller until each keeps to its place."""
    for bar, text in ((column.bar, text) for column, text in zip(columns, texts) if column.bar):
        if bar.is_named:
            text.set_weight("bold")
        elif bar.how == diagnosis.NOT_TOLD:
            text.set_color(style.GREY)
    if page.narrow:  # where they are upright
        return
    (left, _), (right, _) = ax.transData.transform([(0, 0), (1, 0)])
    renderer, room = page.figure.canvas.get_renderer(), 0.97 * (right - left)
    widest = max(text.get_window_extent(renderer).width for text in texts)
    for text in texts if widest > room else ():
        text.set_fontsize(max(style.LEAST, text.get_fontsize() * room / widest))


def _label(ax, page, places, columns, bottom):
    """What each bar stands for, above it; upright in a column, which has no room for it else."""
    words = [_joined(*column.words, page) for column in columns]
    room = (0.06 * max(map(len, words)) + 0.06) / TALL if page.narrow else 0.17
    ax.set_ylim(bottom, max(column.top for column in columns) / (1 - room))
    how = dict(ha="center", va="bottom", rotation=90 if page.narrow else 0, linespacing=1.15)
    texts = []
    for x, column, word in zip(places, columns, words):
        above = 11 if column.name == DISCARDED else 4  # half of the mark is above its value
        texts.append(marks.say(ax, word, (x, column.top), (0, above), 10.5, **how))
    _fit(ax, page, columns, texts)


def _joined(rate, share, page):
    if page.narrow:
        return f"{rate} ({share})" if share else rate
    unit = "" if page.bare else " img/s"  # there the axis alone says it
    return f"{rate}{unit}\n{share}".strip()
