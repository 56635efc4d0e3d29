"""Storage that is slow, breaks, hangs, is full or changes: real block devices with planted
properties under ext4 (scripts/lib/slow_device.py). Needs root; skips where they cannot be made.
"""

import contextlib
import glob
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from program import CELL, PATIENCE, ROOT, SHORT, SMALL, ProgramTest, main, records_of
from test_storage import has_io_uring

sys.path.insert(0, os.path.join(ROOT, "scripts/lib"))
import slow_device  # noqa: E402

ENGINES = ["buffered", "direct", "mmap", *(["uring", "uring-direct"] if has_io_uring() else [])]
READ_ALONE = ["--decoder", "raw-read", "--workers", "1", "--batch-size", "2", "--no-ceiling"]
READ_ALONE += ["--device", "emulated:100000", "--warmup-seconds", "0.1"]
READ_ALONE += ["--max-warmup-seconds", "0.5"]
RESOLUTION = 0.004  # of the latencies in a record


def setUpModule():
    reason = slow_device.lacking()
    if reason:
        raise unittest.SkipTest(reason)
    try:
        slow_device.own_mounts()
    except slow_device.DeviceError as error:
        raise unittest.SkipTest(str(error)) from None


class DiskTest(ProgramTest):
    """With disks that are taken down at the end, and a copy of the small dataset on one of them."""

    def enter(self, manager):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        return stack.enter_context(manager)

    def disk(self, kind=slow_device.planted, **planted):
        at = tempfile.mkdtemp(prefix="disk-", dir=self.folder)
        return self.enter(kind(at, **planted))

    def dataset_on(self, disk):
        self.mine = shutil.copytree(self.data, os.path.join(disk.at, "data"))
        disk.forget()

    def samples(self, variant):
        return sorted(glob.glob(os.path.join(self.mine, variant, "48x48", "class_*", "*")))

    def words(self, *more):
        return ("run", "--data", "jpeg", "--dataset", self.mine, *SMALL, *more)

    def measured(self, *words, **options):
        return json.loads(self.call(*words, "--json", **options).out)


