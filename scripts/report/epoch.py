"""What falling short of the ceiling costs over an epoch of ImageNet."""

from __future__ import annotations

from . import ledger, statistics
from .settings import paired

IMAGES = 1_281_167  # the training set of ILSVRC 2012
EPOCHS = 90


def hours_waiting(cell):
    """The part of hours_lost() in which the device waits for data; the rest is that its steps take
    longer than at the ceiling. Mean over the runs; None where no run says it."""
    shares = [
        (ledger.number(run.get("device_idle_fraction")), run["imgs_per_s"]) for run in cell.runs
    ]
    known = [idle * IMAGES / rate / 3600 for idle, rate in shares if idle is not None]
    return sum(known) / len(known) if known else None


def hours_lost(cell):
    """Estimate of the hours that an epoch takes longer than at the ceiling, within each
    repetition."""
    return statistics.hours_lost(IMAGES, paired(cell), cell.share_bias, cell.pilot)
