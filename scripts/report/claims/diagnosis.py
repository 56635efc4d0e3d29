"""What `feedrate diagnose` found of one cell: the bars of its waterfall, and what may be said of
its verdict. Imports nothing that draws."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..ledger import statistics
from ..text import axis_value, clean, counted, listing
from . import quotable
from .claims import LOOK

SYNTHETIC, DISCARD = "synthetic", "discard"
BESIDE = (SYNTHETIC, DISCARD, "cpus")  # no links of the chain below the ceiling
# How the loss of a step is told: as what it is, or why it is not.
LOSS, GAIN, NOT_TOLD, NO_INTERVAL = "loss", "gain", "not told from 0", "no interval"
NOT_QUOTABLE = "must not be quoted"
# Rungs are rounded, and a round may lack one: within this share of the ceiling, a loss and the
# difference of its two rungs are the same number.
SAME = 0.02


@dataclass(frozen=True)
class Rung:
    name: str
    rate: object  # Estimate of images/s; None: it was left out
    left_out: str  # why; of one with a rate: of later rounds


@dataclass(frozen=True)
class Step:
    """From one rung to the next: what it costs."""

    name: str
    start: str  # the rung before it
    end: str
    lost: object  # Estimate of images/s; below zero where the rung after it is faster
    ms: object  # Estimate of ms a training step; None: unknown


@dataclass(frozen=True)
class Slope:
    """How much of a delay that is put in at a place the whole is slowed by."""

    place: str
    kind: str
    delay: str  # "0.25 ms", "20 % more reads"
    slope: object  # Estimate; its n counts pairs
    binds: object  # probability that the run waits for the place; None: unknown

    @property
    def words(self):
        """How likely it is that the run waits for the place, as the verdict takes it."""
        if self.slope.low is None:
            return NO_INTERVAL
        return "" if self.binds is None else confidence(self.binds)


@dataclass(frozen=True)
class Verdict:
    names: tuple
    resources: tuple
    confidence: object  # None: unknown
    is_clear: bool
    sentence: str
    evidence: tuple  # ((which, what it names), …)
    agrees: bool


@dataclass(frozen=True)
class Advice:
    remedy: str
    options: str
    why: str
    predicted: object  # Estimate of images/s, None where there is none
    measured: object  # the same; None: not tried
    not_tried: str = ""  # why
    by_workers: str = ""  # of a search for the number of workers: what it measured


@dataclass(frozen=True)
class SeenFlag:
    """A flag of the ladder's runs: something else used the machine, or a number is off."""

    name: str
    runs: int  # that raised it
    reason: str
    severity: str = ""


@dataclass(frozen=True)
class Bar:
    """A step as the figures draw it."""

    step: Step
    top: float  # the rate of the rung before it
    share: float  # of the ceiling, that is lost
    how: str  # LOSS, GAIN, NOT_TOLD, NO_INTERVAL or NOT_QUOTABLE
    is_named: bool  # by the verdict

    @property
    def bottom(self):
        return self.top - self.step.lost.mean

    @property
    def words(self):
        """("−612", "24.8 %"): the change of the rate, and its share of the ceiling."""
        lost = self.step.lost.mean
        size = rate_words(abs(lost))
        sign = "" if size == "0" else "−" if lost > 0 else "+"
        return sign + size, share_words(abs(self.share))

    @property
    def ends(self):
        """(lowest, highest) place of its end, by the interval of the loss."""
        lost = self.step.lost
        if lost.low is None:
            return self.bottom, self.bottom
        return self.top - lost.high, self.top - lost.low


