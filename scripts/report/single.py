"""The report of one ledger: reads it, groups it, and writes the files."""

from __future__ import annotations

import argparse
import os

from . import made, output, talk
from .answer import index
from .claims import claims, diagnosis_file, memory_limit
from .figures import drawing, figures
from .figures.context import Context, name_of
from .ledger import axes, ledger, plan
from .ledger import settings as grouping
from .paper import paper
from .text import clean


def read(path, options, say):
    """(settings, records, Context) of the ledger; say(text) is told what its reader must know."""
    records = ledger.read(path, say)
    context = context_of(path, records, options.feedrate_version, say)
    context.options = options
    return _grouped(records, context, path, axes.beside(path)), records, context


def _grouped(records, context, path, tables=None):
    """The settings, with what lies beside their ledger."""
    found = grouping.group(plan.complete(records, context.planned), context.say, tables)
    diagnosis_file.attach(found, path, context.say)
    memory_limit.attach(found, path, context.say)
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
    written = paper.write(folder, paper.TABLES, found, context)
    if not options.no_figures:
        written += _figures(found, context, folder)
        written += paper.write_files(found, context, folder) if options.paper else []
        written += _slides(found, context, folder) if options.slides else []
    if options.html:  # it holds the figures
        written += _html(records, path, found, context, folder)
    # it links to all
    output.write(os.path.join(folder, "index.md"), index.text(found, written, context))
    written.append("index.md")
    made.write(folder, path, context, written)
    return written


def make_again(path, records, planned, before, folder):
    """Makes the report that made.read() describes again, with the tables of this program: those
    beside the ledger may have been changed."""
    options = argparse.Namespace(**before["options"])
    told = before["ledger_name"], before["feedrate_version"]
    context = Context(*told, planned, options, records=len(records))
    context.say, context.figures = lambda words: None, tuple(before["figures"])
    found = _grouped(records, context, path)
    make(found, records, path, context, folder)


def context_of(path, records, otherwise="", note=lambda text: None):
    """What footers and the index say of the ledger: where it lies, which feedrate wrote it, and
    what was planned."""
    versions = ", ".join(sorted({v for v in map(ledger.version, records) if v})) or otherwise
    name, planned = name_of(path), plan.read(path, note)
    return Context(name, clean(versions, 60), planned, records=len(records), say=note)


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
