"""Ledgers in which each cell has a known share of its ceiling, for the tests beside this file."""

from ledgers import axes, read_more, record
from report.ledger import ledger, settings


def of_shares(shares, gpus=1):
    """Settings with a ceiling of 1,000 images/s and a cell for each item of `shares`: {data: [share
    of the ceiling in each repetition]}."""
    records = []
    for n in range(len(next(iter(shares.values())))):
        records.append(record(axes(device="cuda", gpus=gpus), 1000.0, n, "ceiling"))
        records += [
            read_more(record(axes(data, device="cuda", gpus=gpus), 1000.0 * of[n], n))
            for data, of in shares.items()
        ]
        records.append(record(axes(device="cuda", gpus=gpus), 1000.0, n, "ceiling"))
    return settings.group([dict(r, **{ledger.LINE: n}) for n, r in enumerate(records, 1)])


LOSES, NOISE, NONE = [0.90, 0.91, 0.89, 0.90], [0.90, 1.05, 0.97, 1.06], [1.001, 0.999, 1.0, 1.0]
