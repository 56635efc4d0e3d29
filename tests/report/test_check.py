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
from report import cli, made, single
from report.check import check
from report.figures import figures
from report.ledger import ledger, settings
from test_figures import HAVE_MATPLOTLIB

RATES = {
    "ceiling": [1000.0, (1004.0, 1001.0), 998.0],
    "jpeg": [400.0, 404.0, 402.0],
    "png": [200.0, 202.0, 201.0],
}
STOPPED = {"name": "stopped", "severity": "serious"}


def paths(value, path=()):
    """Every place within a record: keys, and the first of each list."""
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value[:1])
        if isinstance(value, list)
        else ()
    )
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
        self.assertTrue(
            any(f.startswith(f"line {line}: ") and words in f for f in findings), (words, findings)
        )


class Arithmetic(Checked):
    @staticmethod
    def reads(key, p90):
        """A change of a record: ten reads, of which one percentile is this."""

        def change(record):
            times = {"median": 1.0, "p90": 2.0, "p99": 3.0, "p999": 4.0, "max": 5.0}
            read = sum(s["bytes"] for s in record["stages"] if s["name"] == "read")
            record["io"] = {"reads": 10, "reads_per_s": 10 / record["window_s"]}
            record["io"]["bytes_per_s"] = round(read / record["window_s"])
            record["io"].update(latency_us=dict(times), open_us=dict(times))
            record["io"][key]["p90"] = p90

        return change

    @staticmethod
    def late(seen_late, **percentiles):
        """A change of a record: of ten reads so many were seen late."""

        def change(record):
            Arithmetic.reads("open_us", 2.0)(record)
            record["io"]["seen_late"] = seen_late
            record["io"]["latency_us"].update(percentiles)

        return change

    def test_reads_that_were_seen_late_hide_percentiles(self):
        records = sound.sweep(RATES)
        self.late(1, p99=None, p999=None, max=None)(records[0])
        self.assertEqual(self.check(records)[:2], (0, []))
        for words, change in (
            ("io.seen_late is 11 of 10 reads", self.late(11)),
            ("io.seen_late is -1 of 10 reads", self.late(-1)),
            ("io.seen_late is None of 10 reads", self.late(None)),
            ("that 1 reads seen late hide", self.late(1, p99=None, p999=None)),
            ("that 2 reads seen late hide", self.late(2, p99=None, p999=None, max=None)),
            ("io.latency_us lacks a percentile", self.late(0, max=None)),
        ):
            self.finds(words, 1, change)

    def test_a_sound_ledger_of_either_schema_has_no_finding(self):
        for schema in (1, 2, 3):
            code, findings, notes = self.check(sound.sweep(RATES, schema=schema))
            self.assertEqual((code, findings), (0, []))
            self.assertIn("12 records checked: nothing found", notes)

    def test_the_ledgers_of_the_reference_are_sound(self):
        for place in ("epyc-2-cores", "xeon-2-cores/gpus"):  # of schema 2 and 1
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
            ("step_ms.mean is", lambda r: r["ranks"][0].update(window_s=1.01 * r["window_s"])),
            ("images / window_s is", lambda r: r.update(window_s=1.01 * r["window_s"])),
            ("ranks[0].imgs_per_s is", lambda r: r["ranks"][0].update(imgs_per_s=1.0)),
            (
                "ranks[0].data_wait_ms_mean is",
                lambda r: r["ranks"][0].update(data_wait_ms_mean=1.0),
            ),
            ("ranks are [0, 0]", lambda r: r["ranks"].append(dict(r["ranks"][0]))),
            ("threads.loader is", lambda r: r["threads"].update(loader=9)),
            ("dataset.mean_bytes is", lambda r: r["dataset"].update(mean_bytes=9)),
            ("io has no reads", sets("io", {"reads": 0, "reads_per_s": 0})),
            ("io.reads_per_s is 7", sets("io", {"reads": 5, "reads_per_s": 7})),
            ("io.bytes_per_s is None", sets("io", {"reads": 5, "reads_per_s": 7})),
            ("io.open_us is not in order", self.reads("open_us", 4)),
            ("io.latency_us is not in order", self.reads("latency_us", -1)),
            ("place is 1", sets("place", 1)),
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
            ("ceiling_imgs_per_s is missing", lambda r: r.pop("ceiling_imgs_per_s")),
            ("there is a ceiling_fraction", sets("ceiling_fraction", 0.9)),
            ("valid is false", sets("valid", False)),
            ("valid is true", sets("flags", [{"name": "throttled", "severity": "serious"}])),
            ("error is not", sets("error", "disk full")),
            ("is no UTC time", sets("started_at", "yesterday")),
            ("dataset is null", sets("dataset", None)),
            ("monitors.cpu_busy is 1.5", within("monitors", "cpu_busy", 1.5)),
            ("page_cache_before is -0.5", within("dataset", "page_cache_before", -0.5)),
            (
                "page_cache_backing_after is 1.5",
                within("dataset", "page_cache_backing_after", 1.5),
            ),
            ("page_cache_method is fadvise", within("dataset", "page_cache_method", "fadvise")),
            ("page_cache_scope is None", within("dataset", "page_cache_method", None)),
            (
                "page_cache_look is of 9 of 8 files",
                lambda r: r["dataset"].update(
                    page_cache_method=None,
                    page_cache_scope="host",
                    page_cache_look={"by": "mincore", "files": 9, "of": 8},
                ),
            ),
            ("not equally long", lambda r: r["monitors"]["series"]["at_s"].pop()),
            ("at_s does not rise", lambda r: r["monitors"]["series"].update(at_s=[2, 1])),
            ("series.cpu_busy holds 7", lambda r: r["monitors"]["series"].update(cpu_busy=[7, 0])),
            ("capacities are not in order", lambda r: r["capacities"].reverse()),
            ("utilisation of loader", lambda r: r["capacities"][0].update(utilisation=0.1)),
            ("window_s is not above zero", sets("window_s", 0)),
            ("window_s is missing", sets("window_s", None)),
            ("cannot be checked", sets("capacities", 7)),
        )
        for words, change in cases:
            with self.subTest(words):
                self.finds(words, 3, change)

    def test_a_busy_cpu_stands_before_the_loader_that_runs_on_it(self):
        def capacities(cpu):
            def change(record):
                rate = record["imgs_per_s"]
                record["capacities"] = [
                    {"resource": name, "imgs_per_s": c, "utilisation": rate / c}
                    for name, c in (("cpu", rate / cpu), ("loader", rate), ("device", 2 * rate))
                ]

            return change

        records = sound.sweep(RATES)
        capacities(0.9)(records[1])
        self.assertEqual(self.check(records)[0], 0)
        self.finds("capacities are not in order", 2, capacities(0.8))

    def test_several_ranks_may_differ_by_a_step_and_not_by_more(self):
        records = sound.sweep(RATES, axes={"gpus": 2}, schema=2)
        records[1]["imgs_per_s"] *= 1.01
        for r in records[1:2]:
            r["ceiling_fraction"] = r["imgs_per_s"] / r["ceiling_imgs_per_s"]
            for c in r["capacities"]:
                c["utilisation"] = r["imgs_per_s"] / c["imgs_per_s"]
        self.assertEqual(self.check(records)[1], [])
        self.finds(
            "imgs_per_s is", 2, lambda r: r.update(imgs_per_s=1.1 * r["imgs_per_s"]), records
        )

    def test_a_failure_has_its_error_and_no_rate(self):
        failed = sound.record(
            ledgers.axes("png"),
            200.0,
            9,
            status="failed",
            error="disk full",
            imgs_per_s=None,
            order=12,
            started_at="2026-11-22T00:00:00Z",
            valid=False,
        )
        self.assertEqual(self.check(sound.sweep(RATES) + [failed])[1], [])
        self.assertEqual(
            self.check(sound.sweep(RATES) + [dict(failed, status="interrupted", error=None)])[1], []
        )
        self.finds(
            "error is null", 13, lambda r: r.update(error=None), sound.sweep(RATES) + [failed]
        )
        self.finds(
            "there is an imgs_per_s",
            13,
            lambda r: r.update(imgs_per_s=5.0),
            sound.sweep(RATES) + [failed],
        )

    def test_long_runs_keep_the_first_5000_values_only(self):
        records = sound.sweep({"ceiling": [1000.0]})
        for r in records:
            r["steps"], r["images"] = 6000, 6000 * r["cell"]["batch-size"]
            for key in ("step_ms", "data_wait_ms", "device_idle_ms"):
                r[key]["raw"] = [r[key]["median"]] * 5000
                r[key].update(
                    mean=r[key]["median"],
                    p95=r[key]["median"],
                    p99=r[key]["median"],
                    max=r[key]["median"],
                )
            r["window_s"] = 6 * r["step_ms"]["mean"]
            r["imgs_per_s"] = r["images"] / r["window_s"]
            r["ranks"][0].update(
                window_s=r["window_s"],
                imgs_per_s=r["imgs_per_s"],
                data_wait_ms_mean=r["data_wait_ms"]["mean"],
            )
            r["device_idle_fraction"] = 6 * r["device_idle_ms"]["mean"] / r["window_s"]
            busy = r["window_s"] * (1 - r["device_idle_fraction"])
            r["device_rate"] = {"imgs_per_s": r["images"] / busy, "ci95": None}
            for key in ("ceiling_imgs_per_s", "ceiling_device_rate", "ceiling_fraction"):
                r.pop(key, None)
        self.assertEqual(self.check(records)[1], [])
        self.finds("raw holds 4999 values", 1, lambda r: r["step_ms"]["raw"].pop(), records)
        self.finds("raw holds", 1, lambda r: r["step_ms"]["raw"].__setitem__(7, 1e4), records)


