"""Means, intervals and tests. The repetition is the unit: an interval says how far another
repetition may fall, and below three repetitions there is none."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace

LEVEL = 0.05  # of every test: how often it may find a difference where there is none
LEAST = 3  # repetitions: with fewer, the points stand for themselves
T_INTERVAL = "95 % t-interval on logarithms"
T_BOUNDED = T_INTERVAL + ", up to the rate that was set"
CHOSEN = ", corrected for the choice of workers"
T_CHOSEN = T_INTERVAL + CHOSEN
# where a sweep was asked for a precision: see t_interval()
IN_TWO_STAGES = ", in two stages"
# Where a budget ends a sweep, the cells that met the target are those whose spread happened to be
# small. Their intervals, wider by so much, hold the truth in 94 % of cases or more (as kWider of
# the program; scripts/validate-measurement precision).
WIDER = 1.07
SET = "set, not measured"
NEGLIGIBLE = 0.001  # of a share or a drift: less than the tenth of a percent that is shown
NO_INTERVAL = f"no interval below {LEAST} repetitions"


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval; low and high are None where there is none to state."""

    mean: float
    low: float | None
    high: float | None
    n: int  # repetitions
    kind: str  # one of those above
    points: tuple = ()  # a value for each repetition, in their order
    # of a share: the one-sided p-value against a true share of 1; 1 without an interval
    p_low: float = 1.0
    degrees: int | None = None  # of freedom, where they are not n - 1
    most: float | None = None  # what the value cannot exceed, where there is such a bound

    @property
    def df(self):
        return self.n - 1 if self.degrees is None else self.degrees

    @property
    def is_below_1(self):
        """Whether a share, tested alone, is shown to lie below 1: its two-sided 95 % interval on
        logarithms leaves out 1."""
        return self.p_low < LEVEL / 2

    @property
    def is_lopsided(self):
        """Whether one "±" would say too much of one side: the sides of its interval differ by more
        than a tenth of the wider one."""
        below, above = self.error_bar
        return abs(above - below) > 0.1 * max(above, below)

    @property
    def half_width(self):
        """The wider side of the interval, for a "±"; None without an interval."""
        return None if self.low is None else max(self.high - self.mean, self.mean - self.low, 0.0)

    @property
    def error_bar(self):
        """(below, above) the mean, never negative: what an error bar wants."""
        if self.low is None:
            return 0.0, 0.0
        return max(self.mean - self.low, 0.0), max(self.high - self.mean, 0.0)


@functools.cache  # a report asks for a handful of df, once for every cell
def t_quantile(probability, df):
    """Quantile of Student's t, by bisection of its distribution function."""
    if probability < 0.5:
        return -t_quantile(1 - probability, df)
    low, high = 0.0, 1.0
    while _t_cdf(high, df) < probability:
        high *= 2
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _t_cdf(middle, df) < probability else (low, middle)
    return (low + high) / 2


def _t_cdf(t, df):
    beyond = 0.5 * _incomplete_beta(df / 2, 0.5, df / (df + t * t))
    return 1 - beyond if t >= 0 else beyond


