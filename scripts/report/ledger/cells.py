"""What a report is drawn from: cells over their repetitions, ceilings, machine settings."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field

from ..text import axis_value, clean, counted, percent, signed_percent
from . import axes as axis_tables
from . import ledger
from .statistics import NEGLIGIBLE

DRIFTED = "ceiling_drifted"
# Flags of a run in pairs that spoil its ceiling, too; throttling leaves the share as it is.
SPOILS_CEILING = {"stopped", "harness_bound", "throttled"}
DRIFT = axis_tables.own().rules[DRIFTED]
MIXED = "mixed"  # a stored size: each picture has its own
# The mean share of a picture that is cut out of it, by how it is augmented.
CUT_OUT = {"train": 0.47, "mask-color-crop-last": 1.0}
UNSAID = {
    "name": "invalid",
    "severity": "serious",
    "reason": "the record says so and gives no reason",
    "remedy": "run the cell again",
}


@dataclass(eq=False)
class Cell:
    """One combination of axes over its repetitions; a ceiling is one too."""

    axes: dict
    cell_id: str
    runs: list  # records with status ok
    lost: list  # repetitions that have no ok record: their last one
    rate: object = None  # Estimate of imgs/s, None where no run is ok
    ceiling: object = None  # the Ceiling that it is divided by
    # {repetition: images/s of the ceiling that its run is divided by}: see Sittings.references()
    references: dict = field(default_factory=dict)
    # Estimate of the fraction of the ceiling, paired within each repetition
    ratio: object = None
    # Estimate of the scaling efficiency; from the first GPU count on
    scaling: object = None
    # the cell at the first GPU count, which scaling is held against
    first: object = None
    variant: str = ""  # the axes that tell it from others of its data
    variant_rank: tuple = ()  # its place among them

    data = property(lambda self: self.axes["data"])
    image_size = property(lambda self: self.axes.get("image-size"))
    workers = property(lambda self: self.axes.get("workers"))
    gpus = property(lambda self: self.axes.get("gpus") or 1)
    input_size = property(lambda self: effective_input(self.axes))
    records = property(lambda self: self.runs)  # what its rate is from
    # A mean with an invalid run in it is not to be quoted, nor is a share of such a ceiling.
    serious = property(lambda self: any(f.get("severity") == "serious" for f in self.flags))
    share_serious = property(
        lambda self: self.serious or bool(self.divided_by and self.divided_by.serious)
    )
    origin = property(lambda self: self)  # of one that was chosen among several: that cell
    how = ""  # and how it was chosen
    share_bias = 0.0  # what the choice has put into its mean log share

    @property
    def anchor(self):
        """What figures and page call its row: letters, digits and dashes alone."""
        return "cell-" + (re.sub(r"[^A-Za-z0-9_-]", "-", str(self.cell_id))[:60] or "ceiling")

    def bias_of(self, _):
        """And into its mean log rate over so many repetitions."""
        return 0.0

    @functools.cached_property
    def in_pairs(self):
        """Whether all its runs took turns with their ceiling."""
        return bool(self.runs) and all(map(ledger.in_pairs, self.runs))

    @property
    def divided_by(self):
        """The ceiling whose runs its shares are of: what is to be said of those, of its shares,
        too. None where it was measured in pairs."""
        return None if self.in_pairs else self.ceiling

    @functools.cached_property
    def flags(self):
        """The flags of all records; one for those that are invalid and do not say why."""
        found = [
            flag
            for record in self.runs + self.lost
            for flag in ledger.flags(record)
            if flag.get("name") != DRIFTED
        ]
        return found + self._unsaid(self.runs)

    @staticmethod
    def _unsaid(records):
        unsaid = [
            r
            for r in records
            if not ledger.valid(r)
            and not any(f.get("severity") == "serious" for f in ledger.flags(r))
        ]
        return [UNSAID] * len(unsaid)

    @property
    def above_ceiling(self):
        """Whether its share is shown to lie above 1, which nothing but a ceiling measured too low
        explains."""
        return bool(self.ratio and self.ratio.low is not None and self.ratio.low > 1 + NEGLIGIBLE)

    @functools.cached_property
    def is_client_cold(self):
        """Whether its files are to come from storage, and a server or another program gives them to
        this machine: what that keeps in a cache of its own is unknown."""
        return any(
            ledger.part(r, "dataset", "page_cache_scope") == "client"
            and ledger.part(r, "dataset", "page_cache") in ledger.PAST_MEMORY
            for r in self.runs
        )

    def said(self, axis):
        """The value of an axis in words."""
        value = axis_value(self.axes.get(axis))
        is_cold = axis == "page-cache" and value == "cold"
        return "client-cold" if is_cold and self.is_client_cold else value

    @property
    def state(self):
        """Why the cell is missing: the status of what was lost."""
        return ledger.tried(self.lost)[-1]["status"] if self.lost else "missing"

    def mean(self, key):
        """Mean over the runs of a number at the record's top level; None where no run has it."""
        values = [v for v in (ledger.number(r.get(key)) for r in self.runs) if v is not None]
        return sum(values) / len(values) if values else None

    @functools.cached_property
    def runs_by_repetition(self):
        """{repetition: its records with a result, in the ledger's order}."""
        runs = {}
        for record in self.runs:
            runs.setdefault(record["repetition"], []).append(record)
        return runs

    @functools.cached_property
    def by_repetition(self):
        """{repetition: images/s}: the mean of its runs, of which a ceiling has two."""
        return {
            repetition: sum(r["imgs_per_s"] for r in runs) / len(runs)
            for repetition, runs in self.runs_by_repetition.items()
        }

    @functools.cached_property
    def pilot(self):
        """How many first repetitions decided how many there are; None for a fixed number."""
        found = [ledger.number(ledger.part(r, "precision", "pilot")) for r in self.records]
        return next((int(n) for n in found if n), None)

    def limiting(self):
        """(resource, its largest stage, that stage's share) of the first capacity in the latest
        record that has capacities: its verdict names it. "", "" and 0 if no record has any."""
        for record in reversed(self.runs):
            known = [
                c
                for c in record.get("capacities") or []
                if isinstance(c, dict) and ledger.positive(c.get("imgs_per_s"))
            ]
            if known:
                words = (clean(known[0].get(key) or "") for key in ("resource", "largest_stage"))
                return *words, ledger.number(known[0].get("largest_share")) or 0.0
        return "", "", 0.0


