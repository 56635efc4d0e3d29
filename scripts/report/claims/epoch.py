"""What falling short of the ceiling costs over an epoch, of ImageNet or of the dataset read."""

from __future__ import annotations

from dataclasses import replace

from ..ledger import ledger, statistics
from ..ledger.settings import paired

IMAGES = 1_281_167  # the training set of ILSVRC 2012


def hours_waiting(cell):
    """The part of hours_lost() in which the device waits for data, beyond what it waits at the
    ceiling, too; the rest is that its steps take longer. Mean over the runs; None where no run says
    it."""
    known = [waits for waits in map(_waiting_s, cell.runs) if waits is not None]
    return sum(known) / len(known) * IMAGES / 3600 if known else None


def _waiting_s(run):
    """Seconds an image."""
    idle = ledger.number(run.get("device_idle_fraction"))
    if idle is None:
        return None
    ceiling = ledger.number(run.get("ceiling_imgs_per_s"))
    working = ledger.number(ledger.part(run, "ceiling_device_rate", "imgs_per_s"))
    there = max(0.0, 1 / ceiling - 1 / working) if ceiling and working else 0.0
    return max(0.0, idle / run["imgs_per_s"] - there)


def images_of(cell):
    """How many pictures an epoch of the cell's own dataset has; None where no run says it."""
    known = (ledger.part(run, "dataset", "samples") for run in reversed(cell.runs))
    return next((int(n) for n in known if ledger.positive(n)), None)


def hours_lost(cell, images=IMAGES):
    """Estimate of the hours that an epoch takes longer than at the ceiling, within each
    repetition. Where no share can exceed 1, its interval does not reach below zero."""
    found = statistics.hours_lost(images, paired(cell), cell.share_bias, cell.pilot)
    if found.low is None or cell.ratio.most is None:
        return found
    return replace(found, low=max(found.low, 0.0), high=max(found.high, 0.0))
