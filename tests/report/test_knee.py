"""From how many workers on more of them gain nothing that matters."""

import unittest

from ledgers import axes, record
from report.claims import knee
from report.ledger import settings
from test_figures import HAVE_MATPLOTLIB

if HAVE_MATPLOTLIB:
    import drawn
    from report.figures import throughput_vs_workers
    from report.look import style

SERIOUS = {"name": "throttled", "severity": "serious", "reason": "hot", "remedy": "cool it"}
NOISE = (0.0, 0.02, -0.02, 0.01)
PARTS = (1.0, -1.0, 0.6, 0.2, -0.6)


def sweep(rates, noise=(0.0, 0.001, -0.001, 0.0005), data="jpeg"):
    """Records of {workers: images/s}. Each repetition is off by its noise, each count by a part of
    its own, so that the noise of no two counts cancels."""
    return [
        record(axes(data, workers=workers), rate * (1 + PARTS[i] * off), n, valid=True)
        for n, off in enumerate(noise)
        for i, (workers, rate) in enumerate(rates.items())
    ]


def cells(*rates_and_noise):
    (setting,) = settings.group(sweep(*rates_and_noise))
    return setting.cells


class Knees(unittest.TestCase):
    def test_it_is_where_the_curve_goes_flat(self):
        found = knee.of(cells({1: 100, 2: 200, 4: 400, 8: 401, 16: 401}))
        self.assertEqual(found, knee.Knee(4, 4, 4, 16))
        self.assertEqual(found.words, "knee: 4 workers")

    def test_noise_widens_it_to_both_sides(self):
        found = knee.of(cells({1: 100, 2: 396, 4: 400, 8: 401, 16: 401}, NOISE))
        self.assertEqual(found, knee.Knee(4, 2, 16, 16))
        self.assertEqual(found.words, "knee: 4 workers (95 %: 2 to 16 or more)")

    def test_what_all_counts_share_in_a_repetition_widens_nothing(self):
        records = [
            record(axes("jpeg", workers=w), rate * (1 + off), n)
            for n, off in enumerate((0.0, 0.3, -0.2))
            for w, rate in ((1, 100), (2, 200), (4, 200.5))
        ]
        (setting,) = settings.group(records)
        self.assertEqual(knee.of(setting.cells), knee.Knee(2, 2, 2, 4))

    def test_a_rate_that_still_rises_has_none(self):
        found = knee.of(cells({1: 100, 2: 200, 4: 400}))
        self.assertFalse(found.is_reached)
        self.assertEqual(found.words, "no knee up to 4 workers")

    def test_a_dip_between_does_not_end_it(self):
        self.assertEqual(knee.of(cells({1: 100, 2: 99, 4: 400, 8: 400})).workers, 4)

    def test_where_workers_only_disturb_one_is_the_knee(self):
        self.assertEqual(knee.of(cells({1: 400, 2: 390, 4: 300})).words, "knee: 1 worker")

    def test_two_counts_are_no_curve(self):
        self.assertIsNone(knee.of(cells({1: 100, 2: 200})))

    def test_the_training_thread_is_no_count(self):
        self.assertIsNone(knee.of(cells({0: 50, 1: 100, 2: 200})))
        self.assertEqual(knee.of(cells({0: 50, 1: 100, 2: 200, 4: 200})).workers, 2)

    def test_two_repetitions_say_nothing(self):
        self.assertIsNone(knee.of(cells({1: 100, 2: 200, 4: 200}, (0.0, 0.001))))

    def test_an_invalid_count_is_left_out(self):
        found = cells({1: 100, 2: 200, 4: 400, 8: 400})
        found[-1].runs[0].update(flags=[SERIOUS], valid=False)
        self.assertFalse(knee.of(found).is_reached)


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Figure(unittest.TestCase):
    """Throughput against workers marks the knee and says it."""

    def page(self, *rates):
        kinds = ("jpeg", "png")
        records = [r for data, of in zip(kinds, rates) for r in sweep(of, NOISE, data)]
        return drawn.page(throughput_vs_workers, records, 1)

    def marks(self, page):
        """{colour: (workers, images/s)} of the rings."""
        (ax,) = (ax for ax in page.figure.axes if ax.get_title(loc="left"))
        rings = [line for line in ax.lines if self.is_ring(line)]
        return {
            ring.get_color(): (2 ** ring.get_xdata()[0], float(ring.get_ydata()[0]))
            for ring in rings
        }

    @staticmethod
    def is_ring(line):
        return line.get_marker() == "o" and line.get_markerfacecolor() == "none"

    def entries(self, page):
        (legend,) = page.figure.legends
        return [text.get_text() for text in legend.get_texts()]

    def test_the_count_and_its_interval(self):
        page = self.page({1: 100, 2: 396, 4: 400, 8: 401, 16: 401})
        ((colour, (workers, rate)),) = self.marks(page).items()
        self.assertEqual((colour, workers), (style.KINDS["jpeg"].colour, 4))
        self.assertAlmostEqual(rate, 400, delta=10)  # on its own point
        self.assertEqual(self.entries(page).count("knee"), 1)
        said = " ".join(page.notes)
        self.assertIn("jpeg 500x375, knee: 4 workers (95 %: 2 to 16 or more).", said)

    def test_a_rate_that_still_rises_is_said_and_not_marked(self):
        page = self.page({1: 100, 2: 200, 4: 400}, {1: 100, 2: 200, 4: 200.5})
        self.assertEqual(list(self.marks(page)), [style.KINDS["png"].colour])
        self.assertIn("jpeg 500x375, no knee up to 4 workers", " ".join(page.notes))

    def test_two_counts_have_none(self):
        page = self.page({1: 100, 2: 200})
        self.assertEqual(self.marks(page), {})
        self.assertNotIn("knee", " ".join(page.notes))
        self.assertNotIn("knee", self.entries(page))

    def test_rings_at_one_place_lie_around_each_other(self):
        page = self.page({1: 400, 2: 400, 4: 400}, {1: 400, 2: 400, 4: 400})
        (ax,) = (ax for ax in page.figure.axes if ax.get_title(loc="left"))
        sizes = {line.get_markersize() for line in ax.lines if self.is_ring(line)}
        self.assertEqual(len(sizes), 2)
        markers = [line.get_markersize() for line in ax.lines if not self.is_ring(line)]
        self.assertGreater(min(sizes), max(markers))

    def test_a_line_under_the_same_line_is_wider(self):
        rates = {1: 100, 2: 200, 4: 400}
        page = self.page(rates, {count: 1.001 * rate for count, rate in rates.items()})
        (ax,) = (ax for ax in page.figure.axes if ax.get_title(loc="left"))
        widths, sizes = {}, {}
        for line in ax.lines:
            if len(line.get_xdata()) == 3:
                widths[line.get_color()] = line.get_linewidth()
            elif line.get_marker() in ("s", "^") and len(line.get_xdata()) == 1:
                sizes[line.get_markerfacecolor()] = line.get_markersize()
        jpeg, png = (style.KINDS[data].colour for data in ("jpeg", "png"))
        self.assertGreater(widths[jpeg], widths[png] + 2)
        self.assertGreater(sizes[jpeg], sizes[png] + 2)
        self.assertIn("those below are wider", " ".join(page.notes))

    def test_lines_that_differ_are_alike_in_width(self):
        page = self.page({1: 100, 2: 200, 4: 400}, {1: 100, 2: 200, 4: 300})
        (ax,) = (ax for ax in page.figure.axes if ax.get_title(loc="left"))
        widths = {line.get_linewidth() for line in ax.lines if len(line.get_xdata()) == 3}
        self.assertEqual(len(widths), 1)
        self.assertNotIn("wider", " ".join(page.notes))


if __name__ == "__main__":
    unittest.main()
