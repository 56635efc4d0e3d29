"""`feedrate report`: read, group, print the table, write the files. Talk goes to stderr, the table
to stdout; a failure is one line and the exit code 1."""
from __future__ import annotations

import argparse
import os
import re
import sys
from dataclasses import dataclass

from . import ledger, output, settings as grouping, tables, terminal
from .heading import heading
from .text import clean


@dataclass(frozen=True)
class Context:
    """Where the numbers come from, for footers and the index."""
    ledger_name: str
    version: str


def main(arguments):
    options = _parser().parse_args(arguments)
    try:
        return _report(options)
    except ledger.ReportError as error:
        _say(str(error))
        return 1
    except BrokenPipeError:        # `feedrate report DIR | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser():
    parser = argparse.ArgumentParser(
        prog="feedrate report", description="Figures, tables and an index from a result folder.")
    parser.add_argument("folder", metavar="DIR", help="the result folder, which holds ledger.jsonl")
    parser.add_argument("-o", "--output", metavar="DIR",
                        help="where to write (default: DIR/report)")
    parser.add_argument("--formats", default="pdf,svg,png", type=_formats,
                        help="figure formats (default: pdf,svg,png)")
    parser.add_argument("--only", metavar="NAME", action="append", default=[],
                        help="draw this figure only, e.g. bars (may be given again)")
    parser.add_argument("--no-figures", action="store_true", help="tables and index only")
    parser.add_argument("--feedrate-version", default="", help=argparse.SUPPRESS)
    return parser


def _formats(text):
    names = text.split(",")
    if not set(names) <= set(output.FORMATS):
        raise argparse.ArgumentTypeError(f"{text!r}: choose from pdf, svg, png")
    return names


def _say(text):
    print("feedrate report: " + clean(text, 1000), file=sys.stderr, flush=True)


def _report(options):
    path = ledger.find(options.folder)
    records = ledger.read(path, _say)
    found = grouping.group(records, _say)
    versions = sorted({v for v in map(ledger.version, records) if v}) or \
        [v for v in [options.feedrate_version] if v]
    place = os.path.abspath(path)
    context = Context(clean("/".join(place.split(os.sep)[-2:]), 60), clean(", ".join(versions), 60))
    folder = options.output or os.path.join(os.path.dirname(place), "report")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise ledger.ReportError(folder, error.strerror or "cannot be made",
                                 "name another folder with --output")
    _print(terminal.table(found, heading))
    output.write(os.path.join(folder, "table.csv"), tables.write_csv(found))
    output.write(os.path.join(folder, "table.md"), tables.write_markdown(found, heading))
    drawn, failed = ([], []) if options.no_figures else _figures(found, context, folder, options)
    output.write(os.path.join(folder, "index.md"), output.index(found, heading, drawn, context))
    _say(f"{len(drawn)} figures, table.csv, table.md and index.md are in {folder}")
    return 1 if failed else 0


def _print(text):
    encoding = sys.stdout.encoding or "ascii"
    plainer = text.encode(encoding, "replace").decode(encoding)
    if plainer != text:
        text = text.translate({ord("±"): "+-", ord("×"): "x", ord("·"): ",", ord("…"): "..."})
        plainer = text.encode(encoding, "replace").decode(encoding)
    print(plainer, flush=True)


def _figures(found, context, folder, options):
    try:
        from . import figures
    except ImportError as error:
        _say(f"figures: Python module {clean(error.name)} is missing, so that only the tables are "
             "written; run ./scripts/quickstart, or `python3 -m pip install matplotlib numpy`, or "
             "name a Python that has them in FEEDRATE_PYTHON")
        return [], ["figures"]
    unknown = set(options.only) - set(figures.STEMS)
    if unknown:
        raise ledger.ReportError("--only " + min(unknown), "there is no such figure",
                                 "choose from " + ", ".join(figures.STEMS))
    drawn, written, failed = [], set(), []
    for stem, words, sentence, save in figures.plan(found, context, options.only):
        _say(f"drawing {stem}")
        try:
            kinds = save(folder, stem, options.formats)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            # One figure that trips over its numbers must not cost the others; the exit code tells.
            _say(f"{stem} could not be drawn: {type(error).__name__}: {error}; the other figures "
                 "are complete, please report it with the ledger")
            failed.append(stem)
            continue
        if kinds:
            drawn.append((stem, kinds, words, sentence))
            written |= {f"{stem}.{kind}" for kind in kinds}
    if not options.only:
        output.remove_stale(folder, figures.STEMS, written)
    return drawn, failed


def slug(value):
    """A file name's part: letters, digits, dots and dashes."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", clean(value, 60)).strip("-.") or "x"
