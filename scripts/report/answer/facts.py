"""What was measured on what: the device, the machine, the software, the data and the days of a
setting, as labelled lines."""

from __future__ import annotations

from ..ledger import ledger
from ..ledger.heading import EMULATION, heading
from ..text import amount, clean

MOST = 3  # of several machines, versions or datasets, that are named


def of(setting):
    """((label, text), …), without those that no record says."""
    records = [r for c in setting.ceilings + setting.cells for r in c.runs + c.lost]
    found = (
        ("device", _device(setting)),
        ("machine", _listed(map(_machine, records))),
        ("software", _listed(map(_software, records))),
        ("dataset", _listed(map(_dataset, records))),
        ("date", _days(records)),
    )
    return tuple((label, text) for label, text in found if text)


def _device(setting):
    """An emulated device says whose rate it has, and that no GPU was there."""
    words = heading(setting)
    if setting.kind != "emulated":
        return words
    source = clean(setting.device.get("source") or "", 120)
    rate = f"; its rate: {source}" if source else ""
    return f"{words}; EMULATED: no GPU was measured, {EMULATION}{rate}"


def _machine(record):
    cpu = ledger.object_at(record, "environment", "cpu")
    if not cpu.get("model"):
        return ""
    cores = f", {clean(cpu['cores'], 10)} logical CPUs" if cpu.get("cores") else ""
    host = ledger.part(record, "environment", "host")
    return (f"{clean(host, 60)}: " if host else "") + clean(cpu["model"], 80) + cores


def _software(record):
    version = ledger.version(record)
    mine = [f"feedrate {version}"] if version else []
    theirs = ledger.part(record, "device", "software")
    return ", ".join([*mine, *([clean(theirs, 80)] if theirs else [])])


def _dataset(record):
    found = ledger.object_at(record, "dataset")
    if not found.get("variant"):
        return ""
    words = clean(found["variant"], 60)
    if ledger.positive(found.get("samples")):
        words += f", {found['samples']:,.0f} samples"
    if ledger.positive(found.get("mean_bytes")):
        words += f" of {amount(found['mean_bytes'] / 1e3)} kB"
    return words


def _days(records):
    began = (record.get("started_at") for record in records)
    days = sorted({clean(at[:10]) for at in began if at and isinstance(at, str)})
    return " to ".join(dict.fromkeys([days[0], days[-1]])) if days else ""


def _listed(words):
    each = [one for one in dict.fromkeys(words) if one]
    more = [f"and {len(each) - MOST} more"] if len(each) > MOST else []
    return "; ".join([*each[:MOST], *more])