@dataclass(eq=False)
class Ceiling(Cell):
    # the records of cells that name its rate: they were measured in pairs with it, or no run of it
    # is here
    named_by: list = field(default_factory=list)
    # Estimate of last / first of a repetition, over those that have both; None without any
    drift: object = None

    records = property(lambda self: self.named_by or self.runs)
    # of a ledger that lacks its runs
    recorded = property(lambda self: bool(self.named_by) and not self.in_pairs)

    @functools.cached_property
    def in_pairs(self):
        """Whether its rate is that of runs in pairs."""
        return any(map(ledger.in_pairs, self.named_by))

    # the field of those records that holds its rate
    rate_field = property(lambda self: "ceiling_imgs_per_s" if self.named_by else "imgs_per_s")

    @functools.cached_property
    def by_repetition(self):
        """{repetition: images/s}: the mean of its records."""
        rates = {}
        for record in self.records:
            rates.setdefault(record["repetition"], []).append(record[self.rate_field])
        return {n: sum(of) / len(of) for n, of in sorted(rates.items())}

    @functools.cached_property
    def lacking(self):
        """The repetitions that are not complete: without the closing ceiling, where any repetition
        has one, or without the opening one."""
        places = {
            n: {r.get("place") or 0 for r in runs} for n, runs in self.runs_by_repetition.items()
        }
        closed = any(1 in there for there in places.values())
        asked = {0, 1} if closed else {0}
        return [n for n, there in places.items() if not asked <= there]

    @functools.cached_property
    def drifted(self):
        """Whether it moved by more than the flag's threshold between the first and the last run of
        a repetition."""
        return (
            any(abs(drift - 1) > DRIFT.threshold for drift in self.drift.points)
            if self.drift
            else False
        )

    @functools.cached_property
    def flags(self):
        """One flag for the drift of all records, in place of one for each record. In pairs, those
        flags of the cells' runs that speak of the ceiling's blocks as well."""
        found = super().flags
        if self.in_pairs:
            found += [
                flag
                for record in self.named_by
                for flag in ledger.flags(record)
                if flag.get("name") in SPOILS_CEILING
            ]
            found += self._unsaid(self.named_by)
        return (
            found
            + [
                {
                    "name": DRIFTED,
                    "severity": DRIFT.severity,
                    "reason": self.drift_words,
                    "remedy": DRIFT.remedy,
                }
            ]
            if self.drifted
            else found
        )

    @property
    def drift_words(self):
        """How far it moved within the repetitions that moved by more than the flag's threshold, and
        on average."""
        moved = [drift - 1 for drift in self.drift.points if abs(drift - 1) > DRIFT.threshold]
        far = " to ".join(dict.fromkeys(signed_percent(end) for end in (min(moved), max(moved))))
        of = f" of {self.gpus} GPUs" if self.gpus > 1 else ""
        words = (
            f"the ceiling{of} moved by {far} between the first and the last run of {len(moved)} of"
            f" {counted(self.drift.n, 'repetition')}"
        )
        return words + (
            f"; on average {self.mean_drift_words}" if self.drift.low is not None else ""
        )

    @property
    def drift_means(self):
        """What it means for a share. The reference is the mean of both ceilings, so that a cell at
        the start or the end of a repetition is off by half of what the machine moved."""
        most = max(abs(drift - 1) for drift in self.drift.points) / 2
        known = "the intervals hold that" if self.drift.low is not None else "no interval shows it"
        return f"In one repetition a share may be off by about {percent(most)}; {known}"

    @property
    def mean_drift_words(self):
        """Of an estimate that has an interval."""
        return (
            f"by {signed_percent(self.drift.mean - 1)} ({signed_percent(self.drift.low - 1)} to"
            f" {signed_percent(self.drift.high - 1)})"
        )

    @property
    def drifts(self):
        """Whether the mean drift is shown: its interval excludes zero."""
        drift = self.drift
        return bool(
            drift
            and drift.low is not None
            and (drift.low > 1 + NEGLIGIBLE or drift.high < 1 - NEGLIGIBLE)
        )


