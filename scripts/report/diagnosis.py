"""diagnosis.json beside a ledger: what `feedrate diagnose` found of one cell, read and checked; the
bars of its waterfall; and what may be said of its verdict. Imports nothing that draws."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass

from . import ledger, statistics
from .claims import LOOK
from .text import amount, axis_value, clean, listing

SCHEMA = "feedrate.diagnosis/1"
NAME = "diagnosis.json"
MOST_BYTES = 4 << 20
KIND = "95 % interval over rounds"
SYNTHETIC, DISCARD = "synthetic", "discard"
BESIDE = (SYNTHETIC, DISCARD, "cpus")  # no links of the chain below the ceiling
# How the loss of a step is told: as what it is, or why it is not.
LOSS, GAIN, NOT_TOLD, NO_INTERVAL = "loss", "gain", "not told from 0", "no interval"
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
class Capacity:
    resource: str
    rate: float
    utilisation: object  # None: unknown
    stage: str
    share: object  # of the stage; None: unknown


@dataclass(frozen=True)
class Stage:
    name: str
    wall_ms: float
    cpu_ms: object  # None: unknown


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
class Pattern:
    name: str
    statistic: str
    sentence: str


@dataclass(frozen=True)
class SeenFlag:
    """A flag of the ladder's runs: something else used the machine, or a number is off."""

    name: str
    runs: int  # that raised it
    reason: str
    remedy: str


@dataclass(frozen=True)
class Bar:
    """A step as the figures draw it."""

    step: Step
    top: float  # the rate of the rung before it
    share: float  # of the ceiling, that is lost
    how: str  # LOSS, GAIN, NOT_TOLD or NO_INTERVAL
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
    capacities: tuple
    stages: tuple
    verdict: Verdict
    advice: tuple
    patterns: tuple
    warnings: tuple = ()
    runs: object = None  # of the ladder; None: unknown
    blocks_failed: str = ""  # why there are no slopes, or too few

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
        if self.blocks_failed:
            of = " of some rounds" if self.slopes else ""
            found.append(f"Left out{of}: delays ({clean(self.blocks_failed, 200)}).")
        of = f" of {self.runs:.0f}" if self.runs else ""
        return found + [
            f"Warning: {clean(w.name, 30)} in {w.runs}{of} runs: {clean(w.reason, 150)}."
            for w in self.warnings
        ]

    @property
    def is_look(self):
        """Whether there are too few rounds to claim anything."""
        return self.rounds < statistics.LEAST

    def bars(self):
        """The steps as they are drawn; [] without a ceiling."""
        names = () if self.is_look else self.verdict.names
        return [
            Bar(
                step,
                self.rate(step.start).mean,
                step.lost.mean / self.ceiling.mean,
                how(step.lost),
                step.name in names,
            )
            for step in (self.steps if self.ceiling else ())
        ]

    def is_of(self, setting):
        """Whether its cell is one of the setting's."""
        return all(
            axis_value(self.cell.get(axis)) == axis_value(value)
            for axis, value in setting.axes.items()
        )

    def words(self):
        """The verdict, no stronger than it is."""
        v, names = self.verdict, [clean(name, 30) for name in self.verdict.names]
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


def how(lost):
    if lost.low is None:
        return NO_INTERVAL
    return NOT_TOLD if lost.low <= 0 <= lost.high else LOSS if lost.mean > 0 else GAIN


def path_of(ledger_path):
    return os.path.join(os.path.dirname(os.path.abspath(ledger_path)), NAME)


def attach(settings, ledger_path, note=lambda text: None):
    """Gives the diagnosis that lies beside the ledger to the setting that it is of."""
    found = read(ledger_path)
    if not found:
        return
    for setting in settings:
        if found.is_of(setting):
            setting.diagnosis = found
            return
    note(
        f"{path_of(ledger_path)}: is of {found.label}, and the ledger holds no run on such a device"
        " with such a step: it is not shown"
    )


