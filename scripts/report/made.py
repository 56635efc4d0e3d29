"""report/files.json: what a report was made from and with, and the hash of each of its files. With
it a report can be made again and compared, whatever has been written into the folder since."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import os
import platform
import re

from . import output
from .claims import diagnosis_file
from .figures import figures
from .ledger import plan

NAME, SCHEMA = "files.json", "feedrate.report/1"
LIBRARIES = ("matplotlib", "numpy", "pillow", "fonttools", "python-pptx", "lxml", "jinja2")
OPTIONS = {"formats": list, "only": list}
OPTIONS |= dict.fromkeys(("no_figures", "html", "paper", "slides"), bool)
WORDS = ("ledger_name", "ledger_sha256", "plan_sha256", "diagnosis_sha256", "feedrate_version")
KINDS = {**dict.fromkeys(WORDS, str), "records": int, "drawn_with": dict, "options": dict}
KINDS |= {"figures": list, "files": dict}
HERE = os.path.dirname(os.path.abspath(__file__))


def write(folder, path, context, names):
    """Writes files.json for the files of those names. If only a few figures were drawn again
    (--only), the other files of a report of the same ledger stay in it."""
    made = {
        "schema": SCHEMA,
        "ledger_name": context.ledger_name,
        "ledger_sha256": sha256(path),
        "plan_sha256": plan_sha256(path),
        "diagnosis_sha256": sha256(diagnosis_file.path_of(path)),
        "records": context.records,
        "feedrate_version": context.version,
        "options": {name: getattr(context.options, name) for name in OPTIONS},
        "drawn_with": drawn_with(),
        "figures": list(context.figures),
    }
    before = read(folder)
    if before and not context.options.only:
        _remove(folder, before, names)
    files = {name: sha256(os.path.join(folder, name)) for name in names}
    if context.options.only and is_whole(folder, path):
        same = {n: h for n, h in before["files"].items() if sha256(os.path.join(folder, n)) == h}
        known = dict.fromkeys([*before["figures"], *context.options.only])
        made |= {"options": before["options"], "figures": list(known)}
        files = same | files
    made["files"] = dict(sorted(files.items()))
    output.write(os.path.join(folder, NAME), json.dumps(made, indent=1) + "\n")


def is_whole(folder, path):
    """Whether a whole report of this ledger lies there."""
    before = read(folder)
    return bool(
        before
        and before["ledger_sha256"] == sha256(path)
        and before["diagnosis_sha256"] == sha256(diagnosis_file.path_of(path))
        and not before["options"]["only"]
        and not before["options"]["no_figures"]
    )


def _remove(folder, before, names):
    """Deletes the files that only the earlier report had, unless somebody has changed them."""
    for name in before["files"].keys() - set(names):
        path = os.path.join(folder, name)
        if sha256(path) == before["files"][name]:
            os.unlink(path)


def read(folder):
    """What write() wrote; None where there is none, or none that can be read."""
    try:
        with open(os.path.join(folder, NAME), encoding="utf-8") as file:
            # "": made before there were diagnoses
            made = {"diagnosis_sha256": "", **json.load(file)}
            made.setdefault("figures", _figures_of(made))
        options = made["options"]
        sound = (
            made["schema"] == SCHEMA
            and all(isinstance(made[key], kind) for key, kind in KINDS.items())
            and all(isinstance(options[key], kind) for key, kind in OPTIONS.items())
            and set(options["formats"]) <= set(output.FORMATS)
            and all(_is_name(name) for name in [*options["only"], *made["figures"]])
            and all(_is_plain(n) and isinstance(h, str) for n, h in made["files"].items())
        )
        return made if sound else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _figures_of(made):
    """The figures that an older report knew, which does not list them: those that it drew."""
    if made["options"]["no_figures"]:
        return list(figures.NAMED)
    drawn = (n for n in made["files"] if n.endswith(output.FORMATS) and "/" not in n)
    return list(dict.fromkeys(name.partition(".")[0] for name in drawn))


def _is_name(name):
    """Of a figure, of this program or of another version."""
    return re.fullmatch(r"[a-z0-9_]+", name) is not None


def _is_plain(name):
    """A file of the report or of its folder paper/, and no other place."""
    return re.fullmatch(r"(paper/)?[A-Za-z0-9_.-]+", name) is not None and ".." not in name


def sha256(path):
    """Of a file, as hex; "" where there is none."""
    if not os.path.isfile(path):
        return ""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def plan_sha256(ledger_path):
    """The SHA-256 of the runs that the sweeps planned, without how the last sweep ended."""
    found = plan.load(ledger_path)
    if not found.keys() >= {"cells", "sweeps"}:
        return ""
    runs = json.dumps([found["cells"], found["sweeps"]], sort_keys=True)
    return hashlib.sha256(runs.encode()).hexdigest()


@functools.cache
def drawn_with():
    """{what: version} of all that decides a file's bytes beside the ledger: this program, Python,
    the libraries."""
    found = {"report": _program(), "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = ""
    return found


def _program():
    """A hash of this package's own files."""
    whole = hashlib.sha256()
    for folder, _, names in sorted(os.walk(HERE)):
        ours = (n for n in names if n.endswith((".py", ".js", ".css", ".html", ".json")))
        for name in sorted(ours):
            with open(os.path.join(folder, name), "rb") as file:
                whole.update(name.encode() + b"\0" + file.read())
    return whole.hexdigest()[:16]
