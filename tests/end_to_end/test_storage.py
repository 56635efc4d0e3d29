"""Ways to read, and folders of one's own: what a user types, and what the record says of it."""

import ctypes
import errno
import json
import os
import re
import shutil
from unittest import mock

from forbidden import forbid
from program import CELL, PATIENCE, SHORT, ProgramTest, main, program

MIXED = ("--image-size", "mixed")
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

    def test_a_library_decodes_whole_pictures(self):
        for data in ("jpeg", "png"):
            with self.subTest(data):
                record = self.record("--decoder", "library", data=data)
                self.assertEqual(record["cell"]["decoder"], "library")
                self.assertIsNone(record["cell"]["decode-scale"])
                made = {stage["name"]: stage["items"] for stage in record["stages"]}
                self.assertGreater(made["decode"], 0)
        self.assertIn(", decoder library", self.run_cell("--decoder", "library").out)

    def test_a_run_says_what_decodes_and_what_a_library_would_give(self):
        """The second only where a run is long enough for two more windows beside it."""
        words = ("run", "--data", "jpeg", "--dataset", self.data, *CELL)
        words += ("--warmup-seconds", "0.05", "--min-seconds", "2")
        own = r"(?m)^  decoder    feedrate's own for common files, skipping what lies outside "
        own += "the crop$"
        alone = (
            r"(?m)^  loader     alone on this machine, 2 s each: [\d,.]+ img/s with libjpeg-turbo "
            r"and a whole decode; [\d,.]+ img/s with --decoder auto$"
        )
        answer = self.call(*words, "-o", self.path("out"))
        self.assertRegex(answer.out, own)
        # Beside a busy neighbour there is no such rate: then the reason is said.
        spoilt = r"|the loader alone was not compared with a library's decoder: its rate would not"
        self.assertRegex(answer.out + answer.err, alone + spoilt)
        self.assertEqual({r["cell"]["decoder"] for r in self.ledger("out")}, {"auto"})
        self.assertNotRegex(self.call(*words, "--no-ceiling").out, "(?m)^  loader ")
        answer = self.run_cell()
        self.assertRegex(answer.out, own)
        self.assertNotRegex(answer.out, "(?m)^  loader ")
        answer = self.run_cell("--decoder", "library")
        self.assertRegex(answer.out, r"(?m)^  decoder    libjpeg-turbo, whole pictures$")

    def test_opencv_decodes_or_says_what_is_missing(self):
        module = os.path.join(os.path.dirname(program()), "..", "lib", "libfeedrate_opencv.so")
        if os.path.exists(module):
            record = self.record("--decoder", "opencv")
            self.assertEqual(record["cell"]["decoder"], "opencv")
            self.assertIn("lenient_decoder", [flag["name"] for flag in record["flags"]])
        else:
            self.refused(
                *("run", "--data", "jpeg", "--dataset", self.data, *CELL, *SHORT),
                *("--decoder", "opencv"),
                names=["--decoder opencv", "libopencv-imgcodecs-dev", "build again"],
                code=1,
                talk=True,
            )

    def test_what_cannot_be_combined_is_refused(self):
        for words, names in (
            (["--decoder", "library", "--loader", "dali"], ["library", "--loader pool"]),
            (["--decoder", "libjpeg"], ["--decoder libjpeg", "library", "opencv", "raw-read"]),
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
        patch = mock.patch.dict(os.environ, XDG_CACHE_HOME=self.path("cache"))
        patch.start()
        self.addCleanup(patch.stop)
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

    def test_the_folder_alone_is_the_whole_command(self):
        counts = self.mix_in_pngs()
        answer = self.call("run", *self.words, *SHORT, "--json")
        filled = "feedrate: --data auto --image-size mixed, as `feedrate gen` did not make "
        self.assertIn(filled + self.mine + "\n", answer.err)
        record = json.loads(answer.out)
        self.assertEqual(record["cell"]["data"], "auto")
        self.assertEqual(record["dataset"]["variant"], "auto/mixed")
        self.assertEqual(record["dataset"]["made"]["formats"], "jpeg {}, png {}".format(*counts))
        self.assertEqual(record["dataset"]["samples"], sum(counts))
        shown = self.call("run", *self.words, *SHORT).out
        self.assertIn("pictures   jpeg {}, png {}, by their names".format(*counts), shown)

    def test_the_folder_alone_is_diagnosed_and_searched(self):
        """As far as the kind of data is chosen: two cells are one too many."""
        device = ["--dataset", self.mine, "--device", "emulated:2000", "--batch-size", "8,16"]
        for command, says in (("diagnose", "looks at one cell"), ("capacity", "one kind of cell")):
            with self.subTest(command):
                answer = self.call(command, *device, code=2)
                self.assertIn("feedrate: --data auto", answer.err)
                self.assertIn(says, answer.err)
                made = [self.data if word == self.mine else word for word in device]
                self.assertNotIn("--data auto", self.call(command, *made, code=2).err)

    def test_contents_decide_not_names(self):
        """Each format under the other's name, by every --data, with every cache of pictures."""
        counts = self.mix_in_pngs()
        for data, formats in (
            ("jpeg", f"jpeg {counts[0]}"),
            ("png", f"png {counts[1]}"),
            ("auto", "jpeg {}, png {}".format(*counts)),
        ):
            for cache in ("none", "decoded"):
                with self.subTest(data=data, cache=cache):
                    words = ("--data", data, "--cache", cache, "--json")
                    record = json.loads(self.call("run", *self.words, *SHORT, *words).out)
                    self.assertEqual(record["dataset"]["made"]["formats"], formats)

    def test_what_is_not_decoded_is_named(self):
        victim = self.first_picture(self.mine)
        with open(victim, "wb") as file:
            file.write(b"GIF89a" + bytes(range(256)) * 4)
        words = ("run", *self.words, *SHORT, "--data", "jpeg", "--order", "sequential")
        answer = self.call(*words, code=1)
        self.assertIn(f"{victim}: is a GIF, which feedrate does not decode", answer.err)
        self.assertIn("--on-bad skip", answer.err)
        self.call(*words, "--on-bad", "skip")

    def test_a_made_dataset_has_no_auto(self):
        words = ("--dataset", self.data, "--data", "auto", "--image-size", "48", *SHORT)
        names = [self.data, "was made by `feedrate gen`", "jpeg, png, tensor"]
        more = ("--device", "emulated:2000", "--input-size", "48")
        self.refused("run", *words, *more, names=names, code=1)

    def test_webp_is_made_and_read_as_it_lies(self):
        made = self.path("webp")
        size = ("--image-size", "48", "--input-size", "48")
        words = ("--format", "webp", "--count", "32", "--classes", "2")
        self.call("gen", made, *words, *size)
        cell = ("--device", "emulated:2000", "--batch-size", "8", *SHORT)
        self.call("run", "--data", "webp", "--dataset", made, *size, *cell)
        os.remove(os.path.join(made, "webp", "48x48", "files.tsv"))
        own = ("--dataset", os.path.join(made, "webp", "48x48"), "--input-size", "48")
        record = json.loads(self.call("run", *own, *cell, "--json").out)
        self.assertEqual(record["dataset"]["made"]["formats"], "webp 32")

    def mix_in_pngs(self):
        """PNGs beside the JPEGs; one JPEG is called .png, and one PNG .JPEG, as in ImageNet.
        Returns how many there are, by their names."""
        pngs = os.path.join(self.data, "png", "48x48", "class_000")
        to = os.path.join(self.mine, "class_000")
        jpegs = sum(len(files) for _, _, files in os.walk(self.mine))
        names = sorted(os.listdir(pngs))
        for name in names:
            shutil.copy(os.path.join(pngs, name), os.path.join(to, "png_" + name))
        os.rename(os.path.join(to, "png_" + names[0]), os.path.join(to, "png_0.JPEG"))
        first = self.first_picture(os.path.join(self.mine, "class_001"))
        os.rename(first, first[: -len(".jpg")] + ".png")
        return jpegs, len(names)

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
        changed = self.call("verify", copy, code=1).out
        name = os.path.relpath(self.first_picture(copy), copy)
        self.assertRegex(changed, rf"(?m)^bad: {re.escape(name)}: \S.*$")
        self.assertRegex(changed, r"(?m)^64 samples, .* 0 damaged, 0 unreadable, 1 bad$")
        self.assertIn("decoded: 63 jpeg\n", changed)
        self.assertNotIn(first.splitlines()[-1], changed)
        quick = self.call("verify", copy, "--quick").out
        self.assertEqual(quick.splitlines()[-1], changed.splitlines()[-1], "the same contents")
        self.assertNotIn(" bad\n", quick)
        self.assertNotIn("decoded", quick)

    def measured(self, *more):
        words = ("run", "--json", "--data", "jpeg", *self.words, *SHORT, "--image-size", "mixed")
        return json.loads(self.call(*words, "--no-ceiling", *more).out)

    def age_folders(self):
        """A folder that has just changed is listed again."""
        for folder, _, _ in os.walk(self.mine):
            os.utime(folder, (0, 1_600_000_000))

    def list_and_write_again(self):
        """A picture whose folder keeps its time."""
        self.age_folders()
        first = self.measured()["dataset"]["manifest_xxh3"]
        victim = self.first_picture(self.mine)
        os.utime(victim, (0, 1_600_000_000))
        return first, victim

    def test_a_picture_that_was_written_again_is_refused_until_it_is_listed_anew(self):
        first, victim = self.list_and_write_again()
        words = ("run", "--data", "jpeg", *self.words, *SHORT, "--image-size", "mixed")
        answer = self.call(*words, "--no-ceiling", "--order", "sequential", code=1)
        self.assertIn(os.path.basename(victim), answer.err)
        self.assertIn(
            "has changed since it was listed: list the folder anew with --relist", answer.err
        )
        anew = self.measured("--relist")["dataset"]["manifest_xxh3"]
        self.assertNotEqual(anew, first)
        self.assertEqual(self.measured()["dataset"]["manifest_xxh3"], anew, "that is kept")

    def test_verify_lists_anew_by_itself(self):
        self.age_folders()
        self.call("verify", self.mine)
        with open(self.first_picture(self.mine), "ab") as file:
            file.write(b"x")
        self.assertIn(" 0 damaged, 0 unreadable\n", self.call("verify", self.mine, "--quick").out)

    def test_what_is_kept_says_the_same(self):
        of_class = os.path.join(self.mine, "class_000")
        picture = os.path.join(of_class, min(os.listdir(of_class)))
        with open(os.path.join(of_class, "notes.txt"), "w", encoding="utf-8"):
            pass
        shutil.copy(picture, os.path.join(self.mine, "._a.jpg"))
        self.age_folders()
        first, second = (self.measured()["dataset"] for _ in range(2))
        self.assertEqual(first["made"]["left_out"], "2 (1 hidden, 1 other)")
        for key in ("made", "samples", "bytes", "manifest_xxh3"):
            self.assertEqual(second[key], first[key])
        os.rename(picture, os.path.join(of_class, ".a.jpg"))
        hidden = self.measured()["dataset"]
        self.assertEqual(hidden["samples"], first["samples"] - 1)
        self.assertEqual(hidden["made"]["left_out"], "3 (2 hidden, 1 other)")

    def test_a_part_has_samples_of_each_class(self):
        whole = self.measured()["dataset"]
        part = self.measured("--samples", "16")["dataset"]
        self.assertEqual(part["samples"], 16)
        self.assertLess(part["bytes"], whole["bytes"])
        self.assertEqual(
            part["made"]["samples"], f"16 of {whole['samples']}, spread over all classes"
        )
        self.assertNotEqual(part["manifest_xxh3"], whole["manifest_xxh3"])
        more = self.measured("--samples", "1000000")["dataset"]
        self.assertEqual(more["manifest_xxh3"], whole["manifest_xxh3"], "it is all of them")
        self.assertNotIn("samples", more["made"])

    def test_a_part_is_of_whole_numbers(self):
        for number in ("0", "-3", "1.5", "many"):
            with self.subTest(number):
                self.refused("run", "--samples", number, names=["--samples", number])

    @staticmethod
    def first_picture(folder):
        return next(os.path.join(at, names[0]) for at, _, names in os.walk(folder) if names)

    def pictures(self):
        """Of one's own folder, from the root of it."""
        found = (os.path.join(at, name) for at, _, names in os.walk(self.mine) for name in names)
        return sorted(os.path.relpath(path, self.mine) for path in found)

    def cut(self, name, to):
        with open(os.path.join(self.mine, name), "r+b") as file:
            file.truncate(to)

    def skip_record(self, *more):
        words = ("run", "--data", "jpeg", *self.words, *MIXED, *SHORT, "--no-ceiling", "--json")
        record = json.loads(self.call(*words, "--on-bad", "skip", *more).out)
        flags = [flag for flag in record["flags"] if flag["name"] == "bad_samples"]
        return record, flags

    def test_a_bad_picture_is_named_by_run_and_by_verify(self):
        """Cut off, and empty: what `run` ends with, `verify` lists, and the line names both ways
        to go on."""
        for length in (300, 0):
            with self.subTest(length):
                name = self.pictures()[10]
                self.cut(name, length)
                words = ("run", "--data", "jpeg", *self.words, *MIXED, *SHORT, "--no-ceiling")
                words += ("--relist",)  # a picture that is written again leaves its folder's time
                names = [f"{name}: ", "feedrate verify DIR", "--on-bad skip"]
                self.refused(*words, names=names, code=1, talk=True)
                verified = self.call("verify", self.mine, code=1).out
                self.assertEqual(re.findall(r"(?m)^bad: ([^:]+): ", verified), [name])
                self.assertIn(", 1 bad\n", verified)

    def test_stray_bytes_are_noted_by_run_and_by_verify(self):
        names = self.pictures()[10:15]
        for name in names[:4]:
            with open(os.path.join(self.mine, name), "ab") as file:
                file.write(b"trailing")
        path = os.path.join(self.mine, names[4])
        with open(path, "rb") as file:
            jpeg = file.read()
        at = jpeg.index(b"\xff\xdb")  # its first table
        with open(path, "wb") as file:
            file.write(jpeg[:at] + b"stray" + jpeg[at:])
        record = self.measured("--min-steps", "40", "--relist")
        self.assertEqual(record["pictures_with_stray_bytes"], 5, "each once, after several epochs")
        (flag,) = [flag for flag in record["flags"] if flag["name"] == "stray_bytes"]
        self.assertEqual(flag["severity"], "note")
        words = ("run", "--data", "jpeg", *self.words, *MIXED, *SHORT, "--no-ceiling")
        self.assertIn(
            "  note       5 pictures hold stray bytes; they decode as in Pillow"
            " (`feedrate verify DIR` names them)\n",
            self.call(*words, "--min-steps", "40").out,
        )
        sweep = ("sweep", *words[1:-1], "--workers", "1,2", "-o", self.path("swept"))
        self.assertRegex(
            self.call(*sweep).err,
            r"(?m)^note:  2 of 2 cells met pictures with stray bytes, [1-5] at most; "
            r"`feedrate verify DIR` names them$",
        )
        verified = self.call("verify", self.mine).out
        self.assertIn(
            "decoded: 64 jpeg\n"
            "note: 1 picture holds stray bytes before a marker; it decodes as in Pillow:"
            f" {names[4]}\n"
            "note: 4 pictures hold stray bytes behind the end; they decode as in Pillow:"
            f" {', '.join(names[:3])} and 1 more\n",
            verified,
        )

    def test_pictures_without_stray_bytes_are_not_noted(self):
        self.assertEqual(self.measured()["pictures_with_stray_bytes"], 0)
        words = ("run", "--json", "--device", "emulated:2000", "--batch-size", "8", *SHORT)
        ceiling = json.loads(self.call(*words).out)
        self.assertIsNone(ceiling["pictures_with_stray_bytes"], "nothing is decoded")
        self.assertNotIn("note: ", self.call("verify", self.mine).out)

    def test_a_bad_picture_counts_once_however_often_it_is_drawn(self):
        name = self.pictures()[10]
        self.cut(name, 300)
        record, (flag,) = self.skip_record("--min-steps", "40")
        found = record["bad_pictures"]
        self.assertEqual((found["found"], found["drawn"], found["of"]), (1, 64, 64))
        self.assertGreater(record["bad_samples"], 1, "several epochs")
        (line,) = found["first"]
        self.assertIn(f"{name}: ", line)
        self.assertEqual(flag["severity"], "serious", "1 of 64 is more than 1 %")
        self.assertIn("1 of the 64 different pictures", flag["reason"])
        self.assertFalse(record["valid"])

    def test_one_of_a_hundred_is_a_warning(self):
        for i, name in enumerate(self.pictures()[:36]):
            path = os.path.join(self.mine, name)
            shutil.copy(path, os.path.join(os.path.dirname(path), f"copy_{i}.jpg"))
        self.cut(self.pictures()[10], 300)
        record, (flag,) = self.skip_record("--min-steps", "40")
        self.assertEqual(record["bad_pictures"]["of"], 100)
        self.assertEqual(flag["severity"], "warning")

    def test_nothing_but_bad_pictures_ends_soon_in_one_line(self):
        for name in self.pictures():
            self.cut(name, 300)
        words = ("run", "--data", "jpeg", *self.words, *MIXED, *SHORT, "--no-ceiling")
        names = [self.mine, "all 64 samples are bad; the first: "]
        self.refused(*words, "--on-bad", "skip", names=names, code=1, talk=True)
        verified = self.call("verify", self.mine, code=1).out
        self.assertEqual(verified.count("\nbad: ") + verified.startswith("bad: "), 64)
        self.assertIn("decoded: none\n", verified)

    def test_ranks_that_are_processes_count_a_bad_picture_once(self):
        if os.environ.get("FEEDRATE_TORCH") != "ON":
            self.skipTest("needs LibTorch")
        name = self.pictures()[10]
        self.cut(name, 300)
        words = ("run", "--data", "jpeg", "--dataset", self.mine, "--input-size", "32")
        words += ("--model", "resnet18", "--device", "cpu", "--gpus", "2", "--batch-size", "8")
        words += (*SHORT, "--no-ceiling")
        # beside other tests two ranks have so little of the CPUs that they train for a minute
        patience = 3 * PATIENCE
        process = self.start(*words, "--on-bad", "skip", "--min-steps", "8", "--json")
        answer = self.finish(process, patience)
        self.assertEqual(answer.code, 0, answer)
        found = json.loads(answer.out)["bad_pictures"]
        self.assertEqual((found["found"], found["drawn"], found["of"]), (1, 64, 64))
        self.assertEqual(len(found["first"]), 1)

    def test_what_cannot_be_read_is_told_from_what_is_bad(self):
        broken, bad = self.pictures()[3:5]
        os.remove(os.path.join(self.mine, broken))
        os.symlink("/proc/self/mem", os.path.join(self.mine, broken))  # gives EIO
        self.cut(bad, 300)
        out = self.call("verify", self.mine, code=1).out
        self.assertRegex(out, rf"(?m)^unreadable: {re.escape(broken)}: Input/output error; ")
        self.assertRegex(out, rf"(?m)^bad: {re.escape(bad)}: ")
        self.assertIn(" 0 damaged, 1 unreadable, 1 bad\n", out)
        self.assertNotIn("checksum", out)

    def test_run_verify_and_gen_find_the_same_files(self):
        first, second, third = (os.path.join(self.mine, name) for name in self.pictures()[:3])
        deep = os.path.join(self.mine, "class_001", "deep", "er")
        os.makedirs(deep)
        shutil.copy(first, os.path.join(deep, "a.JPEG"))
        os.symlink(second, os.path.join(deep, "link.Jpg"))
        os.mkdir(self.path("elsewhere"))
        shutil.copy(third, self.path("elsewhere", "c.jpg"))
        os.symlink(self.path("elsewhere"), os.path.join(deep, "folder"))
        for name in (".hidden.jpg", "._macos.jpg"):
            shutil.copy(first, os.path.join(deep, name))
        os.mkdir(os.path.join(self.mine, ".hidden"))
        shutil.copy(first, os.path.join(self.mine, ".hidden", "b.jpg"))
        with open(os.path.join(self.mine, "class_000", "notes.txt"), "w", encoding="utf-8"):
            pass
        words = ("run", "--data", "jpeg", *self.words, *MIXED, *SHORT, "--no-ceiling", "--json")
        count = json.loads(self.call(*words).out)["dataset"]["samples"]
        self.assertGreaterEqual(count, 67, "what is hidden may be left out")
        self.assertIn(f"{count} samples, ", self.call("verify", self.mine).out)
        made = ("--format", "jpeg", "--image-size", "48", "--count", "0")
        self.call("gen", self.path("made"), "--from", self.mine, *made)
        self.assertIn(f"{count} samples, ", self.call("verify", self.path("made")).out)

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