class Slow(DiskTest):
    """A property of the device, not of the machine: what is planted takes longer by far than what
    a CPU does about it."""

    def test_the_rate_is_that_of_the_device(self):
        rate = 8_000_000
        disk = self.disk(slow_device.plain)
        try:
            limit = self.enter(slow_device.rate_limited(disk.device, rate))
        except slow_device.DeviceError as error:
            self.skipTest(str(error))
        size = ["--image-size", "500x375"]
        data = os.path.join(disk.at, "data")
        self.call("gen", data, "--format", "raw", *size, "--count", "72", "--classes", "4")
        disk.forget()
        words = ("run", "--data", "raw", "--dataset", data, *size, *READ_ALONE)
        for io in (["--io", "direct"], ["--page-cache", "cold"]):
            with self.subTest(io):
                record = self.measured(*words, "--min-seconds", "4", *io, preexec_fn=limit)
                # The kernel lets the bytes through in portions of 0.1 s.
                self.assertAlmostEqual(record["io"]["bytes_per_s"] / rate, 1, delta=0.05)

    def diagnosed(self, disk, workers, **options):
        """The verdict and the slopes of raw pictures that are read past the page cache."""
        size = ["--image-size", "64x64"]
        data = os.path.join(disk.at, "data")
        self.call("gen", data, "--format", "raw", *size, "--count", "512", "--classes", "4")
        disk.forget()
        words = ["diagnose", "--data", "raw", "--dataset", data, *size, "--input-size", "32"]
        words += ["--io", "direct", "--workers", str(workers), "--batch-size", "16"]
        words += ["--device", "emulated:8000", "--budget", "40s"]
        found = self.measured(*words, **options)
        slopes = {(s["place"], s["kind"]): s["slope"]["mean"] for s in found["slopes"]}
        return found["verdict"], slopes

    def test_a_diagnosis_names_a_storage_that_gives_no_more(self):
        disk = self.disk(slow_device.plain)
        try:
            limit = self.enter(slow_device.rate_limited(disk.device, 10_000_000))
        except slow_device.DeviceError as error:
            self.skipTest(str(error))
        verdict, slopes = self.diagnosed(disk, workers=8, preexec_fn=limit)
        self.assertGreater(slopes["storage", "read"], 0.5, slopes)
        self.assertLess(slopes["worker", "sleep"], 0.5, slopes)
        self.assertEqual(verdict["names"][0], "storage", verdict)
        self.assertEqual(verdict["resources"][0], "storage", verdict)

    def test_a_diagnosis_names_workers_that_wait_for_a_storage_with_room_to_spare(self):
        verdict, slopes = self.diagnosed(self.disk(delay_ms=5), workers=2)
        self.assertLess(slopes["storage", "read"], 0.5, slopes)
        self.assertGreater(slopes["worker", "sleep"], 0.5, slopes)
        self.assertEqual(verdict["names"][0], "read", verdict)
        self.assertEqual(verdict["resources"][0], "workers", verdict)

    def test_each_read_takes_as_long_as_the_device_and_a_depth_makes_them_overlap(self):
        delay_ms = 20
        self.dataset_on(self.disk(delay_ms=delay_ms))
        rates = {}
        for io, depth in (("buffered", 1), ("direct", 1), ("uring-direct", 1), ("uring-direct", 8)):
            if io not in ENGINES:
                continue
            with self.subTest((io, depth)):
                how = ["--io", io, "--io-depth", str(depth), "--min-seconds", "0.5"]
                how += ["--page-cache", "cold"] if io == "buffered" else []
                found = self.measured(*self.words(*READ_ALONE, *how))["io"]
                least_us = delay_ms * 1000 * (1 - RESOLUTION)
                self.assertGreaterEqual(found["latency_us"]["median"], least_us)
                self.assertLessEqual(found["reads_per_s"], depth * 1000 / delay_ms * 1.02)
                rates[io, depth] = found["reads_per_s"]
        if "uring-direct" in ENGINES:
            # The device has room for all eight. Half of them are left to a busy machine.
            self.assertGreater(rates["uring-direct", 8], 4 * rates["uring-direct", 1])

    def test_capacity_searches_for_the_reads_that_hide_the_delay(self):
        delay_ms = 20
        self.dataset_on(self.disk(delay_ms=delay_ms))
        answer = self.call(
            *("capacity", "--dataset", self.mine, *SMALL, "--io", "direct", "--decoder"),
            *("raw-read", "--device", "emulated:60", "--batch-size", "4", "--most-gpus", "2"),
            *("--warmup-seconds", "0.1", "--max-warmup-seconds", "0.5", "--min-seconds", "1"),
            *("--repetitions", "1", "--no-client"),
        )
        found = re.search(
            r"one read at a time takes ([\d.]+) ms: ([\d.,]+) img/s; "
            r"\d+ in flight \(\d+ workers x depth 1 a GPU\): ([\d.,]+) img/s",
            answer.out,
        )
        self.assertTrue(found, answer)
        takes_ms, alone, together = (float(number.replace(",", "")) for number in found.groups())
        self.assertGreaterEqual(takes_ms, delay_ms * (1 - RESOLUTION))
        # The device has room for ten. More than half of them are left to a busy machine.
        self.assertGreater(together, 4 * alone, answer)
        self.assertNotIn("AU of 90 % or more: 0 GPUs", answer.out)


class BadSample(DiskTest):
    """All of the dataset lies on a good disk, but for one file."""

    def setUp(self):
        super().setUp()
        self.dataset_on(self.disk(slow_device.plain))

    def move(self, file):
        """To a disk that can be made to fail or to hang. Where it lies there stays in memory, its
        bytes do not."""
        disk = self.disk()
        moved = shutil.copy(file, disk.at)
        disk.forget()
        slow_device.command("mount", "--bind", moved, file)
        self.addCleanup(slow_device.unmount, file)
        self.addCleanup(disk.go_on)
        return disk

    def statuses(self):
        return {(r["cell"]["data"], r["cell"]["io"]): r["status"] for r in self.ledger()}


