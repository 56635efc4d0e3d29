"""`feedrate report`: read, group, print the table, write the files. Talk goes to stderr, the table
to stdout; a failure is one line and the exit code 1."""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import webbrowser

from . import (
    answer,
    axes,
    claims,
    derived,
    diagnosis_file,
    drawing,
    figures,
    ledger,
    made,
    memory_limit,
    output,
    paper,
    plan,
    talk,
    terminal,
    trace,
    trace_report,
)
from . import (
    settings as grouping,
)
from .heading import heading
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
    parser.add_argument("folder", metavar="DIR", help="the result folder, which holds ledger.jsonl")
    parser.add_argument(
        "-o", "--output", metavar="DIR", help="where to write (default: DIR/report)"
    )
    parser.add_argument(
        "--formats",
        default="pdf,svg,png",
        type=output.formats,
        help="figure formats (default: pdf,svg,png)",
    )
    parser.add_argument(
        "--only",
        metavar="NAME",
        action="append",
        default=[],
        help="draw this figure only, e.g. stages (may be given again)",
    )
    parser.add_argument(
        "--no-figures", action="store_true", help="tables, index and page only, without figures"
    )
    parser.add_argument(
        "--open", action="store_true", help="show the page, index.html, in the browser"
    )
    parser.add_argument("--no-html", dest="html", action="store_false", help="no index.html")
    parser.add_argument(
        "--no-paper",
        dest="paper",
        action="store_false",
        help="no DIR/report/paper/: figures of one and two columns, captions, methods",
    )
    parser.add_argument("--no-slides", dest="slides", action="store_false", help="no slides.pptx")
    parser.add_argument("--feedrate-version", default="", help=argparse.SUPPRESS)
    return parser


_say = talk.sayer("feedrate report")


def _report(options):
    path = ledger.find(options.folder)
    records = ledger.read(path, _say)
    context = context_of(path, records, options.feedrate_version, _say)
    context.options = options
    folder = options.output or default_folder(path)
    found = grouping.group(plan.complete(records, context.planned), _say, axes.beside(path))
    diagnosis_file.attach(found, path, _say)
    memory_limit.attach(found, path, _say)
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
    written = []
    for write in _writers(options):
        written += write(found, context, folder)
    if options.html:  # it holds the figures
        written += _html(records, path, found, context, folder)
    written += _index(found, context, folder)
    made.write(folder, path, context, written)
    return written


def make_again(path, records, planned, before, folder):
    """Makes the report that made.read() describes again, with the tables of this program: those
    beside the ledger may have been changed."""
    options = argparse.Namespace(**before["options"])
    context = derived.Context(
        before["ledger_name"],
        before["feedrate_version"],
        planned,
        options=options,
        records=len(records),
        say=_silent,
        figures=tuple(before["figures"]),
    )
    found = grouping.group(plan.complete(records, planned))
    diagnosis_file.attach(found, path)
    memory_limit.attach(found, path)
    make(found, records, path, context, folder)


def _silent(_words):
    pass


def _writers(options):
    """The writers of the report, in order. Each takes (settings, context, folder) and returns the
    names of its files. The page follows, because it holds the figures, and the index comes last,
    because it links to what the others wrote."""
    writers = [_tables]
    if not options.no_figures:
        writers += [
            _figures,
            *([paper.write_files] if options.paper else []),
            *([_slides] if options.slides else []),
        ]
    return writers


def context_of(path, records, otherwise="", note=lambda text: None):
    """What footers and the index say of the ledger: where it lies, which feedrate wrote it, and
    what was planned."""
    versions = sorted({v for v in map(ledger.version, records) if v}) or [
        v for v in [otherwise] if v
    ]
    place = os.path.abspath(path)
    return derived.Context(
        clean("/".join(place.split(os.sep)[-2:]), 60),
        clean(", ".join(versions), 60),
        plan.read(path, note),
        records=len(records),
        say=_say,
    )


def default_folder(path):
    """Where the report of a ledger lies."""
    return os.path.join(os.path.dirname(os.path.abspath(path)), "report")


def _tables(found, context, folder):
    return derived.write(folder, derived.TABLES, derived.Source(found, context))


def _figures(found, context, folder):
    options = context.options
    try:
        if options.paper:
            output.make_folder(os.path.join(folder, "paper"))
        for drawn in drawing.draw(found, context, folder):
            if drawn.error:
                context.say(
                    f"{drawn.plan.name} could not be drawn: {drawn.error}; the other figures "
                    "are complete, please report it with the ledger"
                )
                context.failed.append(drawn.plan.name)
            elif drawn.kinds or drawn.caption:
                context.say(f"drew {drawn.plan.name}")
                context.drawn.append(drawn)
    except ImportError as error:
        context.say(
            f"figures: Python module {clean(error.name)} is missing, so that no figure is "
            "drawn; run ./scripts/quickstart, or `python3 -m pip install matplotlib numpy`, or "
            "name a Python that has them in FEEDRATE_PYTHON"
        )
        context.failed.append("figures")
        return []
    names = [f"{drawn.plan.name}.{kind}" for drawn in context.drawn for kind in drawn.kinds]
    if not options.only:
        output.remove_stale(folder, figures.NAMED, set(names))
    return names


def _slides(found, context, folder):
    try:
        from . import slides
    except ImportError as error:
        context.say(
            f"slides: Python module {clean(error.name)} is missing, so that slides.pptx is not"
            " written; run ./scripts/quickstart, or `python3 -m pip install python-pptx`, or give"
            " --no-slides"
        )
        context.failed.append("slides")
        return []
    return slides.write_files(found, context, folder)


def _html(records, path, found, context, folder):
    page = os.path.join(folder, "index.html")
    try:
        from . import html_page

        text = html_page.build(found, records, context, path)
    except ImportError as error:
        old = " (the one there is of an earlier report)" if os.path.exists(page) else ""
        context.say(
            f"index.html: Python module {clean(error.name)} is missing, so that it is not"
            f" written{old}; run ./scripts/quickstart, or `python3 -m pip install Jinja2`, or name"
            " a Python that has it in FEEDRATE_PYTHON, or leave it out with --no-html"
        )
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
    lines = tuple(output.figure_line(drawn) for drawn in context.drawn)
    return derived.write(
        folder,
        derived.INDEX,
        derived.Source(
            found, context, lines, tuple(key for key, is_there in there.items() if is_there)
        ),
    )
