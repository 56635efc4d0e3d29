"""The table of a machine with a GPU, made beside a program that stands in for feedrate there: its
records are the real program's, with a GPU's name and planted rates, or it fails as it is told."""

import json
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

from program import HAS_GPU, PATIENCE, ROOT, ProgramTest, main, program

sys.path.insert(0, os.path.join(ROOT, "scripts", "lib"))
import gpu_order  # noqa: E402
import gpu_parts  # noqa: E402
import kernel_groups  # noqa: E402
from gpu_cells import PARTS  # noqa: E402
from timed_run import timed_run  # noqa: E402

# Its plan: "rates", by what the words contain, the first that fits; "fails", likewise, the words on
# stderr and exit code 4; "hangs". It writes each of its calls down.
STAND_IN = """#!/usr/bin/env python3
import json, os, sys, time
here = os.path.dirname(os.path.abspath(__file__))
plan = json.load(open(os.path.join(here, "plan.json")))
words = " ".join(sys.argv[1:])
with open(os.path.join(here, "calls"), "a") as calls:
    print(words, file=calls)
if sys.argv[1] == "gen":
    os.makedirs(sys.argv[2], exist_ok=True)
    sys.exit(0)
for some in plan["hangs"]:
    if some in words:
        time.sleep(600)
for some, why in plan["fails"].items():
    if some in words:
        print("feedrate: " + why, file=sys.stderr)
        sys.exit(4)
record = plan["record"]
record["device"]["name"] = plan["gpu"]
if "--precision" in sys.argv:
    record["cell"]["precision"] = sys.argv[sys.argv.index("--precision") + 1]
record["stands_for"] = {"cuda-graph": plan["graph"]}
if record["cell"]["precision"] == "auto":
    record["stands_for"]["precision"] = "bf16"
record["valid"] = not any(some in words for some in plan["unfit"])
record["flags"] = [] if record["valid"] else [{"name": "throttled"}]
record["imgs_per_s"] = next(rate for some, rate in plan["rates"].items() if some in words)
if "--cuda-graph" not in words:
    record["qualification"] = plan["qualification"]
    record["plain_step_error"] = {"loss": 1e-4, "update": 0.25, "scale": 0.01}
if "--qualify" in words:
    record["rates_over_batches"] = plan["rates_over_batches"]
if sys.argv[1] == "sweep":
    folder = sys.argv[sys.argv.index("-o") + 1]
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "ledger.jsonl"), "w") as ledger:
        for repetition in range(2):
            for workers in (2, 16):
                cell = {**record["cell"], "data": "jpeg", "image-size": "500x375"}
                cell["workers"] = workers
                rate = (2000.0 if workers == 2 else 2900.0) + 10 * repetition
                one = {**record, "cell": cell, "cell_id": str(workers), "imgs_per_s": rate}
                one.update(ceiling_imgs_per_s=3000.0, ceiling_fraction=rate / 3000)
                print(json.dumps(one), file=ledger)
    sys.exit(0)
print(json.dumps(record))
"""
CHECKS = """#!/bin/sh
echo '[ RUN      ] Step.Trains'
echo '[       OK ] Step.Trains (3 ms)'
case "$1" in *Slabs.AreWhole*) ;; *)
  echo '[ RUN      ] Slabs.AreWhole'
  [ ! -e "$(dirname "$0")/crash" ] || kill -SEGV $$
  echo '[       OK ] Slabs.AreWhole (3 ms)'
esac
echo '[ RUN      ] Copies.Overlap/0'
if [ -e "$(dirname "$0")/norm" ]; then
  echo '[ RUN      ] CudaBatchNorm.IsTheStepsOneByOneInDouble'
  echo '[  FAILED  ] CudaBatchNorm.IsTheStepsOneByOneInDouble (3 ms)'
  echo ' 1 FAILED TEST'
  exit 1
fi
if [ -e "$(dirname "$0")/fail" ]; then
  echo '[  FAILED  ] Copies.Overlap/0, where GetParam() = 1 (3 ms)'
  echo ' 1 FAILED TEST'
  exit 1
fi
echo '[       OK ] Copies.Overlap/0 (3 ms)'
echo '[  PASSED  ] 3 tests.'
"""
QUALIFICATION = [
    {
        "axis": "cuda-graph",
        "value": "on",
        "verdict": "taken",
        "imgs_per_s": 3100.2,
        "ratio": 1.25,
        "ratio_ci95": [1.2, 1.3],
        "error": {"loss": 1e-4, "update": 0.26, "scale": 0.01},
    },
    {
        "axis": "batch-norm",
        "value": "fused",
        "verdict": "wrong",
        "reason": "the loss is 0.3 | 0.1 away",
    },
]


