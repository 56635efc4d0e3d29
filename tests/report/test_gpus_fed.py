"""How many GPUs a storage feeds: the answer with its interval, what limits, the figure."""

import os
import shutil
import tempfile
import unittest

import ledgers
from report.claims import memory_limit, utilisation
from report.ledger import settings
from test_figures import HAVE_MATPLOTLIB
from test_marks import SERIOUS
from test_utilisation import BATCH, FOUND, RATE, lines_of, run, search

if HAVE_MATPLOTLIB:
    import drawn
    from report.figures import gpus_fed

WIDE = {4: (0.99, 0.98, 0.985), 5: (0.90, 0.95, 0.93), 6: (0.75, 0.75, 0.75)}


def past_the_cache(records, how="bypassed"):
    for record in records:
        record["dataset"]["page_cache"] = how
    return records


def from_memory(rates, gpus=8, **changes):
    """The runs of `DIR/client`: a device that takes any rate."""
    records = []
    for n, rate in enumerate(rates):
        one = run(gpus, 1.0, n, **{"device": "emulated:inf", **changes})
        one["imgs_per_s"] = rate
        one["device"].update(step_ms=0.0, all_reduce_ms=0.0)
        records.append(one)
    return records


def with_memory(rates):
    def attach(setting):
        setting.memory = memory_limit.limit_of(from_memory(rates))

    return attach


class Interval(unittest.TestCase):
    def fed(self, found):
        (line,) = lines_of(search(found))
        return utilisation.fed(line.unbroken)

    def test_it_is_what_the_program_computes(self):
        """By hand, as GpuSearch has it."""
        self.assertEqual(self.fed(FOUND), utilisation.Fed(5, 5, 5, 6))
        # 5 GPUs: 0.92667 ± 4.3027 * 0.025166 / √3 = 0.86415 to 0.98918; 0.86415 * 5 / 0.9 = 4.8
        self.assertEqual(self.fed(WIDE), utilisation.Fed(5, 4, 5, 6))
        # 6 GPUs: 0.88 ± 4.3027 * 0.02 / √3 = 0.83 to 0.93: they may be fed; 8 surely starve, and
        # 0.65 * 8 / 0.9 is 5.8, but 6 stand below them
        doubtful = {5: (0.95, 0.95, 0.95), 6: (0.86, 0.88, 0.90), 8: (0.65, 0.65, 0.65)}
        self.assertEqual(self.fed(doubtful), utilisation.Fed(5, 5, 6, 6))

    def test_what_was_not_tried_is_at_least(self):
        found = self.fed({1: (1.0,), 2: (0.99,)})
        self.assertEqual((found.gpus, found.starved), (2, None))
        self.assertEqual(found.words, "at least 2 GPUs")

    def test_a_single_run_has_the_interval_of_its_steps(self):
        (line,) = lines_of(search({1: (1.0,), 4: (0.8,)}))
        count = line.counts[-1]
        low, high = count.interval
        self.assertLess(low, count.median)
        self.assertGreater(high, count.median)
        self.assertAlmostEqual(count.median, 0.8)
        self.assertLess(high - low, 0.1)
        del count.cell.runs[0]["step_ms"]
        self.assertEqual(count.interval, (count.median, count.median))

    def test_words(self):
        self.assertEqual(utilisation.Fed(4, 4, 5, 6).words, "4 GPUs (95 %: 4 to 5)")
        self.assertEqual(utilisation.Fed(1, 1, 1, 2).words, "1 GPU")
        self.assertEqual(utilisation.Fed(0, 0, 0, 1).words, "not one GPU")
        self.assertEqual(utilisation.Fed(0, 1, 2, 4).words, "fewer than 4 GPUs (95 %: 1 to 2)")


