"""index.html: one page that holds its figures, its numbers and plotly itself, and asks nothing of
any network.

Whatever a ledger says reaches the page as data: in one block of JSON in which no tag can begin,
from where page.js puts it into the document as text only. The policy in the head lets the page's
own two scripts run and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import re

from . import claims, html_cells, html_records, html_settings, ledger
from .text import clean

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "html")
SCRIPTS = (
    "dom.js",
    "theme.js",
    "figures.js",
    "runs.js",
    "records.js",
    "table.js",
    "diagnosis.js",
    "page.js",
)
NOTHING = ""  # plotly makes a style element without text and adds its rules to it


def build(settings, records, context, path, note=lambda text: None):
    """The page as text. ImportError where plotly is missing."""
    from plotly.offline import get_plotlyjs

    plotly = _script(get_plotlyjs())
    ours = _script('"use strict";\n' + "\n".join(_file(name) for name in SCRIPTS))
    style = _lines(_file("page.css"))
    parts = {
        "policy": _policy([plotly, ours], [style, NOTHING]),
        "style": style,
        "plotly": plotly,
        "script": ours,
        "taken": _taken(plotly),
        "data": _json(_data(settings, records, context, path, len(plotly), note)),
    }
    rest, out = _file("page.html"), []
    for name in ("policy", "style", "taken", "data", "plotly", "script"):
        # From the front to the back, so that nothing put in is looked through for marks again.
        before, _, rest = rest.partition("{{" + name + "}}")
        out += [before, parts[name]]
    return "".join(out) + rest


def _data(settings, records, context, path, plotly_bytes, note):
    cells = html_cells.Cells(settings, records, claims.of(settings))
    found, texts, shapes = html_records.described(records)
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    thinned = any(r["step"] and len(r["step"][0]) < r["kept"] for r in found)
    return {
        "ledger": context.ledger_name,
        "sha256": digest,
        "version": context.version,
        "head": html_cells.HEAD,
        "settings": [html_settings.described(s, cells, note) for s in settings],
        "cells": cells.described(),
        "records": found,
        "texts": texts,
        "shapes": shapes,
        "thinned": thinned,
        "plotly_mb": round(plotly_bytes / 1e6, 1),
        "last_line": max(r[ledger.LINE] for r in records),
    }


def _json(value):
    """JSON that is ASCII and holds no <, > or &: neither a tag nor a comment can begin in it, nor a
    line end in a string."""
    how = {"ensure_ascii": True, "allow_nan": False, "separators": (",", ":")}
    try:
        text = json.dumps(value, **how)
    except ValueError:
        text = json.dumps(_finite(value), **how)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _finite(value):
    """Numbers that JSON has no word for are unknown."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {clean(k, 80): _finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    return value


def _file(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def _lines(text):
    """The text with the line ends that a browser sees; the policy's hash needs them."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _script(text):
    """The script, with the sequences escaped that would end it early."""
    return _lines(text).replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _taken(plotly):
    """plotly adds a style sheet for maps unless an element has its id already. The page has no map,
    so an empty element takes that id, and the policy need not allow the style sheet."""
    ids = sorted(set(re.findall(r'getElementById\("([0-9a-f]{64})"\)', plotly)))
    return "".join(f'<span hidden id="{name}"></span>' for name in ids)


def _policy(scripts, styles):
    hashes = [
        " ".join(
            "'sha256-"
            + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()
            + "'"
            for text in texts
        )
        for texts in (scripts, styles)
    ]
    return (
        f"default-src 'none'; script-src {hashes[0]}; style-src {hashes[1]}; img-src data:;"
        " connect-src 'none'; font-src 'none'; base-uri 'none'; form-action 'none'"
    )