class TimedRun(unittest.TestCase):
    def test_a_program_that_falls_silent_is_ended(self):
        began = time.monotonic()
        code, out, _ = timed_run(["sh", "-c", "echo begun; exec sleep 60"], 50, silent_s=0.3)
        self.assertEqual((code, out), (None, "begun\n"))
        self.assertLess(time.monotonic() - began, 40)

    def test_one_that_goes_on_talking_is_not(self):
        talk = ["sh", "-c", "for i in 1 2 3 4; do echo $i; sleep 1; done; exit 3"]
        code, out, _ = timed_run(talk, 60, silent_s=3)
        self.assertEqual((code, out), (3, "1\n2\n3\n4\n"))


class Emulator(unittest.TestCase):
    def test_a_row_is_there_before_its_kind_has_ended(self):
        def found(rate):
            return {on: {"imgs_per_s": rate} for on in ("GPU", "emulated")}

        cells = [(0, "tensor, 2 workers", found(90)), (1, "jpeg, 2 workers", found(50))]
        rows = gpu_parts._shares(cells, [100, 80])
        self.assertEqual(rows[0][:4], ["tensor, 2 workers", "1.000", "0.900", "-0.100"])
        self.assertEqual(rows[1][:4], ["jpeg, 2 workers", "0.625", "0.500", "-0.125"])


class KernelGroups(unittest.TestCase):
    REFERENCE = os.path.join(ROOT, "results", "reference", "h200", "step.trace.json.gz")

    def test_the_kernels_of_the_reference_are_all_in_a_group(self):
        found, gaps = kernel_groups.ms_a_step(self.REFERENCE)
        self.assertAlmostEqual(sum(found.values()) + gaps, 34.3, delta=0.1)
        self.assertLess(found[kernel_groups.REST], 0.5, "copies, filling, means, the loss")
        for group, _, before, _ in kernel_groups.GROUPS:
            self.assertAlmostEqual(found[group], before, delta=0.06, msg=group)

    def test_a_trace_without_kernels_has_no_groups(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"traceEvents": [{"ph": "X", "name": "step", "pid": 0, "tid": 1}]}, file)
            file.flush()
            self.assertEqual(kernel_groups.rows(file.name), [])


