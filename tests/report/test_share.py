"""The share of the ceiling of all cells: what is drawn where, and what is said of it."""

import unittest

from ledgers import axes, record
from test_figures import HAVE_MATPLOTLIB

if HAVE_MATPLOTLIB:
    import drawn
    from report.claims import claims
    from report.figures import forest, share
    from report.look import style

SERIOUS = {"name": "throttled", "severity": "serious", "reason": "hot", "remedy": "cool it"}
RATES = {"png": 525.0, "jpeg": 800.0, "bmp": 999.0}


def sweep(rates=RATES, repetitions=4, spread=0.004, **changes):
    """A ceiling of 1,000 images/s, and cells of these."""
    records = []
    for n in range(repetitions):
        off = 1 + spread * (n % 3 - 1)
        records.append(record(axes(device="cuda", **changes), 1000.0, n, "ceiling"))
        records += [
            record(axes(data, device="cuda", **changes), rate * off, n)
            for data, rate in rates.items()
        ]
    return records


def of(records, data):
    return [r for r in records if r["cell"]["data"] == data]


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Share(unittest.TestCase):
    def test_the_largest_loss_is_the_first_row(self):
        ax = drawn.page(share, sweep()).figure.axes[0]
        names = [t.get_text() for t in ax.get_yticklabels()]
        self.assertEqual([n.split()[0] for n in names], ["png", "jpeg", "bmp"])
        means = sorted((y, x) for x, y, *_ in drawn.points(ax))
        for (_, x), due in zip(means, (0.999, 0.8, 0.525), strict=True):
            self.assertAlmostEqual(x, due, delta=0.003)
        self.assertEqual([y for y, _ in means], [-2.0, -1.0, 0.0])

    def test_the_axis_begins_at_zero_and_ends_at_the_ceiling(self):
        ax = drawn.page(share, sweep({"png": 525.0, "jpeg": 800.0})).figure.axes[0]
        self.assertEqual(ax.get_xlim(), (0, 1))
        self.assertIn("100", [t.get_text() for t in ax.get_xticklabels()])
        ax = drawn.page(share, sweep({"png": 1100.0})).figure.axes[0]
        self.assertGreater(ax.get_xlim()[1], 1.1)
        self.assertEqual(ax.get_xlabel(), "% of the ceiling")

    def test_the_strip_is_the_margin_of_the_claims(self):
        (strip,) = drawn.page(share, sweep({"png": 1010.0})).figure.axes[0].patches
        self.assertAlmostEqual(strip.get_x(), 1 - claims.MARGIN)
        self.assertAlmostEqual(strip.get_x() + strip.get_width(), 1 + claims.MARGIN)

    def test_a_shown_loss_has_the_colour_of_its_kind_and_the_rest_is_grey(self):
        ax = drawn.page(share, sweep()).figure.axes[0]
        rims = {y: rim for _, y, rim, _, _ in drawn.points(ax)}
        self.assertEqual(rims[0.0], style.KINDS["png"].colour)
        self.assertEqual(rims[-1.0], style.KINDS["jpeg"].colour)
        self.assertEqual(rims[-2.0], style.GREY)

    def test_the_interval_and_the_numbers_are_those_of_the_cell(self):
        page = drawn.page(share, sweep())
        ax = page.figure.axes[0]
        (words,) = [t for t in drawn.texts(ax) if t.startswith("52.")]
        self.assertRegex(words, r"^52\.\d % \(52\.\d to 52\.\d %\)$")
        low, high = next(
            line.get_xdata()
            for line in ax.lines
            if len(line.get_xdata()) == 2 and list(line.get_ydata()) == [0.0, 0.0]
        )
        self.assertTrue(0.51 < low < 0.525 < high < 0.54)

    def test_a_point_leads_to_the_records_of_its_cell(self):
        records = sweep()
        ax = drawn.page(share, records).figure.axes[0]
        urls = {y: url for _, y, _, _, url in drawn.points(ax)}
        self.assertEqual(urls[0.0], "#cell-" + of(records, "png")[0]["cell_id"])

    def test_an_invalid_cell_is_hollow_and_below_the_valid_ones(self):
        records = sweep()
        of(records, "png")[0].update(flags=[SERIOUS], valid=False)
        ax = drawn.page(share, records).figure.axes[0]
        names = [t.get_text().split()[0] for t in ax.get_yticklabels()]
        self.assertEqual(names, ["jpeg", "bmp", "png"])
        faces = {y: face for _, y, _, face, _ in drawn.points(ax)}
        self.assertEqual(faces[-2.0], "none")
        self.assertNotEqual(faces[0.0], "none")
        self.assertIn("!", drawn.texts(ax))

    def test_a_missing_cell_is_the_last_and_no_zero(self):
        records = [r for r in sweep() if r["cell"]["data"] != "jpeg"]
        gone = axes("jpeg", device="cuda")
        records += [record(gone, None, n, status="failed", error="gone") for n in range(4)]
        ax = drawn.page(share, records).figure.axes[0]
        self.assertEqual(ax.get_yticklabels()[-1].get_text().split()[0], "jpeg")
        self.assertIn("× failed", drawn.texts(ax))
        self.assertEqual(len(drawn.points(ax)), 2)

    def test_without_a_ceiling_there_is_none(self):
        records = [r for r in sweep() if r["role"] == "cell"]
        self.assertIsNone(drawn.page(share, records))

    def test_several_numbers_of_gpus_are_rows_of_their_own(self):
        records = sweep({"png": 525.0}) + sweep({"png": 300.0}, gpus=2)
        ax = drawn.page(share, records).figure.axes[0]
        names = [t.get_text() for t in ax.get_yticklabels()]
        self.assertEqual(names, ["png 500x375, 2 workers, 2 GPUs", "png 500x375, 2 workers, 1 GPU"])

    def test_a_great_many_rows_keep_the_largest_losses_and_what_is_invalid(self):
        records = []
        for i in range(50):
            records += of(sweep({"png": 500.0 + i}, **{"image-size": f"{100 + i}x100"}), "png")
        records += [r for r in sweep({}) if r["role"] == "ceiling"]
        records[0].update(flags=[SERIOUS], valid=False)
        page = drawn.page(share, records)
        names = [t.get_text() for t in page.figure.axes[0].get_yticklabels()]
        self.assertEqual((len(names), page.scale), (forest.SHORT, 1.0))
        self.assertIn("101x100", names[0])
        self.assertIn("100x100", names[-1])
        self.assertIn("34 more rows: on the page and in table.csv.", page.notes)
        self.assertIn("holds for the worst of 49 cells", " ".join(page.notes))
        page = drawn.page(share, records, medium="WIDE")
        self.assertEqual(len(page.figure.axes[0].get_yticklabels()), 50)
        self.assertNotIn("more row", " ".join(page.notes))

    def test_a_column_has_the_same_rows(self):
        ax = drawn.page(share, sweep(), medium="COLUMN").figure.axes[0]
        self.assertEqual(len(drawn.points(ax)), 3)
        self.assertEqual(len(ax.get_yticklabels()), 3)

    def test_words_keep_to_the_page(self):
        for medium in ("SHEET", "COLUMN"):
            page = drawn.page(share, sweep(), medium=medium)
            (ax,), renderer = page.figure.axes, page.figure.canvas.get_renderer()
            self.assertGreater(ax.get_window_extent(renderer).width, 0.2 * page.figure.bbox.width)
            for text in [*ax.texts, *ax.get_yticklabels()]:
                box = text.get_window_extent(renderer)
                self.assertTrue(box.x0 >= 0 and box.x1 <= page.figure.bbox.width, text.get_text())


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Claim(unittest.TestCase):
    def test_how_many_lose_and_the_worst(self):
        words = drawn.claim(share, sweep())
        self.assertRegex(
            words,
            r"^2 of 3 cells lose; the worst, png 500x375, 2 workers, reaches 52\.\d %"
            r" \(\d\d\.\d to \d\d\.\d %\) of the ceiling$",
        )
        self.assertIn(words, drawn.page(share, sweep()).caption[0])

    def test_a_single_loser_is_told_with_the_others(self):
        words = drawn.claim(share, sweep({"png": 525.0, "jpeg": 999.0, "bmp": 999.0}))
        self.assertRegex(words, r"^png .* of the ceiling; no loss is shown for 2 others$")
        words = drawn.claim(share, sweep({"png": 525.0}))
        self.assertTrue(words.endswith("of the ceiling"), words)

    def test_no_loss_is_said_with_its_bound(self):
        words = drawn.claim(share, sweep({"jpeg": 1000.0}))
        self.assertRegex(words, r"^Share of the ceiling: no measurable loss \(")

    def test_two_repetitions_are_a_look(self):
        self.assertIn("a look", drawn.claim(share, sweep(repetitions=2)))

    def test_what_is_not_judged_is_named(self):
        records = sweep()
        of(records, "png")[0].update(flags=[SERIOUS], valid=False)
        words = drawn.claim(share, records)
        self.assertTrue(words.startswith("jpeg 500x375, 2 workers") or "1 of 2" in words, words)
        self.assertIn("not judged: png 500x375 (not valid)", words)
        self.assertNotIn("52", words)


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Rows(unittest.TestCase):
    def test_a_sheet_shows_what_it_can_at_a_readable_size(self):
        short, long = "jpeg 500x375, 2 workers", 50 * "x"
        self.assertEqual(forest.room_for([short] * 50, style.SHEET), forest.SHORT)
        self.assertEqual(forest.room_for([short, long], style.SHEET), forest.LONG)
        self.assertEqual(forest.room_for([long] * 50, style.WIDE), forest.TALL)

    def test_what_is_left_out_is_counted(self):
        self.assertEqual(forest.left_out(0, style.SHEET), [])
        self.assertEqual(forest.left_out(1, style.WIDE), ["1 more row: in table.csv."])


if __name__ == "__main__":
    unittest.main()
