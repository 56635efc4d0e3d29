"""The reports of all ledgers in a folder, and one page with a row for each."""

from __future__ import annotations

import os
import pathlib
import shlex

from . import made, output, single, talk
from .answer import answer
from .errors import ReportError
from .page import html_results
from .text import clean, counted

BELOW = ("*/ledger.jsonl", "*/*/ledger.jsonl")  # results/NAME, results/KIND/NAME


def ledgers(folder):
    """The paths of those in the folders below it, by name; [] where it holds one itself."""
    if not os.path.isdir(folder) or os.path.isfile(os.path.join(folder, "ledger.jsonl")):
        return []
    found = (path for pattern in BELOW for path in pathlib.Path(folder).glob(pattern))
    return sorted(str(path) for path in found if path.is_file())


def report(options, paths, say):
    """Makes the reports that are missing or of another state of their ledger, and the page: (its
    path, whether all of it was made). A ledger that cannot be read costs its own row alone."""
    place = options.output or options.folder
    page = os.path.join(place, "index.html")
    if _is_of_another(page):
        remedy = "move it away, or name another folder with --output"
        raise ReportError(page, "is no page of feedrate report", remedy)
    results, left_out, lacking = [], [], 0
    for path in paths:
        name = clean(os.path.relpath(os.path.dirname(path), options.folder))
        try:
            answers, failed, words = _reported(path, options)
        except ReportError as error:
            left_out.append(str(error))
            say(str(error))
            continue
        results.append(html_results.Result(name, _link(path, place), answers))
        say(f"{name}: {words}")
        lacking += bool(failed)
    _write(page, clean(options.folder), results, left_out)
    say(f"the page with {counted(len(results), 'answer')} is {page}")
    return page, not left_out and not lacking


def _reported(path, options):
    """(Answers of the ledger, what its report lacks, what became of that in words)."""
    found, records, context = single.read(path, options, lambda words: None)
    if not found:
        raise ReportError(path, "holds no run that has an answer", "measure into it first")
    folder, failed = single.default_folder(path), context.failed
    if made.is_whole(folder, path):
        words = "its report is of this ledger"
    else:
        single.make(found, records, path, context, folder)
        words = f"its report was made, with {counted(len(context.drawn), 'figure')}"
    if failed:
        why = f"`feedrate report {shlex.quote(os.path.dirname(path))}` says why"
        words = f"its report lacks {', '.join(failed)}; {why}"
    return answer.of(found, context), failed, words


def _link(path, place):
    """From the page to that of the ledger's report, which may have been made without one."""
    folder = single.default_folder(path)
    names = ("index.html", "index.md")
    name = next((n for n in names if os.path.isfile(os.path.join(folder, n))), "")
    return os.path.relpath(os.path.join(folder, name), place)


def _is_of_another(page):
    """Whether somebody else's page is there: a folder of results may be part of a web site."""
    if not os.path.isfile(page):
        return False
    with open(page, encoding="utf-8", errors="replace") as file:
        return html_results.HEADING not in file.read()


def _write(page, folder, results, left_out):
    try:
        text = html_results.build(folder, results, left_out)
    except ImportError as error:
        raise talk.lacking(page, error, "Jinja2", "it is not written")
    output.make_folder(os.path.dirname(page) or ".")
    output.write(page, text)
