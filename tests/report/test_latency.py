"""How long batches and reads take: the curves, the percentiles, what is said of them."""

import unittest

from ledgers import axes, paired, record, summary
from test_figures import HAVE_MATPLOTLIB

if HAVE_MATPLOTLIB:
    import drawn
    from report.figures import figures, latency
    from report.ledger import intervals
    from report.look import style

SERIOUS = {"name": "throttled", "severity": "serious", "reason": "hot", "remedy": "cool it"}
STEPS = 200


def sweep(png=500.0, jpeg=900.0, repetitions=4, spikes=0.0, reads=None):
    """A ceiling of 1,000 images/s; steps rise evenly by a tenth, and every twentieth is `spikes`
    times as long."""
    records = []
    for n in range(repetitions):
        off = 1 + 0.004 * (n % 3 - 1)
        for data, rate in (("synthetic", 1000.0), ("png", png * off), ("jpeg", jpeg * off)):
            role = "ceiling" if data == "synthetic" else "cell"
            one = record(axes(data, device="cuda"), rate, n, role)
            step = 1e3 * 256 / rate
            steps = [step * (0.95 + 0.1 * i / (STEPS - 1)) for i in range(STEPS)]
            if role == "cell" and spikes:
                steps[::20] = [spikes * step] * len(steps[::20])
            one["step_ms"] = summary(steps)
            one["data_wait_ms"] = summary([0.0 if role == "ceiling" else s / 4 for s in steps])
            if reads and role == "cell":
                one["io"] = {"latency_us": dict(reads)}
            records.append(one)
    return records


def panel(page, title):
    (ax,) = [ax for ax in page.figure.axes if ax.get_title(loc="left") == title]
    return ax


