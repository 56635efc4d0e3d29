"""Which losses a report may claim: only those that a statistical test shows, everywhere by the same
code."""

import unittest

from ledgers import axes, record
from report.claims import claims
from report.figures import figures, findings
from report.ledger import settings
from shares import LOSES, NOISE, NONE, of_shares
from test_figures import HAVE_MATPLOTLIB


class Claims(unittest.TestCase):
    def claim(self, shares, data):
        found = of_shares(shares)
        return claims.of(found).loss(next(c for c in found[0].cells if c.data == data))

    def test_a_loss_is_shown_or_bounded(self):
        self.assertEqual(
            self.claim({"jpeg": LOSES}, "jpeg").words(),
            "loses 10.0 % (8.7 to 11.3 %) of its throughput",
        )
        noise = self.claim({"jpeg": NOISE}, "jpeg")
        self.assertFalse(noise.is_shown)
        self.assertRegex(noise.words(), r"^no measurable loss \(at most \d+\.\d %\)$")
        self.assertIn("no measurable loss", self.claim({"jpeg": NONE}, "jpeg").words())

    def test_an_interval_that_hides_a_large_loss_is_said_to_tell_little(self):
        self.assertRegex(
            self.claim({"jpeg": [0.6, 1.1, 0.9, 1.2]}, "jpeg").words(),
            r"^too uncertain to tell a loss \(at most \d+\.\d %\)$",
        )

    def test_less_than_a_tenth_of_a_per_cent_is_no_loss(self):
        self.assertEqual(
            self.claim({"jpeg": [0.9995, 0.9995, 0.99951, 0.9995]}, "jpeg").words(),
            "no measurable loss (below 0.1 %)",
        )

    def test_below_three_repetitions_nothing_is_claimed(self):
        for count in (1, 2):
            self.assertEqual(self.claim({"jpeg": [0.5] * count}, "jpeg").words(), claims.LOOK)

    def test_many_cells_share_the_risk_of_one(self):
        doubtful = [0.93, 0.99, 0.95, 0.96]  # p = 0.02, one-sided
        self.assertTrue(self.claim({"jpeg": doubtful}, "jpeg").is_shown)
        others = dict.fromkeys(("png", "bmp", "npy", "raw"), NONE)
        self.assertFalse(self.claim({"jpeg": doubtful, **others}, "jpeg").is_shown)

    def test_beside_many_others_a_cell_below_its_interval_is_said_so(self):
        doubtful = [0.93, 0.97, 0.95, 0.96]  # its own interval leaves out 1
        others = dict.fromkeys(("png", "bmp", "npy", "raw", "png0", "tensor"), NONE)
        for claim in (
            self.claim(
                {"jpeg": doubtful, **{data: [0.9, 1.1, 0.95, 1.05] for data in others}}, "jpeg"
            ),
        ):
            if not claim.is_shown:
                self.assertIn("no loss is shown for all cells together", claim.words())

    def test_nothing_is_claimed_of_what_is_not_valid(self):
        found = of_shares({"jpeg": LOSES})
        for r in found[0].ceilings[0].runs:
            r["flags"] = [{"name": "throttled", "severity": "serious"}]
        found[0].ceilings[0].__dict__.pop("flags", None)
        self.assertEqual(claims.Claims(found).loss(found[0].cells[0]).words(), "")

    @unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
    def test_scaling_is_tested_like_a_loss(self):
        for two, words in (
            ([880.0, 882.0, 878.0, 881.0], "keeps 88.0 %"),
            ([1000.0, 1003.0, 998.0, 1000.0], "No measurable loss of scaling"),
        ):
            records = []
            for n in range(4):
                for gpus, rate in ((1, 500.0), (2, two[n])):
                    records.append(
                        record(axes(device="cuda", gpus=gpus), gpus * 500.0, n, "ceiling")
                    )
                    records.append(record(axes("jpeg", device="cuda", gpus=gpus), rate, n))
                    records.append(
                        record(axes(device="cuda", gpus=gpus), gpus * 500.0, n, "ceiling")
                    )
            found = settings.group(records)
            plan = next(p for p in figures.plan(found) if p.module == "throughput_vs_gpus")
            self.assertIn(words, findings.finding(plan, claims.of(found)))


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Sentences(unittest.TestCase):
    """Every place that could claim a loss, with noise alone and with a loss."""

    def everything(self, shares):
        found = of_shares(shares)
        all_claims = claims.of(found)
        words = [
            findings.finding(plan, all_claims)
            for plan in figures.plan(found)
            if plan.figure.states_result
        ]
        return "\n".join(words)

    def test_noise_is_claimed_nowhere(self):
        words = self.everything({"jpeg": NOISE, "png": NONE})
        self.assertNotRegex(words, r"\bloses?\b|costs|keeps|would need|limits")
        self.assertIn("No measurable loss (at most", words)

    def test_what_is_not_judged_is_named(self):
        found = of_shares({"jpeg": NONE, "png": [1.10, 1.11, 1.09, 1.10]})
        plan = next(p for p in figures.plan(found) if p.module == "throughput_vs_workers")
        self.assertRegex(
            findings.finding(plan, claims.of(found)),
            r"^No measurable loss \(.*\); not judged: png 500x375 \(above its ceiling\)$",
        )

    def test_a_loss_is_named_everywhere_with_its_interval(self):
        words = self.everything({"jpeg": LOSES, "png": NONE})
        self.assertIn(
            "A loss is shown for 1 of 2 kinds and sizes: jpeg 500x375 with 2 workers loses 10.0 %"
            " (8.7 to 11.3 %)",
            words,
        )
        self.assertRegex(words, r"decode takes \d+\.\d %")


if __name__ == "__main__":
    unittest.main()
