"""Cold and warm are proven by the record, and a run that others made a lie of says so."""

import errno
import os
import shutil
import subprocess
import unittest

import page_cache
from forbidden import forbid
from program import ProgramTest, main

CACHESTAT = 451
COUNT, BATCH = 512, 8
# A pass takes about three seconds, of which reading is the least.
SLOW = ["--device", "emulated:160", "--batch-size", str(BATCH), "--image-size", "160"]
SLOW += ["--input-size", "48", "--no-ceiling"]
WINDOW = ["--min-seconds", "0.5", "--min-steps", "10", "--warmup-seconds", "0.2"]
READ = r"the process read [\d.]+ MB from storage, and needed [\d.]+ MB: the rest \([\d.]+ %\) lay"


def read_of(record):
    return sum(stage["bytes"] for stage in record["stages"] if stage["name"] == "read")


def reasons(record, name, severity=None):
    return [
        flag["reason"]
        for flag in record["flags"]
        if flag["name"] == name and severity in (None, flag["severity"])
    ]


class SlowRuns(ProgramTest):
    """Runs that take seconds to read a dataset of their own."""

    def use(self, folder, *below):
        """That dataset, made where it is not there. `below`: files that its file system lies in."""
        if not os.path.exists(folder):
            words = ("--format", "jpeg", "--image-size", "160", "--count", str(COUNT))
            self.call("gen", folder, "--classes", "4", *words)
        self.data = folder
        self.files = page_cache.samples_of(os.path.join(folder, "jpeg"))
        if not page_cache.can_be_dropped([*self.files, *below]):
            self.skipTest("this file system keeps its files in memory, or does not tell")

    def words(self, state, *more):
        state = [] if state is None else ["--page-cache", state]
        where = ["--dataset", self.data, "-o", self.path("ledger")]
        return ["run", "--data", "jpeg", *where, *SLOW, *WINDOW, "--verbose", *state, *more]

    def run_slow(self, state, *more, action=None, **options):
        """The record of a run, and what the terminal showed."""
        process = self.start(*self.words(state, *more), **options)
        with page_cache.meanwhile(action or (lambda over: None)):
            answer = self.finish(process)
        (record,) = self.ledger()
        return record, answer

    def need_to_know_what_was_fetched(self, record):
        if record["monitors"]["storage_read_bytes"] <= 0:
            self.skipTest("the kernel does not count what a process fetches from here")


