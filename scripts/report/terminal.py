"""The table in the terminal: compact enough for 100 columns."""

from __future__ import annotations

import textwrap

from . import claims, statistics, tables
from .cells import DRIFTED
from .text import clean, listing
from .text import workers as worker_words

WIDTH = 100
LEFT_ALIGNED = (0, 1, 8, 9)


def table(settings, title_of):
    """The whole text, one line a cell, footnotes for what the marks mean, the workers chosen and
    what was found of each."""
    out = []
    for setting in settings:
        cells = setting.ceilings + setting.cells
        marks = _marks(cells)
        out += wrapped(title_of(setting), "") + [""]
        rows = {
            id(c): (
                tables.short_row(c)
                + [" ".join(marks[name] for name in tables.flag_names(c) if name in marks)]
            )
            for c in cells
        }
        head = list(tables.HEAD)
        head[6], head[7], head[8] = "% ceiling", "waits", "stage"
        widths = [max(len(r[i]) for r in [head, *rows.values()]) for i in range(len(head))]
        out.append(aligned(head, widths))
        for variant in dict.fromkeys(c.variant for c in cells):
            out += wrapped(f"with {variant}:", "  ") if variant else []
            out += [aligned(rows[id(c)], widths) for c in cells if c.variant == variant]
        out += (
            [""] + _chosen(setting, claims.of(settings)) + _footnotes(setting, cells, marks) + [""]
        )
    return "\n".join(out)


ANSWER = "Answer"  # how its first line begins: scripts/quickstart looks for it
ALSO = 3  # settings of which only what was found is said


def answer(answers):
    """The last lines of all: the first answer whole, and what was found of other settings. A
    command stands on a line of its own and is not broken."""
    first = answers[0]
    parts = (
        ("found", first.found),
        ("limit", first.limit),
        ("cost", first.cost),
        ("sure", "; ".join(filter(None, (first.validity, first.caveat)))),
        ("next", first.advice + ":"),
    )
    out = wrapped(f"{ANSWER} for {first.about}", "  ")
    for label, words in parts:
        out += wrapped(words, " " * 9, f"  {label + ':':<7}") if words else []
    out.append(f"    {clean(first.command, 4000)}")
    for other in answers[1 : 1 + ALSO]:
        words = f"{other.about}: {other.found}; {other.validity}"
        out += wrapped(words, " " * 9, f"  {'also:':<7}")
    more = len(answers) - 1 - ALSO
    return "\n".join([*out, *([f"  and {more} more settings, in index.md"] if more > 0 else [])])


def aligned(words, widths, left=LEFT_ALIGNED):
    """A line of a table; the columns in `left` are flush left, the others right."""
    return "  ".join(
        w.ljust(n) if i in left else w.rjust(n) for i, (w, n) in enumerate(zip(words, widths))
    ).rstrip()


def _marks(cells):
    """{flag name: its mark}: a letter each, with ! where it is serious; drift has its own star."""
    names = dict.fromkeys(n for c in cells for n in tables.flag_names(c) if n != DRIFTED)
    letters = "abcdefghijklmnopqrstuvwxyz"
    return {
        name: (letters[i] if i < 26 else str(i)) + ("!" if name.endswith("!") else "")
        for i, name in enumerate(names)
    }


def _chosen(setting, all_claims):
    rows = tables.chosen_rows(setting, all_claims)
    words = (
        "{}{}: {}{}, {} imgs/s, {}: {}{}".format(
            data,
            "" if size == "-" else f" {size}",
            worker_words(None if workers == "-" else int(workers)),
            "" if gpus == "1" else f" per GPU, {gpus} GPUs",
            rate,
            "no ceiling" if share == "-" else f"{share} of the ceiling",
            how,
            "" if claim == "-" else f"; {claim}",
        )
        for data, size, gpus, workers, rate, share, how, claim in rows
    )
    return (
        ["Workers chosen (rates and shares are corrected for the choice):"]
        + ["  " + line for text in words for line in wrapped(text, "  ")]
        + [""]
        if rows
        else []
    )


def _footnotes(setting, cells, marks):
    lines = [
        "waits: share of the step in which the device waits for data; stage: the largest "
        "within the tightest resource."
    ]
    kinds = sorted({c.rate.kind for c in cells if c.rate} - {statistics.SET})
    if kinds and kinds != [statistics.NO_INTERVAL]:
        lines.append(f"±: {'; '.join(kinds)}; n repetitions.")
    if statistics.NO_INTERVAL in kinds:
        lines.append(
            f"Fewer than {statistics.LEAST} repetitions are a look: the points, no interval, and"
            " nothing is claimed. Repeat at least 6 times to publish."
        )
    if any(tables.drifted(c) for c in setting.cells):
        lines.append(f"* {tables.STAR}.")
    lines += [f"{line}." for line in tables.incomplete_lines(setting)]
    lines += [
        flag_words(flag)
        for c in setting.ceilings
        for flag in c.flags
        if flag.get("name") == DRIFTED
    ]
    for name, mark in marks.items():
        if name in tables.DERIVED:
            lines.append(f"{mark} {name}: {tables.DERIVED[name]}")
            continue
        words = {}
        for flag in (
            f
            for c in cells
            for f in c.flags
            if clean(f.get("name") or "?", 40) + ("!" if f.get("severity") == "serious" else "")
            == name
        ):
            words[flag_words(flag)] = words.get(flag_words(flag), 0) + 1
        lines.append(
            f"{mark} {max(words, key=words.get)}" + (" (and the like)" if len(words) > 1 else "")
        )
    for cell in cells:
        lines += [f"× {words}" for words in losses(cell)]
    return [line for text in lines for line in wrapped(text, "  ")]


def wrapped(words, indent, first=""):
    """As lines that fit the terminal; `first` begins the first one, `indent` all others."""
    lines = textwrap.wrap(clean(words, 600), WIDTH, initial_indent=first, subsequent_indent=indent)
    return lines or [""]


def flag_words(flag):
    """ "name (severity): reason; remedy"."""
    words = f"{flag.get('name') or '?'} ({flag.get('severity') or 'note'})"
    words += f": {flag['reason']}" if flag.get("reason") else ""
    return clean(words + (f"; {flag['remedy']}" if flag.get("remedy") else ""), 500)


def losses(cell):
    """A line for the repetitions without a result that ended alike."""
    size = f" {cell.image_size}" if cell.image_size else ""
    workers = "" if cell.workers is None else f", workers {cell.workers}"
    variant = f", {cell.variant}" if cell.variant else ""
    ends = {}
    for record in cell.lost:
        end = record["status"] + (f" ({record['error']})" if record.get("error") else "")
        ends.setdefault(end, []).append(record["repetition"])
    return [
        clean(
            f"{cell.data}{size}{workers}, GPUs {cell.gpus}{variant}, repetition"
            f"{'' if len(which) == 1 else 's'} {listing(which)}: {end}",
            500,
        )
        for end, which in ends.items()
    ]
