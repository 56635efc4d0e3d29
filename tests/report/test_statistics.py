"""The intervals against tables and against values worked out by hand."""

import math
import random
import unittest

import ledgers  # noqa: F401  (puts scripts/ on the path)
from report.ledger import statistics as st


class TQuantile(unittest.TestCase):
    def test_agrees_with_the_printed_table(self):
        for df, expected in (
            (1, 12.7062),
            (2, 4.30265),
            (3, 3.18245),
            (5, 2.57058),
            (9, 2.26216),
            (30, 2.04227),
            (120, 1.97993),
            (100000, 1.95999),
        ):
            self.assertAlmostEqual(st.t_quantile(0.975, df), expected, delta=2e-5 * expected)

    def test_is_symmetric(self):
        self.assertAlmostEqual(st.t_quantile(0.05, 4), -st.t_quantile(0.95, 4))


class Intervals(unittest.TestCase):
    def test_three_repetitions_by_hand(self):
        # ln 100, ln 110, ln 121: mean ln 110, s = ln 1.1, half = 4.30265 · ln 1.1 / √3.
        half = 4.302653 * math.log(1.1) / math.sqrt(3)
        found = st.estimate([100.0, 110.0, 121.0])
        self.assertAlmostEqual(found.mean, 331 / 3)
        self.assertAlmostEqual(found.low, 110 * math.exp(-half), places=3)
        self.assertAlmostEqual(found.high, 110 * math.exp(half), places=3)
        self.assertEqual((found.n, found.kind), (3, st.T_INTERVAL))

    def test_below_three_repetitions_the_points_and_no_interval(self):
        for rates in ([100.0], [100.0, 140.0]):
            for found in (
                st.estimate(rates),
                st.share([(rate, 200.0) for rate in rates]),
                st.plain_mean(rates),
            ):
                self.assertEqual(
                    (found.low, found.high, found.half_width, found.kind),
                    (None, None, None, st.NO_INTERVAL),
                )
                self.assertEqual(
                    (found.n, len(found.points), found.p_low), (len(rates), len(rates), 1.0)
                )

    def test_hopeless_spread_does_not_overflow(self):
        for rates in ((1e-6, 1e9, 1), (1e-320, 1e300, 1)):
            found = st.estimate(rates)
            self.assertTrue(0 < found.low and math.isfinite(found.high))

    def test_covers_95_per_cent(self):
        source, inside = random.Random(1), 0
        for _ in range(2000):
            found = st.estimate([math.exp(source.gauss(7, 0.05)) for _ in range(4)])
            inside += found.low <= math.exp(7) <= found.high
        self.assertTrue(0.93 <= inside / 2000 <= 0.97, inside / 2000)


class Shares(unittest.TestCase):
    PAIRS = [(95.0, 100.0), (100.0, 110.0), (85.0, 90.0)]

    def test_the_mean_log_ratio_by_hand(self):
        logs = [math.log(a / b) for a, b in self.PAIRS]
        mean = sum(logs) / 3
        half = 4.302653 * math.sqrt(sum((x - mean) ** 2 for x in logs) / 2 / 3)
        found = st.share(self.PAIRS)
        for mine, by_hand in zip(
            (found.mean, found.low, found.high), (mean, mean - half, mean + half)
        ):
            self.assertAlmostEqual(mine, math.exp(by_hand), places=6)

    def test_what_both_have_in_common_within_a_repetition_falls_out(self):
        factors = (1.0, 1.3, 0.6)
        moved = st.share([(a * f, b * f) for (a, b), f in zip(self.PAIRS, factors)])
        self.assertAlmostEqual(moved.low, st.share(self.PAIRS).low)

    def test_a_share_and_its_inverse_have_inverse_intervals(self):
        there, back = st.share(self.PAIRS), st.share([(b, a) for a, b in self.PAIRS])
        self.assertAlmostEqual(there.low * back.high, 1)
        self.assertAlmostEqual(there.p_low + back.p_low, 1)

    def test_p_is_that_of_scipy(self):
        # scipy 1.17: scipy.stats.ttest_1samp(numpy.log([0.95, 100 / 110, 85 / 90]), 0,
        # alternative="less").pvalue
        self.assertAlmostEqual(st.share(self.PAIRS).p_low, 0.0194421, places=6)

    def test_hours_lost_by_hand(self):
        hours = [1000 / a - 1000 / b for a, b in self.PAIRS]
        mean = sum(hours) / 3
        half = 4.302653 * math.sqrt(sum((x - mean) ** 2 for x in hours) / 2 / 3)
        found = st.hours_lost(3_600_000, self.PAIRS)
        for mine, by_hand in zip(
            (found.mean, found.low, found.high), (mean, mean - half, mean + half)
        ):
            self.assertAlmostEqual(mine, by_hand, places=6)
        self.assertIsNone(st.hours_lost(1, self.PAIRS[:2]).low)

    def test_the_most_extreme_of_several_has_a_wider_interval(self):
        found = st.share(self.PAIRS)
        self.assertEqual(st.widened(found, 1), found)
        wider = st.widened(found, 4)
        self.assertAlmostEqual(
            math.log(wider.high / wider.mean) / math.log(found.high / found.mean),
            st.t_quantile(1 - 0.025 / 4, 2) / st.t_quantile(0.975, 2),
        )