def _incomplete_beta(a, b, x):
    """Regularised incomplete beta by its continued fraction (Abramowitz and Stegun 26.5.8)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, 1 - x)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    # Lentz's evaluation from the front, which ends once a term changes nothing (Press et al.,
    # Numerical Recipes, 6.4).
    d = fraction = 1 / (1 - (a + b) * x / (a + 1))
    c = 1.0
    for m in range(1, 300):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + term * d)
            c = 1 + term / c
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * fraction / a


def estimate(rates, pilot=None):
    """The arithmetic mean of a rate for each repetition, with exp(mean log ± t·s/√n) from three
    on. `pilot`: see t_interval()."""
    mean = sum(rates) / len(rates)
    if len(rates) < LEAST:
        return Estimate(mean, None, None, len(rates), NO_INTERVAL, tuple(rates))
    centre, half, _, degrees = t_interval([math.log(rate) for rate in rates], pilot)
    return Estimate(
        mean,
        _exp(centre - half),
        _exp(centre + half),
        len(rates),
        _kind(T_INTERVAL, pilot),
        tuple(rates),
        degrees=degrees,
    )


def share(pairs, bias=0.0, kind=T_INTERVAL, pilot=None, most=None):
    """From (rate, reference) for each repetition, both measured in it: the geometric mean of the
    ratios, with a t-interval on their logarithms from three on. `bias`: what choosing has put into
    the mean logarithm, taken off again. `pilot`: see t_interval(); `most`: see bounded().
    """
    ratios = tuple(rate / reference for rate, reference in pairs)
    logs = [math.log(ratio) for ratio in ratios]
    mean = sum(logs) / len(logs) - bias
    if len(ratios) < LEAST:
        return Estimate(_exp(mean), None, None, len(ratios), NO_INTERVAL, ratios)
    _, half, error, degrees = t_interval(logs, pilot)
    found = Estimate(
        _exp(mean),
        _exp(mean - half),
        _exp(mean + half),
        len(ratios),
        _kind(kind, pilot),
        ratios,
        _t_cdf(mean / error, degrees),
        degrees,
    )
    return bounded(found, most)


def _kind(kind, pilot):
    return kind + IN_TWO_STAGES if pilot else kind


def bounded(found, most):
    """The estimate with an interval that ends at `most`, which its value cannot exceed, and reaches
    as far down on the logit of value / most as on the logarithm (Lesaffre, Rizopoulos and Tsonaka
    2007, Biostatistics 8:72): values that the bound holds up scatter to the other side. Where all
    of the interval lies above the bound, that one is wrong: it then stays as it is, and says so."""
    if most is None or found.low is None or found.low > most * (1 + NEGLIGIBLE):
        return found
    half = math.log(found.high / found.low) / 2
    low = most * _lower_end_on_logit(math.sqrt(found.low * found.high) / most, half)
    kind = found.kind.replace(T_INTERVAL, T_BOUNDED)
    return replace(
        found, low=low, high=cut_at(most, low, found.high, found.mean), kind=kind, most=most
    )


def _lower_end_on_logit(part, half):
    """Of an interval around a part of a bound. Close to the bound it would fall to 0: it is at most
    twice as far away as on the logarithm."""
    farthest = part * _exp(-2 * half)
    if part >= 1:
        return farthest
    logit = math.log(part / max(1 - part, 1e-16))
    return max(1 / (1 + _exp(half / (1 - part) - logit)), farthest)


def cut_at(most, low, high, value):
    """The upper end of an interval around the value without what lies beyond the bound: the
    interval holds what is below as often as before (Mandelkern 2002, Statistical Science 17:149).
    Where the value lies above the bound itself, by an error of measuring, the interval ends there.
    """
    return max(low, min(high, max(most, value)))


def plain_mean(values, pilot=None):
    """The mean of one value for each repetition, with a t-interval on the values themselves from
    three on. `pilot`: see t_interval()."""
    mean = sum(values) / len(values)
    if len(values) < LEAST:
        return Estimate(mean, None, None, len(values), NO_INTERVAL, tuple(values))
    _, half, _, degrees = t_interval(values, pilot)
    return Estimate(
        mean,
        mean - half,
        mean + half,
        len(values),
        _kind("95 % t-interval over repetitions", pilot),
        tuple(values),
        degrees=degrees,
    )


def median(values):
    """The middle one of them, or the mean of the two in the middle; of at least one."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def mean_share(values, pilot=None):
    """The plain_mean() of shares: its interval ends at 0 and at 1."""
    found = plain_mean(values, pilot)
    if found.low is None:
        return found
    return replace(found, low=max(found.low, 0.0), high=min(found.high, 1.0))


def shifted(found, bias):
    """The estimate of a rate less the `bias` that choosing has put into its mean logarithm."""
    if found.low is None:
        return found
    mean, low, high = (value * _exp(-bias) for value in (found.mean, found.low, found.high))
    how = found.kind.removesuffix(IN_TWO_STAGES)
    kind = how + CHOSEN + found.kind.removeprefix(how)
    high = high if found.most is None else max(min(high, found.most), low)
    return replace(found, mean=mean, low=low, high=high, kind=kind)


def mean_and_error(values):
    """Mean and its standard error, of at least two values."""
    centre, variance = _moments(values)
    return centre, max(math.sqrt(variance / len(values)), RESOLUTION)


def t_interval(values, pilot=None):
    """(mean, half-width of the 95 % interval, standard error, its degrees of freedom) of at least
    two values. `pilot`: the spread of so many first values has decided how many there are. Then the
    interval is by that spread and its degrees of freedom (Stein's two-stage rule, 1945), or by the
    spread of all where that makes it wider: the spread of values that go on until it is small
    claims too much. And it is WIDER."""
    n = len(values)
    centre = sum(values) / n
    stages = [values] if not pilot or not LEAST <= pilot < n else [values, values[:pilot]]
    return centre, *max(_half_width(stage, n, WIDER if pilot else 1.0) for stage in stages)


def _half_width(values, n, wider):
    """(half-width of the 95 % interval, standard error, degrees of freedom) of a mean of n, by the
    spread of these values."""
    error = max(wider * math.sqrt(_moments(values)[1] / n), RESOLUTION)
    # A hopeless spread over few repetitions would overflow; the interval is "anything" then.
    return min(t_quantile(0.975, len(values) - 1) * error, 300.0), error, len(values) - 1


