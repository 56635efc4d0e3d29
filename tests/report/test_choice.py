"""Which workers stand for a kind of data, and what their rate is corrected by."""

import math
import random
import unittest

from ledgers import axes, record
from report.claims import choice, panels
from report.ledger import settings, statistics


def sweep(rates, repetitions=6, noise=0.0, seed=1, ceiling=1000.0):
    """The setting of a sweep over workers: {workers: true images/s}."""
    source, records = random.Random(seed), []
    for n in range(repetitions):

        def run(cell, true, role="cell"):
            return dict(record(cell, true * math.exp(source.gauss(0, noise)), n, role), flags=[])

        top = axes(device="cuda")
        records.append(run(top, ceiling, "ceiling"))
        records += [run(axes("jpeg", device="cuda", workers=w), true) for w, true in rates.items()]
        records.append(run(top, ceiling, "ceiling"))
    return settings.group(records)[0]


def chosen(*arguments, **more):
    return panels.best(sweep(*arguments, **more).cells)


class Choice(unittest.TestCase):
    def test_the_fewest_workers_within_one_per_cent_of_every_other_count(self):
        found = chosen({1: 500.0, 2: 900.0, 4: 993.0, 8: 1000.0, 16: 998.0}, noise=0.0005)
        self.assertEqual((found.workers, found.is_shown), (4, True))
        self.assertEqual(
            found.how,
            "the fewest of 1, 2, 4, 8 and 16 workers shown to be within 1 % of every other count",
        )

    def test_it_stops_at_the_first_failure_from_the_most_workers_down(self):
        # 2 is as good as 8, but 4, between them, is not: that is no plateau.
        self.assertEqual(chosen({2: 1000.0, 4: 900.0, 8: 1000.0}, noise=0.0005).workers, 8)

    def test_else_the_fastest(self):
        found = chosen({2: 500.0, 4: 1000.0, 8: 950.0}, noise=0.01)
        self.assertEqual((found.workers, found.is_shown), (4, False))
        self.assertIn("the fastest of 2, 4 and 8 workers: none is shown", found.how)

    def test_where_there_is_no_choice_nothing_is_corrected(self):
        found = chosen({4: 700.0}, noise=0.02)
        self.assertEqual((found.how, found.rate), ("", found.origin.rate))

    def test_a_steady_count_does_not_pay_for_a_noisy_one(self):
        # What an emulated device does: two workers keep it busy to the last bit, one nearly does.
        records = sweep({2: 1000.0}, noise=0.0)
        noisy = sweep({1: 990.0}, noise=0.02)
        records.cells += noisy.cells
        found = panels.best(records.cells)
        self.assertEqual(found.workers, 2)
        self.assertAlmostEqual(found.rate.mean, 1000.0, places=3)

    def test_the_best_of_five_equal_counts_is_not_flattered(self):
        naive, corrected = [], []
        for seed in range(150):
            found = chosen(dict.fromkeys((1, 2, 4, 8, 16), 700.0), noise=0.02, seed=seed)
            naive.append(math.log(found.origin.rate.mean / 700))
            corrected.append(math.log(found.rate.mean / 700))
        error = 0.02 / math.sqrt(6)
        self.assertGreater(
            sum(naive) / 150 / error, 0.9, "standard errors too high: the winner's curse"
        )
        self.assertLess(abs(sum(corrected) / 150 / error), 0.65)

    def test_a_count_with_too_few_repetitions_takes_no_interval_away(self):
        setting, other = sweep({2: 500.0}, noise=0.001), sweep({4: 900.0}, repetitions=2)
        setting.cells += other.cells
        found = panels.best(setting.cells)
        self.assertEqual((found.workers, found.rate.n), (2, 6))
        self.assertIsNotNone(found.rate.low)

    def test_what_a_repetition_has_in_common_is_no_part_of_a_shares_correction(self):
        records, source = [], random.Random(5)
        for n in range(6):
            common = math.exp(source.gauss(0, 0.1))
            top = axes(device="cuda")
            records.append(record(top, 1000.0 * common, n, "ceiling"))
            records += [
                record(
                    axes("jpeg", device="cuda", workers=w),
                    900.0 * common * math.exp(source.gauss(0, 0.002)),
                    n,
                )
                for w in (1, 2)
            ]
        found = panels.best(settings.group(records)[0].cells)
        self.assertLess(abs(found.share_bias), 0.001)
        self.assertLess(found.ratio.half_width, 0.01)

    def test_valid_cells_come_first_and_fewer_than_three_repetitions_have_no_interval(self):
        setting = sweep({2: 500.0, 4: 1000.0}, noise=0.001)
        for r in setting.cells[1].runs:
            r["flags"] = [{"name": "throttled", "severity": "serious"}]
        setting.cells[1].__dict__.pop("flags", None)
        self.assertEqual(panels.best(setting.cells).workers, 2)
        found = chosen({2: 500.0, 4: 1000.0}, repetitions=2)
        self.assertEqual((found.workers, found.rate.low, found.ratio.low), (4, None, None))

    def test_a_mean_over_further_repetitions_is_corrected_by_less(self):
        found = chosen({1: 700.0, 2: 700.0}, noise=0.02)
        self.assertGreater(found.bias, 0)
        self.assertEqual(found.bias_of(6), found.bias)
        self.assertEqual(found.bias_of(24), found.bias / 4, "nothing was chosen in the others")
        self.assertEqual(found.bias_of(3), found.bias)

    def test_the_same_ledger_gives_the_same_numbers(self):
        once, again = (chosen({1: 700.0, 2: 700.0}, noise=0.02) for _ in range(2))
        self.assertEqual(once.rate, again.rate)

    def test_the_share_is_corrected_as_the_rate_is(self):
        found = chosen({1: 700.0, 2: 700.0, 4: 700.0}, noise=0.02)
        self.assertAlmostEqual(
            found.rate.mean / found.origin.rate.mean,
            found.ratio.mean / found.origin.ratio.mean,
            places=3,
        )
        self.assertEqual(found.ratio.kind, statistics.T_CHOSEN)
        self.assertEqual(choice.choose(()), None)


if __name__ == "__main__":
    unittest.main()
