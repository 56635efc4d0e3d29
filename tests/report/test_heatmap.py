"""The map of the shares by kind of data and stored size: its rows, and what is said of it."""

import unittest

from ledgers import axes, record
from test_figures import HAVE_MATPLOTLIB

if HAVE_MATPLOTLIB:
    import drawn
    from report.figures import ceiling_heatmap, share, throughput_vs_workers
    from report.look import style

SIZES = ("224x224", "500x375")


def sweep(shares, sizes=SIZES, repetitions=4):
    """A ceiling of 1,000 images/s, and a cell for each kind and stored size of {kind: [share at
    each size]}."""
    records = []
    for n in range(repetitions):
        off = 1 + 0.004 * (n % 3 - 1)
        records.append(record(axes(device="cuda"), 1000.0, n, "ceiling"))
        for data, of in shares.items():
            for size, share in zip(sizes, of, strict=True):
                cell = axes(data, device="cuda", **{"image-size": size})
                records.append(record(cell, 1000.0 * share * off, n))
    return records


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Rows(unittest.TestCase):
    def test_a_sheet_shows_the_worst_and_counts_the_others(self):
        kinds = [kind for kind in style.KINDS if kind != "synthetic"]
        shares = {kind: [0.4, 0.5] for kind in kinds} | {"png": [0.99, 0.99]}
        page = drawn.page(ceiling_heatmap, sweep(shares), 1)
        names = [t.get_text() for t in page.figure.axes[0].get_yticklabels()]
        self.assertEqual(sorted(names), sorted(kind for kind in kinds if kind != "png"))
        self.assertEqual((len(names), page.scale), (ceiling_heatmap.ROWS, 1.0))
        self.assertIn("1 more row: on the page and in table.csv.", page.notes)
        page = drawn.page(ceiling_heatmap, sweep(shares), 1, "WIDE")
        names = [t.get_text() for t in page.figure.axes[0].get_yticklabels()]
        self.assertEqual(sorted(names), sorted(kinds))


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Claim(unittest.TestCase):
    SHARES = {"jpeg": [0.999, 0.8], "png": [0.5, 0.4], "bmp": [0.999, 0.999]}

    def test_it_counts_the_stored_sizes_at_which_a_kind_loses(self):
        self.assertRegex(
            drawn.claim(ceiling_heatmap, sweep(self.SHARES), 1),
            r"^Stored sizes with a loss: png 2 of 2, jpeg 1 of 2; the largest: png 500x375 loses"
            r" (59|60)\.\d % \(.*\)$",
        )

    def test_of_many_kinds_two_are_named(self):
        words = drawn.claim(ceiling_heatmap, sweep({**self.SHARES, "bmp": [0.7, 0.7]}), 1)
        self.assertIn("png 2 of 2, bmp 2 of 2, 1 more kind; the largest", words)

    def test_it_is_its_own(self):
        records = sweep(self.SHARES)
        others = drawn.claim(throughput_vs_workers, records, 1), drawn.claim(share, records)
        self.assertNotIn(drawn.claim(ceiling_heatmap, records, 1), others)

    def test_no_loss_is_said(self):
        words = drawn.claim(ceiling_heatmap, sweep({"bmp": [1.0, 1.0]}), 1)
        self.assertIn(": no measurable loss", words)


if __name__ == "__main__":
    unittest.main()
