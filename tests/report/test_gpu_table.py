"""The table of measured GPUs: what a file for it must hold, and what its rows say."""

import importlib.machinery
import importlib.util
import io
import os
import tarfile
import tempfile
import unittest

import ledgers
import sound

PATH = os.path.join(ledgers.SCRIPTS, "gpu-table")


def script():
    loader = importlib.machinery.SourceFileLoader("gpu_table", PATH)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_table", loader))
    loader.exec_module(module)
    return module


gpu_table = script()
RATES = {
    "ceiling": [2000.0, (2010.0, 2004.0), 1990.0],
    "tensor": [1980.0, 1990.0, 1985.0],
    "jpeg": [900.0, 910.0, 905.0],
}


class Rows(unittest.TestCase):
    def test_a_row_has_the_ceiling_and_both_shares_with_their_intervals(self):
        records = sound.sweep(RATES, axes={"device": "cuda", "precision": "auto"})
        for record in records:
            record["stands_for"] = {"precision": "bf16"}
            record["device"]["software"] = "LibTorch 2.11.0"
        (row,) = gpu_table.rows_of(records, "mine.tar.gz")
        self.assertRegex(
            row,
            r"^\| NVIDIA H100 \| bf16, 256, 224x224 \| 1,99\d \([\d,]+ to [\d,]+\) \|"
            r" 9\d\.\d % \(\d+\.\d % to \d+\.\d %\) \| 4\d\.\d % \(.*\) \|"
            r" 8, 2 \| LibTorch 2\.11\.0 \| mine\.tar\.gz \|\n$",
        )

    def test_what_was_not_measured_is_a_dash(self):
        records = sound.sweep({"ceiling": RATES["ceiling"]}, axes={"device": "cuda"})
        (row,) = gpu_table.rows_of(records, "mine.tar.gz")
        self.assertIn("| - | - | 8, - | - | mine.tar.gz |", row)


class WhatItIs(unittest.TestCase):
    """The page says it of all rows."""

    def records(self, rates=RATES, **axes):
        records = sound.sweep(rates, axes={"device": "cuda", "precision": "auto", **axes})
        for record in records:
            cell = record["cell"]
            if cell["data"] != "synthetic":
                cell.update({"page-cache": "warm", **axes})
            if cell["data"] == "jpeg":
                cell["image-size"] = axes.get("image-size", "mixed")
        return records

    def refusal(self, records):
        with self.assertRaises(gpu_table.Unfit) as caught:
            gpu_table.check_what_it_is(records)
        return str(caught.exception)

    def test_a_sweep_of_gpu_check_is_taken(self):
        gpu_table.check_what_it_is(self.records())

    def test_another_one_is_refused(self):
        self.assertIn("is of resnet18", self.refusal(self.records(model="resnet18")))
        for axis, value in (("cache", "decoded"), ("page-cache", "cold"), ("image-size", "48x48")):
            self.assertIn(
                f"has --{axis} {value}, not ", self.refusal(self.records(**{axis: value}))
            )
        short = {kind: rates[:2] for kind, rates in RATES.items()}
        self.assertIn("fewer than 3 repetitions", self.refusal(self.records(short)))
        of_tensors = {kind: RATES[kind] for kind in ("ceiling", "tensor")}
        self.assertIn("has other cells", self.refusal(self.records(of_tensors)))
        two = self.records()
        two[1]["cell_id"] = "another"
        self.assertIn("has other cells", self.refusal(two))
        without = [r for r in self.records() if r["role"] != "ceiling"]
        self.assertIn("has other cells", self.refusal(without))


class Packs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="feedrate-gpu-table-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.pack = os.path.join(self.folder, "mine.tar.gz")

    def refusal(self):
        with tempfile.TemporaryDirectory(prefix="feedrate-gpu-table-") as into:
            with self.assertRaises(gpu_table.Unfit) as caught:
                gpu_table.unpack(self.pack, into)
            self.assertEqual(os.listdir(into), [])
        return str(caught.exception)

    def write(self, *members):
        with tarfile.open(self.pack, "w:gz") as archive:
            for member, data in members:
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))

    def test_nothing_is_written_outside(self):
        self.write((tarfile.TarInfo("../ledger.jsonl"), b"{}"))
        self.assertIn("no plain file at its top", self.refusal())
        link = tarfile.TarInfo("ledger.jsonl")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        self.write((link, b""))
        self.assertIn("no plain file at its top", self.refusal())

    def test_what_is_none_is_refused(self):
        with open(self.pack, "wb") as file:
            file.write(b"no archive")
        self.assertIn("cannot be unpacked", self.refusal())
        self.write(*((tarfile.TarInfo(f"{n}.jsonl"), b"") for n in range(99)))
        self.assertIn("holds more than a ledger", self.refusal())


class Page(unittest.TestCase):
    def test_the_table_stands_between_its_lines(self):
        text = "before\n" + gpu_table.BEGIN + "old\n" + gpu_table.END + "after\n"
        self.assertEqual(
            gpu_table.with_table(text, "new\n"),
            "before\n" + gpu_table.BEGIN + "new\n" + gpu_table.END + "after\n",
        )

    def test_the_documentation_has_a_place_for_it(self):
        text = gpu_table.PAGE.read_text()
        self.assertEqual(text.count(gpu_table.BEGIN), 1)
        self.assertEqual(text.count(gpu_table.END), 1)
