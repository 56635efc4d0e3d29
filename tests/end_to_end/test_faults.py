"""What goes wrong in one cell ends that cell, with its cause; the next one is measured."""

import glob
import os
import re
import resource
import shutil
import signal
import struct
import time
import unittest

from program import CELL, PATIENCE, SHORT, SIGNALS, SMALL, ProgramTest, main
from rank_faults import children_of


class Faults(ProgramTest):
    def words(self, *more):
        return (
            "sweep",
            "--dataset",
            self.data,
            *CELL,
            "--warmup-seconds",
            "0.1",
            "-o",
            self.path("ledger"),
            *more,
        )

    def statuses(self):
        return [(r["cell"]["data"], r["status"]) for r in self.ledger()]

    def wait_for_records(self, count=1):
        deadline = time.monotonic() + PATIENCE
        while self.records_so_far() < count:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def hit_the_cell(self, number):
        """Sends a signal to the process of three cells while it measures the second one: the third
        one gets another."""
        process = self.start(
            *self.words("--data", "jpeg", "--workers", "1,2,4", "--min-seconds", "1")
        )
        self.wait_for_records()
        deadline = time.monotonic() + PATIENCE
        found = []
        while not found:
            found = children_of(process.pid)
            self.assertLess(time.monotonic(), deadline)
        time.sleep(0.3)
        began = time.monotonic()
        os.kill(found[0], number)
        answer = self.finish(process)
        self.assertEqual(answer.code, 1, answer)
        records = self.ledger()
        self.assertEqual([r["status"] for r in records], ["ok", "failed", "ok"], answer)
        first, lost, last = records
        self.assertEqual(first["ranks"][0]["pid"], found[0])
        self.assertNotEqual(last["ranks"][0]["pid"], found[0])
        self.assertFalse(lost["valid"])
        return lost["error"], began

    def test_a_folder_that_is_removed_meanwhile_is_told(self):
        process = self.start(*self.words("--data", "jpeg", "--workers", "1,2"))
        self.wait_for_records()
        shutil.rmtree(self.path("ledger"))
        answer = self.finish(process)
        self.assertEqual(answer.code, 1, answer)
        self.assertIn("ledger.jsonl: was removed while it was written", answer.err)
        self.assertNotIn(" measured, ", answer.err)

    def test_a_program_that_stood_still_is_the_reason(self):
        words = ("run", "--data", "jpeg", "--dataset", self.data, "--no-ceiling", *CELL)
        process = self.start(*words, "--warmup-seconds", "0.1", "--min-seconds", "40")
        deadline = time.monotonic() + PATIENCE
        while not children_of(process.pid):
            self.assertLess(time.monotonic(), deadline)
        time.sleep(2)  # it measures
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(12)  # a rank is patient for 9 s
        os.kill(process.pid, signal.SIGCONT)
        answer = self.finish(process)
        self.assertEqual(answer.code, 1, answer)
        self.assertRegex(answer.err, r"the cell's process: ended, as .* stood still for too long")

    def test_a_crash_spares_the_other_cells(self):
        error, _ = self.hit_the_cell(signal.SIGABRT)
        self.assertRegex(error, r"^the cell's process: was killed \(SIGABRT\)")

    def test_the_kernels_kill_says_what_it_may_be(self):
        error, _ = self.hit_the_cell(signal.SIGKILL)
        self.assertIn("memory", error)

    def a_sample_that_never_comes(self, data="tensor"):
        """A FIFO without a writer in the place of a sample: opening it never returns."""
        self.data = self.path("d")
        self.call(
            "gen",
            self.data,
            "--count",
            "64",
            "--classes",
            "4",
            "--format",
            "tensor,jpeg",
            "--image-size",
            "48",
            "--input-size",
            "48",
        )
        folder = os.path.join(
            self.data, {"tensor": "tensor-uint8", "jpeg": "jpeg"}[data], "48x48", "class_002"
        )
        victim = os.path.join(folder, sorted(os.listdir(folder))[3])
        os.remove(victim)
        os.mkfifo(victim)
        return victim

    def stalled_sweep(self, *more):
        # On a busy machine steps do not become steady.
        words = ("--data", "tensor,jpeg", "--min-seconds", "0.3", "--max-warmup-seconds", "1")
        return self.finish(self.start(*self.words(*words, "--stall-seconds", "1", *more)))

    def check_stall(self, answer, victim):
        self.assertEqual(answer.code, 1, answer)
        self.assertEqual(self.statuses().count(("tensor", "failed")), 1, answer)
        self.assertIn(("jpeg", "ok"), self.statuses())
        self.check_stalled_read(victim)

    def check_stalled_read(self, victim):
        error = next(r["error"] for r in self.ledger() if r["status"] == "failed")
        self.assertRegex(
            error,
            "^"
            + victim
            + r": stalled: a read at byte 0 has not returned for 1\.\d s; .*--stall-seconds",
        )

    def test_a_read_that_never_returns_ends_its_cell_alone(self):
        victim = self.a_sample_that_never_comes()
        began = time.monotonic()
        answer = self.stalled_sweep("--image-size", "48")
        self.assertLess(time.monotonic() - began, 30)
        self.check_stall(answer, victim)

    def test_so_does_one_while_a_cache_is_filled(self):
        victim = self.a_sample_that_never_comes()
        for cache in ("encoded", "sample"):
            shutil.rmtree(self.path("ledger"), True)
            self.check_stall(self.stalled_sweep("--cache", cache), victim)

    def test_or_while_pictures_are_decoded_into_one(self):
        victim = self.a_sample_that_never_comes("jpeg")
        words = ("--data", "jpeg", "--cache", "decoded", "--min-seconds", "0.3")
        answer = self.finish(self.start(*self.words(*words, "--stall-seconds", "1")))
        self.assertEqual(answer.code, 1, answer)
        self.assertIn(("jpeg", "failed"), self.statuses())
        self.check_stalled_read(victim)

    def test_or_the_page_cache_is_warmed(self):
        victim = self.a_sample_that_never_comes()
        self.check_stall(self.stalled_sweep("--page-cache", "warm"), victim)

    @unittest.skipUnless(os.environ.get("FEEDRATE_STALLED_OPEN"), "not with a sanitizer")
    def test_or_the_dataset_is_opened(self):
        self.data = self.copy_of_data()
        words = ("--data", "synthetic,tensor", "--workers", "1,2", "--repetitions", "3")
        words += ("--min-seconds", "0.5", "--stall-seconds", "1")
        process = self.start(*self.words(*words), env=self.stalled_open())
        self.wait_for_records(2)  # the ceiling, and a cell whose process has opened it
        self.write("data/tensor-uint8/48x48/files.tsv.stalled", "")
        answer = self.finish(process)
        self.assertEqual(answer.code, 1, answer)
        opened = [("synthetic", "ok"), *[("tensor", "ok")] * 2]  # by one process
        stalled = [("synthetic", "ok"), *[("tensor", "failed")] * 2]  # what reads nothing goes on
        self.assertEqual(self.statuses(), opened + stalled * 2, answer)
        said = r": stalled: opening it has not come to an end for 1\.\d s; .*--stall-seconds"
        for record in self.ledger():
            if record["status"] == "failed":
                self.assertRegex(record["error"], "^" + re.escape(self.data) + said)

    @unittest.skipUnless(os.environ.get("FEEDRATE_STALLED_OPEN"), "not with a sanitizer")
    def test_every_command_tells_that_its_dataset_does_not_open(self):
        self.data = self.copy_of_data()
        self.write("data/jpeg/48x48/files.tsv.stalled", "")
        cell = ["--data", "jpeg", "--dataset", self.data, *CELL, "--stall-seconds", "1"]
        for command in (["jobs", "--copies", "2"], ["capacity"], ["doctor"]):
            with self.subTest(command[0]):
                process = self.start(
                    *command,
                    *cell,
                    env=dict(os.environ, LD_PRELOAD=os.environ["FEEDRATE_STALLED_OPEN"]),
                )
                answer = self.finish(process)
                self.assertEqual(answer.code, 1, answer)
                said = r": stalled: opening it has not come to an end for [12]\.\d s; .*--stall-sec"
                self.assertRegex(answer.out + answer.err, re.escape(self.data) + said)

    def stalled_open(self):
        return dict(os.environ, LD_PRELOAD=os.environ["FEEDRATE_STALLED_OPEN"])

    def watched_commands(self):
        """Commands that carry out their reading and writing aside, and the file that never opens:
        one that is read, and one of a dataset that is made."""
        self.data = self.copy_of_data()
        picture = sorted(glob.glob(self.path("data/jpeg/48x48/class_*/*")))[5]
        written = self.path("new/jpeg/48x48/class_000/000000.jpg")
        os.makedirs(os.path.dirname(written))
        for file in (picture, written + ".partial"):
            self.write(file + ".stalled", "")
        own = self.path("data/jpeg/48x48")
        made = ("--format", "jpeg", *SMALL, "--count", "8")
        yield ("verify", self.data), picture
        yield ("gen", self.path("from"), "--from", own, *SMALL), picture
        yield ("gen", self.path("new"), *made), written

    @unittest.skipUnless(os.environ.get("FEEDRATE_STALLED_OPEN"), "not with a sanitizer")
    def test_verify_and_gen_name_the_file_that_hangs(self):
        for words, file in self.watched_commands():
            with self.subTest(words):
                began = time.monotonic()
                process = self.start(*words, "--stall-seconds", "1", env=self.stalled_open())
                answer = self.finish(process)
                self.assertLess(time.monotonic() - began, 20)
                self.assertEqual(answer.code, 1, answer)
                self.assertEqual(answer.out, "")
                said = r": stalled: nothing was read or written for [12]\.\d s; .*--stall-seconds$"
                self.assertRegex(
                    answer.err.splitlines()[-1], "^feedrate: " + re.escape(file) + said
                )

    @unittest.skipUnless(os.environ.get("FEEDRATE_STALLED_OPEN"), "not with a sanitizer")
    def test_verify_and_gen_can_be_interrupted_while_they_hang(self):
        for words, _ in self.watched_commands():
            for number in SIGNALS:
                with self.subTest(words, number=number):
                    later = time.monotonic() + 1.5
                    answer = self.stop(
                        number,
                        lambda later=later: time.monotonic() > later,
                        *(*words, "--stall-seconds", "60"),
                        env=self.stalled_open(),
                    )
                    self.assertIn("feedrate: interrupted", answer.err)
        os.remove(self.path("new/jpeg/48x48/class_000/000000.jpg.partial.stalled"))
        self.call(*words)  # nothing holds the folder that was being made

    @unittest.skipUnless(os.environ.get("FEEDRATE_STALLED_OPEN"), "not with a sanitizer")
    def test_verify_of_storage_that_is_only_slow_goes_on(self):
        data = self.copy_of_data()
        files = sorted(glob.glob(self.path("data/jpeg/48x48/class_*/*")))[:4]
        for file in files:
            self.write(file + ".stalled", "")
        words = ("verify", data, "--threads", "1", "--stall-seconds", "4")
        process = self.start(*words, env=self.stalled_open())
        for file in files:
            time.sleep(1.5)
            self.assertIsNone(process.poll(), "it waits for this file")
            os.remove(file + ".stalled")
        answer = self.finish(process)
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("0 damaged, 0 unreadable", answer.out)

    def test_a_stalled_run_can_be_interrupted(self):
        self.a_sample_that_never_comes()
        begun = []

        def later():
            begun.append(time.monotonic())
            return time.monotonic() - begun[0] > 1.5

        self.stop(
            signal.SIGINT,
            later,
            "run",
            "--data",
            "tensor",
            "--dataset",
            self.data,
            *CELL,
            "--no-ceiling",
            "--stall-seconds",
            "60",
        )


