"""From the synthetic ceiling down to what a cell reaches, step by step: what the difference is made
of, as `feedrate diagnose` measured it."""

from __future__ import annotations

from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from . import diagnosis, diagnosis_file, statistics, style
from .page import Page
from .text import clean, listing, plain, tick

COLOURS = {
    "normalise": style.NORMALISE,
    "copy": style.COPY,
    "storage": style.STORAGE,
    **{name: colour for name, (colour, _) in style.STAGES.items()},
}
THICK, APART = 0.62, 0.4  # of a place: a bar; what sets the mark apart that is no link of the chain
MUTED = style.lighter(style.LIGHT, 0.35)
TALL = 2.2  # inches of the panel in a column
WORDS = {
    diagnosis.GAIN: "gained",
    diagnosis.NOT_TOLD: "not told from 0",
    diagnosis.NO_INTERVAL: "no interval",
    diagnosis.NOT_QUOTABLE: "must not be quoted",
}
NAMED = "named by the verdict"
BESIDE = (
    "Discard: synthetic steps with loaders beside them whose batches are thrown away; no link of"
    " the chain."
)


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
    page.legend(*_legend(bars, discard))
    page.foot([], _notes(found))
    names = ["ceiling", *(clean(b.step.name, 18) for b in bars), reached(found)]
    names += ["discard"] if discard else []
    # upright in a column, where they need the room that their letters take
    under = 0.12 + 0.075 * max(map(len, names)) if page.narrow else 0.36
    (ax,) = page.panels(1, under=under, over=0.1, tall=TALL, left=0.19 if page.narrow else None)
    last = len(bars) + 1
    places = [0, *range(1, last), last] + ([last + 1 + APART] if discard else [])
    _whole(ax, 0, found.ceiling)
    _whole(ax, last, found.reached.rate)
    _levels(ax, [found.ceiling.mean, *(bar.bottom for bar in bars)])
    for x, bar in enumerate(bars, 1):
        _step(ax, x, bar)
    if discard:
        _beside(ax, places[-1], discard)
    _axes(ax, places, names, bars, page)
    _label(ax, page, places, found, bars, discard)
    page.sides("images/s")
    return page


def reached(found):
    """Where the chain ends: the cell with its files in the page cache, or without them."""
    return "reached" + (" (cold)" if found.reached.name == "cold" else "")


def _notes(found):
    notes = [
        "Above each bar: images/s that the step takes (−) or adds (+), and their share of the"
        " ceiling. Whiskers: 95 %, at the end of a step that of its change."
    ]
    unsure = [clean(b.step.name, 30) for b in found.bars() if b.how == diagnosis.NOT_TOLD]
    if unsure:
        notes.append(
            f"Pale: {listing(unsure)}: not told from 0 (risk: 5 % for what the verdict names,"
            " 5 % for all others together)."
        )
    if found.not_quotable:
        notes.append(f"The ceiling and all that is held against it {found.not_quotable}.")
    if found.is_look:
        notes.append(
            f"Fewer than {statistics.LEAST} rounds: a look, without intervals; nothing is claimed."
        )
    if found.rate(diagnosis.DISCARD):
        notes.append(BESIDE)
    notes += found.caveats
    took = f" in {found.seconds:.0f} s" if found.seconds is not None else ""
    rounds = "1 round" if found.rounds == 1 else f"{found.rounds} rounds"
    return notes + [f"From {diagnosis_file.NAME}: {rounds}{took}."]


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
    handles, labels = [], []
    for how, words in WORDS.items():
        if any(bar.how == how for bar in bars):
            gain = how == diagnosis.GAIN
            handles.append(
                Patch(
                    facecolor="white" if gain else MUTED,
                    edgecolor=style.EDGE,
                    linewidth=style.scaled(0.7),
                    hatch="///" if gain else "",
                )
            )
            labels.append(words)
    if any(bar.is_named for bar in bars):
        handles.append(Patch(facecolor="white", edgecolor="black", linewidth=style.scaled(2.0)))
        labels.append(NAMED)
    if discard:
        handles.append(Line2D([], [], linestyle="none", **_hollow()))
        labels.append("discard (no link of the chain)")
    return handles, labels


def _hollow():
    return dict(
        marker="D",
        markersize=style.scaled(8),
        markerfacecolor="none",
        markeredgecolor="black",
        markeredgewidth=style.scaled(1.6),
        color="black",
    )


def _whole(ax, x, rate):
    """A bar from zero: the ceiling, and what is reached."""
    ax.bar(
        x,
        rate.mean,
        THICK,
        facecolor=style.lighter(style.BLACK, 0.65),
        edgecolor=style.EDGE,
        linewidth=style.scaled(0.8),
        zorder=3,
    )
    _whisker(ax, x, rate.mean, rate.error_bar)