class Broken(BadSample):
    def bad_jpeg(self):
        bad = self.samples("jpeg")[5]
        self.move(bad).fail_reads()
        return bad

    def test_a_read_that_fails_is_named(self):
        bad = self.bad_jpeg()
        for io in ENGINES:
            for cache in (["--page-cache", "as-is"], ["--cache", "encoded"]):
                with self.subTest((io, cache)):
                    words = self.words(*CELL, *SHORT, "--no-ceiling", "--io", io, *cache)
                    names = [f"{bad}: Input/output error at byte 0; ", "kernel's log"]
                    line = self.refused(*words, names=names, code=1, talk=True)
                    self.assertNotIn("remove", line)

    def test_one_that_is_skipped_is_counted_and_makes_the_record_invalid(self):
        bad = self.bad_jpeg()
        record = self.measured(*self.words(*CELL, *SHORT, "--no-ceiling", "--on-bad", "skip"))
        self.assertGreater(record["bad_samples"], 0)
        self.assertIn(f"{bad}: Input/output error", self.reason(record, "bad_samples"))
        self.assertFalse(record["valid"])

    def test_the_cause_is_told_if_a_cache_was_filled_without_it(self):
        bad = self.bad_jpeg()
        for cache in ("encoded", "decoded", "sample"):
            with self.subTest(cache):
                words = [*CELL, *SHORT, "--no-ceiling", "--cache", cache, "--on-bad", "skip"]
                record = self.measured(*self.words(*words))
                self.assertIn(f"{bad}: Input/output error", self.reason(record, "bad_samples"))

    def reason(self, record, flag):
        return next(found["reason"] for found in record["flags"] if found["name"] == flag)

    def test_a_sweep_measures_what_can_be_read(self):
        bad = self.samples("tensor-uint8")[5]
        self.move(bad).fail_reads()
        self.data = self.mine
        answer = self.sweep(data="synthetic,tensor,jpeg", code=1)
        wanted = {("synthetic", None): "ok", ("jpeg", "buffered"): "ok"}
        wanted["tensor", "buffered"] = "failed"
        self.assertEqual(self.statuses(), wanted)
        failed = next(record for record in self.ledger() if record["status"] == "failed")
        self.assertIn(f"{bad}: Input/output error at byte 0; ", failed["error"])
        self.assertIn(failed["error"], answer.err)

    def test_verify_goes_on_and_names_it(self):
        bad = os.path.relpath(self.bad_jpeg(), self.mine)
        answer = self.call("verify", self.mine, code=1)
        self.assertRegex(
            answer.out, rf"(?m)^unreadable: {re.escape(bad)}: Input/output error; .*kernel's log"
        )
        self.assertRegex(answer.out, r"192 samples, .* 0 damaged, 1 unreadable")

    def gen_refused(self, *words, names):
        answer = self.call("gen", *words, *SMALL, "--count", "64", "--classes", "4", code=1)
        line = answer.err.splitlines()[-1]
        for name in [*names, "Input/output error; ", "kernel's log"]:
            self.assertIn(name, line, answer)
        self.assertNotIn("remove", line)

    def test_gen_does_not_take_a_sample_for_a_missing_one(self):
        os.remove(os.path.join(self.mine, "jpeg/48x48/files.tsv"))  # so that it reads each
        bad = self.bad_jpeg()
        for formats in ("jpeg", "bmp"):
            with self.subTest(formats):
                self.gen_refused(self.mine, "--format", formats, names=[f"{bad}: "])

    def test_gen_does_not_take_a_manifest_for_a_missing_one(self):
        manifest = os.path.join(self.mine, "jpeg/48x48/files.tsv")
        self.move(manifest).fail_reads()
        names = [f"{manifest}: cannot read it: "]
        self.gen_refused(self.mine, "--format", "jpeg", names=names)

    def test_a_packed_file_is_named_in_one_line(self):
        data = self.path("packed")
        words = (data, "--container", "files,hdf5")
        made = self.finish(self.start("gen", *words, *SMALL, "--count", "64", "--classes", "4"))
        if "cannot read HDF5" in made.err:
            self.skipTest(made.err)
        self.move(os.path.join(data, "jpeg.hdf5/48x48/samples.h5")).fail_reads()
        self.gen_refused(*words, names=["samples.h5: "])
        words = ("run", "--data", "jpeg", "--dataset", data, *CELL, "--container", "hdf5")
        self.refused(*words, names=["samples.h5", "Input/output error"], code=1)

    def test_a_folder_that_cannot_be_read_is_not_called_missing(self):
        disk = self.disk()
        self.dataset_on(disk)
        disk.fail_reads()
        words = self.words(*CELL, *SHORT)
        self.refused(*words, names=[self.mine, "Input/output error"], code=1)


