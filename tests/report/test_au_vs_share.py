"""A device may be busy and slow: what its utilisation hides, and when that is said."""

import unittest

from ledgers import axes, gpu, in_pairs, record
from test_figures import HAVE_MATPLOTLIB

if HAVE_MATPLOTLIB:
    import drawn
    from report.figures import au_vs_share, figures
    from report.look import style

    TITLE = figures.NAMED["au_vs_share"].title

SERIOUS = {"name": "throttled", "severity": "serious", "reason": "hot", "remedy": "cool it"}


def sweep(found, repetitions=4, monitored=True, **changes):
    """A ceiling of 1,000 images/s, and cells of {data: (images/s, share of the time busy)}."""
    records = []
    for n in range(repetitions):
        off = 1 + 0.004 * (n % 3 - 1)
        records.append(record(axes(device="cuda"), 1000.0, n, "ceiling"))
        for data, (rate, busy) in found.items():
            one = record(axes(data, device="cuda", **changes), rate * off, n)
            one["device_idle_fraction"] = 1 - busy
            if monitored:
                readings = {**gpu(), "utilisation_percent": [100 * busy] * 8}
                one["ranks"] = [{"rank": 0, "gpu": readings}]
                one["device_idle_fraction"] = 0.5
            records.append(one)
    return records


BOTH = {"png": (510.0, 0.98), "jpeg": (950.0, 0.96)}


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Figure(unittest.TestCase):
    def points(self, records, medium="SHEET"):
        ax = drawn.page(au_vs_share, records, 1, medium).figure.axes[0]
        return {(round(x, 2), round(y, 2)): rest for x, y, *rest in drawn.points(ax)}

    def test_a_cell_is_where_its_share_and_its_utilisation_are(self):
        records = sweep(BOTH)
        found = self.points(records)
        self.assertEqual(set(found), {(0.51, 0.98), (0.95, 0.96)})
        self.assertEqual(found[0.51, 0.98][0], style.KINDS["png"].colour)
        png = next(r for r in records if r["cell"]["data"] == "png")
        self.assertEqual(found[0.51, 0.98][2], "#cell-" + png["cell_id"])

    def test_the_diagonal_is_drawn_from_zero(self):
        ax = drawn.page(au_vs_share, sweep(BOTH), 1).figure.axes[0]
        lines = [line for line in ax.lines if list(line.get_xdata()) == list(line.get_ydata())]
        self.assertEqual([list(line.get_xdata())[0] for line in lines], [0])
        self.assertEqual((ax.get_xlim(), ax.get_xlim()[0]), (ax.get_ylim(), 0))

    def test_without_a_driver_the_steps_say_it(self):
        page = drawn.page(au_vs_share, sweep(BOTH, monitored=False), 1)
        self.assertEqual(
            set(self.points(sweep(BOTH, monitored=False))), {(0.51, 0.98), (0.95, 0.96)}
        )
        self.assertIn("without such readings", " ".join(page.notes))
        self.assertNotIn("nvidia-smi", " ".join(page.notes))

    def test_readings_of_a_run_in_pairs_are_of_the_ceiling_too(self):
        found = {"png": (300.0, 0.98), "jpeg": (480.0, 0.96)}
        records = [in_pairs(r, 1000.0) for r in sweep(found) if r["role"] == "cell"]
        self.assertEqual({y for _, y in self.points(records)}, {0.5})

    def test_nothing_is_drawn_of_devices_as_busy_as_they_are_fast(self):
        alike = {"png": (510.0, 0.53), "jpeg": (950.0, 0.96)}
        self.assertIsNone(drawn.page(au_vs_share, sweep(alike), 1))
        self.assertIsNone(drawn.page(au_vs_share, sweep(BOTH, repetitions=2), 1))
        above = {"png": (510.0, 0.58), "jpeg": (950.0, 0.96)}
        self.assertIsNotNone(drawn.page(au_vs_share, sweep(above), 1))

    def test_a_single_cell_or_an_unknown_utilisation_is_none(self):
        self.assertIsNone(drawn.page(au_vs_share, sweep({"png": (510.0, 0.98)}), 1))
        records = sweep(BOTH, monitored=False)
        for one in records:
            one.pop("device_idle_fraction")
        self.assertIsNone(drawn.page(au_vs_share, records, 1))

    def test_an_invalid_cell_is_hollow(self):
        records = sweep({**BOTH, "bmp": (300.0, 0.97)})
        for one in records:
            if one["cell"]["data"] == "png":
                one.update(flags=[SERIOUS], valid=False)
        self.assertEqual(self.points(records)[0.51, 0.98][1], "none")

    def test_every_cell_is_named(self):
        for medium in ("SHEET", "COLUMN"):
            page = drawn.page(au_vs_share, sweep(BOTH), 1, medium)
            texts, renderer = page.figure.axes[0].texts, page.figure.canvas.get_renderer()
            names = {t.get_text(): t.get_window_extent(renderer) for t in texts}
            self.assertEqual(set(names), {f"{d} 500x375, 2 workers" for d in BOTH})
            (one, other) = names.values()
            self.assertFalse(one.overlaps(other))


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Claim(unittest.TestCase):
    def claim(self, records):
        return drawn.claim(au_vs_share, records, 1)

    def test_the_trap_is_said_with_its_numbers(self):
        self.assertRegex(
            self.claim(sweep(BOTH)),
            r"^The device is 98\.0 % busy at 5[01]\.\d % \(\d\d\.\d to \d\d\.\d %\) of the ceiling:"
            r" png 500x375, 2 workers$",
        )

    def test_a_device_that_waits_as_much_as_it_loses_is_none(self):
        self.assertEqual(self.claim(sweep({"png": (510.0, 0.51), "jpeg": (950.0, 0.96)})), TITLE)

    def test_an_invalid_cell_is_none(self):
        records = sweep(BOTH)
        for one in records:
            if one["cell"]["data"] == "png":
                one.update(flags=[SERIOUS], valid=False)
        self.assertEqual(self.claim(records), TITLE)

    def test_two_repetitions_are_none(self):
        self.assertEqual(self.claim(sweep(BOTH, repetitions=2)), TITLE)

    def test_the_furthest_is_said(self):
        words = self.claim(sweep({**BOTH, "bmp": (300.0, 0.97)}))
        self.assertIn("bmp 500x375", words)
        self.assertIn("97.0 % busy", words)


if __name__ == "__main__":
    unittest.main()
