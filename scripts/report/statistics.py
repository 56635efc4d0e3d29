"""Means and intervals. The repetition is the unit: an interval says how far another repetition
may fall, and only where there is a single one does it fall back on the blocks within that run."""
from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Optional

from .ledger import number

T_INTERVAL = "95 % t-interval on log throughput"
WITHIN_RUN = "95 % interval within one run"
MIXED = "95 % interval, in part within one run"
NO_INTERVAL = "no interval"


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval; low and high are None where there is none to state."""
    mean: float
    low: Optional[float]
    high: Optional[float]
    n: int        # repetitions
    kind: str     # one of the four above

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


@functools.lru_cache(maxsize=None)     # a report asks for a handful of df, once for every cell
def t_quantile(probability, df):
    """Quantile of Student's t, by bisection of its distribution function."""
    if probability < 0.5:
        return -t_quantile(1 - probability, df)
    low, high = 0.0, 1.0
    while _t_cdf(high, df) < probability:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _t_cdf(middle, df) < probability else (low, middle)
    return (low + high) / 2


def _t_cdf(t, df):
    return 1 - 0.5 * _incomplete_beta(df / 2, 0.5, df / (df + t * t))


def _incomplete_beta(a, b, x):
    """Regularised incomplete beta by its continued fraction (Abramowitz and Stegun 26.5.8)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
                     + a * math.log(x) + b * math.log1p(-x))
    fraction = 1.0
    for m in range(200, 0, -1):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m - 1) * (a + b + m - 1) * x / ((a + 2 * m - 2) * (a + 2 * m - 1))
        fraction = 1 + odd / (1 + even / fraction)
    return front / (a * fraction)


def log_t_interval(rates):
    """Arithmetic mean of at least two rates, with exp(mean log ± t·s/√n)."""
    n = len(rates)
    centre, variance = _of_logs(rates)
    half = t_quantile(0.975, n - 1) * math.sqrt(variance / n)
    # A hopeless spread over two repetitions would overflow; the interval is "anything" then.
    half = min(half, 300.0)
    return Estimate(sum(rates) / n, _exp(centre - half), _exp(centre + half), n, T_INTERVAL)


def _exp(value):
    """Above zero and finite, whatever the value."""
    return math.exp(max(-700.0, min(value, 700.0)))


def _of_logs(rates):
    """Mean and variance (n - 1) of the logarithms."""
    logs = [math.log(rate) for rate in rates]
    centre = sum(logs) / len(logs)
    return centre, sum((value - centre) ** 2 for value in logs) / (len(logs) - 1)


def within_run(rates, intervals):
    """Mean of the runs of one repetition (a cell has one, a ceiling a first and a last), with their
    own intervals combined as independent; no interval where a run states none."""
    k, mean = len(rates), sum(rates) / len(rates)
    if not all(_sound(interval) for interval in intervals):
        return Estimate(mean, None, None, 1, NO_INTERVAL)
    down = math.sqrt(sum(_log(r / i[0]) ** 2 for r, i in zip(rates, intervals))) / k
    up = math.sqrt(sum(_log(i[1] / r) ** 2 for r, i in zip(rates, intervals))) / k
    return Estimate(mean, _exp(math.log(mean) - down), _exp(math.log(mean) + up), 1, WITHIN_RUN)


def _sound(interval):
    return isinstance(interval, (list, tuple)) and len(interval) == 2 and \
        all(number(v) is not None for v in interval) and \
        0 < interval[0] <= interval[1]


def _log(ratio):
    return max(math.log(ratio), 0.0)


def estimate(repetitions):
    """From {repetition: [(imgs_per_s, ci95 or None), ...]}: over repetitions where there are two
    or more, else within the only one."""
    if len(repetitions) >= 2:
        return log_t_interval([sum(rate for rate, _ in runs) / len(runs)
                               for runs in repetitions.values()])
    (runs,) = repetitions.values()
    return within_run([r for r, _ in runs], [interval for _, interval in runs])


def _joint(a, b):
    kind = a.kind if a.kind == b.kind else NO_INTERVAL if NO_INTERVAL in (a.kind, b.kind) else MIXED
    return kind, min(a.n, b.n)


def ratio(rate, ceiling):
    """rate / ceiling. The distances to the interval's ends add in quadrature on the log scale, the
    rate's lower with the ceiling's upper one (Donner and Zou's MOVER for a ratio)."""
    value = rate.mean / ceiling.mean
    kind, n = _joint(rate, ceiling)
    if kind == NO_INTERVAL:
        return Estimate(value, None, None, n, kind)
    down = math.hypot(_log(rate.mean / rate.low), _log(ceiling.high / ceiling.mean))
    up = math.hypot(_log(rate.high / rate.mean), _log(ceiling.mean / ceiling.low))
    return Estimate(value, value * math.exp(-down), value * math.exp(min(up, 300.0)), n, kind)


def scaling(rate, gpus, first, first_gpus):
    """Scaling efficiency: the rate at `gpus` over what as many would reach if each kept the pace of the first count's.
    1 by definition at the first count itself."""
    times = gpus / first_gpus
    if rate is first:
        return Estimate(1.0, None, None, rate.n, NO_INTERVAL)
    linear = Estimate(first.mean * times, None if first.low is None else first.low * times,
                      None if first.high is None else first.high * times, first.n, first.kind)
    return ratio(rate, linear)


def hours_lost(images, rate, ceiling):
    """Hours that `images` take longer at `rate` than at `ceiling`, the interval by the same rule
    on the difference of the two times. Negative where the rate beats its ceiling (noise)."""
    hours = images / 3600
    slow, fast = hours / rate.mean, hours / ceiling.mean
    kind, n = _joint(rate, ceiling)
    if kind == NO_INTERVAL:
        return Estimate(slow - fast, None, None, n, kind)
    down = math.hypot(slow - hours / rate.high, hours / ceiling.low - fast)
    up = math.hypot(hours / rate.low - slow, fast - hours / ceiling.high)
    return Estimate(slow - fast, slow - fast - down, slow - fast + up, n, kind)


# Rates are counts over a clock of nanoseconds: repetitions that agree better than this (an emulated
# device's, to the last bit) prove no smaller difference.
RESOLUTION = 1e-9


@dataclass(frozen=True)
class Difference:
    """How two independent samples of rates differ: the second over the first, on the log scale."""
    log: float       # mean log of the second less that of the first
    error: float     # its standard error
    df: float        # Welch and Satterthwaite's degrees of freedom

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


def welch(first, second):
    """Welch's comparison of the logarithms of two samples of rates, at least two in each. Neither
    the spreads nor the numbers of repetitions need be alike."""
    (a, spread_a), (b, spread_b) = _of_logs(first), _of_logs(second)
    x, y = spread_a / len(first), spread_b / len(second)
    error = math.sqrt(x + y)
    if error < RESOLUTION:
        return Difference(b - a, RESOLUTION, len(first) + len(second) - 2)
    # Shares of the sum, so that no square of a tiny variance becomes zero.
    x, y = x / (x + y), y / (x + y)
    return Difference(b - a, error, 1 / (x * x / (len(first) - 1) + y * y / (len(second) - 1)))


def holm(values):
    """The p-values adjusted for their number (Holm 1979), in the same order: calling those below
    0.05 different is wrong about any of them in at most 5 % of such families."""
    adjusted, largest = [0.0] * len(values), 0.0
    for rank, i in enumerate(sorted(range(len(values)), key=lambda i: values[i])):
        largest = max(largest, min(1.0, (len(values) - rank) * values[i]))
        adjusted[i] = largest
    return adjusted
