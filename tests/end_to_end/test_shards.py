"""Tar shards, those of gen and one's own, and zipped arrays: between this program and Python's."""

import io
import json
import os
import shlex
import tarfile
import unittest
import zipfile
from unittest import mock

from program import CELL, SHORT, SMALL, ProgramTest, main

try:
    import webdataset
except ImportError:
    webdataset = None
try:
    import numpy
except ImportError:
    numpy = None

OWN = ["--device", "emulated:2000", "--batch-size", "8", "--input-size", "48", *SHORT]


def content(*names):
    with open(os.path.join(*names), "rb") as file:
        return file.read()


class ShardTest(ProgramTest):
    """The index of a folder's shards lies in a cache folder of the test's own."""

    def setUp(self):
        super().setUp()
        patch = mock.patch.dict(os.environ, XDG_CACHE_HOME=self.path("cache"))
        patch.start()
        self.addCleanup(patch.stop)

    def gen(self, *words):
        data = self.path("generated")
        self.call("gen", data, "--count", "40", "--classes", "4", *SMALL, *words)
        return data

    def json_of(self, *words):
        answer = self.call("run", "--json", *words)
        return json.loads(answer.out)

    @staticmethod
    def samples_of(data, kind="jpeg"):
        """Path, label and content of each sample, in the manifest's order."""
        folder = os.path.join(data, kind, "48x48")
        for line in content(folder, "files.tsv").decode().splitlines():
            path, label = line.split("\t")[:2]
            yield path, int(label), content(folder, path)


class Generated(ShardTest):
    def test_tarfile_reads_labels_and_samples_in_the_manifests_order(self):
        data = self.gen("--format", "jpeg", "--container", "webdataset")
        folder = os.path.join(data, "jpeg.webdataset", "48x48")
        members = []
        for name in sorted(n for n in os.listdir(folder) if n.endswith(".tar")):
            with tarfile.open(os.path.join(folder, name)) as tar:
                members += [(m.name, tar.extractfile(m).read()) for m in tar]
        expected = []
        for path, label, picture in self.samples_of(data):
            expected += [(path[:-4] + ".cls", b"%d" % label), (path, picture)]
        self.assertEqual(members, expected)

    @unittest.skipIf(webdataset is None, "webdataset is not installed")
    def test_webdataset_reads_them(self):
        data = self.gen("--format", "jpeg", "--container", "webdataset")
        shard = os.path.join(data, "jpeg.webdataset", "48x48", "shard-000000.tar")
        found = [
            (sample["__key__"] + ".jpg", int(sample["cls"]), sample["jpg"])
            for sample in webdataset.WebDataset(shard, shardshuffle=False)
        ]
        self.assertEqual(found, list(self.samples_of(data)))

    def test_every_container_has_the_same_manifest(self):
        containers = ["tar", "webdataset", "packed"]
        data = self.gen("--format", "jpeg,tensor", "--container", ",".join(containers))
        for kind in ("jpeg", "tensor"):
            hashes = set()
            for container in ["files", *containers]:
                record = self.json_of(
                    *("--data", kind, "--dataset", data, *CELL, *SHORT, "--container", container)
                )
                self.assertEqual(record["cell"]["container"], container)
                hashes.add(record["dataset"]["manifest_xxh3"])
            self.assertEqual(len(hashes), 1, kind)
        self.assertIn(" 0 damaged", self.call("verify", data).out)

    def test_the_command_that_is_advised_makes_it(self):
        data = self.gen("--format", "jpeg", "--seed", "3", "--quality", "70")
        words = ["run", "--data", "npy", "--dataset", data, *CELL, *SHORT, "--container", "packed"]
        line = self.refused(*words, names=["has no npy.packed/48x48", "make it: "], code=1)
        command = shlex.split(line.split("make it: ")[1])
        self.assertEqual(command[:3], ["feedrate", "gen", data])
        self.call(*command[1:])
        self.call(*words)

    def test_zipped_arrays_are_those_of_npy(self):
        data = self.gen("--format", "npy,npz")
        for path, _, array in self.samples_of(data, "npy"):
            file = os.path.join(data, "npz", "48x48", path[:-4] + ".npz")
            with zipfile.ZipFile(file) as zipped:
                self.assertEqual(zipped.namelist(), ["arr_0.npy"])
                self.assertEqual(zipped.read("arr_0.npy"), array)
            if numpy is not None:
                with numpy.load(file) as arrays:
                    self.assertEqual(arrays["arr_0"].shape, (48, 48, 3))
                saved = io.BytesIO()
                numpy.savez(saved, numpy.load(io.BytesIO(array)))
                self.assertEqual(len(saved.getvalue()), os.path.getsize(file))


