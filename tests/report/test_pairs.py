"""Runs in pairs: a cell's steps and synthetic ones took turns in one run, which holds its own
ceiling. Reading, validating, grouping, drawing and comparing ledgers of them."""

import copy
import math
import os
import subprocess
import sys
import unittest

import ledgers
import sound
from ledgers import axes
from report import text
from report.answer import methods
from report.claims import tables
from report.figures.context import Context
from report.ledger import intervals, ledger, settings, statistics
from report.ledger import pairs as pair_blocks
from test_check import Checked
from test_compare import LATER, Compared, around
from test_figures import HAVE_MATPLOTLIB

RATES = {"ceiling": [1000.0, 1004.0, 998.0], "jpeg": [400.0, 404.0, 402.0]}
MIXED = {**RATES, "png": [200.0, 202.0, 201.0]}
NOTE = {"severity": "warning", "reason": "x", "remedy": "y"}


def paired(**changes):
    return sound.sweep(RATES, in_pairs=("jpeg",), **changes)


def mixed(**changes):
    """JPEG in pairs, PNG between two runs of the ceiling."""
    return sound.sweep({**MIXED, **changes}, in_pairs=("jpeg",))


def one(records):
    (found,) = settings.group(records)
    return found


class Interval(unittest.TestCase):
    """Of the share that one run came to."""

    def test_three_pairs_by_hand(self):
        # Blocks of 10 steps: the cell's take 2.0, 2.2 and 1.8 s, the ceiling's 1 s each.
        pairs = [(10, seconds, 10, 1.0) for seconds in (2.0, 2.2, 1.8)]
        found, _ = intervals.of_pairs(pairs, 0.5)
        squares = 2 * (0.2 / 6) ** 2
        half = 4.302653 * math.sqrt(3 / 2 * squares)
        self.assertAlmostEqual(math.log(found[1] / 0.5), half, places=6)
        self.assertAlmostEqual(math.log(0.5 / found[0]), half, places=6)

    def test_neighbours_that_are_alike_widen_it_from_eight_pairs_on(self):
        def half(seconds):
            pairs = [(10, s, 10, 1.0) for s in seconds]
            (low, high), _ = intervals.of_pairs(pairs, 0.5)
            return math.log(high / low) / 2

        together, apart = [2.1] * 4 + [1.9] * 4, [2.1, 1.9] * 4
        # Each pair lies off by 0.00625. r = (6 − 1) / 8 + 1 / 8 = 0.75, inflation 7, degrees 2.
        by_hand = math.sqrt(8 / 7 * 8 * 0.00625**2)
        self.assertAlmostEqual(half(apart), 2.364624 * by_hand, places=6)
        self.assertAlmostEqual(half(together), 4.302653 * by_hand * math.sqrt(7), places=6)
        self.assertAlmostEqual(half(together[1:]) / half(apart[1:]), 1.0, delta=0.15)

    def test_what_was_drawn_from_the_queue_widens_it(self):
        record = paired(axes={"device": "cuda"})[1]
        (low, high), _ = pair_blocks.interval(record)
        for drawn in (0.02, -0.02):
            record["queue"]["drawn_fraction"] = drawn
            wide, _ = pair_blocks.interval(record)
            self.assertAlmostEqual(wide[0], 0.98 * low)
            self.assertAlmostEqual(wide[1], 1.02 * high)
        record["queue"]["drawn_fraction"] = 1.0
        self.assertIsNone(pair_blocks.interval(record))

    def test_on_an_emulated_device_it_ends_at_1(self):
        record = paired()[1]
        record["queue"]["drawn_fraction"] = 0.3
        record["ceiling_fraction"] = 0.9
        self.assertEqual(pair_blocks.interval(record)[0][1], 1.0)
        record["ceiling_fraction"] = 1.01
        self.assertEqual(pair_blocks.interval(record)[0][1], 1.01)


