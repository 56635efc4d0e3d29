"""The parts of validate-measurement: each prints a Markdown table and returns what it misses."""

import os
import re
import subprocess
import tempfile

from . import (
    cold,
    compare_power,
    conditions,
    days,
    headlines,
    in_pairs,
    ledger_pairs,
    neighbour,
    precision,
    report_of_500,
    shown,
    trace_cost,
)


def _tool(options, *words):
    return subprocess.run(
        [options.validation, *map(str, words)], check=True, stdout=subprocess.PIPE, encoding="utf-8"
    ).stdout


def series(options):
    table = _tool(options, "series", 100 if options.small else 1000)
    print(table)
    missed = []
    for kind, right, called in re.findall(
        r"^\| ([\w ]+) \| (?:yes|no) \| ([\d.]+) % \| (\d+) \|", table, re.M
    ):
        if float(right) < (90 if options.small else 95):
            missed.append(f"{kind}: {right} % right, 95 % are asked")
        if kind == "ramp" and int(called):
            missed.append(f"{called} ramps were called steady")
    return missed


def intervals(options):
    table = _tool(options, "intervals", 1000 if options.small else 10000)
    print(table)
    missed = []
    for repetitions, covered in re.findall(r"^\| (\d+) \| ([\d.]+) % \| [\d.]+ % \|$", table, re.M):
        if not (92 if options.small else 93) <= float(covered) <= (98 if options.small else 97):
            missed.append(f"{repetitions} repetitions: {covered} % covered, 93 to 97 % are asked")
    return missed


def kills(options):
    import ledger_faults

    ledger_faults.main(
        os.path.abspath(options.program), *((10, 3) if options.small else (1000, 20))
    )
    return []  # it raises where a record is lost


def _in_folder(part):
    def run(options):
        with tempfile.TemporaryDirectory(prefix="feedrate-validate-") as folder:
            return part(options, folder)

    return run


ALL = {
    "series": series,
    "intervals": intervals,
    "compare": _in_folder(compare_power.run),
    "shown": _in_folder(shown.run),
    "headlines": _in_folder(headlines.run),
    "precision": _in_folder(precision.run),
    "pairs": _in_folder(in_pairs.run),
    "days": _in_folder(days.run),
    "ledgers": _in_folder(ledger_pairs.emulated),
    "real": _in_folder(ledger_pairs.real),
    "kills": kills,
    "neighbour": _in_folder(neighbour.run),
    "conditions": _in_folder(conditions.run),
    "cold": _in_folder(cold.run),
    "trace": _in_folder(trace_cost.run),
    "report": _in_folder(report_of_500.run),
}
