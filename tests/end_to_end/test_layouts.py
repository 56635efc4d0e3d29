"""What people's folders hold, and what happens: docs/formats.md has the table."""

import json
import os
import shutil
import tarfile
import unittest
from unittest import mock

from program import SHORT, ProgramTest, main

CELL = ["--device", "emulated:2000", "--batch-size", "4", "--input-size", "48"]
RUN = ["run", "--data", "jpeg", "--json", *CELL, *SHORT, "--no-ceiling"]


class Layouts(ProgramTest):
    def setUp(self):
        super().setUp()
        patch = mock.patch.dict(os.environ, XDG_CACHE_HOME=self.path("cache"))
        patch.start()
        self.addCleanup(patch.stop)
        of_made = os.path.join(self.data, "jpeg", "48x48", "class_000")
        self.picture = os.path.join(of_made, sorted(os.listdir(of_made))[0])
        self.mine = self.path("mine")
        os.mkdir(self.mine)

    def fill(self, pictures, others=()):
        """A folder of copies of one picture, and of files that are none."""
        shutil.rmtree(self.mine)
        os.mkdir(self.mine)
        for name in pictures:
            place = os.path.join(self.mine, name)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            shutil.copy(self.picture, place)
        for name in others:
            place = os.path.join(self.mine, name)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "w", encoding="utf-8") as file:
                file.write("no picture")

    def loads(self, says, classes, samples, left_out=None):
        """Returns the record. `says`: the one line of it, without the folder; None: there is
        none."""
        answer = self.call(*RUN, "--dataset", self.mine)
        begin = f"feedrate: {self.mine}: "
        said = [line for line in answer.err.splitlines() if line.startswith(begin)]
        self.assertEqual(said, [] if says is None else [begin + says], answer)
        record = json.loads(answer.out)
        made = record["dataset"]["made"]
        self.assertEqual((made["classes"], made["count"]), (str(classes), str(samples)))
        self.assertEqual(made.get("left_out"), left_out)
        self.assertGreater(record["dataset"]["listing_seconds"], 0)
        self.assertGreater(record["first_batch_s"], 0)
        return record

    def test_no_listing_where_gen_made_it(self):
        made = self.printed(*RUN, "--dataset", self.data, "--image-size", "48x48")
        self.assertNotIn("listing_seconds", made["dataset"])
        self.assertGreater(made["first_batch_s"], 0)
        loads_nothing = ["synthetic" if part == "jpeg" else part for part in RUN]
        self.assertNotIn("first_batch_s", self.printed(*loads_nothing))

    def printed(self, *command):
        return json.loads(self.call(*command).out)

    def test_folders_that_load(self):
        classes = ["cat/1.jpg", "cat/2.jpg", "dog/deep/3.jpg", "dog/4.JPG"]
        flat = ["1.jpg", "2.jpg", "3.jpeg", "4.jpg"]
        webp = [f"cat/{i}.webp" for i in range(30)]
        hidden = [".git/1.jpg", "cat/._1.jpg", "__MACOSX/cat/._1.jpg", "dog/Thumbs.db"]
        for name, pictures, others, says, count, left_out in (
            ("class folders", classes, [], None, 2, None),
            ("one class", [f"cat/{i}.jpg" for i in range(4)], [], None, 1, None),
            ("flat", flat, [], "no class folders: one class", 1, None),
            (
                "flat and notes",
                flat,
                ["notes/a.txt"],
                "no class folders: one class",
                1,
                "1 (1 other)",
            ),
            ("mixed", classes + flat, [], None, 2, "4 (4 in no class folder)"),
            ("other pictures", classes, [*webp, "a.gif"], None, 2, "31 (30 webp, 1 gif)"),
            ("hidden", classes, [*hidden, "dog/notes.txt"], None, 2, "5 (4 hidden, 1 other)"),
            ("empty class", classes, ["bird/a.txt"], None, 2, None),
        ):
            with self.subTest(name):
                self.fill(pictures, others)
                if name == "empty class":
                    left_out = "2 (1 class folder without pictures, 1 other)"
                parts = [part for part in (says, left_out and f"left out: {left_out}") if part]
                samples = len(pictures) - (len(flat) if name == "mixed" else 0)
                self.loads("; ".join(parts) or None, count, samples, left_out)

    def test_more_classes_than_imagenet_has(self):
        self.fill([f"{i:04}/a.jpg" for i in range(1001)])
        record = self.loads(None, 1001, 1001)
        self.assertNotIn("outputs", record)  # of a network that an emulated device does not train

    @unittest.skipUnless(os.environ.get("FEEDRATE_TORCH") == "ON", "needs LibTorch")
    def test_a_network_that_is_trained_has_an_output_for_each_class(self):
        self.fill([f"{i:04}/a.jpg" for i in range(1001)])
        words = ["--data", "jpeg", "--device", "cpu", "--model", "resnet18", "--batch-size", "2"]
        words += ["--input-size", "32", "--no-ceiling", *SHORT]
        answer = self.call("run", "--json", *words, "--dataset", self.mine)
        self.assertEqual(json.loads(answer.out)["outputs"], 1001)
        self.assertEqual(answer.err.count("the network has 1001 outputs"), 1, answer)
        answer = self.call("run", "--json", *words, "--dataset", self.data, "--image-size", "48")
        self.assertNotIn("outputs", json.loads(answer.out))

    def test_names_of_any_bytes(self):
        odd = os.fsdecode(b"a\nb\x1b[31m\xff")
        self.fill([f"{odd}/{odd}{i}.jpg" for i in range(4)])
        self.loads(None, 1, 4)
        self.assertIn("4 samples", self.call("verify", self.mine).out)
        with open(os.path.join(self.mine, odd, odd + "0.jpg"), "wb") as file:
            file.write(b"no picture")
        answer = self.call(*RUN, "--dataset", self.mine, "--relist", code=1)
        self.assertIn(r"/a\x0ab\x1b[31m\xff/a\x0ab\x1b[31m\xff0.jpg: ", answer.err)
        self.assertNotIn("\x1b[31m", answer.err)
        words = ["--data", "jpeg", *CELL, *SHORT, "--dataset", self.mine]
        self.call("sweep", *words, "-o", self.path("ledger"), code=1)
        errors = [record["error"] for record in self.ledger() if record["error"]]
        self.assertIn(r"a\x0ab\x1b[31m\xff0.jpg: ", errors[0])

    def test_verify_says_it_too(self):
        self.fill(["1.jpg", "2.jpg"], ["a.txt"])
        answer = self.call("verify", self.mine)
        self.assertIn("2 samples", answer.out)
        said = f"{self.mine}: no class folders: one class; left out: 1 (1 other)\n"
        self.assertIn(said, answer.err)

    def test_pictures_beside_the_tar_that_they_came_from(self):
        """`run`, `verify` and `gen --from` read the same of them, whichever are more."""
        self.fill(["1.jpg", "2.jpg"], ["all.tar", "solution.csv"])
        says = "no class folders: one class; left out: 2 (1 other, 1 tar)"
        self.loads(says, 1, 2, "2 (1 other, 1 tar)")
        answer = self.call("verify", self.mine)
        self.assertIn("2 samples", answer.out)
        self.assertIn(f"{self.mine}: {says}\n", answer.err)
        words = ("--image-size", "48", "--count", "0", "--format", "jpeg")
        made = self.call("gen", self.path("made"), "--from", self.mine, *words)
        self.assertRegex(made.out + made.err, r"\b2 samples")
        for name in ("all.tar", "b.tar", "c.tar"):
            with tarfile.open(os.path.join(self.mine, name), "w") as tar:
                tar.add(self.picture, f"{name[0]}.jpg")
        answer = self.call("run", "--dataset", self.mine, *CELL, *SHORT, "--json", "--no-ceiling")
        made = json.loads(answer.out)["dataset"]["made"]
        self.assertEqual(
            (made["count"], made["left_out"]), ("3", "2 (2 pictures beside the shards)")
        )
        self.assertIn("--container webdataset", answer.err)
        answer = self.call("verify", self.mine)
        self.assertIn("3 samples", answer.out)
        self.assertIn("left out: 2 (2 pictures beside the shards)", answer.err)
        names = [self.mine, "holds tar shards (3)", "unpack them"]
        self.refused("gen", self.path("new"), "--from", self.mine, *words, names=names, code=1)

    def test_arrays_beside_shards_are_no_pictures(self):
        """Neither of `run` without --data nor of `verify`."""
        self.fill([], ["labels.npy"])
        with tarfile.open(os.path.join(self.mine, "a.tar"), "w") as tar:
            for name in ("1.jpg", "2.jpg"):
                tar.add(self.picture, name)
        run = self.printed("run", "--dataset", self.mine, *CELL, *SHORT, "--json", "--no-ceiling")
        self.assertEqual(run["dataset"]["made"]["count"], "2")
        self.assertIn("2 samples", self.call("verify", self.mine).out)

    def test_a_tar_of_tars_is_to_be_unpacked(self):
        self.fill([])
        with tarfile.open(self.path("n01.tar"), "w") as tar:
            tar.add(self.picture, "n01_1.jpg")
        with tarfile.open(os.path.join(self.mine, "train.tar"), "w") as tar:
            tar.add(self.path("n01.tar"), "n01.tar")
        own = ("--data", "auto", "--image-size", "mixed", "--container", "webdataset")
        run = ("run", "--dataset", self.mine, *own, *CELL, *SHORT)
        for words in (run, ("verify", self.mine)):
            names = [os.path.join(self.mine, "train.tar"), "else it holds 1 (1 tar)", "unpack it"]
            self.refused(*words, names=names, code=1)

    def test_folders_that_are_refused(self):
        for name, others, names in (
            ("empty", [], ["holds no files", "make a dataset: feedrate gen"]),
            ("hidden", [".git/config"], ["holds no .jpg or .jpeg", "1 (1 hidden)"]),
            ("texts", ["a.txt", "b.txt", "c.csv"], ["3 (2 .txt, 1 .csv)", "another --data"]),
            ("archives", ["a.zip", "b.zip"], ["2 (2 .zip)", "unpack first"]),
            ("tables", ["a.parquet"], ["1 (1 .parquet)", "write the pictures to files"]),
            ("shards", ["a.tar"], ["holds tar files", "--container webdataset"]),
        ):
            for size in (["--image-size", "mixed"], []):
                with self.subTest(name=name, size=size):
                    self.fill([], others)
                    if name == "shards" and not size:
                        continue
                    words = [*RUN, "--dataset", self.mine, *size]
                    self.refused(*words, names=[self.mine + ": ", *names], code=1)

    def test_verify_advises_no_option_that_it_lacks(self):
        self.fill([], ["cat/1.gif", "cat/2.gif"])
        names = [self.mine + ": holds no .jpg", "else it holds 2 (2 .gif); give the folder"]
        line = self.refused("verify", self.mine, names=[*names, "convert them"], code=1)
        self.assertNotIn("--data", line)

    def test_a_loop_of_links_and_a_folder_that_cannot_be_read(self):
        self.fill(["cat/1.jpg", "dog/2.jpg"])
        words = [*RUN, "--dataset", self.mine, "--image-size", "mixed"]
        loop = os.path.join(self.mine, "cat", "loop")
        os.symlink("..", loop)
        names = [loop, "is a link to a folder that it lies in"]
        self.refused(*words, names=names, code=1)
        os.remove(loop)
        if os.geteuid() == 0:
            return  # root reads everything
        os.chmod(os.path.join(self.mine, "dog"), 0)
        names = [os.path.join(self.mine, "dog"), "Permission denied", "make it readable"]
        self.refused(*words, names=names, code=1)
        os.chmod(os.path.join(self.mine, "dog"), 0o700)

    def test_what_is_no_folder(self):
        self.fill(["cat/1.jpg"], ["a.zip", "a.tar", "a.parquet", "notes"])

        def mine(name):
            return os.path.join(self.mine, name)

        for given, says in (
            ("s3://bucket/photos", "is a URL; feedrate reads folders: mount it, or copy it"),
            ("https://host/photos.zip", "is a URL; feedrate reads folders"),
            (mine("a.zip"), "is an archive, no folder; unpack first"),
            (mine("a.tar"), "is a tar file, no folder; give the folder that it lies in, with"),
            (mine("a.parquet"), "is a table, no folder; write the pictures to files"),
            (mine("cat/1.jpg"), "is a picture, no folder; give the folder that it lies in"),
            (mine("notes"), "is a file, no folder; give the folder of a dataset"),
        ):
            with self.subTest(given):
                made = ("gen", self.path("made"), "--from", given)
                for words in ([*RUN, "--dataset", given], ["verify", given], made):
                    line = self.refused(*words, names=[f"{given}: {says}"], code=1)
                    self.assertNotIn("feedrate gen", line)
                self.assertFalse(os.path.exists(self.path("made")))
        names = ["s3://bucket/x: is a URL", "feedrate writes folders"]
        self.refused("gen", "s3://bucket/x", names=names)
        self.assertFalse(os.path.exists(self.path("s3:")))

    def test_gen_leaves_a_flat_folder_alone(self):
        self.fill(["1.jpg", "2.jpg"])
        before = sorted(os.listdir(self.mine))
        self.refused("gen", self.mine, names=[self.mine, "holds pictures of your own (1.jpg)"])
        self.assertEqual(sorted(os.listdir(self.mine)), before)


if __name__ == "__main__":
    main()
