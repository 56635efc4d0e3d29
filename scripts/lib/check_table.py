"""gpu-check's table: the rows so far, in two files."""

import json
import sys

from gpu_cells import CEILINGS, QUALIFYING
from gpu_rows import (
    batch_rows,
    heading,
    is_sound,
    row,
    rung_rows,
    said_of,
    section_rows,
)


def records_of(table):
    return table.with_suffix(".jsonl")


def settings_of(a):
    """What the rows of one table have in common."""
    return {
        "device": a.device,
        "model": a.model,
        "batch_size": a.batch_size,
        "input_size": a.input_size,
        "precision": a.precision[-1],
        "dataset": str(a.dataset) if a.dataset else f"{a.count} pictures",
        "workers": a.workers,
        "seconds": a.seconds,
    }


def made_by(record):
    """The GPU and the build, in words; None where the record does not say."""
    if "device" not in record:
        return None
    return f"{record['device']['name']}, feedrate {record['environment']['git_commit']}"


def replace(path, text):
    """Whoever stops this program leaves the old file or the new one."""
    new = path.with_name(path.name + ".new")
    new.write_text(text)
    new.replace(path)


class Table:
    """The rows so far, and the records behind them, in two files that are whole after each."""

    def __init__(self, a):
        self.a = a
        self.file = records_of(a.output) if a.output else None
        self.records = self.kept() if a.resume else []

    def kept(self):
        """What the file of records has of these settings."""
        kept = [json.loads(line) for line in self.file.read_text().splitlines()]
        if any(one["settings"] != settings_of(self.a) for one in kept):
            sys.exit(f"{self.file}: was measured with other options; choose another -o")
        return kept

    def refuse_other_machine(self, record):
        """A table has one GPU and one build."""
        own = made_by(record)
        others = {made_by(one["record"]) for one in self.records} - {own, None}
        if own and others:
            sys.exit(
                f"{self.file}: its rows are of {others.pop()}, this one is of {own}; choose another"
                " -o"
            )

    def record_of(self, name):
        return next((one["record"] for one in self.records if one["name"] == name), None)

    def has(self, name):
        return (record := self.record_of(name)) is not None and is_sound(record)

    def missing(self, all_cells):
        """What was never tried, then what failed, then what may choose other ways."""
        rows = [one for one in all_cells if one[0] in self.a.only and not self.has(one[1])]
        return sorted(
            rows, key=lambda one: (one[0] == "batches", self.record_of(one[1]) is not None)
        )

    def add(self, name, shows, record, took_s):
        self.refuse_other_machine(record)
        entry = {"name": name, "shows": shows, "took_s": round(took_s, 1)}
        entry |= {"settings": settings_of(self.a), "record": record}
        others = [one for one in self.records if one["name"] != name]
        self.records = [*others, entry]
        if self.file:
            replace(self.file, "".join(json.dumps(one) + "\n" for one in self.records))
            replace(self.a.output, self.text())

    def rows(self):
        for one in self.records:
            if "columns" not in one["record"]:
                yield from self.rows_of(one)

    def rows_of(self, one):
        ceiling, record = self.ceiling(), one["record"]
        if "columns" in record:
            return (yield from section_rows(one))
        own = None if record is ceiling else ceiling
        yield row(self.a, one["name"], one["shows"], record, own)
        if one["shows"] in QUALIFYING:
            yield from rung_rows(record)
            yield from batch_rows(record)

    def ceiling(self):
        """The first that may be quoted, else the first that was measured."""
        all_made = [one["record"] for one in self.records if one["shows"] in CEILINGS]
        measured = [record for record in all_made if record["status"] == "ok"]
        return next(filter(is_sound, measured), measured[0] if measured else None)

    def text(self):
        records = [one["record"] for one in self.records]
        lines = [said_of(self.a, records), *self.sections()]
        if any("columns" not in record for record in records):
            lines += ["", *heading(), *self.rows()]
        return "\n".join(lines) + "\n"

    def sections(self):
        for one in self.records:
            if "columns" in one["record"]:
                yield from ["", *section_rows(one)]
