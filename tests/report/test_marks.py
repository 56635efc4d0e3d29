"""No report shows an invalid cell without its mark, wherever it shows it."""

import csv
import io
import os
import re
import unittest

from ledgers import axes, read_more, record
from report.answer import terminal
from report.claims import tables
from report.ledger import readings, settings, storage
from report.ledger.heading import heading
from test_figures import HAVE_MATPLOTLIB, Program

if HAVE_MATPLOTLIB:
    import drawn
    from report.figures import monitors

SERIOUS = {"name": "throttled", "severity": "serious", "reason": "hot", "remedy": "cool it"}


def sweep(flagged=("jpeg",), gpus=(1, 2), data=("jpeg",), workers=(2,), **changes):
    """A ceiling and cells at each GPU count, one repetition; kinds in `flagged` carry a serious
    flag."""
    records = []
    for n in gpus:
        for kind, rate in [("synthetic", 1000.0)] + [(d, 400.0) for d in data]:
            flags = [SERIOUS] if kind in flagged else []
            if kind == "synthetic":
                made = [record(axes(gpus=n), rate * n, 0, "ceiling", flags=flags)]
            else:
                cells = [axes(kind, gpus=n, workers=w) for w in workers]
                made = [record(cell, rate * n, 0, flags=flags) for cell in cells]
            records += [read_more(r, gpus=n, **changes) for r in made]
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

    BOTH = {"data": ("jpeg", "png"), "workers": (2, 4)}

    def test_every_figure_marks_an_invalid_cell(self):
        found = self.svgs(sweep(**self.BOTH))
        # every figure that the ledger gives, in three media: at each count, and over them
        self.assertEqual(len(found), 3 * (2 * 2 + 4))
        for name, svg in found.items():
            if "monitors" in name or "latency" in name:  # they show a cell that is valid
                continue
            self.assertIn("serious flag", svg, name)
            self.assertRegex(svg, "!(: invalid[^<]*|\\.[^<]*)?</text>", name)

    def test_every_figure_marks_an_invalid_ceiling(self):
        for name, svg in self.svgs(sweep(flagged=("synthetic",), **self.BOTH)).items():
            self.assertIn("serious flag", svg, name)

    def test_a_valid_sweep_is_drawn_without_marks(self):
        for name, svg in self.svgs(sweep(flagged=(), **self.BOTH)).items():
            self.assertIsNone(re.search("!|serious", re.sub("(?s)<!.*?>", "", svg)), name)

    def test_of_invalid_cells_alone_no_result_is_drawn(self):
        found = self.svgs(sweep(workers=(2, 4)))
        for name in ("throughput_vs_workers", "throughput_vs_gpus", "stages"):
            self.assertNotIn(f"{name}.svg", found)
        self.assertIn("monitors.svg", found, "what was wrong may show in it")

    def test_a_line_needs_two_points(self):
        one = self.svgs(sweep(flagged=(), gpus=(1,)))
        self.assertNotIn("throughput_vs_workers.svg", one)
        two = self.svgs(sweep(flagged=(), gpus=(1,), workers=(2, 4)))
        self.assertIn("throughput_vs_workers.svg", two)

    def test_what_stands_for_a_cell_leads_to_its_row(self):
        records = sweep(flagged=(), **self.BOTH)
        found = self.svgs(records)
        for name, roles, gpus in (
            ("throughput_vs_workers.svg", ("cell", "ceiling"), (1,)),
            ("paper/throughput_vs_workers.wide.svg", ("cell", "ceiling"), (1,)),
        ):
            links = set(re.findall('xlink:href="#(cell-[^"]*)"', found[name]))
            due = {
                f"cell-{r['cell_id']}"
                for r in records
                if r["role"] in roles and r["cell"]["gpus"] in gpus
            }
            self.assertEqual(links, due, name)
        for name in ("throughput_vs_gpus.svg", "stages.svg"):
            links = set(re.findall('xlink:href="#cell-([^"]*)"', found[name]))
            self.assertTrue(links)
            self.assertLessEqual(links, {r["cell_id"] for r in records}, name)

    def test_the_note_of_a_stage_does_not_pass_for_the_value_of_its_place(self):
        svg = self.svgs(sweep(flagged=(), gpus=(1,)), "--only", "stages")["stages.svg"]
        self.assertIn("takes 4.00 of 2.00 ms", svg)

    def test_the_share_of_linear_scaling_is_said(self):
        records = sweep(flagged=())
        for r in records:
            if r["role"] == "cell" and r["cell"]["gpus"] == 2:
                r["imgs_per_s"] *= 0.9
        svg = self.svgs(records, "--only", "throughput_vs_gpus")["throughput_vs_gpus.svg"]
        said = " ".join(re.findall("<text[^>]*>([^<]*)</text>", svg))
        self.assertIn("Of linear scaling from the fewest: jpeg 90.0 % at 2.", said)

    @staticmethod
    def sizes(count):
        """Of two kinds of data, each at so many sizes."""
        records = sweep(gpus=(1,), flagged=(), data=())
        for data in ("jpeg", "png"):
            for n in range(1, count + 1):
                cell = axes(data, **{"image-size": f"{n}00x{n}00"})
                records.append(read_more(record(cell, 400.0)))
        return records

    def test_a_map_needs_a_dozen_cells(self):
        found = self.svgs(self.sizes(5))
        self.assertNotIn("ceiling_heatmap.svg", found)
        self.assertIn("ceiling_heatmap.svg", self.svgs(self.sizes(6)))

    def test_the_map_shows_what_is_missing_as_missing(self):
        records = self.sizes(6)
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

    def test_four_readings_are_no_course_of_a_run(self):
        self.assertNotIn("monitors.svg", self.svgs(sweep(flagged=(), gpus=(1,), seconds=4)))
        self.assertIn("monitors.svg", self.svgs(sweep(flagged=(), gpus=(1,), seconds=5)))


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Monitors(unittest.TestCase):
    def test_readings_that_stay_at_zero_have_no_panel(self):
        records = sweep(flagged=(), gpus=(1,))
        titles = [ax.get_title(loc="left") for ax in drawn.page(monitors, records).figure.axes]
        self.assertIn("input (MB/s)", titles)
        for r in records:
            lists = r["monitors"]["series"]
            for key in ("disk_read_bytes_per_s", "network_receive_bytes_per_s"):
                lists[key] = [0.0] * len(lists[key])
        page = drawn.page(monitors, records)
        left = [ax.get_title(loc="left") for ax in page.figure.axes]
        self.assertEqual(left, [title for title in titles if title != "input (MB/s)"])
        self.assertIn("Not drawn: input, always 0.", " ".join(page.notes))


