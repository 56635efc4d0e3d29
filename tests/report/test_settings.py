"""Reading and grouping: torn tails, failures, ceilings, drift, variants."""

import csv
import io
import os
import shutil
import tempfile
import unittest

import ledgers
from ledgers import axes, record, repetitions
from report import text
from report.answer import terminal
from report.claims import choice, epoch, tables
from report.errors import ReportError
from report.ledger import heading, ledger, settings, statistics


def one(records, note=lambda text: None):
    found = settings.group(records, note)
    assert len(found) == 1, found
    return found[0]


class Sittings(unittest.TestCase):
    """A cell that was added on another day, when the machine had four fifths of its speed."""

    def sitting(self, n, speed, data, rate):
        top = axes(device="cuda")
        return [
            dict(record(top, 1000.0 * speed, n, "ceiling"), place=0),
            record(axes(data, device="cuda"), rate * speed, n),
            dict(record(top, 1010.0 * speed, n, "ceiling"), place=1),
        ]

    def test_each_cell_pairs_with_the_ceilings_around_it(self):
        records = [r for n in range(3) for r in self.sitting(n, 1 + 0.1 * n, "tensor", 995.0)]
        records += [r for n in range(3) for r in self.sitting(n, 0.8 + 0.1 * n, "jpeg", 950.0)]
        found = {cell.data: cell for cell in one(records).cells}
        for data, rate in (("tensor", 995.0), ("jpeg", 950.0)):
            self.assertAlmostEqual(found[data].ratio.mean, rate / 1005)
            self.assertLess(found[data].ratio.half_width, 1e-6)
            self.assertEqual(dict(choice.shares(found[data])).keys(), {0, 1, 2})

    def test_a_ceiling_that_was_made_again_at_once_begins_no_other_sitting(self):
        records = self.sitting(0, 1.0, "jpeg", 950.0)
        records[0].update(valid=False)
        records.insert(1, dict(records[0], imgs_per_s=990.0, valid=True))
        (cell,) = one(records).cells
        self.assertAlmostEqual(cell.ratio.mean, 950 / 1000)


