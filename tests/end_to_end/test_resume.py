"""A ledger that already holds results."""

import json
import os
import shutil
import unittest

from program import CELL, HAS_GPU, SHORT, SMALL, ProgramTest, identity, main, program


class Resuming(ProgramTest):
    def keep(self, kept):
        """Cuts the ledger down to these lines."""
        with open(self.path("ledger", "ledger.jsonl"), encoding="utf-8") as file:
            lines = file.readlines()
        self.write("ledger/ledger.jsonl", "".join(lines[i] for i in kept))

    def refused_sweep(self, *more, names, data="synthetic", **how):
        dataset = () if data == "synthetic" else ("--dataset", self.data)
        self.refused(
            "sweep",
            "--data",
            data,
            *dataset,
            *CELL,
            *SHORT,
            "-o",
            self.path("ledger"),
            *more,
            names=names,
            code=1,
            **how,
        )

    def test_only_what_is_missing_is_measured(self):
        for sweep, workers in ((self.sweep, "0,1,2,3"), (self.cold_sweep, "1,2")):
            with self.subTest(workers):
                words = ("--workers", workers)
                shutil.rmtree(self.path("ledger"), True)
                sweep(*words)
                before = self.ledger()
                self.keep([0, 2])
                answer = sweep(*words, "--resume")
                self.assertIn("2 measured, 0 failed, 2 already there", answer.err)
                after = self.ledger()
                self.assertEqual(after[:2], [before[0], before[2]])
                self.assertEqual(sorted(map(identity, after)), sorted(map(identity, before)))

    def go_on(self, *more, **how):
        return self.call("sweep", "-o", self.path("ledger"), "--resume", *more, **how)

    def test_resume_alone_goes_on_as_the_sweep_was(self):
        self.sweep("--workers", "1,2", "--repetitions", "2")
        before = self.ledger()
        self.keep([0, 3])
        self.assertIn("2 runs", self.go_on("--dry-run").out)
        self.assertEqual(len(self.ledger()), 2)
        answer = self.go_on()
        self.assertIn("feedrate: going on: feedrate sweep --data jpeg ", answer.err)
        self.assertIn("2 measured, 0 failed, 2 already there", answer.err)
        after = self.ledger()
        self.assertEqual(sorted(map(identity, after)), sorted(map(identity, before)))
        self.assertEqual({json.dumps(r["limits"]) for r in after}, {json.dumps(after[0]["limits"])})
        shown = self.call("reproduce", self.path("ledger")).out
        self.assertEqual(shown.count("feedrate sweep "), 1, shown)

    def test_resume_alone_goes_on_with_what_an_earlier_sweep_left(self):
        self.sweep("--workers", "1")
        self.sweep("--workers", "2", "--resume")
        self.keep([1])
        self.assertIn("1 measured, 0 failed, 0 already there", self.go_on().err)
        self.assertEqual([r["cell"]["workers"] for r in self.ledger()], [2, 1])
        self.assertIn("0 measured", self.go_on().err)

    def test_resume_alone_takes_a_suite_and_what_is_typed_beside_it(self):
        text = f'dataset = "{self.data}"\nrepetitions = 2\n[[sweep]]\ndata = "tensor"\n'
        words = ("--config", self.write("suite.toml", text), *CELL, *SHORT)
        self.call("sweep", *words, "-o", self.path("ledger"))
        self.keep([0])
        os.rename(self.path("ledger"), self.path("moved"))
        self.call("sweep", "--output", self.path("moved"), "--resume", "--quiet")
        self.assertEqual([r["repetition"] for r in self.ledger("moved")], [0, 1])
        self.assertFalse(os.path.exists(self.path("ledger")))

    @unittest.skipIf(HAS_GPU, "a GPU is here")
    def test_resume_alone_of_a_sweep_without_axes_is_the_same_sweep(self):
        self.call("sweep", *SHORT, "-o", self.path("ledger"))
        self.assertIn("0 measured, 0 failed, 1 already there", self.go_on().err)

    def test_resume_alone_says_what_to_type_where_nothing_is_known(self):
        self.sweep("--workers", "1")
        before = self.ledger()
        alone = ("sweep", "-o", self.path("ledger"), "--resume")
        self.refused("sweep", "--resume", names="--output")
        os.remove(self.path("ledger", "plan.json"))
        self.refused(*alone, names=["holds no plan.json", "options again, and --resume"])
        self.assertEqual(self.ledger(), before)
        shutil.rmtree(self.path("ledger"))
        for more in ([], ["--dry-run"]):
            self.refused(*alone, *more, names=["holds no plan.json", "the folder of a sweep"])
        self.assertFalse(os.path.exists(self.path("ledger")))
        named = self.call(*alone, "--data", "synthetic", "--dry-run")
        self.assertIn("1 run", named.out, "a new sweep: a script may always say --resume")
        self.run_cell("-o", self.path("ledger"))
        self.refused(*alone, names="holds a `feedrate run`")

    def test_nothing_missing_measures_nothing(self):
        self.sweep(data="synthetic")
        before = self.ledger()
        self.assertIn("0 measured", self.sweep("--resume", data="synthetic").err)
        self.assertEqual(self.ledger(), before)

    def test_a_new_cell_is_added(self):
        self.sweep("--workers", "1")
        answer = self.sweep("--workers", "1,2", "--resume")
        self.assertIn("1 measured", answer.err)
        self.assertEqual([r["cell"]["workers"] for r in self.ledger()], [1, 2])
        self.call("validate", self.path("ledger"))

    def test_a_new_cell_that_cannot_be_in_pairs_is_added_with_its_ceilings(self):
        self.cold_sweep("--workers", "1")
        answer = self.cold_sweep("--workers", "1,2", "--resume")
        self.assertIn("3 measured", answer.err)
        workers = [r["cell"]["workers"] for r in self.ledger()]
        self.assertEqual(workers, [None, 1, None, None, 2, None], "between ceilings of its own")
        self.call("validate", self.path("ledger"))

    def test_the_order_goes_on_where_it_stopped(self):
        self.sweep("--workers", "1")
        self.sweep("--workers", "1,2", "--resume")
        self.sweep("--workers", "0,1,2", "--resume")
        orders = [r["order"] for r in self.ledger()]
        self.assertEqual(
            orders, sorted(set(orders)), "the order in which the runs were carried out"
        )

    def test_a_ledger_with_results_wants_resume(self):
        self.sweep(data="synthetic")
        before = self.ledger()
        self.refused_sweep(names=["ledger.jsonl", "--resume"])
        self.assertEqual(self.ledger(), before)

    def test_a_torn_last_line_is_cut_off(self):
        self.sweep(data="synthetic")
        before = self.ledger()
        with open(self.path("ledger", "ledger.jsonl"), "a", encoding="utf-8") as file:
            file.write('{"schema":"feedrate.res')
        self.assertIn("torn", self.sweep("--resume", data="synthetic").err)
        self.assertEqual(self.ledger(), before)

    def test_a_foreign_line_is_refused(self):
        self.sweep(data="synthetic")
        with open(self.path("ledger", "ledger.jsonl"), "a", encoding="utf-8") as file:
            file.write('{"schema":"something else"}\n')
        self.refused_sweep("--resume", names="ledger.jsonl:2")

    def another_program(self):
        folder = os.path.dirname(shutil.copy(program(), self.path("feedrate")))
        with open(os.path.join(folder, "feedrate"), "ab") as file:
            file.write(b"another build")
        return self.path("feedrate")

    def test_another_program_is_refused(self):
        self.sweep(data="synthetic")
        self.refused_sweep(
            "--resume", names=["ledger.jsonl", "binary_xxh3"], binary=self.another_program()
        )

    def test_another_seed_is_refused(self):
        self.sweep(data="synthetic")
        self.refused_sweep("--resume", "--seed", "7", names=["ledger.jsonl", "seed", "7"])

    def test_other_limits_are_refused_and_the_ledger_stays_as_it_was(self):
        self.sweep(data="synthetic")
        with open(self.path("ledger", "ledger.jsonl"), "a", encoding="utf-8") as file:
            file.write('{"schema":"feedrate.res')
        before = os.path.getsize(self.path("ledger", "ledger.jsonl"))
        self.refused_sweep(
            "--resume", "--min-steps", "77", names=["ledger.jsonl", "limits.min_steps", "77"]
        )
        self.assertEqual(os.path.getsize(self.path("ledger", "ledger.jsonl")), before)

    def test_another_storage_is_refused(self):
        self.sweep(data="tensor")
        records = self.ledger()
        for record in records:
            if record["dataset"]:
                if not record["environment"]["file_system"]:
                    self.skipTest("what the files lie on cannot be seen here")
                record["environment"]["file_system"]["device"] = "server:/elsewhere"
        self.write("ledger/ledger.jsonl", "".join(json.dumps(r) + "\n" for r in records))
        self.refused_sweep("--resume", names=["ledger.jsonl", "file_system.device"], data="tensor")

    def test_what_differs_can_be_forced_and_is_flagged(self):
        self.sweep("--workers", "1", data="tensor")
        before = self.ledger()
        self.sweep(
            "--workers",
            "1,2",
            "--seed",
            "7",
            "--force-resume",
            data="tensor",
            binary=self.another_program(),
        )
        self.assertEqual(self.ledger()[:1], before)
        added = self.ledger()[1:]
        self.assertEqual([r["cell"]["workers"] for r in added], [2])
        self.assertEqual(added[0]["forced"], ["binary_xxh3", "seed"])
        flag = next(f for f in added[0]["flags"] if f["name"] == "mixed_ledger")
        self.assertEqual(flag["severity"], "warning")

    def test_older_records_are_read(self):
        self.sweep(data="synthetic")
        old = self.ledger()[0]
        old["schema"] = "feedrate.result/1"
        del old["valid"]
        self.write("ledger/ledger.jsonl", json.dumps(old) + "\n")
        self.assertIn("0 measured", self.sweep("--resume", data="synthetic").err)

    def test_another_dataset_is_refused(self):
        self.data = self.path("d")
        words = (
            "gen",
            self.data,
            "--count",
            "16",
            "--classes",
            "4",
            "--format",
            "jpeg,png",
            *SMALL,
        )
        self.call(*words)
        self.sweep(data="jpeg")
        shutil.rmtree(self.data)
        self.call(*words, "--seed", "5")
        self.refused_sweep(
            "--resume", names=["ledger.jsonl", "dataset jpeg/48x48"], data="jpeg,png"
        )


if __name__ == "__main__":
    main()
