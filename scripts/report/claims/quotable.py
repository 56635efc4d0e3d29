"""Whether what a report answers may be quoted: the serious flags of its runs, each once, with how
many runs carry it and its worst value."""

from __future__ import annotations

import re

from ..ledger import ledger
from ..ledger.cells import UNSAID
from ..text import clean

VALID = "valid"
MOST = 4  # flags that are named
# The first share in a reason; not the 95 % of an interval, which stands in brackets.
SHARE = re.compile(r"(?<![(\d.])(\d+(?:\.\d+)?) %")


def words(cells, is_valid, but=""):
    """ "valid", or which serious flags forbid to quote the answer; if others than those of the
    answer carry them, that too. `but`: the name of a flag that does not count."""
    found, runs = _carriers(cells, but)
    if not found:
        return VALID if is_valid else must_not([])
    which = [named(name, len(of), runs, [f.get("reason") for f in of]) for name, of in found]
    return f"{VALID}; other runs {must_not(which)}" if is_valid else must_not(which)


def must_not(flags):
    """`flags`: in words, as named() has them."""
    more = [f"{len(flags) - MOST} more flags"] if len(flags) > MOST else []
    return "must not be quoted" + (f": {', '.join([*flags[:MOST], *more])}" if flags else "")


def most_frequent(cells):
    """The serious flag of most runs; None where no run has any."""
    found, _ = _carriers(cells, "")
    return found[0][1][0] if found else None


def named(name, count, runs, reasons):
    """ "noisy_neighbour (43 of 50 runs, worst 99 %)", by the share that a reason states."""
    found = (SHARE.search(str(reason)) for reason in reasons)
    values = [float(match[1]) for match in found if match]
    worst = f", worst {max(values):g} %" if values else ""
    return f"{clean(name, 40)} ({count} of {runs} runs{worst})"


def _carriers(cells, but):
    """([(name, one of its flags for each run that carries it), …], the most frequent first, the
    number of runs)."""
    records = [r for c in cells for r in c.runs + c.lost if r["status"] != ledger.NOT_RUN]
    found = {}
    for record in records:
        mine = {
            str(flag.get("name") or "?"): flag
            for flag in ledger.flags(record)
            if flag.get("severity") == "serious" and flag.get("name") != but
        }
        if not mine and record["status"] == "ok" and not ledger.valid(record):
            mine = {} if but in ledger.flag_names(record) else {UNSAID["name"]: UNSAID}
        for name, flag in mine.items():
            found.setdefault(name, []).append(flag)
    return sorted(found.items(), key=lambda pair: -len(pair[1])), len(records)
