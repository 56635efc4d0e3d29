"""What a report is drawn from: cells over their repetitions, ceilings, machine settings."""
from __future__ import annotations

import functools
from dataclasses import dataclass, field

from . import ledger
from .text import clean

KIND_ORDER = ("synthetic", "tensor", "jpeg", "png", "png0", "bmp", "npy", "raw")
DRIFT_LIMIT = 0.03
UNSAID = {"name": "invalid", "severity": "serious", "reason": "the record says so and gives no reason",
          "remedy": "run the cell again"}


@dataclass(eq=False)
class Cell:
    """One combination of axes over its repetitions; a ceiling is one too."""
    axes: dict
    cell_id: str
    runs: list                                  # records with status ok
    lost: list                                  # repetitions that have no ok record: their last one
    rate: object = None                         # Estimate of imgs/s, None where no run is ok
    ceiling: object = None                      # the Ceiling that it is divided by
    paired: tuple = ()                          # Estimates of its rate and the ceiling's, over the same repetitions
    ratio: object = None                        # Estimate of the fraction of the ceiling: of the two above
    scaling: object = None                      # Estimate of the scaling efficiency; from the first GPU count on
    first: object = None                        # the cell at the first GPU count, which scaling is held against
    variant: str = ""                           # the axes that tell it from others of its data

    data = property(lambda self: self.axes["data"])
    image_size = property(lambda self: self.axes.get("image-size"))
    workers = property(lambda self: self.axes.get("workers"))
    gpus = property(lambda self: self.axes.get("gpus") or 1)
    input_size = property(lambda self: effective_input(self.axes))
    # A mean with an invalid run in it is not to be quoted, nor is a share of such a ceiling.
    serious = property(lambda self: any(f.get("severity") == "serious" for f in self.flags))
    share_serious = property(lambda self: self.serious or bool(self.ceiling and self.ceiling.serious))

    @functools.cached_property
    def flags(self):
        """The flags of all records; one for those that are invalid and do not say why."""
        found = [flag for record in self.runs + self.lost for flag in ledger.flags(record)]
        unsaid = [r for r in self.runs if not ledger.valid(r)
                  and not any(f.get("severity") == "serious" for f in ledger.flags(r))]
        return found + [UNSAID] * len(unsaid)

    @property
    def state(self):
        """Why the cell is missing: the status of what was lost."""
        return ledger.tried(self.lost)[-1]["status"] if self.lost else "missing"

    def mean(self, key):
        """Mean over the runs of a number at the record's top level; None where no run has it."""
        values = [v for v in (ledger.number(r.get(key)) for r in self.runs) if v is not None]
        return sum(values) / len(values) if values else None

    @property
    def by_repetition(self):
        """{repetition: images/s}: the mean of its runs, of which a ceiling has two."""
        runs = {}
        for record in self.runs:
            runs.setdefault(record["repetition"], []).append(record["imgs_per_s"])
        return {repetition: sum(rates) / len(rates) for repetition, rates in runs.items()}

    def largest_stage(self):
        """(resource, largest stage) of the capacity that the latest run puts first, "" without."""
        for record in reversed(self.runs):
            known = [c for c in record.get("capacities") or []
                     if isinstance(c, dict) and ledger.positive(c.get("imgs_per_s"))]
            if known:
                return tuple(clean(known[0].get(key) or "") for key in ("resource", "largest_stage"))
        return "", ""


@dataclass(eq=False)
class Ceiling(Cell):
    drift: float = 0.0       # the widest (last − first) / first within a repetition
    recorded: bool = False   # taken from the cells' own ceiling_imgs_per_s: no ceiling run is here

    @property
    def drifted(self):
        return abs(self.drift) > DRIFT_LIMIT


@dataclass(eq=False)
class Setting:
    """One device, model, batch size, precision and input size: what a figure is drawn for."""
    axes: dict
    cells: list = field(default_factory=list)
    ceilings: list = field(default_factory=list)

    @property
    def device(self):
        for cell in self.ceilings + self.cells:
            for record in cell.runs + cell.lost:
                if isinstance(record.get("device"), dict):
                    return record["device"]
        return {}

    @property
    def kind(self):
        """cuda, cpu or emulated; by the axis too, so that a record without it hides nothing."""
        axis = str(self.axes["device"])
        return "emulated" if axis.startswith("emulated") else self.device.get("kind") or axis

    def gpu_counts(self):
        return sorted({cell.gpus for cell in self.cells + self.ceilings})

    @property
    def first_count(self):
        """The fewest GPUs that have a result."""
        return min({cell.gpus for cell in self.cells + self.ceilings if cell.rate} or self.gpu_counts())

    def ceiling_at(self, gpus):
        return [c for c in self.ceilings if c.gpus == gpus]


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


def kind_rank(data):
    return (KIND_ORDER.index(data) if data in KIND_ORDER else len(KIND_ORDER)), str(data)