class Sequence(Checked):
    def with_more(self, *places):
        """A sound sweep, and copies of these of its runs behind the last line."""
        records = sound.sweep(RATES)
        for i in places:
            again = copy.deepcopy(records[i])
            again.update(order=len(records), started_at="2026-11-22T08:00:00Z")
            records.append(again)
        return records

    def test_a_cell_that_came_later_lies_between_ceilings_of_its_own(self):
        size = len(RATES) + 1  # of a repetition: its cells and two ceilings
        cell, closing = size - 2, size - 1

        def second(records):
            return [line for line in self.check(records)[1] if "second result" in line]

        late = self.with_more(0, cell, closing)
        late[cell].update(status="failed", imgs_per_s=None)
        self.assertEqual(second(late), [])
        self.assertEqual(len(second(self.with_more(0, cell, closing))), 1, "the cell")
        self.assertEqual(len(second(self.with_more(closing))), 1)
        self.assertEqual(len(second(self.with_more(cell))), 1)

    def test_the_runs_of_a_search_each_have_a_seed_of_their_own(self):
        records = sound.sweep(RATES)
        for run, record in enumerate(records):
            record.update(seed=7 + run, search={"base_seed": 7, "run": run})

        def said(word):
            return [line for line in self.check(records)[1] if word in line]

        self.assertEqual(said("seed"), [])
        records[2]["seed"] = 7
        self.assertEqual(len(said("seed is 7, base_seed and number of the run make it 9")), 1)
        records[2].update(seed=10, search={"base_seed": 7, "run": 3})
        self.assertEqual(len(said("run 3 of the search has the order 2")), 1)
        records[2].update(seed=3, search={"base_seed": 1, "run": 2})
        self.assertTrue(said("seed is '1'") or said("seed is 1"), "of another search")

    def test_a_cell_says_that_its_ceiling_must_not_be_quoted(self):
        def unfit(records):
            records[0].update(valid=False, flags=records[0]["flags"] + [STOPPED])
            records[0]["monitors"]["stopped_s"] = records[0]["window_s"]
            return "\n".join(self.check(records)[1])

        records = sound.sweep(RATES)
        self.assertIn("line 2: the flag ceiling_unfit", unfit(records))
        for record in records[1 : len(RATES)]:
            record["flags"].append({"name": "ceiling_unfit", "severity": "warning"})
        self.assertNotIn("ceiling_unfit", unfit(records))

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
            (
                "environment.gpus is",
                4,
                sets("environment", dict(sound.ENVIRONMENT, gpus=["NVIDIA A100"])),
            ),
            (
                "device.name is",
                4,
                sets("device", {"name": "NVIDIA H100 (EMULATED)", "kind": "emulated"}),
            ),
            (
                "device.software is",
                6,
                lambda r: r.update(device=dict(r["device"], software="LibTorch 3")),
            ),
            (
                "file_system.device is",
                6,
                sets(
                    "environment",
                    dict(sound.ENVIRONMENT, file_system={"type": "ext4", "device": "nfs:/x"}),
                ),
            ),
            ("limits.max_seconds is", 6, sets("limits", dict(sound.LIMITS, max_seconds=300.0))),
            (
                "dataset jpeg/500x375.manifest_xxh3 is",
                6,
                lambda r: r.update(dataset=dict(r["dataset"], manifest_xxh3="0")),
            ),
            (
                "the ceiling that opened the repetition is",
                6,
                lambda r: r.update(ceiling_imgs_per_s=900.0),
            ),
        ):
            with self.subTest(words):
                self.finds(words, line, change)

    def test_devices_differ_from_each_other_and_not_from_themselves(self):
        both = sound.sweep(RATES) + sound.sweep(
            RATES,
            "2026-11-22T08:00:00Z",
            {"device": "cuda", "precision": "tf32"},
            limits=dict(sound.LIMITS, max_seconds=300.0),
        )
        for i, r in enumerate(both):
            r["order"] = i
        self.assertEqual(self.check(both)[1], [])
        two = sound.sweep(RATES) + sound.sweep(RATES, "2026-11-22T08:00:00Z", {"gpus": 2})
        for i, r in enumerate(two):
            r.update(
                order=i,
                device=dict(r["device"], software="LibTorch" + ", Gloo" * (r["cell"]["gpus"] - 1)),
            )
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
            r["forced"] = ["seed", "git_commit"]
        self.assertEqual(self.check(records)[1], [])

    def test_evidence_that_was_taken_out_with_its_flag_is_missed(self):
        for words, take in (
            ("queue.drawn_fraction", lambda r: r.pop("queue")),
            ("limits.min_seconds", lambda r: r.update(limits={})),
            ("ranks", lambda r: r.pop("ranks")),
            ("bad_samples", lambda r: r.update(bad_samples=None)),
            ("device_idle_ms", lambda r: r.pop("device_idle_ms")),
        ):
            self.finds(words, 3, take)

    def test_a_ceiling_that_drifted_is_flagged(self):
        rates = {"ceiling": [1000.0, (1000.0, 1040.0)], "jpeg": [400.0, 404.0]}
        self.finds(
            "the flag ceiling_drifted is missing: it is +4.0 %",
            6,
            lambda r: None,
            sound.sweep(rates),
        )
        flagged = copy.deepcopy(sound.sweep(rates))
        flagged[5]["flags"].append({"name": "ceiling_drifted", "severity": "warning"})
        self.assertEqual(self.check(flagged)[1], [])
        self.assertEqual(self.check(sound.sweep({"ceiling": [1000.0, (1000.0, 1029.0)]}))[1], [])

    def test_a_ceiling_that_is_not_in_the_ledger(self):
        records = sound.sweep(RATES)
        code, findings, _ = self.check(records[1:])
        self.assertEqual(code, 1)
        self.assertIn("line 1: order is 1, 0 is due", findings[0])
        self.assertIn("line 1: ceiling_imgs_per_s is", findings[1])
        self.assertIn("no ceiling of its setting", findings[1])

    def test_several_ranks_and_who_waits_for_whom(self):
        records = sound.sweep(RATES, axes={"gpus": 2})
        self.assertEqual(self.check(records)[1], [])
        step = records[1]["step_ms"]["mean"]
        self.finds(
            "straggler is null, rank 0",
            2,
            lambda r: r["ranks"][1].update(sync_ms_mean=0.1 * step),
            records,
        )
        records[1]["ranks"][1]["sync_ms_mean"] = round(0.1 * step, 3)
        records[1]["straggler"] = {"rank": 0, "others_wait_ms": round(0.1 * step, 3)}
        self.assertEqual(self.check(records)[1], [])
        self.finds("straggler is {", 2, lambda r: r["straggler"].update(rank=1), records)
        self.finds(
            "more than a step apart",
            2,
            lambda r: r["ranks"][1].update(
                window_s=2 * r["window_s"], imgs_per_s=r["ranks"][1]["imgs_per_s"] / 2
            ),
            records,
        )

    def test_what_all_queues_gave_is_not_more_than_the_worst_one(self):
        def gave(mean, worst, gpus):
            records = copy.deepcopy(sound.sweep(RATES, axes={"gpus": gpus}))
            records[1]["queue"].update(drawn_mean=mean, drawn_fraction=worst)
            return [line for line in self.check(records)[1] if "drawn_mean" in line]

        self.assertEqual(gave(0.002, -0.003, 2), [])
        self.assertEqual(len(gave(0.004, -0.003, 2)), 1)
        self.assertEqual(gave(0.003, 0.003, 1), [])
        self.assertEqual(len(gave(0.002, 0.003, 1)), 1)

    def test_a_repetition_that_failed_and_was_run_again_is_no_second_result(self):
        records = sound.sweep(RATES)
        for r in records[1:]:
            r["order"] += 1
        failed = {
            **copy.deepcopy(records[1]),
            "status": "failed",
            "error": "x",
            "imgs_per_s": None,
            "order": 1,
            "valid": False,
        }
        self.assertEqual(self.check(records[:1] + [failed] + records[1:])[1], [])


