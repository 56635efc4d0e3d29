"""Ctrl-C: one line, nothing half-written, exit code 130.

A handler rather than KeyboardInterrupt, which Python loses where it comes in a callback, such as
those of a fork.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal

OWNER = os.getpid()  # the process that was started; forks inherit the number
_folders = set()
_temporary = set()


def prefix(kind):
    """How the files begin that this run writes and has not finished."""
    return f"{kind}{OWNER}-"


def sweep(folder, kind):
    """On an interrupt, what begins with prefix(kind) goes from the folder."""
    _folders.add((folder, kind))


def discard(folder):
    """On an interrupt, the folder goes."""
    _temporary.add(folder)


def leave_to_parent():
    """In a child process, one of those that draw: the parent handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def install(program):
    """`feedrate report` starts Python with SIGINT held back: it comes here and no sooner."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as in the background
        signal.signal(signal.SIGINT, lambda number, frame: _end(program))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _end(program):
    if os.getpid() != OWNER:  # a fork that has not yet set its own
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        _clean_up()
    finally:  # whatever cannot be cleaned up
        os.write(2, f"{program}: interrupted\n".encode())
        os._exit(128 + signal.SIGINT)


def _clean_up():
    for child in multiprocessing.active_children():
        child.kill()
        child.join()
    for folder, kind in _folders:
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            if name.startswith(prefix(kind)):
                os.unlink(os.path.join(folder, name))
    for folder in _temporary:
        shutil.rmtree(folder, ignore_errors=True)