class Validated(Checked):
    def test_sound_ledgers_have_no_finding(self):
        cuda = {"device": "cuda"}
        for records in (paired(), mixed(), paired(axes=cuda), paired(axes={"gpus": 2})):
            self.assertEqual(self.check(records)[:2], (0, []))

    def test_each_number_changed_by_a_tenth_is_found(self):
        leaves = [
            ("pairs", name, place)
            for name in (*pair_blocks.LISTS, *pair_blocks.BUSY)
            for place in (0, 5, -1)
        ]
        leaves += [(key,) for key in ("steps", "images", "window_s", "imgs_per_s")]
        leaves += [("ceiling_imgs_per_s",), ("ceiling_fraction",)]
        leaves += [("ceiling_device_rate", "imgs_per_s")]
        leaves += [("ceiling_fraction_ci95", place) for place in (0, 1)]
        for device in ("emulated:a100", "cuda"):
            for path in leaves:
                for factor in (0.9, 1.1):
                    with self.subTest(path, device=device, factor=factor):
                        self.assertEqual(self.found(self.changed(path, factor, device)), 1)

    def changed(self, path, factor, device):
        records = paired(axes={"device": device})
        at = records[1]
        for key in path[:-1]:
            at = at[key]
        value = at[path[-1]] * factor
        is_count = type(at[path[-1]]) is int
        at[path[-1]] = (math.floor if factor < 1 else math.ceil)(value) if is_count else value
        return records

    def found(self, records):
        """The exit code, 1 where a line is named."""
        code, findings, _ = self.check(records)
        self.assertEqual(code, int(any(f.startswith("line 2: ") for f in findings)), findings)
        return code

    def test_what_is_no_run_in_pairs_is_found(self):
        def in_pairs(name, value):
            return lambda r: r["pairs"].update({name: value})

        for words, change in (
            ("not equally long", lambda r: r["pairs"]["ceiling_s"].pop()),
            ("missing or empty", lambda r: r["pairs"].pop("cell_s")),
            ("no number of steps", in_pairs("cell_steps", [5.0] * 8)),
            ("took no time", in_pairs("ceiling_s", [0.0] + [1.0] * 7)),
            ("neither true nor false", in_pairs("ceiling_first", [1] * 8)),
            ("its blocks alone took", lambda r: in_pairs("took_s", 0.9 * r["pairs"]["took_s"])(r)),
            ("took_s is not above zero", in_pairs("took_s", None)),
            ("there is a ceiling_fraction", lambda r: r.pop("pairs")),
            ("ceiling_fraction is None", lambda r: r.pop("ceiling_fraction")),
            ("without the other", lambda r: r.pop("ceiling_device_rate")),
            ("ceiling_device_rate is missing", lambda r: r.update(ceiling_device_rate=None)),
            ("is no interval", lambda r: r.update(ceiling_fraction_ci95=None)),
            ("ceiling_imgs_per_s is no rate", lambda r: r.pop("ceiling_imgs_per_s")),
        ):
            with self.subTest(words):
                self.finds(words, 2, change, paired())

    def test_fewer_than_three_pairs_have_no_interval(self):
        records = paired()
        records[1] = sound.paired(axes("jpeg"), 404.0, 1004.0, 1, 2)
        records[1].update({key: paired()[1][key] for key in ("order", "started_at")})
        self.assertEqual(self.check(records)[:2], (0, []))
        self.finds(
            "2 pairs give no interval",
            2,
            lambda r: r.update(ceiling_fraction_ci95=[0.3, 0.5]),
            records,
        )

    def test_a_cell_between_ceilings_has_no_fraction_of_its_own(self):
        for words, key, value in (
            ("there is a ceiling_fraction", "ceiling_fraction", 0.2),
            ("there is a ceiling_fraction", "ceiling_fraction_ci95", [0.1, 0.3]),
            ("the ceiling that opened", "ceiling_imgs_per_s", 9.0),
        ):
            self.finds(words, 2, lambda r, key=key, value=value: r.update({key: value}), mixed())

    def test_no_value_of_a_wrong_kind_stops_the_check(self):
        for key in ("pairs", *paired()[1]["pairs"], "ceiling_fraction", "ceiling_fraction_ci95"):
            for odd in (None, -1, 10**400, "x", [], {}, [{}], [None] * 8):
                records = paired()
                at = records[1] if key in records[1] else records[1]["pairs"]
                at[key] = odd
                with self.subTest(key, odd=str(odd)[:9]):
                    self.assertEqual(self.check(records)[0], 1)

    def test_a_moments_loss_of_the_cpu_is_no_bound(self):
        records = paired(axes={"device": "emulated:a100"})
        for r in records:
            r["device"] = {**r["device"], "step_ms": 1e3 * 256 / r["ceiling_imgs_per_s"]}
            r["pairs"]["ceiling_s"][3] *= 1.5
            r["ceiling_imgs_per_s"] *= 8 / 8.5
        self.assertEqual([f for f in self.check(records)[1] if "harness_bound" in f], [])


