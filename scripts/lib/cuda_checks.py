"""The checks that need a GPU (bin/test_cuda), for scripts/gpu-check."""

import os
import sys
import time

from timed_run import last_line, timed_run

LONGEST_S = 90  # of one of them, before it counts as hanging


def run_checks(checks, libraries, timeout_s, chosen="*"):
    """The program as a record: status, and how many of its tests passed. `libraries`: a folder for
    it, a bundle's. `chosen`: tests, as GoogleTest filters them. A test in which it dies or hangs
    has failed, and those behind it run."""
    if not checks.exists():
        return {"status": "failed", "error": f"{checks}: is not built"}
    path = f"{libraries}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    until, failed, died, over = time.monotonic() + timeout_s, [], [], []
    while True:
        arguments = [str(checks), f"--gtest_filter={chosen}-{':'.join(over)}"]
        left_s = until - time.monotonic()
        if left_s <= 0:
            return {"status": "failed", "error": f"no time for all: {failed_text(failed, died)}"}
        code, out, err = timed_run(
            arguments, left_s, LONGEST_S, env={**os.environ, "LD_LIBRARY_PATH": path}
        )
        print(out + err, file=sys.stderr)
        if "SKIPPED" in out:
            return {"status": "failed", "error": "skipped: there is no GPU"}
        failed += [name for name in names_in(out, "FAILED") if name not in failed]
        begun, ended = names_in(out, "RUN"), names_in(out, "OK") + names_in(out, "FAILED")
        if code in (0, 1):
            break
        lost = [name for name in begun if name not in ended]
        if not lost:
            return {"status": "failed", "error": f"ended with code {code}: {last_line(out + err)}"}
        died, over = died + lost, over + begun
    if failed or died:
        return {"status": "failed", "error": failed_text(failed, died)}
    return {"status": "ok", "checks": last_line(out)}


def names_in(output, mark):
    """Of GoogleTest's lines "[  FAILED  ] Suite.Test (3 ms)", each name once."""
    lines = [line.split("]", 1) for line in output.splitlines() if line.startswith("[")]
    found = [words[1].split() for words in lines if mark in words[0] and len(words) == 2]
    names = [words[0].rstrip(",") for words in found if words and "." in words[0]]
    return list(dict.fromkeys(names))


def failed_text(failed, died):
    parts = [f"failed: {', '.join(failed)}"] * bool(failed)
    return "; ".join(parts + [f"crashed or hung: {', '.join(died)}"] * bool(died))