def _step(ax, x, bar):
    fill, rim, width, hatch = look_of(bar)
    ax.bar(
        x,
        bar.bottom - bar.top,
        THICK,
        bottom=bar.top,
        facecolor=fill,
        edgecolor=rim,
        linewidth=style.scaled(width),
        hatch=hatch,
        zorder=3,
    )
    low, high = bar.ends
    _whisker(ax, x, bar.bottom, (max(bar.bottom - low, 0), max(high - bar.bottom, 0)))


def _whisker(ax, x, y, below_and_above):
    if any(below_and_above):
        ax.errorbar(
            x,
            y,
            [[side] for side in below_and_above],
            linestyle="none",
            color=style.EDGE,
            capsize=style.scaled(3.5),
            elinewidth=style.scaled(1.3),
            zorder=5,
        )


def _levels(ax, levels):
    """Thin lines that lead from the end of a bar to the beginning of the next."""
    half = THICK / 2
    for x, y in enumerate(levels):
        ax.plot(
            [x + half, x + 1 - half],
            [y, y],
            color=style.GREY,
            linewidth=style.scaled(0.8),
            zorder=2,
        )


def _beside(ax, x, rate):
    ax.errorbar(
        x,
        rate.mean,
        [[side] for side in rate.error_bar],
        linestyle="none",
        capsize=style.scaled(3.5),
        elinewidth=style.scaled(1.3),
        zorder=5,
        **_hollow(),
    )
    ax.axvline(x - (1 + APART) / 2, color=style.LIGHT, linewidth=style.scaled(1), zorder=1)


def _axes(ax, places, names, bars, page):
    ax.set_xlim(-0.6, places[-1] + 0.6)
    ax.grid(False, axis="x")
    words = [plain(name) for name in names]
    if not page.narrow:
        words = [name.replace(" (", "\n(") for name in words]
    ax.set_xticks(places, words, rotation=90 if page.narrow else 0)
    ax.tick_params(axis="x", length=0)
    for bar, label in zip(bars, ax.get_xticklabels()[1:]):
        if bar.is_named:
            label.set_weight("bold")
        elif bar.how == diagnosis.NOT_TOLD:
            label.set_color(style.GREY)
    if not page.narrow:
        _shrink(ax, ax.get_xticklabels(), page)
    ax.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    ax.yaxis.set_major_formatter(FuncFormatter(tick))


def _slot(ax, page):
    """How many pixels of the page a place has."""
    (left, _), (right, _) = ax.transData.transform([(0, 0), (1, 0)])
    return right - left


def _shrink(ax, labels, page):
    """Makes words smaller until each keeps to its place."""
    renderer, room = page.figure.canvas.get_renderer(), 0.97 * _slot(ax, page)
    widest = max(label.get_window_extent(renderer).width for label in labels)
    for label in labels if widest > room else ():
        label.set_fontsize(max(style.LEAST, label.get_fontsize() * room / widest))


def _label(ax, page, places, found, bars, discard):
    """What each bar stands for, above it; upright in a column, which has no room for it else."""
    tops = [_top(found.ceiling), *(max(bar.top, bar.ends[1]) for bar in bars)]
    tops += [_top(found.reached.rate)] + ([_top(discard)] if discard else [])
    words = [(_rate(found.ceiling), ""), *(bar.words for bar in bars)]
    share = found.reached.rate.mean / found.ceiling.mean
    words += [(_rate(found.reached.rate), diagnosis.share_words(share))]
    words += [(_rate(discard), "")] if discard else []
    words = [_joined(*pair, page.narrow) for pair in words]
    room = (0.06 * max(map(len, words)) + 0.06) / TALL if page.narrow else 0.17
    ax.set_ylim(min([0, *(bar.ends[0] for bar in bars)]), max(tops) / (1 - room))
    texts = []
    for i, (x, y, word) in enumerate(zip(places, tops, words)):
        above = 11 if discard and i == len(words) - 1 else 4  # half of the mark is above its value
        texts.append(
            ax.annotate(
                word,
                (x, y),
                (0, style.scaled(above)),
                textcoords="offset points",
                ha="center",
                va="bottom",
                rotation=90 if page.narrow else 0,
                fontsize=style.pt(10.5),
                linespacing=1.15,
                zorder=6,
            )
        )
    for bar, text in zip(bars, texts[1:]):
        if bar.is_named:
            text.set_weight("bold")
        elif bar.how == diagnosis.NOT_TOLD:
            text.set_color(style.GREY)
    if not page.narrow:
        _shrink(ax, texts, page)


def _top(rate):
    return rate.mean + rate.error_bar[1]


def _rate(rate):
    return diagnosis.rate_words(rate.mean)


def _joined(rate, share, is_narrow):
    if is_narrow:
        return f"{rate} ({share})" if share else rate
    return f"{rate} img/s\n{share}".strip()
