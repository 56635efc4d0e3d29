"""--config: suites, and options in a file."""

import json
import os
import re
import shutil

from program import CELL, ROOT, SMALL, ProgramTest, main


class Suites(ProgramTest):
    def plan(self, text, *more):
        suite = self.write("suite.toml", text)
        answer = self.call("sweep", "--config", suite, "--dataset", self.data, *more, "--dry-run")
        runs = re.findall(r"^ *\d+  repetition \d+  \w+ +(.*)$", answer.out, re.MULTILINE)
        self.assertTrue(runs, answer)
        return runs

    HEAD = 'device = "emulated:2000"\nimage-size = 48\ninput-size = 48\nbatch-size = 8\n'

    def test_tables_are_united(self):
        cells = self.plan(
            self.HEAD + '[[sweep]]\ndata = "jpeg"\nworkers = [1, 2]\n'
            '[[sweep]]\ndata = ["png", "jpeg"]\nworkers = 2\n'
        )
        self.assertEqual(len(cells), 3, cells)
        self.assertEqual(sum("jpeg 48x48, 2 workers" in c for c in cells), 1, cells)

    def test_a_flag_overrides_the_file_everywhere(self):
        cells = self.plan(
            self.HEAD + 'data = "jpeg"\nworkers = 1\n[[sweep]]\nworkers = [2, 4]\n',
            "--workers",
            "3",
            "--data",
            "png",
        )
        self.assertEqual(
            [c for c in cells if "synthetic" not in c],
            ["png 48x48, 3 workers, input 48x48, EMULATED"],
        )

    def test_options_can_stand_in_the_file(self):
        suite = self.write(
            "suite.toml",
            self.HEAD + 'data = "jpeg"\nmin-seconds = 0.2\nwarmup-seconds = 0.1\n'
            f'repetitions = 2\ndataset = "{self.data}"\noutput = "{self.path("out")}"\n',
        )
        self.call("sweep", "--config", suite, "--repetitions", "1")
        records = self.ledger("out")
        self.assertEqual([r["role"] for r in records], ["cell"])
        self.assertEqual(records[0]["limits"]["min_seconds"], 0.2)

    def test_run_takes_a_file_too(self):
        suite = self.write(
            "cell.toml", self.HEAD + 'data = "png"\nmin-seconds = 0.2\nwarmup-seconds = 0.1\n'
        )
        answer = self.call(
            "run", "--config", suite, "--dataset", self.data, "--json", "--no-ceiling"
        )
        self.assertEqual(json.loads(answer.out)["cell"]["data"], "png")

    def test_the_projects_own_suites_can_be_planned(self):
        folder = os.path.join(ROOT, "benchmarks", "suites")
        self.data = self.path("d")
        self.call(
            "gen",
            self.data,
            "--count",
            "64",
            "--classes",
            "4",
            "--format",
            "tensor,png,jpeg,npy",
            "--container",
            "files,tar",
            "--detail",
            "lowest,low,medium,high,highest",
            *SMALL,
        )
        for name in sorted(os.listdir(folder)):
            with self.subTest(suite=name):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    text = file.read()
                self.assertRegex(text, r"^# .*\?", "the question that it answers")
                self.assertIn("feedrate gen ", text)
                self.assertIn("--config benchmarks/suites/" + name, text)
                answer = self.call(
                    "sweep",
                    "--config",
                    os.path.join(folder, name),
                    "--dataset",
                    self.data,
                    *CELL,
                    "--dry-run",
                )
                cells = [line[6:] for line in answer.out.splitlines() if " cell " in line]
                self.assertGreater(len(cells), 4)
                self.assertEqual(
                    len(cells), len(set(cells)), "two cells that read alike: " + answer.out
                )

    def mistake(self, text, *names):
        with self.subTest(text=text):
            suite = self.write("suite.toml", text)
            shutil.rmtree(self.path("out"), True)
            try:
                self.refused(
                    "sweep",
                    "--config",
                    suite,
                    "--device",
                    "emulated:2000",
                    "--max-seconds",
                    "1",
                    "-o",
                    self.path("out"),
                    names=names,
                )
            finally:
                self.assertFalse(os.path.exists(self.path("out")), "begun nevertheless")

    def test_what_is_no_toml_is_refused_with_its_line(self):
        self.mistake("workers = 1\nworkers = = 2\n", "suite.toml:2")
        self.mistake('data = [\n"jpeg"\n[[sweep]]\n', "suite.toml:")
        self.mistake("workers = {a = 1}\n", "suite.toml:1")
        self.mistake("sweep = 3\n", "suite.toml:1")

    def test_keys_that_are_no_option_name_the_file(self):
        self.mistake("wrokers = 2\n", "wrokers", "suite.toml")
        self.mistake("[[sweep]]\nwrokers = 2\n", "wrokers", "suite.toml")
        self.mistake("[[sweep]]\nmin-seconds = 2\n", "min-seconds", "suite.toml")
        self.mistake('config = "suite.toml"\n', "config", "suite.toml")

    def test_mistakes_are_shown_with_their_lines(self):
        for text, names in (
            ('data = "jpeg"\n\nworker = 2\n', [":3: worker", "did you mean workers?"]),
            ('data = "jpeg"\nworkers = "two"\n', [":2: --workers two"]),
            ('[[sweep]]\ndata = "jpeg"\n[[sweep]]\ndata = "jpg"\n', [":4: --data jpg", "jpeg?"]),
            ("[[sweep]]\n\n\nmin-seconds = 3\n", [":4: min-seconds", "above [[sweep]]"]),
        ):
            with self.subTest(text):
                file = self.write("s.toml", text)
                words = ["sweep", "--config", file, *CELL, "-o", self.path("r")]
                self.refused(*words, names=["s.toml" + names[0], *names[1:]])

    def test_values_that_no_option_takes_name_the_file(self):
        self.mistake('workers = "x"\n', "workers", "x", "suite.toml")
        self.mistake('min-seconds = "abc"\n', "min-seconds", "abc", "suite.toml")
        self.mistake("min-seconds = -1\n", "min-seconds", "-1", "suite.toml")
        self.mistake("repetitions = [1, 2]\n", "repetitions", "suite.toml")

    def test_a_missing_file_and_a_folder_are_refused(self):
        for name in ("nowhere.toml", ""):
            with self.subTest(name=name):
                self.refused(
                    "sweep",
                    "--config",
                    self.path(name),
                    "--device",
                    "emulated:2000",
                    "--dry-run",
                    names=self.path(name),
                )


if __name__ == "__main__":
    main()
