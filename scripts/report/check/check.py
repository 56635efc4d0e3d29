"""`feedrate validate DIR`: derives again what a ledger's records and its report say, and compares.
One line a finding, exit code 1 where there is any."""

from __future__ import annotations

import argparse
import os

from .. import single, talk
from ..claims import diagnosis_file
from ..errors import ReportError
from ..ledger import ledger, plan
from ..text import clean
from . import arithmetic, remade, sequence

_say = talk.sayer("feedrate validate")


def main(arguments):
    options = _parser().parse_args(arguments)
    return talk.guarded(_say, lambda: _check(options))


def _parser():
    parser = talk.Parser(
        prog="feedrate validate",
        description=(
            "Derives again what a ledger's records and its report say, and names what differs."
        ),
        epilog=(
            "Exit codes: 0 nothing found, 1 something found or nothing to read, 2 a mistake in what"
            " was typed."
        ),
    )
    add = parser.add_argument
    add("folder", metavar="DIR", help="the result folder, which holds ledger.jsonl")
    add("-o", "--output", metavar="DIR", help="where its report is (default: DIR/report)")
    words = "do not make the report again: compare its files by their hashes alone"
    add("--no-drawing", dest="drawing", action="store_false", help=words)
    # how many findings the caller has printed already
    add("--found", type=int, default=0, help=argparse.SUPPRESS)
    add("--feedrate-version", default="", help=argparse.SUPPRESS)
    return parser


def _check(options):
    path = ledger.find(options.folder)
    findings, notes, numbered, broken = _ledger(path)
    count = len(numbered)
    diagnosed = diagnosis_file.read(path)
    if diagnosed:
        findings += [f"{diagnosis_file.NAME}: {words}" for words in diagnosed.problems()]
    report = options.output or single.default_folder(path)
    files = ""
    records = [{**ledger.upgrade(record), ledger.LINE: n} for n, record in numbered]
    context = single.context_of(path, records, options.feedrate_version, notes.append)
    gone = plan.missing(records, context.planned)
    if gone and records and plan.has_ended(path) and records[-1]["status"] != "interrupted":
        why = "although the last sweep ended by itself: records were taken out"
        findings += [f"{words.split(' and are')[0]}, {why}" for words in gone]
    else:
        notes += gone
    if options.output and not os.path.isdir(report):
        remedy = "name the report's with --output"
        raise ReportError(report, "there is no such folder", remedy)
    if not os.path.isdir(report):
        notes.append(f"{report}: there is no report to check; `feedrate report` makes it")
    elif broken or not numbered:
        notes.append(f"{report}: not checked, because the ledger is damaged")
    else:
        again = lambda at, before: single.make_again(path, records, context.planned, before, at)
        found, more, compared = remade.problems(report, path, again, options.drawing)
        findings, notes = findings + found, notes + more
        files = f" and {compared} files of its report"
    for words in findings:
        talk.show(clean(words, 400))
    for words in notes:
        _say("note: " + words)
    all_found = len(findings) + options.found
    _say(f"{count} records{files} checked: " + _count(all_found))
    return 1 if all_found else 0


def _count(found):
    return "nothing found" if not found else "1 finding" if found == 1 else f"{found} findings"


def _ledger(path):
    """(findings, notes, [(line, sound record), …], whether a line was no record)."""
    found, notes, numbered, broken = [], [], [], False
    for n, record, problem in ledger.scan(path):
        if problem and problem[0] == ledger.TORN:
            remedy = "`feedrate sweep -o DIR --resume` measures it again"
            notes.append(f"line {n} is {ledger.TORN}: {remedy}")
        elif problem:
            broken = True
            found.append((n, "; ".join(problem)))
        else:
            numbered.append((n, record))
            found += [(n, words) for words in arithmetic.problems(record)]
    if not numbered and not found:
        remedy = "run `feedrate sweep -o DIR` first"
        raise ReportError(path, "the ledger holds no result", remedy)
    found = sorted(found + sequence.problems(numbered), key=lambda entry: entry[0])
    return [f"line {n}: {words}" for n, words in found], notes, numbered, broken
