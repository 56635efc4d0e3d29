"""index.html: one page that holds the answer, the figures and the numbers, and asks nothing of any
network.

Whatever a ledger says reaches the page as text: Jinja2 escapes it, html_svg writes the figures
anew, and what page.js shows comes from one block of JSON in which no tag can begin. The policy in
the head lets the page's own script and style sheet run and nothing else, but for the style
attributes that figures have.
"""

from __future__ import annotations

import hashlib
import json

from ..answer import methods
from ..claims import tables
from ..figures import figures
from . import html_cells, html_settings, html_template

# matplotlib writes them in every figure; they can load and run nothing
STYLES_OF_FIGURES = "; style-src-attr 'unsafe-inline'"


def build(settings, records, context, path):
    """The page as text. `context.drawn` has the figures, `context.claims` what may be claimed, and
    `path` is the ledger's. ImportError where Jinja2 is missing."""
    from markupsafe import Markup

    cells = html_cells.Cells(settings, records)
    found = html_settings.of(settings, context, cells)
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    return html_template.page(
        "page.html",
        ["page.css"],
        "page.js",
        STYLES_OF_FIGURES,
        svg=Markup,  # of html_svg, which wrote it
        settings=found,
        failed=[plan.name for plan in figures.plan(settings) if plan.name in context.failed],
        head=tables.HEAD,
        surroundings=cells.surroundings,
        methods=methods.paragraphs(settings, context),
        ledger=context.ledger_name,
        version=context.version,
        count=len(records),
        sha256=digest,
        data=Markup(_json(_data(settings, cells))),
    )


def _data(settings, cells):
    rows = {}
    for setting in settings:
        rows.update(cells.data(setting))
    return {"head": html_cells.RECORD_HEAD, "cells": rows, **cells.pools()}


def _json(value):
    """JSON that is ASCII and holds no <, > or &: neither a tag nor a comment can begin in it, nor a
    line end in a string."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
