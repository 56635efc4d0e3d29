"""Runs the program as a user would, and checks what every answer must fulfil."""

import fcntl
import glob
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SMALL = ["--image-size", "48", "--input-size", "48"]
CELL = SMALL + ["--device", "emulated:2000", "--batch-size", "8"]
SHORT = ["--min-seconds", "0.2", "--warmup-seconds", "0.05"]
COLD = ["--page-cache", "cold"]  # is not measured in pairs, but between two runs of its ceiling
TALK = re.compile(
    r"preparing|warming up|measuring|checked|img/s|\d+ %|^diagnosing |^searching |^round \d"
)
SKIPPED = 77  # the exit code of a file of which nothing ran: ctest says so, not "Passed"
# Seconds until a program that hangs is killed; a sanitizer makes it slow.
PATIENCE = float(os.environ.get("FEEDRATE_PATIENCE", 60))
HAS_GPU = bool(glob.glob("/dev/nvidia[0-9]*") or os.path.exists("/dev/dxg"))


def program():
    return os.path.abspath(os.environ["FEEDRATE_PROGRAM"])


def open_terminal(columns):
    """(our side, the program's side)"""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    return ours, theirs


class Answer:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __str__(self):
        return f"exit code {self.code}\nstdout: {self.out[:2000]}\nstderr: {self.err[:2000]}"


def records_of(folder):
    """The ledger's records; fails where a line does not parse or the last one has no end."""
    with open(os.path.join(folder, "ledger.jsonl"), encoding="utf-8") as file:
        text = file.read()
    if text and not text.endswith("\n"):
        raise AssertionError("the ledger's last line is torn")
    return [json.loads(line) for line in text.splitlines()]


def identity(record):
    return record["cell_id"], record["repetition"], record.get("place", 0)


class ProgramTest(unittest.TestCase):
    """Each test has a folder of its own. The dataset is made once; a test that damages it gets a
    copy."""

    made = None

    @classmethod
    def setUpClass(cls):
        if ProgramTest.made is None:
            ProgramTest.made = tempfile.mkdtemp(prefix="feedrate-e2e-data-")
            unittest.addModuleCleanup(shutil.rmtree, ProgramTest.made, True)
            subprocess.run(
                [
                    program(),
                    "gen",
                    ProgramTest.made,
                    "--count",
                    "64",
                    "--classes",
                    "4",
                    "--format",
                    "tensor,png,jpeg",
                    *SMALL,
                ],
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        cls.data = ProgramTest.made

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="feedrate-e2e-")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def copy_of_data(self):
        return shutil.copytree(self.data, self.path("data"))

    def start(self, *words, binary=None, **more):
        return subprocess.Popen(
            [binary or program(), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            encoding="utf-8",
            errors="surrogateescape",  # a file's name may be any bytes
            **more,
        )

    def finish(self, process, patience=PATIENCE):
        try:
            out, err = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise AssertionError("the program hangs: " + " ".join(process.args)) from None
        return Answer(process.returncode, out, err)

    def call(self, *words, code=0, **more):
        answer = self.finish(self.start(*words, **more))
        self.assertEqual(answer.code, code, f"{' '.join(words)}\n{answer}")
        return answer

    def refused(self, *words, names, code=2, talk=False, **more):
        """One line that says what is wrong, a code, nothing on stdout. `talk`: progress may come
        before."""
        answer = self.finish(self.start(*words, **more))
        where = f"{' '.join(words)}\n{answer}"
        self.assertEqual(answer.code, code, where)
        self.assertEqual(answer.out, "", where)
        lines = answer.err.splitlines()
        if talk:
            lines = [line for line in lines[:-1] if not TALK.search(line)] + lines[-1:]
        self.assertEqual(len(lines), 1, where)
        self.assertRegex(lines[0], r"^feedrate( \w+)?: ", where)
        self.assertLess(len(lines[0]), 500, where)
        self.assertNotRegex(lines[0], r"\d{40}", "a line that nobody can read: " + where)
        for name in [names] if isinstance(names, str) else names:
            self.assertIn(name, lines[0], where)
        self.assertNotIn("Traceback", answer.err)
        self.assertNotIn("terminate called", answer.err)
        return lines[0]

    def run_cell(self, *more, data="jpeg", **options):
        return self.call(
            "run", "--data", data, "--dataset", self.data, *CELL, *SHORT, *more, **options
        )

    def record(self, *more, **options):
        answer = self.run_cell("--json", *more, **options)
        self.assertEqual(answer.out.count("\n"), 1, answer)
        return json.loads(answer.out)

    def sweep_words(self, *more, data="jpeg", output="ledger", cell=CELL):
        where = ["--dataset", self.data, "-o", self.path(output)]
        return ["sweep", "--data", data, *where, *cell, *more]

    def sweep(self, *more, data="jpeg", output="ledger", **options):
        words = self.sweep_words(*SHORT, *more, data=data, output=output)
        return self.call(*words, **options)

    def cold_sweep(self, *more, limits=("--min-seconds", "0.4", "--warmup-seconds", "0.05")):
        """What cannot be in pairs, on a device so slow that its one pass over the data is enough
        for a valid record: --resume measures others again."""
        cell = [*SMALL, "--device", "emulated:50", "--batch-size", "1", "--min-steps", "5", *COLD]
        return self.call(*self.sweep_words(*limits, *more, cell=cell))

    def ledger(self, name="ledger"):
        return records_of(self.path(name))

    def records_so_far(self, name="ledger"):
        """Of a sweep that goes on: its last line may be half written. -1 before there is a file."""
        try:
            with open(self.path(name, "ledger.jsonl"), encoding="utf-8") as file:
                return file.read().count("\n")
        except FileNotFoundError:
            return -1

    def until(self, process, ready):
        deadline = time.monotonic() + PATIENCE
        while not ready():
            if process.poll() is not None:
                self.fail(f"ended before it got so far\n{self.finish(process)}")
            self.assertLess(time.monotonic(), deadline, "never got so far")
            time.sleep(0.02)

    def stop(self, number, ready, *words, **more):
        """Sends the signal once `ready()` is true; the program has 5 seconds to end."""
        process = self.start(*words, **more)
        try:
            self.until(process, ready)
            sent = time.monotonic()
            process.send_signal(number)
            answer = self.finish(process)
        finally:
            process.kill()
        self.assertLess(time.monotonic() - sent, 5, answer)
        self.assertEqual(answer.code, 128 + number, answer)
        self.assertNotIn("terminate called", answer.err)
        return answer


SIGNALS = (signal.SIGINT, signal.SIGTERM)


def main():
    """test_X.py PROGRAM [unittest's arguments]"""
    if len(sys.argv) > 1 and os.path.exists(sys.argv[1]):
        os.environ["FEEDRATE_PROGRAM"] = os.path.abspath(sys.argv.pop(1))
    if "FEEDRATE_PROGRAM" not in os.environ:
        sys.exit("usage: test_X.py PROGRAM [TESTCASE...], or set FEEDRATE_PROGRAM")
    found = unittest.main(module="__main__", exit=False).result
    for reason in sorted({reason for _, reason in found.skipped}):
        print("skipped:", reason, file=sys.stderr)
    if found.skipped and not found.testsRun and found.wasSuccessful():
        sys.exit(SKIPPED)
    sys.exit(not found.wasSuccessful())