class Jobs(Checked):
    """Runs of `feedrate jobs`: several of one cell, each with a seed of its own."""

    def jobs(self, overlap=0.97, **changes):
        cell = ledgers.axes("jpeg")
        alone = sound.record(cell, 400.0, jobs={"of": 2, "together": False})
        together = [
            sound.record(
                cell,
                rate,
                seed=copy - 1,
                jobs={"of": 2, "together": True, "job": copy, "copy": copy, "overlap": overlap},
            )
            for copy, rate in ((1, 200.0), (2, 180.0))
        ]
        together[1]["dataset"] = {**together[1]["dataset"], **changes}
        records = [alone, *together]
        for order, record in enumerate(records):
            record["order"] = order
        return records

    def test_they_are_sound(self):
        self.assertEqual(self.check(self.jobs())[:2], (0, []))

    def repetitions(self, count=3, base_seed=7):
        records = []
        for repetition in range(count):
            for record in self.jobs():
                record.update(repetition=repetition, order=len(records))
                record["seed"] = base_seed + record["order"]
                record["jobs"]["base_seed"] = base_seed
                records.append(record)
        return records

    def test_repetitions_are_sound(self):
        self.assertEqual(self.check(self.repetitions())[:2], (0, []))

    def test_each_run_has_the_seed_of_its_place(self):
        records = self.repetitions()
        records[4]["seed"] = 7
        self.assertIn("base_seed and order of the run make it 11", "".join(self.check(records)[1]))
        records = self.repetitions()
        records[4]["jobs"]["base_seed"], records[4]["seed"] = 8, 12
        self.assertIn("seed is '8'", "".join(self.check(records)[1]))

    def test_a_repetition_that_was_changed_is_found(self):
        for line, repetition, words in (
            (3, 2, "repetition is 1 after 2"),
            (8, 3, "did not run alone before, in repetition 3"),
            (5, 0, "repetition is 0 after 1"),
        ):
            records = self.repetitions()
            records[line]["repetition"] = repetition
            self.assertIn(words, "".join(self.check(records)[1]), line)

    def test_a_job_has_one_run_in_a_repetition(self):
        records = self.repetitions()
        records[5]["jobs"]["job"] = 1
        self.assertIn("a second result of job 1, repetition 1", "".join(self.check(records)[1]))

    def test_each_may_have_a_dataset_of_its_own(self):
        self.assertEqual(self.check(self.jobs(manifest_xxh3="0011223344556677"))[:2], (0, []))

    def test_no_report_is_made_of_them(self):
        folder = sound.folder(self.parent, "r1", self.jobs())
        code, out, err = self.run_quietly(cli.main, [folder, "--no-figures"])
        self.assertEqual((code, out), (1, ""))
        self.assertIn("`feedrate jobs`", err)


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
        self.assertTrue(
            any(f.startswith("line 6: schema 'feedrate.result/9'") for f in findings), findings
        )

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
            for odd in (None, -1, 10**400, "x", [], {}, [{}]):
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
        self.assertIn("6 files of its report", notes)

    def report_of(self, records, *options):
        """The folder of a fresh report of them."""
        folder = sound.folder(self.parent, "r1", records)
        self.run_quietly(cli.main, [folder, "--no-figures", *options])
        return folder, os.path.join(folder, "report")

    def changed(self, report, name, change):
        with open(os.path.join(report, name), encoding="utf-8") as file:
            text = file.read()
        with open(os.path.join(report, name), "w", encoding="utf-8") as file:
            file.write(change(text))

    def hashed_afresh(self, report):
        """As whoever edits on purpose would."""

        def afresh(text):
            kept = json.loads(text)
            kept["files"] = {
                name: made.sha256(os.path.join(report, name)) for name in kept["files"]
            }
            return json.dumps(kept)

        self.changed(report, "files.json", afresh)

    def report_knowing(self, names):
        """The folder of a report that a program with figures of these names made."""
        folder = sound.folder(self.parent, "r1", sound.sweep(RATES))
        path = ledger.find(folder)
        records = ledger.read(path, self.fail)
        context = single.context_of(path, records)
        words = ["--formats", "svg", "--no-paper", "--no-slides", "--no-html"]
        context.options = cli._parser().parse_args([folder, *words])
        context.figures, context.say = names, lambda words: None
        single.make(settings.group(records), records, path, context, single.default_folder(path))
        return folder, single.default_folder(path)

    @unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
    def test_a_figure_that_is_newer_than_the_report_is_not_missed(self):
        folder, report = self.report_knowing(tuple(figures.NAMED))
        self.assertIn("stages.svg", os.listdir(report))
        self.assertEqual(self.again(folder)[:2], (0, []))
        older = tuple(name for name in figures.NAMED if name != "stages")
        folder, report = self.report_knowing(older)
        self.assertNotIn("stages.svg", os.listdir(report))
        self.assertEqual(self.again(folder)[:2], (0, []))

    @unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
    def test_a_figure_that_is_gone_is_compared_by_its_hash(self):
        folder, report = self.report_knowing((*figures.NAMED, "former"))
        with open(os.path.join(report, "former.svg"), "w") as file:
            file.write("<svg/>")

        def listed(text):
            kept = json.loads(text)
            kept["files"]["former.svg"] = made.sha256(os.path.join(report, "former.svg"))
            return json.dumps(kept)

        self.changed(report, "files.json", listed)
        self.changed(report, "index.md", lambda text: text + "- **former**\n")
        self.hashed_afresh(report)
        code, findings, notes = self.again(folder)
        self.assertEqual((code, findings), (0, []))
        self.assertIn("2 files show figures that this version does not draw (former)", notes)
        self.changed(report, "former.svg", lambda text: text + " ")
        self.assertIn("former.svg: changed since it was made", self.again(folder)[1][0])

    def test_an_older_report_knew_the_figures_that_it_drew(self):
        _, report = self.report_of(sound.sweep(RATES))
        for drawn, names in (
            (["a_map.svg", "a_map.2-gpus.png", "paper/b.pdf", "table.csv"], ["a_map"]),
            ([], []),
        ):

            def older(text, drawn=drawn):
                kept = json.loads(text)
                del kept["figures"]
                kept["files"] = dict.fromkeys(drawn, "")
                kept["options"]["no_figures"] = False
                return json.dumps(kept)

            with open(os.path.join(report, "files.json")) as file:
                before = file.read()
            self.changed(report, "files.json", older)
            self.assertEqual(made.read(report)["figures"], names)
            self.write(report, before)

    def test_an_edited_file_is_found_also_with_its_hash_made_afresh(self):
        folder, report = self.report_of(sound.sweep(RATES))
        self.changed(report, "table.csv", lambda text: text.replace("jpeg", "JPEG", 1))
        self.changed(report, "index.html", lambda text: text.replace("jpeg", "JPEG", 1))
        self.assertEqual(
            [f.split(";")[0] for f in self.again(folder)[1]],
            ["index.html: changed since it was made", "table.csv: changed since it was made"],
        )
        self.hashed_afresh(report)
        code, findings, _ = self.again(folder)
        self.assertEqual(
            (code, [f.split(";")[0] for f in findings]),
            (
                1,
                [
                    "index.html: does not follow from the ledger: edited",
                    "table.csv: line 3 does not follow from the ledger: edited",
                ],
            ),
        )

    def test_a_figure_drawn_again_leaves_a_sound_report(self):
        folder = sound.folder(self.parent, "r1", sound.sweep(RATES))
        program = [
            sys.executable,
            os.path.join(ledgers.SCRIPTS, "report"),
            folder,
            "--formats",
            "svg",
        ]
        subprocess.run([*program, "--no-slides", "--no-paper"], check=True, capture_output=True)
        subprocess.run(
            [*program, "--no-slides", "--no-paper", "--only", "stages"],
            check=True,
            capture_output=True,
        )
        self.assertEqual(self.again(folder)[:2], (0, []))

    def test_files_taken_out_together_with_their_lines_are_missed(self):
        folder, report = self.report_of(sound.sweep(RATES))
        os.unlink(os.path.join(report, "workers.csv"))

        def without(text):
            kept = json.loads(text)
            del kept["files"]["workers.csv"]
            return json.dumps(kept)

        self.changed(report, "files.json", without)
        self.assertIn(
            "workers.csv: missing in files.json, and the ledger gives it", self.again(folder)[1][0]
        )

    def test_a_list_of_files_is_not_trusted(self):
        folder, report = self.report_of(sound.sweep(RATES))
        for change in (
            {"files": {"../x": "0"}},
            {"files": {"paper": 1}},
            {"files": {"\ud800": "0"}},
            {"options": {"only": [["x"]]}},
            {"options": {"only": ["../x"]}},
            {"files": {"a\0b": "0"}},
        ):

            def changed(text, change=change):
                kept = json.loads(text)
                for key, value in change.items():
                    kept[key].update(value)
                return json.dumps(kept)

            with open(os.path.join(report, "files.json")) as file:
                before = file.read()
            self.changed(report, "files.json", changed)
            code, findings, _ = self.again(folder)
            self.assertEqual(code, 1, change)
            self.write(report, before)

    def test_a_report_of_an_earlier_state_is_stale(self):
        records = sound.sweep(RATES)
        folder, _ = self.report_of(records[:8])
        self.assertRegex(
            self.check(records)[1][0], "stale: made when the ledger held 8 of its 12 records"
        )
        changed = [dict(r, seed=0.0) for r in records[:8]]
        self.assertRegex(self.check(changed)[1][-1], "stale: made from another state of the ledger")

    def test_what_is_gone_strange_or_half_written(self):
        folder, report = self.report_of(sound.sweep(RATES))
        os.unlink(os.path.join(report, "table.md"))
        for name in ("stages.png", ".report-x1y2"):
            open(os.path.join(report, name), "w").close()
        code, findings, _ = self.again(folder)
        self.assertEqual(
            (code, [f.split(";")[0] for f in findings]),
            (
                1,
                [
                    "table.md: missing",
                    ".report-x1y2: a half-written file of a report that was cut off",
                    "stages.png: not of this report",
                ],
            ),
        )

    def test_without_its_list_of_files_nothing_is_known(self):
        folder, report = self.report_of(sound.sweep(RATES))
        for text in (
            None,
            "",
            "[]",
            "{}",
            json.dumps({"schema": made.SCHEMA, "files": [], "options": {}}),
        ):
            (
                os.unlink(os.path.join(report, "files.json"))
                if text is None
                else self.write(report, text)
            )
            code, findings, _ = self.again(folder)
            self.assertEqual((code, len(findings)), (1, 1), text)
            self.assertIn("files.json: missing, or none of feedrate.report/1", findings[0])

    def write(self, report, text):
        with open(os.path.join(report, "files.json"), "w") as file:
            file.write(text)

    @unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
    def test_an_empty_figure_and_another_gpus_name_in_one_are_found(self):
        folder = sound.folder(self.parent, "r1", sound.sweep(RATES))
        program = [sys.executable, os.path.join(ledgers.SCRIPTS, "report"), folder]
        subprocess.run(
            [*program, "--only", "stages", "--formats", "svg,png"], check=True, capture_output=True
        )
        code, findings, notes = self.again(folder)
        self.assertEqual((code, findings), (0, []))
        report = os.path.join(folder, "report")
        open(os.path.join(report, "stages.png"), "w").close()
        self.changed(report, "stages.svg", lambda text: text.replace("A100", "H100"))
        self.changed(
            report,
            os.path.join("paper", "methods.tex"),
            lambda text: text.replace("resnet50", "resnet18", 1),
        )
        for afresh in (False, True):
            if afresh:
                self.hashed_afresh(report)
            code, findings, _ = self.again(folder)
            self.assertEqual(
                (code, sorted(f.split(":")[0] for f in findings)),
                (1, ["paper/methods.tex", "stages.png", "stages.svg"]),
                findings,
            )

    @unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
    def test_figures_that_other_libraries_drew_are_compared_by_their_hashes(self):
        folder = sound.folder(self.parent, "r1", sound.sweep(RATES))
        subprocess.run(
            [
                sys.executable,
                os.path.join(ledgers.SCRIPTS, "report"),
                folder,
                "--only",
                "stages",
                "--formats",
                "svg",
            ],
            check=True,
            capture_output=True,
        )
        report = os.path.join(folder, "report")
        self.changed(report, "stages.svg", lambda text: text + "\n")
        self.hashed_afresh(report)
        self.changed(
            report, "files.json", lambda text: text.replace('"matplotlib": "', '"matplotlib": "0.')
        )
        code, findings, notes = self.again(folder)
        self.assertEqual((code, findings), (0, []))
        self.assertRegex(
            notes,
            r"1 drawn files were compared by their hashes alone: matplotlib 0\.\S+ there, \S+ here",
        )

    def test_a_page_that_another_library_made_is_compared_by_its_words(self):
        for before, after, found in (
            ('<section class="box"', '<section class="box other"', []),
            (">All cells<", ">Some cells<", ["index.html"]),
        ):
            folder, report = self.report_of(sound.sweep(RATES))
            self.changed(report, "index.html", lambda text: text.replace(before, after))
            self.hashed_afresh(report)
            self.changed(
                report, "files.json", lambda text: text.replace('"jinja2": "', '"jinja2": "0.')
            )
            _, findings, _ = self.again(folder)
            self.assertEqual([f.split(":")[0] for f in findings], found)

    def test_a_folder_that_was_renamed_has_no_finding(self):
        folder, _ = self.report_of(sound.sweep(RATES))
        os.rename(folder, os.path.join(self.parent, "r2"))
        self.assertEqual(self.again(os.path.join(self.parent, "r2"))[:2], (0, []))

    def test_a_report_of_a_damaged_ledger_is_not_judged(self):
        self.check(sound.sweep(RATES), report=True)
        code, findings, notes = self.check(sound.sweep(RATES), "{oops}\n")
        self.assertEqual((code, len(findings)), (1, 1))
        self.assertIn("not checked", notes)


if __name__ == "__main__":
    unittest.main()
