"""From nothing to a result, and what the program says of itself."""

import json
import os
import re
import subprocess

from program import CELL, COLD, ROOT, SHORT, SMALL, ProgramTest, main, program


class Journey(ProgramTest):
    """From nothing to a result."""

    def test_gen_verify_run(self):
        made = self.call(
            "gen", self.path("d"), "--count", "8", "--classes", "2", "--format", "jpeg", *SMALL
        )
        self.assertIn("jpeg/48x48", made.out)
        self.assertEqual(made.out.count("\n"), 1, made)
        self.assertNotIn("/8 ·", made.err, "a count that is stale at once")
        verified = self.call("verify", self.path("d"))
        self.assertIn("8 samples", verified.out)
        self.assertIn("0 damaged", verified.out)
        self.assertNotIn("MB checked", verified.err)
        result = self.call("run", "--data", "jpeg", "--dataset", self.path("d"), *CELL, *SHORT)
        self.assertIn("EMULATED", result.out)
        self.assertIn("emulation not yet compared with a GPU", result.out)
        # Beside a busy neighbour a ceiling may be unfit to be quoted: then the reason is said.
        self.assertRegex(
            result.out, r"\d % of the ceiling \(.*[\d,]+ img/s\)|no share of it: [\d,]+ img/s"
        )

    def test_the_only_stored_size_is_the_default(self):
        few = ("--count", "8", "--classes", "2", "--format", "jpeg")
        self.call("gen", self.path("d"), *few, "--image-size", "96", "--detail", "low")
        words = ("run", "--data", "jpeg", "--dataset", self.path("d"), "--input-size", "48")
        words += ("--device", "emulated:2000", "--batch-size", "8", *SHORT)
        answer = self.call(*words)
        self.assertIn(
            "--image-size 96x96 --detail low, as nothing else is in " + self.path("d"), answer.err
        )
        self.assertIn("jpeg 96x96", answer.out)
        self.call("gen", self.path("d"), *few, "--image-size", "48", "--detail", "low")
        self.refused(*words, names=["jpeg/224x224"], code=1)

    def test_gen_again_changes_nothing(self):
        words = ("gen", self.path("d"), "--count", "4", "--classes", "2", "--format", "png", *SMALL)
        self.call(*words)
        before = os.stat(self.path("d", "png", "48x48", "files.tsv")).st_mtime_ns
        self.call(*words)
        self.assertEqual(os.stat(self.path("d", "png", "48x48", "files.tsv")).st_mtime_ns, before)

    def test_json_is_one_line_and_the_talk_goes_to_stderr(self):
        answer = self.run_cell("--json")
        self.assertEqual(answer.out.count("\n"), 1, answer)
        record = json.loads(answer.out)
        self.assertEqual((record["schema"], record["status"]), ("feedrate.result/4", "ok"))
        self.assertEqual(record["cell"]["data"], "jpeg")
        self.assertGreater(record["imgs_per_s"], 0)
        self.assertLess(record["imgs_per_s"], 2000 * 1.02)
        self.assertIn("ceiling_imgs_per_s", record)
        self.assertIn("EMULATED", record["device"]["name"])
        self.assertIn("preparing", answer.err)

    def test_run_can_keep_its_records(self):
        self.run_cell("-o", self.path("kept"))
        self.assertEqual([r["role"] for r in self.ledger("kept")], ["cell"])
        line = self.refused(
            "run",
            "--data",
            "jpeg",
            "--dataset",
            self.data,
            *CELL,
            *SHORT,
            "-o",
            self.path("kept"),
            names=["ledger.jsonl", "already holds results"],
            code=1,
        )
        self.assertIn("-o DIR", line)
        self.assertEqual(len(self.ledger("kept")), 1)

    def test_a_run_that_cannot_be_in_pairs_keeps_its_ceilings_record(self):
        self.run_cell(*COLD, "--repetitions", "2", "-o", self.path("kept"))
        found = [(r["role"], r["repetition"]) for r in self.ledger("kept")]
        self.assertEqual(found, [("ceiling", 0), ("cell", 0), ("ceiling", 1), ("cell", 1)])

    def test_no_workers(self):
        record = self.record("--workers", "0", "--no-ceiling")
        self.assertEqual((record["cell"]["workers"], record["cell"]["loader"]), (0, None))

    def test_every_rung_of_the_caches(self):
        for data in ("jpeg", "tensor"):
            for cache in ("none", "discard", "encoded", "decoded", "sample", "host", "device"):
                if (data, cache) == ("tensor", "decoded"):
                    continue  # there is nothing to decode
                with self.subTest(data=data, cache=cache):
                    record = self.record("--cache", cache, "--no-ceiling", data=data)
                    self.assertEqual((record["status"], record["cell"]["cache"]), ("ok", cache))

    def test_decoded_pictures_are_augmented_and_collated_alone(self):
        where = ["--data", "jpeg", "--dataset", self.data, "--image-size", "48"]
        where += ["--device", "emulated:2000", "--batch-size", "8", "--cache", "decoded"]
        for words in (
            ["--input-size", "24"],
            ["--input-size", "native", "--augment", "none"],
            ["--input-size", "48", "--gpus", "2", "--workers", "3"],
        ):
            with self.subTest(words):
                answer = self.call("run", "--json", "--no-ceiling", *where, *words, *SHORT)
                record = json.loads(answer.out)
                self.assertEqual(record["status"], "ok")
                self.assertEqual([s["name"] for s in record["stages"]], ["augment", "collate"])
                self.assertIsNone(record["io"])
                self.assertIsNone(record["cell"]["decode-scale"])
        words = ["--data", "tensor", "--dataset", self.data, *CELL, "--cache", "decoded"]
        self.refused("run", *words, names=["--cache decoded", "--data tensor", "nothing to decode"])

    def test_two_gpus_are_two_ranks(self):
        record = self.record("--gpus", "2", "--no-ceiling")
        self.assertEqual([r["rank"] for r in record["ranks"]], [0, 1])
        self.assertAlmostEqual(
            record["imgs_per_s"],
            sum(r["imgs_per_s"] for r in record["ranks"]),
            delta=0.02 * record["imgs_per_s"],
        )