class Hanging(BadSample):
    """Output goes to a file, which can be read while the program runs."""

    def begin(self, disk, *words):
        self.said = open(self.path("said"), "w+", encoding="utf-8")
        self.addCleanup(self.said.close)
        process = subprocess.Popen(
            [os.environ["FEEDRATE_PROGRAM"], *words],
            stdin=subprocess.DEVNULL,
            stdout=self.said,
            stderr=self.said,
            cwd=self.folder,
        )
        self.end_with(disk, process)
        return process

    def end_with(self, disk, process):
        """Who waits for the device may end only once it goes on."""
        for cleanup in (process.wait, process.kill, disk.go_on):  # the last one first
            self.addCleanup(cleanup)

    def text(self):
        self.said.seek(0)
        return self.said.read()

    def wait_for(self, ready, seconds=PATIENCE):
        deadline = time.monotonic() + seconds
        while not ready():
            self.assertLess(time.monotonic(), deadline, self.text())
            time.sleep(0.02)

    def nobody_uses(self, disk, file):
        disk.go_on()
        slow_device.unmount(file)
        disk.forget()

    def stalled(self, file, seconds):
        return (
            f"{re.escape(file)}: stalled: a read at byte 0 has not returned for {seconds}"
            r"\.\d s; look at the storage, or raise --stall-seconds"
        )

    def hanging(self, file):
        disk = self.move(file)
        disk.hang()
        return disk

    def test_each_way_to_read_ends_its_cell_alone(self):
        bad = self.samples("tensor-uint8")[5]
        disk = self.hanging(bad)
        words = ["sweep", "--data", "synthetic,tensor,jpeg", "--dataset", self.mine, *CELL]
        words += ["--io", ",".join(ENGINES), "--where", "data!=jpeg or io=buffered"]
        words += ["--workers", "1", "--page-cache", "as-is", "--min-seconds", "0.5"]
        words += ["--warmup-seconds", "0.1", "--stall-seconds", "1", "-o", self.path("ledger")]
        process = self.begin(disk, *words)
        self.wait_for(lambda: process.poll() is not None)
        self.assertEqual(process.returncode, 1, self.text())
        wanted = {("synthetic", None): "ok", ("jpeg", "buffered"): "ok"}
        wanted.update({("tensor", io): "failed" for io in ENGINES})
        self.assertEqual(self.statuses(), wanted, self.text())
        for record in self.ledger():
            if record["status"] == "failed":
                self.assertRegex(record["error"], self.stalled(bad, "[12]"))
        self.nobody_uses(disk, bad)

    def test_a_run_tells_it_within_ten_seconds(self):
        bad = self.samples("jpeg")[5]
        disk = self.hanging(bad)
        process = self.begin(disk, *self.words(*CELL, "--no-ceiling", "--io", "direct"))
        self.wait_for(lambda: process.poll() is not None, seconds=10)
        self.assertEqual(process.returncode, 1, self.text())
        self.assertRegex(self.text().splitlines()[-1], "^feedrate: " + self.stalled(bad, "6"))
        self.nobody_uses(disk, bad)

    def test_it_can_be_interrupted(self):
        bad = self.samples("jpeg")[5]
        disk = self.hanging(bad)
        words = self.words(*CELL, "--no-ceiling", "--io", "direct", "--stall-seconds", "60")
        process = self.begin(disk, *words)
        self.wait_for(lambda: "preparing" in self.text())
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        self.wait_for(lambda: process.poll() is not None, seconds=10)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, self.text())
        self.nobody_uses(disk, bad)

    def test_a_pipe_ends_with_the_run(self):
        disk = self.hanging(self.samples("jpeg")[5])
        process = self.start(
            *self.words(*CELL, "--no-ceiling", "--io", "direct", "--stall-seconds", "1")
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.end_with(disk, process)
        self.assertEqual(process.wait(10), 1)
        while select.select([process.stderr], [], [], 1)[0]:
            if not os.read(process.stderr.fileno(), 4096):
                return
        self.fail("somebody else still holds the pipe")

    def test_what_is_read_beforehand_is_watched(self):
        """Before anything is measured: the manifest, and one sample, to see whether the file system
        takes O_DIRECT."""
        first = self.samples("jpeg")[0]
        manifest = os.path.join(self.mine, "jpeg/48x48/files.tsv")
        opening = f"{re.escape(self.mine)}: stalled: opening it has not come to an end for [12]"
        run = self.words(*CELL, "--stall-seconds", "1")
        sweep = ("sweep", *run[1:], "-o", self.path("ledger"))
        jobs = ("jobs", *run[1:], "--copies", "2")
        capacity = ("capacity", *run[1:])
        for command, io, file, said in (
            (run, "buffered", manifest, opening),
            (sweep, "buffered", manifest, opening),
            (jobs, "buffered", manifest, opening),
            (capacity, "buffered", manifest, opening),
            (run, "direct", first, self.stalled(first, "[12]")),
            (jobs, "direct", first, self.stalled(first, "[12]")),
        ):
            with self.subTest(command[0], file=file):
                disk = self.hanging(file)
                process = self.begin(disk, *command, "--io", io)
                self.wait_for(lambda: process.poll() is not None, seconds=10)
                self.assertEqual(process.returncode, 1, self.text())
                self.assertRegex(self.text().splitlines()[-1], "^feedrate: " + said)
                self.nobody_uses(disk, file)

    def check_silence(self, process, file):
        self.wait_for(lambda: process.poll() is not None, seconds=10)
        self.assertEqual(process.returncode, 1, self.text())
        self.assertRegex(
            self.text().splitlines()[-1],
            f"^feedrate: {file}: stalled: nothing was read or written for [12]",
        )

    def test_verify_and_gen_end_while_a_thread_hangs_in_the_kernel(self):
        bad = self.samples("jpeg")[5]
        own = os.path.join(self.mine, "jpeg/48x48")
        for words in (("verify", self.mine), ("gen", self.path("new"), "--from", own, *SMALL)):
            with self.subTest(words[0]):
                disk = self.hanging(bad)
                process = self.begin(disk, *words, "--stall-seconds", "1")
                self.check_silence(process, re.escape(bad))
                self.nobody_uses(disk, bad)

    def test_gen_ends_where_the_disk_hangs_that_it_writes_to(self):
        disk = self.disk()
        new = os.path.join(disk.at, "new")
        disk.hang()
        words = ("gen", new, *SMALL, "--format", "jpeg", "--count", "8", "--stall-seconds", "1")
        process = self.begin(disk, *words)
        self.check_silence(process, re.escape(new) + "[^:]*")

    def test_verify_can_be_interrupted(self):
        bad = self.samples("jpeg")[5]
        disk = self.hanging(bad)
        process = self.begin(disk, "verify", self.mine, "--stall-seconds", "60")
        time.sleep(1.5)
        process.send_signal(signal.SIGTERM)
        self.wait_for(lambda: process.poll() is not None, seconds=5)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM, self.text())
        self.nobody_uses(disk, bad)


