"""The life of each batch of a trace, from the first thing that was done for it to the end of its
step."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import ReportError
from .trace import COPIES, STAGES, STEPS, TRAINING

WINDOW = ("window begins", "window ends")


@dataclass(frozen=True)
class Life:
    """Moments in ms of the trace's clock. None: the batch had no such part."""

    rank: object
    batch: int
    step: int  # place in its row
    begins: float  # the first sample's first stage, or what came first where no stage was traced
    ready: float | None
    taken: float
    there: float  # on the device; where nothing was copied, when it was handed over
    starts: float
    ends: float
    copy: tuple | None = None
    wait: tuple = ()
    submit: tuple = ()

    @property
    def ms(self):
        return self.ends - self.begins

    def parts(self):
        """[(what, its ms), …]: one after the other, they are the whole life."""
        ready = self.taken if self.ready is None else self.ready
        cuts = [
            ("made", self.begins, ready),
            ("queued", ready, self.taken),
            ("to device", self.taken, self.there),
            ("behind step", self.there, self.starts),
            ("step", self.starts, self.ends),
        ]
        return [(what, max(round(to - start, 6), 0.0)) for what, start, to in cuts]


def lives(rank, low=None, high=None):
    """The lives whose steps end within that time, in the steps' order. Steps, waits and submits of
    a rank come in the same order. A batch that a cache hands out again was made once."""
    steps, training, copies = (rank.row(tid) for tid in (STEPS, TRAINING, COPIES))
    waits, submits = training.of_kind("wait"), training.of_kind("submit")
    first = _first_stages(rank)
    copies_of = {}
    for i, batch in enumerate(copies.batches):
        copies_of.setdefault(batch, []).append(i)
    found, times = [], {}
    for i in range(min(len(steps), len(waits), len(submits))):
        batch = steps.batches[i]
        nth = times[batch] = times.get(batch, -1) + 1
        if not (low is None or low < steps.ends[i] <= high):
            continue
        wait, submit = ((training.starts[k[i]], training.ends[k[i]]) for k in (waits, submits))
        copied = copies_of.get(batch, [])
        copy = (copies.starts[copied[nth]], copies.ends[copied[nth]]) if nth < len(copied) else None
        ready = rank.queue.get(batch, (None, None))[0] if nth == 0 else None
        made = first.get(batch) if nth == 0 else None
        begins = min(m for m in (made, ready, wait[1]) if m is not None)
        there = copy[1] if copy else submit[0]
        there, starts, ends = min(there, steps.starts[i]), steps.starts[i], steps.ends[i]
        moments = begins, ready, wait[1], there, starts, ends
        found.append(Life(rank, batch, i, *moments, copy, wait, submit))
    return found


def _first_stages(rank):
    """{batch: when its first stage began}."""
    first = {}
    for row in rank.loaders:
        for kind, batch, start in zip(row.kinds, row.batches, row.starts):
            if kind in STAGES and (batch not in first or start < first[batch]):
                first[batch] = start
    return first


def window(trace, ranks):
    """(from, to, a note): the measured window, as far as the trace is whole there."""
    low = max(rank.marks.get(WINDOW[0], _edge(rank, min)) for rank in ranks)
    high = min(rank.marks.get(WINDOW[1], _edge(rank, max)) for rank in ranks)
    note = "" if all(rank.marks.keys() >= set(WINDOW) for rank in ranks) else "The whole trace."
    until = trace.whole_until()
    if until is not None and until < high:
        note = "Rows of the trace are cut off: what came later was left out."
        low = min(low, *(_edge(rank, min) for rank in ranks)) if until <= low else low
        high = until
    return low, high, note


def _edge(rank, of):
    row = rank.row(STEPS)
    return of(row.starts[0], row.ends[-1])


def chosen(trace, ranks, batch=None):
    """([(why, Life), …], a note): the median and the longest of the window, or that batch of the
    lowest rank."""
    low, high, note = window(trace, ranks)
    if batch is not None:
        found = [life for life in lives(ranks[0]) if life.batch == batch]
        if not found:
            why = f"no step of rank {ranks[0].number} was given it"
            remedy = "take a number that the trace has in `batch` of a step"
            raise ReportError(f"--batch {batch}", why, remedy)
        return [("", found[0])], ""
    found = [life for rank in ranks for life in lives(rank, low, high)]
    found.sort(key=lambda life: life.ms)
    if not found:
        raise ReportError("trace", "no step of its window is there", "measure for longer")
    shown = [("median", found[(len(found) - 1) // 2]), ("longest", found[-1])]
    return [(f"{why} of {len(found)}", life) for why, life in shown[: len(found)]], note
