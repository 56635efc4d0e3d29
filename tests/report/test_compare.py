"""The comparison of ledgers: matching, what cannot be compared, verdicts, outputs, exit codes."""

import contextlib
import copy
import csv
import io
import json
import math
import shutil
import tempfile
import unittest

import ledgers
import sound
from report.claims import tables
from report.compare import compare, matching, verdicts
from report.ledger import settings, statistics

LATER = "2026-12-01T08:00:00Z"
FAILED = dict(status="failed", error="disk full", imgs_per_s=None, valid=False)


def around(rate, spread=0.01, n=6):
    """n rates whose logarithms scatter by `spread` on average, centred on `rate`."""
    offsets = [-1.2, -0.6, -0.2, 0.2, 0.6, 1.2][:n] if n == 6 else [(-1) ** i for i in range(n)]
    return [rate * math.exp(spread * o) for o in offsets]


def steady(n=6, jpeg=400.0, ceiling=1000.0, spread=0.004):
    return {"ceiling": around(ceiling, spread / 2, n), "jpeg": around(jpeg, spread, n)}


class Compared(unittest.TestCase):
    def setUp(self):
        self.parent = tempfile.mkdtemp(prefix="feedrate-compare-")
        self.addCleanup(shutil.rmtree, self.parent)

    def run_on(self, a, b, *options):
        """(exit code, stdout, stderr) of the command on two ledgers."""
        folders = [
            sound.folder(self.parent, name, records) for name, records in (("a", a), ("b", b))
        ]
        return self.run_command([*folders, *options])

    def run_command(self, arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = compare.main(arguments)
        return code, out.getvalue(), err.getvalue()

    def cells(self, a, b, *options):
        """(exit code, {role or data: the cell's entry in the JSON})."""
        code, out, _ = self.run_on(a, b, "--json", *options)
        cells = json.loads(out)["comparisons"][0]["cells"]
        return code, {(c["axes_a"] or c["axes_b"])["data"]: c for c in cells}

    def reason(self, a, b, *options):
        """Why the JPEG cell was not compared."""
        _, cells = self.cells(a, b, *options)
        return cells["jpeg"]["reason"] if cells["jpeg"]["verdict"] == "not comparable" else None


class Verdicts(Compared):
    def test_slower_faster_and_the_exit_code(self):
        a, b = sound.sweep(steady()), sound.sweep(steady(jpeg=380.0), LATER)
        code, cells = self.cells(a, b)
        self.assertEqual((code, cells["jpeg"]["verdict"]), (3, "slower"))
        self.assertEqual(cells["synthetic"]["verdict"], "equal within the margin")
        code, cells = self.cells(b, a)
        self.assertEqual((code, cells["jpeg"]["verdict"]), (0, "faster"))

    def test_the_ratio_and_its_interval_by_hand(self):
        a, b = sound.sweep(steady()), sound.sweep(steady(jpeg=380.0, spread=0.008), LATER)
        _, cells = self.cells(a, b)
        logs = [[math.log(r["imgs_per_s"]) for r in s if r["role"] == "cell"] for s in (a, b)]
        means = [sum(v) / 6 for v in logs]
        squares = [sum((x - m) ** 2 for x in v) / 5 / 6 for v, m in zip(logs, means)]
        df = sum(squares) ** 2 / sum(s * s / 5 for s in squares)
        half = statistics.t_quantile(0.975, df) * math.sqrt(sum(squares))
        jpeg = cells["jpeg"]
        self.assertAlmostEqual(jpeg["ratio"], math.exp(means[1] - means[0]))
        self.assertAlmostEqual(jpeg["ratio_low95"], math.exp(means[1] - means[0] - half))
        self.assertAlmostEqual(jpeg["ratio_high95"], math.exp(means[1] - means[0] + half))

    def test_the_two_runs_of_a_ceiling_are_one_sample(self):
        a = sound.sweep({"ceiling": [(990.0, 1010.0), (1000.0, 1000.0), (1005.0, 995.0)]})
        cell = next(iter(tables.all_rows(settings.group([{**r, "valid": True} for r in a]))))
        self.assertEqual(len(cell.runs), 6)
        for value in cell.by_repetition.values():
            self.assertAlmostEqual(value, 1000.0, delta=0.5)
        self.assertEqual(len(cell.by_repetition), 3)

    def test_nothing_seen_says_what_could_have_been_seen(self):
        a, b = (
            sound.sweep(steady(spread=0.05), start) for start in ("2026-11-21T08:00:00Z", LATER)
        )
        code, out, _ = self.run_on(a, b)
        (line,) = [row for row in out.splitlines() if row.startswith("jpeg")]
        self.assertRegex(line, r"no difference seen \((±|\+-)\d\.\d %\)")
        self.assertIn("does not say that there is none", " ".join(out.split()))
        self.assertEqual(code, 0)

    def test_the_margin_decides_what_matters(self):
        a, b = (
            sound.sweep(steady(spread=0.0005)),
            sound.sweep(steady(jpeg=397.0, spread=0.0005), LATER),
        )
        for percent, expected in (
            ("0.1", "slower"),
            ("1", "equal within the margin"),
            ("5", "equal within the margin"),
        ):
            self.assertEqual(
                self.cells(a, b, "--margin", percent)[1]["jpeg"]["verdict"], expected, percent
            )
        a, b = (
            sound.sweep(steady(spread=0.004)),
            sound.sweep(steady(jpeg=396.5, spread=0.004), LATER),
        )
        self.assertEqual(self.cells(a, b)[1]["jpeg"]["verdict"], "no difference beyond the margin")
        self.assertEqual(self.cells(a, b, "--margin", "0")[1]["jpeg"]["verdict"], "slower")

    def test_exchanging_the_sides_exchanges_the_verdicts(self):
        for log in (-0.03, -0.01, -0.00996, 0.0, 0.00996, 0.0101, 0.03):
            for error in (1e-9, 0.002, 0.01):
                there = statistics.Difference(log, error, 9.0)
                back = statistics.Difference(-log, error, 9.0)
                swap = {"faster": "slower", "slower": "faster"}
                verdict = verdicts.judge(there, there.p, 0.01)
                self.assertEqual(verdicts.judge(back, back.p, 0.01), swap.get(verdict, verdict))

    def test_the_share_of_the_ceiling_is_compared_by_itself(self):
        # the machine's speed, alike for cell and ceiling
        wander = [1.0, 0.9, 1.1, 0.95, 1.05, 1.0]

        def at(share, start):
            return sound.sweep(
                {
                    "ceiling": [1000 * w for w in wander],
                    "jpeg": [
                        share * 1000 * w * (1 + 0.001 * (-1) ** i) for i, w in enumerate(wander)
                    ],
                },
                start,
            )

        _, cells = self.cells(at(0.4, "2026-11-21T08:00:00Z"), at(0.38, LATER))
        self.assertEqual(cells["jpeg"]["verdict"], "no difference seen")
        self.assertEqual(cells["jpeg"]["ceiling_fraction_verdict"], "slower")
        self.assertAlmostEqual(cells["jpeg"]["ceiling_fraction_ratio"], 0.95, places=3)


class BadInput(Compared):
    """Each said in one line; the rest goes on."""

    a = sound.sweep({**steady(), "png": around(200.0, 0.004, 6)})

    def both(self, b):
        """(jpeg's comparison, png's verdict, all words)."""
        _, cells = self.cells(self.a, b)
        return cells["jpeg"], cells["png"]["verdict"], "".join(self.run_on(self.a, b)[1:])

    def later(self, change=lambda r: None, **rates):
        records = copy.deepcopy(
            sound.sweep({**steady(jpeg=380.0), "png": around(190.0, 0.004, 6), **rates}, LATER)
        )
        for r in records:
            change(r)
        return records

    def test_one_repetition(self):
        jpeg, png, words = self.both(
            sound.sweep({"ceiling": [1000.0], "jpeg": [380.0], "png": [190.0]}, LATER)
        )
        self.assertEqual((jpeg["reason"], png), ("n = 1 in B", "not comparable"))
        self.assertIn(
            "below 3 repetitions the spread between runs is unknown", " ".join(words.split())
        )

    def test_unequal_repetitions(self):
        jpeg, png, words = self.both([r for r in self.later() if r["repetition"] < 4])
        self.assertEqual((jpeg["verdict"], png), ("slower", "slower"))
        self.assertIn("6 repetitions in A, 4 in B", jpeg["notes"])

    def test_a_ceiling_missing_in_one_repetition(self):
        def fail(r):
            if r["role"] == "ceiling" and r["repetition"] == 2 and r["place"] == 1:
                r.update(status="failed", error="disk full", imgs_per_s=None, valid=False)

        jpeg, png, words = self.both(self.later(fail))
        self.assertEqual(
            (jpeg["verdict"], jpeg["ceiling_fraction_verdict"], png), ("slower", "slower", "slower")
        )
        self.assertTrue(
            any(
                "repetition 2 of the ceiling" in note and "no share is formed there" in note
                for note in jpeg["notes"]
            ),
            jpeg["notes"],
        )

    def test_failed_cells_in_between(self):
        def fail(r):
            if r["cell"]["data"] == "jpeg" and r["repetition"] in (1, 3):
                r.update(status="failed", error="disk full", imgs_per_s=None, valid=False)

        jpeg, png, words = self.both(self.later(fail))
        self.assertEqual((jpeg["verdict"], jpeg["b_repetitions"], png), ("slower", 4, "slower"))
        self.assertIn("2 of 6 repetitions have no result in B", jpeg["notes"])

    def test_an_older_schema(self):
        b = sound.sweep({**steady(jpeg=380.0), "png": around(190.0, 0.004, 6)}, LATER, schema=1)
        jpeg, png, words = self.both(b)
        self.assertEqual((jpeg["verdict"], png), ("slower", "slower"))
        self.assertIn(
            "24 of 24 records are of an older schema (feedrate.result/1): read as far as it goes",
            words,
        )


class Unlike(Compared):
    def test_a_cloud_machine_beside_a_quiet_one_is_said_first(self):
        b = copy.deepcopy(sound.sweep(steady(jpeg=380.0), LATER))
        for r in b:
            r["monitors"]["cpu_steal"] = 0.015
            r["environment"] = {
                **r["environment"],
                "cpu": {"model": "Xeon", "cores": 2, "governor": "powersave"},
                "limits": {"cpu_max": "150000 100000"},
            }
        code, out, _ = self.run_on(sound.sweep(steady()), b)
        self.assertTrue(
            " ".join(out.split()).startswith(
                "UNLIKE MACHINES: CPU governor: unknown in A, powersave in B; CPU quota: none in A,"
                " 150000 100000 in B; taken by the hypervisor (steal): 0.0 % in A, 1.5 % in B."
            ),
            out[:300],
        )
        self.assertLess(out.index("UNLIKE"), out.index("verdict"))
        _, quiet, _ = self.run_on(sound.sweep(steady()), sound.sweep(steady(), LATER))
        self.assertNotIn("UNLIKE", quiet)


class Incomparable(Compared):
    a = sound.sweep(steady())
    b = sound.sweep(steady(jpeg=380.0), LATER)

    def changed(self, change, only=lambda r: True):
        records = copy.deepcopy(self.b)
        for r in records:
            if only(r):
                change(r)
        return records

    def test_missing_and_failed(self):
        without = [r for r in self.b if r["role"] == "ceiling"]
        self.assertEqual(self.reason(self.a, without), "missing in B")
        self.assertEqual(self.reason(without, self.a), "missing in A")

        def fail(r):
            r.update(status="failed", error="disk full", imgs_per_s=None, valid=False)

        self.assertEqual(
            self.reason(self.a, self.changed(fail, lambda r: r["role"] == "cell")), "failed in B"
        )

    def test_a_repetition_lost_is_a_note(self):
        lost = self.changed(
            lambda r: r.update(status="interrupted", imgs_per_s=None, valid=False),
            lambda r: r["role"] == "cell" and r["repetition"] == 2,
        )
        _, cells = self.cells(self.a, lost)
        self.assertEqual(cells["jpeg"]["verdict"], "slower")
        self.assertIn("1 of 6 repetitions have no result in B", cells["jpeg"]["notes"])

    def test_serious_flags(self):
        throttled = self.changed(
            lambda r: r.update(
                valid=False, flags=r["flags"] + [{"name": "throttled", "severity": "serious"}]
            ),
            lambda r: r["role"] == "cell" and r["repetition"] == 0,
        )
        self.assertEqual(self.reason(self.a, throttled), "1 of 6 runs invalid (throttled) in B")
        code, cells = self.cells(self.a, throttled, "--allow-invalid")
        self.assertEqual((code, cells["jpeg"]["verdict"]), (3, "slower"))
        self.assertIn(
            "1 of 6 runs invalid (throttled) in B: do not quote it", cells["jpeg"]["notes"]
        )

    def test_a_share_of_an_invalid_ceiling_is_none(self):
        bound = self.changed(
            lambda r: r.update(
                valid=False, flags=r["flags"] + [{"name": "harness_bound", "severity": "serious"}]
            ),
            lambda r: r["role"] == "ceiling",
        )
        _, cells = self.cells(self.a, bound)
        self.assertEqual(cells["jpeg"]["verdict"], "slower")
        self.assertIsNone(cells["jpeg"]["ceiling_fraction_ratio"])

    def test_schema_1_derives_what_is_valid(self):
        old = sound.sweep(steady(jpeg=380.0), LATER, schema=1)
        self.assertIsNone(self.reason(self.a, old))
        old[1]["flags"] = [{"name": "planted", "severity": "serious"}]
        self.assertEqual(self.reason(self.a, old), "1 of 6 runs invalid (planted) in B")

    def test_other_data_unless_it_is_other_by_design(self):
        def other(r):
            if r["dataset"]:
                r["dataset"] = dict(r["dataset"], manifest_xxh3="00")

        self.assertEqual(
            self.reason(self.a, self.changed(other)), "other data: the datasets' manifests differ"
        )
        larger = sound.sweep(steady(jpeg=380.0), LATER)
        for r in larger:
            if r["dataset"]:
                r["cell"]["image-size"] = "768x768"
                r["dataset"] = dict(r["dataset"], variant="jpeg/768x768", manifest_xxh3="00")
        self.assertIsNone(self.reason(self.a, larger, "--across", "image-size"))

    def test_other_limits_where_they_matter(self):
        def limits(**changes):
            return self.changed(lambda r: r.update(limits=dict(r["limits"], **changes)))

        self.assertEqual(
            self.reason(self.a, limits(min_seconds=5.0)),
            "other limits: min_seconds 0.5 in A, 5 in B",
        )
        _, cells = self.cells(self.a, limits(min_seconds=5.0), "--allow-limits")
        self.assertEqual(cells["jpeg"]["verdict"], "slower")
        self.assertEqual(cells["jpeg"]["notes"], ["other limits: min_seconds 0.5 in A, 5 in B"])
        self.assertIsNone(self.reason(self.a, limits(max_seconds=600.0)), "no run came up to it")
        hit = limits(max_seconds=600.0)
        hit[1]["flags"].append({"name": "queue_not_at_rest", "severity": "warning"})
        self.assertEqual(self.reason(self.a, hit), "other limits: max_seconds 120 in A, 600 in B")

    def test_one_repetition(self):
        single = sound.sweep({"ceiling": [1000.0], "jpeg": [300.0]}, LATER)
        self.assertEqual(self.reason(self.a, single), "n = 1 in B")
        self.assertEqual(
            self.reason(single, sound.sweep({"ceiling": [1000.0], "jpeg": [300.0]})),
            "n = 1 in A and B",
        )
        self.assertIn("--repetitions 6", self.run_on(self.a, single)[1])
        two = sound.sweep({"ceiling": [1000.0] * 2, "jpeg": [300.0, 301.0]}, LATER)
        self.assertEqual(
            self.reason(self.a, two),
            "n = 2 in B",
            "below three there is no interval, so no verdict by one",
        )

    def test_the_same_runs_are_no_second_sample(self):
        self.assertEqual(self.reason(self.a, self.a), "A and B hold the same run")
        other = [dict(r, resident_bytes=1000 + n) for n, r in enumerate(self.a)]
        self.assertNotEqual(self.reason(self.a, other), "A and B hold the same run")

    def test_a_drift_is_a_note_and_takes_no_verdict_away(self):
        def drifting(*drifts):
            rates = steady(jpeg=380.0)
            rates["ceiling"] = [
                (c * (1 - d / 2), c * (1 + d / 2)) for c, d in zip(rates["ceiling"], drifts)
            ]
            return sound.sweep(rates, LATER)

        count = len(steady()["ceiling"])
        for drifts, noted in (
            ([0.08 + 0.001 * n for n in range(count)], True),
            ([0.09, -0.09] * count, False),
        ):
            found = self.cells(self.a, drifting(*drifts))[1]["jpeg"]
            self.assertEqual(found["verdict"], "slower")
            self.assertEqual(
                any(
                    "on average by +8" in note
                    or "ceiling_drifted in B: the ceiling moved by +" in note
                    and "−" not in note
                    for note in found["notes"]
                ),
                noted,
                found["notes"],
            )

    def test_emulated_against_real(self):
        real = sound.sweep(steady(jpeg=380.0), LATER, axes={"device": "cuda"})
        self.assertEqual(self.reason(self.a, real, "--across", "device"), "emulated against real")

    def test_two_gpus_are_compared_and_named(self):
        a = sound.sweep(steady(), axes={"device": "cuda"})
        b = sound.sweep(steady(jpeg=380.0), LATER, axes={"device": "cuda"})
        for r in b:
            r["device"]["name"] = "NVIDIA B200"
        code, out, _ = self.run_on(a, b)
        self.assertEqual(code, 3)
        self.assertIn("device: NVIDIA H100 in A, NVIDIA B200 in B", out)


class Matching(Compared):
    def group(self, records):
        return tables.all_rows(settings.group(records))

    def test_cells_match_by_axes_and_a_null_axis_is_as_good_as_none(self):
        a = self.group([ledgers.record(ledgers.axes("jpeg"), 9.0)])
        b = self.group(
            [
                ledgers.record({**ledgers.axes("jpeg"), "container": None}, 9.0),
                ledgers.record(ledgers.axes("png"), 9.0),
            ]
        )
        found = matching.pairs(a, b)
        self.assertEqual(
            [(p.a and p.a.data, p.b and p.b.data) for p in found], [("jpeg", "jpeg"), (None, "png")]
        )

    def test_across_axes_and_the_suggestion_of_them(self):
        a = sound.sweep(steady())
        b = sound.sweep(
            steady(jpeg=380.0), LATER, axes={"device": "emulated:h200", "precision": "bf16"}
        )
        code, out, err = self.run_on(a, b)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("--across device,precision", err)
        code, cells = self.cells(a, b, "--across", "device,precision")
        self.assertEqual((code, cells["jpeg"]["verdict"]), (3, "slower"))

    def test_equal_cells_stand_together_first(self):
        both = [sound.sweep(steady(), axes={"device": d}) for d in ("emulated:a100", "cpu")]
        other = [sound.sweep(steady(), LATER, axes={"device": d}) for d in ("emulated:h200", "cpu")]
        a, b = self.group(both[0] + both[1]), self.group(other[0] + other[1])
        found = matching.pairs(a, b, ("device",))
        self.assertEqual(
            {(p.a.axes["device"], p.b.axes["device"]) for p in found},
            {("emulated:a100", "emulated:h200"), ("cpu", "cpu")},
        )

    def test_two_candidates_are_an_error_and_not_a_guess(self):
        a = self.group([ledgers.record(ledgers.axes("jpeg", workers=w), 9.0) for w in (1, 2)])
        b = self.group([ledgers.record(ledgers.axes("jpeg", workers=4), 9.0)])
        with self.assertRaisesRegex(
            Exception, "2 cells that differ in it alone .workers 1; workers 2.*; "
        ):
            matching.pairs(a, b, ("workers",))

    def test_an_axis_that_is_none(self):
        code, _, err = self.run_on(
            sound.sweep(steady()), sound.sweep(steady(), LATER), "--across", "wrkers"
        )
        self.assertEqual(code, 2)
        self.assertIn("no cell has such an axis: did you mean workers?; choose from", err)


class Many(Compared):
    def test_holm_by_hand(self):
        self.assertEqual(statistics.holm([]), [])
        for found, expected in zip(
            statistics.holm([0.01, 0.04, 0.03, 0.005]), (0.03, 0.06, 0.06, 0.02)
        ):
            self.assertAlmostEqual(found, expected)

    def test_holm_takes_back_what_chance_may_have_done(self):
        def many(last, start):
            rates = {
                name: around(400.0 if name == "jpeg" else 300.0, 0.01)
                for name in ("png", "bmp", "npy", "raw")
            }
            return sound.sweep(
                {"ceiling": around(1000.0, 0.01), "jpeg": around(last, 0.01), **rates}, start
            )

        a, b = many(400.0, "2026-11-21T08:00:00Z"), many(394.0, LATER)
        _, cells = self.cells(a, b)
        self.assertEqual(cells["jpeg"]["verdict"], "slower")
        code, cells = self.cells(a, b, "--adjust", "holm")
        self.assertEqual((code, cells["jpeg"]["verdict"]), (0, "no difference seen"))
        self.assertIn("different at 5 % alone", " ".join(cells["jpeg"]["notes"]))
        self.assertLess(cells["jpeg"]["ratio_high95"], 1, "the interval itself is not adjusted")

    def test_holm_counts_the_cells_of_all_folders(self):
        starts = ["2026-11-21T08:00:00Z", LATER] + [
            f"2026-12-{day:02d}T08:00:00Z" for day in range(5, 11)
        ]
        folders = [
            sound.folder(
                self.parent,
                f"r{i}",
                sound.sweep(
                    {
                        "ceiling": around(1000.0, 0.01),
                        "jpeg": around(393.0 if i == 1 else 400.0, 0.01),
                    },
                    start,
                ),
            )
            for i, start in enumerate(starts)
        ]

        def verdict(some):
            code, out, _ = self.run_command([*some, "--json", "--adjust", "holm"])
            return code, json.loads(out)["comparisons"][0]["cells"][1]["verdict"]

        self.assertEqual(verdict(folders[:2]), (3, "slower"))
        self.assertEqual(verdict(folders), (0, "no difference seen"))

    def test_the_chance_of_false_differences_is_said(self):
        _, out, _ = self.run_on(sound.sweep(steady()), sound.sweep(steady(), LATER))
        self.assertIn("up to 0.1 would be called different by chance", " ".join(out.split()))

    def test_each_folder_beside_the_first(self):
        folders = [
            sound.folder(self.parent, name, sound.sweep(steady(jpeg=rate), start))
            for name, rate, start in (
                ("a", 400.0, "2026-11-21T08:00:00Z"),
                ("b", 400.0, LATER),
                ("c", 380.0, "2026-12-05T08:00:00Z"),
            )
        ]
        code, out, _ = self.run_command([*folders, "--json"])
        found = json.loads(out)["comparisons"]
        self.assertEqual([c["other"] for c in found], folders[1:])
        self.assertEqual(
            [c["cells"][1]["verdict"] for c in found], ["equal within the margin", "slower"]
        )
        self.assertEqual(code, 3)


class Outputs(Compared):
    a = sound.sweep(steady())
    b = sound.sweep(steady(jpeg=380.0), LATER)

    def test_the_exit_code_is_what_was_asked_for(self):
        for options, code in (
            ([], 3),
            (["--fail-on", "never"], 0),
            (["--fail-on", "incomparable"], 0),
        ):
            self.assertEqual(self.run_on(self.a, self.b, *options)[0], code, options)
        self.assertEqual(self.run_on(self.b, self.a)[0], 0)
        self.assertEqual(self.run_on(self.b, self.a, "--fail-on", "different")[0], 3)

    def test_ceilings_alone_are_no_equality(self):
        gone = [r for r in self.b if r["role"] == "ceiling"]
        failed = [r if r["role"] == "ceiling" else dict(r, **FAILED) for r in self.b]
        for options in ([], ["--fail-on", "slower"], ["--fail-on", "incomparable"]):
            for other in (gone, failed):
                code, _, err = self.run_on(self.a, other, *options)
                self.assertEqual(code, 1, options)
                self.assertIn("no cell of stored data could be compared", err)
        self.assertEqual(self.run_on(self.a, gone, "--fail-on", "never")[0], 0)
        self.assertEqual(self.run_on(gone, self.a)[0], 0, "A asks about its ceiling alone")

    def test_one_folder_that_was_not_compared_is_enough(self):
        gone = [r for r in sound.sweep(steady(), LATER) if r["role"] == "ceiling"]
        folders = [
            sound.folder(self.parent, name, records)
            for name, records in (("a", self.a), ("b", sound.sweep(steady(), LATER)), ("c", gone))
        ]
        self.assertEqual(self.run_command(folders[:2])[0], 0)
        code, _, err = self.run_command(folders)
        self.assertEqual(code, 1)
        self.assertIn(f"{folders[2]}: no cell of stored data", err)

    def test_a_cell_that_b_lost_does_not_pass(self):
        rates = dict(steady(), png=around(300.0, 0.004))
        a, whole = sound.sweep(rates), sound.sweep(rates, LATER)
        self.assertEqual(self.run_on(a, whole)[0], 0)
        throttled = dict(valid=False, flags=[{"name": "throttled", "severity": "serious"}])
        for what, change in (
            ("missing", None),
            ("failed", FAILED),
            ("interrupted", dict(FAILED, status="interrupted")),
            ("throttled", throttled),
        ):
            of_png = [r for r in whole if r["cell"]["data"] == "png"]
            other = [r for r in whole if r not in of_png] + [
                dict(r, **change) for r in of_png if change
            ]
            with self.subTest(what):
                code, _, err = self.run_on(a, other)
                self.assertEqual(code, 3)
                self.assertIn("1 cell lost", err)
                self.assertEqual(self.run_on(a, other, "--fail-on", "slower")[0], 0)
                self.assertEqual(self.run_on(a, other, "--fail-on", "incomparable")[0], 3)
                self.assertEqual(self.run_on(other, a)[0], 0, "what A has not cannot be lost")
        self.assertEqual(self.run_on(a, other, "--allow-invalid")[0], 0)
        once = [r for r in whole if r["cell"]["data"] != "png" or r["repetition"] == 0]
        self.assertEqual(self.run_on(a, once)[0], 3)

    def test_nothing_compared_is_an_error_and_no_equality(self):
        code, out, err = self.run_on(self.a, self.a, "--fail-on", "never")
        self.assertEqual(code, 1)
        self.assertIn("no cell could be compared", err)
        self.assertIn("A and B hold the same run", out)

    def test_mistakes_in_what_was_typed(self):
        for wrong in (
            ["--margin", "x"],
            ["--margin", "-1"],
            ["--margin", "100"],
            ["--margin", "nan"],
            ["--fail-on", "faster"],
            ["--fail-on", "never,slower"],
            ["--across", ","],
            ["--json", "--csv"],
        ):
            with self.assertRaises(SystemExit) as caught:
                self.run_on(self.a, self.b, *wrong)
            self.assertEqual(caught.exception.code, 2, wrong)
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
            compare.main([self.parent])

    def test_csv_has_a_line_a_cell_with_both_values_of_an_axis(self):
        other = sound.sweep(steady(jpeg=380.0), LATER, axes={"device": "emulated:h200"})
        _, out, _ = self.run_on(self.a, other, "--csv", "--across", "device")
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual([r["data"] for r in rows], ["synthetic", "jpeg"])
        self.assertEqual(
            (rows[1]["device"], rows[1]["device of b"]), ("emulated:a100", "emulated:h200")
        )
        self.assertAlmostEqual(float(rows[1]["ratio"]), 0.95, places=3)
        self.assertIn("EMULATED", rows[1]["a_device"])

    def test_text_and_markdown_say_emulated_and_what_differs(self):
        other = sound.sweep(
            steady(jpeg=380.0),
            LATER,
            environment=dict(sound.ENVIRONMENT, kernel="Linux 7", host="n2"),
        )
        for form in ([], ["--markdown"]):
            _, out, _ = self.run_on(self.a, other, *form)
            for words in ("EMULATED DEVICE", "kernel: Linux 6.1 in A, Linux 7 in B", "slower"):
                self.assertIn(words, out)

    def test_memory_by_its_older_name_is_the_same_memory(self):
        def of(size):
            older = {k: v for k, v in sound.ENVIRONMENT.items() if k != "memory"}
            return sound.sweep(steady(), environment=dict(older, memory_total=size))

        self.assertNotIn("24684096", self.run_on(of("24684096 kB"), self.b)[1])
        self.assertIn("memory: 512 kB in A, 24684096 kB in B", self.run_on(of("512 kB"), self.b)[1])

    def test_hostile_words_stay_words(self):
        bad = copy.deepcopy(self.b)
        for r in bad:
            r["environment"] = dict(
                r["environment"], kernel="\x1b[2J|<b>\n=1", new={"key": ["\u202e"]}
            )
            r["device"] = dict(r["device"], name="=cmd|'x'\x07")
            r["flags"] = r["flags"] + [{"name": "|<img>\x1b", "severity": "warning"}]
        for form in ([], ["--markdown"], ["--csv"], ["--json"]):
            _, out, _ = self.run_on(self.a, bad, *form)
            self.assertFalse(set(out) & set("\x1b\x07\u202e"), form)
        self.assertNotIn("<img>", self.run_on(self.a, bad, "--markdown")[1])
        rows = list(csv.DictReader(io.StringIO(self.run_on(self.a, bad, "--csv")[1])))
        self.assertTrue(rows[0]["b_device"].startswith("'="))

    def test_records_without_surroundings(self):
        bare = copy.deepcopy(self.b)
        for r in bare:
            for key in ("environment", "device", "limits", "dataset", "seed", "flags"):
                r.pop(key)
        code, out, _ = self.run_on(self.a, bare)
        self.assertEqual(code, 3)
        self.assertIn("host: node1 in A, unknown in B", out)


if __name__ == "__main__":
    unittest.main()
