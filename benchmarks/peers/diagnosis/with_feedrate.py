"""What `feedrate diagnose` names as one bottleneck: one line of JSON.

  python with_feedrate.py "decode 2x" --dataset data/

The times are planted (--plant STAGE=MS, with :burn for CPU time) on top of a loader that reads and
decodes small JPEGs, and the device is emulated at the rate of the step. The dataset is made by

  feedrate gen data/ --format jpeg --image-size 64x64 --count 2048

The names of the verdict are folded whatever the truth is: a verdict that is not clear is `unclear`,
else names of two classes are `none` (two are alike).
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

from bottlenecks import STAGES, named, use_the_processors

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDED = {
    **dict.fromkeys(("read", "storage", "decode", "augment", "collate", "shared CPU"), "input"),
    "copy": "copy",
    **dict.fromkeys(("compute", "normalise", "all-reduce"), "compute"),
}


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", help="of the bottleneck")
    parser.add_argument("--dataset", required=True, type=pathlib.Path)
    parser.add_argument("--budget", default="60s")
    parser.add_argument(
        "--feedrate", type=pathlib.Path, default=ROOT / "build/release/bin/feedrate"
    )
    return parser.parse_args()


def planted(bottleneck):
    for stage in STAGES:
        words = f"{stage}={getattr(bottleneck, stage):g}"
        if stage == "read" and bottleneck.every:
            words += f":spike={bottleneck.spike:g}@{bottleneck.every}"
        yield words + (":burn" if stage in bottleneck.burnt else "")
    yield f"copy={bottleneck.copy:g}"
    if bottleneck.all_reduce:
        yield f"all-reduce={bottleneck.all_reduce:g}"


def command_of(bottleneck, a, folder):
    command = [a.feedrate, "diagnose", "--budget", a.budget, "-o", folder]
    command += ["--device", f"emulated:{bottleneck.batch * 1e3 / bottleneck.step:g}"]
    command += ["--dataset", a.dataset, "--data", "jpeg", "--image-size", "64x64"]
    command += ["--workers", bottleneck.workers, "--batch-size", bottleneck.batch]
    for words in planted(bottleneck):
        command += ["--plant", words]
    return [str(word) for word in command]


def folded(verdict):
    classes = {FOLDED.get(name, "unclear") for name in verdict["names"]}
    if not classes or not verdict["clear"]:
        return "unclear"
    return "none" if len(classes) > 1 else classes.pop()


def main():
    a = arguments()
    use_the_processors()
    bottleneck = named(a.name)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command_of(bottleneck, a, folder), capture_output=True, text=True)
        written = pathlib.Path(folder, "diagnosis.json")
        if not written.exists():
            sys.exit(f"feedrate wrote no diagnosis:\n{done.stdout}\n{done.stderr}")
        verdict = json.loads(written.read_text())["verdict"]
    line = {
        "tool": "feedrate",
        "name": a.name,
        "label": ", ".join(verdict["names"]),
        "folded": folded(verdict),
        "seconds": round(time.perf_counter() - start, 1),
        "stages": verdict["names"],
        "confidence": verdict["confidence"],
        "clear": verdict["clear"],
        "sentence": verdict["sentence"],
    }
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
