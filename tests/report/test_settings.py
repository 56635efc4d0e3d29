"""Reading and grouping: torn tails, failures, ceilings, drift, variants."""
import os
import tempfile
import unittest

import ledgers
from ledgers import axes, record, repetitions
from report import heading, ledger, settings, tables


def one(records, note=lambda text: None):
    found = settings.group(records, note)
    assert len(found) == 1, found
    return found[0]


class Reading(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="feedrate-report-")
        self.notes = []

    def read(self, records, tail=""):
        path = ledgers.write(self.folder, records, tail)
        return ledger.read(path, self.notes.append)

    def refuses(self, records, words, tail=""):
        with self.assertRaises(ledger.ReportError) as caught:
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
        self.assertEqual(self.notes, [])

    def test_refuses_damage_before_the_tail(self):
        path = ledgers.write(self.folder, repetitions(1))
        with open(path) as file:
            lines = file.readlines()
        with open(path, "w") as file:
            file.writelines([lines[0][:40] + "\n"] + lines[1:])
        with self.assertRaisesRegex(ledger.ReportError, "line 1"):
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
        with self.assertRaisesRegex(ledger.ReportError, "feedrate sweep"):
            ledger.find(os.path.join(self.folder, "nothing"))


class Grouping(unittest.TestCase):
    def test_mean_ratio_and_n(self):
        cell, = one(repetitions(3)).cells
        self.assertEqual(cell.rate.n, 3)
        self.assertAlmostEqual(cell.rate.mean, 400 * 1.002)
        self.assertAlmostEqual(cell.ratio.mean, 0.4)

    def test_failed_cells_are_missing_and_never_zero(self):
        records = repetitions(2) + [record(axes("png"), None, n, status="failed", error="disk full")
                                    for n in range(2)]
        png = [c for c in one(records).cells if c.data == "png"][0]
        self.assertIsNone(png.rate)
        self.assertEqual(png.state, "failed")
        self.assertNotIn("0", tables.short_row(png)[5])

    def test_a_lost_repetition_shortens_n(self):
        records = repetitions(3)
        records[4].update(status="interrupted", imgs_per_s=None)
        cell, = one(records).cells
        self.assertEqual((cell.rate.n, len(cell.lost)), (2, 1))
        self.assertEqual(tables.short_row(cell)[4], "2/3")

    def test_a_repetition_run_again_counts_once(self):
        failed = record(axes("jpeg"), None, 0, status="failed")
        cell, = one([failed] + repetitions(2)).cells
        self.assertEqual((cell.rate.n, cell.lost), (2, []))
        notes = []
        cell, = one(repetitions(2) + [record(axes("jpeg"), 300.0, 1)], notes.append).cells
        self.assertAlmostEqual(cell.rate.mean, 350.0)
        self.assertIn("the last one counts", notes[0])

    def test_drift_beyond_three_per_cent_marks_every_ratio(self):
        for drift, marked in ((0.031, True), (-0.05, True), (0.029, False)):
            setting = one(repetitions(2, drift=drift))
            self.assertEqual(setting.ceilings[0].drifted, marked)
            self.assertEqual(tables.short_row(setting.cells[0])[6].endswith("*"), marked)
            self.assertEqual("ceiling-drift" in tables.flag_names(setting.cells[0]), marked)
        self.assertIn("drifted by -5.0 %", tables.drift_lines(one(repetitions(1, drift=-0.05)))[0])

    def test_every_gpu_count_and_input_size_has_its_own_ceiling(self):
        records = repetitions(2) + repetitions(2, 1900.0, cells=(("jpeg", 760.0),), gpus=2)
        self.assertEqual([round(c.ratio.mean, 6) for c in one(records).cells], [0.4, 0.4])
        native = []
        for size, ceiling in (("224x224", 1000.0), ("500x375", 300.0)):
            native += repetitions(2, ceiling, cells=(("tensor", 0.5 * ceiling),),
                                  **{"input-size": "native", "image-size": size})
        self.assertEqual([round(c.ratio.mean, 6) for c in one(native).cells], [0.5, 0.5])

    def test_settings_are_kept_apart(self):
        records = repetitions(1) + repetitions(1, 80.0, device="cpu", precision="fp32")
        self.assertEqual([s.kind for s in settings.group(records)], ["emulated", "cpu"])

    def test_ways_of_running_the_step_are_settings_of_their_own(self):
        plain = {"device": "cuda", "memory-format": "channels_last", "batch-norm": "library", "optimizer": "fused",
                 "master-weights": "on", "cudnn-benchmark": "on", "cuda-graph": "off"}
        both = settings.group(repetitions(1, **plain) + repetitions(1, 80.0, **{**plain, "batch-norm": "fused", "cuda-graph": "on"}))
        self.assertEqual(len(both), 2)
        self.assertIn("fp16 · input", heading.heading(both[0]))
        self.assertIn("fp16 · batch-norm fused · cuda-graph on · input", heading.heading(both[1]))

    def test_synthetic_cells_serve_where_no_ceiling_was_run(self):
        setting = one([record(axes(), 1000.0), record(axes("jpeg"), 250.0)])
        self.assertAlmostEqual(setting.cells[0].ratio.mean, 0.25)
        setting = one([record(axes("jpeg"), 250.0, ceiling_imgs_per_s=500.0)])
        self.assertAlmostEqual(setting.cells[0].ratio.mean, 0.5)
        self.assertTrue(setting.cells[0].ceiling.recorded)
        self.assertIsNone(one([record(axes("jpeg"), 250.0)]).cells[0].ratio)

    def test_an_axis_that_varies_names_the_variant_but_prefetch_follows_the_workers(self):
        records = [record(axes("jpeg", cache=c), 9.0) for c in ("none", "encoded")]
        self.assertEqual(sorted(c.variant for c in one(records).cells),
                         ["cache encoded", "cache none"])
        records = [record(axes("jpeg", workers=w, prefetch=2 * w), 9.0) for w in (1, 2)]
        self.assertEqual({c.variant for c in one(records).cells}, {""})
        records = [record(axes("jpeg", prefetch=p), 9.0) for p in (1, 2)]
        self.assertEqual(len({c.variant for c in one(records).cells}), 2)


if __name__ == "__main__":
    unittest.main()
