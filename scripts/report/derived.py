"""The files that are text and follow from the ledger alone. One list of their writers serves the
report, which writes them, and the check, which makes them again and compares."""
from __future__ import annotations

import itertools
import os
import re
from dataclasses import dataclass, field

from . import latex_table, methods, output, plan, settings as grouping, tables
from .heading import heading

TRIES = 100_000      # records grouped again at most, to find the state of the ledger that a file is of


@dataclass
class Context:
    """Where the numbers come from, what is wanted of them, and what has been written so far."""
    ledger_name: str
    version: str
    planned: list = field(default_factory=list)     # of plan.read()
    options: object = None
    claims: object = None                           # claims.Claims of the settings
    medium: object = None                           # what is drawn for: style.SHEET, style.COLUMN
    drawn: list = field(default_factory=list)       # drawing.Drawn, in order
    failed: list = field(default_factory=list)      # names of what should be there and is not


@dataclass(frozen=True)
class Source:
    """What a writer may draw on."""
    settings: list
    context: Context
    figures: tuple = ()      # a line of the index for each
    leads_to: tuple = ()     # what else the index names: keys of output.ELSEWHERE


# A new file that the ledger alone decides, to the last byte: one line here, and it is written with
# every report and looked at by every check. The captions of a paper are not here: they are written
# while the figures are drawn.
TABLES = {
    "table.csv": lambda source: tables.write_csv(source.settings),
    "table.md": lambda source: tables.write_markdown(source.settings, heading),
    "workers.csv": lambda source: tables.write_chosen_csv(source.settings),
    "table.tex": lambda source: latex_table.write(source.settings, heading),
}
PAPER = {
    "paper/methods.md": lambda source: methods.write_markdown(source.settings, source.context),
    "paper/methods.tex": lambda source: methods.write_latex(source.settings, source.context),
}
INDEX = {
    "index.md": lambda source: output.index(source.settings, heading, source.figures, source.leads_to, source.context),
}
FIGURE = re.compile(r"- \*\*(?P<stem>[^*]+)\*\* \((?P<links>.*?)\): ")
NAME = re.compile(r"^Drawn from .*?(?=, written by feedrate |\. Tables: )", re.MULTILINE)


def write(folder, writers, source):
    """The names of the files."""
    for name, make in writers.items():
        output.write(os.path.join(folder, name), make(source))
    return list(writers)


def problems(folder, records, context):
    """(findings, notes, how many files were made again): what does not follow from these records,
    each a line about one file. What a report need not have is looked for where its index names it."""
    findings, notes, like = [], [], None
    listed = _lines(os.path.join(folder, "index.md"))
    figures = tuple(line for line in listed if FIGURE.match(line))
    head = next((line for line in listed if NAME.match(line)), "")
    leads_to = tuple(key for key, (words, _) in output.ELSEWHERE.items() if words in head)
    writers = {**TABLES, **(PAPER if "paper" in leads_to else {}), **INDEX}
    found = grouping.group(plan.complete(records, context.planned))
    for name, make in writers.items():
        there = _read(os.path.join(folder, name))
        if there is None:
            findings.append(f"{name}: missing; run `feedrate report` again")
            continue
        made = make(Source(found, context, figures, leads_to))
        if name == "index.md" and there != made and there == NAME.sub(lambda _: _first(NAME, there), made):
            notes.append(f"{name}: names the ledger otherwise ({_first(NAME, there)[11:71]}): its folder was renamed")
        elif there != made:
            like = _state(make, there, records, (context, figures, leads_to), like)
            findings.append(f"{name}: " + (_stale(like[0], records) if like else _edited(there, made)))
    return findings + _missing(folder, figures, leads_to), notes, len(writers)


def _state(make, there, records, rest, hint):
    """The state of the folder (see plan.states) that gives this very file; None where none does."""
    states = itertools.islice(plan.states(records, rest[0].planned), 1 + TRIES // len(records))
    for state in itertools.chain([hint] if hint else [], states):
        if make(Source(grouping.group(state[1]), *rest)) == there:
            return state
    return None


def _stale(count, records):
    when = "before the last sweep began" if count == len(records) else f"when the ledger held {count} of its {len(records)} records"
    return f"stale: made {when}; run `feedrate report` again"


def _edited(there, made):
    ours, theirs = made.splitlines(), there.splitlines()
    n = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
    return f"line {n + 1} does not follow from the ledger, nor from an earlier state of it: edited, or made by " \
           "another version; run `feedrate report` again"


def _missing(folder, figures, leads_to):
    """Files that the index names and that are not there, and what a killed report left half-written."""
    names = {os.path.basename(name) for line in figures
             for name in re.findall(r"\]\(([^)]+)\)", FIGURE.match(line)["links"])}
    names |= {name for key in leads_to for name in output.ELSEWHERE[key][1]}
    paper = os.path.join(folder, "paper")
    there = [*os.listdir(folder), *(f"paper/{name}" for name in (os.listdir(paper) if os.path.isdir(paper) else []))]
    return [f"{name}: missing; index.md names it" for name in sorted(names - set(there))] + \
        [f"{name}: a half-written file of a report that was cut off; delete it"
         for name in sorted(there) if os.path.basename(name).startswith(output.TEMPORARY)]


def _lines(path):
    return (_read(path) or "").splitlines()


def _read(path):
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _first(pattern, text):
    found = pattern.search(text)
    return found.group() if found else ""