class Bounded(unittest.TestCase):
    """Where a value cannot exceed something."""

    def of(self, values, most, **more):
        return st.share([(value, 1.0) for value in values], most=most, **more)

    def test_by_hand(self):
        plain, found = self.of([0.5, 0.6, 0.7], None), self.of([0.5, 0.6, 0.7], 1.0)
        part = plain.mean
        half = math.log(plain.high / part) / (1 - part)
        odds = part / (1 - part)
        self.assertAlmostEqual(found.low, 1 / (1 + math.exp(half) / odds))
        self.assertEqual(found.high, plain.high)
        self.assertEqual(
            (found.mean, found.p_low, found.points), (plain.mean, plain.p_low, plain.points)
        )
        self.assertEqual(found.kind, st.T_BOUNDED)

    def test_it_holds_the_mean_and_ends_before_its_bound(self):
        for rates in (
            [1300.0, 1700.0, 2460.0, 2470.1],
            [2469.9, 2469.8, 2469.95],
            [2470.0] * 5 + [2456.0],  # one spike among runs that reach the bound
        ):
            found = st.bounded(st.estimate(rates), 2470.0)
            self.assertTrue(0 < found.low < found.mean < found.high <= 2470.0, found)

    def test_noise_that_lifts_values_above_the_bound_is_covered(self):
        source, inside = random.Random(1), 0
        for _ in range(2000):
            found = self.of([0.995 * math.exp(source.gauss(0, 0.01)) for _ in range(4)], 1.0)
            inside += found.low <= 0.995 <= found.high
        self.assertGreaterEqual(inside / 2000, 0.94)

    def test_what_reaches_the_bound_each_time_is_known_well(self):
        found = self.of([1.00001, 1.00002, 1.000015], 1.0)
        self.assertTrue(0.9999 < found.low <= 1 < found.high == found.mean, found)
        self.assertAlmostEqual(found.mean, 1.000015)

    def test_a_bound_that_is_shown_to_be_wrong_is_none(self):
        values = [1.04, 1.05, 1.06]
        self.assertEqual(self.of(values, 1.0), self.of(values, None))

    def test_fewer_than_three_repetitions_have_no_interval(self):
        self.assertIsNone(self.of([0.5, 0.9], 1.0).low)

    def test_a_choice_and_several_of_them_stay_below_it(self):
        found = self.of([0.90, 0.93, 0.99], 1.0)
        for more in (
            st.widened(found, 8),
            st.shifted(found, -0.2),
            self.of([0.90, 0.93, 0.99], 1.0, bias=-0.02, kind=st.T_CHOSEN),
        ):
            self.assertTrue(0 < more.low < more.high <= 1, more)
        self.assertLess(st.widened(found, 8).low, found.low)
        self.assertTrue(st.shifted(found, -0.2).kind.endswith(st.CHOSEN))

    def test_a_loss_is_shown_where_it_was_without_the_bound(self):
        source = random.Random(2)
        for _ in range(300):
            values = [min(1.0, 0.99 * math.exp(source.gauss(0, 0.01))) for _ in range(4)]
            plain = self.of(values, None)
            self.assertEqual(plain.is_below_1, plain.high < 1)
            self.assertEqual(self.of(values, 1.0).is_below_1, plain.is_below_1)

    def test_covers_95_per_cent_of_what_is_far_from_normal(self):
        source, inside = random.Random(1), 0
        for _ in range(2000):
            found = self.of([source.betavariate(3, 1) for _ in range(4)], 1.0)
            inside += found.low <= 0.75 <= found.high
        self.assertTrue(0.93 <= inside / 2000 <= 0.97, inside / 2000)


