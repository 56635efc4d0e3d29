"""The table of feedrate's training step beside PyTorch's, made with programs that stand in for
both."""

import os
import re
import subprocess
import sys

from program import PATIENCE, ROOT, ProgramTest, main

# Both train on normal noise.
FEEDRATE = """#!/usr/bin/env python3
import json, sys
assert "--data synthetic --synthetic noise" in " ".join(sys.argv)
print(json.dumps({"imgs_per_s": 300.0, "flags": [{"name": "%s"}]}))
"""
# Says when it is ready, then its rate for each "go"; its stderr fills a pipe.
PEER = """#!/usr/bin/env python3
import sys, time
kind = sys.argv[2]
print("tuning " * 20000, file=sys.stderr)
if kind == "graph":
    sys.exit("RuntimeError: out of memory")
if kind == "compile":
    time.sleep(%f)
print("ready", flush=True)
for line in sys.stdin:
    print({"eager": 150.0, "compile": 100.0}[kind], flush=True)
"""


class TrainPeers(ProgramTest):
    def table(self, *words, code=0, flag="emulated", compiles_s=0.0):
        for name, text in (("feedrate", FEEDRATE % flag), ("python", PEER % compiles_s)):
            os.chmod(self.write(name, text), 0o755)
        run = os.path.join(ROOT, "benchmarks", "peers", "train", "run")
        done = subprocess.run(
            [sys.executable, run, "--feedrate", "feedrate", "--python", self.path("python")]
            + ["--device", "cuda", "--rounds", "3", "--quiet", *words],
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={**os.environ, "PATH": self.folder + ":" + os.environ["PATH"]},
            timeout=PATIENCE,
        )
        self.assertEqual(done.returncode, code, done.stderr)
        rows = re.findall(r"(?m)^\| 256 at 224x224 \| (.*) \|$", done.stdout)
        return done.stdout, {row.split(" | ")[0]: row.split(" | ")[1:] for row in rows}

    def test_ratios_are_paired_and_what_fails_says_why(self):
        out, rows = self.table("--rows", "feedrate", "eager", "graph", "-o", "t.md")
        with open(self.path("t.md")) as file:
            self.assertEqual(file.read(), out)
        self.assertEqual(rows["feedrate"], ["300.00", "1", ""])
        eager = ["150.00", "2.000", "2.000 to 2.000"]
        self.assertEqual(rows["PyTorch eager, channels_last"], eager)
        failed = rows["PyTorch, CUDA graph of the whole step"]
        self.assertIn("ended early with code 1: RuntimeError: out of memory", failed[1])

    def test_a_block_that_was_not_warm_is_told(self):
        _, rows = self.table("--rows", "feedrate", flag="unsteady")
        self.assertEqual(rows["feedrate"][2], "not yet steady in 3 of its blocks")

    def test_a_budget_ends_the_rounds_and_starts_no_peer_late(self):
        words = ["--budget", "8", "--rounds", "900"]
        rows = ("--rows", "feedrate", "eager", "compile", "graph")
        _, rows = self.table(*rows, *words, compiles_s=60)
        self.assertIn("not ready in time (--budget)", rows["torch.compile"][1])
        late = rows["PyTorch, CUDA graph of the whole step"]
        self.assertIn("no time to start it (--budget)", late[1])
        (ours,) = (row for row in rows if row.startswith("feedrate ("))
        rounds = int(re.search(r"(\d+) of 900 rounds", ours)[1])
        self.assertTrue(2 <= rounds < 900, rounds)
        self.assertEqual(rows[ours.replace("feedrate", "PyTorch eager, channels_last")][1], "2.000")


if __name__ == "__main__":
    main()
