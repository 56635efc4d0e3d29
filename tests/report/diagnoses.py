"""Made-up files of `feedrate diagnose`, for the tests beside this file."""

import copy
import json
import os

import ledgers

RATES = {
    "synthetic": 2470.0,
    "device": 2466.0,
    "host": 2310.0,
    "sample": 2281.0,
    "decoded": 2052.0,
    "encoded": 811.0,
    "none": 838.0,
}
STEPS = {
    "normalise": ("synthetic", "device", [-5.0, 13.0]),
    "copy": ("device", "host", [149.0, 163.0]),
    "collate": ("host", "sample", [22.0, 36.0]),
    "augment": ("sample", "decoded", [216.0, 242.0]),
    "decode": ("decoded", "encoded", [1215.0, 1267.0]),
    "read": ("encoded", "none", [-41.0, -13.0]),
}


def estimate(mean, low=None, high=None):
    return {"mean": mean, "ci95": None if low is None else [low, high]}


def rung(name, rate):
    return {"rung": name, "imgs_per_s": estimate(rate, rate - 9, rate + 9), "runs": 4}


def step(name, start, end, ci95, rates=None):
    rates = rates or RATES
    lost = rates[start] - rates[end]
    ms = 256e3 / rates[end] - 256e3 / rates[start]
    return {
        "step": name,
        "from": start,
        "to": end,
        "lost_imgs_per_s": {"mean": lost, "ci95": ci95},
        "ms_per_step": estimate(ms, ms - 0.4, ms + 0.4),
    }


def diagnosis(**changes):
    """Decoding limits; normalising is not told from 0; what was read from files was faster; the
    page cache could not be dropped."""
    found = {
        "schema": "feedrate.diagnosis/1",
        "cell": ledgers.axes("jpeg"),
        "label": "jpeg 500x375, 2 workers",
        "device": "NVIDIA A100 (EMULATED)",
        "emulated": True,
        "rounds": 4,
        "seconds": 58.2,
        "ladder": [
            *(rung(name, rate) for name, rate in RATES.items()),
            {"rung": "cold", "left_out": "the page cache cannot be dropped here: not root"},
            rung("discard", 2391.0),
        ],
        "waterfall": [step(name, *ends) for name, ends in STEPS.items()],
        "slopes": [
            {
                "place": "worker",
                "kind": "burn",
                "delay_ms": 0.25,
                "extra_reads": None,
                "pairs": 6,
                "slope": estimate(0.97, 0.9, 1.04),
                "binds": 0.9999,
            },
            {
                "place": "device",
                "kind": "sleep",
                "delay_ms": 2.0,
                "extra_reads": None,
                "pairs": 6,
                "slope": estimate(0.01, -0.03, 0.05),
                "binds": 0.0001,
            },
            {
                "place": "copy",
                "kind": "sleep",
                "delay_ms": 1.0,
                "extra_reads": None,
                "pairs": 2,
                "slope": estimate(0.4),
                "binds": 0.4,
            },
            {
                "place": "storage",
                "kind": "read",
                "delay_ms": None,
                "extra_reads": 0.2,
                "pairs": 6,
                "slope": estimate(0.02, -0.05, 0.09),
                "binds": 0.03,
            },
            {
                "place": "reads in flight",
                "kind": "withhold",
                "delay_ms": None,
                "extra_reads": None,
                "withheld": 0.25,
                "pairs": 6,
                "slope": estimate(0.02, -0.02, 0.06),
                "binds": 0.02,
            },
        ],
        "capacities": [
            {
                "resource": "loader",
                "imgs_per_s": 812,
                "utilisation": 0.98,
                "largest_stage": "decode",
                "largest_share": 0.7,
            },
            {
                "resource": "device",
                "imgs_per_s": 2470,
                "utilisation": 0.33,
                "largest_stage": "step",
                "largest_share": 1.0,
            },
        ],
        "stages": [
            {"stage": "read", "wall_ms": 0.05, "cpu_ms": 0.05},
            {"stage": "decode", "wall_ms": 1.72, "cpu_ms": 1.7},
        ],
        "verdict": {
            "names": ["decode"],
            "resources": ["loader"],
            "confidence": 0.99,
            "clear": True,
            "sentence": "decode limits: without it the cell would reach 2,052 images/s",
            "evidence": {"ladder": "decode", "capacities": "decode", "slopes": "decode"},
            "agree": True,
        },
        "advice": [
            {
                "remedy": "more workers",
                "options": "--workers 4",
                "why": "the loader is busy and CPUs are idle",
                "predicted": estimate(1600.0, 1500.0, 1700.0),
                "measured": estimate(1541.0, 1520.0, 1562.0),
                "by_workers": {
                    "rates": [
                        {"workers": 2, "imgs_per_s": estimate(838.0)},
                        {"workers": 4, "imgs_per_s": estimate(1541.0)},
                    ],
                    "enough": 4,
                },
            },
            {
                "remedy": "decode smaller",
                "options": "--decode-scale on",
                "why": "pictures are larger than what is cut out of them",
                "predicted": estimate(1200.0, 1100.0, 1300.0),
                "measured": None,
                "not_tried": "the build has no such decoder",
            },
        ],
        "patterns": [
            {
                "name": "spikes",
                "statistic": "p99 / median = 4.1",
                "sentence": "every 64th step takes four times as long",
            }
        ],
        "runs": 36,
        "flags": [
            {
                "name": "noisy_neighbour",
                "runs": 20,
                "reason": "other programs used 30 % of the CPUs",
                "remedy": "end them",
            }
        ],
        "blocks_failed": None,
    }
    found = copy.deepcopy(found)
    found["verdict"].update(changes.pop("verdict", {}))
    return {**found, **changes}


def records():
    return ledgers.repetitions(3, 2470.0, cells=(("jpeg", 838.0),))


def write(folder, found):
    """The file beside the ledger of the folder; `found` may be text, to be no JSON."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "diagnosis.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(found if isinstance(found, str) else json.dumps(found))
    return path
