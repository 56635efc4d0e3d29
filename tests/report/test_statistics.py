"""The intervals against tables and against values worked out by hand."""
import math
import random
import unittest

import ledgers  # noqa: F401  (puts scripts/ on the path)
from report import statistics as st


class TQuantile(unittest.TestCase):
    def test_agrees_with_the_printed_table(self):
        for df, expected in ((1, 12.7062), (2, 4.30265), (3, 3.18245), (5, 2.57058), (9, 2.26216),
                             (30, 2.04227), (120, 1.97993), (100000, 1.95999)):
            self.assertAlmostEqual(st.t_quantile(0.975, df), expected, delta=2e-5 * expected)

    def test_is_symmetric(self):
        self.assertAlmostEqual(st.t_quantile(0.05, 4), -st.t_quantile(0.95, 4))


class Intervals(unittest.TestCase):
    def test_three_repetitions_by_hand(self):
        # ln 100, ln 110, ln 121: mean ln 110, s = ln 1.1, half = 4.30265 · ln 1.1 / √3.
        half = 4.302653 * math.log(1.1) / math.sqrt(3)
        found = st.estimate({0: [(100.0, None)], 1: [(110.0, None)], 2: [(121.0, None)]})
        self.assertAlmostEqual(found.mean, 331 / 3)
        self.assertAlmostEqual(found.low, 110 * math.exp(-half), places=3)
        self.assertAlmostEqual(found.high, 110 * math.exp(half), places=3)
        self.assertEqual((found.n, found.kind), (3, st.T_INTERVAL))

    def test_a_single_run_keeps_its_own_interval(self):
        found = st.estimate({0: [(100.0, [95.0, 108.0])]})
        self.assertAlmostEqual(found.low, 95.0)
        self.assertAlmostEqual(found.high, 108.0)
        self.assertEqual((found.n, found.kind), (1, st.WITHIN_RUN))

    def test_first_and_last_ceiling_of_one_repetition_are_one_repetition(self):
        found = st.estimate({0: [(100.0, [90.0, 110.0]), (100.0, [90.0, 110.0])]})
        self.assertEqual(found.n, 1)
        self.assertAlmostEqual(found.low, 100 * 0.9 ** (1 / math.sqrt(2)))

    def test_no_interval_is_none_and_never_zero(self):
        for odd in (None, [1.0], [0, 5], ["a", "b"], [5.0, 1.0]):
            found = st.estimate({0: [(3.0, odd)]})
            self.assertIsNone(found.low)
            self.assertEqual(found.kind, st.NO_INTERVAL)

    def test_hopeless_spread_does_not_overflow(self):
        found = st.estimate({0: [(1e-6, None)], 1: [(1e9, None)]})
        self.assertTrue(math.isfinite(found.high))

    def test_covers_95_per_cent(self):
        source, inside = random.Random(1), 0
        for _ in range(2000):
            rates = {n: [(math.exp(source.gauss(7, 0.05)), None)] for n in range(4)}
            found = st.estimate(rates)
            inside += found.low <= math.exp(7) <= found.high
        self.assertTrue(0.93 <= inside / 2000 <= 0.97, inside / 2000)


class Derived(unittest.TestCase):
    rate = st.Estimate(400.0, 380.0, 420.0, 3, st.T_INTERVAL)
    ceiling = st.Estimate(1000.0, 970.0, 1040.0, 3, st.T_INTERVAL)

    def test_ratio_by_hand(self):
        found = st.ratio(self.rate, self.ceiling)
        down = math.hypot(math.log(400 / 380), math.log(1040 / 1000))
        up = math.hypot(math.log(420 / 400), math.log(1000 / 970))
        self.assertAlmostEqual(found.mean, 0.4)
        self.assertAlmostEqual(found.low, 0.4 * math.exp(-down))
        self.assertAlmostEqual(found.high, 0.4 * math.exp(up))

    def test_ratio_without_an_interval_has_none(self):
        bare = st.Estimate(1000.0, None, None, 1, st.NO_INTERVAL)
        self.assertIsNone(st.ratio(self.rate, bare).low)
        single = st.Estimate(1000.0, 990.0, 1010.0, 1, st.WITHIN_RUN)
        self.assertEqual(st.ratio(self.rate, single).kind, st.MIXED)

    def test_hours_lost_by_hand(self):
        found = st.hours_lost(3_600_000, self.rate, self.ceiling)
        self.assertAlmostEqual(found.mean, 2.5 - 1.0)
        self.assertAlmostEqual(found.low, 1.5 - math.hypot(2.5 - 1000 / 420, 1000 / 970 - 1))
        self.assertAlmostEqual(found.high, 1.5 + math.hypot(1000 / 380 - 2.5, 1 - 1000 / 1040))


if __name__ == "__main__":
    unittest.main()
