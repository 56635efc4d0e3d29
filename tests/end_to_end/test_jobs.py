"""Several trainings at once on one storage."""

import json
import os
import re
import shutil
import signal
import time

from program import PATIENCE, ROOT, SHORT, SIGNALS, SMALL, ProgramTest, main
from rank_faults import alive

HEAD = "image-size = 48\ninput-size = 48\nbatch-size = 8\nworkers = 1\n"
JPEG = '[[sweep]]\ndata = "jpeg"\ndevice = "emulated:300"\n'
TENSOR = '[[sweep]]\ndata = "tensor"\ndevice = "emulated:500"\n'
PNG = '[[sweep]]\ndata = "png"\ndevice = "emulated:200"\n'
# Long beside the steps, which take 40 ms at most.
LONG = ("--warmup-seconds", "0.2", "--min-seconds", "1.5")


def children_of(pid):
    """Processes that any thread of this one has started."""
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                found += [int(word) for word in file.read().split()]
    except OSError:
        pass  # it, or a thread of it, has just ended
    return found


class Jobs(ProgramTest):
    def words(self, tables, *more):
        suite = self.write("jobs.toml", HEAD + tables)
        return ("jobs", "--config", suite, "--dataset", self.data, *more)

    def kept(self, tables, *more, **options):
        return self.call(*self.words(tables, *LONG, "-o", self.path("ledger"), *more), **options)

    def parts(self):
        """(alone, together) of the ledger's records."""
        records = self.ledger()
        return (
            [r for r in records if not r["jobs"]["together"]],
            [r for r in records if r["jobs"]["together"]],
        )

    def cut_off(self, kind, ending):
        """In a copy of the dataset, every file of a kind but the first and the last: those are
        looked at beforehand."""
        self.data = self.copy_of_data()
        files = []
        for folder, _, names in os.walk(os.path.join(self.data, kind)):
            files += [os.path.join(folder, name) for name in names if name.endswith(ending)]
        for file in sorted(files, key=os.path.basename)[1:-1]:
            os.truncate(file, 100)

    def start_together(self, tables, count, *limits):
        """(the process, its children) once so many jobs run at once."""
        process = self.start(*self.words(tables, *limits, "-o", self.path("ledger")))
        self.addCleanup(process.kill)
        deadline = time.monotonic() + PATIENCE
        children = []
        while self.records_so_far() < count or len(children) < count:
            self.assertIsNone(process.poll(), "ended before its jobs ran together")
            self.assertLess(time.monotonic(), deadline, "its jobs never ran together")
            time.sleep(0.02)
            children = children_of(process.pid)
        return process, children

    def assert_gone(self, children):
        deadline = time.monotonic() + 5
        while any(map(alive, children)):
            self.assertLess(time.monotonic(), deadline, "a job outlives the program")
            time.sleep(0.05)

    def test_two_jobs_that_the_storage_feeds_both_reach_their_rate(self):
        answer = self.kept(JPEG + TENSOR)
        rows = re.findall(
            r"^ +([\d,.]+) +([\d,.]+) +([\d.]+) % +([\d.]+) %  job (\d) \((\w+)", answer.out, re.M
        )
        self.assertEqual([row[4:] for row in rows], [("1", "jpeg"), ("2", "tensor")], answer)
        for row, rate in zip(rows, (300, 500)):
            reached = [float(text.replace(",", "")) for text in row[:4]]
            self.assertAlmostEqual(reached[0], rate, delta=0.05 * rate)
            self.assertAlmostEqual(reached[1], rate, delta=0.05 * rate)
            self.assertAlmostEqual(reached[2], 100, delta=8)
            self.assertAlmostEqual(reached[3], 100, delta=5)
        fairness = re.search(r"^fairness: ([\d.]+), Jain's index", answer.out, re.M)
        self.assertGreater(float(fairness.group(1)), 0.99, answer)
        self.assertRegex(answer.out, r"first to starve: (none; the least is [\d.]+ % of|job \d)")
        self.assertIn("EMULATED", answer.out)
        self.assertRegex(answer.out, r"(?m)^  page cache (warm|as-is)")
        flags = re.findall(r"(?m)^  (?:note|warning) +(\w+): ", answer.out)
        self.assertEqual(flags.count("emulated"), 1, "each once")

        alone, together = self.parts()
        self.assertEqual([r["status"] for r in alone + together], ["ok"] * 4)
        self.assertEqual(
            [r["jobs"] for r in alone], [{"of": 2, "together": False, "base_seed": 0}] * 2
        )
        self.assertEqual([r["cell_id"] for r in alone], [r["cell_id"] for r in together])
        self.assertEqual([r["jobs"]["job"] for r in together], [1, 2])
        self.assertEqual({r["jobs"]["of"] for r in together}, {2})
        self.assertEqual([r["seed"] for r in alone + together], [0, 1, 2, 3])
        self.assertEqual({r["repetition"] for r in alone + together}, {0})
        self.call("validate", self.path("ledger"))

    def test_the_overlap_is_stated(self):
        answer = self.kept(JPEG + TENSOR)
        for rate in (300, 500):
            self.assertIn(
                f"\n{rate} img/s (EMULATED): emulation not yet compared with a GPU\n", answer.out
            )
        said = re.search(r"^overlap: all measured at once for ([\d.]+) % of", answer.out, re.M)
        (overlap,) = {r["jobs"]["overlap"] for r in self.parts()[1]}
        self.assertAlmostEqual(float(said.group(1)), 100 * overlap, delta=0.06)
        for record in self.parts()[1]:
            flagged = "jobs_not_overlapping" in [f["name"] for f in record["flags"]]
            self.assertEqual(flagged, overlap < 0.9)

    def test_copies_read_in_orders_of_their_own(self):
        answer = self.kept(TENSOR, "--copies", "2")
        self.assertIn("copy 2)", answer.out)
        alone, together = self.parts()
        self.assertEqual(len(alone), 1)
        self.assertEqual([(r["jobs"]["copy"], r["seed"]) for r in together], [(1, 1), (2, 2)])

    def test_repetitions_are_interleaved_and_have_intervals(self):
        answer = self.kept(JPEG + TENSOR, "--copies", "2", "--repetitions", "3", "--seed", "7")
        records = self.ledger()
        self.assertEqual({r["status"] for r in records}, {"ok"}, answer)
        of_each = [(r["repetition"], r["jobs"]["together"]) for r in records]
        self.assertEqual(
            of_each, [(n, together) for n in range(3) for together in [False] * 2 + [True] * 4]
        )
        for n in range(3):
            mine = [r for r in records if r["repetition"] == n]
            alone, together = mine[:2], mine[2:]
            self.assertEqual(sorted(r["cell"]["data"] for r in alone), ["jpeg", "tensor"])
            self.assertEqual([r["jobs"]["job"] for r in together], [1, 2, 3, 4])
        self.assertEqual([r["seed"] for r in records], list(range(7, 25)))
        self.assertEqual({r["jobs"]["base_seed"] for r in records}, {7})
        self.call("validate", self.path("ledger"))

        self.assertIn("means of 3 repetitions (95 % intervals)", answer.out)
        rate, share = r"[\d,.]+ \([\d,.]+ to [\d,.]+\)", r"[\d.]+ % \([\d.]+ to [\d.]+\)"
        rows = re.findall(rf"^ +{rate} +{rate} +{share} +{share}  job (\d)", answer.out, re.M)
        self.assertEqual(rows, ["1", "2", "3", "4"], answer)
        self.assertRegex(answer.out, r"(?m)^fairness: [\d.]+ \([\d.]+ to [\d.]+\), Jain's index")
        self.assertRegex(answer.out, r"first to starve: (none|not clear|job \d)")
        self.assertRegex(answer.out, r"at once for at least [\d.]+ % of the longest window of each")
        self.assertRegex(answer.err, r"(?m)^repetition 1 of 3, alone: job \d \(")
        self.assertRegex(answer.err, r"(?m)^repetition 3 of 3, together: job 4 \(")

    def test_one_repetition_does_not_speak_of_any(self):
        answer = self.kept(JPEG + TENSOR)
        self.assertNotIn("repetition", answer.out + answer.err)

    def test_a_bad_job_is_named_and_the_others_go_on(self):
        self.cut_off("tensor-uint8", ".tensor")
        answer = self.kept(JPEG + TENSOR + PNG, code=1)
        self.assertRegex(answer.err, r"alone: job 2 \(tensor.*: failed: .*tensor-uint8/48x48")
        alone, together = self.parts()
        self.assertEqual([r["status"] for r in alone], ["ok", "failed", "ok"])
        self.assertEqual([r["jobs"]["job"] for r in together], [1, 3])
        self.assertEqual({r["status"] for r in together}, {"ok"})
        self.assertEqual({r["jobs"]["of"] for r in together}, {2})
        self.assertRegex(answer.out, r"(?m)^ +- +- +- +-  job 2 ")

    def test_with_one_job_left_nothing_is_shared(self):
        self.cut_off("png", ".png")
        answer = self.kept(JPEG + PNG, code=1)
        self.assertIn("too few jobs are left", answer.err)
        self.assertNotIn("fairness", answer.out)
        self.assertEqual([r["status"] for r in self.ledger()], ["ok", "failed"])

    def test_a_job_that_is_killed_beside_the_others_is_named(self):
        process, children = self.start_together(JPEG + TENSOR + PNG, 3, *LONG)
        os.kill(children[0], signal.SIGKILL)
        answer = self.finish(process)
        self.assertEqual(answer.code, 1, answer)
        self.assertRegex(answer.err, r"together: job \d .*: failed: .*was killed \(SIGKILL\)")
        _, together = self.parts()
        self.assertEqual(sorted(r["status"] for r in together), ["failed", "ok", "ok"])
        lost = next(r for r in together if r["status"] == "failed")
        self.assertIsNone(lost["jobs"]["overlap"])

    def test_a_signal_ends_all_of_them(self):
        for number in SIGNALS:
            with self.subTest(number):
                shutil.rmtree(self.path("ledger"), True)
                process, children = self.start_together(JPEG + TENSOR, 2, *LONG)
                sent = time.monotonic()
                process.send_signal(number)
                answer = self.finish(process)
                self.assertLess(time.monotonic() - sent, 5, answer)
                self.assertEqual(answer.code, 128 + number, answer)
                self.assertIn("interrupted", answer.err)
                self.assert_gone(children)
                self.assertEqual({r["status"] for r in self.parts()[1]}, {"interrupted"})

    def test_a_signal_leaves_what_complete_repetitions_say(self):
        of_one = 4  # records: two jobs, alone and together
        process, _ = self.start_together(JPEG + TENSOR, 2, *SHORT, "--repetitions", "1000")
        deadline = time.monotonic() + PATIENCE
        while self.records_so_far() <= of_one:
            self.assertLess(time.monotonic(), deadline, "the first repetition never ended")
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        answer = self.finish(process)
        self.assertEqual(answer.code, 130, answer)
        self.assertRegex(answer.err, r"interrupted after \d+ of 1000 repetitions")
        self.assertIn("first to starve: ", answer.out)

    def test_jobs_end_with_the_program(self):
        process, children = self.start_together(JPEG + TENSOR, 2, *LONG)
        process.kill()
        self.finish(process)
        self.assert_gone(children)

    def test_each_table_may_name_a_dataset(self):
        other = self.copy_of_data()
        tables = JPEG + JPEG + f'dataset = "{other}"\n'
        suite = self.write("jobs.toml", HEAD + f'dataset = "{self.data}"\n' + tables)
        answer = self.call("jobs", "--config", suite, *SHORT, "-o", self.path("ledger"))
        alone, together = self.parts()
        for records in (alone, together):
            self.assertEqual([r["dataset"]["path"] for r in records], [self.data, other])
        self.assertIn(other, answer.out)
        self.call("validate", self.path("ledger"))
        self.refused(
            "sweep", "--config", suite, "--dry-run", names=["jobs.toml", "dataset", "no axis"]
        )

    def test_one_folder_is_one_dataset_however_it_is_typed(self):
        tables = "".join(
            TENSOR + f'dataset = "{name}"\n' for name in (self.data, self.data + "/./")
        )
        suite = self.write("jobs.toml", HEAD + tables)
        answer = self.call("jobs", "--config", suite, *SHORT, "-o", self.path("ledger"))
        alone, together = self.parts()
        self.assertEqual(len(alone), 1)
        self.assertEqual([r["jobs"]["copy"] for r in together], [1, 2])
        self.assertEqual({r["dataset"]["path"] for r in alone + together}, {self.data})
        self.assertNotIn(self.data, answer.out)

    def test_json_has_the_ledgers_records(self):
        answer = self.kept(JPEG + TENSOR, "--json")
        self.assertEqual([json.loads(line) for line in answer.out.splitlines()], self.ledger())

    def test_what_is_no_several_jobs_is_refused(self):
        for tables, more, names in (
            (JPEG, [], ["feedrate jobs", "make one", "--copies"]),
            (JPEG + PNG, ["--page-cache", "cold"], ["--page-cache cold", "one pass", "direct"]),
            (
                JPEG + '[[sweep]]\ndata = "synthetic"\ndevice = "emulated:100"\n',
                [],
                ["--data synthetic"],
            ),
            (JPEG + PNG, ["--copies", "0"], ["copies"]),
            (JPEG + PNG, ["--repetitions", "0"], ["repetitions"]),
            (JPEG + '[[sweep]]\ndata = "bmp"\n', ["--device", "emulated:100"], ["bmp/48x48"]),
        ):
            with self.subTest(names):
                code = 1 if "bmp/48x48" in names else 2
                self.refused(*self.words(tables, *SHORT, *more), names=names, code=code)
        self.refused(
            *self.words(JPEG + PNG, *SHORT),
            names=["feedrate jobs", "torchrun", "without a launcher"],
            env={**os.environ, "RANK": "0", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"},
        )

    def test_a_bad_device_is_told_before_a_dataset_is_opened(self):
        none = ("--dataset", self.path("none"), *SHORT)
        bad = TENSOR.replace("emulated:500", "emulated:nonsense")
        suite = self.write("jobs.toml", HEAD + JPEG + bad)
        self.refused("jobs", "--config", suite, *none, names=["emulated:nonsense", "; use "])
        both = ("--device", "emulated:300,emulated:nonsense", "--data", "jpeg", *SMALL)
        self.refused("sweep", *both, *none, "-o", self.path("out"), names="emulated:nonsense")

    def test_nothing_else_is_made_of_its_ledger(self):
        self.kept(JPEG + TENSOR)
        self.refused(
            *self.sweep_words(*SHORT, "--resume"),
            names=["ledger.jsonl", "`feedrate jobs`"],
            code=1,
        )
        self.refused("report", self.path("ledger"), names=["`feedrate jobs`", "sweep"], code=1)

    def test_the_projects_own_suite_is_of_jobs(self):
        self.data = self.path("d")
        formats = ["--format", "tensor,png,jpeg,npy", "--container", "files,tar"]
        self.call("gen", self.data, "--count", "64", "--classes", "4", *formats, *SMALL)
        suite = os.path.join(ROOT, "benchmarks", "suites", "jobs.toml")
        where = ["--dataset", self.data, *SMALL, "--device", "emulated:1000"]
        answer = self.call("jobs", "--config", suite, *where, "--dry-run")
        self.assertGreater(len(re.findall(r"^job \d ", answer.out, re.M)), 3, answer)
        self.assertEqual(os.listdir(self.folder), ["d"])


if __name__ == "__main__":
    main()
