"""Ways to read, and folders of one's own: what a user types, and what the record says of it."""

import ctypes
import errno
import os
import shutil

from forbidden import forbid
from program import SHORT, ProgramTest, main

IO_URING_SETUP = 425  # the same number on every architecture


def has_io_uring():
    libc = ctypes.CDLL(None, use_errno=True)
    ring = libc.syscall(IO_URING_SETUP, 1, ctypes.create_string_buffer(120))
    if ring >= 0:
        os.close(ring)
    release = os.uname().release.split(".")
    return ring >= 0 and (int(release[0]), int(release[1])) >= (5, 18)


class WaysToRead(ProgramTest):
    def test_each_way_reads_the_same_and_says_how_long_it_took(self):
        for io in ("buffered", "mmap", *(("uring",) if has_io_uring() else ())):
            with self.subTest(io):
                record = self.record("--io", io, "--io-depth", "4")
                self.assertEqual((record["cell"]["io"], record["cell"]["io-depth"]), (io, 4))
                self.assertGreater(record["io"]["reads"], 0)
                times = record["io"]["latency_us"]
                known = [t for t in times.values() if t is not None]
                self.assertEqual(known, sorted(known))
                if io != "uring":  # whose workers see late that a read has ended
                    self.assertEqual((len(known), record["io"]["seen_late"]), (5, 0))
                self.assertEqual(record["io"]["open_us"] is None, io == "uring")
                self.assertIsNone(record["io"]["registered_buffers"])  # of uring-direct alone

    def test_the_terminal_shows_files_a_second(self):
        answer = self.run_cell("--decoder", "raw-read", "--verbose")
        self.assertRegex(answer.out, r"reads +[\d,]+ files/s, \d+ MB/s; each [\d.]+ ms median")
        self.assertNotIn("decode 0", answer.out)

    def test_what_cannot_be_combined_is_refused(self):
        for words, names in (
            (["--io", "direct", "--io-depth", "2"], ["--io direct", "uring-direct"]),
            (["--io", "fast"], ["--io fast", "buffered"]),
            (["--io-depth", "0"], ["--io-depth 0", "1 to 1024"]),
            (["--decoder", "raw-read", "--cache", "encoded"], ["raw-read", "--cache none"]),
            (["--decoder", "raw-read", "--device", "cpu"], ["raw-read", "emulated"]),
            (["--image-size", "mixed", "--input-size", "native"], ["native", "--input-size 224"]),
        ):
            with self.subTest(words):
                self.refused(
                    *("run", "--data", "jpeg", "--dataset", self.data, *SHORT),
                    *("--device", "emulated:2000", "--image-size", "48", "--input-size", "48"),
                    *words,
                    names=names,
                )

    def test_a_ring_that_is_forbidden_is_told_from_one_that_is_not_there(self):
        if not has_io_uring():
            self.skipTest("no io_uring here")
        for error, names in (
            (errno.EPERM, ["io_uring", "forbidden in this container", "--io buffered"]),
            (errno.ENOSYS, ["io_uring", "forbidden in this container", "--io buffered"]),
        ):
            with self.subTest(error):
                self.refused(
                    *("run", "--data", "jpeg", "--dataset", self.data, *SHORT, "--io", "uring"),
                    *("--device", "emulated:2000", "--image-size", "48", "--input-size", "48"),
                    names=names,
                    code=1,
                    preexec_fn=forbid(IO_URING_SETUP, error),
                )