class GpuCheck(ProgramTest):
    record = None

    def setUp(self):
        super().setUp()
        if GpuCheck.record is None:
            words = ["--data", "synthetic", "--device", "emulated:2000", "--no-ceiling", "--json"]
            ran = self.call("run", *words, "--min-seconds", "0.2")
            GpuCheck.record = {**json.loads(ran.out.splitlines()[-1]), "flags": []}
        self.plan = {
            "record": self.record,
            "gpu": "NVIDIA H100 80GB HBM3",
            "rates": {"--data synthetic": 3000.0, "--data tensor": 2850.0, "": 1500.0},
            "qualification": QUALIFICATION,
            "rates_over_batches": [
                {"batch_size": 512, "imgs_per_s": 3150.4},
                {"batch_size": 1024, "reason": "out of memory"},
            ],
            "graph": "on",
            "unfit": [],
            "fails": {},
            "hangs": [],
        }
        os.mkdir(self.path("bin"))
        for name, text in (("feedrate", STAND_IN), ("test_cuda", CHECKS)):
            os.chmod(self.write(os.path.join("bin", name), text), 0o755)

    def start_check(self, *words, of=None):
        self.write(os.path.join("bin", "plan.json"), json.dumps(self.plan))
        script = os.path.join(ROOT, "scripts", "gpu-check")
        of = of or self.path("bin", "feedrate")
        settled = [] if {"--only", "--call", "--share"} & set(words) else ["--only", *PARTS]
        arguments = [sys.executable, script, "--feedrate", of, *words, *settled]
        return subprocess.Popen(
            arguments,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env={**os.environ, "TMPDIR": self.folder},
        )

    def check(self, *words, code, of=None, patience=PATIENCE):
        process = self.start_check(*words, of=of)
        out, err = process.communicate(timeout=patience)
        self.assertEqual(process.returncode, code, out + err)
        return out, err

    def calls(self):
        """What the stand-in was asked for since the last look."""
        if not os.path.exists(self.path("bin", "calls")):
            return []
        with open(self.path("bin", "calls")) as file:
            calls = file.read().splitlines()
        os.remove(self.path("bin", "calls"))
        return calls

    def table(self, name="gpu.md"):
        """The rows by their first word, each a list."""
        with open(self.path(name)) as file:
            lines = [line for line in file if line.startswith("|")][2:]
        rows = [[word.strip() for word in line.strip().strip("|").split(" | ")] for line in lines]
        return {row[0]: row[1:] for row in rows}

    def test_the_table_of_a_gpu_on_which_all_works(self):
        out, _ = self.check("-o", "gpu.md", code=0)
        with open(self.path("gpu.md")) as file:
            self.assertEqual(out, file.read())
        self.assertIn("resnet50 on NVIDIA H100 80GB HBM3, batch 256", out)
        rows = self.table()
        self.assertEqual(rows["test_cuda"][-1], "[  PASSED  ] 3 tests.")
        graph = rows["+ cuda-graph on"]
        self.assertEqual(graph[:4], ["taken", "3100", "1.250 (1.200 to 1.300)", "-"])
        self.assertEqual(graph[-1], "0.26 away from fp64, the plain step 0.25")
        self.assertEqual(rows["+ batch-norm fused"][0], "wrong")
        self.assertIn("0.3 / 0.1 away", rows["+ batch-norm fused"][-1])
        self.assertEqual(rows["batch of 512"][1:3], ["3150", "-"])
        self.assertEqual(rows["batch of 1024"][1::7], ["-", "out of memory"])
        self.assertEqual(rows["synthetic auto"][1:3], ["3000", "-"])
        self.assertEqual(rows["tensor"][1:3], ["2850", "0.950"])
        self.assertEqual(
            rows["jpeg of 500x375 by nvJPEG, --jpeg-engine 70"][1:3], ["1500", "0.500"]
        )
        # 3.35e12 bytes/s over 471 and 342 MB an image, 989e12 FLOP/s over 24.5e9: 7.1, 9.8 and 40
        # thousand images per second.
        self.assertEqual(rows["synthetic auto"][3], "42 / 31 / 7")
        self.assertEqual(rows["synthetic fp32"][3], "-", "the roofs are those of 16 bits")
        qualifying = [call for call in self.calls() if "--qualify" in call]
        self.assertEqual(len(qualifying), 1)

    def test_what_fails_says_why_and_the_others_go_on(self):
        self.plan["fails"] = {"--jpeg-engine 100": "this GPU has no engine | it seems"}
        self.check("-o", "gpu.md", code=1)
        rows = self.table()
        failed = rows["jpeg of 500x375 by nvJPEG, --jpeg-engine 100"]
        self.assertEqual(failed[1:], 7 * ["-"] + ["feedrate: this GPU has no engine / it seems"])
        self.assertEqual(rows["jpeg of 500x375 by nvJPEG, --jpeg-engine 0"][1], "1500")

    def test_resumed_it_measures_what_is_missing_alone(self):
        self.plan["fails"] = {"--jpeg-engine 100": "no"}
        self.check("-o", "gpu.md", code=1)
        self.calls()
        self.plan["fails"] = {}
        self.check("-o", "gpu.md", "--resume", code=0)
        _, made, again = self.calls()
        self.assertIn("--image-size 500x375", made, "its pictures, beside the others")
        self.assertIn("--jpeg-engine 100", again)
        self.assertEqual(self.table()["jpeg of 500x375 by nvJPEG, --jpeg-engine 100"][1], "1500")

    def test_resumed_it_measures_what_failed_last(self):
        self.plan["fails"] = {"--jpeg-engine": "no"}
        self.check("-o", "gpu.md", "--only", "rungs", "ceilings", "data", code=1)
        self.calls()
        self.plan["fails"]["--cache"] = "neither"
        self.check("-o", "gpu.md", "--resume", "--only", "data", "copies", code=1)
        runs = [call for call in self.calls() if call.startswith("run")]
        self.assertEqual(["--cache" in call for call in runs], 3 * [True] + 3 * [False])
        self.assertIn(
            "feedrate: no", self.table()["jpeg of 500x375 by nvJPEG, --jpeg-engine 0"][-1]
        )

    def test_what_must_not_be_quoted_is_no_ceiling_and_measured_again(self):
        self.plan["unfit"] = ["--data synthetic"]
        self.check("-o", "gpu.md", "--only", "ceilings", "copies", code=1)
        rows = self.table()
        self.assertEqual(rows["synthetic auto"][-1], "must not be quoted, throttled")
        self.assertEqual(rows["tensor, cache device"][1:3], ["2850", "-"])
        self.plan["unfit"] = []
        self.check("-o", "gpu.md", "--resume", "--only", "ceilings", "copies", code=0)
        self.assertEqual(self.table()["tensor, cache device"][1:3], ["2850", "0.950"])

    def test_the_ceiling_that_is_measured_again_takes_its_place(self):
        self.check("-o", "gpu.md", "--only", "ceilings", code=0)
        with open(self.path("gpu.jsonl")) as file:
            rows = [json.loads(line) for line in file]
        rows[1]["record"]["valid"] = False
        self.assertEqual(rows[1]["shows"], "ceiling")
        self.write("gpu.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        self.check("-o", "gpu.md", "--resume", "--only", "copies", code=1)
        rows = self.table()
        self.assertEqual(rows["tensor, cache device"][1:3], ["2850", "0.950"])
        self.assertEqual(rows["synthetic auto"][2], "1.000")
        self.assertEqual(rows["synthetic auto, again"][2], "-", "it is the ceiling")

    def test_the_ways_are_chosen_anew_when_all_others_were_measured(self):
        self.plan["fails"] = {"--jpeg-engine 100": "no"}
        self.check("-o", "gpu.md", "--only", "rungs", "data", code=1)
        self.calls()
        self.plan["fails"] = {}
        self.check("-o", "gpu.md", "--resume", "--only", "rungs", "data", "batches", code=0)
        runs = [call for call in self.calls() if call.startswith("run")]
        self.assertEqual(["--qualify" in call for call in runs], [False, True])

    def test_steps_that_are_made_another_way_are_seen(self):
        self.check("-o", "gpu.md", "--only", "ceilings", code=0)
        self.plan["graph"] = "off"
        self.check("-o", "gpu.md", "--resume", "--only", "copies", code=0)
        self.assertIn("in another way than the ceiling's", self.table()["tensor, cache device"][-1])

    def test_a_check_that_crashes_is_named_and_the_others_run(self):
        for name in ("crash", "fail"):
            self.write(os.path.join("bin", name), "")
        self.check("-o", "gpu.md", "--only", "checks", code=1)
        self.assertEqual(
            self.table()["test_cuda"][-1],
            "failed: Copies.Overlap/0; crashed or hung: Slabs.AreWhole",
        )

    def test_a_table_has_one_gpu(self):
        self.plan["fails"] = {"--precision fp16": "no"}
        self.check("-o", "gpu.md", code=1)
        self.plan.update(fails={}, gpu="NVIDIA H200")
        _, err = self.check("-o", "gpu.md", "--resume", code=1)
        commit = self.plan["record"]["environment"]["git_commit"]
        self.assertIn(
            f"gpu.jsonl: its rows are of NVIDIA H100 80GB HBM3, feedrate {commit}, this one is of"
            f" NVIDIA H200, feedrate {commit}; choose another -o",
            err,
        )
        self.assertNotIn("H200", json.dumps(self.table()))
        _, err = self.check("-o", "gpu.md", "--resume", "--batch-size", "8", code=1)
        self.assertIn("gpu.jsonl: was measured with other options; choose another -o", err)

    def test_a_budget_cuts_off_what_hangs(self):
        self.plan["hangs"] = ["--data tensor"]
        _, err = self.check("-o", "gpu.md", "--budget", "10", code=1)
        rows = self.table()
        self.assertEqual(rows["synthetic auto"][1], "3000", "what was measured before")
        self.assertRegex(rows["tensor"][-1], r"^no result within \d+ s$")
        self.assertNotIn("jpeg of ImageNet's sizes", rows)
        self.assertIn("no time for: jpeg of ImageNet's sizes (--budget, --resume)", err)

    def test_interrupted_it_keeps_its_rows_and_leaves_nothing_behind(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                self.plan["hangs"] = ["--data jpeg"]
                process = self.start_check("-o", "gpu.md")
                self.wait_for_call("--data jpeg")
                process.send_signal(number)
                out, err = process.communicate(timeout=PATIENCE)
                self.assertEqual((process.returncode, out), (128 + number, ""), err)
                self.assertNotIn("Traceback", err)
                self.assertEqual(self.table()["tensor"][1], "2850")
                self.assertEqual(sorted(os.listdir(self.folder)), ["bin", "gpu.jsonl", "gpu.md"])

    def wait_for_call(self, some):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if any(some in call for call in self.calls()):
                return
            time.sleep(0.05)
        self.fail(f"it was never asked for {some}")

    def test_what_it_cannot_do_is_said_before_it_measures(self):
        for words, why in (
            (["-o", "no/gpu.md"], "-o no/gpu.md: cannot be written; name a file in a folder"),
            (["--dataset", "no"], "--dataset no: is no folder; leave it out, and one is made"),
            (["--resume"], "--resume: which rows?; give the table that is there: -o FILE"),
            (["--resume", "-o", "gpu.md"], "--resume: gpu.jsonl does not exist; give the table"),
        ):
            _, err = self.check(*words, code=2)
            self.assertIn(why, err)
        _, err = self.check(code=3, of=self.path("nowhere"))
        self.assertIn("nowhere: does not exist; build with LibTorch", err)
        self.assertEqual(self.calls(), [])

    def sections(self):
        """{part: its rows, each a list}, and what it says has failed under "PART failed"."""
        found, part = {}, None
        with open(self.path("gpu.md")) as file:
            for line in map(str.strip, file):
                if line.startswith("## "):
                    part = line[3:]
                    found[part] = []
                elif line.startswith("**Failed:**"):
                    found[f"{part} failed"] = line.split("** ", 1)[1]
                elif line.startswith("|") and part:
                    found[part].append([word.strip() for word in line.strip("|").split(" | ")])
        return {part: of if isinstance(of, str) else of[2:] for part, of in found.items()}

    def test_each_call_fits_into_ten_minutes(self):
        out, _ = self.check("--call", "1", "--dry-run", code=0)
        self.assertIn("sweep        call 1  about ", out)
        for call in (1, 2, 3, 4):
            parts = [part for part in gpu_order.ORDER if part.call == call]
            self.assertTrue(parts)
            self.assertLessEqual(sum(part.likely_s() for part in parts), gpu_order.CALL_S, call)
        self.assertEqual({part.call for part in gpu_order.ORDER}, {1, 2, 3, 4})

    def test_the_first_call(self):
        self.check("-o", "gpu.md", "--call", "1", code=0)
        found = self.sections()
        self.assertEqual(list(found), ["gen", "sweep", "large"])
        self.assertEqual(found["gen"][-1][:2], ["test_cuda", "[  PASSED  ] 3 tests."])
        self.assertEqual(
            found["sweep"][0],
            ["jpeg, 500x375, 2 workers", "2005", "3000", "0.668", "0.0", "2 of 2", ""],
        )
        calls = self.calls()
        for call in (call for call in calls if call.startswith("gen")):
            self.assertIn("--like imagenet", call, "else its JPEGs have a third of the bytes")
        sweeps = [call for call in calls if call.startswith("sweep")]
        for call in sweeps:
            for ways in ("--stem space-to-depth", "--batch-norm fused", "--cuda-graph on"):
                self.assertIn(ways, call, "typed: nothing is qualified")
        self.assertIn("--workers 2,4,8,16", sweeps[0])
        self.assertTrue(os.path.exists(self.path("gpu", "sweep", "ledger.jsonl")))

    def test_what_a_check_has_found_wrong_is_not_trained_by(self):
        self.write(os.path.join("bin", "norm"), "")
        self.check("-o", "gpu.md", "--call", "1", code=1)
        found = self.sections()
        self.assertIn("in other calls: --ways batch-norm=library", found["gen"][-1][1])
        self.assertIn("CudaBatchNorm.IsTheStepsOneByOneInDouble", found["gen failed"])
        sweeps = [call for call in self.calls() if call.startswith("sweep")]
        self.assertTrue(all("--batch-norm library" in call for call in sweeps), sweeps)
        self.assertEqual(len(found["sweep"]), 2, "which goes on")

    def test_another_call_is_told_what_was_found_and_packs_its_files(self):
        words = ["--ways", "batch-norm=library", "--pack", "--keep", self.path("kept")]
        self.check("-o", "gpu.md", "--only", "sweep", *words, code=0)
        (sweep,) = [call for call in self.calls() if call.startswith("sweep")]
        self.assertIn("--batch-norm library", sweep)
        with tarfile.open(self.path("gpu.tar.gz")) as packed:
            self.assertIn("gpu/sweep/ledger.jsonl", packed.getnames())
        _, err = self.check("-o", "gpu.md", "--call", "2", "--ways", "batch-norm", code=2)
        self.assertIn("--ways batch-norm: is no way; as memory-format=channels_last", err)

    def test_the_emulated_gpu_beside_the_real_one(self):
        self.plan["rates"] = {"emulated:trace=": 2400.0, "--data synthetic": 3000.0, "": 2850.0}
        self.check("-o", "gpu.md", "--only", "emulator", code=0)
        rows = self.sections()["emulator"]
        self.assertEqual(len(rows), 10)
        self.assertEqual(rows[0][:4], ["tensor, 2 workers", "0.950", "0.800", "-0.150"])
        self.assertEqual(rows[-1][3], "0.150, 0.150")
        runs = [call for call in self.calls() if call.startswith("run")]
        on = ["emulated" in call.split()[2] for call in runs]
        gpu, emulated = [False, True], [True, False]  # which of them comes first
        kinds = (gpu, emulated, gpu), (emulated, gpu, emulated), (gpu, emulated, gpu)
        turns = [one for kind in kinds for pair in (*kind, [False]) for one in pair]
        self.assertEqual(on, [False, *turns], "in turns, a ceiling behind each kind")

    def test_a_part_keeps_the_rows_that_it_has(self):
        self.plan["hangs"] = ["--data jpeg"]
        _, err = self.check(
            "-o", "gpu.md", "--only", "emulator", "scaling", "--budget", "14", code=1
        )
        found = self.sections()
        self.assertEqual(
            [row[0] for row in found["emulator"]][:3], [f"tensor, {n} workers" for n in (2, 8, 16)]
        )
        self.assertIn("no time left", found["emulator failed"])
        self.assertIn("no time for: scaling (--budget, --resume)", err)
        self.plan["hangs"] = []
        self.check("-o", "gpu.md", "--only", "emulator", "scaling", "--resume", code=0)
        self.assertEqual(len(self.sections()["emulator"]), 10)

    @unittest.skipIf(HAS_GPU, "a rehearsal")
    def test_the_program_takes_the_words_of_every_part(self):
        words = ["--device", "emulated:20000", "--batch-size", "4", "--input-size", "32"]
        words += ["--seconds", "0.1", "--count", "4", "--only", *gpu_order.NAMES]
        self.check("-o", "gpu.md", *words, code=0, of=program(), patience=4 * PATIENCE)
        found = self.sections()
        self.assertEqual(list(found), gpu_order.NAMES)
        self.assertEqual(len(found["sweep"]), 20)
        self.assertEqual(len(found["emulator"]), 10)
        self.assertEqual(len(found["scaling"]), 12)

    @unittest.skipIf(HAS_GPU or os.environ.get("FEEDRATE_TORCH") == "OFF", "a GPU, or no LibTorch")
    def test_the_program_takes_the_words_of_every_row(self):
        """Without a GPU it stops where it looks for one, which is behind its look at the words."""
        self.check("-o", "gpu.md", "--count", "8", code=1, of=program())
        rows = self.table()
        del rows["test_cuda"]
        self.assertEqual(len(rows), 18)
        for name, row in rows.items():
            self.assertIn("--device cuda: no CUDA device: ", row[-1], name)


if __name__ == "__main__":
    main()
