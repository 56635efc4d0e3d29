"""Ends sweeps at random moments, and fills the disk under them: what was acknowledged is in the
ledger, and every line of it is a record or the torn last one.

    ledger_faults.py PROGRAM [KILLS [LEVELS]]     1,000 and 20 by default; prints a Markdown table
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

WORDS = [
    "sweep",
    "--data",
    "synthetic,tensor",
    "--workers",
    "1,2,4",
    "--image-size",
    "48",
    "--input-size",
    "48",
    "--device",
    "emulated:2000",
    "--batch-size",
    "8",
    "--min-seconds",
    "0.05",
    "--min-steps",
    "20",
    "--warmup-seconds",
    "0.01",
    "--repetitions",
    "2",
    "--json",
]
RUNS = 8  # of that sweep: (ceiling, 3 cells) twice


def make_data(program, folder):
    data = os.path.join(folder, "data")
    subprocess.run(
        [
            program,
            "gen",
            data,
            "--count",
            "64",
            "--classes",
            "4",
            "--format",
            "tensor",
            "--image-size",
            "48",
            "--input-size",
            "48",
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return data


def start(program, data, output, *more):
    return subprocess.Popen(
        [program, *WORDS, "--dataset", data, "-o", output, *more],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def identity(record):
    return record["cell_id"], record["repetition"], record["place"]


def acknowledged(out):
    """Of the records on stdout, those whose line is whole."""
    return {identity(json.loads(line)) for line in out.split("\n")[:-1]}


def kept(output):
    """(records of the ledger, whether a last line is torn); fails where any other line does not
    parse."""
    try:
        with open(os.path.join(output, "ledger.jsonl"), encoding="utf-8") as file:
            *lines, rest = file.read().split("\n")
    except FileNotFoundError:
        return [], False
    return [json.loads(line) for line in lines], bool(rest)


def check(output, out):
    records, torn = kept(output)
    lost = acknowledged(out) - {identity(r) for r in records if r["status"] == "ok"}
    if lost:
        raise AssertionError(f"acknowledged, and not in the ledger: {lost}")
    if records:
        with open(os.path.join(output, "plan.json"), encoding="utf-8") as file:
            assert len(json.load(file)["sweeps"][0]["runs"]) == RUNS, (
                "the plan is written whole, before the first record"
            )
    return len(records), torn


def kill(program, data, folder, delay, resume):
    """Kills a sweep after `delay`. Returns (number of records, whether the last line was torn).
    With `resume` the sweep is then resumed, which must add only what is missing."""
    output = os.path.join(folder, "killed")
    shutil.rmtree(output, True)
    process = start(program, data, output)
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    out, _ = process.communicate()
    count, torn = check(output, out)
    if resume:
        answer = subprocess.run(
            [program, *WORDS, "--dataset", data, "-o", output, "--resume"],
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        records, still_torn = kept(output)
        assert answer.returncode == 0 and not still_torn, answer
        assert (
            len(acknowledged(answer.stdout)) == RUNS - count
            and len({identity(r) for r in records}) == len(records) == RUNS
        ), answer
    return count, torn


def whole_run_seconds(program, data, folder):
    began = time.monotonic()
    process = start(program, data, os.path.join(folder, "whole"))
    process.communicate()
    assert process.returncode == 0
    return time.monotonic() - began


def fill_up(program, data, folder, left):
    """A sweep into a file system with so many bytes left. Returns (exit code, records kept,
    stderr)."""
    mount = os.path.join(folder, "small")
    os.makedirs(mount, exist_ok=True)
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", mount], check=True, capture_output=True
    )
    try:
        with open(os.path.join(mount, "filling"), "wb") as file:
            file.write(b"x" * ((1 << 20) - left))
        process = start(program, data, os.path.join(mount, "ledger"))
        out, err = process.communicate()
        count, torn = check(os.path.join(mount, "ledger"), out)
        assert not torn, "a record that did not fit is taken back"
        return process.returncode, count, err
    finally:
        subprocess.run(["umount", mount], check=True)


def levels(count):
    """Bytes left, from none to more than the ledger takes."""
    return [4096 * ((24 * i) // max(count - 1, 1)) for i in range(count)]


def main(program, kills=1000, fills=20):
    folder = tempfile.mkdtemp(prefix="feedrate-ledger-")
    try:
        data = make_data(program, folder)
        longest = 1.1 * whole_run_seconds(program, data, folder)
        counts, torn = [0] * (RUNS + 1), 0
        for i in range(kills):
            found, was_torn = kill(
                program, data, folder, random.uniform(0, longest), resume=i % 10 == 0
            )
            counts[found] += 1
            torn += was_torn
        print(
            "| sweeps ended by SIGKILL | records acknowledged and lost | lines that do not parse |"
            " torn last lines | records in the ledger, 0 to 8: so many times |"
        )
        print("|---|---|---|---|---|")
        print(f"| {kills} | 0 | 0 | {torn} | {' '.join(map(str, counts))} |\n")
        print("| bytes left | exit code | records kept | error |\n|---|---|---|---|")
        for left in levels(fills):
            code, found, err = fill_up(program, data, folder, left)
            error = [line for line in err.splitlines() if line.startswith("feedrate: ")]
            print(
                f"| {left} | {code} | {found} of {RUNS} |"
                f" {'-' if not error else error[-1].split(folder)[-1]} |"
            )
    finally:
        shutil.rmtree(folder, True)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), *(int(n) for n in sys.argv[2:4]))