class Grouping(unittest.TestCase):
    def test_a_share_is_that_of_its_record(self):
        records = ledgers.paired(3)
        (cell,) = one(records).cells
        self.assertTrue(cell.in_pairs)
        for mine, record in zip(cell.ratio.points, records):
            self.assertAlmostEqual(mine, record["ceiling_fraction"])
        self.assertEqual(
            cell.ratio,
            statistics.share(
                [(r["imgs_per_s"], r["ceiling_imgs_per_s"]) for r in records], most=1.0
            ),
        )

    def test_the_ceiling_is_the_mean_of_what_its_cells_name(self):
        records = ledgers.paired(3, cells=(("jpeg", 400.0), ("png", 200.0)), device="cuda")
        records[0]["ceiling_imgs_per_s"] *= 1.1
        found = one(records)
        (ceiling,) = found.ceilings
        named = [
            sum(r["ceiling_imgs_per_s"] for r in records if r["repetition"] == n) / 2
            for n in range(3)
        ]
        self.assertEqual(list(ceiling.by_repetition.values()), named)
        self.assertEqual(ceiling.rate, statistics.estimate(named))
        self.assertEqual((ceiling.runs, ceiling.recorded), ([], False))
        self.assertTrue(all(cell.ceiling is ceiling for cell in found.cells))

    def test_one_that_must_not_be_quoted_is_not_asked_while_others_are(self):
        records = ledgers.paired(3, cells=(("jpeg", 400.0), ("png", 200.0)), device="cuda")
        valid = [r["ceiling_imgs_per_s"] for r in records[1::2]]
        for r in records[::2]:
            r.update(ceiling_imgs_per_s=1.0, valid=False)
        self.assertEqual(list(one(records).ceilings[0].by_repetition.values()), valid)

    def test_what_spoils_the_ceilings_blocks_is_said_of_the_ceiling(self):
        def of(*names):
            records = ledgers.paired(3, cells=(("jpeg", 400.0), ("png", 200.0)))
            for r in records:
                flags = [{**NOTE, "name": name, "severity": "serious"} for name in names]
                r.update(valid=False, flags=flags)
            found = one(records)
            return found.ceilings[0].serious, {f["name"] for f in found.ceilings[0].flags}

        self.assertEqual(of("harness_bound"), (True, {"harness_bound"}))
        self.assertEqual(of("throttled", "bad_samples"), (True, {"throttled"}))
        self.assertEqual(of("bad_samples"), (False, set()), "of the cell's blocks alone")
        self.assertEqual(of(), (True, {"invalid"}), "and no reason given")

    def test_one_that_is_not_asked_spoils_no_ceiling(self):
        records = ledgers.paired(3, cells=(("jpeg", 400.0), ("png", 200.0)))
        for r in records[::2]:
            r.update(valid=False, flags=[{**NOTE, "name": "stopped", "severity": "serious"}])
        self.assertFalse(one(records).ceilings[0].serious)

    def test_one_or_two_repetitions_have_no_interval(self):
        records = paired()[:2]
        (cell,) = one(records).cells
        self.assertEqual((cell.ratio.low, cell.ratio.n), (None, 2))
        self.assertIsNotNone(records[0]["ceiling_fraction_ci95"])

    def test_an_emulated_ceiling_is_set_as_long_as_the_cells_keep_to_it(self):
        def rate(step_ms):
            records = paired()
            for r in records:
                r["device"] = {**r["device"], "step_ms": step_ms}
            return one(records).ceilings[0].rate

        self.assertEqual(text.plus_minus(rate(256.0)), "1,000 (set)")
        self.assertEqual(rate(300.0).kind, statistics.T_INTERVAL)

    def test_synthetic_runs_stay_the_ceilings_and_shares_come_from_the_pairs(self):
        records = ledgers.paired(3, device="cuda")
        synthetic, new = axes(device="cuda"), {"schema": "feedrate.result/4", "valid": True}
        alone = [ledgers.record(synthetic, 500.0, n, "ceiling", **new) for n in range(3)]
        (ceiling,) = one(alone + records).ceilings
        (cell,) = one(alone + records).cells
        self.assertEqual(ceiling.runs, alone)
        self.assertGreater(ceiling.rate.mean, 900.0)
        self.assertAlmostEqual(cell.ratio.mean, 0.4, delta=0.01)

    def test_each_cell_of_a_mixed_ledger_has_its_own_ceiling(self):
        records = mixed(ceiling=[(1000.0, 1100.0), (1000.0, 1100.0), (1000.0, 1100.0)])
        jpeg, png = one(records).cells
        self.assertEqual((jpeg.data, png.data), ("jpeg", "png"))
        self.assertAlmostEqual(jpeg.ratio.points[0], records[3]["ceiling_fraction"])
        around_it = (records[0]["imgs_per_s"] + records[2]["imgs_per_s"]) / 2
        self.assertAlmostEqual(png.ratio.points[0], records[1]["imgs_per_s"] / around_it)

    def test_what_the_ceilings_runs_suffer_from_is_no_matter_of_the_pairs(self):
        records = mixed(ceiling=[(1000.0, 1100.0)] * 3)
        records[0].update(valid=False, flags=[{**NOTE, "name": "stopped", "severity": "serious"}])
        jpeg, png = one(records).cells
        self.assertEqual(
            [tables.drifted(cell) for cell in (jpeg, png)], [False, True], "the star at a share"
        )
        self.assertEqual((jpeg.share_serious, png.share_serious), (False, True))
        self.assertNotIn("invalid_ceiling!", tables.flag_names(jpeg))
        self.assertIn("invalid_ceiling!", tables.flag_names(png))


