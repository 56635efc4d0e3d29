"""What a figure says below its panels: what to know of the cells drawn, and where the numbers come
from."""

from __future__ import annotations

from . import statistics
from .cells import DRIFTED
from .heading import EMULATION
from .text import axis_value, clean, listing, percent


def provenance(cells, context, single_runs, kind):
    """`kind`: of the device."""
    rates = [] if single_runs else [c.rate for c in cells if c.rate]
    parts = ["one run of each cell"] if single_runs else []
    if rates:
        counts = sorted({r.n for r in rates})
        parts.append(
            "n = "
            + (f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}")
            + (" repetition" if counts == [1] else " repetitions")
        )
        parts += sorted({r.kind for r in rates} - {statistics.SET})
    for axis in ("loader", "workers"):
        values = [c.axes.get(axis) for c in cells if c.axes.get(axis) is not None]
        if values:
            known = sorted(set(values), key=lambda v: (str(type(v)), v))
            parts.append(f"{axis} " + listing(axis_value(v) for v in known))
    if kind == "emulated":
        parts.append(EMULATION)
    return " · ".join(
        parts + [context.ledger_name] + ([f"feedrate {context.version}"] if context.version else [])
    )


def warnings(cells, single_runs):
    """What a reader must know of the cells drawn: drift, serious flags, missing ones."""
    lines = []
    lines += [
        f"{DRIFTED}: {words}."
        for words in dict.fromkeys(
            f"{c.drift_words}. {c.drift_means}"
            for c in with_ceilings(cells)
            if getattr(c, "drifted", False)
        )
    ]
    above = [c for c in cells if c.above_ceiling]
    if above:
        lines.append(
            f"above_ceiling: the share of {len(above)} of {len(cells)} cells lies above 1 by more"
            " than its interval."
        )
    if any(c.serious for c in cells):
        lines.append("Hollow with !: the cell carries a serious flag (" + _serious(cells) + ").")
    ceilings = [c for c in with_ceilings(cells) if c.data == "synthetic" and c.serious]
    if ceilings:
        lines.append(
            f"Warning: a ceiling carries a serious flag ({_serious(ceilings)}): no share of it is"
            " to be quoted."
        )
    unsteady = [
        c for c in cells if any(f.get("name") in ("unsteady", "short_warmup") for f in c.flags)
    ]
    if unsteady:
        lines.append(
            f"Warning: the steps of {len(unsteady)} of {len(cells)} cells were not seen to be"
            " steady."
        )
    client = [c for c in cells if c.is_client_cold]
    if client:
        lines.append(
            f"Client-cold: {len(client)} of {len(cells)} cells read files that a server or another"
            " program gives this machine; what that keeps in a cache is unknown."
        )
    if any(c.ceiling and c.ceiling.recorded for c in cells):
        lines.append("The ceiling is the one that the records name: the ledger holds no run of it.")
    missing = [c for c in cells if not c.rate]
    if missing:
        states = sorted({c.state for c in missing})
        lines.append(
            f"× missing, not zero: {len(missing)} cell{'s' if len(missing) > 1 else ''}, "
            + " or ".join(states)
            + " (listed in index.md)."
        )
    if not single_runs and any(c.rate and c.rate.n < statistics.LEAST for c in cells):
        lines.append(
            f"Fewer than {statistics.LEAST} repetitions: a look, without intervals; nothing is"
            " claimed."
        )
    return lines


def marks(cells):
    """The same in the fewest words, for a figure whose caption says the rest."""
    everything = with_ceilings(cells)
    drifts = [
        abs(d - 1) for c in everything if getattr(c, "drifted", False) for d in c.drift.points
    ]
    return [
        words
        for words, holds in (
            ("!: invalid, serious flag", any(c.serious for c in everything)),
            ("×: missing", any(not c.rate for c in cells)),
            (f"{DRIFTED} by up to {percent(max(drifts, default=0))}", bool(drifts)),
        )
        if holds
    ]


def with_ceilings(cells):
    """The cells and the ceilings whose runs their shares are of, each once."""
    return list({id(c): c for cell in cells for c in (cell, cell.divided_by) if c}.values())


def _serious(cells):
    return ", ".join(
        sorted(
            {
                clean(f.get("name"), 40)
                for c in cells
                for f in c.flags
                if f.get("severity") == "serious"
            }
        )
    )
