"""The content security policy of a page that holds all that it shows and asks nothing of any
network."""

from __future__ import annotations

import base64
import hashlib


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