class Reading(Checked):
    def test_records_of_schema_3_need_no_note(self):
        for schema, count in ((3, 0), (2, 1)):
            path = ledgers.write(self.parent, sound.sweep(RATES, schema=schema))
            notes = []
            ledger.read(path, notes.append)
            self.assertEqual(len([n for n in notes if "older schema" in n]), count)


class Words(unittest.TestCase):
    def methods(self, records):
        (setting,) = settings.group(records)
        context = Context("ledger.jsonl", "0.1.0")
        return " ".join(" ".join(words) for words in methods.paragraphs([setting], context))

    def test_the_methods_say_how_shares_were_formed(self):
        for records, there, absent in (
            (
                paired(),
                ("each in pairs with its ceiling.", "8 pairs", "same run's blocks)"),
                ("first and last", "opening and closing"),
            ),
            (
                sound.sweep(RATES),
                ("first and last", "mean of its opening and closing run)"),
                ("pairs",),
            ),
            (
                mixed(),
                ("or between two runs of it", "same run's blocks, or the mean of its opening"),
                ("first and last",),
            ),
        ):
            words = self.methods(records)
            for part in there:
                self.assertIn(part, words)
            for part in absent:
                self.assertNotIn(part, words)


class Program(Checked):
    def report(self, records):
        """A whole report, whose text is returned; it must follow from its ledger."""
        folder = sound.folder(self.parent, "r1", records)
        program = [sys.executable, os.path.join(ledgers.SCRIPTS, "report"), folder]
        done = subprocess.run([*program, "--formats", "svg"], capture_output=True, encoding="utf-8")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assertEqual(self.again(folder)[:2], (0, []))
        words = [done.stdout]
        for at, _, names in os.walk(os.path.join(folder, "report")):
            for name in names:
                if name.endswith((".md", ".csv", ".html", ".svg", ".tex")):
                    with open(os.path.join(at, name), encoding="utf-8") as file:
                        words.append(file.read())
        return "\n".join(words)

    @unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
    def test_the_whole_report_of_a_paired_ledger(self):
        words = self.report(paired())
        self.assertNotIn("the ledger holds no run of it", words)
        self.assertNotIn("measured first and last", words)
        self.assertIn("in pairs with its cells", words)

    @unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
    def test_the_whole_report_of_a_mixed_ledger(self):
        words = self.report(mixed(ceiling=[(1000.0, 1010.0)] * 3))
        self.assertNotIn("the ledger holds no run of it", words)
        self.assertIn("or between two runs of it where that cannot be", words)


