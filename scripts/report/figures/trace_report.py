"""`feedrate report TRACE`: the figures of what `feedrate run --trace FILE` wrote."""

import argparse
import importlib
import os
import re

from .. import output, talk
from ..errors import ReportError
from ..ledger import trace
from ..look import style
from ..text import amount
from . import drawing
from .context import Context, name_of

FIGURES = ("batch_life", "timeline")
_say = talk.sayer("feedrate report")


def main(arguments):
    options = _parser().parse_args(arguments)
    return talk.guarded(_say, lambda: _report(options))


def _parser():
    parser = talk.Parser(
        prog="feedrate report",
        description="Figures of a trace: the life of a batch, and a timeline of some steps.",
    )
    add = parser.add_argument
    words = "what `feedrate run --trace FILE` wrote; of several ranks, all their files"
    add("traces", metavar="TRACE", nargs="+", help=words)
    output.add_options(parser, "beside the trace")
    add("--only", choices=FIGURES, action="append", default=[], help="draw this figure only")
    add("--rank", metavar="N", type=int, help="this rank alone (default: all)")
    words = "the batch whose life is drawn (default: the median and the longest of the window)"
    add("--batch", metavar="N", type=int, help=words)
    words = "the middle of the timeline, on the trace's clock (default: that of the window)"
    add("--at", metavar="SECONDS", type=float, help=words)
    words = "steps of the timeline (default: 10)"
    add("--steps", metavar="N", type=_count, default=10, help=words)
    return parser


def _count(words):
    if not 1 <= int(words) <= 10_000:
        raise argparse.ArgumentTypeError(f"{words}: choose from 1 to 10000")
    return int(words)


def _report(options):
    found = trace.read(options.traces)
    ranks = [rank for rank in found.ranks if options.rank in (None, rank.number)]
    if not ranks:
        known = "choose from " + ", ".join(str(rank.number) for rank in found.ranks)
        raise ReportError(f"--rank {options.rank}", "the trace has no such rank", known)
    folder = options.output or os.path.dirname(os.path.abspath(options.traces[0]))
    output.make_folder(folder)
    try:
        names = _figures(found, ranks, options, folder)
    except ImportError as error:
        raise talk.lacking("figures", error, talk.DRAWING)
    _say(f"{', '.join(names)} are in {folder}")
    return 0


def _figures(found, ranks, options, folder):
    stem = stem_of(options.traces)
    context = Context(name_of(options.traces[0], 80), "", medium=style.SHEET)
    shown = {}
    for name in options.only or FIGURES:
        module = importlib.import_module("." + name, __package__)

        def draw():
            page, shown[name] = module.draw(found, ranks, options, context)
            return page

        for kind, data in drawing.rendered(draw, style.SHEET, options.formats)[0].items():
            output.write(os.path.join(folder, f"{stem}.{name}.{kind}"), data)
        if name == "batch_life":
            talk.show("\n".join(_line(why, life) for why, life in shown[name]))
    return [f"{stem}.{name}" for name in shown]


def stem_of(paths):
    """What the figures' names begin with: that of the trace, or what all its ranks' files share."""
    stem = os.path.basename(paths[0]).removesuffix(".json")
    return re.sub(r"\.rank\d+$", "", stem) if len(paths) > 1 else stem


def _line(why, life):
    parts = ", ".join(f"{what} {amount(ms)}" for what, ms in life.parts())
    which = f"rank {life.rank.number}, batch {life.batch}" + (f" ({why})" if why else "")
    return f"{which}: {amount(life.ms)} ms: {parts}"