def read(ledger_path):
    """The Diagnosis beside a ledger; None where there is none. Throws a ReportError where the file
    is none."""
    path = path_of(ledger_path)
    if not os.path.lexists(path):
        return None
    try:
        with open(path, "rb") as file:
            text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise ValueError(f"it is larger than {MOST_BYTES >> 20} MiB")
        try:
            whole = json.loads(text.decode("utf-8"))
        except (ValueError, RecursionError):
            raise ValueError("it is no JSON")
        schema = whole.get("schema") if isinstance(whole, dict) else None
        if schema != SCHEMA:
            raise ledger.ReportError(
                path,
                f"schema {clean(schema, 60)!r} is unknown, {SCHEMA} is expected",
                "use the report of the feedrate that wrote it, or run `feedrate diagnose` again",
            )
        return _diagnosis(_At(whole, ""))
    except OSError as error:
        raise ledger.ReportError(path, error.strerror or "cannot be read", "check its permissions")
    except ValueError as error:
        raise ledger.ReportError(
            path,
            f"holds no diagnosis of {SCHEMA}: {error}",
            "run `feedrate diagnose` again, or delete it",
        )


class _At:
    """A value of the file and where it stands there, so that an error can name the place."""

    def __init__(self, value, place):
        self.value, self.place = value, place

    def fail(self, what):
        raise ValueError(f"`{clean(self.place, 80)}` {what}")

    def get(self, key):
        if not isinstance(self.value, dict):
            self.fail("is no object") if self.place else _fail("it is no object")
        return _At(self.value.get(key), f"{self.place}.{key}" if self.place else key)

    def has(self, key):
        return self.get(key).value is not None

    def each(self, make):
        """make() of every element; none where there is no list at all."""
        if self.value is None:
            return ()
        if not isinstance(self.value, list):
            self.fail("is no list")
        return tuple(make(_At(one, f"{self.place}[{i}]")) for i, one in enumerate(self.value))

    def text(self, optional=False):
        if optional and self.value is None:
            return ""
        if not isinstance(self.value, str):
            self.fail("is no text")
        return clean(self.value, 1000)

    def number(self, optional=False):
        if optional and self.value is None:
            return None
        found = ledger.number(self.value)
        return self.fail("is no number") if found is None else found

    def share(self):
        """A number from 0 to 1; None where it is unknown."""
        found = self.number(optional=True)
        return self.fail("is not from 0 to 1") if found and not 0 <= found <= 1 else found

    def count(self):
        if type(self.value) is not int or self.value < 1:
            self.fail("is no count")
        return self.value

    def flag(self):
        if not isinstance(self.value, bool):
            self.fail("is neither true nor false")
        return self.value

    def estimate(self, n, optional=False):
        if optional and self.value is None:
            return None
        mean, interval = self.get("mean").number(), self.get("ci95")
        if interval.value is None:
            return statistics.Estimate(mean, None, None, n, statistics.NO_INTERVAL)
        ends = interval.each(_At.number)
        if len(ends) != 2 or ends[0] > ends[1]:
            interval.fail("is no interval")
        return statistics.Estimate(mean, *ends, n, KIND)


def _fail(words):
    raise ValueError(words)


def _diagnosis(at):
    cell = at.get("cell")
    cell.get("device").text()
    if cell.has("gpus"):
        cell.get("gpus").count()
    # Whatever the name of a device says, no figure of an emulated one may lack its mark.
    if at.get("emulated").flag() != cell.value["device"].startswith("emulated"):
        at.get("emulated").fail("does not fit `cell.device`")
    rounds = at.get("rounds").count()
    ladder = at.get("ladder").each(_rung)
    if len({rung.name for rung in ladder}) < len(ladder):
        at.get("ladder").fail("has a rung twice")
    measured = {rung.name for rung in ladder if rung.rate}
    return Diagnosis(
        cell.value,
        at.get("label").text(),
        rounds,
        at.get("seconds").number(optional=True),
        ladder,
        at.get("waterfall").each(lambda one: _step(one, rounds, measured)),
        at.get("slopes").each(_slope),
        at.get("capacities").each(_capacity),
        at.get("stages").each(_stage),
        _verdict(at.get("verdict")),
        at.get("advice").each(lambda one: _advice(one, rounds)),
        at.get("patterns").each(_pattern),
        at.get("flags").each(_warning),
        at.get("runs").number(optional=True),
        at.get("blocks_failed").text(optional=True),
    )


