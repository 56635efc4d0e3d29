"""Reads what `feedrate run --trace FILE` wrote. A trace may be far larger than the memory: events
are read one after the other, and of each stay some numbers in arrays."""

from __future__ import annotations

import json
import os
import re
import sys
from array import array
from bisect import bisect_left
from dataclasses import dataclass, field

from ..errors import ReportError
from ..text import clean
from .ledger import number

STAGES = ("lock", "read", "decode", "augment", "collate")
# the rows of a rank, see docs/tracing.md
TRAINING, STEPS, COPIES, FIRST_WORKER, FIRST_OPERATORS = 0, 1, 2, 10, 1000
MOST_EVENTS = 200_000  # of a row, unless the file says otherwise
CHUNK = 1 << 20
# The objects that it may hold before its events: those of another program's trace may be any.
BEGINS = re.compile(r'\s*\{(?:\s*"displayTimeUnit"\s*:\s*"\w+"\s*,)?\s*"traceEvents"\s*:\s*\[')
BETWEEN = re.compile(r"[\s,]*")
CUT_OFF = "is cut off", "measure again: a whole trace ends with what it left out"
NO_TRACE = "is no trace of feedrate"
REMEDY = "name a file that `feedrate run --trace FILE` wrote"


class Spans:
    """What lasts, of one row: parallel arrays, in the order of the starts. Times are ms of the
    trace's clock."""

    def __init__(self, name=""):
        self.name = name
        self.kinds, self.starts, self.ends = [], array("d"), array("d")
        self.batches = array("q")
        self.longest = 0.0

    def __len__(self):
        return len(self.kinds)

    def add(self, kind, start, end, batch):
        self.kinds.append(sys.intern(kind))
        self.longest = max(self.longest, end - start)
        self.starts.append(start)
        self.ends.append(end)
        self.batches.append(batch)

    def of_kind(self, kind):
        """The places of that kind's spans."""
        return [i for i, k in enumerate(self.kinds) if k == kind]

    def between(self, low, high):
        """The places of those that overlap that time."""
        first = bisect_left(self.starts, low - self.longest)
        last = bisect_left(self.starts, high)
        return [i for i in range(first, last) if self.ends[i] > low]


@dataclass
class Rank:
    """What one rank did."""

    number: int
    title: str = ""
    rows: dict = field(default_factory=dict)  # by number
    ready: tuple = ()  # (moments, batches that are ready from then on)
    queue: dict = field(default_factory=dict)  # batch: [ready, taken]
    marks: dict = field(default_factory=dict)

    def row(self, tid):
        return self.rows.setdefault(tid, Spans())

    @property
    def device(self):
        return self.title.partition(": ")[2]

    @property
    def workers(self):
        found = (tid for tid in sorted(self.rows) if FIRST_WORKER <= tid < FIRST_OPERATORS)
        return [self.rows[tid] for tid in found]

    @property
    def loaders(self):
        """The rows that stages are in: those of workers, else the training thread's."""
        return self.workers or [self.row(TRAINING)]


@dataclass
class Trace:
    ranks: list
    most: int = MOST_EVENTS

    def whole_until(self):
        """From when on a row lacks events; None where none does."""
        rows = (row for rank in self.ranks for row in rank.rows.values())
        return min((row.starts[-1] for row in rows if len(row) >= self.most), default=None)


def is_trace(path):
    """Whether a file is to be read as a trace: it begins as one, or is named as one is and does not
    begin as a ledger."""
    if not os.path.isfile(path):
        return path.endswith(".json")
    try:
        with open(path, "rb") as file:
            head = file.read(4096).decode("utf-8", "replace")
    except OSError:
        return False
    return bool(BEGINS.match(head)) or (path.endswith(".json") and "feedrate.result/" not in head)


def read(paths):
    """The trace of one file or of several, each of other ranks. One that is broken is an error."""
    ranks, most = {}, MOST_EVENTS
    for path in paths:
        found, other = _read_file(path)
        twice = set(found) & set(ranks)
        if twice:
            why = f"rank {min(twice)} is in another of these files, too"
            raise ReportError(path, why, "name the files of one run")
        ranks.update(found)
        said = other.get("most_events_of_a_row")
        most = said if isinstance(said, int) and said > 0 else most
    return Trace([ranks[n] for n in sorted(ranks)], most)


