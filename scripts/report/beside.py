"""Processes that work beside this one: those that draw."""

from __future__ import annotations

import signal


def leave_interrupts_alone():
    """Ignores SIGINT in a child process of the report: the parent process handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