def curves(ax):
    return [line for line in ax.lines if len(line.get_xdata()) > 2]


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Curves(unittest.TestCase):
    def test_the_cell_that_loses_most_stands_beside_its_ceiling(self):
        page = drawn.page(latency, sweep(), 1)
        names = [t.get_text() for t in page.figure.legends[0].get_texts()]
        self.assertEqual(names, ["png 500x375, 2 workers", "ceiling (synthetic)"])
        cell, ceiling = curves(panel(page, "a step"))
        self.assertEqual(cell.get_color(), style.KINDS["png"].colour)
        self.assertEqual(ceiling.get_color(), style.BLACK)

    def test_a_curve_rises_from_the_least_to_the_largest_of_all_runs(self):
        records = sweep()
        (cell, _) = curves(panel(drawn.page(latency, records, 1), "a step"))
        values = sorted(
            v for r in records if r["cell"]["data"] == "png" for v in r["step_ms"]["raw"]
        )
        x, y = list(cell.get_xdata()), list(cell.get_ydata())
        self.assertEqual((x[0], x[-1]), (values[0], values[-1]))
        self.assertEqual(y[-1], 100)
        self.assertEqual((x, y), (sorted(x), sorted(y)))
        self.assertLessEqual(len(x), latency.MOST)
        for ms, share in list(zip(x, y))[:: len(x) // 7]:
            self.assertAlmostEqual(
                share / 100, sum(v <= ms for v in values) / len(values), delta=0.006
            )

    def test_p50_and_p99_are_marked_with_their_values(self):
        records = sweep()
        ax = panel(drawn.page(latency, records, 1), "a step")
        values = sorted(
            v for r in records if r["cell"]["data"] == "png" for v in r["step_ms"]["raw"]
        )
        points = [(x, y) for x, y, rim, *_ in drawn.points(ax) if rim != style.BLACK]
        for (x, y), q in zip(sorted(points), (0.5, 0.99), strict=True):
            self.assertAlmostEqual(x, intervals.quantile(values, q))
            self.assertAlmostEqual(y, 100 * q)
        said = drawn.texts(ax)
        self.assertTrue(any(t.startswith("p50 513, p99 53") for t in said), said)
        self.assertIn("p50 256, p99 269", said)

    def test_a_point_leads_to_its_cell(self):
        records = sweep()
        urls = {url for *_, url in drawn.points(panel(drawn.page(latency, records, 1), "a step"))}
        ids = {r["cell_id"] for r in records if r["cell"]["data"] in ("png", "synthetic")}
        self.assertEqual(urls, {f"#cell-{i}" for i in ids})

    def test_waits_have_a_panel_of_their_own(self):
        cell, ceiling = curves(panel(drawn.page(latency, sweep(), 1), "its wait for data"))
        self.assertGreater(cell.get_xdata()[-1], 100)
        self.assertLess(max(ceiling.get_xdata()), 1)

    def test_a_log_axis_only_where_the_range_needs_it(self):
        ax = panel(drawn.page(latency, sweep(), 1), "a step")
        self.assertEqual((ax.get_xscale(), ax.get_xlim()[0]), ("linear", 0))
        self.assertEqual(ax.get_xlabel(), "ms")
        records = sweep()
        for one in records:
            if one["role"] == "ceiling":  # a clock's grain is no reason
                one["data_wait_ms"] = summary([0.0, 0.001] * 100)
        ax = panel(drawn.page(latency, records, 1), "its wait for data")
        self.assertEqual(ax.get_xscale(), "linear")
        ax = panel(drawn.page(latency, sweep(spikes=60.0), 1), "a step")
        self.assertEqual(ax.get_xscale(), "log")
        self.assertEqual(ax.get_xlabel(), "ms, log scale")

    def test_reads_are_points_of_the_percentiles_that_all_runs_know(self):
        reads = {"median": 2000.0, "p90": 4000.0, "p99": 9000.0, "p999": None, "max": None}
        ax = panel(drawn.page(latency, sweep(reads=reads), 1), "one read")
        self.assertEqual([(x, y) for x, y, *_ in drawn.points(ax)], [(2, 50), (4, 90), (9, 99)])
        self.assertEqual(curves(ax), [])
        self.assertIn("p50 2.00, p90 4.00", drawn.texts(ax))

    def test_without_reads_there_is_no_such_panel(self):
        titles = [a.get_title(loc="left") for a in drawn.page(latency, sweep(), 1).figure.axes]
        self.assertEqual(titles, ["a step", "its wait for data"])

    def test_a_cell_in_pairs_has_no_curve_of_its_ceiling(self):
        page = drawn.page(latency, paired(4, cells=(("png", 500.0),), device="cuda"), 1)
        self.assertEqual(len(page.figure.legends[0].get_texts()), 1)
        self.assertIn("No step of the ceiling is kept", " ".join(page.notes))

    def test_without_steps_there_is_no_figure(self):
        records = sweep()
        for one in records:
            one["step_ms"].pop("raw")
        self.assertIsNone(drawn.page(latency, records, 1))

    def test_an_invalid_cell_stands_for_nothing(self):
        records = sweep()
        for one in records:
            if one["cell"]["data"] == "png":
                one.update(flags=[SERIOUS], valid=False)
        names = drawn.page(latency, records, 1).figure.legends[0].get_texts()
        self.assertEqual(names[0].get_text(), "jpeg 500x375, 2 workers")
        for one in records:
            one.update(flags=[SERIOUS], valid=False)
        self.assertIsNone(drawn.page(latency, records, 1))

    def test_the_numbers_stand_above_the_panel(self):
        for medium in ("SHEET", "COLUMN"):
            page = drawn.page(latency, sweep(), 1, medium)
            renderer = page.figure.canvas.get_renderer()
            for ax in page.figure.axes:
                self.assertTrue(ax.texts)
                for text in ax.texts:
                    box, inside = (of.get_window_extent(renderer) for of in (text, ax))
                    self.assertGreater(box.y0, inside.y1, text.get_text())

    def test_the_axis_ends_where_the_values_do(self):
        records = sweep()
        ax = panel(drawn.page(latency, records, 1), "a step")
        largest = max(
            v for r in records for v in r["step_ms"]["raw"] if r["cell"]["data"] != "jpeg"
        )
        self.assertLess(ax.get_xlim()[1], 1.1 * largest)


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Claim(unittest.TestCase):
    def test_the_loss_and_how_long_its_steps_take(self):
        words = drawn.claim(latency, sweep(), 1)
        self.assertRegex(
            words,
            r"^png 500x375, 2 workers loses [\d.]+ % \(.*\): its steps take 513 ms \(p50\) and"
            r" 53\d ms \(p99\); at the ceiling 256 and 269 ms$",
        )

    def test_no_loss_is_said(self):
        words = drawn.claim(latency, sweep(png=1000.0, jpeg=1000.0), 1)
        self.assertTrue(
            words.startswith(f"{figures.NAMED['latency'].title}: no measurable loss"), words
        )

    def test_two_repetitions_are_a_look(self):
        self.assertIn("a look", drawn.claim(latency, sweep(repetitions=2), 1))

    def test_the_title_names_the_cell_that_is_drawn(self):
        """Where a loss is shown, where none is, and of a look."""
        for records in (sweep(), sweep(png=1000.0, jpeg=1000.0), sweep(repetitions=2)):
            page = drawn.page(latency, records, 1)
            name = page.figure.legends[0].get_texts()[0].get_text()
            self.assertIn(name, drawn.claim(latency, records, 1))
            self.assertIn(name, page.caption[0])


if __name__ == "__main__":
    unittest.main()
