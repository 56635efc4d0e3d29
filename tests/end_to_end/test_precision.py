"""A sweep that goes on until its shares are known as precisely as asked, or the time is over."""

import time

from program import COLD, SHORT, SMALL, ProgramTest, main


class Precision(ProgramTest):
    def repetitions(self):
        return 1 + max(r["repetition"] for r in self.ledger())

    def noisy_sweep(self, *more, **output):
        """The device takes whatever comes, so that the rate is the loader's. Its queue is seldom at
        rest, so what a run takes is limited: a budget is for runs of about the same length."""
        cell = [*SMALL, "--batch-size", "8", "--device", "emulated:1000000"]
        limits = ["--max-warmup-seconds", "0.3", "--max-seconds", "0.6"]
        return self.call(*self.sweep_words(*SHORT, *limits, *more, cell=cell, **output))

    def test_a_target_that_is_met_ends_the_sweep(self):
        answer = self.sweep("--target-ci", "50%", "--workers", "1,2")
        self.assertEqual(self.repetitions(), 6)
        self.assertIn("2 of 2 cells within ±50 %", answer.err)
        self.assertEqual(
            {(r["precision"]["target"], r["precision"]["pilot"]) for r in self.ledger()},
            {(0.5, 6)},
        )

    def test_repetitions_are_the_pilot(self):
        self.sweep("--target-ci", "50%", "--repetitions", "3")
        self.assertEqual(self.repetitions(), 3)

    def test_a_target_that_no_time_reaches_is_said(self):
        answer = self.noisy_sweep("--target-ci", "0.0000001%", "--repetitions", "3")
        self.assertEqual(self.repetitions(), 3)
        self.assertRegex(answer.err, r"±.* %  jpeg.*: 3 repetitions, needs .* \d+; raise --target")
        self.assertIn("0 of 1 cells within", answer.err)

    def test_a_budget_ends_the_sweep_and_resume_goes_on(self):
        words = ("--target-ci", "0.0000001%", "--repetitions", "3")
        began = time.monotonic()
        self.noisy_sweep(*words, output="pilot")  # how long three repetitions take here
        budget = f"{3 * (time.monotonic() - began):.1f}s"
        answer = self.noisy_sweep(*words, "--budget", budget)
        first = self.repetitions()
        self.assertGreater(first, 3)
        self.assertIn("raise --budget", answer.err)
        runs = [(r["role"], r["repetition"]) for r in self.ledger()]
        self.assertEqual(runs, [("cell", n) for n in range(first)], "each brings its ceiling")
        self.noisy_sweep(*words, "--budget", budget, "--resume")
        self.assertGreater(self.repetitions(), first)
        self.assertEqual([r["order"] for r in self.ledger()], list(range(len(self.ledger()))))
        self.call("validate", self.path("ledger"))

    def test_a_budget_leaves_whole_repetitions_between_their_ceilings(self):
        target = ("--target-ci", "0.0000001%", "--repetitions", "3")
        self.noisy_sweep(*target, "--budget", "6s", *COLD)
        roles = [r["role"] for r in self.ledger()]
        self.assertEqual(roles, ["ceiling", "cell", "ceiling"] * self.repetitions())

    def test_what_cannot_be_is_refused(self):
        for words, names in (
            (["--target-ci", "2"], ["--target-ci 2", "2%"]),
            (["--target-ci", "0%"], ["--target-ci 0%"]),
            (["--target-ci", "200%"], ["--target-ci 200%", "at most"]),
            (["--target-ci", "nan%"], ["--target-ci nan%"]),
            (["--budget", "5 weeks"], ["--budget 5 weeks", "30m"]),
            (["--budget", "1s"], ["--budget 1 s", "too short", "6 repetitions"]),
            (["--budget", "1m", "--repetitions", "2"], ["--repetitions 2", "3 or more"]),
        ):
            with self.subTest(words):
                self.refused(*self.sweep_words(*SHORT, *words), names=names)

    def test_the_plan_says_what_it_may_become(self):
        answer = self.sweep("--dry-run", "--target-ci", "2%", "--budget", "30m")
        self.assertIn("6 repetitions", answer.out)
        self.assertIn("then as many as ±2 % of every share needs, until 30 min", answer.out)


if __name__ == "__main__":
    main()
