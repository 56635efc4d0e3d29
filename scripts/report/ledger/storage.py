"""What the runs took from files, what of it came from storage, and what the ceiling would need, in
bytes per second."""

from __future__ import annotations

from . import ledger


def takes_from_files(cell):
    """Whether every step reads files. What comes from a cache in memory passes the same stages but
    is not read. If the record does not say what is cached, the answer is no."""
    return cell.axes.get("cache") == "none"


def files_rate(cell):
    """Bytes/s that the stage `read` took from files, the page cache's included."""
    return _per_second(cell, _file_bytes)


def storage_rate(cell):
    """Bytes/s that the run's processes got from storage itself; None where the kernel does not
    tell. 0 is an answer: all of it lay in the page cache."""
    return _per_second(cell, _storage_bytes)


def needed_rate(cell):
    """Bytes/s that the ceiling would take of files of this mean size; None where one of the two is
    unknown."""
    size = file_bytes(cell)
    if not (size and cell.ceiling and takes_from_files(cell)):
        return None
    return cell.ceiling.rate.mean * size


def file_bytes(cell):
    """Mean size of a file of the dataset, over the runs that say it; None where none does."""
    sizes = [ledger.part(record, "dataset", "mean_bytes") for record in cell.runs]
    sizes = [size for size in sizes if ledger.positive(size)]
    return sum(sizes) / len(sizes) if sizes else None


def _per_second(cell, count):
    """The bytes of all runs over their seconds, not a mean of rates. None unless every run has
    both: a mean over some of the runs would not match that of the throughput."""
    pairs = (
        [(count(record), record.get("window_s")) for record in cell.runs]
        if takes_from_files(cell)
        else []
    )
    if not pairs or any(read is None or not ledger.positive(seconds) for read, seconds in pairs):
        return None
    return sum(read for read, _ in pairs) / sum(seconds for _, seconds in pairs)


def _file_bytes(record):
    stages = (stage for stage in ledger.stages(record) if stage.get("name") == "read")
    found = [ledger.number(stage.get("bytes")) for stage in stages]
    return None if not found or None in found else sum(found)


def _storage_bytes(record):
    value = ledger.number(ledger.part(record, "monitors", "storage_read_bytes"))
    return None if value is None or value < 0 else value
