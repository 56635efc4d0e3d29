"""Programs that get so many seconds, and what gpu-check says of those that needed more."""

import os
import subprocess
import tempfile
import time


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""


def no_result(timeout_s, said=""):
    last = f"; the last line: {last_line(said)}" if said.strip() else ""
    return {"status": "failed", "error": f"no result within {timeout_s:.0f} s{last}"}


def timed_run(arguments, timeout_s, silent_s=float("inf"), **more):
    """(exit code, stdout, stderr); the code is None where it was killed as the time was over, or as
    stdout had not grown for so long."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        with subprocess.Popen(arguments, stdout=out, stderr=err, **more) as process:
            try:
                code = code_of(process, out, time.monotonic() + timeout_s, silent_s)
            finally:
                process.kill()  # nothing where it has ended
        out.seek(0), err.seek(0)
        return code, out.read(), err.read()


def code_of(process, out, until, silent_s):
    size, grew = 0, time.monotonic()
    while (left_s := min(until, grew + silent_s) - time.monotonic()) > 0:
        try:
            return process.wait(timeout=min(left_s, 1))
        except subprocess.TimeoutExpired:
            if (now := os.fstat(out.fileno()).st_size) > size:
                size, grew = now, time.monotonic()
    return None