@dataclass(frozen=True)
class Diagnosis:
    cell: dict
    label: str
    rounds: int
    seconds: object  # None: unknown
    ladder: tuple
    steps: tuple
    slopes: tuple
    verdict: Verdict
    advice: tuple
    # rows of words, as diagnosis_tables.py heads them
    capacities: tuple
    stages: tuple
    patterns: tuple
    warnings: tuple = ()
    runs: object = None  # of the ladder; None: unknown
    blocks_failed: str = ""  # why there are no slopes, or too few
    blocks_batch_size: object = None  # for each GPU; None: unknown

    @property
    def gpus(self):
        return self.cell.get("gpus") or 1

    def rate(self, rung):
        """Of a rung; None where it was not measured."""
        return next((r.rate for r in self.ladder if r.name == rung), None)

    @property
    def ceiling(self):
        return self.rate(SYNTHETIC)

    @property
    def reached(self):
        """The rung at which the chain ends: the cell itself; None where there is none but the
        ceiling."""
        if self.steps:
            return next(r for r in self.ladder if r.name == self.steps[-1].end)
        chain = [r for r in self.ladder if r.rate and r.name not in BESIDE]
        return chain[-1] if chain else None

    @property
    def caveats(self):
        """What could not be measured and what disturbed it, a sentence each."""
        found = [
            f"Left out{' of later rounds' if rung.rate else ''}: {clean(rung.name, 30)}"
            f" ({clean(rung.left_out, 200)})."
            for rung in self.ladder
            if rung.left_out
        ]
        own = self.cell.get("batch-size")
        if self.blocks_batch_size and own and self.blocks_batch_size != own:
            found.append(
                f"Delays were measured with batches of {self.blocks_batch_size:.0f}, not the"
                f" cell's {own}."
            )
        if self.blocks_failed:
            of = " of some rounds" if self.slopes else ""
            found.append(f"Left out{of}: delays ({clean(self.blocks_failed, 200)}).")
        of = f" of {self.runs:.0f}" if self.runs else ""
        return found + [
            f"Warning: {clean(w.name, 30)} in {w.runs}{of} runs: {clean(w.reason, 150)}."
            for w in self.warnings
        ]

    @property
    def serious(self):
        """The flags that forbid to quote it, in words."""
        found = [w for w in self.warnings if w.severity == "serious"]
        return [
            quotable.named(w.name, w.runs, f"{self.runs or w.runs:.0f}", [w.reason]) for w in found
        ]

    @property
    def not_quotable(self):
        """Why no number of it is to be quoted, its ceiling's included; "" if they may be."""
        return quotable.must_not(self.serious) if self.serious else ""

    @property
    def is_look(self):
        """Whether there are too few rounds to claim anything."""
        return self.rounds < statistics.LEAST

    @property
    def measured(self):
        """ "4 rounds in 58 s"."""
        took = f" in {self.seconds:.0f} s" if self.seconds is not None else ""
        return counted(self.rounds, "round") + took

    def bars(self):
        """The steps as they are drawn; [] without a ceiling."""
        names = () if self.is_look or self.not_quotable else self.verdict.names
        return [
            Bar(
                step,
                self.rate(step.start).mean,
                step.lost.mean / self.ceiling.mean,
                told,
                step.name in names,
            )
            for step, told in (zip(self.steps, self.told()) if self.ceiling else ())
        ]

    def told(self):
        """Of each step what it is: LOSS, GAIN, NOT_TOLD, NO_INTERVAL, or NOT_QUOTABLE for all of
        them. The risk that any step is told that costs nothing is 5 % at most for those that the
        verdict names, which rests on other evidence, and 5 % for all others together (Holm 1979).
        """
        if self.not_quotable:
            return [NOT_QUOTABLE] * len(self.steps)
        named = [s for s in self.steps if s.name in self.verdict.names]
        others = [s for s in self.steps if s.name not in self.verdict.names]
        told = {}
        for family in (named, others):
            adjusted = statistics.holm([statistics.p_of_zero(s.lost) for s in family])
            told |= {id(s): _how(s.lost, p) for s, p in zip(family, adjusted)}
        return [told[id(s)] for s in self.steps]

    def is_of(self, setting):
        """Whether its cell is one of the setting's."""
        return all(
            axis_value(self.cell.get(axis)) == axis_value(value)
            for axis, value in setting.axes.items()
        )

    def words(self):
        """The verdict, no stronger than it is."""
        v, names = self.verdict, [clean(name, 30) for name in self.verdict.names]
        if self.not_quotable:
            return self.not_quotable
        if self.is_look:
            return LOOK
        if not names:
            return "no step is shown to limit"
        if not v.is_clear:
            between = "not clear: perhaps " if len(names) == 1 else "not clear between "
            return between + listing(names)
        sure = f" (confidence {confidence(v.confidence)})" if v.confidence is not None else ""
        verb = "limits" if len(names) == 1 else "limit"
        doubt = "" if v.agrees else ", but the evidence does not agree"
        return f"{listing(names)} {verb}{sure}{doubt}"

    def problems(self):
        """What does not follow from its own numbers, as lines for `feedrate validate`."""
        found = []
        for i, step in enumerate(self.steps):
            start, end = self.rate(step.start).mean, self.rate(step.end).mean
            off, lost = abs(start - end - step.lost.mean), step.lost
            top = self.ceiling.mean if self.ceiling else start
            if off > max(SAME * top, (lost.high - lost.low) / 2 if lost.low is not None else 0):
                found.append(
                    f"waterfall[{i}].lost_imgs_per_s.mean is {step.lost.mean:.6g}, its rungs differ"
                    f" by {start - end:.6g}"
                )
        return found


def rate_words(rate):
    """Images/s whose fractions say nothing."""
    return f"{rate:,.0f}" if rate >= 9.95 else f"{rate:.1f}" if rate >= 0.05 else "0"


def share_words(share):
    return "< 0.1 %" if 0 < share < 0.0005 else f"{100 * share:.1f} %"


def confidence(share):
    """In whole percent, never rounded up: certainty is not on offer."""
    return "above 99 %" if share > 0.99 else f"{math.floor(100 * share + 1e-9)} %"


def _how(lost, p):
    if lost.low is None:
        return NO_INTERVAL
    return NOT_TOLD if p >= 0.05 else LOSS if lost.mean > 0 else GAIN