class Unreadable(ShardTest):
    """A variant that is found damaged before anything is measured, beside others that are whole."""

    def setUp(self):
        super().setUp()
        data = self.gen("--format", "jpeg,png", "--container", "webdataset")
        self.shard = os.path.join(data, "jpeg.webdataset", "48x48", "shard-000000.tar")
        self.whole = content(self.shard)
        os.truncate(self.shard, 5000)
        self.words = ["sweep", "--dataset", data, *CELL, *SHORT, "--container", "webdataset"]
        self.words += ["-o", self.path("ledger")]

    def test_the_sweep_goes_on_with_the_others(self):
        words = [*self.words, "--data", "jpeg,png", "--workers", "1,2"]
        answer = self.call(*words, "--repetitions", "2", code=1)
        said = [line for line in answer.err.splitlines() if "cannot be measured; the sweep" in line]
        self.assertEqual(len(said), 1, answer)
        self.assertRegex(said[0], r"^feedrate: .*\.tar: has 5000 bytes, the manifest says \d+; ")
        self.assertIn("(its 2 cells cannot be measured; the sweep goes on", said[0])
        self.assertIn("4 measured, 4 failed", answer.err)
        for record in self.ledger():
            bad = record["cell"]["data"] == "jpeg"
            self.assertEqual(record["status"], "failed" if bad else "ok", record)
            if bad:
                self.assertIn(f"{self.shard}: has 5000 bytes", record["error"])
                self.assertEqual((record["dataset"], record["valid"]), (None, False))

    def test_they_are_measured_by_resume_once_it_is_whole(self):
        words = [*self.words, "--data", "synthetic,jpeg,png"]
        self.call(*words, code=1)
        with open(self.shard, "wb") as file:
            file.write(self.whole)
        answer = self.call(*words, "--resume")
        self.assertIn(" 0 failed", answer.err)
        ok = {r["cell"]["data"] for r in self.ledger() if r["status"] == "ok"}
        self.assertEqual(ok, {"synthetic", "jpeg", "png"})

    def test_a_dry_run_says_it_too(self):
        answer = self.call(*self.words, "--data", "jpeg,png", "--dry-run", code=1)
        self.assertIn("its cell cannot be measured", answer.err)
        self.assertIn("jpeg 48x48", answer.out)

    def test_it_ends_at_once_where_nothing_else_reads(self):
        names = [self.shard, "has 5000 bytes"]
        self.refused(*self.words, "--data", "jpeg", "--workers", "1,2", names=names, code=1)
        self.assertFalse(os.path.exists(self.path("ledger")))

    def test_an_anonymous_sweep_names_no_folder(self):
        answer = self.call(*self.words, "--data", "jpeg,png", "--anonymize", code=1)
        said = [line for line in answer.err.splitlines() if "cannot be measured; the sweep" in line]
        self.assertIn("DATASET/jpeg.webdataset", said[0])
        self.assertNotIn(self.path("generated"), said[0])

    def test_what_was_typed_wrong_still_ends_everything(self):
        words = [*self.words, "--data", "jpeg,png", "--order", "by-shard"]
        self.refused(*words, names=["--order by-shard"])


