"""The tables of axes and flags: those beside a ledger say what makes a setting; anything else in
that file is refused."""

import copy
import json
import os
import unittest

import sound
from report import cli
from report.errors import ReportError
from report.ledger import axes, heading, ledger, settings
from report.look import style
from test_check import RATES, Checked

HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(axes.__file__))), axes.NAME)


def raw():
    with open(HERE, encoding="utf-8") as file:
        return json.load(file)


class Tables(Checked):
    def folder(self, tables):
        """A folder of a ledger with these tables beside it: text, or what becomes JSON."""
        folder = sound.folder(self.parent, "r1", sound.sweep(RATES))
        with open(os.path.join(folder, axes.NAME), "w", encoding="utf-8") as file:
            file.write(tables if isinstance(tables, str) else json.dumps(tables))
        return folder

    def test_without_a_file_the_report_uses_its_own(self):
        folder = sound.folder(self.parent, "r1", sound.sweep(RATES))
        self.assertIs(axes.beside(ledger.find(folder)), axes.own())

    def test_an_axis_of_the_ceiling_makes_a_setting_of_its_own(self):
        tables = raw()
        tables["axes"].append(
            {
                "name": "clock",
                "help": "",
                "default": "auto",
                "usual": "boost",
                "number": False,
                "ceiling": True,
                "values": [],
            }
        )
        records = sound.sweep(RATES)
        for record in records:
            record["cell"]["clock"] = "boost" if record["repetition"] == 0 else "base"
            record["cell_id"] += record["cell"]["clock"]
        found = settings.group(records, tables=axes.beside(ledger.find(self.folder(tables))))
        self.assertEqual([s.axes["clock"] for s in found], ["boost", "base"])
        self.assertNotIn("clock", heading.heading(found[0]))
        self.assertIn("clock base", heading.heading(found[1]))
        self.assertEqual(len(settings.group(records)), 1, "the report's own tables do not know it")

    def test_a_heading_says_once_that_a_device_is_emulated(self):
        replayed = "(EMULATED DEVICE from its recorded steps)"
        for name, words in (
            ("H100 (EMULATED)", "H100 (EMULATED DEVICE)"),
            ("H100", "H100 (EMULATED DEVICE)"),
            ("H100 (EMULATED from its recorded steps)", f"H100 {replayed}"),
            ("9 img/s (EMULATED) (EMULATED from its recorded steps)", f"9 img/s {replayed}"),
            (
                "NVIDIA H200, PyTorch's published 3,079 img/s (EMULATED)",
                "NVIDIA H200, PyTorch's published 3,079 img/s (EMULATED DEVICE)",
            ),
        ):
            self.assertEqual(heading.emulated(name), words)

    def test_settings_are_named_in_the_order_that_they_always_were(self):
        self.assertEqual(
            axes.own().of_setting[:5],
            ("device", "device-threads", "model", "batch-size", "precision"),
        )
        self.assertEqual(axes.own().of_setting[-1], "input-size")
        self.assertNotIn("gpus", axes.own().of_setting)

    def test_what_is_no_table_is_refused_in_one_line(self):
        def changed(change):
            tables = copy.deepcopy(raw())
            change(tables)
            return tables

        for odd in (
            "",
            "no JSON",
            "[]",
            "7",
            "null",
            "[" * 200000,
            " " * (axes.MOST_BYTES + 1),
            '{"schema":"feedrate.axes/9"}',
            changed(lambda t: t.pop("axes")),
            changed(lambda t: t["axes"].append(7)),
            changed(lambda t: t.update(axes={})) | {"axes": 7},
            changed(lambda t: t["axes"][0].update(ceiling="yes")),
            changed(lambda t: t["axes"][0].update(usual=3)),
            changed(lambda t: t["axes"][0].pop("values")),
            changed(lambda t: t["flags"][0].update(threshold="much")),
            changed(lambda t: t.update(other_work=[7])),
        ):
            with self.subTest(odd=str(odd)[:60]), self.assertRaises(ReportError) as caught:
                axes.beside(ledger.find(self.folder(odd)))
            words = str(caught.exception)
            self.assertNotIn("\n", words)
            self.assertIn(axes.NAME, words)
            self.assertIn("delete it", words)

    def test_a_broken_file_is_one_line_and_exit_code_1(self):
        code, _, said = self.run_quietly(cli.main, [self.folder("{"), "--no-figures", "--no-html"])
        self.assertEqual((code, said.count("\n")), (1, 1), said)

    def test_validate_looks_at_no_table_beside_the_ledger(self):
        """Whoever edits a ledger could edit the thresholds beside it."""
        tables = raw()
        for rule in tables["flags"]:
            rule.update(threshold=None, serious=None)
        records = sound.sweep(RATES)
        records[1]["queue"]["drawn_fraction"] = 0.2
        before = self.check(records)
        self.assertEqual(before[0], 1, "the flag is missing")
        with open(os.path.join(self.parent, "r1", axes.NAME), "w", encoding="utf-8") as file:
            json.dump(tables, file)
        self.assertEqual(self.again(os.path.join(self.parent, "r1")), before)

    def test_differences_that_mean_other_work(self):
        known = axes.own()
        for what in ("host", "gpus", "device.name", "file_system.type", "dataset jpeg/64x64.bytes"):
            self.assertTrue(known.is_other_work(what), what)
        for what in ("git_commit", "limits.min_seconds", "hosts", "datasets"):
            self.assertFalse(known.is_other_work(what), what)


class Looks(unittest.TestCase):
    def test_each_kind_of_data_is_told_from_the_others_by_any_one_mark(self):
        self.assertEqual(set(style.KINDS), set(axes.own().axes["data"].values), "none is gray")
        looks = [*style.KINDS.values(), style.OTHER]
        for mark in ("colour", "marker", "line"):
            self.assertEqual(len({getattr(look, mark) for look in looks}), len(looks), mark)


if __name__ == "__main__":
    unittest.main()
