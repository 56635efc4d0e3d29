"""A report made again from its ledger and compared with the one there is, file by file."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile

from .. import interrupts, made, output
from ..claims import diagnosis_file
from ..figures import figures
from ..text import clean, listing

TEXT = (".md", ".csv", ".tex")  # what no library draws
OF_DRAWING = ("index.md", "paper/figures.tex")  # they name what could be drawn
OF_FIGURES = (*OF_DRAWING, "index.html", "slides.pptx")  # they name or show all figures
AGAIN = "run `feedrate report` again"


def problems(folder, path, make, draw=True):
    """(findings, notes, how many files were compared). make(folder, what was made before) writes
    the report into a folder, as it was made before; without `draw` hashes alone are compared."""
    before = made.read(folder)
    if before is None:
        why = f"missing, or none of {made.SCHEMA}: what the report was made from is unknown"
        return [f"{made.NAME}: {why}; {AGAIN}"], [], 0
    count = len(before["files"])
    findings = _by_hash(folder, before) + _strangers(folder, before)
    if stale := _stale(path, before):
        return findings + [f"the report is stale: {stale}; {AGAIN}"], [], count
    if not draw:
        return findings, ["files were compared by their hashes alone (--no-drawing)"], count
    with tempfile.TemporaryDirectory(prefix="feedrate-validate-") as again:
        interrupts.discard(again)
        make(again, before)
        more, notes = _compared(folder, again, before)
    told = {words.split(": ")[0] for words in findings}
    return findings + [w for w in more if w.split(": ")[0] not in told], notes, count


def _by_hash(folder, before):
    found = []
    for name, digest in before["files"].items():
        here = made.sha256(os.path.join(folder, name))
        if not here:
            found.append(f"{clean(name, 80)}: missing; {AGAIN}")
        elif here != digest:
            found.append(f"{clean(name, 80)}: changed since it was made; {AGAIN}")
    return found


def _strangers(folder, before):
    """Files that look like those of a report but do not belong to this one."""
    there = _written(folder)
    half = {n for n in there if os.path.basename(n).startswith(output.TEMPORARY)}
    endings = (*TEXT, *output.FORMATS, ".html", ".pptx")
    others = {n for n in there - half - before["files"].keys() if n.endswith(endings)}
    cut_off = "a half-written file of a report that was cut off; delete it"
    return [f"{clean(n, 80)}: {cut_off}" for n in sorted(half)] + [
        f"{clean(n, 80)}: not of this report; delete it, or {AGAIN}" for n in sorted(others)
    ]


def _stale(path, before):
    """Why the ledger is not the one that the report was made from; "" where it is."""
    with open(path, "rb") as file:
        lines = file.read().splitlines(keepends=True)
    if hashlib.sha256(b"".join(lines)).hexdigest() != before["ledger_sha256"]:
        count = before["records"]
        first = hashlib.sha256(b"".join(lines[:count])).hexdigest() == before["ledger_sha256"]
        if first and count < len(lines):
            return f"made when the ledger held {count} of its {len(lines)} records"
        return "made from another state of the ledger, which was changed since"
    if made.plan_sha256(path) != before["plan_sha256"]:
        return "made before the last sweep began"
    same = made.sha256(diagnosis_file.path_of(path)) == before["diagnosis_sha256"]
    return "" if same else f"made from another {diagnosis_file.NAME}, or from none"


def _compared(folder, again, before):
    """What differs from a report made again. Files that libraries draw can be compared where those
    are the same."""
    here, then = made.drawn_with(), before["drawn_with"]
    others = sorted(name for name in here if then.get(name) != here[name])
    libraries = [name for name in others if name != "report"]
    findings, elsewhere = [], []
    gone = [name for name in before["figures"] if name not in figures.NAMED]
    theirs_alone = [name for name in before["files"] if _is_of(name, gone)]
    if not libraries:
        lacking = f"missing in {made.NAME}, and the ledger gives it; {AGAIN}"
        more = sorted(_written(again) - before["files"].keys())
        findings += [f"{clean(name, 80)}: {lacking}" for name in more]
    by_another = ", or made by another version of the report" if "report" in others else ""
    for name in before["files"]:
        mine, theirs = (made.sha256(os.path.join(at, name)) for at in (again, folder))
        if not theirs or mine == theirs or name in theirs_alone:
            continue
        is_drawn = libraries and (not name.endswith(TEXT) or name in OF_DRAWING)
        if is_drawn and _words(again, name) == _words(folder, name):
            elsewhere.append(name)
        else:
            how = _how(again, folder, name)
            findings.append(f"{clean(name, 80)}: {how}{by_another}; {AGAIN}")
    notes = []
    if theirs_alone:
        notes.append(
            f"{len(theirs_alone)} files show figures that this version does not draw"
            f" ({listing(gone)}); they were compared by their hashes alone"
        )
    if elsewhere:
        words = listing(
            f"{name} {clean(then.get(name) or 'none', 20)} there, {here[name] or 'none'} here"
            for name in libraries
        )
        notes.append(f"{len(elsewhere)} drawn files were compared by their hashes alone: {words}")
    return findings, notes


def _is_of(name, gone):
    """Whether a file shows one of the figures that are gone, or names them."""
    return os.path.basename(name).partition(".")[0] in gone or bool(gone) and name in OF_FIGURES


def _written(folder):
    return {
        os.path.relpath(os.path.join(place, name), folder)
        for place, _, names in os.walk(folder)
        for name in names
    } - {made.NAME}


def _words(folder, name):
    """The words of an SVG or of the page, which no library changes. None for any other file, and
    for one that is missing."""
    path = os.path.join(folder, name)
    if not os.path.isfile(path) or not name.endswith((".svg", ".html")):
        return None
    pattern = r"<text[^>]*>([^<]*)</text>" if name.endswith(".svg") else r">([^<]+)<"
    return re.findall(pattern, _read(folder, name))


def _how(again, folder, name):
    if not os.path.exists(os.path.join(again, name)):
        return "the ledger does not give it"
    if not name.endswith(TEXT):
        return "does not follow from the ledger: edited"
    ours, theirs = (_read(place, name).splitlines() for place in (again, folder))
    apart = (i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b)
    n = next(apart, min(len(ours), len(theirs)))
    return f"line {n + 1} does not follow from the ledger: edited"


def _read(folder, name):
    path = os.path.join(folder, name)
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()