class Beside(Compared):
    """The comparison of ledgers that hold runs in pairs."""

    @staticmethod
    def rates(jpeg=400.0, ceiling=1000.0):
        return {"ceiling": around(ceiling, 0.002, 6), "jpeg": around(jpeg, 0.004, 6)}

    def sweep(self, *rates, start="2026-11-21T08:00:00Z"):
        return sound.sweep(self.rates(*rates), start, in_pairs=("jpeg",))

    def test_shares_and_ceilings_are_compared(self):
        code, cells = self.cells(self.sweep(), self.sweep(380.0, start=LATER))
        self.assertEqual((code, cells["jpeg"]["verdict"]), (3, "slower"))
        self.assertEqual(cells["jpeg"]["ceiling_fraction_verdict"], "slower")
        self.assertEqual(cells["synthetic"]["verdict"], "equal within the margin")
        self.assertEqual(cells["synthetic"]["a_repetitions"], 6)
        # Both slower alike: the share stays.
        _, cells = self.cells(self.sweep(), self.sweep(380.0, 950.0, start=LATER))
        self.assertEqual(cells["jpeg"]["verdict"], "slower")
        self.assertEqual(cells["synthetic"]["verdict"], "slower")
        self.assertEqual(cells["jpeg"]["ceiling_fraction_verdict"], "equal within the margin")

    def test_beside_a_ledger_with_runs_of_the_ceiling_nothing_is_lost(self):
        code, cells = self.cells(sound.sweep(self.rates()), self.sweep(start=LATER))
        self.assertEqual(code, 0)
        self.assertEqual(cells["synthetic"]["verdict"], "equal within the margin")
        self.assertIn("measured in pairs with its ceiling in B alone", cells["jpeg"]["notes"])

    def test_an_invalid_run_of_the_ceiling_leaves_the_shares_of_pairs(self):
        a, b = (
            sound.sweep({**self.rates(), "png": around(200.0, 0.004, 6)}, start, in_pairs=("jpeg",))
            for start in ("2026-11-21T08:00:00Z", LATER)
        )
        serious = {**NOTE, "name": "stopped", "severity": "serious"}
        a[0].update(valid=False, flags=[*a[0]["flags"], serious])
        _, cells = self.cells(a, b)
        self.assertTrue(cells["jpeg"]["ceiling_fraction_verdict"])
        self.assertIsNone(cells["png"]["ceiling_fraction_verdict"])

    def test_a_ledger_beside_itself_is_no_comparison(self):
        _, cells = self.cells(self.sweep(), copy.deepcopy(self.sweep()))
        self.assertEqual({c["verdict"] for c in cells.values()}, {"not comparable"})


if __name__ == "__main__":
    unittest.main()
