"""Many cells into one ledger."""

import json
import os
import re
import shutil
import time
import unittest

from program import CELL, COLD, HAS_GPU, SHORT, ProgramTest, identity, main


class Sweeping(ProgramTest):
    def test_each_cell_has_its_ceiling_in_pairs(self):
        answer = self.sweep("--workers", "1,2", "--repetitions", "2")
        self.assertEqual(answer.out, "")
        records = self.ledger()
        self.assertEqual([r["role"] for r in records], ["cell"] * 4)
        self.assertEqual([r["repetition"] for r in records], [0] * 2 + [1] * 2)
        self.assertEqual({r["status"] for r in records}, {"ok"})
        self.assertEqual([r["order"] for r in records], list(range(4)))
        self.assertEqual(len({identity(r) for r in records}), 4)
        for record in records:
            self.assertGreaterEqual(len(record["pairs"]["cell_s"]), 3)
            low, high = record["ceiling_fraction_ci95"]
            self.assertTrue(0 < low <= record["ceiling_fraction"] <= high)

    def test_cells_of_a_setting_share_a_process_within_a_repetition(self):
        self.sweep("--workers", "1,2", "--repetitions", "2")
        processes = [(r["repetition"], r["ranks"][0]["pid"]) for r in self.ledger()]
        self.assertEqual(len(set(processes)), 2, processes)
        self.assertEqual(len({pid for _, pid in processes}), 2, processes)

    def test_what_cannot_be_in_pairs_lies_between_two_ceilings(self):
        answer = self.sweep("--workers", "1,2", "--repetitions", "2", *COLD)
        self.assertEqual(answer.out, "")
        records = self.ledger()
        self.assertEqual([r["role"] for r in records], ["ceiling", "cell", "cell", "ceiling"] * 2)
        self.assertEqual([r["repetition"] for r in records], [0] * 4 + [1] * 4)
        self.assertEqual({r["status"] for r in records}, {"ok"})
        self.assertEqual([r["order"] for r in records], list(range(8)))
        self.assertEqual(len({identity(r) for r in records}), 8)
        self.assertEqual([r for r in records if "pairs" in r], [])
        self.assertEqual(len({r["ranks"][0]["pid"] for r in records}), 8, "a process each")

    def test_one_and_two_gpus_have_a_ceiling_each(self):
        for data, more, roles in (
            ("synthetic,tensor", (), ["ceiling", "cell"]),
            ("synthetic,tensor", COLD, ["ceiling", "cell", "ceiling"]),
        ):
            with self.subTest(data=data, more=more):
                shutil.rmtree(self.path("ledger"), True)
                self.sweep("--gpus", "1,2", *more, data=data)
                found = [(r["role"], r["cell"]["gpus"]) for r in self.ledger()]
                first = found[0][1]  # the seed decides which
                self.assertEqual(found, [(role, n) for n in (first, 3 - first) for role in roles])

    def test_what_must_not_be_quoted_is_marked(self):
        answer = self.sweep("--workers", "1", "--min-steps", "5000", "--max-seconds", "0.3")
        marked = re.findall(r"(?m)^\[1/1\] .*: [\d,.]+! img/s", answer.err)
        self.assertEqual(len(marked), 1, answer.err)
        self.assertRegex(answer.err, r"(?m)^DO NOT QUOTE: .*short_window \(")

    def test_its_end_says_what_it_comes_to_and_what_is_next(self):
        answer = self.sweep("--workers", "0,2", output="two words")
        lines = answer.err.splitlines()
        self.assertEqual(lines[-1], f"next: feedrate report '{self.path('two words')}'", answer)
        # Beside a busy neighbour a run may not be quoted: then it is neither best nor worst.
        counts = {identity(r): r for r in self.ledger("two words")}.values()
        is_fit = all(r["valid"] for r in counts)
        shown = [line.split()[0] for line in lines if line.startswith(("best: ", "worst: "))]
        self.assertEqual(shown, ["best:", "worst:"] if is_fit else [], answer)
        flagged = [r for r in counts if any(f["severity"] != "note" for f in r["flags"])]
        said = [line for line in lines if line.startswith(f"flags: in {len(flagged)} of 2 cells: ")]
        self.assertEqual(len(said), 1 if flagged else 0, answer)

    def test_json_has_the_ledgers_records(self):
        answer = self.sweep("--json", data="synthetic")
        self.assertEqual([json.loads(line) for line in answer.out.splitlines()], self.ledger())

    def test_a_dry_run_leaves_nothing(self):
        for more, runs in (((), 2), (COLD, 4)):
            with self.subTest(more):
                answer = self.sweep("--dry-run", "--workers", "1,2", *more)
                self.assertEqual(len(re.findall(r"^ +\d+ ", answer.out, re.M)), runs, answer)
                self.assertIn(f"{runs} runs", answer.out)
                self.assertEqual(os.listdir(self.folder), [])

    def test_conditions_leave_cells_out(self):
        words = ("--dry-run", "--workers", "1,2,4", "--data", "jpeg,png")
        all_cells = self.sweep(*words).out
        self.assertEqual(len(re.findall(r"(?m)^ +\d+ .*, EMULATED$", all_cells)), 6)
        some = self.sweep(*words, "--where", "workers<=2 or data=png", "--where", "workers!=1").out
        self.assertEqual(
            sorted(re.findall(r"(\w+) 48x48, (\d)", some)),
            [("jpeg", "2"), ("png", "2"), ("png", "4")],
        )
        cold = self.sweep(*words, *COLD, "--where", "workers=2").out
        self.assertEqual(len(re.findall(r"(?m)^ +\d+ .*, EMULATED$", cold)), 2 + 2)
        self.assertEqual(len(re.findall("synthetic", cold)), 2, "the ceiling stays")
        self.refused(
            "sweep",
            *CELL,
            *words,
            "--dataset",
            self.data,
            "--where",
            "workers>4",
            names=["--where", "leaves no cell"],
        )
        for condition, name in (
            ("colour=red", "colour"),
            ("workers", "is no condition"),
            ("data<png", "no order"),
            ("workers<two", "two"),
            ("prefetch<=auto", "auto is not a number or a size"),
            ("input-size>native", "native is not a number or a size"),
        ):
            self.refused(
                "sweep", *CELL, *words, "--dataset", self.data, "--where", condition, names=name
            )

    def test_a_dry_run_with_resume_shows_what_is_missing(self):
        for sweep, runs in ((self.cold_sweep, "3 runs "), (self.sweep, "1 run ")):
            with self.subTest(runs):
                shutil.rmtree(self.path("ledger"), True)
                sweep("--workers", "1")
                before = self.ledger()
                out = sweep("--workers", "1,2", "--dry-run", "--resume").out
                self.assertEqual(re.findall(r"jpeg 48x48, (\d)", out), ["2"], out)
                self.assertIn(runs, out)
                self.assertEqual(self.ledger(), before)
        self.assertIn("0 runs", self.sweep("--workers", "1", "--resume").err)

    def test_the_plan_is_said_first(self):
        for more, runs in (
            ((), r"4 runs \(2 cells, 2 repetitions\)"),
            (COLD, r"8 runs \(2 cells, 1 ceiling, 2 repetitions\)"),
        ):
            with self.subTest(more):
                shutil.rmtree(self.path("ledger"), True)
                err = self.sweep("--workers", "1,2", "--repetitions", "2", *more).err
                self.assertRegex(err.splitlines()[0], rf"^{runs}, at least \d+ s$")
                self.assertIn(
                    "\n2000 img/s (EMULATED): emulation not yet compared with a GPU\n", err
                )

    def test_each_line_names_its_device_where_cells_differ_in_it(self):
        devices = ("--device", "emulated:h200-mlperf,emulated:h200-feedrate")
        words = ("--data", "synthetic", *devices, "--batch-size", "8")
        lines = [
            f"NVIDIA H200, {whose} img/s (EMULATED): emulation not yet compared with a GPU\n"
            for whose in ("MLPerf's 7,950", "feedrate's own 7,490")
        ]
        dry = self.call("sweep", *words, "--dry-run").out
        made = self.call("sweep", *words, *SHORT, "-o", self.path("ledger")).err
        for text, head in ((dry, r"(?m)^ +\d+ .* "), (made, r"(?m)^\[\d/2\] ")):
            for line in lines:
                self.assertEqual(text.count(line), 1, text)
            for device in ("h200-mlperf (7,950 img/s)", "h200-feedrate (7,490 img/s)"):
                self.assertRegex(text, head + re.escape(device + ", synthetic, input 224x224, "))

    def test_a_ceiling_that_moved_is_flagged(self):
        cold = ("--workers", "1", *COLD)
        self.sweep(*cold)
        lines = [json.dumps(r) for r in self.ledger()[:2]]
        opening = json.loads(lines[0])
        opening["imgs_per_s"] *= 2  # more than a busy machine moves it by
        self.write("ledger/ledger.jsonl", json.dumps(opening) + "\n" + lines[1] + "\n")
        self.sweep(*cold, "--resume")
        closing = self.ledger()[-1]
        flag = next(f for f in closing["flags"] if f["name"] == "ceiling_drifted")
        self.assertIn(
            f"{100 * (closing['imgs_per_s'] / opening['imgs_per_s'] - 1):+.1f} %", flag["reason"]
        )

    def test_anonymous_records_name_nobody(self):
        self.sweep("--workers", "1", "--anonymize")
        self.sweep("--workers", "1,2", "--anonymize", "--resume")
        text = ""
        for name in ("ledger.jsonl", "plan.json"):
            with open(self.path("ledger", name), encoding="utf-8") as file:
                text += file.read()
        for name in (os.uname().nodename, self.data, self.folder, os.path.expanduser("~")):
            self.assertNotRegex(text, rf"(?<!\w){re.escape(name)}(?!\w)")
        self.assertEqual(self.ledger()[1]["dataset"]["path"], "DATASET")
        self.assertIn("DATASET", self.ledger()[1]["environment"]["command"])

    def test_it_can_be_reproduced(self):
        config = self.write(
            "suite.toml", 'workers = [1, 2]\n[[sweep]]\ndata = "jpeg"\n[[sweep]]\ndata = "tensor"\n'
        )
        words = [*CELL, *SHORT, "--dataset", self.data, "--seed", "3"]
        self.call("sweep", "--config", config, *words, "-o", self.path("first"))
        os.remove(config)
        shown = self.call(
            "reproduce", self.path("first"), "-o", self.path("again"), "--dataset", self.path("d")
        ).out
        self.assertIn("feedrate gen " + self.path("d"), shown)
        self.assertIn("--config " + self.path("again", "config-0.toml"), shown)
        self.call(
            "reproduce",
            self.path("first"),
            "-o",
            self.path("again"),
            "--dataset",
            self.path("d"),
            "--run",
        )
        first, again = self.ledger("first"), self.ledger("again")
        self.assertEqual([identity(r) for r in first], [identity(r) for r in again])
        data = [
            [r["dataset"]["manifest_xxh3"] for r in records if r["dataset"]]
            for records in (first, again)
        ]
        self.assertEqual(*data)

    @unittest.skipIf(HAS_GPU, "a GPU is here")
    def test_defaults_of_the_machine_and_the_data_are_said(self):
        few = ("--count", "8", "--classes", "2", "--format", "jpeg", "--image-size", "32")
        self.call("gen", self.path("d"), *few, "--detail", "high")
        words = ("--data", "jpeg", "--dataset", self.path("d"), *SHORT)
        self.call("sweep", *words, "--batch-size", "4", "-o", self.path("r"))
        shown = self.call("reproduce", self.path("r")).out.splitlines()[-1]
        for said in ("--device emulated:a100", "--image-size 32x32", "--detail high"):
            self.assertEqual(shown.count(said), 1, shown)
        self.assertEqual(shown.count("--batch-size"), 1, shown)

    @unittest.skipUnless(os.environ.get("FEEDRATE_TORCH") == "ON", "needs LibTorch")
    def test_a_cpus_batch_is_said_where_its_cores_decided(self):
        cell = ("--device", "cpu", "--model", "resnet18", "--input-size", "32")
        cell += ("--max-warmup-seconds", "0.2", "--min-steps", "2", "--max-seconds", "1")
        for words, batch in (((), "--batch-size"), (("--batch-size", "3"), "--batch-size 3")):
            self.call("sweep", "--data", "synthetic", *cell, *words, *SHORT, "-o", self.path("r"))
            record = self.ledger("r")[0]
            shown = self.call("reproduce", self.path("r")).out
            self.assertEqual(shown.count(batch), 1, shown)
            self.assertIn(f"--batch-size {record['cell']['batch-size']}", shown)
            shutil.rmtree(self.path("r"))

    def test_ceilings_of_before_there_were_pictures_are_made_again_of_noise(self):
        self.sweep("--workers", "1", data="synthetic")
        record = self.ledger()[0]
        os.mkdir(self.path("old"))
        for device, shows, said in (
            ("cpu", {}, 1),
            ("cuda:1", {}, 1),
            ("cpu", {"synthetic": "pictures"}, 0),
            ("emulated:500", {}, 0),
        ):
            with self.subTest(device=device, shows=shows):
                cell = {axis: v for axis, v in record["cell"].items() if axis != "synthetic"}
                old = {**record, "cell": {**cell, "device": device, **shows}}
                self.write("old/ledger.jsonl", json.dumps(old) + "\n")
                shown = self.call("reproduce", self.path("old")).out
                self.assertEqual(shown.count("--synthetic noise"), said, shown)

    def test_other_data_is_not_measured_in_its_place(self):
        pictures = self.path("pictures")
        words = ("--count", "40", "--classes", "2", "--image-size", "64", "--format", "jpeg")
        self.call("gen", self.path("made"), *words)
        shutil.copytree(self.path("made", "jpeg", "64x64"), pictures)
        os.remove(os.path.join(pictures, "files.tsv"))
        self.call("gen", self.path("from"), "--from", pictures, *words)
        own = ("--dataset", pictures, "--data", "jpeg")
        cell = ("--device", "emulated:500", "--batch-size", "4", "--input-size", "64")
        self.call("sweep", *own, *cell, *SHORT, "-o", self.path("own"))
        made = ("--dataset", self.path("from"), "--data", "jpeg", "--image-size", "64")
        self.call("sweep", *made, *cell, *SHORT, "-o", self.path("of-from"))
        lost = sorted(os.listdir(os.path.join(pictures, "class_000")))[0]
        os.utime(os.path.join(pictures, "class_000", lost), (1, 1))
        touched = self.call("reproduce", self.path("own"), "-o", self.path("touched"), "--run")
        self.assertIn("number of pictures and of bytes", touched.err)
        os.remove(os.path.join(pictures, "class_000", lost))
        shutil.rmtree(self.path("from"))
        for ledger, names in (
            ("own", ["39 samples, ", "; then 40 samples, "]),
            ("of-from", ["jpeg/64x64", "39 samples, ", "; then 40 samples, ", "manifest"]),
        ):
            again = self.path(ledger + "-again")
            answer = self.finish(self.start("reproduce", self.path(ledger), "-o", again, "--run"))
            self.assertEqual(answer.code, 1, answer)
            for name in ["is not what was measured", *names]:
                self.assertIn(name, answer.err.splitlines()[-1])
            self.assertFalse(os.path.exists(again), again)

    def test_a_resumed_sweep_is_one_and_its_dataset_can_be_elsewhere(self):
        config = self.write(
            "suite.toml", f'dataset = "{self.data}"\ndata = "tensor"\nworkers = [1]\n'
        )
        words = ["sweep", "--config", config, *CELL, *SHORT, "-o", self.path("first")]
        self.call(*words)
        self.call(*words, "--resume")
        shown = self.call("reproduce", self.path("first"), "--dataset", self.path("d")).out
        self.assertEqual(len(re.findall(r"^feedrate sweep .*", shown, re.M)), 1, shown)
        self.assertIn("--dataset " + self.path("d"), shown)

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