def _rung(at):
    name = at.get("rung").text()
    if not at.has("imgs_per_s"):
        return Rung(name, None, at.get("left_out").text())
    rate = at.get("imgs_per_s").estimate(at.get("runs").count())
    if rate.mean <= 0:
        at.get("imgs_per_s").get("mean").fail("is not above zero")
    return Rung(name, rate, at.get("left_out").text(optional=True))


def _step(at, rounds, measured):
    for end in ("from", "to"):
        if at.get(end).text() not in measured:
            at.get(end).fail("names no rung that was measured")
    return Step(
        at.get("step").text(),
        at.get("from").text(),
        at.get("to").text(),
        at.get("lost_imgs_per_s").estimate(rounds),
        at.get("ms_per_step").estimate(rounds, optional=True),
    )


def _slope(at):
    return Slope(
        at.get("place").text(),
        at.get("kind").text(),
        _delay(at.get("delay_ms").number(optional=True), at.get("extra_reads")),
        at.get("slope").estimate(at.get("pairs").count()),
        at.get("binds").share(),
    )


def _delay(ms, extra_reads):
    if ms is None:
        return f"{100 * extra_reads.number():.0f} % more reads"
    return f"{amount(ms)} ms"


def _capacity(at):
    return Capacity(
        at.get("resource").text(),
        at.get("imgs_per_s").number(),
        at.get("utilisation").number(optional=True),
        at.get("largest_stage").text(optional=True),
        at.get("largest_share").share(),
    )


def _stage(at):
    return Stage(
        at.get("stage").text(), at.get("wall_ms").number(), at.get("cpu_ms").number(optional=True)
    )


def _verdict(at):
    evidence = at.get("evidence")
    if not isinstance(evidence.value, dict):
        evidence.fail("is no object")
    return Verdict(
        at.get("names").each(_At.text),
        at.get("resources").each(_At.text),
        at.get("confidence").share(),
        at.get("clear").flag(),
        at.get("sentence").text(),
        tuple((clean(key, 40), evidence.get(key).text(optional=True)) for key in evidence.value),
        at.get("agree").flag(),
    )


def _advice(at, rounds):
    return Advice(
        at.get("remedy").text(),
        at.get("options").text(optional=True),
        at.get("why").text(optional=True),
        at.get("predicted").estimate(rounds, optional=True),
        at.get("measured").estimate(rounds, optional=True),
        at.get("not_tried").text(optional=True),
        _by_workers(at.get("by_workers")),
    )


def _by_workers(at):
    """ "2 workers: 480; 3: 612; W* is 3"; "" where no search was made."""
    if at.value is None:
        return ""
    tried = at.get("rates").each(
        lambda one: (one.get("workers").count(), one.get("imgs_per_s").estimate(1).mean)
    )
    enough = at.get("enough").number(optional=True)
    words = "; ".join(f"{workers}: {rate_words(rate)}" for workers, rate in tried)
    return f"by workers {words}; " + ("more may help" if enough is None else f"W* is {enough:.0f}")


def _warning(at):
    return SeenFlag(
        at.get("name").text(),
        at.get("runs").count(),
        at.get("reason").text(optional=True),
        at.get("remedy").text(optional=True),
    )


def _pattern(at):
    statistic = at.get("statistic")
    number = ledger.number(statistic.value)
    return Pattern(
        at.get("name").text(),
        f"{number:.4g}" if number is not None else statistic.text(optional=True),
        at.get("sentence").text(),
    )
