"""How long the report of a large ledger takes."""

import itertools
import os
import random
import subprocess
import sys
import time

# img/s of one worker at 224
FORMATS = {"raw": 2400, "jpeg": 900, "bmp": 500, "png": 300, "npy": 2000}
SIZES, WORKERS, GPUS = (224, 256, 384, 512, 768), (1, 2, 4, 8, 16), (1, 2, 4, 8)
REPETITIONS, STEPS = 3, 200


def _record(ledgers, cell, rate, repetition, role="cell"):
    """A record as long as a real one: step times, readings of the host and of each GPU."""
    made = random.Random(f"{sorted(cell.items())} {repetition}")
    steps = [round(1e3 * 256 / rate * made.lognormvariate(0, 0.05), 3) for _ in range(STEPS)]
    one = ledgers.record(cell, rate * made.lognormvariate(0, 0.01), repetition, role)
    one.update(
        step_ms=ledgers.summary(steps),
        data_wait_ms=ledgers.summary([round(0.2 * ms, 3) for ms in steps]),
    )
    return ledgers.read_more(one, seconds=20, gpus=cell["gpus"])


def _records(ledgers, cells):
    """`cells` cells over formats, sizes, workers and GPUs, and their ceilings, first and last in
    each repetition."""
    places = list(itertools.islice(itertools.product(GPUS, FORMATS, SIZES, WORKERS), cells))
    for repetition in range(REPETITIONS):
        for gpus, of_these in itertools.groupby(places, key=lambda place: place[0]):
            ceiling = ledgers.axes(gpus=gpus)
            yield _record(ledgers, ceiling, 2470 * gpus, repetition, "ceiling")
            for _, data, size, workers in of_these:
                rate = min(2400 * gpus, FORMATS[data] * workers * (224 / size) ** 2)
                cell = ledgers.axes(
                    data, gpus=gpus, workers=workers, **{"image-size": f"{size}x{size}"}
                )
                yield _record(ledgers, cell, rate, repetition)
            yield _record(ledgers, ceiling, 2470 * gpus, repetition, "ceiling")


def run(options, folder):
    import ledgers  # tests/report: ledgers built in code

    cells = 20 if options.small else 500
    records = list(_records(ledgers, cells))
    ledgers.write(folder, records)
    report = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "report")
    began = time.monotonic()
    subprocess.run(
        [sys.executable, report, folder],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    took = time.monotonic() - began
    files = sum(len(names) for _, _, names in os.walk(os.path.join(folder, "report")))
    print(
        "| cells | records | size of the ledger | files written | time |\n|---|---|---|---|---|\n|"
        f" {cells} | {len(records)} |"
        f" {os.path.getsize(os.path.join(folder, 'ledger.jsonl')) / 1e6:.1f} MB | {files} |"
        f" {took:.1f} s |"
    )
    return [] if options.small or took < 20 else ["20 s are asked for 500 cells"]