class Memory(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="feedrate-capacity-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.notes = []

    def attached(self, records, searched=None):
        """The setting of a search, beside whose ledger lie these records."""
        if records is not None:
            ledgers.write(os.path.join(self.folder, memory_limit.FOLDER), records)
        path = ledgers.write(self.folder, searched or search())
        (setting,) = settings.group(searched or search())
        memory_limit.attach([setting], path, self.notes.append)
        return setting.memory

    def test_the_runs_below_the_ledger_are_found(self):
        found = self.attached(from_memory((900.0, 1000.0, 1100.0)))
        self.assertAlmostEqual(found.rate.mean, 1000.0)
        self.assertTrue(found.rate.low < 1000 < found.rate.high)
        self.assertEqual((found.gpus, found.is_serious, self.notes), (8, False, []))

    def test_without_them_nothing_is_known(self):
        self.assertIsNone(self.attached(None))
        self.assertEqual(self.notes, [])

    def test_an_empty_ledger_is_a_note_and_no_failure(self):
        self.assertIsNone(self.attached([]))
        self.assertEqual(len(self.notes), 1)
        self.assertIn("from memory is not shown", self.notes[0])

    def test_steps_that_cost_the_host_less_are_not_compared(self):
        self.assertIsNone(self.attached(from_memory((900.0,), **{"batch-size": 2 * BATCH})))
        cheap = from_memory((900.0,))
        cheap[0]["device"]["host_cpu_ms"] = 0.0
        self.assertIsNone(self.attached(cheap))

    def test_what_came_out_of_the_stock_is_taken_off(self):
        records = from_memory((1000.0,))
        records[0]["queue"]["drawn_mean"] = 0.25
        self.assertAlmostEqual(self.attached(records).rate.mean, 750.0)

    def test_a_serious_flag_is_kept(self):
        records = from_memory((1000.0,))
        records[0].update(flags=[SERIOUS], valid=False)
        self.assertTrue(self.attached(records).is_serious)

    def test_what_limits(self):
        def limit(stored, memory):
            return memory_limit.limit_of(from_memory(memory)).beside(from_memory(stored))

        close = (99.0, 100.0, 101.0)
        self.assertEqual(limit(close, (990.0, 1000.0, 1010.0)), memory_limit.STORAGE)
        self.assertEqual(limit(close, close), memory_limit.MACHINE)
        self.assertEqual(limit(close, (90.0, 115.0, 140.0)), memory_limit.NOT_CLEAR)
        self.assertEqual(limit(close, (64.0, 65.0, 66.0)), memory_limit.NOT_CLEAR)

    def test_of_one_run_the_interval_is_that_of_its_steps(self):
        records = from_memory((1000.0,))
        records[0]["ci95"] = [900.0, 1100.0]
        records[0]["queue"]["drawn_mean"] = 0.5
        low, high = memory_limit.interval_of(records)
        self.assertAlmostEqual(low, 450.0)
        self.assertAlmostEqual(high, 550.0)
        records[0]["ci95"] = None
        self.assertEqual(memory_limit.interval_of(records), (500.0, 500.0))


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Claim(unittest.TestCase):
    def claim(self, records, memory=None):
        return drawn.claim(gpus_fed, records, attach=with_memory(memory) if memory else None)

    def test_it_names_the_storage_where_memory_gives_more(self):
        self.assertEqual(
            self.claim(past_the_cache(search(WIDE)), (5000.0, 5001.0, 5002.0)),
            "This storage feeds 5 GPUs (95 %: 4 to 5) at an AU of 90 % or more (emulated)",
        )

    def test_it_names_the_machine_where_memory_gives_no_more(self):
        words = self.claim(past_the_cache(search(WIDE)), (460.0, 461.0, 462.0))
        self.assertTrue(words.endswith("this machine is the limit, the storage may feed more"))

    def test_an_unknown_limit_is_not_put_on_the_storage(self):
        words = self.claim(past_the_cache(search(WIDE)))
        self.assertTrue(words.endswith("(emulated), read by this machine"), words)

    def test_memory_is_not_called_a_storage(self):
        self.assertTrue(self.claim(search(WIDE)).startswith("The page cache feeds 5 GPUs"))
        mixed = past_the_cache(search(WIDE), "as-is")
        self.assertTrue(self.claim(mixed).startswith("This storage with its caches feeds"))

    def test_the_most_that_were_tried_are_no_limit(self):
        fine = {1: (1.0, 1.0, 1.0), 2: (0.99, 0.98, 0.99)}
        self.assertEqual(
            self.claim(past_the_cache(search(fine))),
            "This storage feeds at least 2 GPUs at an AU of 90 % or more (emulated)",
        )

    def test_a_few_runs_are_a_look(self):
        self.assertIn("a look", self.claim(search({**WIDE, 5: (0.92, 0.93)})))

    def test_an_invalid_run_forbids_it(self):
        records = search(WIDE)
        records[0].update(flags=[SERIOUS], valid=False)
        self.assertNotIn("5 GPUs", self.claim(records))

    def test_several_kinds_are_told_apart(self):
        records = search(WIDE) + search({4: (0.9,) * 3, 5: (0.5,) * 3}, data="png")
        words = self.claim(records)
        self.assertIn("jpeg mixed: 5 GPUs (95 %: 4 to 5)", words)
        self.assertIn("png mixed: 4 GPUs", words)


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Figure(unittest.TestCase):
    def axes(self, records=None, **more):
        return drawn.page(gpus_fed, records or search(), **more).figure.axes

    def test_what_was_delivered_stands_beside_what_is_needed(self):
        delivered, _ = self.axes()
        points = {x: y for x, y, *_ in drawn.points(delivered)}
        for gpus, runs in FOUND.items():
            share = sorted(runs)[len(runs) // 2]
            kept = 1e3 * BATCH * gpus / (1e3 * BATCH / RATE / share + (0.5 if gpus > 1 else 0))
            self.assertAlmostEqual(points[gpus], kept, delta=1e-6 * kept)
        needed = next(
            line
            for line in delivered.lines
            if list(line.get_xdata()) == list(FOUND)
            and all(abs(y - RATE * x) < 1e-6 for x, y in zip(line.get_xdata(), line.get_ydata()))
        )
        self.assertTrue(needed.is_dashed())

    def test_the_utilisation_of_each_number_and_the_line_of_90_percent(self):
        _, ax = self.axes()
        points = {x: y for x, y, *_ in drawn.points(ax)}
        self.assertAlmostEqual(points[6], 85.8)
        self.assertAlmostEqual(points[8], 65.9)
        levels = [list(line.get_ydata()) for line in ax.lines]
        self.assertIn([90.0, 90.0], levels)
        self.assertIn("90 %", drawn.texts(ax))

    def test_the_strip_is_the_answers_interval(self):
        for ax in self.axes(search(WIDE)):
            low, high = (
                min(p.get_x() for p in ax.patches),
                max(p.get_x() + p.get_width() for p in ax.patches),
            )
            self.assertAlmostEqual(low, 4, delta=0.2)
            self.assertAlmostEqual(high, 5, delta=0.2)

    def test_the_legend_says_what_the_strip_is_where_there_is_one(self):
        tried = {1: (1.0,) * 3, 2: (0.99,) * 3}  # nobody starves: the answer has no interval
        for found, is_drawn in ((WIDE, True), (tried, False)):
            figure = drawn.page(gpus_fed, search(found)).figure
            entries = [text.get_text() for text in figure.legends[0].get_texts()]
            self.assertEqual(gpus_fed.STRIP in entries, is_drawn)
            self.assertEqual(bool(figure.axes[0].patches), is_drawn)
        self.assertEqual(gpus_fed.STRIP, "95 % interval of the most GPUs that keep 90 %")

    def test_the_axis_of_the_utilisation_holds_every_run(self):
        for least in (0.97, 0.83, 0.4, 0.02):
            _, ax = self.axes(search({4: (0.99,) * 3, 5: (least, 0.99, 0.99)}))
            low, high = ax.get_ylim()
            drawn_at = [float(y) for line in ax.lines for y in line.get_ydata()]
            self.assertTrue(low <= min(drawn_at) and max(drawn_at) <= high, least)

    def test_what_memory_gives_is_a_line(self):
        delivered, _ = self.axes(attach=with_memory((700.0, 701.0, 702.0)))
        self.assertIn([701.0, 701.0], [list(line.get_ydata()) for line in delivered.lines])
        self.assertGreater(delivered.get_ylim()[1], 701)

    def test_memory_far_above_all_else_is_said_at_the_edge(self):
        delivered, _ = self.axes(attach=with_memory((29000.0, 29100.0, 29200.0)))
        self.assertLess(delivered.get_ylim()[1], 2000)
        (words,) = [t for t in drawn.texts(delivered) if "from memory" in t]
        self.assertIn("29,100", words)

    def test_a_number_that_failed_is_missing_and_not_zero(self):
        failed = run(16, 0.5)
        gone = ledgers.record(failed["cell"], None, 0, status="failed", error="gone")
        records = [*search(), {**gone, "schema": "feedrate.result/3", "valid": False}]
        _, ax = self.axes(records)
        self.assertIn("×", drawn.texts(ax))
        self.assertNotIn(16, [x for x, *_ in drawn.points(ax)])

    def test_it_says_that_this_is_no_consortiums_result(self):
        page = drawn.page(gpus_fed, search())
        self.assertIn("no result of MLPerf Storage or any consortium", " ".join(page.notes))
        self.assertIn("EMULATED DEVICE", drawn.texts(page))

    def test_numbers_on_the_way_are_no_look(self):
        said = " ".join(drawn.page(gpus_fed, search({1: (1.0,), **WIDE})).notes)
        self.assertIn("on the way to the answer were run once", said)
        self.assertNotIn("nothing is claimed", said)
        said = " ".join(drawn.page(gpus_fed, search({1: (1.0,), 2: (0.8,)})).notes)
        self.assertIn("nothing is claimed", said)

    def test_a_column_has_both_panels_below_each_other(self):
        first, second = self.axes(medium="COLUMN")
        self.assertGreater(first.get_position().y0, second.get_position().y1)

    def test_real_devices_and_a_single_number_of_gpus_have_none(self):
        self.assertIsNone(drawn.page(gpus_fed, search({4: (0.9, 0.9)})))
        self.assertIsNone(drawn.page(gpus_fed, ledgers.repetitions(3)))


if __name__ == "__main__":
    unittest.main()
