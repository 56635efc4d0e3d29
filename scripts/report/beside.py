"""Work in a process of its own, while this one goes on: the interactive page is made while the
figures are drawn."""

from __future__ import annotations

import multiprocessing
import signal
import traceback

from .ledger import ReportError


def begin(what, work):
    """Starts work() in a forked process. Returns a function that waits for it and returns its
    result or raises its ReportError. If no process can be forked, that function does the work."""
    if "fork" not in multiprocessing.get_all_start_methods():
        return work
    fork = multiprocessing.get_context("fork")
    answer, theirs = fork.Pipe(duplex=False)
    # it ends when this one does
    process = fork.Process(target=_carry_out, args=(what, work, theirs), daemon=True)
    process.start()
    theirs.close()
    return lambda: _result(what, process, answer)


def leave_interrupts_alone():
    """Ignores SIGINT in a child process of the report: the parent process handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _carry_out(what, work, answer):
    leave_interrupts_alone()
    try:
        answer.send(work())
    except ReportError as error:
        answer.send(error)
    except Exception:
        traceback.print_exc()
        answer.send(ReportError(what, "a fault of this program, shown above", "please report it"))


def _result(what, process, answer):
    try:
        result = answer.recv()
    except EOFError:
        raise ReportError(
            what, "the process that makes it was ended", "free some memory and run it again"
        )
    finally:
        process.join()
    if isinstance(result, ReportError):
        raise result
    return result
