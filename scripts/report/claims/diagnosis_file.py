"""diagnosis.json beside a ledger, read and checked; docs/columns.md explains its fields."""

from __future__ import annotations

import json
import os

from ..errors import ReportError
from ..ledger import ledger, statistics
from ..text import amount, clean
from . import diagnosis

SCHEMA = "feedrate.diagnosis/1"
NAME = "diagnosis.json"
ANY_RATE = "emulated:inf"
MOST_BYTES = 4 << 20
KIND = "95 % interval over rounds"
MAY_BE = "what it may be: no 95 % interval"  # of a prediction


def path_of(ledger_path):
    return os.path.join(os.path.dirname(os.path.abspath(ledger_path)), NAME)


def attach(settings, ledger_path, note=lambda text: None):
    """Gives the diagnosis that lies beside the ledger to the setting that it is of."""
    found = read(ledger_path)
    if not found:
        return
    # A rung of it whose device takes any rate: there is no ceiling to compare it with.
    settings[:] = [s for s in settings if s.axes.get("device") != ANY_RATE or found.is_of(s)]
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
            raise ReportError(
                path,
                f"schema {clean(schema, 60)!r} is unknown, {SCHEMA} is expected",
                "use the report of the feedrate that wrote it, or run `feedrate diagnose` again",
            )
        return _diagnosis(_At(whole, ""))
    except OSError as error:
        raise ReportError(path, error.strerror or "cannot be read", "check its permissions")
    except ValueError as error:
        raise ReportError(
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
            self.fail("is no object")
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

    def texts(self, *keys):
        return [self.get(key).text() for key in keys]

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

    def estimate(self, n, optional=False, kind=KIND):
        if optional and self.value is None:
            return None
        mean, interval = self.get("mean").number(), self.get("ci95")
        if interval.value is None:
            return statistics.Estimate(mean, None, None, n, statistics.NO_INTERVAL)
        ends = interval.each(_At.number)
        if len(ends) != 2 or ends[0] > ends[1]:
            interval.fail("is no interval")
        return statistics.Estimate(mean, *ends, n, kind)


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
    return diagnosis.Diagnosis(
        cell.value,
        at.get("label").text(),
        rounds,
        at.get("seconds").number(optional=True),
        ladder,
        at.get("waterfall").each(lambda one: _step(one, rounds, measured)),
        at.get("slopes").each(_slope),
        _verdict(at.get("verdict")),
        at.get("advice").each(lambda one: _advice(one, rounds)),
        at.get("capacities").each(_capacity),
        at.get("stages").each(_stage),
        at.get("patterns").each(_pattern),
        at.get("flags").each(_warning),
        at.get("runs").number(optional=True),
        at.get("blocks_failed").text(optional=True),
        at.get("blocks_batch_size").number(optional=True),
    )


def _rung(at):
    name = at.get("rung").text()
    if not at.has("imgs_per_s"):
        return diagnosis.Rung(name, None, at.get("left_out").text())
    rate = at.get("imgs_per_s").estimate(at.get("runs").count())
    if rate.mean <= 0:
        at.get("imgs_per_s").get("mean").fail("is not above zero")
    return diagnosis.Rung(name, rate, at.get("left_out").text(optional=True))


def _step(at, rounds, measured):
    for end in ("from", "to"):
        if at.get(end).text() not in measured:
            at.get(end).fail("names no rung that was measured")
    lost = at.get("lost_imgs_per_s").estimate(rounds)
    ms = at.get("ms_per_step").estimate(rounds, optional=True)
    return diagnosis.Step(*at.texts("step", "from", "to"), lost, ms)


def _slope(at):
    slope = at.get("slope").estimate(at.get("pairs").count())
    return diagnosis.Slope(*at.texts("place", "kind"), _delay(at), slope, at.get("binds").share())


def _delay(at):
    if at.has("withheld"):
        return f"{100 * at.get('withheld').number():.0f} % fewer"
    ms = at.get("delay_ms").number(optional=True)
    if ms is None:
        return f"{100 * at.get('extra_reads').number():.0f} % more reads"
    return f"{amount(ms)} ms"


def _capacity(at):
    in_use = at.get("utilisation").number(optional=True)
    stage, share = at.get("largest_stage").text(optional=True), at.get("largest_share").share()
    rate = amount(at.get("imgs_per_s").number())
    return at.get("resource").text(), rate, _percent(in_use), stage, _percent(share)


def _percent(share):
    return "" if share is None else f"{100 * share:.0f} %"


def _stage(at):
    cpu_ms = at.get("cpu_ms").number(optional=True)
    times = amount(at.get("wall_ms").number()), "" if cpu_ms is None else amount(cpu_ms)
    return at.get("stage").text(), *times


def _verdict(at):
    evidence = at.get("evidence")
    if not isinstance(evidence.value, dict):
        evidence.fail("is no object")
    return diagnosis.Verdict(
        at.get("names").each(_At.text),
        at.get("resources").each(_At.text),
        at.get("confidence").share(),
        at.get("clear").flag(),
        at.get("sentence").text(),
        tuple((clean(key, 40), evidence.get(key).text(optional=True)) for key in evidence.value),
        at.get("agree").flag(),
    )


def _advice(at, rounds):
    return diagnosis.Advice(
        at.get("remedy").text(),
        at.get("options").text(optional=True),
        at.get("why").text(optional=True),
        at.get("predicted").estimate(rounds, kind=MAY_BE, optional=True),
        at.get("measured").estimate(rounds, optional=True),
        at.get("not_tried").text(optional=True),
        _by_workers(at.get("by_workers")),
    )


def _by_workers(at):
    """ "by workers 2: 480; 3: 612; W* is 3"; "" where no search was made."""
    if at.value is None:
        return ""
    tried = at.get("rates").each(
        lambda one: (one.get("workers").count(), one.get("imgs_per_s").estimate(1).mean)
    )
    enough = at.get("enough").number(optional=True)
    words = "; ".join(f"{workers}: {diagnosis.rate_words(rate)}" for workers, rate in tried)
    if enough is None:
        return f"by workers {words}" + ("; more may help" if len(tried) > 1 else "")
    fewer = " or fewer" if 1 < enough == min(workers for workers, _ in tried) else ""
    return f"by workers {words}; W* is {enough:.0f}{fewer}"


def _warning(at):
    return diagnosis.SeenFlag(
        at.get("name").text(),
        at.get("runs").count(),
        at.get("reason").text(optional=True),
        at.get("severity").text(optional=True),
    )


def _pattern(at):
    statistic = at.get("statistic")
    number = ledger.number(statistic.value)
    words = f"{number:.4g}" if number is not None else statistic.text(optional=True)
    return at.get("name").text(), words, at.get("sentence").text()
