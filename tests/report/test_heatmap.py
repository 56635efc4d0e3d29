"""The map of the shares by kind of data and stored size: its rows, and what is said of it."""

import unittest

from ledgers import axes, record
from test_figures import HAVE_MATPLOTLIB

if HAVE_MATPLOTLIB:
    import drawn
    from report.figures import ceiling_heatmap
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


if __name__ == "__main__":
    unittest.main()
