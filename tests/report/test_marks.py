"""No report shows an invalid cell without its mark, wherever it shows it."""

import csv
import io
import os
import re
import unittest

from ledgers import axes, read_more, record
from report import settings, tables, terminal
from report.heading import heading
from test_figures import HAVE_MATPLOTLIB, Program

SERIOUS = {"name": "throttled", "severity": "serious", "reason": "hot", "remedy": "cool it"}


def sweep(flagged=("jpeg",), gpus=(1, 2), data=("jpeg",), **changes):
    """A ceiling and cells at each GPU count, one repetition; kinds in `flagged` carry a serious
    flag."""
    records = []
    for n in gpus:
        for kind, rate in [("synthetic", 1000.0)] + [(d, 400.0) for d in data]:
            role = "ceiling" if kind == "synthetic" else "cell"
            r = record(
                axes(kind, gpus=n), rate * n, 0, role, flags=[SERIOUS] if kind in flagged else []
            )
            records.append(read_more(r, gpus=n, **changes))
    return records


class Tables(unittest.TestCase):
    def shown(self, records):
        found = settings.group(records)
        rows = list(csv.DictReader(io.StringIO(tables.write_csv(found))))
        return found, {(r["role"], r["valid"]) for r in rows}, terminal.table(found, heading)

    def test_an_invalid_cell_is_marked_in_every_table(self):
        found, valid, words = self.shown(sweep())
        self.assertEqual(valid, {("ceiling", "yes"), ("cell", "no")})
        self.assertIn("400 !", words)
        self.assertIn("throttled (serious): hot; cool it", words)
        self.assertIn("throttled\\!", tables.write_markdown(found, heading))

    def test_a_record_that_calls_itself_invalid_is_believed(self):
        found, valid, words = self.shown(sweep(flagged=(), valid=False))
        self.assertEqual(valid, {("ceiling", "no"), ("cell", "no")})
        self.assertIn("invalid (serious): the record says so", words)
        self.assertNotIn(
            "yes", [r["valid"] for r in csv.DictReader(io.StringIO(tables.write_csv(found)))]
        )

    def test_a_serious_flag_outweighs_a_record_that_calls_itself_valid(self):
        self.assertIn(("cell", "no"), self.shown(sweep(valid=True))[1])

    def test_schema_1_goes_by_the_flags(self):
        old = sweep()
        for r in old:
            r["schema"] = "feedrate.result/1"
            del r["valid"]
        self.assertEqual(self.shown(old)[1], {("ceiling", "yes"), ("cell", "no")})

    def test_a_share_of_an_invalid_ceiling_is_marked(self):
        found, _, words = self.shown(sweep(flagged=("synthetic",)))
        self.assertTrue(all(tables.short_row(c)[6] == "40.0 %!" for c in found[0].cells))
        self.assertIn("invalid_ceiling!", words)
        self.assertIn("invalid_ceiling!", tables.write_csv(found))

    def test_a_scaling_beside_an_invalid_cell_is_marked(self):
        records = sweep(flagged=())
        next(r for r in records if r["role"] == "cell")["flags"] = [SERIOUS]
        found, _, _ = self.shown(records)
        self.assertEqual(
            [tables.flag_names(c) for c in found[0].cells],
            [["throttled!"], ["invalid_first_count!"]],
        )

    def test_a_valid_sweep_has_no_marks(self):
        found, valid, words = self.shown(sweep(flagged=()))
        self.assertEqual({v for _, v in valid}, {"yes"})
        self.assertNotIn("!", words)


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Figures(Program):
    def svgs(self, records, *options):
        self.run_report(records, "--formats", "svg", *options, extras=("--no-slides",))
        return {
            name: self.content(name).decode()
            for folder in ("", "paper")
            for name in (os.path.join(folder, n) for n in os.listdir(self.path(folder)))
            if name.endswith(".svg")
        }

    def test_every_figure_marks_an_invalid_cell(self):
        found = self.svgs(sweep())
        # every figure there is, on a sheet and in a column
        self.assertEqual(len(found), 2 * (5 * 2 + 2 + 5))
        for name, svg in found.items():
            self.assertIn("serious flag", svg, name)
            self.assertRegex(svg, "!(: invalid[^<]*|\\.[^<]*)?</text>", name)

    def test_every_figure_marks_an_invalid_ceiling(self):
        for name, svg in self.svgs(sweep(flagged=("synthetic",))).items():
            self.assertIn("serious flag", svg, name)

    def test_a_valid_sweep_is_drawn_without_marks(self):
        for name, svg in self.svgs(sweep(flagged=())).items():
            self.assertIsNone(re.search("!|serious", re.sub("(?s)<!.*?>", "", svg)), name)

    def test_the_map_shows_what_is_missing_as_missing(self):
        records = sweep(data=("jpeg", "png"), gpus=(1,), flagged=())
        records.append(
            record(axes("png", **{"image-size": "400x300"}), None, 0, status="failed", error="gone")
        )
        svg = self.svgs(records, "--only", "ceiling_heatmap")["ceiling_heatmap.svg"]
        for words in (
            "40.0 %",
            "2 workers",
            "× failed",
            "400x300",
            "missing, not zero: 1 cell, failed",
            "empty: not asked for.",
        ):
            self.assertIn(words, svg)

    def test_bandwidth_is_bytes_by_seconds_and_unknown_where_nobody_counted(self):
        svg = self.svgs(sweep(flagged=(), gpus=(1,)), "--only", "storage_bandwidth")[
            "storage_bandwidth.svg"
        ]
        self.assertIn("reads 4.17, from storage 25.0, needs 112 MB/s", svg)
        records = sweep(flagged=(), gpus=(1,))
        for r in records:
            r["monitors"]["storage_read_bytes"] = -1
        self.assertIn(
            "from storage ?, needs 112 MB/s",
            self.svgs(records, "--only", "storage_bandwidth")["storage_bandwidth.svg"],
        )

    def test_bandwidth_of_a_cache_in_memory_is_not_drawn(self):
        records = sweep(flagged=(), gpus=(1,))
        for r in records:
            r["cell"]["cache"] = "encoded" if r["role"] == "cell" else None
        self.assertEqual(
            list(self.svgs(records, "--only", "storage_bandwidth", "--only", "bars")),
            ["bars.svg", "paper/bars.svg"],
        )

    def test_the_bytes_of_several_processes_are_those_of_the_record(self):
        records = sweep(flagged=(), gpus=(2,))
        for r in records:
            for i, rank in enumerate(r["ranks"]):
                rank.update(host="a", pid=100 + i)
        self.assertIn(
            "from storage 25.0",
            self.svgs(records, "--only", "storage_bandwidth")["storage_bandwidth.svg"],
        )

    def test_readings_of_host_and_gpus_over_a_run(self):
        svg = self.svgs(sweep(flagged=(), gpus=(1,)), "--only", "monitors")["monitors.svg"]
        for words in (
            "CPU (% of all CPUs)",
            "iowait",
            "SM clock (MHz)",
            "power (W)",
            "temperature",
            "GPU utilisation",
            "memory available",
            "jpeg 500x375, 2 workers, repetition 0",
        ):
            self.assertIn(words, svg)
        records = sweep(flagged=(), gpus=(1,))
        for r in records:
            r["monitors"]["series"] = None
            r["ranks"] = None
        self.assertNotIn("monitors.svg", self.svgs(records))  # and the earlier one is gone


if __name__ == "__main__":
    unittest.main()
