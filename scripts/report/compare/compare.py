"""`feedrate compare A B …`: every cell of B beside the same cell of A, with an interval and a
verdict."""

from __future__ import annotations

import argparse
import math
import shlex
from dataclasses import dataclass

from .. import talk
from ..claims.tables import all_rows
from ..errors import ReportError
from ..ledger import axes, ledger, settings
from ..text import clean
from . import compare_files, compare_page, compare_table, exit_code, matching, verdicts

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
    add = parser.add_argument
    words = "result folders or ledgers; each is compared with the first"
    add("folders", metavar="A B", nargs="+", help=words)
    words = "axes that may differ, e.g. device,precision"
    add("--across", metavar="AXES", type=_names, default=(), help=words)
    words = "differences up to this do not matter (default: 1)"
    add("--margin", metavar="PERCENT", type=_percent, default=0.01, help=words)
    words = "for the number of cells compared (default: none)"
    add("--adjust", choices=("none", "holm"), default="none", help=words)
    words = f"exit with {exit_code.NAMED} if a cell is: {', '.join(exit_code.KINDS)} "
    words += f"(default: {','.join(exit_code.DEFAULT)}). lost: {exit_code.LOST}"
    add("--fail-on", metavar="KINDS", type=_kinds, default=exit_code.DEFAULT, help=words)
    words = "compare results with serious flags too"
    add("--allow-invalid", action="store_true", help=words)
    words = "compare results measured with other limits too"
    add("--allow-limits", action="store_true", help=words)
    form = parser.add_mutually_exclusive_group()
    for name in ("json", "csv", "markdown"):
        more = dict(action="store_const", const=name, default="text")
        form.add_argument(f"--{name}", dest="form", help=f"{name} in place of the table", **more)
    add("--html", metavar="FILE", help="write the comparison as a page for a browser, too")
    add("--feedrate-version", default="", help=argparse.SUPPRESS)
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
        words = compare_files.write_json(baseline, others, rules, code)
    elif options.form == "csv":
        words = compare_files.write_csv(baseline, others, rules)
    elif options.form == "markdown":
        words = compare_files.write_markdown(baseline, others, rules)
    else:
        parts = (compare_table.text(baseline, side, found, rules) for side, found in others)
        words = "\n\n".join(parts)
    talk.show(words.rstrip("\n"))
    if options.html:
        version = clean(options.feedrate_version, 60)
        compare_page.write(options.html, baseline, others, rules, version, _say)
    if why:
        _say(why)
    return code


def _read(folder):
    path = ledger.find(folder)
    records, note = ledger.read(path, _say), lambda words: _say(f"{folder}: {words}")
    found = settings.group(records, note, axes.beside(path))
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
        why = "no cell of one has the axes of a cell of the other"
        remedy = f"`{across}` compares cells that differ there"
        remedy = remedy if axes else "measure the same cells in both"
        raise ReportError(f"{baseline.path} and {side.path}", why, remedy)
    if axes:
        alone = f"{lonely} cells of {baseline.path} have no counterpart in {side.path}"
        _say(f"{alone}; `{across}` would give some of them one")
    return found


def _across(baseline, side, axes):
    """The whole command."""
    names = ",".join(clean(axis, 40) for axis in axes)
    return shlex.join(["feedrate", "compare", baseline.folder, side.folder, "--across", names])