class Full(DiskTest):
    def setUp(self):
        super().setUp()
        self.small = self.disk(slow_device.plain, size="16M")
        self.filler = os.path.join(self.small.at, "filler")
        self.new = os.path.join(self.small.at, "new")

    def fill(self):
        with open(self.filler, "wb", buffering=0) as file:
            for size in (1 << 20, 1 << 12, 1):
                with contextlib.suppress(OSError):
                    while True:
                        file.write(bytes(size))

    def test_nothing_is_begun_on_it(self):
        self.fill()
        self.refused(
            *("gen", self.new, *SMALL, "--count", "64"),
            names=[self.new, "No space left on device; free some space, or choose another"],
            code=1,
        )
        for command in ("run", "sweep"):
            self.refused(
                *(command, "--dataset", self.data, "--data", "jpeg", *CELL, "-o", self.new),
                names=[self.new, "No space left on device; free some space, or choose another"],
                code=1,
            )

    def test_a_dataset_that_fills_it_goes_on_once_there_is_room(self):
        words = ("gen", self.new, "--format", "jpeg", "--count", "200", "--image-size", "224")
        process = self.start(*words)
        while process.poll() is None and not glob.glob(self.new + "/jpeg/*/*/*.jpg"):
            time.sleep(0.01)
        self.fill()
        answer = self.finish(process)
        self.assertEqual(answer.code, 1, answer)
        line = answer.err.splitlines()[-1]
        self.assertRegex(line, re.escape(self.new) + ".*No space left on device; free some space")
        os.remove(self.filler)
        self.call(*words)
        self.small.forget()
        self.assertIn("200 samples", self.call("verify", self.new).out)

    def test_a_ledger_that_fills_it_goes_on_once_there_is_room(self):
        words = ["sweep", "--dataset", self.data, "--data", "jpeg", *CELL, "--workers", "1,2,3"]
        words += ["--warmup-seconds", "0.1", "--min-seconds", "0.5", "-o", self.new]
        process = self.start(*words)
        while process.poll() is None and self.records_so_far(self.new) < 1:
            time.sleep(0.02)
        self.fill()
        answer = self.finish(process)
        self.assertEqual(answer.code, 1, answer)
        self.assertRegex(
            answer.err.splitlines()[-1],
            re.escape(self.new)
            + "/ledger.jsonl: No space left on device; free some space .*--resume",
        )
        before = records_of(self.new)
        os.remove(self.filler)
        self.call(*words, "--resume")
        self.small.forget()
        self.assertEqual(records_of(self.new)[: len(before)], before)
        self.assertEqual(len(records_of(self.new)), 3)


