"""How much longer loading takes where there is more to see: the numbers, what is claimed of them,
the figure."""

import csv
import io
import os
import re
import unittest

from ledgers import axes, read_more, record
from report import (
    claims,
    figures,
    findings,
    html_cells,
    html_time,
    ledger,
    load_detail,
    settings,
    stage_times,
    style,
    tables,
)
from test_figures import HAVE_MATPLOTLIB, Program
from test_marks import SERIOUS

DETAILS = ("lowest", "low", "medium", "high", "highest")
SIZES = dict(zip(DETAILS, (24e3, 35e3, 47e3, 60e3, 76e3)))
MS = dict(zip(DETAILS, (0.50, 0.55, 0.62, 0.70, 0.80)))


def sweep(ms=MS, repetitions=4, data="jpeg", noise=(0.0, 0.01, -0.01, 0.005), **changes):
    """A ledger over details: {detail: ms of one worker per image}, each repetition off by its
    noise, the same for all details."""
    records = []
    for n in range(repetitions):
        records.append(read_more(record(axes(device="cuda"), 2000.0, n, "ceiling")))
        records += [
            _run(data, detail, each * (1 + noise[n]), n, **changes) for detail, each in ms.items()
        ]
        records.append(read_more(record(axes(device="cuda"), 2000.0, n, "ceiling", place=1)))
    return records


def _run(data, detail, ms, repetition, workers=1, **changes):
    one = read_more(
        record(
            axes(data, device="cuda", workers=workers, detail=detail, **changes),
            1e3 / ms,
            repetition,
        )
    )
    one["dataset"]["mean_bytes"] = int(SIZES[detail])
    one["stages"] = [
        {"name": name, "wall_s": ms * share, "cpu_s": ms * share, "items": 1000, "bytes": 1}
        for name, share in (("read", 0.1), ("decode", 0.6), ("augment", 0.3))
    ]
    return one


def series_of(records):
    (setting,) = settings.group(records)
    return load_detail.series(setting, 1)


class Numbers(unittest.TestCase):
    def test_a_point_for_each_detail_in_their_order(self):
        (one,) = series_of(sweep(dict(reversed(MS.items()))))
        self.assertEqual(tuple(p.detail for p in one.points), DETAILS)
        self.assertEqual([p.file_kb for p in one.points], [24, 35, 47, 60, 76])
        self.assertEqual(one.label, "jpeg 500x375, 1 worker")
        for point in one.points:
            self.assertAlmostEqual(point.load.mean, MS[point.detail] * 1.00125)
            self.assertTrue(point.load.low < point.load.mean < point.load.high)
            self.assertAlmostEqual(sum(ms for _, ms, _ in point.parts), point.load.mean)

    def test_the_time_is_that_of_one_worker_whatever_the_throughput(self):
        records = sweep()
        for one in records:
            one["imgs_per_s"] /= 3  # a device that held the loader back
        (one,) = series_of(records)
        self.assertAlmostEqual(one.points[0].load.mean, 0.5 * 1.00125)

    def test_what_all_details_share_in_a_repetition_is_not_in_their_ratio(self):
        (one,) = series_of(sweep(noise=(0.0, 0.3, -0.2, 0.1)))
        longer = load_detail.slower(one.speed)
        self.assertAlmostEqual(longer.mean, 1.6)
        self.assertAlmostEqual(longer.low, 1.6, places=6)
        self.assertAlmostEqual(longer.high, 1.6, places=6)

    def test_one_detail_is_no_series(self):
        self.assertEqual(series_of(sweep({"medium": 0.6})), ())
        self.assertEqual(series_of([record(axes("jpeg"), 400.0)]), ())

    def test_details_whose_other_axes_differ_are_not_compared(self):
        records = sweep({"low": 0.5}) + sweep({"high": 0.8}, cache="encoded")
        self.assertEqual(series_of(records), ())

    def test_formats_are_series_of_their_own(self):
        found = series_of(sweep() + sweep(data="png", ms={d: 2 * ms for d, ms in MS.items()}))
        self.assertEqual([s.data for s in found], ["jpeg", "png"])

    def test_the_fewest_workers_stand_for_several_counts(self):
        records = sweep(workers=4) + sweep(workers=2) + sweep(workers=0)
        (one,) = series_of(records)
        self.assertEqual(one.label, "jpeg 500x375, 2 workers")

    def test_a_cell_without_stages_or_size_is_no_point(self):
        records = sweep()
        for one in records:
            if one["cell"].get("detail") == "low":
                one["stages"] = []
            if one["cell"].get("detail") == "highest":
                one["dataset"] = None
        (one,) = series_of(records)
        self.assertEqual([p.detail for p in one.points], ["lowest", "medium", "high"])
        self.assertEqual(len(one.cells), 5)

    def test_totals_are_of_each_repetition(self):
        (setting,) = settings.group(sweep({"low": 0.5, "high": 1.0}))
        self.assertEqual(
            [round(ms, 4) for ms in stage_times.totals(setting.cells[0]).values()],
            [0.5, 0.505, 0.495, 0.5025],
        )

    def test_variants_stand_in_the_order_of_the_axis(self):
        (setting,) = settings.group(sweep())
        self.assertEqual(
            [s.variant for s in style.series_of(setting.cells)], [f"detail {d}" for d in DETAILS]
        )


