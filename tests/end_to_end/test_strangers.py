"""Who comes to the port of the ranks and is none of them gets nowhere; nor does a rank gone mad."""

import os
import random
import subprocess
import sys
import time
import unittest

import strangers
from program import SHORT, ProgramTest, main, program, records_of
from rank_faults import children_of, command_of
from two_machines import ADDRESSES, TwoMachines

WHY_NOT = TwoMachines.why_not()
CELL = ("--device=emulated:400", "--batch-size=4", "--input-size=48", "--workers=1")


@unittest.skipIf(WHY_NOT, f"no network namespaces: {WHY_NOT}")
class TwoMachinesTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.machines = TwoMachines()
        self.addCleanup(self.machines.close)
        self.port = random.randrange(21000, 31000)
        self.secret_file = strangers.write_secret(self.path())
        with open(self.secret_file, encoding="ascii") as file:
            self.secret = file.read().strip()

    def words(self, *more, output="ledger"):
        data = ("--data", "jpeg", "--image-size=48", "--dataset", self.data)
        return ["run", *data, *CELL, *(more or SHORT), "-o", self.path(output)]

    def launched(self, *more, secret=True, output="ledger"):
        variables = {"FEEDRATE_SECRET_FILE": self.secret_file} if secret else {}
        words = self.words(*more, output=output)
        return strangers.Run(program(), self.machines, self.path(), words, self.port, variables)

    def check_sound(self, answers, output="ledger"):
        self.assertEqual([code for code, _, _ in answers], [0] * 4, answers)
        record = records_of(self.path(output))[-1]
        self.assertEqual((record["status"], len(record["ranks"])), ("ok", 4))
        return answers[0][2]


class Strangers(TwoMachinesTest):
    def test_ten_thousand_do_nothing_to_a_run_of_four_ranks(self):
        run = self.launched()
        run.start(0, 1, 2)
        crowd = strangers.start_strangers(self.machines, self.port, 10_000, 24)
        try:
            self.assertEqual(crowd.stdout.readline(), "made 10000\n")
            run.start(3)  # late, while 100 of them hold connections
            said = self.check_sound(run.end())
        finally:
            crowd.kill()
            crowd.communicate()
        self.assertIn(f"{ADDRESSES[1]}: turned away: it has not the secret of this run", said)
        self.assertRegex(said, r"1\d{4} connections were turned away while the ranks met")
        self.assertLess(len([line for line in said.splitlines() if "turned away" in line]), 20)

    def test_without_a_secret_the_user_is_told(self):
        run = self.launched(secret=False)
        run.start(0, 1, 2, 3)
        self.assertIn("and no secret: whoever reaches 10.77.0.1", self.check_sound(run.end()))

    def test_the_secret_is_told_to_nobody(self):
        run = self.launched()
        run.start(0, 1, 2, 3)
        seen = b""
        while any(process.poll() is None for process in run.processes):
            for process in run.processes:
                for pid in (process.pid, *children_of(process.pid)):
                    seen += b" ".join(command_of(pid))
            time.sleep(0.05)
        answers = run.end()
        self.check_sound(answers)
        seen += "".join(out + err for _, out, err in answers).encode()
        for name in os.listdir(self.path("ledger")):
            with open(self.path("ledger", name), "rb") as file:
                seen += file.read()
        self.assertIn(b"emulated:400", seen)
        self.assertNotIn(self.secret.encode(), seen)

    def test_another_secret_keeps_a_rank_out(self):
        other = self.path("other")
        with open(os.open(other, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as file:
            file.write("another secret of sixteen bytes")
        run = self.launched()
        run.start(0, 1, 2)
        run.start(3, FEEDRATE_SECRET_FILE=other)
        line = run.processes[3].stderr.readline()
        self.assertRegex(
            line, r"rank 3: at 10\.77\.0\.1:\d+ there is no rank 0 but one that has another"
        )
        run.processes[3].kill()
        run.processes[3].communicate()
        del run.processes[3]
        run.start(3)  # the right one may still come
        said = self.check_sound(run.end())
        self.assertIn("10.77.0.2: turned away: it has not the secret of this run", said)

    def test_only_the_named_interface_is_open(self):
        run = self.launched()
        run.start(0, 1, 2)
        deadline = time.monotonic() + 60
        while self.can_reach(ADDRESSES[0]) is not True:
            self.assertLess(time.monotonic(), deadline)
        self.assertFalse(self.can_reach("127.0.0.1"))
        run.start(3)
        self.check_sound(run.end())

    def can_reach(self, address):
        code = f"import socket; socket.create_connection(('{address}', {self.port}), 1)"
        words = [*self.machines.at(0), sys.executable, "-c", code]
        return subprocess.run(words, capture_output=True, check=False).returncode == 0

    def test_a_secret_that_others_can_read_is_refused(self):
        os.chmod(self.secret_file, 0o644)
        run = self.launched()
        run.start(0)
        ((code, out, err),) = run.end()
        self.assertEqual((code, out), (2, ""), err)
        self.assertRegex(
            err, r"FEEDRATE_SECRET_FILE=.*: can be read or changed by other users; chmod"
        )


class GoneMad(TwoMachinesTest):
    """Rank 3 speaks through a relay that spoils what it says."""

    def spoiled(self, what, *more):
        relay = strangers.start_relay(self.machines, self.port, what)
        self.addCleanup(relay.communicate)
        self.addCleanup(relay.kill)
        run = self.launched(*more)
        run.start(0, 1, 2)
        run.start(3, MASTER_ADDR=ADDRESSES[1])
        answers = run.end()
        self.assertEqual(answers[0][0], 1, answers)
        record = records_of(self.path("ledger"))[-1]
        self.assertEqual(record["status"], "failed")
        self.assertRegex(record["error"], r"^rank 3 on \S+ \(pid \d+\): sent what no rank sends: ")
        return record

    def test_a_rank_whose_result_makes_no_sense(self):
        record = self.spoiled("result")
        self.assertIn("its window is not within its steps", record["error"])
        self.assertEqual([rank["rank"] for rank in record["ranks"]], [0, 1, 2], "are kept")
        for rank in record["ranks"]:
            self.assertGreater(rank["imgs_per_s"], 0)
        self.assertFalse(record["valid"])
        self.assertIsNone(record["imgs_per_s"])
        self.call("validate", self.path("ledger"))

    def test_a_rank_that_sends_garbage_among_its_calls(self):
        began = time.monotonic()
        # Less warm-up, more whole pairs before the garbage.
        record = self.spoiled("call", "--min-seconds", "30", "--warmup-seconds", "0.05")
        self.assertLess(time.monotonic() - began, 25, "the run ends long before its 30 s")
        self.assertIn("a message of unknown kind", record["error"])
        self.assertEqual([rank["rank"] for rank in record["ranks"]], [0, 1, 2], "so far")
        for rank in record["ranks"]:
            self.assertGreater(rank["imgs_per_s"], 0)
            self.assertLess(rank["imgs_per_s"], 440, "of an emulated device of 400")


if __name__ == "__main__":
    main()
