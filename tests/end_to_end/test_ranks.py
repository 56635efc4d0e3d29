"""Ranks that are processes: of another launcher, and of our own."""

import glob
import json
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import time
import unittest

import rank_faults
from program import CELL, SHORT, SMALL, ProgramTest, main, program

WITH_TORCH = os.environ.get("FEEDRATE_TORCH") == "ON"


class Launched(ProgramTest):
    """Two processes that an environment tells of each other, as torchrun, mpirun and srun do."""

    def together(self, words, other=None, change=None, meanwhile=lambda leader: None):
        """The answers of rank 0 and rank 1; `other`: rank 1's words, `change`: its environment;
        `meanwhile` is called with the process that was started as rank 0."""
        port = str(random.randrange(21000, 31000))
        answers = []
        for rank in (0, 1):
            environment = {
                **os.environ,
                "RANK": str(rank),
                "WORLD_SIZE": "2",
                "LOCAL_RANK": str(rank),
                "LOCAL_WORLD_SIZE": "2",
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": port,
            }
            if rank == 1:
                environment.update(change or {})
            answers.append(self.start(*(other if other and rank == 1 else words), env=environment))
        meanwhile(answers[0])
        return [self.finish(process) for process in answers]

    def words(self, *more):
        return ["run", "--data", "jpeg", "--dataset", self.data, *CELL, *SHORT, "--json", *more]

    def test_print_one_result(self):
        first, second = self.together(self.words())
        self.assertEqual((first.code, second.code), (0, 0), f"{first}\n{second}")
        self.assertEqual((second.out, second.err), ("", ""))
        record = json.loads(first.out)
        self.assertEqual(record["cell"]["gpus"], 2)
        self.assertEqual(len(record["ranks"]), 2)
        self.assertNotEqual(record["ranks"][0]["pid"], record["ranks"][1]["pid"])
        # The devices end their steps together: the sum of the ranks' rates is the run's.
        self.assertAlmostEqual(
            record["imgs_per_s"],
            sum(r["imgs_per_s"] for r in record["ranks"]),
            delta=0.05 * record["imgs_per_s"],
        )

    def test_a_leader_that_was_stopped_is_said(self):
        """The ranks meet through it, so that their steps wait; they themselves go on."""

        def stop(leader):
            next(line for line in leader.stderr if "measuring" in line)
            os.kill(leader.pid, signal.SIGSTOP)
            time.sleep(1)
            os.kill(leader.pid, signal.SIGCONT)

        data = ("--data", "jpeg", "--dataset", self.data)
        words = ("--no-ceiling", "--warmup-seconds=0.1", "--min-seconds=8", "--max-seconds=9")
        first, _ = self.together(["run", *data, *CELL, *words, "--json"], meanwhile=stop)
        record = json.loads(first.out)
        self.assertAlmostEqual(record["monitors"]["stopped_s"], 1, delta=0.3)
        (flag,) = (f for f in record["flags"] if f["name"] == "stopped")
        self.assertEqual(flag["severity"], "serious")
        self.assertIn("the process that leads the ranks", flag["reason"])

    def test_sweep_into_one_ledger(self):
        words = self.sweep_words(*SHORT, data="synthetic,jpeg,png")
        first, second = self.together(words)
        self.assertEqual((first.code, second.code), (0, 0), f"{first}\n{second}")
        records = self.ledger()
        self.assertEqual([r["status"] for r in records], ["ok"] * 3)
        self.assertEqual({len(r["ranks"]) for r in records}, {2})
        self.assertEqual({r["cell"]["data"] for r in records if "pairs" in r}, {"jpeg", "png"})

    def test_add_to_a_ledger_of_other_counts(self):
        words = self.sweep_words(*SHORT, data="synthetic,jpeg")
        self.call(*words)
        first, _ = self.together([*words, "--resume"])
        self.assertEqual(first.code, 0, first)
        self.assertEqual([r["cell"]["gpus"] for r in self.ledger()], [1, 1, 2, 2])

    def test_resume_alone_is_refused_by_each(self):
        self.call(*self.sweep_words(*SHORT))
        for answer in self.together(["sweep", "-o", self.path("ledger"), "--resume"]):
            self.assertEqual(answer.code, 2, answer)
            self.assertIn("--resume: no cells are named", answer.err)
            self.assertIn("under a launcher, type the sweep's own options", answer.err)
        self.assertEqual(len(self.ledger()), 1)

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun; apt-get install openmpi-bin")
    def test_by_mpirun_print_one_result(self):
        answer = self.finish(
            subprocess.Popen(
                [
                    "mpirun",
                    "--allow-run-as-root",
                    "--oversubscribe",
                    "--bind-to",
                    "none",
                    "-n",
                    "2",
                    program(),
                    *self.words("--no-ceiling"),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self.folder,
                encoding="utf-8",
            )
        )
        self.assertEqual(answer.code, 0, answer)
        self.assertEqual(len(json.loads(answer.out)["ranks"]), 2)

    def test_that_disagree_are_refused_by_one_line(self):
        first, second = self.together(self.words(), other=self.words("--seed", "7"))
        self.assertEqual((first.code, second.code), (1, 1), f"{first}\n{second}")
        self.assertRegex(first.err, r"^feedrate: rank 1 .*other options.*\n$")
        self.assertRegex(
            second.err, r"^feedrate: rank 1: rank 0 at .* turned it away: .*options.*\n$"
        )

    def test_with_other_data_are_refused_by_name(self):
        data = self.path("data")
        self.call(
            "gen",
            data,
            "--count",
            "64",
            "--classes",
            "4",
            "--seed",
            "9",
            "--format",
            "jpeg",
            *SMALL,
        )
        self.addCleanup(os.chdir, os.getcwd())
        os.makedirs(self.path("other"))
        os.symlink(self.data, self.path("set"))
        os.symlink(data, self.path("other", "set"))
        words = ["run", "--data", "jpeg", "--dataset", "set", *CELL, *SHORT]
        port = str(random.randrange(21000, 31000))
        processes = []
        for rank, folder in enumerate((self.folder, self.path("other"))):
            environment = {
                **os.environ,
                "RANK": str(rank),
                "WORLD_SIZE": "2",
                "LOCAL_WORLD_SIZE": "2",
                "MASTER_PORT": port,
            }
            here, self.folder = self.folder, folder
            processes.append(self.start(*words, "--no-ceiling", env=environment))
            self.folder = here
        first, second = (self.finish(process) for process in processes)
        self.assertEqual(first.code, 1, first)
        self.assertIn("rank 1 ", first.err)
        self.assertIn("another dataset", first.err)
        self.assertEqual(second.err, "")

    def test_gpus_other_than_ranks_is_refused(self):
        first, _ = self.together(self.words("--gpus", "3"))
        self.assertEqual(first.code, 2, first)
        self.assertIn("2 ranks were started", first.err)

    def test_a_port_in_use_is_named(self):
        for one_machine in (True, False):
            with socket.socket() as tcp, socket.socket(socket.AF_UNIX) as local:
                tcp.bind(("127.0.0.1", 0))
                tcp.listen()
                port = str(tcp.getsockname()[1])
                local.bind(f"\0feedrate-ranks-{os.geteuid()}-{port}")
                environment = {
                    **os.environ,
                    "RANK": "0",
                    "WORLD_SIZE": "2",
                    "LOCAL_WORLD_SIZE": "2" if one_machine else "1",
                    "MASTER_ADDR": "127.0.0.1",
                    "MASTER_PORT": port,
                }
                self.refused(*self.words(), names=[port, "MASTER_PORT"], code=1, env=environment)

    def test_end_when_one_is_killed(self):
        result = None
        while result is None or result[2] == "had ended":
            result = rank_faults.hit(
                program(), "emulated:500", 2, signal.SIGKILL, random.uniform(0, 3), by_launcher=True
            )
        self.assertIn(
            "was killed (SIGKILL)" if result[0] == 0 else "ended without a word", result[2]
        )


@unittest.skipUnless(WITH_TORCH, "only LibTorch's devices have ranks of their own")
class Own(ProgramTest):
    """`--gpus N` starts N processes."""

    # Steps on CPUs that others use as well are not steady for long: what is asked here does not
    # depend on it.
    CPU = [
        "run",
        "--device",
        "cpu",
        "--model",
        "resnet18",
        "--batch-size",
        "2",
        "--input-size",
        "32",
        "--max-warmup-seconds",
        "3",
    ]
    WORDS = [*CPU, "--data", "synthetic", "--max-seconds", "5", *SHORT]

    def test_print_one_result(self):
        record = json.loads(self.call(*self.WORDS, "--gpus", "2", "--json").out)
        self.assertEqual(len(record["ranks"]), 2)
        self.assertIn("Gloo", record["device"]["software"])
        self.assertEqual(record["cell"]["synthetic"], "pictures")
        for rank in record["ranks"]:
            self.assertGreater(rank["sync_ms_mean"], 0)

    def test_real_data_is_sharded(self):
        record = json.loads(
            self.call(
                *self.CPU,
                *SHORT,
                "--gpus",
                "2",
                "--json",
                "--no-ceiling",
                "--data",
                "jpeg",
                "--dataset",
                self.data,
                "--image-size",
                "48",
            ).out
        )
        self.assertEqual(record["status"], "ok")
        self.assertGreater(sum(s["items"] for s in record["stages"] if s["name"] == "decode"), 0)

    def test_a_loss_that_is_no_number_ends_all(self):
        """One sample is bad: one rank sees it a step before the other, whose gradients wait for
        the first one's."""
        data = self.path("data")
        made = ("--count", "16", "--classes", "4", "--format", "tensor", "--tensor-dtype", "fp32")
        self.call("gen", data, *made, "--image-size", "48", "--input-size", "32")
        samples = glob.glob(os.path.join(data, "tensor-fp32", "**", "*.*"), recursive=True)
        bad = min(sample for sample in samples if not sample.endswith(".tsv"))
        with open(bad, "r+b") as file:
            file.seek(-4, os.SEEK_END)
            file.write(struct.pack("<f", float("nan")))
        of_data = ("--data", "tensor", "--tensor-dtype", "fp32", "--dataset", data)
        words = ("--image-size", "48", "--gpus", "2", "--no-ceiling", "--min-seconds", "5")
        told, seed = set(), 0
        while len(told) < 2 and seed < 9:
            seed += 1  # another one may give the bad sample to the other rank
            answer = self.call(*self.CPU, *of_data, *words, "--seed", str(seed), code=1)
            last = answer.err.splitlines()[-1]
            self.assertRegex(last, r"rank \d \(pid \d+\): cpu: the loss is NaN")
            told.add(last.split(" (")[0])
        self.assertEqual(len(told), 2, told)

    def test_more_than_there_can_be_is_refused(self):
        self.refused(*self.WORDS, "--gpus", "65", names=["--gpus 65", "64"])

    def test_a_killed_or_stopped_rank_is_named(self):
        for number in (signal.SIGKILL, signal.SIGSTOP):
            with self.subTest(number):
                result = None
                while result is None or result[2] == "had ended":
                    result = rank_faults.hit(program(), "cpu", 2, number, random.uniform(0, 4))
                self.assertLess(result[1], rank_faults.LIMIT_S)

    def test_a_launched_one_that_is_stopped_is_named(self):
        """The others wait in Gloo for it, and must end all the same."""
        result = None
        while result is None or result[2] == "had ended":
            result = rank_faults.hit(
                program(), "cpu", 2, signal.SIGSTOP, random.uniform(1, 4), by_launcher=True, rank=1
            )
        self.assertIn("gave no sign of life", result[2])
        self.assertLess(result[1], rank_faults.LIMIT_S)

    def test_a_launcher_that_ends_the_others_hides_no_cause(self):
        """mpirun and torchrun send SIGTERM to all when one has died."""
        result = None
        while result is None or result[2] == "had ended":
            result = rank_faults.hit(
                program(),
                "cpu",
                2,
                signal.SIGKILL,
                random.uniform(1, 4),
                by_launcher=True,
                rank=1,
                terminate=True,
            )
        self.assertIn("ended without a word", result[2])

    def test_ends_at_once_on_a_signal(self):
        words = (*self.CPU, "--data", "synthetic", "--gpus", "2", "--min-seconds", "50")
        answer = self.stop(signal.SIGINT, self.later(3), *words)
        self.assertNotRegex(answer.err, r"rank \d")

    @staticmethod
    def later(seconds):
        start = time.monotonic()
        return lambda: time.monotonic() - start > seconds


if __name__ == "__main__":
    main()
