"""Words and numbers made safe for where they go: a figure, a terminal, CSV, Markdown."""

from __future__ import annotations

import csv
import html
import io

# What a spreadsheet takes for the start of a formula; the wide forms are the East Asian ones.
FORMULA_STARTS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def clean(value, most=160):
    """One printable line: no control characters (a terminal obeys them, SVG forbids them), no lone
    surrogates (UTF-8 forbids them), not endless."""
    text = str(value)
    if not (text.isascii() and text.isprintable()):
        text = text.encode("utf-8", "replace").decode("utf-8")
        text = "".join(c if c.isprintable() else " " for c in text)
    text = text.strip()
    return text if len(text) <= most else text[: most - 1] + "…"


def plain(value, most=160):
    """For a figure: as clean(), and a dollar is a dollar, not the start of a formula. Doing it
    twice changes nothing more."""
    return clean(value, most).replace(r"\$", "$").replace("$", r"\$")


def markdown(value):
    """For a Markdown table: no HTML, no cell border, no formatting of its own."""
    text = html.escape(clean(value, 2000), quote=False)
    return "".join("\\" + c if c in "\\`*_[]|#~!$" else c for c in text)


def markdown_table(head, rows, right):
    """The lines of a Markdown table; the columns in `right` are flush right."""
    rule = ["---:" if i in right else "---" for i in range(len(head))]
    cells = [map(markdown, head), rule, *(map(markdown, row) for row in rows)]
    return ["| " + " | ".join(words) + " |" for words in cells]


LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "{''}",
    "`": r"\textasciigrave{}",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "÷": r"$\div$",
    "·": r"$\cdot$",
    "−": "$-$",
    "…": r"\ldots{}",
    "°": r"$^\circ$",
    "√": r"$\surd$",
    "µ": r"\textmu{}",
    "μ": r"\textmu{}",
}


def latex(value, most=4000):
    """For LaTeX text: no command, no formula, no option of a `\\` before it, and no letter that
    pdfLaTeX lacks."""
    text = clean(value, most).replace(r"\$", "$")
    words = "".join(LATEX.get(c, c if c.isascii() or "À" <= c <= "ÿ" else "?") for c in text)
    return words.replace("--", "-{}-").replace("--", "-{}-")


def csv_cell(value):
    """Numbers as they are; text that a spreadsheet would run as a formula gets an apostrophe."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:.8g}"
    if isinstance(value, int):
        return str(value)
    text = clean(value, 4000)  # which takes leading tabs, returns and blanks away
    return "'" + text if text.startswith(FORMULA_STARTS) else text


def csv_text(rows):
    """The lines of a CSV file."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(map(csv_cell, row) for row in rows)
    return out.getvalue()


def axis_value(value):
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    return clean(value, 60)


def amount(value):
    """Three figures below 100, whole with thousands separators above: 5.61, 56.1, 12,345."""
    size = abs(value)
    if size >= 1e7:
        return f"{value:.3g}"
    if size >= 99.95:
        return f"{value:,.0f}"
    if size >= 9.995:
        return f"{value:.1f}"
    if size >= 0.9995:
        return f"{value:.2f}"
    return "0" if value == 0 else f"{value:.2g}"


def tick(value, _position=None):
    """An axis label: no zeros that say nothing."""
    return f"{value:,.6g}" if abs(value) < 1e7 else f"{value:.3g}"


def duration(hours):
    """Hours as h, min or s, whichever reads best; below a millisecond, 0 s: rounding of exact
    steps."""
    size = abs(hours)
    if size < 1e-3 / 3600:
        return "0 s"
    if size >= 1:
        return f"{amount(hours)} h"
    return f"{amount(60 * hours)} min" if size >= 1 / 60 else f"{3600 * hours:.2g} s"


def percent(fraction):
    value = 100 * fraction
    if value >= 99.95:
        return f"{value:.0f} %"
    return f"{value:.1f} %" if abs(value) >= 0.095 or value == 0 else f"{value:.2g} %"


def signed_percent(fraction):
    """ "+1.2 %", "−0.4 %"."""
    return f"{100 * fraction:+.1f} %".replace("-", "−")


def at_most(fraction):
    """A bound of a share in percent; what is too small to be shown is below a tenth."""
    return f"at most {percent(fraction)}" if fraction >= 0.001 else "below 0.1 %"


def spread(estimate, words=percent):
    """ "61.7 % (55.9 to 67.4 %)"; without an interval the points of the repetitions."""
    if estimate.low is None:
        return _points(estimate, words)
    low, high = words(estimate.low), words(estimate.high)
    unit = " " + high.rpartition(" ")[2]
    if low == high == words(estimate.mean):  # an emulated device's steps agree to the last bits
        return low
    if low.endswith(unit):
        low = low[: -len(unit)]
    return f"{words(estimate.mean)} ({low} to {high})"


def _points(estimate, words):
    """The values of a few repetitions, each once."""
    if 1 < len(estimate.points) < 4:
        return " and ".join(dict.fromkeys(map(words, estimate.points)))
    return words(estimate.mean)


def share_words(estimate):
    """ "61.7 ± 5.8 %"; "55.9 to 67.4 %" where the sides of the interval differ; a list of points
    where there is no interval."""
    if estimate.low is None or estimate.half_width < 0.0005:
        return spread(estimate)
    if estimate.is_lopsided:
        return f"{percent(estimate.low).removesuffix(' %')} to {percent(estimate.high)}"
    mean, half = percent(estimate.mean).removesuffix(" %"), percent(estimate.half_width)
    return f"{mean} ± {half}"


def plus_minus(estimate):
    """ "1,234 ± 25"; as spread() where the sides of the interval differ. Without an interval the
    points of the repetitions; what was set and not measured says so."""
    half, mean = estimate.half_width, amount(estimate.mean)
    if estimate.kind == "set, not measured":
        return f"{mean} (set)"
    if half is None:
        return _points(estimate, amount)
    if half < 1e-6 * abs(estimate.mean):  # rounding of an emulated device's exact steps
        return f"{mean} ± 0"
    if estimate.is_lopsided and amount(estimate.low) != amount(estimate.high):
        return spread(estimate, amount)
    digits = len(mean.partition(".")[2])
    is_short = half < 10**-digits or "e" in mean
    return f"{mean} ± " + (amount(half) if is_short else f"{half:,.{digits}f}")


def stored_at(size):
    """In words: "500x375", or "mixed" where each picture has a size of its own."""
    return f"stored at {clean(size)}" + (" sizes" if size == "mixed" else "")


def counted(count, noun):
    """ "1 round", "2 rounds"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def workers(count):
    return "no workers" if count is None else counted(count, "worker")


def gpus(count):
    return counted(count, "GPU")


def listing(values):
    """ "2", "2 and 3", "2, 3 and 5"."""
    words = [str(value) for value in values]
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]
