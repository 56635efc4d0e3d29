"""Words broken into lines: titles and notes. Imports nothing that draws."""

from __future__ import annotations

import re
import textwrap

GLUE = "\u00a0"  # a blank at which no line ends
# Between a number and its unit.
WITHIN = re.compile(
    r"(?<=\d) (?=(?:%|ms|s|min|h|[kMGT]?B(?:/s)?|images?/s|img/s|GPUs?|workers?|cores?|replicas?)"
    r"(?![\w/]))"
)
INTERVAL = re.compile(r"\(\d[\d.,]*(?:\s\S{1,3})? to \d[\d.,]*\s\S{1,3}\)")
PAUSE = 0.2  # of a line, that a break behind a colon or semicolon may be off the middle


def glued(words):
    """With blanks that do not break between each number and its unit, and within an interval."""
    return INTERVAL.sub(lambda found: found[0].replace(" ", GLUE), WITHIN.sub(GLUE, words))


def of_title(words, width_of, rooms):
    """The words in as few lines as fit the rooms, of which the last holds for all further ones: two
    of like length where two do, else from the first on as full as they get. width_of(words) and the
    rooms have the same unit."""
    parts = glued(words).split(" ")
    joined = lambda some: " ".join(some).replace(GLUE, " ")
    if width_of(joined(parts)) <= rooms[0]:
        return [joined(parts)]
    halves = [(joined(parts[:i]), joined(parts[i:])) for i in range(1, len(parts))]
    able = [(_apart(*pair, width_of), pair) for pair in halves if _fit(pair, width_of, rooms)]
    if able:
        return list(min(able)[1])
    lines = [[]]
    for part in parts:
        room = rooms[min(len(lines), len(rooms)) - 1]
        if lines[-1] and width_of(joined([*lines[-1], part])) > room:
            lines.append([])
        lines[-1].append(part)
    return [joined(line) for line in lines]


def _fit(pair, width_of, rooms):
    return width_of(pair[0]) <= rooms[0] and width_of(pair[1]) <= rooms[-1]


def _apart(first, second, width_of):
    wide, narrow = width_of(first), width_of(second)
    return abs(wide - narrow) - PAUSE * (wide + narrow) * first.endswith((":", ";"))


def of_notes(words, letters, most):
    """At most so many lines of so many letters; the last ends with … where words are left over."""
    lines = [line.replace(GLUE, " ") for line in _wrapped(glued(words), letters)]
    if len(lines) > most:
        lines = lines[:most]
        last = lines[-1]
        last = last if len(last) <= letters - 2 else last[: letters - 1].rpartition(" ")[0]
        lines[-1] = last.rstrip(" ·") + " …"
    return lines


def _wrapped(words, letters):
    # textwrap takes ASCII blanks alone for places to break at
    return textwrap.wrap(words, letters, break_on_hyphens=False)