class Own(ShardTest):
    """Shards as webdataset's ShardWriter names them, in a folder that gen does not know."""

    def setUp(self):
        super().setUp()
        self.mine = self.path("mine")
        os.mkdir(self.mine)
        self.words = ["--data", "jpeg", "--dataset", self.mine, *OWN]
        self.own = [*self.words, "--image-size", "mixed", "--container", "webdataset"]
        self.write_shards()

    def write_shards(self, per_shard=24):
        shards = {}
        for i, (_, label, picture) in enumerate(self.samples_of(self.data)):
            members = shards.setdefault(i // per_shard, [])
            members += [(f"{i:06d}.cls", b"%d" % label), (f"{i:06d}.jpg", picture)]
        for number, members in shards.items():
            # as TarWriter does it: a stream, with times that need pax headers
            with open(os.path.join(self.mine, f"shard-{number:06d}.tar"), "wb") as file:
                self.write_tar(file, members)

    @staticmethod
    def write_tar(file, members):
        with tarfile.open(fileobj=file, mode="w|") as tar:
            for name, value in members:
                info = tarfile.TarInfo(name)
                info.size, info.mtime = len(value), 1700000000.5
                tar.addfile(info, io.BytesIO(value))

    def test_the_folder_alone_is_the_whole_command(self):
        """Also where a PNG is called .jpg and a JPEG .png."""
        png, jpeg = (next(self.samples_of(self.data, kind))[2] for kind in ("png", "jpeg"))
        with open(os.path.join(self.mine, "shard-000009.tar"), "wb") as file:
            self.write_tar(file, [("x.jpg", png), ("y.png", jpeg), ("z.png", png)])
        answer = self.call("run", "--json", "--dataset", self.mine, *OWN)
        self.assertIn("--container webdataset --data auto --image-size mixed", answer.err)
        dataset = json.loads(answer.out)["dataset"]
        self.assertEqual(dataset["variant"], "auto.webdataset/mixed")
        self.assertEqual(dataset["made"]["formats"], "jpeg 65, png 2")

    def test_are_read_as_they_lie(self):
        before = sorted(os.listdir(self.mine))
        answer = self.call("run", *self.own)
        self.assertIn("jpeg mixed", answer.out)
        self.assertIn("webdataset", answer.out)
        record = self.json_of(*self.own)
        self.assertEqual(record["dataset"]["made"]["count"], "64")
        self.assertEqual(record["dataset"]["made"]["classes"], "4")
        self.assertEqual(sorted(os.listdir(self.mine)), before, "nothing was written there")

    def test_each_way_and_each_cache_reads_them(self):
        for words in (
            ["--io", "mmap"],
            ["--io-depth", "4"],
            ["--decoder", "raw-read"],
            ["--cache", "encoded"],
            ["--cache", "decoded"],
            ["--cache", "sample"],
            ["--workers", "0"],
        ):
            with self.subTest(words):
                self.call("run", *self.own, *words)

    def test_are_listed_once(self):
        manifest = self.json_of(*self.own)["dataset"]["manifest_xxh3"]
        folder = self.path("cache", "feedrate", "shards")
        (index,) = os.listdir(folder)
        written = os.stat(os.path.join(folder, index)).st_mtime_ns
        again = self.call("run", "--json", *self.own)
        self.assertEqual(json.loads(again.out)["dataset"]["manifest_xxh3"], manifest)
        self.assertEqual(os.stat(os.path.join(folder, index)).st_mtime_ns, written)
        self.assertNotIn("listed anew", again.err)
        self.write_shards(per_shard=23)
        changed = self.call("run", "--json", *self.own)
        self.assertNotEqual(json.loads(changed.out)["dataset"]["manifest_xxh3"], manifest)
        self.assertEqual(changed.err.count("listed anew"), 1, changed.err)

    def test_what_must_be_typed_is_said(self):
        for more, names in (
            (["--image-size", "mixed"], ["tar files", "--container webdataset"]),
            ([], ["dataset.json", "--image-size mixed --container webdataset"]),
            (
                ["--image-size", "mixed", "--container", "tar"],
                ["dataset.json", "--container webdataset"],
            ),
        ):
            with self.subTest(more):
                self.refused("run", *self.words, *more, names=[self.mine, *names], code=1)
        words = [w if w != self.mine else self.path() for w in self.own]
        self.refused("run", *words, names=[self.path(), "holds no *.tar"], code=1)

    def test_a_damaged_shard_is_named(self):
        shard = os.path.join(self.mine, "shard-000001.tar")
        whole = content(shard)
        with tarfile.open(shard) as tar:
            within = tar.getmember("000030.jpg").offset_data + 10
        for damaged, names in (
            (whole[:within], ["is cut off", "000030.jpg"]),
            (whole[:3] + b"x" + whole[4:], ["checksum"]),
            (b"\x1f\x8b" + whole, ["is compressed", "unpack"]),
        ):
            with self.subTest(names):
                with open(shard, "wb") as file:
                    file.write(damaged)
                self.refused("run", *self.own, names=[shard, *names], code=1)

    def test_verify_says_by_what_copies_are_compared(self):
        first = self.call("verify", self.mine).out
        self.assertIn("64 samples", first)
        self.assertIn("checksum of all contents", first)
        self.write_shards(per_shard=23)
        self.assertEqual(self.call("verify", self.mine).out, first, "cut elsewhere, the same")

    def test_arrays_that_numpy_compressed_are_read(self):
        data = self.gen("--format", "npy")
        for path, _, array in self.samples_of(data, "npy"):
            file = self.path("arrays", path[:-4] + ".npz")
            os.makedirs(os.path.dirname(file), exist_ok=True)
            # what numpy.savez_compressed does
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
                with zipped.open("arr_0.npy", "w", force_zip64=True) as member:
                    member.write(array)
        words = ["--data", "npz", "--dataset", self.path("arrays"), "--image-size", "mixed"]
        self.call("run", *words, *OWN)


if __name__ == "__main__":
    main()