class Reading(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="feedrate-report-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.notes = []

    def read(self, records, tail=""):
        path = ledgers.write(self.folder, records, tail)
        return ledger.read(path, self.notes.append)

    def refuses(self, records, words, tail=""):
        with self.assertRaises(ReportError) as caught:
            self.read(records, tail)
        self.assertIn(words, str(caught.exception))
        self.assertIn("; ", str(caught.exception), "no remedy")

    def test_skips_a_torn_tail_with_a_note(self):
        self.assertEqual(len(self.read(repetitions(1), '{"schema": "feedra')), 3)
        self.assertIn("line 4 is torn", self.notes[0])

    def test_a_last_line_without_its_newline_counts(self):
        path = ledgers.write(self.folder, repetitions(1))
        with open(path, "r+b") as file:
            file.truncate(os.path.getsize(path) - 1)
        self.assertEqual(len(ledger.read(path, self.notes.append)), 3)
        self.assertFalse([n for n in self.notes if "torn" in n])

    def test_keeps_the_line_of_each_record(self):
        path = ledgers.write(self.folder, repetitions(1))
        with open(path) as file:
            lines = file.readlines()
        with open(path, "w") as file:
            # an empty line is no record, but a line
            file.writelines([lines[0], "\n", *lines[1:]])
        self.assertEqual([r[ledger.LINE] for r in ledger.read(path, self.notes.append)], [1, 3, 4])

    def test_both_schemas_are_read_and_valid_is_derived_where_it_lacks(self):
        old, new = record(axes("jpeg"), 9.0), ledgers.second([record(axes("png"), 9.0)])[0]
        self.assertEqual([ledger.valid(r) for r in self.read([old, new])], [True, True])
        flag = [{"name": "throttled", "severity": "serious"}]
        self.assertFalse(ledger.valid(dict(old, flags=flag)))
        # the flag counts, whatever is said
        self.assertFalse(ledger.valid(dict(new, flags=flag, valid=True)))
        self.assertFalse(ledger.valid(dict(new, valid=False)))
        self.assertFalse(ledger.valid(record(axes("jpeg"), None, status="failed")))
        self.assertTrue(one([dict(new, valid=False)]).cells[0].serious)

    def test_numbers_beyond_all_floats_are_none(self):
        self.assertIsNone(ledger.number(10**400))
        self.refuses([dict(repetitions(1)[0], imgs_per_s=10**400)], "imgs_per_s")

    def test_refuses_damage_before_the_tail(self):
        path = ledgers.write(self.folder, repetitions(1))
        with open(path) as file:
            lines = file.readlines()
        with open(path, "w") as file:
            file.writelines([lines[0][:40] + "\n"] + lines[1:])
        with self.assertRaisesRegex(ReportError, "line 1"):
            ledger.read(path, self.notes.append)

    def test_refuses_what_it_cannot_understand(self):
        good = repetitions(1)
        self.refuses([dict(good[0], schema="feedrate.result/9")], "feedrate.result/9")
        self.refuses([dict(good[0], status="fine")], "status 'fine'")
        self.refuses([dict(good[0], imgs_per_s=None)], "imgs_per_s")
        self.refuses([dict(good[0], imgs_per_s=0)], "imgs_per_s")
        self.refuses([dict(good[0], cell={"data": "jpeg"})], "device")
        self.refuses([dict(good[0], cell=axes(workers=-1))], "workers")
        self.refuses([dict(good[0], cell=axes(data=["jpeg"]))], "data")
        self.refuses([], "holds no result")
        self.refuses([], "holds no result", tail='{"torn')

    def test_refuses_nan(self):
        bad = dict(repetitions(1)[0], imgs_per_s=float("nan"))
        self.refuses([bad, bad], "not a JSON object")

    def test_names_the_remedy_where_there_is_no_ledger(self):
        with self.assertRaisesRegex(ReportError, "feedrate sweep"):
            ledger.find(os.path.join(self.folder, "nothing"))


class Grouping(unittest.TestCase):
    def test_mean_ratio_and_n(self):
        (cell,) = one(repetitions(3)).cells
        self.assertEqual(cell.rate.n, 3)
        self.assertAlmostEqual(cell.rate.mean, 400 * 1.002)
        self.assertAlmostEqual(cell.ratio.mean, 0.4)

    def test_the_share_is_of_the_repetitions_that_both_have(self):
        records = [record(axes(), 100.0 if n == 0 else 130.0, n, "ceiling") for n in range(6)]
        records += [
            record(axes("jpeg"), 95.0 if n == 0 else None, n, status="failed" if n else "ok")
            for n in range(6)
        ]
        found = one(records)
        (cell,) = found.cells
        self.assertAlmostEqual(cell.ratio.mean, 0.95)
        self.assertEqual((cell.ratio.n, cell.ratio.kind), (1, statistics.NO_INTERVAL))
        self.assertAlmostEqual(
            found.ceilings[0].rate.mean, 125.0, msg="a rate is of all its repetitions"
        )
        self.assertEqual(tables.short_row(cell)[6], "95.0 %")
        (row,) = [
            r for r in csv.DictReader(io.StringIO(tables.write_csv([found]))) if r["role"] == "cell"
        ]
        self.assertAlmostEqual(float(row["ceiling_fraction"]), 0.95)

    def test_its_interval_is_of_those_repetitions_too(self):
        rates = [(100.0, 95.0), (110.0, 100.0), (90.0, 85.0), (200.0, None)]
        records = [record(axes(), top, n, "ceiling") for n, (top, _) in enumerate(rates)]
        records += [record(axes("jpeg"), rate, n) for n, (_, rate) in enumerate(rates) if rate]
        self.assertEqual(
            one(records).cells[0].ratio,
            statistics.share([(95.0, 100.0), (100.0, 110.0), (85.0, 90.0)], most=1.0),
        )

    def test_without_a_common_repetition_there_is_no_share(self):
        records = [record(axes(), 100.0, n, "ceiling") for n in (0, 1)] + [
            record(axes("jpeg"), 50.0, n) for n in (2, 3)
        ]
        (cell,) = one(records).cells
        self.assertIsNone(cell.ratio)
        self.assertEqual(tables.short_row(cell)[6], "-")

    def test_a_repetition_without_its_closing_ceiling_has_no_share_and_is_said(self):
        records = repetitions(3, cells=(("jpeg", 400.0),))
        del records[5]
        setting = one(records)
        (cell,) = setting.cells
        self.assertEqual((cell.rate.n, cell.ratio.n), (3, 2))
        self.assertIn(
            "repetition 1 of the ceiling (1 GPU, input 224x224) lacks its first or last run",
            tables.incomplete_lines(setting)[0],
        )
        # the first repetition of a sweep is under way: its opening ceiling serves
        running = one(repetitions(1)[:2])
        self.assertAlmostEqual(running.cells[0].ratio.mean, 0.4)

    def test_failed_cells_are_missing_and_never_zero(self):
        records = repetitions(2) + [
            record(axes("png"), None, n, status="failed", error="disk full") for n in range(2)
        ]
        png = [c for c in one(records).cells if c.data == "png"][0]
        self.assertIsNone(png.rate)
        self.assertEqual(png.state, "failed")
        self.assertNotIn("0", tables.short_row(png)[5])

    def test_a_lost_repetition_shortens_n(self):
        records = repetitions(3)
        records[4].update(status="interrupted", imgs_per_s=None)
        (cell,) = one(records).cells
        self.assertEqual((cell.rate.n, len(cell.lost)), (2, 1))
        self.assertEqual(tables.short_row(cell)[4], "2/3")

    def test_a_repetition_run_again_counts_once(self):
        failed = record(axes("jpeg"), None, 0, status="failed")
        (cell,) = one([failed] + repetitions(2)).cells
        self.assertEqual((cell.rate.n, cell.lost), (2, []))
        notes = []
        (cell,) = one(repetitions(2) + [record(axes("jpeg"), 300.0, 1)], notes.append).cells
        self.assertAlmostEqual(cell.rate.mean, 350.0)
        self.assertIn("the last one counts", notes[0])

    def test_drift_beyond_three_per_cent_marks_every_ratio(self):
        for drift, marked in ((0.031, True), (-0.05, True), (0.029, False)):
            setting = one(repetitions(2, drift=drift))
            self.assertEqual(setting.ceilings[0].drifted, marked)
            self.assertEqual(tables.short_row(setting.cells[0])[6].endswith("*"), marked)
            for cell in (setting.cells[0], setting.ceilings[0]):
                self.assertEqual(tables.flag_names(cell).count("ceiling_drifted"), int(marked))
        self.assertIn(
            "moved by −5.0 % between the first and the last run of 1 of 1 repetition",
            one(repetitions(1, drift=-0.05)).ceilings[0].drift_words,
        )

    def test_a_drift_is_told_once_under_one_name(self):
        records = repetitions(4, drift=0.04)
        for r in records[2::3]:
            r["flags"] = [
                {
                    "name": "ceiling_drifted",
                    "severity": "warning",
                    "reason": "the ceiling moved by +4.0 %",
                    "remedy": "x",
                }
            ]
        setting = one(records)
        (flag,) = setting.ceilings[0].flags
        self.assertIn(
            "moved by +4.0 % between the first and the last run of 4 of 4 repetitions; on average"
            " by +4.0 %",
            flag["reason"],
        )
        words = terminal.table([setting], heading.heading)
        self.assertEqual((words.count("ceiling-drift"), words.count("moved by")), (0, 1))

    def test_an_emulated_ceiling_is_set_and_not_measured(self):
        def emulated(rate):
            records = repetitions(3, ceiling=rate, cells=(("jpeg", 400.0),))
            for r in records:
                r["device"].update(kind="emulated", step_ms=256.0)  # 1,000 images/s
                r["imgs_per_s"] = rate if r["role"] == "ceiling" else 400.0
            return one(records).ceilings[0]

        self.assertEqual(text.plus_minus(emulated(1000.3).rate), "1,000 (set)")
        self.assertEqual(
            emulated(950.0).rate.kind,
            statistics.T_INTERVAL,
            "it did not keep to it: that was measured",
        )

    def test_on_an_emulated_device_no_interval_reaches_beyond_what_was_set(self):
        rates = [990.0, 999.0, 700.0]
        records = [
            r for n, rate in enumerate(rates) for r in repetitions(1, cells=(("jpeg", rate),))
        ]
        for i, r in enumerate(records):
            r.update(repetition=i // 3)
            r["device"].update(step_ms=256.0)  # 1,000 images/s
        (cell,) = one(records).cells
        self.assertGreater(statistics.estimate(rates).high, 1000.0)
        self.assertTrue(0 < cell.rate.low < cell.rate.mean < cell.rate.high <= 1000.0)
        self.assertTrue(0 < cell.ratio.low < cell.ratio.mean < cell.ratio.high <= 1.0)
        self.assertGreaterEqual(epoch.hours_lost(cell).low, 0)
        for device, kind in (("emulated:trace=0123456789abcdef", "emulated"), ("cuda", "cuda")):
            for r in records:
                r["cell"] = {**r["cell"], "device": device}
                r["device"] = {**r["device"], "kind": kind}
            (cell,) = one(records).cells
            self.assertEqual(cell.rate, statistics.estimate(rates), "some steps are shorter")
            self.assertGreater(cell.ratio.high, 1.0)

    def test_above_the_ceiling_is_a_flag_where_the_interval_says_so(self):
        def flagged(*shares):
            records = [
                r
                for n, share in enumerate(shares)
                for r in repetitions(1, cells=(("jpeg", 1000.0 * share),))
            ]
            for i, r in enumerate(records):
                r["repetition"] = i // 3
            return "above_ceiling" in tables.flag_names(one(records).cells[0])

        self.assertTrue(flagged(1.04, 1.05, 1.06))
        self.assertFalse(flagged(0.9, 1.05, 1.3), "its interval reaches below 1")
        self.assertFalse(flagged(1.4, 1.5), "two repetitions have no interval")
        self.assertFalse(flagged(1.0004, 1.0005, 1.0006), "less than what is shown")

    def test_every_gpu_count_and_input_size_has_its_own_ceiling(self):
        records = repetitions(2) + repetitions(2, 1900.0, cells=(("jpeg", 760.0),), gpus=2)
        self.assertEqual([round(c.ratio.mean, 6) for c in one(records).cells], [0.4, 0.4])
        native = []
        for size, ceiling in (("224x224", 1000.0), ("500x375", 300.0)):
            native += repetitions(
                2,
                ceiling,
                cells=(("tensor", 0.5 * ceiling),),
                **{"input-size": "native", "image-size": size},
            )
        self.assertEqual([round(c.ratio.mean, 6) for c in one(native).cells], [0.5, 0.5])

    def test_settings_are_kept_apart(self):
        records = repetitions(1) + repetitions(1, 80.0, device="cpu", precision="fp32")
        self.assertEqual([s.kind for s in settings.group(records)], ["emulated", "cpu"])

    def test_ways_of_running_the_step_are_settings_of_their_own(self):
        plain = {
            "device": "cuda",
            "memory-format": "channels_last",
            "batch-norm": "library",
            "optimizer": "fused",
            "master-weights": "on",
            "cudnn-benchmark": "on",
            "cuda-graph": "off",
        }
        both = settings.group(
            repetitions(1, **plain)
            + repetitions(1, 80.0, **{**plain, "batch-norm": "fused", "cuda-graph": "on"})
        )
        self.assertEqual(len(both), 2)
        self.assertIn("fp16 · input", heading.heading(both[0]))
        self.assertIn("fp16 · batch-norm fused · cuda-graph on · input", heading.heading(both[1]))

    def test_what_auto_stood_for_is_said(self):
        cells = repetitions(1, **{"device": "cuda", "precision": "auto", "cuda-graph": "auto"})
        for one_record in cells:
            one_record["stands_for"] = {"precision": "bf16", "cuda-graph": "on"}
        said = heading.heading(one(cells))
        self.assertIn("bf16", said)
        self.assertIn("cuda-graph on", said)
        self.assertNotIn("auto", said)

    def test_synthetic_cells_serve_where_no_ceiling_was_run(self):
        setting = one([record(axes(), 1000.0), record(axes("jpeg"), 250.0)])
        self.assertAlmostEqual(setting.cells[0].ratio.mean, 0.25)
        setting = one([record(axes("jpeg"), 250.0, ceiling_imgs_per_s=500.0)])
        self.assertAlmostEqual(setting.cells[0].ratio.mean, 0.5)
        self.assertTrue(setting.cells[0].ceiling.recorded)
        self.assertIsNone(one([record(axes("jpeg"), 250.0)]).cells[0].ratio)

    def test_cold_files_of_a_server_are_called_client_cold(self):
        def variants(scope):
            cold = [
                dict(r, dataset={"page_cache": r["cell"]["page-cache"], "page_cache_scope": scope})
                for state in ("cold", "warm")
                for r in repetitions(1, **{"page-cache": state})
            ]
            return sorted(c.variant for c in one(cold).cells)

        self.assertEqual(variants("host"), ["page-cache cold", "page-cache warm"])
        self.assertEqual(variants("client"), ["page-cache client-cold", "page-cache warm"])
        self.assertEqual(variants(None), ["page-cache cold", "page-cache warm"])

    def test_an_axis_that_varies_names_the_variant_but_prefetch_follows_the_workers(self):
        records = [record(axes("jpeg", cache=c), 9.0) for c in ("none", "encoded")]
        self.assertEqual(
            sorted(c.variant for c in one(records).cells), ["cache encoded", "cache none"]
        )
        records = [record(axes("jpeg", workers=w, prefetch=2 * w), 9.0) for w in (1, 2)]
        self.assertEqual({c.variant for c in one(records).cells}, {""})
        records = [record(axes("jpeg", prefetch=p), 9.0) for p in (1, 2)]
        self.assertEqual(len({c.variant for c in one(records).cells}), 2)

    def test_an_axis_that_concerns_some_cells_alone_is_named_where_nothing_else_tells(self):
        def variants(*ways):
            records = [record(axes("jpeg", **way), 9.0) for way in ways]
            return sorted(c.variant for c in one(records).cells)

        whole = {"decoder": "auto", "augment": "train"}
        self.assertEqual(
            variants(whole, {"decoder": "raw-read", "augment": None}),
            ["decoder auto", "decoder raw-read"],
        )
        self.assertEqual(variants(whole, {**whole, "augment": None})[1], "augment train")


class Scaling(unittest.TestCase):
    def test_is_beside_the_same_cell_with_the_fewest_gpus(self):
        records = []
        for gpus, rate in ((2, 400.0), (4, 600.0), (8, 600.0)):
            records += repetitions(2, 500.0 * gpus, cells=(("jpeg", rate),), gpus=gpus)
        found = one(records)
        self.assertEqual(
            [(c.gpus, round(c.scaling.mean, 3)) for c in found.cells],
            [(2, 1.0), (4, 0.75), (8, 0.375)],
        )
        self.assertEqual([round(c.scaling.mean, 3) for c in found.ceilings], [1.0, 1.0, 1.0])
        self.assertIn("scaling_efficiency", tables.write_csv([found]).splitlines()[0])

    def test_needs_two_counts(self):
        self.assertIsNone(one(repetitions(2)).cells[0].scaling)


if __name__ == "__main__":
    unittest.main()
