"""The check of a ledger: whatever is changed by hand is found, and a sound one has no finding."""
import contextlib
import copy
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import ledgers
import sound
from report import check, cli, ledger
from test_figures import HAVE_MATPLOTLIB

RATES = {"ceiling": [1000.0, (1004.0, 1001.0), 998.0], "jpeg": [400.0, 404.0, 402.0], "png": [200.0, 202.0, 201.0]}


def paths(value, path=()):
    """Every place within a record: keys, and the first of each list."""
    inner = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for key, child in inner:
        yield path + (key,)
        yield from paths(child, path + (key,))


class Checked(unittest.TestCase):
    def setUp(self):
        self.parent = tempfile.mkdtemp(prefix="feedrate-check-")
        self.addCleanup(shutil.rmtree, self.parent)

    def check(self, records, tail="", report=False):
        """(exit code, findings, notes)."""
        folder = sound.folder(self.parent, "r1", records, tail)
        if report:
            self.run_quietly(cli.main, [folder, "--no-figures"])
        return self.again(folder)

    def again(self, folder):
        code, out, err = self.run_quietly(check.main, [folder])
        return code, out.splitlines(), err

    def run_quietly(self, main, arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(arguments)
        return code, out.getvalue(), err.getvalue()

    def finds(self, words, line, change, records=None):
        """A change of one record is found on its line; at times it makes others wrong too."""
        records = copy.deepcopy(records or sound.sweep(RATES))
        change(records[line - 1])
        code, findings, _ = self.check(records)
        self.assertEqual(code, 1, words)
        self.assertTrue(any(f.startswith(f"line {line}: ") and words in f for f in findings), (words, findings))


class Arithmetic(Checked):
    def test_a_sound_ledger_of_either_schema_has_no_finding(self):
        for schema in (1, 2):
            code, findings, notes = self.check(sound.sweep(RATES, schema=schema))
            self.assertEqual((code, findings), (0, []))
            self.assertIn("12 records checked: nothing found", notes)

    def test_the_ledgers_of_the_reference_are_sound(self):
        for place in ("epyc-2-cores", "xeon-2-cores/gpus"):       # of schema 2 and 1
            path = os.path.join(ledgers.ROOT, "results/reference", place, "ledger.jsonl")
            self.assertEqual(check._ledger(path)[0], [])

    def test_a_changed_number_is_found(self):
        def sets(key, value):
            return lambda r: r.update({key: value})

        def within(key, name, value):
            return lambda r: r[key].update({name: value})

        cases = (
            ("imgs_per_s is", lambda r: r.update(imgs_per_s=1.001 * r["imgs_per_s"])),
            ("images is", lambda r: r.update(images=r["images"] + 1)),
            ("step_ms.mean is", lambda r: r.update(window_s=1.01 * r["window_s"])),
            ("raw holds 40 values of 41", sets("steps", 41)),
            ("step_ms: median is", within("step_ms", "median", 1.0)),
            ("step_ms: max is", within("step_ms", "max", 1e6)),
            ("step_ms: p99", within("step_ms", "p99", 1.0)),
            ("data_wait_ms: mean is", within("data_wait_ms", "mean", 1.0)),
            ("step_ms: one of median", within("step_ms", "p95", None)),
            ("raw is not a list", within("step_ms", "raw", ["x"])),
            ("ci95 is", lambda r: r.update(ci95=[0.999 * r["ci95"][0], r["ci95"][1]])),
            ("ci95 is null", sets("ci95", None)),
            ("is no interval", sets("ci95", [5, 1])),
            ("device_idle_fraction is", sets("device_idle_fraction", 0.05)),
            ("ceiling_fraction is", sets("ceiling_fraction", 0.9)),
            ("without the other", sets("ceiling_fraction", None)),
            ("valid is false", sets("valid", False)),
            ("valid is true", sets("flags", [{"name": "throttled", "severity": "serious"}])),
            ("error is not", sets("error", "disk full")),
            ("is no UTC time", sets("started_at", "yesterday")),
            ("dataset is null", sets("dataset", None)),
            ("monitors.cpu_busy is 1.5", within("monitors", "cpu_busy", 1.5)),
            ("page_cache_before is -0.5", within("dataset", "page_cache_before", -0.5)),
            ("not equally long", lambda r: r["monitors"]["series"]["at_s"].pop()),
            ("at_s does not rise", lambda r: r["monitors"]["series"].update(at_s=[2, 1])),
            ("series.cpu_busy holds 7", lambda r: r["monitors"]["series"].update(cpu_busy=[7, 0])),
            ("capacities are not in order", lambda r: r["capacities"].reverse()),
            ("utilisation of loader", lambda r: r["capacities"][0].update(utilisation=0.1)),
            ("window_s is not above zero", sets("window_s", 0)),
            ("window_s is missing", sets("window_s", None)),
            ("cannot be checked", sets("capacities", 7)))
        for words, change in cases:
            with self.subTest(words):
                self.finds(words, 3, change)

    def test_a_flag_that_was_taken_out_is_missed(self):
        for name, change in (
                ("emulated", lambda r: r.update(flags=[])),
                ("short_window", lambda r: r.update(limits=dict(r["limits"], min_steps=41))),
                ("queue_not_at_rest", lambda r: r["queue"].update(drawn_fraction=-0.02)),
                ("noisy_neighbour", lambda r: r["monitors"].update(cpu_other_processes=0.2)),
                ("cpu_steal", lambda r: r["monitors"].update(cpu_steal=0.03)),
                ("cpu_quota", lambda r: r["monitors"].update(cpu_quota_stopped=0.05)),
                ("memory_pressure", lambda r: r["monitors"].update(psi_memory_some=0.02)),
                ("throttled", lambda r: r["ranks"][0].update(gpu={"throttled": "power cap, power brake"})),
                ("power_capped", lambda r: r["ranks"][0].update(gpu={"throttled": "power cap"})),
                ("page_cache", lambda r: (r["cell"].update({"page-cache": "cold"}), r["dataset"].update(page_cache_before=-1))),
                ("bad_samples", lambda r: r.update(bad_samples=1))):
            with self.subTest(name):
                self.finds(f"the flag {name} is missing", 2, change)

    def test_no_flag_is_asked_for_that_the_numbers_do_not_call_for(self):
        for change in (lambda r: r["ranks"][0].update(gpu={"throttled": ""}), lambda r: r["ranks"][0].update(gpu=None),
                       lambda r: r["monitors"].update(psi_memory_some=0.01),
                       lambda r: r["dataset"].update(page_cache_before=-1),
                       lambda r: r["device"].update(step_ms=1.0)):        # it streams: no ceiling
            records = copy.deepcopy(sound.sweep(RATES))
            change(records[1])
            self.assertEqual(self.check(records)[1], [])
        capped = copy.deepcopy(sound.sweep(RATES))
        capped[1]["ranks"][0]["gpu"] = {"throttled": "power cap"}
        capped[1]["flags"].append({"name": "power_capped", "severity": "note"})
        self.assertEqual(self.check(capped)[1], [], "a capped GPU is not a throttled one")

    def test_an_emulated_ceiling_below_its_devices_rate_is_bound_by_the_program(self):
        records = copy.deepcopy(sound.sweep({"ceiling": [1000.0]}))
        for share, found in ((0.985, True), (0.995, False), (None, True)):
            for r in records:
                asked = r["imgs_per_s"] / (share or 1)
                r["device"]["step_ms"] = 1e3 * r["cell"]["batch-size"] / asked if share else 0
            code, findings, _ = self.check(records)
            self.assertEqual([f for f in findings if "harness_bound" in f] != [], found, share)
            self.assertEqual(code, int(found))

    def test_what_schema_1_could_not_flag_is_not_asked_of_it(self):
        records = copy.deepcopy(sound.sweep({"ceiling": [(1000.0, 900.0)]}, schema=1))
        for r in records:
            r["monitors"]["psi_memory_some"] = 0.5
            r["device"]["step_ms"] = 1.0
        self.assertEqual(self.check(records)[1], [])

    def test_a_busy_cpu_stands_before_the_loader_that_runs_on_it(self):
        def capacities(cpu):
            def change(record):
                rate = record["imgs_per_s"]
                record["capacities"] = [{"resource": name, "imgs_per_s": c, "utilisation": rate / c}
                                        for name, c in (("cpu", rate / cpu), ("loader", rate), ("device", 2 * rate))]
            return change
        records = sound.sweep(RATES)
        capacities(0.9)(records[1])
        self.assertEqual(self.check(records)[0], 0)
        self.finds("capacities are not in order", 2, capacities(0.8))

    def test_several_ranks_may_differ_by_a_step_and_not_by_more(self):
        records = sound.sweep(RATES, axes={"gpus": 2})
        records[1]["imgs_per_s"] *= 1.01
        for r in records[1:2]:
            r["ceiling_fraction"] = r["imgs_per_s"] / r["ceiling_imgs_per_s"]
            for c in r["capacities"]:
                c["utilisation"] = r["imgs_per_s"] / c["imgs_per_s"]
        self.assertEqual(self.check(records)[1], [])
        self.finds("imgs_per_s is", 2, lambda r: r.update(imgs_per_s=1.1 * r["imgs_per_s"]), records)

    def test_a_failure_has_its_error_and_no_rate(self):
        failed = sound.record(ledgers.axes("png"), 200.0, 9, status="failed", error="disk full", imgs_per_s=None,
                              order=99, started_at="2026-11-22T00:00:00Z", valid=False)
        self.assertEqual(self.check(sound.sweep(RATES) + [failed])[1], [])
        self.assertEqual(self.check(sound.sweep(RATES) + [dict(failed, status="interrupted", error=None)])[1], [])
        self.finds("error is null", 13, lambda r: r.update(error=None), sound.sweep(RATES) + [failed])
        self.finds("there is an imgs_per_s", 13, lambda r: r.update(imgs_per_s=5.0), sound.sweep(RATES) + [failed])

    def test_long_runs_keep_the_first_5000_values_only(self):
        records = sound.sweep({"ceiling": [1000.0]})
        for r in records:
            r["steps"], r["images"] = 6000, 6000 * r["cell"]["batch-size"]
            for key in ("step_ms", "data_wait_ms", "device_idle_ms"):
                r[key]["raw"] = [r[key]["median"]] * 5000
                r[key].update(mean=r[key]["median"], p95=r[key]["median"], p99=r[key]["median"], max=r[key]["median"])
            r["window_s"] = 6 * r["step_ms"]["mean"]
            r["imgs_per_s"] = r["images"] / r["window_s"]
            r["device_idle_fraction"] = 6 * r["device_idle_ms"]["mean"] / r["window_s"]
            r.pop("ceiling_imgs_per_s", None), r.pop("ceiling_fraction", None)
        self.assertEqual(self.check(records)[1], [])
        self.finds("raw holds 4999 values", 1, lambda r: r["step_ms"]["raw"].pop(), records)
        self.finds("raw holds", 1, lambda r: r["step_ms"]["raw"].__setitem__(7, 1e4), records)


class Sequence(Checked):
    def test_lines_that_do_not_fit_each_other(self):
        def sets(key, value):
            return lambda r: r.update({key: value})
        for words, line, change in (
                ("order is 3 after 3", 5, sets("order", 3)),
                ("before that of an earlier line", 5, sets("started_at", "2026-11-21T07:00:00Z")),
                ("a second result", 8, sets("place", 0)),
                ("has other axes", 6, lambda r: r["cell"].update(workers=4)),
                ("with the same axes", 6, sets("cell_id", "7" * 16)),
                ("binary_xxh3 is", 4, sets("environment", dict(sound.ENVIRONMENT, binary_xxh3="ff"))),
                ("host is", 4, sets("environment", dict(sound.ENVIRONMENT, host="node2"))),
                ("seed is", 4, sets("seed", 1)),
                ("environment.gpus is", 4, sets("environment", dict(sound.ENVIRONMENT, gpus=["NVIDIA A100"]))),
                ("device.name is", 4, sets("device", {"name": "NVIDIA H100 (EMULATED)", "kind": "emulated"})),
                ("device.software is", 6, lambda r: r.update(device=dict(r["device"], software="LibTorch 3"))),
                ("file_system.device is", 6, sets("environment", dict(sound.ENVIRONMENT, file_system={"type": "ext4", "device": "nfs:/x"}))),
                ("limits.max_seconds is", 6, sets("limits", dict(sound.LIMITS, max_seconds=300.0))),
                ("dataset jpeg/500x375 is", 6, lambda r: r.update(dataset=dict(r["dataset"], manifest_xxh3="0"))),
                ("the mean of its ceilings", 6, lambda r: r.update(
                    ceiling_imgs_per_s=900.0, ceiling_fraction=r["imgs_per_s"] / 900.0))):
            with self.subTest(words):
                self.finds(words, line, change)

    def test_devices_differ_from_each_other_and_not_from_themselves(self):
        both = sound.sweep(RATES) + sound.sweep(RATES, "2026-11-22T08:00:00Z", {"device": "cuda", "precision": "tf32"},
                                                limits=dict(sound.LIMITS, max_seconds=300.0))
        for i, r in enumerate(both):
            r["order"] = i
        self.assertEqual(self.check(both)[1], [])
        two = sound.sweep(RATES) + sound.sweep(RATES, "2026-11-22T08:00:00Z", {"gpus": 2})
        for i, r in enumerate(two):
            r.update(order=i, device=dict(r["device"], software="LibTorch" + ", Gloo" * (r["cell"]["gpus"] - 1)))
        self.assertEqual(self.check(two)[1], [])

    def test_where_a_run_without_data_lay_is_all_the_same(self):
        records = copy.deepcopy(sound.sweep(RATES))
        for r in records:
            if not r["dataset"]:
                r["environment"] = dict(sound.ENVIRONMENT, file_system=None)
        self.assertEqual(self.check(records)[1], [])

    def test_a_mixture_that_says_so_is_no_finding(self):
        records = copy.deepcopy(sound.sweep(RATES))
        for r in records[6:]:
            r.update(seed=1, environment=dict(sound.ENVIRONMENT, git_commit="ba9876543210"))
        self.assertEqual(len(self.check(records)[1]), 2)
        for r in records[6:]:
            r["flags"] = r["flags"] + [{"name": "mixed_ledger", "severity": "warning"}]
        self.assertEqual(self.check(records)[1], [])

    def test_a_ceiling_that_drifted_is_flagged(self):
        rates = {"ceiling": [1000.0, (1000.0, 1040.0)], "jpeg": [400.0, 404.0]}
        self.finds("the flag ceiling_drifted is missing: it is +4.0 %", 6, lambda r: None, sound.sweep(rates))
        flagged = copy.deepcopy(sound.sweep(rates))
        flagged[5]["flags"].append({"name": "ceiling_drifted", "severity": "warning"})
        self.assertEqual(self.check(flagged)[1], [])
        self.assertEqual(self.check(sound.sweep({"ceiling": [1000.0, (1000.0, 1029.0)]}))[1], [])

    def test_a_ceiling_that_is_not_in_the_ledger(self):
        records = sound.sweep(RATES)
        code, findings, _ = self.check(records[1:])
        self.assertEqual(code, 1)
        self.assertIn("line 1: ceiling_imgs_per_s is", findings[0])
        self.assertIn("no ceiling of its setting", findings[0])

    def test_a_repetition_that_failed_and_was_run_again_is_no_second_result(self):
        records = sound.sweep(RATES)
        for r in records[1:]:
            r["order"] += 1
        failed = {**copy.deepcopy(records[1]), "status": "failed", "error": "x", "imgs_per_s": None, "order": 1,
                  "valid": False}
        self.assertEqual(self.check(records[:1] + [failed] + records[1:])[1], [])


class Damage(Checked):
    def test_a_torn_tail_is_a_note(self):
        code, findings, notes = self.check(sound.sweep(RATES), '{"schema": "feedra')
        self.assertEqual((code, findings), (0, []))
        self.assertIn("line 13 is torn", notes)

    def test_every_broken_line_is_named_not_only_the_first(self):
        path = os.path.join(sound.folder(self.parent, "r1", sound.sweep(RATES)), "ledger.jsonl")
        with open(path) as file:
            lines = file.readlines()
        lines[2], lines[5] = "{oops\n", json.dumps({"schema": "feedrate.result/9"}) + "\n"
        with open(path, "w") as file:
            file.writelines(lines)
        code, findings, _ = self.again(os.path.dirname(path))
        self.assertEqual(code, 1)
        self.assertTrue(any(f.startswith("line 3: not a JSON object") for f in findings), findings)
        self.assertTrue(any(f.startswith("line 6: schema 'feedrate.result/9'") for f in findings), findings)

    def test_a_broken_last_line_that_was_ended_is_no_torn_one(self):
        code, findings, _ = self.check(sound.sweep(RATES), '{"schema": "feedra\n')
        self.assertEqual(code, 1)
        self.assertIn("line 13: not a JSON object", findings[0])

    def test_hostile_words_do_not_reach_the_terminal(self):
        records = sound.sweep(RATES)
        records[2].update(started_at="\x1b[31mred\n\u202e")
        _, findings, _ = self.check(records)
        self.assertNotIn("\x1b", "".join(findings))
        self.assertEqual(len([f for f in findings if "UTC" in f]), 1)

    def test_no_value_of_a_wrong_kind_stops_the_check(self):
        sound_one = sound.sweep({"ceiling": [1000.0], "jpeg": [400.0]})
        for path in paths(sound_one[1]):
            for odd in (None, -1, 10 ** 400, "x", [], {}, [{}]):
                record = copy.deepcopy(sound_one[1])
                at = record
                for key in path[:-1]:
                    at = at[key]
                at[path[-1]] = odd
                with self.subTest(path=path, odd=str(odd)[:9]):
                    self.assertIn(self.check([sound_one[0], record, sound_one[2]])[0], (0, 1))

    def test_nothing_to_read_is_an_error(self):
        code, out, err = self.run_quietly(check.main, [os.path.join(self.parent, "none")])
        self.assertEqual((code, out), (1, ""))
        self.assertIn("there is no ledger; ", err)
        self.assertEqual(self.check([])[0], 1)

    def test_schema_1_is_read_as_2(self):
        old = sound.record(ledgers.axes("jpeg"), 400.0, schema=1)
        self.assertNotIn("valid", old)
        self.assertIs(ledger.upgrade(old)["valid"], True)
        serious = {**old, "flags": [{"name": "throttled", "severity": "serious"}]}
        self.assertIs(ledger.upgrade(serious)["valid"], False)
        self.assertIs(ledger.upgrade({**old, "status": "failed"})["valid"], False)
        self.assertNotIn("valid", old, "the record itself stays as it was written")


class Report(Checked):
    def test_a_fresh_report_follows_from_its_ledger(self):
        code, findings, notes = self.check(sound.sweep(RATES), report=True)
        self.assertEqual((code, findings), (0, []))
        self.assertIn("5 files of its report", notes)

    def test_edited_stale_and_missing_files_are_told_apart(self):
        records = sound.sweep(RATES)
        self.check(records[:8], report=True)
        report = os.path.join(self.parent, "r1", "report")
        with open(os.path.join(report, "table.csv")) as file:
            text = file.read()
        with open(os.path.join(report, "table.csv"), "w") as file:
            file.write(text.replace("jpeg", "JPEG", 1))
        os.unlink(os.path.join(report, "index.md"))
        code, findings, _ = self.check(records)
        self.assertEqual(code, 1)
        self.assertRegex(findings[0], "table.csv: line . does not follow")
        self.assertIn("table.md: stale: made when the ledger held 8 of its 12 records", findings[1])
        self.assertIn("table.tex: stale: made when the ledger held 8 of its 12 records", findings[2])
        self.assertIn("index.md: missing", findings[3])
        self.assertEqual(len(findings), 4)

    def test_figures_that_are_gone_and_half_written_files(self):
        self.check(sound.sweep(RATES), report=True)
        report = os.path.join(self.parent, "r1", "report")
        index = os.path.join(report, "index.md")
        with open(index) as file:
            text = file.read()
        line = "- **bars** ([PDF](bars.pdf), [PNG](bars.png)): A100. Bars."
        with open(index, "w") as file:
            file.write(text.replace("None: no cell has a result, or figures were not asked for.", line))
        for name in ("bars.png", ".report-x1y2"):
            open(os.path.join(report, name), "w").close()
        code, findings, _ = self.again(os.path.join(self.parent, "r1"))
        self.assertEqual((code, [f.split(";")[0] for f in findings]), (
            1, ["bars.pdf: missing", ".report-x1y2: a half-written file of a report that was cut off"]))

    @unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
    def test_what_a_paper_says_is_made_again_and_what_is_drawn_must_be_there(self):
        folder = sound.folder(self.parent, "r1", sound.sweep(RATES))
        program = [sys.executable, os.path.join(ledgers.SCRIPTS, "report"), folder]
        subprocess.run([*program, "--only", "bars", "--formats", "svg"], check=True, capture_output=True)
        code, findings, notes = self.again(folder)
        self.assertEqual((code, findings), (0, []))
        self.assertIn("7 files of its report", notes)
        paper = os.path.join(folder, "report", "paper")
        with open(os.path.join(paper, "methods.tex")) as file:
            text = file.read()
        with open(os.path.join(paper, "methods.tex"), "w") as file:
            file.write(text.replace("resnet50", "resnet18", 1))
        for name in ("methods.md", "figures.tex", "../index.html"):
            os.unlink(os.path.join(paper, name))
        code, findings, _ = self.again(folder)
        self.assertEqual((code, [f.split(";")[0] for f in findings]), (1, [
            "paper/methods.md: missing", "paper/methods.tex: line 3 does not follow from the ledger, nor from an earlier state "
            "of it: edited, or made by another version", "index.html: missing", "paper/figures.tex: missing"]))

    def test_a_folder_that_was_renamed_is_a_note(self):
        self.check(sound.sweep(RATES), report=True)
        os.rename(os.path.join(self.parent, "r1"), os.path.join(self.parent, "r2"))
        code, findings, notes = self.again(os.path.join(self.parent, "r2"))
        self.assertEqual((code, findings), (0, []))
        self.assertIn("its folder was renamed", notes)

    def test_a_report_of_a_damaged_ledger_is_not_judged(self):
        self.check(sound.sweep(RATES), report=True)
        code, findings, notes = self.check(sound.sweep(RATES), "{oops}\n")
        self.assertEqual((code, len(findings)), (1, 1))
        self.assertIn("not checked", notes)


if __name__ == "__main__":
    unittest.main()
