"""`feedrate compare A B …`: every cell of B beside the same cell of A, with an interval and a
verdict."""

from __future__ import annotations

import argparse
import math
import shlex
from dataclasses import dataclass

from . import (
    axes,
    compare_files,
    compare_page,
    compare_table,
    exit_code,
    ledger,
    matching,
    settings,
    surroundings,
    talk,
    verdicts,
)
from .tables import all_rows
from .terminal import wrapped
from .text import clean

_say = talk.sayer("feedrate compare")


@dataclass
class Side:
    """A ledger, read."""

    path: str
    records: list
    cells: list  # and ceilings
    setting_of: dict  # id of a cell -> its Setting
    settings: list
    folder: str  # as it was typed


def main(arguments):
    parser = _parser()
    options = parser.parse_args(arguments)
    if len(options.folders) < 2:
        parser.error("name two result folders at least: the baseline A, then B …")
    return talk.guarded(_say, lambda: _compare(options))


def _parser():
    parser = talk.Parser(
        prog="feedrate compare",
        description="Compares results cell by cell with a baseline.",
        epilog=(
            f"Exit codes: 0 nothing that --fail-on names, {exit_code.NOTHING} an error, or no cell"
            " of stored data compared (with --fail-on never: nothing at all), 2 a mistake in what"
            f" was typed, {exit_code.NAMED} something that --fail-on names."
        ),
    )
    parser.add_argument(
        "folders",
        metavar="A B",
        nargs="+",
        help="result folders or ledgers; each is compared with the first",
    )
    parser.add_argument(
        "--across",
        metavar="AXES",
        type=_names,
        default=(),
        help="axes that may differ, e.g. device,precision",
    )
    parser.add_argument(
        "--margin",
        metavar="PERCENT",
        type=_percent,
        default=0.01,
        help="differences up to this do not matter (default: 1)",
    )
    parser.add_argument(
        "--adjust",
        choices=("none", "holm"),
        default="none",
        help="for the number of cells compared (default: none)",
    )
    parser.add_argument(
        "--fail-on",
        metavar="KINDS",
        type=_kinds,
        default=exit_code.DEFAULT,
        help=(
            f"exit with {exit_code.NAMED} if a cell is: {', '.join(exit_code.KINDS)} "
            f"(default: {','.join(exit_code.DEFAULT)}). lost: {exit_code.LOST}"
        ),
    )
    parser.add_argument(
        "--allow-invalid", action="store_true", help="compare results with serious flags too"
    )
    parser.add_argument(
        "--allow-limits", action="store_true", help="compare results measured with other limits too"
    )
    form = parser.add_mutually_exclusive_group()
    for name in ("json", "csv", "markdown"):
        form.add_argument(
            f"--{name}",
            dest="form",
            action="store_const",
            const=name,
            default="text",
            help=f"{name} in place of the table",
        )
    parser.add_argument(
        "--html", metavar="FILE", help="write the comparison as a page for a browser, too"
    )
    parser.add_argument("--feedrate-version", default="", help=argparse.SUPPRESS)
    return parser


def _names(text):
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise argparse.ArgumentTypeError("name an axis, e.g. device")
    return names


def _percent(text):
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < 100:
        raise argparse.ArgumentTypeError(f"{text!r}: a percentage from 0 to below 100")
    return value / 100


def _kinds(text):
    kinds = _names(text)
    if not set(kinds) <= set(exit_code.KINDS) or "never" in kinds and len(kinds) > 1:
        raise argparse.ArgumentTypeError(f"{text!r}: choose from {', '.join(exit_code.KINDS)}")
    return kinds


def _compare(options):
    rules = verdicts.Rules(
        options.margin, options.across, options.adjust, options.allow_invalid, options.allow_limits
    )
    baseline, *sides = [_read(folder) for folder in options.folders]
    pairs = [_pairs(baseline, side, rules) for side in sides]
    others = list(zip(sides, verdicts.compare(pairs, rules)))
    code, why = exit_code.outcome(others, options.fail_on, rules)
    if options.form == "json":
        talk.show(compare_files.write_json(baseline, others, rules, code))
    elif options.form == "csv":
        talk.show(compare_files.write_csv(baseline, others, rules).rstrip("\n"))
    elif options.form == "markdown":
        talk.show(compare_files.write_markdown(baseline, others, rules).rstrip("\n"))
    else:
        talk.show("\n\n".join(_text(baseline, side, found, rules) for side, found in others))
    if options.html:
        version = clean(options.feedrate_version, 60)
        compare_page.write(options.html, baseline, others, rules, version, _say)
    if why:
        _say(why)
    return code


def _read(folder):
    path = ledger.find(folder)
    found = settings.group(
        ledger.read(path, _say), lambda words: _say(f"{folder}: {words}"), axes.beside(path)
    )
    cells = [c for c in all_rows(found) if not getattr(c, "recorded", False)]
    return Side(
        clean(folder, 200),
        [r for c in cells for r in c.runs + c.lost],
        cells,
        {id(c): s for s in found for c in s.ceilings + s.cells},
        found,
        folder,
    )


def _pairs(baseline, side, rules):
    found = matching.pairs(baseline.cells, side.cells, rules.across)
    lonely = sum(pair.b is None for pair in found)
    axes = matching.suggestion(found) if lonely else ()
    across = _across(baseline, side, dict.fromkeys([*rules.across, *axes]))
    if lonely == len(baseline.cells):
        raise ledger.ReportError(
            f"{baseline.path} and {side.path}",
            "no cell of one has the axes of a cell of the other",
            (
                f"`{across}` compares cells that differ there"
                if axes
                else "measure the same cells in both"
            ),
        )
    if axes:
        _say(
            f"{lonely} cells of {baseline.path} have no counterpart in {side.path}; `{across}`"
            " would give some of them one"
        )
    return found


def _across(baseline, side, axes):
    """The whole command."""
    names = ",".join(clean(axis, 40) for axis in axes)
    return shlex.join(["feedrate", "compare", baseline.folder, side.folder, "--across", names])


def _text(baseline, side, found, rules):
    first = surroundings.unlike(baseline.records, side.records)
    head = (
        wrapped(
            "UNLIKE MACHINES: "
            + "; ".join(f"{words}: {a} in A, {b} in B" for words, a, b in first)
            + ".",
            "  ",
        )
        + [""]
        if first
        else []
    )
    lines = wrapped("Differs between A and B:", "")
    for words in surroundings.lines(baseline.records, side.records):
        lines += ["  " + line for line in wrapped(words, "  ")]
    lines += [""] + [
        line for words in compare_table.summary(found, rules) for line in wrapped(words, "  ")
    ]
    return (
        "\n".join(head)
        + ("\n" if head else "")
        + compare_table.text(baseline, side, found, rules)
        + "\n"
        + "\n".join(lines)
    )
