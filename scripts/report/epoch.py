"""What falling short of the ceiling costs over an epoch of ImageNet."""

from __future__ import annotations

from . import statistics
from .settings import paired

IMAGES = 1_281_167  # the training set of ILSVRC 2012
EPOCHS = 90


def hours_lost(cell):
    """Estimate of the hours that an epoch takes longer than at the ceiling, within each
    repetition."""
    return statistics.hours_lost(IMAGES, paired(cell), cell.share_bias)
