"""Programs that get so many seconds, and what gpu-check says of those that needed more."""

import subprocess
import tempfile


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""


def no_result(timeout_s, said=""):
    last = f"; the last line: {last_line(said)}" if said.strip() else ""
    return {"status": "failed", "error": f"no result within {timeout_s:.0f} s{last}"}


def timed_run(arguments, timeout_s, **more):
    """(exit code, stdout, stderr); the code is None where it was killed as the time was over."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        try:
            code = subprocess.run(
                arguments, stdout=out, stderr=err, timeout=timeout_s, **more
            ).returncode
        except subprocess.TimeoutExpired:
            code = None
        out.seek(0), err.seek(0)
        return code, out.read(), err.read()