@unittest.skipUnless(os.environ.get("FEEDRATE_TORCH") == "ON", "needs LibTorch")
class TrainingFaults(ProgramTest):
    """The same, on a device that computes."""

    def failed_beside_an_ok(self, *words, **more):
        answer = self.finish(
            self.start(
                "sweep",
                "--device",
                "cpu",
                "--model",
                "resnet18",
                *SMALL,
                *SHORT,
                "--max-warmup-seconds",
                "1",
                "--max-seconds",
                "2",
                "-o",
                self.path("ledger"),
                *words,
                **more,
            )
        )
        self.assertEqual(answer.code, 1, answer)
        failed = [r for r in self.ledger() if r["status"] == "failed"]
        self.assertEqual(len(failed), 1, answer)
        self.assertFalse(failed[0]["valid"])
        self.assertIn("ok", [r["status"] for r in self.ledger()], answer)
        return failed[0]

    def test_a_loss_that_is_no_number(self):
        data = self.path("data")
        self.call(
            "gen",
            data,
            "--count",
            "64",
            "--classes",
            "4",
            "--format",
            "tensor,jpeg",
            "--tensor-dtype",
            "fp32",
            *SMALL,
        )
        for sample in glob.glob(os.path.join(data, "tensor-fp32", "**", "*.*"), recursive=True):
            if not sample.endswith(".tsv"):
                with open(sample, "r+b") as file:
                    file.seek(-4, os.SEEK_END)
                    file.write(struct.pack("<f", float("nan")))
        failed = self.failed_beside_an_ok(
            "--data",
            "tensor,jpeg",
            "--tensor-dtype",
            "fp32",
            "--batch-size",
            "4",
            "--dataset",
            data,
        )
        self.assertEqual(failed["cell"]["data"], "tensor")
        self.assertRegex(failed["error"], "^cpu: the loss is NaN")

    def test_more_memory_than_there_is(self):
        most = 20 << 30
        failed = self.failed_beside_an_ok(
            "--data",
            "synthetic",
            "--batch-size",
            "1000000,4",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
        )
        self.assertEqual(failed["cell"]["batch-size"], 1000000)
        self.assertRegex(
            failed["error"],
            "^cpu: out of memory with resnet18, --batch-size 1000000 at 48x48; use a smaller",
        )


if __name__ == "__main__":
    main()
