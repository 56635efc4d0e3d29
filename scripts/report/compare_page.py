"""A comparison as one page, for a browser: what differs in the machines first, the ratios, the
answer of either side, the table. It runs no script, and all that it shows lies in it."""

from __future__ import annotations

import base64
import os

from . import (
    claims,
    compare_table,
    derived,
    ledger,
    memory_limit,
    output,
    page_security,
    plan,
    surroundings,
)
from .text import clean

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "html")
MOST = 4000  # letters of one text


def write(path, baseline, others, rules, version, say):
    """The file; a ReportError where a Python module is missing that it cannot do without."""
    try:
        text = build(baseline, others, rules, version, say)
    except ImportError as error:
        raise ledger.ReportError(
            path,
            f"Python module {clean(error.name)} is missing, so that no page is written",
            "run ./scripts/quickstart, or `python3 -m pip install Jinja2`, or leave out --html",
        )
    output.write(path, text)
    say(f"the page is {path}")


def build(baseline, others, rules, version, say):
    """The page as text. ImportError where Jinja2 is missing; without matplotlib it has no
    picture."""
    from markupsafe import Markup

    style = _file("compare.css")
    return _template().render(
        policy=page_security.policy([], [style]),
        style=Markup(style),
        baseline=baseline.path,
        head=compare_table.HEAD,
        parts=[_part(baseline, side, found, rules, version, say) for side, found in others],
    )


def _part(baseline, side, found, rules, version, say):
    notes = compare_table.letters(found)
    tables = {}
    for c in found:
        title = "; ".join(compare_table.headings(c, baseline, side))
        tables.setdefault(title, []).append(compare_table.row(c, notes, rules))
    words, pictures = _drawn(baseline, side, found, rules, version, say)
    return {
        "path": side.path,
        "unlike": surroundings.unlike(baseline.records, side.records),
        "differences": surroundings.lines(baseline.records, side.records),
        "claim": words,
        **pictures,
        "summary": compare_table.summary(found, rules),
        "sides": [
            (name, one.path, answers(one, version)) for name, one in (("A", baseline), ("B", side))
        ],
        "tables": list(tables.items()),
        "footnotes": compare_table.footnotes(found, notes),
    }


def answers(side, version):
    """What a report of that side alone opens with."""
    from . import answer

    path = ledger.find(side.folder)
    place = clean("/".join(os.path.abspath(path).split(os.sep)[-2:]), 60)
    context = derived.Context(place, version, plan.read(path), records=len(side.records))
    context.claims = claims.of(side.settings)
    memory_limit.attach(side.settings, path)
    return answer.of(side.settings, context)


def _drawn(baseline, side, found, rules, version, say):
    """(claim, {"wide": …, "column": …} as URLs that hold the pictures, or "" for them)."""
    none = {"wide": "", "column": ""}
    try:
        from . import comparison, style
    except ImportError as error:
        say(f"Python module {clean(error.name)} is missing, so that the page has no picture")
        return compare_table.summary(found, rules)[0], none
    media = {"wide": style.WIDE, "column": style.COLUMN}
    names = " and ".join(os.path.basename(os.path.abspath(s.path)) for s in (baseline, side))

    def page_for(medium):
        context = derived.Context(clean(names, 60), version, medium=medium)
        return comparison.draw(baseline, side, found, rules, context)

    pictures = {name: _url(page_for, medium) for name, medium in media.items()}
    return comparison.claim(found, rules), pictures


def _url(page_for, medium):
    """The SVG within a URL: a picture of its own, whose styles the page's policy lets be. Its words
    are outlines, since it cannot count on the reader's fonts."""
    import matplotlib

    from . import style, typeface

    typeface.use(typeface.cut())
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({**style.rc(medium), "svg.fonttype": "path"})
        page = page_for(medium)
        if page is None:
            return ""
        data = output.figure_bytes(page.figure, "svg", medium.dpi)
    return "data:image/svg+xml;base64," + base64.b64encode(data).decode()


def _template():
    import jinja2
    from markupsafe import Markup

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: value if isinstance(value, Markup) else _text(value),
        trim_blocks=True,
        lstrip_blocks=True,
    ).get_template("compare.html")


def _text(value):
    """One printable line; a picture is longer than any text."""
    is_picture = isinstance(value, str) and value.startswith("data:image/svg+xml;base64,")
    return value if is_picture else clean(value, MOST)


def _file(name):
    """A file of ours, with the line ends that a browser sees: the policy's hash needs them."""
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()
