"""What a figure says below its panels: what to know of the cells drawn, and where the numbers come
from."""

from __future__ import annotations

from ..ledger import ledger, statistics
from ..ledger.cells import DRIFTED
from ..ledger.heading import EMULATION
from ..text import axis_value, clean, listing, percent

LEDGER = 40  # letters of its name: all that must be said stands on one line


def provenance(cells, context, single_runs, kind):
    """`kind`: of the device. What matters least comes last."""
    rates = [] if single_runs else [c.rate for c in cells if c.rate]
    parts = ["one run of each cell"] if single_runs else []
    if rates:
        counts = sorted({r.n for r in rates})
        n = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
        parts.append(f"n = {n} repetition{'' if counts == [1] else 's'}")
        # how they come about in full: see methods.py
        parts += sorted({r.kind.partition(",")[0] for r in rates if r.kind != statistics.SET})
    if kind == "emulated":
        parts.append(EMULATION)
    parts.append(clean(context.ledger_name, LEDGER))
    parts += [f"feedrate {context.version}"] if context.version else []
    loaders = {axis_value(c.axes["loader"]) for c in cells if c.axes.get("loader") is not None}
    parts += ["loader " + listing(sorted(loaders))] if loaders else []
    return " · ".join(parts)


def warnings(cells, single_runs):
    """What a reader must know of the cells drawn: drift, serious flags, missing ones."""
    everything, many = with_ceilings(cells), len(cells)
    drifts = [c for c in everything if getattr(c, "drifted", False)]
    lines = list(dict.fromkeys(f"{DRIFTED}: {c.drift_words}. {c.drift_means}." for c in drifts))
    if above := sum(bool(c.above_ceiling) for c in cells):
        lines.append(
            f"above_ceiling: the share of {above} of {many} cells lies above 1 by more than its"
            " interval."
        )
    if any(c.serious for c in cells):
        lines.append(f"Hollow with !: the cell carries a serious flag ({_serious(cells)}).")
    ceilings = [c for c in everything if c.data == "synthetic" and c.serious]
    if ceilings:
        lines.append(
            f"Warning: a ceiling carries a serious flag ({_serious(ceilings)}): no share of it is"
            " to be quoted."
        )
    shaky = ("unsteady", "short_warmup")
    if unsteady := sum(any(f.get("name") in shaky for f in c.flags) for c in cells):
        which = f"{unsteady} of {many} cells" if many > 1 else "the cell"
        lines.append(f"Warning: the steps of {which} were not seen to be steady.")
    if client := sum(bool(c.is_client_cold) for c in cells):
        lines.append(
            f"Client-cold: {client} of {many} cells read files that a server or another program"
            " gives this machine; what that keeps in a cache is unknown."
        )
    if any(c.ceiling and c.ceiling.recorded for c in cells):
        lines.append("The ceiling is the one that the records name: the ledger holds no run of it.")
    if missing := [c for c in cells if not c.rate]:
        states = " or ".join(sorted({c.state for c in missing}))
        count = f"{len(missing)} cell{'s' if len(missing) > 1 else ''}"
        lines.append(f"× missing, not zero: {count}, {states} (listed in index.md).")
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
    found = ["!: invalid, serious flag"] if any(c.serious for c in everything) else []
    found += ["×: missing"] if any(not c.rate for c in cells) else []
    return found + ([f"{DRIFTED} by up to {percent(max(drifts))}"] if drifts else [])


def with_ceilings(cells):
    """The cells and the ceilings whose runs their shares are of, each once."""
    return list({id(c): c for cell in cells for c in (cell, cell.divided_by) if c}.values())


def _serious(cells):
    return ", ".join(ledger.named([f for c in cells for f in c.flags], "serious"))