class Bandwidth(unittest.TestCase):
    def rates(self, records):
        """MB/s of the cell."""
        (setting,) = settings.group(records)
        of_each = (storage.files_rate, storage.storage_rate, storage.needed_rate)
        found = [rate_of(setting.cells[0]) for rate_of in of_each]
        return [rate and round(rate / 1e6, 2) for rate in found]

    def test_it_is_bytes_by_seconds_and_unknown_where_nobody_counted(self):
        records = sweep(flagged=(), gpus=(1,))
        self.assertEqual(self.rates(records), [4.17, 25.0, 112.34])
        for r in records:
            r["monitors"]["storage_read_bytes"] = -1
        self.assertEqual(self.rates(records), [4.17, None, 112.34])

    def test_a_cache_in_memory_reads_nothing(self):
        records = sweep(flagged=(), gpus=(1,))
        for r in records:
            r["cell"]["cache"] = "encoded" if r["role"] == "cell" else None
        self.assertEqual(self.rates(records), [None, None, None])

    def test_the_bytes_of_several_processes_are_those_of_the_record(self):
        records = sweep(flagged=(), gpus=(2,))
        for r in records:
            for i, rank in enumerate(r["ranks"]):
                rank.update(host="a", pid=100 + i)
        self.assertEqual(self.rates(records)[1], 25.0)


class Readings(unittest.TestCase):
    def test_they_are_those_of_the_largest_loss_at_any_number_of_gpus(self):
        records = sweep(flagged=())
        for r in records:
            if r["role"] == "cell" and r["cell"]["gpus"] == 2:
                r["imgs_per_s"] *= 0.9  # the larger loss, at the higher rate
        (setting,) = settings.group(records)
        cell, _ = readings.chosen(setting, None)
        self.assertEqual(cell.gpus, 2)


if __name__ == "__main__":
    unittest.main()
