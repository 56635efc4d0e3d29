"""Runs with another program beside them, which must be flagged, and without, which must not."""

import json
import os
import random
import subprocess

from .conditions import neighbour


def _flagged(options, data, disturbed):
    with neighbour(disturbed):
        answer = subprocess.run(
            [
                options.program,
                "run",
                "--data",
                "jpeg",
                "--dataset",
                data,
                "--image-size",
                "224",
                "--device",
                "emulated:500",
                "--batch-size",
                "32",
                "--workers",
                "1",
                "--no-ceiling",
                "--warmup-seconds",
                "0.5",
                "--min-seconds",
                "2",
                "--json",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            check=True,
        )
    record = json.loads(answer.stdout)
    return (
        any(flag["name"] == "noisy_neighbour" for flag in record["flags"]),
        record["monitors"]["cpu_other_processes"],
    )


def run(options, folder):
    data = os.path.join(folder, "data")
    subprocess.run(
        [options.program, "gen", data, "--count", "128", "--format", "jpeg", "--image-size", "224"],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    runs = 6 if options.small else 60
    order = [True] * (runs // 2) + [False] * (runs - runs // 2)
    random.Random(1).shuffle(order)
    found = {True: [], False: []}
    for disturbed in order:
        found[disturbed].append(_flagged(options, data, disturbed))
    print(
        "| runs | how many | flagged `noisy_neighbour` | share of the CPUs that others took"
        " |\n|---|---|---|---|"
    )
    for disturbed, results in found.items():
        shares = sorted(share for _, share in results)
        print(
            f"| {'another program on one CPU' if disturbed else 'alone'} | {len(results)} |"
            f" {sum(f for f, _ in results)} | {100 * shares[0]:.1f} to {100 * shares[-1]:.1f} % |"
        )
    missed = []
    if sum(f for f, _ in found[True]) < 0.95 * len(found[True]):
        missed.append("95 % of the disturbed runs are asked to be flagged")
    if sum(f for f, _ in found[False]) > (0.4 if options.small else 0.05) * len(found[False]):
        missed.append("at most 5 % of the others")
    return missed