class PageCache(SlowRuns):
    def setUp(self):
        super().setUp()
        self.use(os.path.join(self.made, "big"))

    def test_a_cold_run_is_proven(self):
        record, answer = self.run_slow("cold")
        self.assertEqual(answer.code, 0, answer)
        data = record["dataset"]
        self.assertEqual(data["page_cache"], "cold")
        self.assertEqual(data["page_cache_before"], 0)
        self.assertGreater(data["page_cache_after"], 0.9)
        look = data["page_cache_look"]
        self.assertEqual((look["files"], look["of"]), (COUNT, COUNT))
        self.assertIn(look["by"], ("cachestat", "mincore"))
        method = data["page_cache_method"]
        spares_others = os.environ.get("FEEDRATE_DROP_CACHES") == "no"
        self.assertIn(method, ("fadvise",) if spares_others else ("fadvise", "drop_caches"))
        self.assertIn(f"({method}): 0.0 % of it in memory at the start", answer.out)
        self.assertTrue(reasons(record, "client_cold", "note"))
        self.assertIn("enough for a look", reasons(record, "page_cache", "warning")[0])
        self.assertEqual(reasons(record, "page_cache", "serious"), [])
        self.call("validate", self.path("ledger"))
        self.need_to_know_what_was_fetched(record)
        self.assertGreater(record["monitors"]["storage_read_bytes"], 0.95 * read_of(record))

    def test_a_warm_run_is_proven(self):
        record, answer = self.run_slow("warm")
        self.assertEqual(answer.code, 0, answer)
        data = record["dataset"]
        self.assertEqual((data["page_cache"], data["page_cache_before"]), ("warm", 1))
        self.assertIsNone(data["page_cache_method"])
        self.assertLess(record["monitors"]["storage_read_bytes"], 0.05 * read_of(record))
        self.assertEqual(reasons(record, "page_cache"), [])
        self.assertRegex(answer.out, r"page cache +warm: 100.0 % of it in memory at the start \(")

    def test_devices_below_the_files_are_counted(self):
        record, _ = self.run_slow("cold")
        counters = record["monitors"]["storage_counters"]
        device = os.stat(self.data).st_dev
        if not os.path.exists(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/stat"):
            self.skipTest("no block device is seen below the dataset")
        devices = [counter for counter in counters if counter["depth"] is not None]
        self.assertEqual(devices[0]["depth"], 0)
        self.need_to_know_what_was_fetched(record)
        self.assertGreater(devices[0]["read_bytes"], 0.9 * read_of(record))

    def test_a_neighbour_on_the_same_storage_is_told(self):
        action = page_cache.read_past_it_all_the_time(self.path("other"))
        record, answer = self.run_slow(None, "--io", "direct", action=action)
        if record["status"] == "failed":
            self.skipTest(record["error"])
        self.assertEqual(answer.code, 0, answer)
        if record["monitors"]["storage_other_read_bytes"] < 0:
            self.skipTest("no block device is seen below the dataset")
        self.need_to_know_what_was_fetched(record)
        (reason,) = reasons(record, "storage_shared", "warning")
        self.assertRegex(reason, r"other programs read [\d.]+ MB of \w")
        self.call("validate", self.path("ledger"))

    def test_a_kernel_without_cachestat_is_asked_by_mincore(self):
        for error in (errno.ENOSYS, errno.EPERM):
            with self.subTest(error):
                record, _ = self.run_slow("cold", preexec_fn=forbid(CACHESTAT, error))
                look = record["dataset"]["page_cache_look"]
                self.assertEqual((look["by"], look["files"]), ("mincore", COUNT))
                self.assertEqual(look["unwritten_pages"], -1)
                self.assertEqual(record["dataset"]["page_cache_before"], 0)
                shutil.rmtree(self.path("ledger"))

    def test_reads_past_the_cache_say_so(self):
        record, answer = self.run_slow(None, "--io", "direct")
        if record["status"] == "failed":
            self.skipTest(record["error"])
        self.assertEqual(record["dataset"]["page_cache_method"], "bypassed")
        self.assertRegex(answer.out, "page cache +bypassed")

    def test_files_that_another_program_warms_again_are_told(self):
        record, answer = self.run_slow("cold", action=page_cache.warm_in_the_middle(self.files))
        self.assertEqual(answer.code, 0, answer)
        self.assertEqual(record["dataset"]["page_cache_before"], 0, "it began cold")
        if record["monitors"]["storage_read_bytes"] < 0:
            self.skipTest("the kernel does not count what a process fetches")
        self.assertRegex(reasons(record, "page_cache", "serious")[0], READ)
        self.assertFalse(record["valid"])
        self.call("validate", self.path("ledger"))

    def test_files_that_another_program_keeps_warm_are_told(self):
        record, _ = self.run_slow("cold", action=page_cache.warm_all_the_time(self.files))
        self.assertFalse(record["valid"])
        if record["status"] == "failed":  # they were back before they could be looked at
            self.assertIn("stays in the page cache although it was asked to go", record["error"])
        elif record["monitors"]["storage_read_bytes"] >= 0:
            self.assertRegex(reasons(record, "page_cache", "serious")[0], READ)

    def test_warm_files_that_another_program_drops_are_told(self):
        record, answer = self.run_slow("warm", action=page_cache.drop_all_the_time(self.files))
        self.assertEqual(answer.code, 0, answer)
        self.need_to_know_what_was_fetched(record)
        self.assertFalse(record["valid"])
        self.assertTrue(
            any("came from storage" in words for words in reasons(record, "page_cache", "serious"))
        )


def can_mount_images():
    """Whether this user may mount the file system in a file."""
    tools = all(
        subprocess.run(["sh", "-c", f"command -v {tool}"], capture_output=True).returncode == 0
        for tool in ("mkfs.ext4", "losetup", "mount", "umount")
    )
    return os.geteuid() == 0 and tools and os.path.exists("/dev/loop-control")


@unittest.skipUnless(
    can_mount_images(),
    "needs root and a loop device; scripts/bootstrap --tests (mount, e2fsprogs)",
)
class LoopDevices(SlowRuns):
    """The dataset lies in a file: what the page cache holds of that file is warm, too."""

    def setUp(self):
        super().setUp()
        self.image, self.mount = self.path("disk.img"), self.path("disk")
        with open(self.image, "wb") as file:
            file.truncate(64 << 20)
        os.mkdir(self.mount)
        subprocess.run(["mkfs.ext4", "-q", self.image], check=True, capture_output=True)
        words = ["mount", "-o", "loop", self.image, self.mount]
        mounted = subprocess.run(words, capture_output=True)
        if mounted.returncode != 0:
            self.skipTest(mounted.stderr.decode())
        self.addCleanup(subprocess.run, ["umount", self.mount], check=True)
        self.use(os.path.join(self.mount, "data"), self.image)

    def device(self):
        with open("/proc/self/mounts", encoding="utf-8") as file:
            return [words[0] for words in map(str.split, file) if words[1] == self.mount][-1]

    def test_the_file_behind_it_is_dropped_too(self):
        page_cache.read(self.image)
        record, answer = self.run_slow("cold")
        self.assertEqual(answer.code, 0, answer)
        self.assertLess(record["dataset"]["page_cache_backing_before"], 0.05)
        self.assertGreater(record["dataset"]["page_cache_backing_after"], 0.5)
        self.assertEqual(reasons(record, "page_cache", "serious"), [])
        counters = record["monitors"]["storage_counters"]
        self.assertEqual(counters[0]["name"], os.path.basename(self.device()))
        depths = [counter["depth"] for counter in counters]
        self.assertEqual(depths, sorted(depths), "the topmost first")
        self.call("validate", self.path("ledger"))

    def test_a_file_behind_it_that_is_kept_warm_is_told(self):
        record, answer = self.run_slow("cold", action=page_cache.warm_all_the_time([self.image]))
        self.assertEqual(answer.code, 0, answer)
        self.assertFalse(record["valid"])
        remedies = [
            flag["remedy"]
            for flag in record["flags"]
            if flag["name"] == "page_cache" and flag["severity"] == "serious"
        ]
        self.assertIn("losetup --direct-io=on", remedies[0])
        self.call("validate", self.path("ledger"))

    def test_with_direct_io_its_file_does_not_matter(self):
        words = ["losetup", "--direct-io=on", self.device()]
        direct = subprocess.run(words, capture_output=True)
        if direct.returncode != 0:
            self.skipTest(direct.stderr.decode())
        record, _ = self.run_slow("cold", action=page_cache.warm_all_the_time([self.image]))
        self.assertIsNone(record["dataset"]["page_cache_backing_before"])
        self.assertEqual(reasons(record, "page_cache", "serious"), [])


if __name__ == "__main__":
    main()
