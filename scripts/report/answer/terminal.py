"""The table in the terminal: compact enough for 100 columns."""

from __future__ import annotations

import textwrap
from collections import Counter

from ..claims import claims, tables
from ..ledger import statistics
from ..ledger.cells import DRIFTED
from ..text import clean, listing
from ..text import workers as worker_words

WIDTH = 100
LEFT_ALIGNED = (0, 1, 8, 9)


def table(settings, title_of):
    """The whole text, one line a cell, footnotes for what the marks mean, the workers chosen and
    what was found of each."""
    out = []
    for setting in settings:
        cells = setting.ceilings + setting.cells
        marks = tables.marks(cells)
        out += wrapped(title_of(setting), "") + [""]
        told = {
            id(c): [marks[name] for name in tables.flag_names(c) if name in marks] for c in cells
        }
        rows = {id(c): [*tables.short_row(c), " ".join(told[id(c)])] for c in cells}
        head = [*tables.HEAD[:6], "% ceiling", "waits", "stage", "flags"]
        widths = [max(len(r[i]) for r in [head, *rows.values()]) for i in range(len(head))]
        out.append(aligned(head, widths))
        for variant, some in tables.by_variant(setting):
            out += wrapped(f"with {variant}:", "  ") if variant else []
            out += [aligned(rows[id(c)], widths) for c in some]
        out += ["", *_chosen(setting, claims.of(settings)), *_footnotes(setting, cells, marks), ""]
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


def _chosen(setting, all_claims):
    rows = tables.chosen_rows(setting, all_claims)
    lines = []
    for data, size, gpus, workers, rate, share, how, claim in rows:
        size = "" if size == "-" else f" {size}"
        count = worker_words(None if workers == "-" else int(workers))
        count += "" if gpus == "1" else f" per GPU, {gpus} GPUs"
        share = "no ceiling" if share == "-" else f"{share} of the ceiling"
        claim = "" if claim == "-" else f"; {claim}"
        words = f"{data}{size}: {count}, {rate} imgs/s, {share}: {how}{claim}"
        lines += ["  " + line for line in wrapped(words, "  ")]
    return [tables.CHOSEN, *lines, ""] if rows else []


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
    flags = [f for c in setting.ceilings for f in c.flags if f.get("name") == DRIFTED]
    lines += map(flag_words, flags)
    said = wordings(cells)
    for name, mark in marks.items():
        words = tables.DERIVED.get(name)
        lines.append(f"{mark} " + (f"{name}: {words}" if words else said[name]))
    for cell in cells:
        lines += [f"× {words}" for words in losses(cell)]
    return [line for text in lines for line in wrapped(text, "  ")]


def wordings(cells):
    """{name of a flag, with ! where it is serious: its most frequent words} of the records'."""
    found = {}
    for flag in (flag for cell in cells for flag in cell.flags):
        found.setdefault(tables.flag_name(flag), Counter())[flag_words(flag)] += 1
    return {
        name: words.most_common(1)[0][0] + (" (and the like)" if len(words) > 1 else "")
        for name, words in found.items()
    }


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