def _exp(value):
    """Above zero and finite, whatever the value."""
    return math.exp(max(-700.0, min(value, 700.0)))


def _moments(values):
    """Mean and variance (n - 1)."""
    centre = sum(values) / len(values)
    return centre, sum((value - centre) ** 2 for value in values) / (len(values) - 1)


def hours_lost(images, pairs, bias=0.0, pilot=None):
    """Hours that `images` take longer at the rate than at the ceiling of the same repetition, from
    (rate, ceiling) for each; `bias` as in share(). Negative where the rate lies above the ceiling
    (noise)."""
    factor = math.exp(bias)
    return plain_mean(
        [images / 3600 * (factor / rate - 1 / ceiling) for rate, ceiling in pairs], pilot
    )


def widened(found, count):
    """The interval of a share that holds for all of `count` such shares together, so also for the
    most extreme of them (Bonferroni)."""
    if found.low is None or count < 2:
        return found
    wider = t_quantile(1 - LEVEL / 2 / count, found.df) / t_quantile(1 - LEVEL / 2, found.df)
    low, high = (
        found.mean * _exp(math.log(end / found.mean) * wider) for end in (found.low, found.high)
    )
    if found.most is not None:
        high = cut_at(found.most, low, high, found.mean)
    return replace(found, low=low, high=high)


def widened_mean(found, count):
    """The interval of a plain_mean() that holds for all of `count` such means together
    (Bonferroni)."""
    if found.low is None or count < 2:
        return found
    half = (
        found.half_width
        * t_quantile(1 - LEVEL / 2 / count, found.df)
        / t_quantile(1 - LEVEL / 2, found.df)
    )
    return replace(found, low=found.mean - half, high=found.mean + half)


# Rates are counts over a clock of nanoseconds: repetitions that agree better than this (an emulated
# device's, to the last bit) prove no smaller difference.
RESOLUTION = 1e-9


@dataclass(frozen=True)
class Difference:
    """How two independent samples of rates differ: the second over the first, on the log scale."""

    log: float  # mean log of the second less that of the first
    error: float  # its standard error
    df: float  # Welch and Satterthwaite's degrees of freedom

    @property
    def ratio(self):
        """Of the geometric means."""
        return _exp(self.log)

    @functools.cached_property
    def half_width(self):
        """Of the 95 % interval, on the log scale: the smallest difference that would be seen."""
        return min(t_quantile(0.975, self.df) * self.error, 300.0)

    @property
    def interval(self):
        """95 % for the ratio."""
        return _exp(self.log - self.half_width), _exp(self.log + self.half_width)

    @property
    def p(self):
        """Two-sided: how often equal rates would seem to differ by this much or more."""
        return 2 * (1 - _t_cdf(abs(self.log) / self.error, self.df))


def welch(first, second, pilots=(None, None)):
    """Welch's comparison of the logarithms of two samples of rates, at least two in each. Neither
    the spreads nor the numbers of repetitions need be alike. `pilots`: of each, see
    t_interval()."""
    (a, x, df_x), (b, y, df_y) = (
        _squared_error([math.log(rate) for rate in rates], pilot)
        for rates, pilot in zip((first, second), pilots)
    )
    error = math.sqrt(x + y)
    if error < RESOLUTION:
        return Difference(b - a, RESOLUTION, df_x + df_y)
    # Shares of the sum, so that no square of a tiny variance becomes zero.
    x, y = x / (x + y), y / (x + y)
    return Difference(b - a, error, 1 / (x * x / df_x + y * y / df_y))


def _squared_error(values, pilot):
    """(mean, its squared standard error, degrees of freedom)"""
    centre, variance = _moments(values)
    if not pilot:
        return centre, variance / len(values), len(values) - 1
    _, _, error, degrees = t_interval(values, pilot)
    return centre, error * error, degrees


def p_of_zero(estimate):
    """Two-sided, of a mean with a t-interval: how often a true mean of 0 would seem to be as far
    from it. 1 without an interval."""
    if estimate.low is None or estimate.mean == 0:
        return 1.0
    if estimate.half_width == 0:
        return 0.0
    errors = t_quantile(0.975, estimate.df) * abs(estimate.mean) / estimate.half_width
    return 2 * (1 - _t_cdf(errors, estimate.df))


def holm(values):
    """The p-values adjusted for their number (Holm 1979), in the same order: calling those below
    0.05 different is wrong about any of them in at most 5 % of such families."""
    adjusted, largest = [0.0] * len(values), 0.0
    for rank, i in enumerate(sorted(range(len(values)), key=lambda i: values[i])):
        largest = max(largest, min(1.0, (len(values) - rank) * values[i]))
        adjusted[i] = largest
    return adjusted