class Finding(unittest.TestCase):
    def words(self, records):
        found = settings.group(records)
        plan = next(p for p in figures.plan(found) if p.module == "load_vs_detail")
        return findings.finding(plan, claims.of(found))

    def noisy(self, records, by=((0, 0.01), (1, -0.01), (2, 0.015), (3, 0.0))):
        """The most detail moves on its own."""
        by = dict(by)
        for one in records:
            if one["cell"].get("detail") == "highest":
                for stage in one["stages"]:
                    stage["wall_s"] *= 1 + by[one["repetition"]]
        return records

    def test_what_the_intervals_carry(self):
        self.assertRegex(
            self.words(self.noisy(sweep())),
            r"^Loading takes so many times as long at the highest detail as at the lowest, 1 worker"
            r": jpeg 500x375 1\.61 \(1\.5\d to 1\.6\d\)$",
        )

    def test_two_formats_share_the_risk(self):
        alone = self.words(self.noisy(sweep()))
        both = self.words(self.noisy(sweep() + sweep(data="png")))
        self.assertIn(": jpeg 500x375 1.61 (", both)
        self.assertIn("; png 500x375 1.61 (", both)
        self.assertNotIn(alone.rpartition("(")[2].partition(")")[0], both)  # wider

    def test_no_difference_is_bounded_and_not_claimed(self):
        flat = dict.fromkeys(DETAILS, 0.5)
        self.assertRegex(
            self.words(self.noisy(sweep(flat))),
            r": jpeg 500x375 not shown to be above 1 \(at most 1\.0\d\)$",
        )

    def test_fewer_than_three_repetitions_are_a_look(self):
        self.assertIn(claims.LOOK, self.words(sweep(repetitions=2)))

    def test_an_invalid_end_is_named_and_not_judged(self):
        records = sweep() + sweep(data="png")
        for one in records:
            if one["cell"].get("detail") == "highest" and one["cell"]["data"] == "png":
                one["flags"], one["valid"] = [SERIOUS], False
        words = self.words(records)
        self.assertIn("jpeg 500x375 1.6", words)
        self.assertTrue(words.endswith("not judged: png 500x375 (not valid)"), words)

    def test_without_details_the_title_stands(self):
        words = self.words([record(axes("jpeg"), 400.0, n) for n in range(3)])
        self.assertEqual(words, figures.TITLES["load_vs_detail"])

    def test_the_page_has_a_panel_for_each_format(self):
        records = [
            dict(r, **{ledger.LINE: n}) for n, r in enumerate(sweep() + sweep(data="png"), 1)
        ]
        found = settings.group(records)
        cells = html_cells.Cells(found, records, claims.of(found))
        panels = html_time.load_vs_detail(found[0], 1, cells)
        self.assertEqual(
            [p["title"] for p in panels], ["jpeg 500x375, 1 worker", "png 500x375, 1 worker"]
        )
        *areas, whole = panels[0]["data"]
        self.assertEqual([a["name"] for a in areas], ["read", "decode", "augment"])
        for i, y in enumerate(whole["y"]):
            self.assertAlmostEqual(sum(a["y"][i] for a in areas), y)
        self.assertEqual(whole["text"], list(DETAILS))
        self.assertEqual(len(set(whole["customdata"])), 5)

    def test_the_table_holds_what_the_figure_shows(self):
        (setting,) = settings.group(sweep())
        rows = list(csv.DictReader(io.StringIO(tables.write_csv([setting]))))
        rows = {row["detail"]: row for row in rows if row["role"] == "cell"}
        for detail in DETAILS:
            self.assertEqual(float(rows[detail]["file_bytes_mean"]), SIZES[detail])
            load = [
                float(rows[detail]["load_ms_per_image" + end]) for end in ("_low95", "", "_high95")
            ]
            self.assertEqual(load, sorted(load))
            self.assertAlmostEqual(load[1], MS[detail] * 1.00125, places=6)

    def test_an_invalid_ceiling_is_no_fault_of_loading(self):
        records = self.noisy(sweep())
        for one in records:
            if one["role"] == "ceiling":
                one["flags"], one["valid"] = [SERIOUS], False
        self.assertIn("jpeg 500x375 1.61 (", self.words(records))


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Figure(Program):
    def test_it_is_drawn_where_there_are_several_details(self):
        self.run_report(
            sweep() + sweep(data="png"),
            "--formats",
            "svg",
            "--only",
            "load_vs_detail",
            extras=("--no-slides",),
        )
        for name in ("load_vs_detail.svg", "paper/load_vs_detail.svg"):
            svg = self.content(name).decode()
            for words in (*DETAILS, "jpeg 500x375, 1 worker", "png 500x375, 1 worker", "decode"):
                self.assertIn(f">{words}<", svg, name)
        self.assertIn("takes 0.5 ms (0.49 to 0.51 ms), highest 76.0 kB", svg_words(self))
        with open(self.path("paper/figures.tex"), encoding="utf-8") as file:
            self.assertIn("24.0 kB per file", file.read())

    def test_it_is_not_drawn_of_one_detail(self):
        self.run_report(
            sweep({"medium": 0.6}), "--formats", "svg", "--only", "load_vs_detail", "--only", "bars"
        )
        self.assertFalse(os.path.exists(self.path("load_vs_detail.svg")))

    def test_an_invalid_cell_is_hollow_with_its_mark(self):
        records = sweep()
        records[1]["flags"], records[1]["valid"] = [SERIOUS], False
        self.run_report(records, "--formats", "svg", "--only", "load_vs_detail")
        svg = self.content("load_vs_detail.svg").decode()
        self.assertIn("serious flag (throttled)", svg)
        self.assertIn(">!<", svg)

    def test_a_missing_cell_is_said(self):
        records = sweep()
        lost = axes("jpeg", device="cuda", workers=1, detail="low")
        records = [r for r in records if r["cell"] != lost]
        records += [record(lost, None, n, status="failed", error="gone") for n in range(4)]
        self.run_report(records, "--formats", "svg", "--only", "load_vs_detail")
        self.assertIn("missing, not zero: 1 cell, failed", svg_words(self))


def svg_words(test):
    """The figure's words, however its lines are broken."""
    svg = test.content("load_vs_detail.svg").decode()
    return " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg))


if __name__ == "__main__":
    unittest.main()
