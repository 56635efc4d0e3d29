"""The files that pages are made of, in html/. Whatever a template prints is made one printable line
and escaped; what has been made for a page already comes as Markup."""

from __future__ import annotations

import os

from .text import clean

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "html")
MOST = 4000  # letters of one text


def named(name):
    """A template. ImportError where Jinja2 is missing."""
    import jinja2
    from markupsafe import Markup

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: value if isinstance(value, Markup) else clean(value, MOST),
        trim_blocks=True,
        lstrip_blocks=True,
    ).get_template(name)


def text(name):
    """A script or a style sheet, with the line ends that a browser sees: the policy's hash needs
    them."""
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()
