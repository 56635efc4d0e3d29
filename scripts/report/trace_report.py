"""`feedrate report TRACE`: the figures of what `feedrate run --trace FILE` wrote."""

from __future__ import annotations

import argparse
import importlib
import os
import re

from . import derived, output, style, talk, trace, typeface
from .ledger import ReportError
from .text import amount, clean

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
    parser.add_argument(
        "traces",
        metavar="TRACE",
        nargs="+",
        help="what `feedrate run --trace FILE` wrote; of several ranks, all their files",
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR", help="where to write (default: beside the trace)"
    )
    parser.add_argument(
        "--formats",
        default="pdf,svg,png",
        type=output.formats,
        help="figure formats (default: pdf,svg,png)",
    )
    parser.add_argument(
        "--only", choices=FIGURES, action="append", default=[], help="draw this figure only"
    )
    parser.add_argument("--rank", metavar="N", type=int, help="this rank alone (default: all)")
    parser.add_argument(
        "--batch",
        metavar="N",
        type=int,
        help="the batch whose life is drawn (default: the median and the longest of the window)",
    )
    parser.add_argument(
        "--at",
        metavar="SECONDS",
        type=float,
        help="the middle of the timeline, on the trace's clock (default: that of the window)",
    )
    parser.add_argument(
        "--steps", metavar="N", type=_count, default=10, help="steps of the timeline (default: 10)"
    )
    return parser


def _count(words):
    if not 1 <= int(words) <= 10_000:
        raise argparse.ArgumentTypeError(f"{words}: choose from 1 to 10000")
    return int(words)


def _report(options):
    found = trace.read(options.traces)
    ranks = [rank for rank in found.ranks if options.rank in (None, rank.number)]
    if not ranks:
        raise ReportError(
            f"--rank {options.rank}",
            "the trace has no such rank",
            "choose from " + ", ".join(str(rank.number) for rank in found.ranks),
        )
    folder = options.output or os.path.dirname(os.path.abspath(options.traces[0]))
    output.make_folder(folder)
    try:
        names = _figures(found, ranks, options, folder)
    except ImportError as error:
        raise ReportError(
            "figures",
            f"Python module {clean(error.name)} is missing",
            "run ./scripts/quickstart, or `python3 -m pip install matplotlib numpy`, or name a "
            "Python that has them in FEEDRATE_PYTHON",
        )
    _say(f"{', '.join(names)} are in {folder}")
    return 0


def _figures(found, ranks, options, folder):
    import matplotlib

    stem = stem_of(options.traces)
    place = os.path.abspath(options.traces[0]).split(os.sep)
    context = derived.Context(clean("/".join(place[-2:]), 80), "", medium=style.SHEET)
    typeface.use(typeface.cut())
    names = []
    for name in options.only or FIGURES:
        module = importlib.import_module("." + name, __package__)
        # A context of its own: the style never leaks into, or in from, the user's settings.
        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(style.rc(context.medium))
            page, shown = module.draw(found, ranks, options, context)
            for kind in options.formats:
                dpi = context.medium.dpi / page.scale
                data = output.figure_bytes(page.figure, kind, dpi)
                output.write(os.path.join(folder, f"{stem}.{name}.{kind}"), data)
        names.append(f"{stem}.{name}")
        if name == "batch_life":
            talk.show("\n".join(_line(why, life) for why, life in shown))
    return names


def stem_of(paths):
    """What the figures' names begin with: that of the trace, or what all its ranks' files share."""
    stem = os.path.basename(paths[0]).removesuffix(".json")
    return re.sub(r"\.rank\d+$", "", stem) if len(paths) > 1 else stem


def _line(why, life):
    parts = ", ".join(f"{what} {amount(ms)}" for what, ms in life.parts())
    which = f"rank {life.rank.number}, batch {life.batch}" + (f" ({why})" if why else "")
    return f"{which}: {amount(life.ms)} ms: {parts}"
