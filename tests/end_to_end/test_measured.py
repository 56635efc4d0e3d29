"""What is measured is true, or says that it is not: faults of the surroundings that give a wrong
rate which looks right."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from program import CELL, SHORT, SMALL, Answer, ProgramTest, main, open_terminal, program
from rank_faults import children_of

LONG = ("--min-seconds=2", "--warmup-seconds=0.3")


def tree_of(pid):
    return [pid] + [below for child in children_of(pid) for below in tree_of(child)]


def serious(record):
    return [flag["name"] for flag in record["flags"] if flag["severity"] == "serious"]


def send(number, processes):
    for pid in processes:
        with contextlib.suppress(ProcessLookupError):  # a rank that has ended meanwhile
            os.kill(pid, number)


def stop_once(processes, _, seconds=1.2):
    """As by Ctrl-Z and fg."""
    send(signal.SIGSTOP, processes)
    time.sleep(seconds)
    send(signal.SIGCONT, reversed(processes))


def limit_cpus(processes, has_ended):
    """As a CPU limiter does, until the program ends: half of the time, 50 ms long each."""
    while not has_ended():
        stop_once(processes, has_ended, seconds=0.05)
        time.sleep(0.05)


class Standstills(ProgramTest):
    def stop_while_it_measures(self, *words, stop=stop_once):
        """Its processes. It has a terminal, on which it says that it measures as soon as it
        does."""
        ours, theirs = open_terminal(200)
        process = subprocess.Popen(
            [program(), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=theirs,
            cwd=self.folder,
            text=True,
        )
        os.close(theirs)
        shown = self.shown_until("measuring ", ours)
        self.assertIn("measuring ", shown)
        everyone = tree_of(process.pid)
        self.assertGreater(len(everyone), 1, "the rank is a process of its own")
        reader = threading.Thread(target=lambda: rest.append(self.shown_until(None, ours)))
        rest = []
        reader.start()
        stop(everyone, lambda: process.poll() is not None)
        reader.join()
        os.close(ours)
        with process:
            return Answer(process.wait(), process.stdout.read(), shown + rest[0])

    def shown_until(self, word, terminal):
        """What the program writes there, until it has written this, or ends."""
        shown = b""
        while word is None or word.encode() not in shown:
            try:
                part = os.read(terminal, 65536)
            except OSError:  # the other side is closed
                break
            shown += part
        return shown.decode(errors="replace")  # cut in mid-letter

    def words(self, command, *more):
        data = ("--data", "jpeg", "--dataset", self.data)
        return [command, *data, *CELL, *LONG, *more, "-o", self.path("ledger")]

    def test_a_process_that_was_stopped_has_no_valid_rate(self):
        answer = self.stop_while_it_measures(*self.words("run", "--no-ceiling"))
        self.assertEqual(answer.code, 0, answer)
        (record,) = self.ledger()
        flags = {flag["name"]: flag for flag in record["flags"]}
        self.assertIn("stopped", flags)
        self.assertEqual(flags["stopped"]["severity"], "serious")
        self.assertFalse(record["valid"])
        self.assertAlmostEqual(record["monitors"]["stopped_s"], 1.2, delta=0.3)
        self.assertIn("DO NOT QUOTE: stopped (for ", answer.out)
        self.call("validate", self.path("ledger"))

    def test_a_process_that_a_cpu_limiter_stops_has_no_valid_rate(self):
        """No stop lasts a tenth of a second, and together they are half of the time."""
        for more in ((), ("--no-ceiling",)):  # in pairs as well
            with self.subTest(more):
                shutil.rmtree(self.path("ledger"), True)
                answer = self.stop_while_it_measures(*self.words("run", *more), stop=limit_cpus)
                self.assertEqual(answer.code, 0, answer)
                (record,) = self.ledger()
                self.assertIn("stopped", serious(record))
                self.assertFalse(record["valid"])
                measured = record["pairs"]["took_s"] if not more else record["window_s"]
                self.assertGreater(record["monitors"]["stopped_s"], 0.2 * measured)
                self.assertRegex(answer.out, r"^DO NOT QUOTE: .*stopped \(for ")
                self.call("validate", self.path("ledger"))

    def test_a_cell_whose_ceiling_was_stopped_has_no_share(self):
        # a run whose trace is written is measured behind its ceiling
        words = self.words("run", "--trace", self.path("trace.json"))
        answer = self.stop_while_it_measures(*words, "--verbose")
        self.assertEqual(answer.code, 0, answer)
        ceiling, cell = self.ledger()
        self.assertIn("stopped", serious(ceiling))
        self.assertNotIn("stopped", serious(cell))
        self.assertRegex(answer.out, r"no share of it: .* img/s must not be quoted \(")
        self.assertRegex(answer.out, r"its ceiling must not be quoted \(.*stopped")
        self.call("validate", self.path("ledger"))

    def test_a_cell_that_was_stopped_in_pairs_with_its_ceiling_is_not_valid(self):
        """Whether it stood still in a block of the cell or of the ceiling: its share is of both."""
        answer = self.stop_while_it_measures(*self.words("run"))
        self.assertEqual(answer.code, 0, answer)
        (record,) = self.ledger()
        self.assertIn("pairs", record)
        self.assertIn("stopped", serious(record))
        self.assertFalse(record["valid"])
        self.assertAlmostEqual(record["monitors"]["stopped_s"], 1.2, delta=0.3)
        self.assertIn("DO NOT QUOTE: stopped (for ", answer.out)
        self.call("validate", self.path("ledger"))

    def test_a_sweep_measures_it_again_once(self):
        for page_cache, count in (("auto", 1), ("cold", 3)):  # in pairs; between two ceilings
            with self.subTest(page_cache):
                shutil.rmtree(self.path("ledger"), True)
                words = self.words("sweep", "--page-cache", page_cache)
                answer = self.stop_while_it_measures(*words)
                self.assertEqual(answer.code, 0, answer)
                self.assertIn(f"{count} measured, 0 failed", answer.err)
                self.assertNotRegex(answer.err, "DO NOT QUOTE: .*stopped", "it was replaced")
                records = self.ledger()
                self.assertEqual(len(records), count + 1)
                stopped = [i for i, r in enumerate(records) if r["monitors"]["stopped_s"] > 0.5]
                self.assertEqual(len(stopped), 1)
                first, again = records[stopped[0] : stopped[0] + 2]
                self.assertEqual(first["cell_id"], again["cell_id"])
                self.assertIn("stopped", serious(first))
                self.assertNotIn("stopped", serious(again))
                self.call("validate", self.path("ledger"))

    def test_a_run_that_nobody_stopped_has_no_flag(self):
        self.call(*self.words("run", "--no-ceiling"))
        (record,) = self.ledger()
        self.assertEqual(record["monitors"]["suspended_s"], 0)
        self.assertLess(record["monitors"]["stopped_s"], 0.2)


class FirstLines(ProgramTest):
    """An answer that rests on a run with a serious flag says so before anything else. O_DIRECT on
    tmpfs reads memory all the same."""

    SAID = r"^DO NOT QUOTE: .*page_cache .*lay in memory"

    def setUp(self):
        super().setUp()
        memory = tempfile.mkdtemp(prefix="feedrate-e2e-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, memory, True)
        self.in_memory = shutil.copytree(self.data, os.path.join(memory, "data"))
        try:
            os.close(os.open(os.path.join(memory, "probe"), os.O_CREAT | os.O_DIRECT))
        except OSError:
            self.skipTest("this kernel's tmpfs knows no O_DIRECT")

    def words(self, command, *more):
        return [command, "--dataset", self.in_memory, "--data", "jpeg", *SMALL, *more]

    def test_of_a_run_and_a_sweep(self):
        direct = ("--io", "direct", *CELL[len(SMALL) :], *SHORT)
        self.assertRegex(self.call(*self.words("run", *direct)).out, self.SAID)
        self.assertRegex(self.call(*self.words("run", *direct, "--verbose")).out, self.SAID)
        sound = self.call(*self.words("run", *CELL[len(SMALL) :], *SHORT)).out
        self.assertNotRegex(sound, "DO NOT QUOTE: .*page_cache")
        sweep = self.call(*self.words("sweep", *direct, "-o", self.path("ledger")))
        self.assertRegex(sweep.err, "(?m)" + self.SAID)

    def test_of_a_diagnosis_whose_blocks_are_looked_at_too(self):
        cell = ("--io", "direct", "--device", "emulated:800", "--batch-size", "8")
        brief = ("--min-seconds", "0.1", "--max-seconds", "0.2", "--warmup-seconds", "0.05")
        words = self.words("diagnose", *cell, *brief, "--budget", "4s", "-o", self.path("out"))
        answer = self.finish(self.start(*words))
        said = r"^DO NOT QUOTE: .*page_cache in \d+ of \d+ runs .*lay in memory"
        self.assertRegex(" ".join(answer.out.split()), said)  # it is wrapped
        with open(self.path("out", "diagnosis.json"), encoding="utf-8") as file:
            found = json.load(file)
        (flag,) = (flag for flag in found["flags"] if flag["name"] == "page_cache")
        self.assertEqual(flag["severity"], "serious")
        with open(self.path("out", "ledger.jsonl"), encoding="utf-8") as file:
            records = [json.loads(line) for line in file]
        of_rungs = sum("page_cache" in serious(record) for record in records)
        self.assertGreater(found["runs"], len(records), "the blocks' run counts")
        self.assertGreater(flag["runs"], of_rungs, "and is judged")

    def test_of_jobs(self):
        direct = ("--io", "direct", *CELL[len(SMALL) :], *SHORT)
        answer = self.call(*self.words("jobs", "--copies", "2", *direct))
        self.assertRegex(answer.out, self.SAID)

    def test_of_a_capacity(self):
        device = ("--device", "emulated:200", "--batch-size", "8", "--host-cpu-ms", "0")
        brief = ("--min-seconds", "0.2", "--max-seconds", "0.3", "--warmup-seconds", "0.05")
        more = ("--io", "direct", "--most-gpus", "1", "--repetitions", "1", "--no-client")
        answer = self.call(*self.words("capacity", *device, *brief, *more))
        self.assertRegex(answer.out, self.SAID)


class Resuming(ProgramTest):
    def change(self, change):
        with open(self.path("ledger", "ledger.jsonl"), encoding="utf-8") as file:
            text = file.read()
        self.write("ledger/ledger.jsonl", change(text))

    def test_another_state_of_the_machine_is_refused_by_name(self):
        self.sweep("--workers", "1", data="synthetic")
        (record,) = self.ledger()
        self.assertRegex(record["environment"]["cpu"]["affinity"], r"^\d+([-,]\d+)*$")
        kernel = record["environment"]["kernel"]
        for old, new, name in (
            (f'"kernel":"{kernel}"', '"kernel":"Linux 5.4"', "kernel"),
            ('"affinity":"', '"affinity":"9', "cpu.affinity"),
            ('"quota":', '"quota":0.5,"was":', "cpu.quota"),
        ):
            with open(self.path("ledger", "ledger.jsonl"), encoding="utf-8") as file:
                before = file.read()
            self.change(lambda text, old=old, new=new: text.replace(old, new))
            self.refused(
                "sweep",
                *("--data", "synthetic", *CELL, "--workers", "1"),
                *("--min-seconds=0.2", "--warmup-seconds=0.05"),
                *("-o", self.path("ledger"), "--resume"),
                names=["another " + name],
                code=1,
            )
            self.write("ledger/ledger.jsonl", before)


class FewSteps(ProgramTest):
    def test_too_few_steps_are_no_rate(self):
        few = ("--min-steps=2", "--min-seconds=0.01", "--warmup-seconds=0.05")
        answer = self.call("run", "--data", "synthetic", "--json", *CELL, *few)
        record = json.loads(answer.out)
        self.assertLess(record["steps"], 10)
        self.assertFalse(record["valid"])
        self.assertIn("short_window", [flag["name"] for flag in record["flags"]])


class OneRankOnItsStock(ProgramTest):
    def test_the_worst_queue_is_recorded(self):
        record = self.record("--gpus=2", "--workers=1", *SMALL)
        self.assertIn(record["queue"]["rank"], (0, 1))
        self.assertLessEqual(abs(record["queue"]["drawn_fraction"]), 0.05)


if __name__ == "__main__":
    main()