@dataclass(eq=False)
class Setting:
    """One device, model, batch size, precision and input size: what a figure is drawn for."""

    axes: dict  # those that make the setting, of all axes of a cell
    tables: object  # axes.Tables: they say which axes make a setting
    cells: list = field(default_factory=list)
    ceilings: list = field(default_factory=list)
    diagnosis: object = None  # diagnosis.Diagnosis, where one of its cells was diagnosed
    memory: object = None  # memory_limit.MemoryLimit, where a search for GPUs measured it

    # those that ran by themselves: a ceiling in pairs has no run of its own
    planned = property(lambda self: [c for c in self.ceilings if not c.named_by] + self.cells)

    @property
    def device(self):
        return self._first("device")

    @property
    def stands_for(self):
        """What `auto` in its axes stood for on the device, by axis."""
        return self._first("stands_for")

    def _first(self, key):
        for cell in self.ceilings + self.cells:
            for record in cell.runs + cell.lost:
                if isinstance(record.get(key), dict):
                    return record[key]
        return {}

    @property
    def kind(self):
        """cuda, cpu or emulated; by the axis too, so that a record without it hides nothing."""
        axis = str(self.axes["device"])
        return "emulated" if axis.startswith("emulated") else self.device.get("kind") or axis

    @property
    def is_bounded(self):
        """Whether no rate can exceed the ceiling's: that of an emulated device, unless it replays
        recorded steps, some of which are shorter than their mean."""
        replays = str(self.axes["device"]).startswith(ledger.TRACED)
        return self.kind == "emulated" and not replays

    def gpu_counts(self):
        return sorted({cell.gpus for cell in self.cells + self.ceilings})

    @property
    def first_count(self):
        """The fewest GPUs that have a result."""
        return min(
            {cell.gpus for cell in self.cells + self.ceilings if cell.rate} or self.gpu_counts()
        )


def effective_input(axes):
    """The pixels that the network sees: `native` is the stored size itself."""
    size = axes.get("input-size")
    return axes.get("image-size") or size if size == "native" else size


def pixels(size):
    """Sort key of "WxH"; None and odd sizes first."""
    try:
        width, height = str(size).split("x")
        return int(width) * int(height), str(size)
    except ValueError:
        return 0, str(size or "")


def mean_pixels(cell):
    """As pixels(), for a cell. Where each picture has its own size, the mean of their pixels stands
    for it; it follows from the pixels that were cut out of them."""
    share = CUT_OUT.get(cell.axes.get("augment"))
    if cell.image_size != MIXED or not share:
        return pixels(cell.image_size)
    stages = [stage for run in cell.runs for stage in ledger.stages(run)]
    cut = [s for s in stages if s.get("name") == "augment" and ledger.positive(s.get("items"))]
    images = sum(s["items"] for s in cut)
    values = sum(ledger.number(s.get("bytes")) or 0 for s in cut)
    return (values / 3 / images / share if images else 0, MIXED)


def sizes_of(cells):
    """The stored sizes of some cells, smallest first: `mixed` where its mean pixels put it."""
    places = {}
    for cell in cells:
        if size := cell.image_size:
            places[size] = max(mean_pixels(cell), places.get(size, (0, "")))
    return sorted(places, key=places.get)


def kind_rank(data):
    """Sort key of a kind of data: those that the program knows in its order, then the others by
    name."""
    return value_rank("data", data)


def value_rank(axis, value):
    """Sort key of a value of an axis: those that the program knows in its order, then numbers, then
    the others by name."""
    tables = axis_tables.own().axes
    known = tables[axis].values if axis in tables else ()
    if value in known:
        return known.index(value), 0, ""
    number = ledger.number(value)
    return len(known) + (number is None), number or 0, axis_value(value)
