"""index.html of a folder of results: a row for each ledger, which its own page has more of. It runs
no script, and all that it shows lies in it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from urllib.parse import quote

from ..answer import answer
from ..text import counted
from . import html_template

HEADING = "<h1>feedrate report</h1>"  # of every page of a report
HEAD = ("result", "answer", "device", "machine", "date", "may it be quoted?")


@dataclass(frozen=True)
class Result:
    """A ledger and what was found in it."""

    name: str  # of its folder
    link: str  # a path from this page to that of its report
    answers: tuple  # of answer.of()


def build(folder, results, left_out):
    """The page as text; `folder` is its name and `left_out` says of each ledger that has no row why
    that is so. ImportError where Jinja2 is missing."""
    rows = [_row(result) for result in sorted(results, key=lambda r: answer.order(r.answers[0]))]
    return html_template.page(
        "results.html",
        ["page.css", "plain.css"],
        folder=folder,
        counts=_counts(rows),
        head=HEAD,
        rows=rows,
        left_out=left_out,
    )


def _counts(rows):
    quotable = sum(row["is_valid"] for row in rows)
    return f"{counted(len(rows), 'result')}, of which {quotable} may be quoted"


def _row(result):
    first, *others = result.answers
    facts = dict(first.facts)
    return {
        "name": result.name,
        # a folder may be named like the scheme of a link
        "link": quote(os.fsencode(result.link)),
        "found": first.found,
        "limit": first.limit,
        "others": f"and {counted(len(others), 'more setting')}" if others else "",
        "kind": first.setting.kind,
        "device": first.about,
        "machine": facts.get("machine", ""),
        "date": facts.get("date", ""),
        "is_valid": first.is_valid,
        "validity": first.validity,
    }
