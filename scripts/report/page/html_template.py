"""What pages are made of: the files in html/, and the content security policy of a page that holds
all that it shows and asks nothing of any network. Whatever a template prints is made one printable
line and escaped; what has been made for a page already comes as Markup."""

from __future__ import annotations

import base64
import hashlib
import os

from .. import lines
from ..text import clean

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "html")
MOST = 4000  # letters of one text


def page(name, styles, script="", also="", **shown):
    """The page of a template, with the style sheets and the script of those names and a policy that
    lets them run; `also` is added to that. ImportError where Jinja2 is missing."""
    import jinja2
    from markupsafe import Markup, escape

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: value if isinstance(value, Markup) else clean(value, MOST),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["glued"] = lambda value: Markup(lines.glued(str(escape(clean(value, MOST)))))
    style, code = "".join(map(_text, styles)), _text(script) if script else ""
    shown |= {"policy": policy([code] if code else [], [style]) + also}
    return made.get_template(name).render(style=Markup(style), script=Markup(code), **shown)


def _text(name):
    """With the line ends that a browser sees: the policy's hash needs them."""
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def policy(scripts, styles):
    """Lets these texts run, as they stand in their elements, and nothing else; without any, none
    runs. Pictures may be in the page itself."""
    return (
        f"default-src 'none'; script-src {_sources(scripts)}; style-src {_sources(styles)};"
        " img-src data:; connect-src 'none'; font-src 'none'; base-uri 'none'; form-action 'none'"
    )


def _sources(texts):
    hashes = [
        base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode() for text in texts
    ]
    return " ".join(f"'sha256-{value}'" for value in hashes) or "'none'"
