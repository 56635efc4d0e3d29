"""`feedrate report`: the report of a ledger, with its table and its answer, or those of all ledgers
in a folder. Talk goes to stderr, the table to stdout; a failure is one line and the exit code 1."""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import webbrowser

from . import output, several, single, talk
from .answer import answer, terminal
from .figures import trace_report
from .ledger import ledger, plan, trace
from .ledger.heading import heading


def main(arguments):
    if any(trace.is_trace(word) for word in arguments if not word.startswith("-")):
        return trace_report.main(arguments)
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.open and not options.html:
        parser.error("--open: with --no-html there is no page to open")
    paths = several.ledgers(options.folder)
    if paths and (options.only or not options.html):
        option = "--only" if options.only else "--no-html"
        parser.error(f"{option}: {options.folder} holds several results; name one of them")
    # a few figures are no deck: the whole one stays
    options.slides = options.slides and not options.only
    return talk.guarded(_say, lambda: _reports(options, paths) if paths else _report(options))


def _parser():
    parser = talk.Parser(
        prog="feedrate report",
        description="Figures, tables and an index from a result folder. Of a folder that holds "
        "result folders: what each of them lacks of these, and a page with the answer of each.",
        epilog="A trace that `feedrate run --trace FILE` wrote has figures of its own: feedrate "
        "report FILE, and feedrate report FILE --help for their options.",
    )
    add = parser.add_argument
    add(
        "folder",
        metavar="DIR",
        help="a result folder, which holds ledger.jsonl, or a folder of such",
    )
    output.add_options(parser, "DIR/report; the page of several results: DIR")
    words = "draw this figure only, e.g. stages (may be given again)"
    add("--only", metavar="NAME", action="append", default=[], help=words)
    words = "tables, index and page only, without figures"
    add("--no-figures", action="store_true", help=words)
    add("--open", action="store_true", help="show the page, index.html, in the browser")
    add("--no-html", dest="html", action="store_false", help="no index.html")
    words = "no DIR/report/paper/: figures of one and two columns, captions, methods"
    add("--no-paper", dest="paper", action="store_false", help=words)
    add("--no-slides", dest="slides", action="store_false", help="no slides.pptx")
    add("--feedrate-version", default="", help=argparse.SUPPRESS)
    return parser


_say = talk.sayer("feedrate report")


def _report(options):
    path = ledger.find(options.folder)
    found, records, context = single.read(path, options, _say)
    folder = options.output or single.default_folder(path)
    talk.show(terminal.table(found, heading))
    for words in plan.missing(records, context.planned):
        _say(words)
    written = single.make(found, records, path, context, folder)
    others = [name for name in written if "/" not in name and not name.endswith(output.FORMATS)]
    _say(f"{len(context.drawn)} figures, {', '.join(others)} are in {folder}")
    if found:
        talk.show("\n" + terminal.answer(answer.of(found, context)))
    if options.open:
        _open(os.path.join(folder, "index.html"))
    return 1 if context.failed else 0


def _reports(options, paths):
    page, is_whole = several.report(options, paths, _say)
    if options.open:
        _open(page)
    return 0 if is_whole else 1


def _open(page):
    """Shows the page in the user's browser. Without a display it says so: a browser for terminals
    would show no figure."""
    if not os.path.isfile(page):  # whoever could not write it has said so
        return
    is_drawn = sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
    if not is_drawn:
        _say(f"{page}: not opened, as this machine has no display; copy it to one that has")
    elif not webbrowser.open(pathlib.Path(page).resolve().as_uri()):
        _say(f"{page}: not opened, as no browser was found; open it in one yourself")
