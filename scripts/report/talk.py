"""What every command of the report says, and how: talk to stderr, results to stdout, a failure as
one line and the exit code 1, or 2 where the mistake is in what was typed."""

from __future__ import annotations

import argparse
import os
import sys

from .errors import ReportError, TypedError
from .text import clean


def sayer(program):
    """say(text) for a program: one line on stderr."""

    def say(text):
        print(f"{program}: " + clean(text, 1000), file=sys.stderr, flush=True)

    return say


ANOTHER = "name a Python that has it in FEEDRATE_PYTHON"
DRAWING = "matplotlib numpy"  # the packages that figures need


class Parser(argparse.ArgumentParser):
    """Whose errors are one line, as the program's own are."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {clean(message, 1000)}; see {self.prog} --help\n")


def guarded(say, action):
    """The exit code of action()."""
    try:
        return action()
    except ReportError as error:
        say(str(error))
        return 2 if isinstance(error, TypedError) else 1


def lacking(thing, error, packages, so="", otherwise=""):
    """The ReportError of a command that lacks a Python module; `so`: what comes of it,
    `otherwise`: what can be done beside installing it."""
    remedy = f"run ./scripts/quickstart, or `python3 -m pip install {packages}`"
    reason = f"Python module {clean(error.name)} is missing" + (so and f", so that {so}")
    return ReportError(thing, reason, f"{remedy}, or {otherwise or ANOTHER}")


def show(text):
    """To stdout, with plainer signs where its encoding lacks ours."""
    encoding = sys.stdout.encoding or "ascii"
    plainer = text.encode(encoding, "replace").decode(encoding)
    if plainer != text:
        text = text.translate(
            {ord("±"): "+-", ord("×"): "x", ord("·"): ",", ord("…"): "...", ord("→"): "->"}
        )
        plainer = text.encode(encoding, "replace").decode(encoding)
    try:
        print(plainer, flush=True)
    except BrokenPipeError:  # `feedrate report DIR | head`: the files and the exit code still count
        _close_stdout()
    except OSError as error:
        _close_stdout()
        raise ReportError(
            "standard output", error.strerror or "could not be written", "free some space"
        )


def _close_stdout():
    """What it still holds must not fail once more when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
