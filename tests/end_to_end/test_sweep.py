"""Many cells into one ledger."""

import json
import os
import re
import time

from program import CELL, SHORT, ProgramTest, identity, main


class Sweeping(ProgramTest):
    def test_the_ceiling_comes_first_and_last(self):
        answer = self.sweep("--workers", "1,2", "--repetitions", "2")
        self.assertEqual(answer.out, "")
        records = self.ledger()
        self.assertEqual([r["role"] for r in records], ["ceiling", "cell", "cell", "ceiling"] * 2)
        self.assertEqual([r["repetition"] for r in records], [0] * 4 + [1] * 4)
        self.assertEqual({r["status"] for r in records}, {"ok"})
        self.assertEqual([r["order"] for r in records], list(range(8)))
        self.assertEqual(len({identity(r) for r in records}), 8)

    def test_one_and_two_gpus_have_a_ceiling_each(self):
        self.sweep("--gpus", "1,2", data="synthetic,tensor")
        self.assertEqual(
            [(r["role"], r["cell"]["gpus"]) for r in self.ledger()],
            [(role, gpus) for gpus in (1, 2) for role in ("ceiling", "cell", "ceiling")],
        )

    def test_json_has_the_ledgers_records(self):
        answer = self.sweep("--json", data="synthetic")
        self.assertEqual([json.loads(line) for line in answer.out.splitlines()], self.ledger())

    def test_a_dry_run_leaves_nothing(self):
        answer = self.sweep("--dry-run", "--workers", "1,2")
        self.assertEqual(len(re.findall(r"^ +\d+ ", answer.out, re.M)), 4, answer)
        self.assertIn("4 runs", answer.out)
        self.assertEqual(os.listdir(self.folder), [])

    def test_two_at_once_do_not_share_a_ledger(self):
        words = ("sweep", "--data", "synthetic", *CELL, "-o", self.path("one"), "--resume")
        first = self.start(*words, "--warmup-seconds", "30")
        try:
            while not os.path.exists(self.path("one", "ledger.jsonl")):
                time.sleep(0.02)
            time.sleep(0.1)
            self.refused(*words, *SHORT, names=["one", "another feedrate"], code=1)
        finally:
            first.terminate()
            self.finish(first)


if __name__ == "__main__":
    main()