class Welch(unittest.TestCase):
    # scipy 1.17.1: r = scipy.stats.ttest_ind(numpy.log(second), numpy.log(first), equal_var=False);
    # r.df, r.pvalue, numpy.exp(r.confidence_interval(0.95)).
    CASES = (
        (
            [100.0, 104.0, 99.0],
            [90.0, 95.0],
            1.635729427510782,
            0.13051926799915348,
            0.7756959848134619,
            1.081007935441467,
        ),
        (
            [1000.0, 1004.0, 998.0, 1010.0, 995.0, 1001.0],
            [950.0, 958.0, 947.0, 961.0, 944.0, 952.0],
            9.346534678178212,
            1.034292029846534e-07,
            0.9432843853680278,
            0.9582236829685895,
        ),
        (
            [39.7, 40.1, 35.2, 41.0],
            [38.9, 39.3, 40.2, 39.0, 39.9, 40.0],
            3.168181589301726,
            0.6814529176986881,
            0.9124147702132882,
            1.130834091481159,
        ),
        (
            [2470.0, 2470.1],
            [2470.0, 2469.0],
            1.0199890966194893,
            0.4684845093019752,
            0.997312166893259,
            1.0022485507356917,
        ),
    )

    def test_agrees_with_scipy(self):
        for first, second, df, p, low, high in self.CASES:
            found = st.welch(first, second)
            self.assertAlmostEqual(found.df, df, delta=1e-9 * df)
            self.assertAlmostEqual(found.p, p, delta=1e-9 + 1e-7 * p)
            for mine, theirs in zip(found.interval, (low, high)):
                self.assertAlmostEqual(mine, theirs, delta=1e-8 * theirs)
            geometric = [math.exp(sum(map(math.log, x)) / len(x)) for x in (first, second)]
            self.assertAlmostEqual(found.ratio, geometric[1] / geometric[0])

    def test_exchanging_the_samples_inverts_it(self):
        there, back = st.welch([100, 104, 99], [90, 95]), st.welch([90, 95], [100, 104, 99])
        self.assertAlmostEqual(there.ratio * back.ratio, 1)
        self.assertAlmostEqual(there.interval[0] * back.interval[1], 1)
        self.assertAlmostEqual(there.p, back.p)

    def test_identical_repetitions_prove_no_more_than_the_clock_resolves(self):
        same = st.welch([500.0, 500.0], [500.0, 500.0, 500.0])
        self.assertEqual((round(same.ratio, 12), round(same.p, 5), same.df), (1.0, 1.0, 3))
        rounding = st.welch([500.0, 500.0], [500.0000000001, 500.0000000001])
        self.assertGreater(rounding.p, 0.5)
        self.assertLess(st.welch([500.0, 500.0], [501.0, 501.0]).p, 1e-6)

    def test_one_sample_without_spread(self):
        found = st.welch([500.0, 500.0, 500.0], [490.0, 500.0, 510.0])
        self.assertAlmostEqual(found.df, 2)
        self.assertTrue(found.interval[0] < 1 < found.interval[1])

    def test_hopeless_spread_does_not_overflow(self):
        self.assertTrue(all(map(math.isfinite, st.welch([1e-6, 1e9], [1e-6, 1e12]).interval)))


class TwoStages(unittest.TestCase):
    """Where the spread of the first repetitions has decided how many there are (Stein 1945)."""

    PILOT = [100.0, 102.0, 98.0, 101.0]

    def test_the_interval_is_by_the_pilots_spread(self):
        rates = self.PILOT + [100.2, 100.1, 100.3, 100.2]
        logs = [math.log(rate) for rate in rates[:4]]
        centre = sum(logs) / 4
        spread = math.sqrt(sum((x - centre) ** 2 for x in logs) / 3)
        half = st.WIDER * st.t_quantile(0.975, 3) * spread / math.sqrt(8)
        found, plain = st.estimate(rates, 4), st.estimate(rates)
        self.assertAlmostEqual(math.log(found.high / found.low) / 2, half, delta=1e-12)
        self.assertLess(plain.high - plain.low, found.high - found.low)
        self.assertEqual((found.mean, found.df, plain.df), (plain.mean, 3, 7))
        self.assertIn("in two stages", found.kind)

    def test_a_wider_spread_later_counts(self):
        rates = self.PILOT + [90.0, 110.0, 92.0, 108.0]
        self.wider_by(st.WIDER, st.estimate(rates, 4), st.estimate(rates))

    def test_the_pilot_alone_is_a_t_interval(self):
        self.wider_by(st.WIDER, st.estimate(self.PILOT, 4), st.estimate(self.PILOT))

    def wider_by(self, factor, found, plain):
        one, other = (math.log(e.high / e.low) for e in (found, plain))
        self.assertAlmostEqual(one / other, factor, delta=1e-9)
        self.assertEqual(found.df, plain.df)

    def test_shares_and_comparisons_follow(self):
        rates = self.PILOT + [100.2, 100.1, 100.3, 100.2]
        pairs = [(rate, 200.0) for rate in rates]
        self.assertGreater(st.share(pairs, pilot=4).half_width, st.share(pairs).half_width)
        other = [90.0, 90.1, 90.2, 90.1]
        self.assertGreater(
            st.welch(rates, other, (4, None)).half_width, st.welch(rates, other).half_width
        )
        wide = st.widened(st.share(pairs, pilot=4), 5)
        self.assertGreater(wide.half_width, st.share(pairs, pilot=4).half_width)


if __name__ == "__main__":
    unittest.main()
