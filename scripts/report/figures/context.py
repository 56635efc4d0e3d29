"""What the writers of a report's files draw on."""

import os
from dataclasses import dataclass, field

from ..text import clean
from .figures import NAMED


@dataclass
class Context:
    """Where the numbers come from, what is wanted of them, and what has been written so far."""

    ledger_name: str
    version: str
    planned: list = field(default_factory=list)  # of plan.read()
    options: object = None
    claims: object = None  # claims.Claims of the settings
    medium: object = None  # what is drawn for: style.SHEET, style.COLUMN, style.WIDE
    figures: tuple = tuple(NAMED)  # names of those that the report may have
    drawn: list = field(default_factory=list)  # drawing.Drawn, in order
    failed: list = field(default_factory=list)  # names of what should be there and is not
    records: int = 0  # how many the ledger holds
    say: object = print  # say(text): a line of talk


def name_of(path, most=60):
    """Of a ledger: its folder's and its own."""
    return clean("/".join(os.path.abspath(path).split(os.sep)[-2:]), most)