class OwnFolder(ProgramTest):
    """The class folders of a made dataset, without what gen says of them."""

    def setUp(self):
        super().setUp()
        self.mine = self.path("mine")
        shutil.copytree(
            os.path.join(self.data, "jpeg", "48x48"),
            self.mine,
            ignore=shutil.ignore_patterns("files.tsv"),
        )
        self.words = ["--dataset", self.mine, "--device", "emulated:2000", "--batch-size", "8"]
        self.words += ["--input-size", "48"]

    def test_is_read_as_it_lies(self):
        before = sorted(os.listdir(self.mine))
        words = ("run", "--data", "jpeg", *self.words, *SHORT, "--image-size", "mixed")
        answer = self.call(*words)
        self.assertIn("jpeg mixed", answer.out)
        self.assertEqual(sorted(os.listdir(self.mine)), before, "nothing was written")

    def test_says_what_is_missing(self):
        for more, names, code in (
            (["--data", "png", "--image-size", "mixed"], [self.mine, "holds no .png"], 1),
            (
                ["--data", "jpeg", "--image-size", "mixed", "--container", "tar"],
                [self.mine, "--container files"],
                1,
            ),
        ):
            with self.subTest(more):
                self.refused("run", *self.words, *SHORT, *more, names=names, code=code)

    def test_its_pictures_sizes_are_the_default(self):
        answer = self.call("run", *self.words, *SHORT, "--data", "jpeg")
        self.assertIn(
            f"feedrate: --image-size mixed, as `feedrate gen` did not make {self.mine}\n",
            answer.err,
        )
        self.assertIn("jpeg mixed", answer.out)

    def test_names_need_be_no_utf8(self):
        def odd(name):
            return os.fsdecode(os.fsencode(self.path(name)) + b"-\xff\xc3")

        mine = odd("mine")
        os.mkdir(mine)
        for name in sorted(os.listdir(self.mine)):
            shutil.copytree(
                os.path.join(self.mine, name),
                os.path.join(mine, os.fsdecode(b"\xe9" + name.encode())),
            )
        cell = ("--device", "emulated:2000", "--batch-size", "8", "--input-size", "48", *SHORT)
        self.call("run", "--data", "jpeg", "--dataset", mine, *cell, "--trace", odd("trace"))
        self.assertTrue(os.path.exists(odd("trace")))
        words = ("--format", "jpeg", "--image-size", "48", "--count", "0")
        self.call("gen", odd("made"), "--from", mine, *words)
        self.assertIn(" 0 damaged", self.call("verify", odd("made")).out)
        sweep = ("sweep", "--data", "jpeg", "--dataset", odd("made"), *cell, "--image-size", "48")
        sweep += ("-o", odd("results"))
        self.call(*sweep)
        self.assertIn("1 already there", self.call(*sweep, "--resume").err)
        self.call("validate", odd("results"))

    def test_a_made_dataset_is_none(self):
        words = ("--dataset", self.data, "--data", "jpeg", "--image-size", "mixed", *SHORT)
        self.refused(
            "run",
            *words,
            *("--device", "emulated:2000", "--input-size", "48"),
            names=[self.data, "--image-size", "jpeg/48x48"],
            code=1,
        )

    def test_verify_says_by_what_copies_are_compared(self):
        copy = shutil.copytree(self.mine, self.path("copy"))
        first, second = (self.call("verify", folder).out for folder in (self.mine, copy))
        self.assertIn("checksum of all contents", first)
        self.assertEqual(first, second)
        with open(self.first_picture(copy), "r+b") as file:
            file.write(b"x")
        self.assertNotEqual(self.call("verify", copy).out, first)

    @staticmethod
    def first_picture(folder):
        return next(os.path.join(at, names[0]) for at, _, names in os.walk(folder) if names)

    def test_a_picture_that_changes_during_the_run_is_named(self):
        process = self.start(
            *("run", "--data", "jpeg", *self.words, "--image-size", "mixed", "--no-ceiling"),
            *("--min-seconds", "20", "--warmup-seconds", "1"),
        )
        for line in process.stderr:
            if "warming up" in line or "measuring" in line:
                break  # the folder was listed before
        victim = self.first_picture(self.mine)
        with open(victim, "ab") as file:
            file.write(b"more")
        answer = self.finish(process)
        self.assertEqual(answer.code, 1, answer)
        self.assertIn(os.path.basename(victim), answer.err)
        self.assertIn("bytes, the manifest says", answer.err)


if __name__ == "__main__":
    main()
