"""What to do next after what a report found: a few words and the command, whose options are the
axes of the cell, so that it can be pasted."""

from __future__ import annotations

import shlex

from ..claims import limiting
from ..ledger import axes as axis_tables
from ..ledger import ledger
from ..text import clean, gpus

PUBLISHED = 6  # repetitions, of what is to be published
NEW = "results/next"  # where a new sweep puts its ledger
OUTPUT, DATASET, DEVICE = ("-o", "--output"), ("--dataset",), ("--device",)
HELP = "what would help, and by how much"


def of_loss(cell):
    """Of a cell that is shown to lose."""
    has_most = cell.workers and cell.workers == max(n or 0 for n in cell.counts)
    if has_most and limiting.are_workers(cell):
        more = f"{cell.workers},{2 * cell.workers}"
        return "more workers, as CPUs are idle", _of_cell("sweep", cell, {"workers": more})
    if cell.axes.get("cache") != "none":
        command = _of_cell("sweep", cell, {"cache": f"none,{cell.axes.get('cache')}"})
        return "compare it with other caches and workers", command
    return HELP, _of_cell("diagnose", cell)


def keeps_up(cell, setting):
    """Of a setting whose cells all stay within the margin of their ceilings."""
    if setting.kind == "emulated" and cell.axes.get("cache") == "none":
        words = "loading has little to gain here; how many such GPUs the storage feeds"
        return words, _of_cell("capacity", cell, {"gpus": None})
    if setting.kind == "cpu":
        fewer = max(1, (cell.workers or 1) // 2)
        words = "loading has little to gain here; whether fewer workers do"
        return words, _of_cell("sweep", cell, {"workers": fewer})
    words = "loading has little to gain here; whether it feeds more GPUs as well"
    return words, _of_cell("sweep", cell, {"gpus": 2 * cell.gpus})


def more_repetitions(cell):
    """Of a cell about which too few repetitions say too little."""
    count = ("--repetitions", str(max(PUBLISHED, 2 * cell.rate.n)))
    if cell.pilot and cell.ratio and cell.ratio.low is not None:  # a sweep that was asked for it
        half = 100 * cell.ratio.half_width / cell.ratio.mean / 2
        count = ("--target-ci", f"{max(half, 0.1):.2g}%")
    return "more repetitions, for a narrower interval", _again(cell, count)


def again(cell):
    """What is missing or invalid is measured again."""
    return "measure what is missing or invalid again", _again(cell)


def of_flag(cell, flag):
    """The remedy of what spoilt the runs."""
    remedy = clean((flag or {}).get("remedy") or "", 120).rstrip(".")
    return f"{remedy or 'measure on a quiet machine'}; then measure again", _again(cell)


def ceiling(cell):
    """Of a cell that nothing can be held against."""
    return "measure its ceiling as well", _of_cell("sweep", cell, {}, ("--repetitions", "6"))


def stored_data(setting):
    """Of a ceiling alone."""
    command = _command("sweep", setting.axes, _record(setting), {"data": "jpeg"}, folder="DIR")
    return "measure your data against it", command


def of_diagnosis(found, setting):
    """The first remedy that options carry out, with what it may give."""
    for advice in found.advice:
        if not advice.options:
            continue
        gain = advice.measured or advice.predicted
        how = "measured" if advice.measured else "predicted"
        rate = f" ({gain.mean:,.0f} images/s {how})" if gain else ""
        changes = _changes(advice.options)
        return f"{clean(advice.remedy, 60)}{rate}", _diagnosed("run", found, setting, changes)
    if found.advice:
        first = found.advice[0]
        rate = f" would give {first.predicted.mean:,.0f} images/s" if first.predicted else ""
        words = f"{clean(first.remedy, 60)}{rate}, which no option does; then diagnose it again"
        return words, _diagnosed("diagnose", found, setting)
    return longer_diagnosis(found, setting)


def longer_diagnosis(found, setting):
    seconds = max(240.0, 2 * (found.seconds or 0))
    budget = ("--budget", f"{max(1, round(seconds / 60)):d}m")
    return "a longer diagnosis", _diagnosed("diagnose", found, setting, {}, budget)


def of_search(fed, is_machine, cell):
    """Of a search for the GPUs that a storage feeds: utilisation.Fed, whether this machine is the
    limit, and the cell with so many GPUs."""
    if is_machine:
        words = "more CPUs, or reading without decoding, to see what the storage gives"
        return words, _of_cell("capacity", cell, {"decoder": "raw-read", "gpus": None})
    if fed.starved is None:
        most = ("--most-gpus", str(4 * fed.gpus))
        return "try more GPUs", _of_cell("capacity", cell, {"gpus": None}, most)
    return f"at {gpus(fed.starved)}, {HELP}", _of_cell("diagnose", cell, {"gpus": fed.starved})


def search_again(setting):
    cell = next(c for c in setting.cells if c.runs or c.lost)
    count = ("--repetitions", "3")
    return "search again on a quiet machine", _of_cell("capacity", cell, {"gpus": None}, count)


# --- Commands.


def _of_cell(name, cell, changes=None, more=()):
    record = (cell.runs or cell.lost)[-1]
    return _command(name, cell.axes, record, changes or {}, more)


def _diagnosed(name, found, setting, changes=None, more=()):
    return _command(name, found.cell, _record(setting), changes or {}, more)


def _again(cell, count=()):
    """What goes on with the sweep. Of another command there is none to go on with."""
    record = (cell.runs or cell.lost)[-1]
    typed = _typed(record)
    if typed[:1] == ["run"]:
        return _of_cell("run", cell, {}, count)
    if typed[:1] == ["diagnose"]:
        return _of_cell("diagnose", cell)
    return _shell(["sweep", "-o", _option(typed, OUTPUT) or "DIR", "--resume", *count])


def _command(name, axes, record, changes, more=(), folder=""):
    """The command with the axes that are not what goes without saying, some of them changed; None
    takes one away."""
    tables = axis_tables.own()
    folder = folder or ledger.part(record, "dataset", "path") or _option(_typed(record), DATASET)
    words = [name, "--dataset", str(folder or "DIR")]
    if str(axes.get("device")).startswith(ledger.TRACED):
        # the axis names what the file holds, not where it lies
        changes = {"device": _option(_typed(record), DEVICE) or axes["device"], **changes}
    for axis, value in {**axes, **changes}.items():
        said = _said(value)
        if value is not None and axis in tables.axes and said != tables.usual(axis):
            words += [f"--{axis}", said]
    output = ("-o", NEW) if name == "sweep" else ()
    return _shell([*words, *more, *output])


def _said(value):
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def _changes(options):
    """{axis: value} of "--workers 4 --io-depth 16"."""
    words = options.split()
    return {a[2:]: b for a, b in zip(words, words[1:]) if a.startswith("--")}


def _record(setting):
    """One that says where its dataset lies, if any does."""
    cells = setting.cells + setting.ceilings
    records = [r for c in cells for r in c.runs + c.lost]
    return next((r for r in records if r.get("dataset")), records[0] if records else {})


def _typed(record):
    """The words of the command that made the record; [] where it does not say."""
    found = ledger.part(record, "environment", "command")
    words = [w for w in found if isinstance(w, str)] if isinstance(found, list) else []
    return words[1:] if words[:1] == ["feedrate"] else words


def _option(words, names):
    for before, word in zip(["", *words], words):
        if before in names:
            return word
        name, sets, value = word.partition("=")
        if sets and name in names:
            return value
    return ""


def _shell(words):
    return shlex.join(["feedrate", *(clean(word, 400) for word in words)])
