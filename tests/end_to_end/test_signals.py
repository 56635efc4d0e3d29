"""SIGINT and SIGTERM in every phase, and a terminal that is gone."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time

from program import CELL, COLD, SHORT, SIGNALS, SMALL, ProgramTest, main, program


class Signals(ProgramTest):
    """The first SIGINT or SIGTERM ends it within 5 s, with nothing half-written."""

    # Where files leave a page cache that was asked to be warm, --resume measures again.
    AS_IS = ("--page-cache", "as-is")
    TWO_CELLS = ("--workers", "1,2", "--warmup-seconds", "0.1", "--min-seconds", "1.5", *AS_IS)
    # A cold run is one pass over the data: on this device, of more seconds than are asked for.
    SLOW = (*SMALL, *COLD, "--device", "emulated:40", "--batch-size", "1")

    def pause_after(self, ready, seconds=0.5):
        """True some time after `ready` was first true."""
        seen = []

        def later():
            if ready() and not seen:
                seen.append(time.monotonic())
            return bool(seen) and time.monotonic() - seen[0] > seconds

        return later

    def check_and_resume(self, answer, statuses, roles, *limits, **what):
        """`limits`: those of the first sweep; the second must have the same to keep its records.
        `roles`: of all records that are ok then."""
        self.assertEqual([r["status"] for r in self.ledger()], statuses)
        self.assertIsNone(self.ledger()[-1]["imgs_per_s"])
        self.assertIn("interrupted", answer.err)
        again = self.call(*self.sweep_words(*limits, **what), "--resume")
        self.assertIn(f"{statuses.count('ok')} already there", again.err)
        ok = [r for r in self.ledger() if r["status"] == "ok"]
        self.assertEqual([r["role"] for r in ok], roles)

    def test_in_the_warm_up(self):
        for number in SIGNALS:
            with self.subTest(number):
                shutil.rmtree(self.path("ledger"), True)
                answer = self.stop(
                    number,
                    self.pause_after(lambda: self.records_so_far() == 0),
                    *self.sweep_words("--warmup-seconds", "50", "--min-seconds", "0.3"),
                )
                self.check_and_resume(answer, ["interrupted"], ["cell"], *SHORT)

    def test_while_measuring(self):
        for number in SIGNALS:
            with self.subTest(number):
                shutil.rmtree(self.path("ledger"), True)
                answer = self.stop(
                    number,
                    self.pause_after(lambda: self.records_so_far() == 1),
                    *self.sweep_words(*self.TWO_CELLS),
                )
                self.check_and_resume(
                    answer, ["ok", "interrupted"], ["cell", "cell"], *self.TWO_CELLS
                )

    def test_what_it_says_goes_on(self):
        answer = self.stop(
            SIGNALS[0],
            self.pause_after(lambda: self.records_so_far("two words") == 1),
            *self.sweep_words(*self.TWO_CELLS, output="two words"),
        )
        said = r"(?m)^feedrate: interrupted after 1 of 2 runs; go on: feedrate (.*)$"
        found = re.search(said, answer.err)
        self.assertTrue(found, answer)
        self.assertIn(f"--dataset {self.data}", found[1], "the kept command may name another place")
        again = self.call(*shlex.split(found[1]))
        self.assertIn("1 measured, 0 failed, 1 already there", again.err)

    def test_what_was_forced_is_forced_again(self):
        self.sweep("--workers", "1", *self.AS_IS)
        other = ("--workers", "1,2,3", *self.TWO_CELLS[2:], "--seed", "7", "--force-resume")
        answer = self.stop(
            SIGNALS[0],
            self.pause_after(lambda: self.records_so_far() == 2),
            *self.sweep_words(*other),
        )
        self.assertIn("; go on: the same command with --force-resume\n", answer.err)

    def test_with_ceilings_that_are_runs_of_their_own(self):
        both = {"data": "synthetic,jpeg", "cell": (*CELL, *self.AS_IS)}
        between = {"cell": self.SLOW}
        limits = ("--warmup-seconds", "0.1", "--min-seconds", "1")
        for what, statuses, roles in (
            (both, ["interrupted"], ["ceiling", "cell"]),
            (both, ["ok", "interrupted"], ["ceiling", "cell"]),
            (between, ["ok", "ok", "interrupted"], ["ceiling", "cell", "ceiling"]),
        ):
            with self.subTest(roles=roles, statuses=statuses):
                shutil.rmtree(self.path("ledger"), True)
                done = statuses.count("ok")
                answer = self.stop(
                    SIGNALS[0],
                    self.pause_after(lambda: self.records_so_far() == done),
                    *self.sweep_words(*limits, **what),
                )
                self.check_and_resume(answer, statuses, roles, *limits, **what)

    def test_a_terminal_that_is_gone(self):
        """SIGHUP ends it like SIGTERM, but not under nohup, which has it ignored."""
        words = self.sweep_words(*self.TWO_CELLS)
        for disposition in (signal.SIG_DFL, signal.SIG_IGN):
            with self.subTest(disposition):
                shutil.rmtree(self.path("ledger"), True)
                process = self.start(
                    *words, preexec_fn=lambda: signal.signal(signal.SIGHUP, disposition)
                )
                try:
                    # Between two cells there is nothing to interrupt, so no record of it.
                    self.until(process, self.pause_after(lambda: self.records_so_far() == 1))
                    process.send_signal(signal.SIGHUP)
                    answer = self.finish(process)
                finally:
                    process.kill()
                ended = disposition == signal.SIG_DFL
                self.assertEqual(answer.code, 128 + signal.SIGHUP if ended else 0, answer)
                statuses = [record["status"] for record in self.ledger()]
                self.assertEqual(statuses, ["ok", "interrupted"] if ended else ["ok"] * 2)

    def test_an_interrupted_run_is_no_failed_one(self):
        answer = self.stop(
            SIGNALS[0],
            self.pause_after(lambda: self.records_so_far() == 0),
            *self.sweep_words("--warmup-seconds", "50"),
        )
        self.assertNotIn("1 failed", answer.err)

    def test_a_single_run(self):
        for more in ([], ["--no-ceiling"]):
            for number in SIGNALS:
                with self.subTest(number, more=more):
                    shutil.rmtree(self.path("kept"), True)
                    answer = self.stop(
                        number,
                        self.pause_after(lambda: self.records_so_far("kept") == 0),
                        "run",
                        "--data",
                        "jpeg",
                        "--dataset",
                        self.data,
                        *CELL,
                        "--warmup-seconds",
                        "50",
                        "--json",
                        "-o",
                        self.path("kept"),
                        *more,
                    )
                    self.assertEqual([r["status"] for r in self.ledger("kept")], ["interrupted"])
                    for line in answer.out.splitlines():
                        self.assertEqual(json.loads(line)["status"], "interrupted")

    def test_gen(self):
        words = (
            "gen",
            self.path("d"),
            "--count",
            "300",
            "--image-size",
            "500x375",
            "--input-size",
            "48",
            "--format",
            "jpeg,tensor",
            "--classes",
            "3",
        )
        for number in SIGNALS:
            with self.subTest(number):
                shutil.rmtree(self.path("d"), True)
                folder = self.path("d", "jpeg", "500x375", "class_000")
                answer = self.stop(
                    number, self.pause_after(lambda: os.path.isdir(folder), 0.2), *words
                )
                self.assertEqual(answer.out, "")
                self.assertIn("interrupted", answer.err)
                names = [n for _, _, files in os.walk(self.path("d")) for n in files]
                self.assertEqual(
                    [n for n in names if not re.search(r"\.(jpg|tensor|json)$", n)],
                    [],
                    "half-written files",
                )
                self.refused(
                    "run",
                    "--data",
                    "tensor",
                    "--dataset",
                    self.path("d"),
                    *CELL,
                    *SHORT,
                    names=["tensor-uint8/48x48", "gen"],
                    code=1,
                )

    def test_gen_goes_on_afterwards(self):
        words = (
            "gen",
            self.path("d"),
            "--count",
            "60",
            "--format",
            "jpeg",
            "--image-size",
            "224",
            "--threads",
            "1",
        )
        self.stop(
            SIGNALS[0], self.pause_after(lambda: os.path.isdir(self.path("d", "jpeg")), 0.1), *words
        )
        self.call(*words)
        self.assertIn("60 samples", self.call("verify", self.path("d")).out)


class Reports(ProgramTest):
    """`report`, `validate` and `compare`: one line, nothing half-written, no traceback."""

    def setUp(self):
        super().setUp()
        for folder in ("a", "b"):
            self.sweep("--workers", "1,2", output=folder)

    def test_interrupts(self):
        # While Python starts, while it reads, while it draws.
        for after_s in (0.1, 0.5, 1, 2):
            for words in (("report", "a"), ("validate", "b"), ("compare", "a", "b")):
                with self.subTest(words, after_s=after_s):
                    process = self.start(*words, env={**os.environ, "TMPDIR": self.folder})
                    time.sleep(after_s)
                    process.send_signal(signal.SIGINT)
                    answer = self.finish(process)
                    self.assertNotIn("Traceback", answer.err)
                    if answer.code == -signal.SIGINT:
                        continue  # the program had not yet come to Python
                    if answer.code == 130:
                        last = answer.err.splitlines()[-1]
                        self.assertEqual(last, f"feedrate {words[0]}: interrupted", answer)
                    else:
                        self.assertIn(answer.code, (0, 1), answer)  # it was done before
                    left = [
                        name
                        for _, folders, files in os.walk(self.folder)
                        for name in files + folders
                        if name.startswith((".report-", "feedrate-"))
                    ]
                    self.assertEqual(left, [])

    def test_a_full_disk_behind_stdout(self):
        for words in (("report", "a"), ("compare", "a", "b")):
            with self.subTest(words), open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run(
                    [program(), *words],
                    stdout=full,
                    stderr=subprocess.PIPE,
                    encoding="utf-8",
                    cwd=self.folder,
                )
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(
                    f"feedrate {words[0]}: standard output: No space left on device; free some",
                    done.stderr,
                )
                self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    main()