class Refused(DiskTest):
    def test_a_read_only_file_system_is_read(self):
        disk = self.disk(slow_device.plain)
        self.dataset_on(disk)
        slow_device.command("mount", "-o", "remount,ro", disk.at)
        new = os.path.join(disk.at, "new")
        self.refused(
            *("gen", new, *SMALL, "--count", "64"),
            names=[new, "Read-only file system; mount it writable, or choose another"],
            code=1,
        )
        for command in ("run", "sweep"):
            self.refused(
                *(command, "--dataset", self.data, "--data", "jpeg", *CELL, "-o", new),
                names=[new, "Read-only file system; mount it writable, or choose another"],
                code=1,
            )
        self.call(*self.words(*CELL, *SHORT, "--no-ceiling", "--page-cache", "cold"))
        self.assertIn("0 damaged", self.call("verify", self.mine).out)

    def test_a_file_system_without_o_direct_is_named(self):
        folder = self.path("memory")
        os.mkdir(folder)
        slow_device.command("mount", "-t", "ramfs", "ramfs", folder)
        self.addCleanup(slow_device.unmount, folder)
        self.mine = shutil.copytree(self.data, os.path.join(folder, "data"))
        for io in ENGINES:
            if "direct" in io:
                with self.subTest(io):
                    self.refused(
                        *self.words(*CELL, *SHORT, "--no-ceiling", "--io", io),
                        names=[self.mine, "does not take O_DIRECT", "--io buffered"],
                        code=1,
                    )


class Changing(DiskTest):
    def change_during_a_run(self, change, *more):
        """Changes the first sample once the run has opened the dataset."""
        process = self.start(
            *self.words(*CELL, "--no-ceiling", *more),
            *("--warmup-seconds", "0.1", "--min-seconds", "1.5"),
        )
        for line in process.stderr:
            if "preparing" in line:
                break
        time.sleep(0.3)
        victim = self.samples("jpeg")[0]
        with open(victim, "r+b") as file:
            change(file)
        return victim, self.finish(process)

    def test_a_file_that_grows_ends_the_run(self):
        self.dataset_on(self.disk(slow_device.plain))

        def append(file):
            file.seek(0, os.SEEK_END)
            file.write(b"more")

        for io in ENGINES:
            with self.subTest(io):
                victim, answer = self.change_during_a_run(append, "--io", io)
                self.assertEqual(answer.code, 1, answer)
                self.assertRegex(
                    answer.err.splitlines()[-1],
                    re.escape(victim) + r": has \d+ bytes, the manifest says \d+; .*verify",
                )
                shutil.copytree(self.data, self.mine, dirs_exist_ok=True)

    def test_other_bytes_of_the_same_length_are_found_by_verify(self):
        """A run checks no contents: that would be part of what it measures."""
        self.dataset_on(self.disk(slow_device.plain))

        def overwrite(file):
            file.seek(200)
            file.write(bytes(range(100)))

        victim, answer = self.change_during_a_run(overwrite, "--decoder", "raw-read")
        self.assertEqual(answer.code, 0, answer)
        damaged = os.path.relpath(victim, self.mine)
        self.assertIn(f"damaged: {damaged}: checksum", self.call("verify", self.mine, code=1).out)


if __name__ == "__main__":
    main()
