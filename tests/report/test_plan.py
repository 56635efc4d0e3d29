"""plan.json: a run that a stopped sweep did not make is shown as missing, never as a result."""

import json
import os
import unittest

import sound
from report import cli
from report.answer import methods
from report.figures import figures
from report.figures.context import Context
from report.ledger import ledger, plan, settings
from test_check import RATES, Checked


def planned(records, before=0):
    """plan.json of a sweep that meant to measure these."""
    return {
        "schema": plan.SCHEMA,
        "cells": {r["cell_id"]: r["cell"] for r in records},
        "sweeps": [
            {
                "records": before,
                "runs": [[r["cell_id"], r["role"], r["repetition"], r["place"]] for r in records],
            }
        ],
    }


class Plan(Checked):
    def keep(self, records, of):
        """A folder with these records and the plan `of`."""
        folder = sound.folder(self.parent, "r1", records)
        with open(os.path.join(folder, "plan.json"), "w", encoding="utf-8") as file:
            file.write(of if isinstance(of, str) else json.dumps(of))
        return folder

    def rows(self, folder):
        path = ledger.find(folder)
        records = ledger.read(path, self.fail)
        (setting,) = settings.group(plan.complete(records, plan.read(path, self.fail)))
        return {cell.data: cell for cell in setting.cells + setting.ceilings}

    def test_what_was_not_reached_is_missing(self):
        records = sound.sweep(RATES)
        reached = [r for r in records[:6] if r["cell"]["data"] != "png"]
        cells = self.rows(self.keep(reached, planned(records)))
        self.assertEqual(
            (cells["png"].rate, cells["png"].state, len(cells["png"].lost)), (None, "not run", 3)
        )
        self.assertEqual((cells["jpeg"].rate.n, len(cells["jpeg"].lost)), (2, 1))
        self.assertEqual(len(cells["synthetic"].lost), 1, "its second repetition was opened")

    def test_a_failed_run_is_no_missing_one(self):
        records = sound.sweep(RATES)
        records[1].update(status="failed", error="x: broke", imgs_per_s=None, valid=False)
        folder = self.keep(records, planned(records))
        self.assertEqual(
            plan.missing(
                ledger.read(ledger.find(folder), self.fail), plan.read(ledger.find(folder))
            ),
            [],
        )

    def test_why_a_run_failed_is_not_hidden_by_others_that_were_not_come_to(self):
        records = sound.sweep(RATES)
        first = dict(
            records[0], status="failed", error="cuda:0: out of memory", imgs_per_s=None, valid=False
        )
        cell = dict(
            next(r for r in records if r["cell"]["data"] == "jpeg"),
            status="failed",
            error="a.jpg: damaged",
            imgs_per_s=None,
            valid=False,
        )
        cells = self.rows(self.keep([first, cell], planned(records)))
        for data, error in (("synthetic", "cuda:0: out of memory"), ("jpeg", "a.jpg: damaged")):
            self.assertEqual(cells[data].state, "failed")
            self.assertEqual([r.get("error") for r in cells[data].lost], [error, None, None])

    def test_a_count_of_gpus_that_was_not_come_to_hides_no_figure(self):
        two = sound.sweep(RATES, axes={"gpus": 2})
        folder = self.keep(two, planned(two + sound.sweep(RATES)))
        self.run_quietly(cli.main, [folder, "--no-figures", "--no-slides"])
        records = ledger.read(ledger.find(folder), self.fail)
        (setting,) = settings.group(plan.complete(records, plan.read(ledger.find(folder))))
        self.assertEqual((setting.gpu_counts(), setting.first_count), ([1, 2], 2))
        names = {p.gpus: p.name for p in figures.plan([setting]) if p.module == "stages"}
        self.assertEqual(names[2], "stages", "the first that was come to has the plain name")
        self.assertNotIn(
            "1 and 2 GPUs",
            " ".join(s for p in methods.paragraphs([setting], Context("x", "")) for s in p),
        )

    def test_the_report_says_so_everywhere(self):
        records = sound.sweep(RATES)
        folder = self.keep(records[:5], planned(records))
        code, out, err = self.run_quietly(cli.main, [folder, "--no-figures"])
        self.assertEqual(code, 0, err)
        self.assertIn("7 of 12 planned runs have no record", err)
        self.assertIn("1/3", out)
        for name, words in (
            ("table.md", "1/3"),
            ("table.csv", "repetition 2: not run"),
            ("index.md", "not run"),
            ("index.html", "2 more missing"),
        ):
            with open(os.path.join(folder, "report", name), encoding="utf-8") as file:
                self.assertIn(words, file.read(), name)
        code, findings, notes = self.again(folder)
        self.assertEqual((code, findings), (0, []))
        self.assertIn("7 of 12 planned runs", notes)

    def test_a_report_of_the_time_before_is_stale_and_not_edited(self):
        first, all_of_them = sound.sweep({**RATES, "png": [None] * 3}), sound.sweep(RATES)
        folder = self.keep(first, planned(first))
        self.run_quietly(cli.main, [folder, "--no-figures", "--no-html"])
        added = [{**r, "order": len(first)} for r in all_of_them if r["cell"]["data"] == "png"][:1]
        grown = planned(first)
        more = planned([r for r in all_of_them if r["cell"]["data"] == "png"], len(first))
        grown["cells"].update(more["cells"])
        grown["sweeps"] += more["sweeps"]
        self.keep(first + added, grown)
        _, findings, _ = self.again(folder)
        self.assertIn(
            f"stale: made when the ledger held {len(first)} of its {len(first) + 1}", findings[-1]
        )

    def test_so_is_one_from_before_a_sweep_that_has_no_record_yet(self):
        first, all_of_them = sound.sweep({**RATES, "png": [None] * 3}), sound.sweep(RATES)
        folder = self.keep(first, planned(first))
        self.run_quietly(cli.main, [folder, "--no-figures", "--no-html"])
        grown = planned(first)
        more = planned([r for r in all_of_them if r["cell"]["data"] == "png"], len(first))
        self.keep(
            first,
            {
                **grown,
                "cells": {**grown["cells"], **more["cells"]},
                "sweeps": grown["sweeps"] + more["sweeps"],
            },
        )
        _, findings, _ = self.again(folder)
        self.assertEqual(
            [f.split(";")[0] for f in findings],
            ["the report is stale: made before the last sweep began"],
        )

    def test_what_is_missing_is_said_without_a_report_too(self):
        records = sound.sweep(RATES)
        self.assertIn(
            "7 of 12 planned runs", self.again(self.keep(records[:5], planned(records)))[2]
        )

    def test_what_is_no_plan_is_noted_and_changes_nothing(self):
        records = sound.sweep(RATES)
        good = planned(records)
        for odd in (
            "",
            "[]",
            "7",
            "{",
            '{"schema": "feedrate.plan/9"}',
            json.dumps({**good, "cells": {}}),
            json.dumps({**good, "sweeps": [7]}),
            json.dumps({**good, "sweeps": [{"records": 0, "runs": [["x"]]}]}),
            json.dumps(good).replace('"records": 0', '"records": 1e999'),
            json.dumps(
                {
                    **good,
                    "sweeps": [{"records": 0, "runs": [[records[0]["cell_id"], "cell", 0, [1]]]}],
                }
            ),
            json.dumps({**good, "cells": {i: {} for i in good["cells"]}}),
            "[" * 100_000,
        ):
            with self.subTest(odd[:60]):
                notes = []
                self.assertEqual(plan.read(ledger.find(self.keep(records, odd)), notes.append), [])
                self.assertEqual(len(notes), 1)

    def test_without_a_plan_nothing_is_planned(self):
        folder = sound.folder(self.parent, "r1", sound.sweep(RATES))
        self.assertEqual(plan.read(ledger.find(folder), self.fail), [])


if __name__ == "__main__":
    unittest.main()