class Options(ProgramTest):
    def test_list_names_every_axis_of_the_help(self):
        group = self.call("run", "--help").out.split("\nAxes", 1)[1].split("\n\n", 1)[0]
        axes = re.findall(r"^  (--[\w-]+)", group, re.M)
        self.assertGreater(len(axes), 10)
        listed = re.findall(r"^(--[\w-]+)", self.call("list").out, re.M)
        self.assertEqual(listed, axes)
        for axis in axes:
            self.assertTrue(self.call("list", axis[2:]).out.startswith(axis))

    def test_help_says_that_data_of_your_own_is_auto(self):
        for command in ("run", "sweep"):
            shown = " ".join(self.call(command, "--help").out.split())
            self.assertIn("synthetic; of a folder of your own auto", shown)

    def test_help_and_version_are_answers(self):
        for words in (
            ["--help"],
            ["--version"],
            ["gen", "--help"],
            ["sweep", "--help"],
            ["jobs", "--help"],
            ["report", "--help"],
        ):
            answer = self.call(*words)
            self.assertTrue(answer.out)
            self.assertEqual(answer.err, "")

    def test_doctor_answers(self):
        answer = self.finish(self.start("doctor", "--dataset", self.data))
        self.assertIn(answer.code, (0, 1), answer)
        self.assertIn("jpeg/48x48: 64 samples", answer.out)

    def test_doctor_holds_a_planned_sweep_against_the_machine(self):
        plan = [
            "doctor",
            "--dataset",
            self.data,
            "--device",
            "emulated:1000",
            "--image-size",
            "48",
            "--input-size",
            "48",
        ]
        answer = self.finish(self.start(*plan, "--data", "synthetic,jpeg", "--workers", "1,2"))
        self.assertRegex(answer.out, r"ok +sweep +3 cells; the largest holds ")
        answer = self.finish(self.start(*plan, "--data", "bmp", "--workers", "1,2"))
        self.assertEqual(answer.code, 1)
        self.assertEqual(answer.out.count("MISSING  sweep"), 1, answer.out)
        self.assertIn("has no bmp/48x48", answer.out)


class Tables(ProgramTest):
    """`feedrate list --json`."""

    def test_the_report_has_the_tables_of_this_program(self):
        answer = self.finish(self.start("list", "--json"))
        with open(os.path.join(ROOT, "scripts", "report", "axes.json"), encoding="utf-8") as file:
            self.assertEqual(answer.out, file.read(), "the build writes it")


class Output(ProgramTest):
    """What goes to stdout arrives, or the exit code says that it did not."""

    def test_a_full_disk_is_a_failure(self):
        for words in (["list"], ["run", "--json", "--no-ceiling", *CELL, *SHORT], ["--help"]):
            with self.subTest(words=words), open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run(
                    [program(), *words],
                    stdout=full,
                    stderr=subprocess.PIPE,
                    encoding="utf-8",
                    timeout=60,
                    check=False,
                )
                self.assertNotEqual(
                    done.returncode, 0, "the result was lost, and the exit code is 0"
                )
                self.assertIn("feedrate: ", done.stderr)

    def test_a_reader_that_leaves_spoils_no_ledger(self):
        process = self.start(
            "sweep",
            "--data",
            "tensor",
            "--dataset",
            self.data,
            *CELL,
            *SHORT,
            "--json",
            "-o",
            self.path("ledger"),
        )
        process.stdout.readline()
        process.stdout.close()
        process.stderr.read()
        process.wait(60)
        process.stderr.close()
        self.assertGreaterEqual(len(self.ledger()), 1)


if __name__ == "__main__":
    main()
