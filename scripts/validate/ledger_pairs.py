"""Pairs of ledgers, judged as `feedrate compare` judges them."""

import contextlib
import io
import json
import os
import subprocess

SLOWER, FASTER = "slower", "faster"


def _verdicts(folder, *more):
    """{verdict: how often} over the pairs below a folder, each 0000/a and 0000/b with one cell."""
    # scripts/report; a process for each of thousands would take most of the time
    from report.compare import compare

    counts = {}
    for pair in sorted(os.listdir(folder)):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            compare.main(
                [
                    *(os.path.join(folder, pair, side) for side in "ab"),
                    "--json",
                    "--fail-on",
                    "never",
                    *more,
                ]
            )
        if not out.getvalue():
            raise RuntimeError(err.getvalue())
        for cell in _cells(json.loads(out.getvalue())):
            counts[cell["verdict"]] = counts.get(cell["verdict"], 0) + 1
    return counts


def _cells(found):
    cells = found["comparisons"][0]["cells"]
    return [cell for cell in cells if cell["role"] != "ceiling"] or cells


def _row(what, counts):
    total = sum(counts.values())
    different = counts.get(SLOWER, 0) + counts.get(FASTER, 0)
    rest = ", ".join(
        f"{verdict} {n}" for verdict, n in sorted(counts.items()) if verdict not in (SLOWER, FASTER)
    )
    print(
        f"| {what} | {total} | {counts.get(FASTER, 0)} | {counts.get(SLOWER, 0)} |"
        f" {100 * different / total:.1f} % | {rest or '-'} |"
    )
    return different, total


def _head():
    print("| pairs | how many | faster | slower | different | else |\n|---|---|---|---|---|---|")


def emulated(options, folder):
    """1 % of noise from repetition to repetition, six on each side; margin 0, so that only chance
    and the gap decide."""
    count, missed = (20 if options.small else 1000), []
    kinds = (("equal", 0), ("5 % apart", 0.05))
    folders = [os.path.join(folder, what.split()[0]) for what, _ in kinds]
    # Both at once: an emulated device sleeps, and what it sleeps too long is far below the planted
    # noise.
    making = [
        subprocess.Popen(
            [options.validation, "pairs", str(count), "0.01", str(gap), below],
            stdout=subprocess.DEVNULL,
        )
        for (_, gap), below in zip(kinds, folders)
    ]
    codes = [one.wait() for one in making]
    if any(codes):
        raise RuntimeError("the pairs could not be made")
    _head()
    for (what, gap), below in zip(kinds, folders):
        counts = _verdicts(below, "--margin", "0", "--allow-invalid")
        different, total = _row(f"emulated, {what}", counts)
        if gap and counts.get(SLOWER, 0) < 0.95 * total:
            missed.append("a gap of 5 % is asked to be found in 95 %")
        if not gap and different > (0.25 if options.small else 0.065) * total:
            missed.append("at most 6.5 % of equal pairs are asked to differ")
    return missed


def real(options, folder):
    """The same cell twice, bound by decoding on the CPUs: repetitions of both in turn, so that a
    slow hour hits both."""
    data = os.path.join(folder, "data")
    subprocess.run(
        [options.program, "gen", data, "--count", "256", "--format", "jpeg", "--image-size", "224"],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    words = [
        options.program,
        "sweep",
        "--data",
        "jpeg",
        "--dataset",
        data,
        "--image-size",
        "224",
        "--device",
        "emulated:50000",
        "--batch-size",
        "64",
        "--workers",
        "2",
        "--page-cache",
        "warm",
        "--warmup-seconds",
        "0.3",
        "--min-seconds",
        "0.5",
        "--max-seconds",
        "3",
        "--max-warmup-seconds",
        "2",
    ]
    pairs = os.path.join(folder, "pairs")
    for pair in range(2 if options.small else 40):
        for repetition in range(1, 7):
            for side in "ab" if (pair + repetition) % 2 else "ba":
                subprocess.run(
                    [
                        *words,
                        "--repetitions",
                        str(repetition),
                        "--resume",
                        "-o",
                        os.path.join(pairs, f"{pair:04}", side),
                    ],
                    check=True,
                    stderr=subprocess.DEVNULL,
                )
    _head()
    different, total = _row("this machine, equal", _verdicts(pairs))
    return (
        []
        if options.small or different <= 5 * total / 40
        else ["at most 5 of 40 equal pairs are asked to differ"]
    )
