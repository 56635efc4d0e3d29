"""A comparison as one page, for a browser: what differs in the machines first, the ratios, the
answer of either side, the table. It runs no script, and all that it shows lies in it."""

from __future__ import annotations

import base64
import os

from .. import output, talk
from ..claims import claims, memory_limit
from ..figures.context import Context, name_of
from ..ledger import ledger, plan
from ..page import html_template
from ..text import clean
from . import compare_table


def write(path, baseline, others, rules, version, say):
    """The file; a ReportError where a Python module is missing that it cannot do without."""
    try:
        text = build(baseline, others, rules, version, say)
    except ImportError as error:
        raise talk.lacking(path, error, "Jinja2", "no page is written", "leave out --html")
    output.write(path, text)
    say(f"the page is {path}")


def build(baseline, others, rules, version, say):
    """The page as text. ImportError where Jinja2 is missing; without matplotlib it has no
    picture."""
    return html_template.page(
        "compare.html",
        ["page.css", "plain.css"],
        baseline=baseline.path,
        head=compare_table.HEAD,
        parts=[_part(baseline, side, found, rules, version, say) for side, found in others],
    )


def _part(baseline, side, found, rules, version, say):
    said = vars(compare_table.told(baseline, side, found, rules))
    words, pictures = _drawn(baseline, side, found, rules, version, say)
    tables = [("; ".join(title), rows) for title, rows in said["tables"].items()]
    sides = [(name, one.path, answers(one, version)) for name, one in zip("AB", (baseline, side))]
    return {**said, **pictures, "claim": words, "tables": tables, "sides": sides}


def answers(side, version):
    """What a report of that side alone opens with."""
    from ..answer import answer

    path = ledger.find(side.folder)
    context = Context(name_of(path), version, plan.read(path))
    context.claims, context.records = claims.of(side.settings), len(side.records)
    memory_limit.attach(side.settings, path)
    return answer.of(side.settings, context)


def _drawn(baseline, side, found, rules, version, say):
    """(claim, {"wide": …, "column": …} as URLs that hold the pictures, or "" for them). Each is a
    picture of its own, whose styles the page's policy lets be. Its words are outlines, since it
    cannot count on the reader's fonts."""
    from markupsafe import Markup

    try:
        from ..figures import drawing
        from ..look import style
        from . import comparison
    except ImportError as error:
        say(f"Python module {clean(error.name)} is missing, so that the page has no picture")
        return compare_table.summary(found, rules)[0], {"wide": "", "column": ""}
    names = " and ".join(os.path.basename(os.path.abspath(s.path)) for s in (baseline, side))
    pictures = {}
    for medium in (style.WIDE, style.COLUMN):
        context = Context(clean(names, 60), version, medium=medium)
        data, page = drawing.rendered(
            lambda: comparison.draw(baseline, side, found, rules, context),
            medium,
            ["svg"],
            {"svg.fonttype": "path"},
        )
        code = base64.b64encode(data["svg"]).decode() if page else ""
        pictures[medium.name] = Markup(code and "data:image/svg+xml;base64," + code)
    return comparison.claim(found, rules), pictures