def _read_file(path):
    ranks = {}
    try:
        with open(path, encoding="utf-8") as file:
            other = _events(path, file, _Taker(ranks).take)
    except OSError as error:
        raise ReportError(path, error.strerror or "cannot be read", REMEDY)
    except UnicodeDecodeError:
        raise ReportError(path, NO_TRACE, REMEDY)
    for rank in ranks.values():
        if not rank.row(TRAINING).name or not len(rank.row(STEPS)):
            raise ReportError(path, NO_TRACE + ": it lacks steps", REMEDY)
        rank.queue = {batch: pair for batch, pair in rank.queue.items() if len(pair) == 2}
        for row in rank.rows.values():
            _sort(row)
    if not ranks:
        raise ReportError(path, NO_TRACE + ": it holds no events", REMEDY)
    return ranks, other


def _events(path, file, take):
    """Calls take() for each event, and returns what the file says of them behind."""
    text = file.read(CHUNK)
    if not text.strip():
        raise ReportError(path, "is empty", REMEDY)
    begins = BEGINS.match(text)
    if not begins:
        raise ReportError(path, NO_TRACE, REMEDY)
    decode = json.JSONDecoder(parse_constant=_no_constant).raw_decode
    at = begins.end()
    while True:
        at = BETWEEN.match(text, at).end()
        if text.startswith("]", at):
            break
        try:
            event, at = decode(text, at)
        except (ValueError, RecursionError):
            # not whole yet; no event of ours is so large
            more = file.read(CHUNK)
            if not more:
                raise ReportError(path, *CUT_OFF)
            if len(text) - at > CHUNK:
                raise ReportError(path, NO_TRACE, REMEDY)
            text, at = text[at:] + more, 0
            continue
        try:
            take(event)
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
            raise ReportError(path, NO_TRACE + ": an event has another form", REMEDY)
    rest = text[at + 1 :] + file.read(CHUNK)
    try:
        other = json.loads("{" + rest.lstrip().removeprefix(","))
    except (ValueError, RecursionError):
        raise ReportError(path, *CUT_OFF)
    return other["otherData"] if isinstance(other.get("otherData"), dict) else {}


def _no_constant(name):
    raise ValueError(name)


class _Taker:
    """Puts each event where it belongs."""

    def __init__(self, ranks):
        self.ranks = ranks
        self.ready = {}

    def take(self, event):
        pid = event["pid"]
        rank = self.ranks.get(pid)
        if rank is None:
            if type(pid) is not int:
                raise TypeError
            rank = self.ranks[pid] = Rank(pid, ready=(array("d"), array("q")))
        phase, name = event["ph"], event["name"]
        if event["tid"] >= FIRST_OPERATORS:
            return  # no figure shows them
        if phase == "X":
            start, batch = event["ts"] / 1e3, event["args"].get("batch", -1)
            rank.row(event["tid"]).add(name, start, start + event["dur"] / 1e3, batch)
        elif phase in ("b", "e"):
            rank.queue.setdefault(event["args"]["batch"], []).append(_ms(event))
        elif phase == "C" and name == "batches ready":
            moments, counts = rank.ready
            moments.append(_ms(event))
            counts.append(event["args"]["batches"])
        elif phase == "i":
            rank.marks[name] = _ms(event)
        elif phase == "M" and name == "process_name":
            rank.title = clean(event["args"]["name"], 100)
        elif phase == "M" and name == "thread_name":
            rank.row(event["tid"]).name = clean(event["args"]["name"], 40)


def _ms(event):
    found = number(event["ts"])
    if found is None:
        raise TypeError
    return found / 1e3


def _sort(row):
    """Into the order of the starts, where a file has another."""
    starts = row.starts
    if all(a <= b for a, b in zip(starts, starts[1:])):
        return
    order = sorted(range(len(row)), key=lambda i: (starts[i], -row.ends[i]))
    row.kinds = [row.kinds[i] for i in order]
    row.starts, row.ends = (array("d", (a[i] for i in order)) for a in (row.starts, row.ends))
    row.batches = array("q", (row.batches[i] for i in order))
