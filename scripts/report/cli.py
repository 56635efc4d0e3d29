"""`feedrate report`: read, group, print the table, write the files. Talk goes to stderr, the table
to stdout; a failure is one line and the exit code 1."""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import webbrowser

from . import made, output, talk
from .answer import answer, index, terminal
from .claims import claims, diagnosis_file, memory_limit
from .figures import drawing, figures, trace_report
from .figures.context import Context, name_of
from .ledger import axes, ledger, plan, trace
from .ledger import settings as grouping
from .ledger.heading import heading
from .paper import derived, paper
from .text import clean


def main(arguments):
    if any(trace.is_trace(word) for word in arguments if not word.startswith("-")):
        return trace_report.main(arguments)
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.open and not options.html:
        parser.error("--open: with --no-html there is no page to open")
    # a few figures are no deck: the whole one stays
    options.slides = options.slides and not options.only
    return talk.guarded(_say, lambda: _report(options))


def _parser():
    parser = talk.Parser(
        prog="feedrate report",
        description="Figures, tables and an index from a result folder.",
        epilog="A trace that `feedrate run --trace FILE` wrote has figures of its own: feedrate "
        "report FILE, and feedrate report FILE --help for their options.",
    )
    add = parser.add_argument
    add("folder", metavar="DIR", help="the result folder, which holds ledger.jsonl")
    output.add_options(parser, "DIR/report")
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
    records = ledger.read(path, _say)
    context = context_of(path, records, options.feedrate_version, _say)
    context.options = options
    folder = options.output or default_folder(path)
    found = _grouped(records, context, path, _say, axes.beside(path))
    talk.show(terminal.table(found, heading))
    for words in plan.missing(records, context.planned):
        _say(words)
    written = make(found, records, path, context, folder)
    others = [name for name in written if "/" not in name and not name.endswith(output.FORMATS)]
    _say(f"{len(context.drawn)} figures, {', '.join(others)} are in {folder}")
    if found:
        talk.show("\n" + terminal.answer(answer.of(found, context)))
    if options.open:
        _open(os.path.join(folder, "index.html"))
    return 1 if context.failed else 0


def _grouped(records, context, path, say, tables=None):
    """The settings, with what lies beside their ledger."""
    found = grouping.group(plan.complete(records, context.planned), say, tables)
    diagnosis_file.attach(found, path, say)
    memory_limit.attach(found, path, say)
    return found


def make(found, records, path, context, folder):
    """Writes the whole report of the settings; the names of its files."""
    options = context.options
    output.make_folder(folder)
    if options.only and made.is_whole(folder, path):  # the rest of it stays as it is
        written = _figures(found, context, folder)
        columns = drawing.paper_files(context.drawn) if options.paper else []
        made.write(folder, path, context, written + [f"paper/{name}" for name in columns])
        return written
    context.claims = claims.of(found)
    written = derived.write(folder, derived.TABLES, found, context)
    if not options.no_figures:
        written += _figures(found, context, folder)
        written += paper.write_files(found, context, folder) if options.paper else []
        written += _slides(found, context, folder) if options.slides else []
    if options.html:  # it holds the figures
        written += _html(records, path, found, context, folder)
    written += _index(found, context, folder)  # it links to all
    made.write(folder, path, context, written)
    return written


def make_again(path, records, planned, before, folder):
    """Makes the report that made.read() describes again, with the tables of this program: those
    beside the ledger may have been changed."""
    options = argparse.Namespace(**before["options"])
    told = before["ledger_name"], before["feedrate_version"]
    context = Context(*told, planned, options, records=len(records))
    context.say, context.figures = lambda words: None, tuple(before["figures"])
    found = _grouped(records, context, path, context.say)
    make(found, records, path, context, folder)


def context_of(path, records, otherwise="", note=lambda text: None):
    """What footers and the index say of the ledger: where it lies, which feedrate wrote it, and
    what was planned."""
    versions = ", ".join(sorted({v for v in map(ledger.version, records) if v})) or otherwise
    name, planned = name_of(path), plan.read(path, note)
    count = len(records)
    return Context(name, clean(versions, 60), planned, records=count, say=_say)


def default_folder(path):
    """Where the report of a ledger lies."""
    return os.path.join(os.path.dirname(os.path.abspath(path)), "report")


def _figures(found, context, folder):
    options = context.options
    try:
        if options.paper:
            output.make_folder(os.path.join(folder, "paper"))
        for drawn in drawing.draw(found, context, folder):
            if drawn.error:
                rest = "the other figures are complete, please report it with the ledger"
                context.say(f"{drawn.plan.name} could not be drawn: {drawn.error}; {rest}")
                context.failed.append(drawn.plan.name)
            elif drawn.kinds or drawn.caption:
                context.say(f"drew {drawn.plan.name}")
                context.drawn.append(drawn)
    except ImportError as error:
        context.say(str(talk.lacking("figures", error, talk.DRAWING, "no figure is drawn")))
        context.failed.append("figures")
        return []
    names = [f"{drawn.plan.name}.{kind}" for drawn in context.drawn for kind in drawn.kinds]
    if not options.only:
        output.remove_stale(folder, figures.NAMED, set(names))
    return names


def _slides(found, context, folder):
    try:
        from .deck import slides
    except ImportError as error:
        so = "slides.pptx is not written"
        context.say(str(talk.lacking("slides", error, "python-pptx", so, "give --no-slides")))
        context.failed.append("slides")
        return []
    return slides.write_files(found, context, folder)


def _html(records, path, found, context, folder):
    page = os.path.join(folder, "index.html")
    try:
        from .page import html_page

        text = html_page.build(found, records, context, path)
    except ImportError as error:
        old = " (the one there is of an earlier report)" if os.path.exists(page) else ""
        so, otherwise = f"it is not written{old}", f"{talk.ANOTHER}, or leave it out with --no-html"
        context.say(str(talk.lacking("index.html", error, "Jinja2", so, otherwise)))
        context.failed.append("index.html")
        return []
    output.write(page, text)
    context.say(f"the page is {page}")
    return ["index.html"]


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


def _index(found, context, folder):
    options, failed = context.options, context.failed
    there = {
        "page": options.html and "index.html" not in failed,
        "slides": options.slides and not options.no_figures and "slides" not in failed,
        "paper": options.paper and not options.no_figures,
    }
    leads_to = [key for key, is_there in there.items() if is_there]
    lines = [index.figure_line(drawn) for drawn in context.drawn]
    text = index.text(found, heading, lines, leads_to, context)
    output.write(os.path.join(folder, "index.md"), text)
    return ["index.md"]
