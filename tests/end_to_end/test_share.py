"""A file for the table of measured GPUs: made as users make it, looked at as it is accepted."""

import json
import os
import platform
import subprocess
import sys
import tarfile

from program import ROOT, ProgramTest, main, program


class Share(ProgramTest):
    def script(self, name, *words, code):
        done = subprocess.run(
            [sys.executable, os.path.join(ROOT, "scripts", name), "--feedrate", program(), *words],
            capture_output=True,
            text=True,
            cwd=self.folder,
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_it_is_sound_and_without_names_and_an_emulated_device_is_refused(self):
        pack = self.path("mine.tar.gz")
        words = ["--device", "emulated:2000", "--dataset", self.data, "--batch-size", "32"]
        words += ["--input-size", "48", "--seconds", "0.3"]
        self.script("gpu-check", "--share", pack, *words, code=0)
        with tarfile.open(pack) as archive:
            names = archive.getnames()
            self.assertIn("ledger.jsonl", names)
            self.assertEqual({m.uname + m.gname for m in archive.getmembers()}, {""})
            text = archive.extractfile("ledger.jsonl").read().decode()
        self.assertEqual(len(text.splitlines()), 3 * 2, "two cells, each with its ceiling")
        self.assertNotIn(self.folder, text)
        environments = [json.loads(line)["environment"] for line in text.splitlines()]
        self.assertEqual({e["host"] for e in environments}, {"host"})
        if platform.node() not in ("", "host"):
            self.assertNotIn(json.dumps(platform.node()), text)
        # It got as far as this: the ledger was derived again, and nothing was found.
        looked = self.script("gpu-table", "--look", pack, code=1)
        self.assertEqual(looked.stderr, f"{pack}: was not trained on a GPU\n")
        self.assertEqual(looked.stdout, "")

    def test_what_it_cannot_do_is_said_before_it_measures(self):
        nowhere = self.script("gpu-check", "--share", self.path("no", "x.tar.gz"), code=2)
        self.assertIn("x.tar.gz: cannot be written; name a file in a folder", nowhere.stderr)
        words = ["--share", self.path("x.tar.gz"), "--precision", "fp16"]
        self.assertIn("leave --precision out", self.script("gpu-check", *words, code=2).stderr)

    def test_a_changed_figure_is_found(self):
        ledger = self.path("ledger")
        self.sweep("--anonymize", data="jpeg,png")
        with open(os.path.join(ledger, "ledger.jsonl")) as file:
            lines = file.readlines()
        record = json.loads(lines[1])
        record["imgs_per_s"] *= 1.1
        lines[1] = json.dumps(record) + "\n"
        with open(os.path.join(ledger, "ledger.jsonl"), "w") as file:
            file.writelines(lines)
        with tarfile.open(self.path("mine.tar.gz"), "w:gz") as archive:
            for name in os.listdir(ledger):
                archive.add(os.path.join(ledger, name), name)
        looked = self.script("gpu-table", "--look", self.path("mine.tar.gz"), code=1)
        self.assertIn("mine.tar.gz: feedrate validate: line 2", looked.stderr)

    def test_the_table_is_that_of_the_accepted_files(self):
        self.script("gpu-table", "--check", code=0)


if __name__ == "__main__":
    main()
