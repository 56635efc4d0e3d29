"""How many emulated GPUs a storage feeds. The steps of a device, recorded and replayed."""

import json
import os
import re
import resource
import shutil
import signal
import time

from program import SHORT, SIGNALS, SMALL, ProgramTest, main

CPUS = len(os.sched_getaffinity(0))
WARM = ["--page-cache", "warm", "--image-size", "48", "--input-size", "48", "--batch-size", "8"]
QUICK = [
    *("--warmup-seconds", "0.05", "--max-warmup-seconds", "0.1"),
    *("--min-seconds", "0.2", "--max-seconds", "0.3"),
]
READS = ["--workers", "1", "--io-depth", "1"]  # typed, so that nothing searches over them
FEW = ["--most-gpus", "1", "--no-client"]


class Capacity(ProgramTest):
    def capacity(self, *words, code=0, reads=READS, **more):
        if "--repetitions" not in words:
            words = (*words, "--repetitions", "1")
        answer = self.finish(
            self.start(
                *("capacity", "--dataset", self.data, *WARM, *QUICK, "--decoder", "raw-read"),
                *reads,
                *words,
                **more,
            )
        )
        self.assertEqual(answer.code, code, answer)
        return answer

    def test_as_many_as_are_tried_are_fed_where_little_is_needed(self):
        answer = self.capacity(
            *("--device", "emulated:200", "--most-gpus", "2", "--host-cpu-ms", "0"),
            *("--no-client", "-o", self.path("out")),
        )
        self.assertIn("AU of 90 % or more: at least 2 GPUs", answer.out)
        self.assertRegex(
            answer.err,
            r"(?m)^searching how many GPUs are fed: about \d+ s, longer where the storage is slow$",
        )
        self.assertIn("EMULATED", answer.out)
        self.assertIn("\nAU: the share of the window in which the GPUs compute, ", answer.out)
        self.assertIn("MLPerf Storage takes it over a whole run but for the first step", answer.out)
        self.assertIn("no result of that or any consortium's benchmark", answer.out)
        self.assertIn(
            "reads in flight: 1 in flight (1 worker x depth 1 a GPU), as typed; more was not tried",
            answer.out,
        )
        self.assertFalse(os.path.exists(self.path("out", "reads-in-flight")))
        self.assertNotIn("from memory", answer.out)
        self.assertIn("  page cache warm\n", answer.out)
        self.assertIn("medians of the runs with so many GPUs:\n  GPUs     AU", answer.out)
        flags = re.findall(r"^  (?:note|warning|serious) +(\w+): ", answer.out, re.M)
        self.assertEqual(flags.count("emulated"), 1, "each once")
        records = self.ledger("out")
        self.assertEqual([r["cell"]["gpus"] for r in records], [1, 2])
        self.assertEqual([r["seed"] for r in records], [0, 1], "orders of their own")
        self.assertEqual(
            [r["search"] for r in records], [{"base_seed": 0, "run": n} for n in (0, 1)]
        )
        self.call("validate", self.path("out"))
        again = self.capacity("--device", "emulated:200", "-o", self.path("out"), code=1)
        self.assertIn("already holds results", again.err)
        self.assertNotIn("--resume", again.err)
        cell = ["--data", "jpeg", "--dataset", self.data, *WARM, "--device", "emulated:200"]
        added = self.call("sweep", *cell, "--resume", "-o", self.path("out"), code=1)
        self.assertIn("holds runs of `feedrate capacity`", added.err)

    def test_each_run_of_both_searches_reads_in_an_order_of_its_own(self):
        self.capacity(
            *("--device", "emulated:200", "--most-gpus", "2", "--host-cpu-ms", "5", "--seed", "5"),
            *("--no-client", "-o", self.path("out")),
        )
        records = self.ledger("out")
        self.assertEqual({r["cell"]["host-cpu-ms"] for r in records}, {"0", "5"})
        self.assertEqual([r["seed"] for r in records], list(range(5, 5 + len(records))))

    def test_the_search_without_the_hosts_cpu_repeats_its_runs_as_well(self):
        self.capacity(
            *("--device", "emulated:200", "--most-gpus", "2", "--host-cpu-ms", "5"),
            *("--no-client", "--repetitions", "2", "-o", self.path("out")),
        )
        without = [r for r in self.ledger("out") if r["cell"]["host-cpu-ms"] == "0"]
        self.assertEqual([r["cell"]["gpus"] for r in without], [2, 2])

    def stopped_once(self, ledger, records, *words):
        """Of each record of the ledger whether its run was stopped, where that happened in the
        run after the first `records`."""
        process = self.start(
            *("capacity", "--dataset", self.data, *WARM, "--decoder", "raw-read", *READS),
            *("--device", "emulated:200", "--host-cpu-ms", "0", *words),
            *("--warmup-seconds", "0.05", "--max-warmup-seconds", "0.1", "--min-seconds", "2"),
            *("-o", self.path("out")),
            start_new_session=True,
        )
        self.until(process, lambda: self.records_so_far(ledger) >= records)
        time.sleep(1.2)  # in the next window
        os.killpg(process.pid, signal.SIGSTOP)
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGCONT)
        answer = self.finish(process)
        self.assertEqual(answer.code, 0, answer)
        self.assertNotRegex(answer.out, r"DO NOT QUOTE: .*\bstopped\b")
        return ["stopped" in {f["name"] for f in r["flags"]} for r in self.ledger(ledger)]

    def test_a_run_that_stood_still_is_measured_again(self):
        stopped = self.stopped_once(
            *("out", 1, "--most-gpus", "2", "--no-client", "--repetitions", "1")
        )
        self.assertEqual(stopped, [False, True, False])

    def test_a_run_from_memory_that_stood_still_is_measured_again(self):
        stopped = self.stopped_once(*("out/client", 0, "--most-gpus", "1", "--repetitions", "2"))
        self.assertEqual(stopped, [True, False, False])

    def test_windows_are_as_long_as_usual_where_steps_are_quick(self):
        """A second more than 22 steps; or what was typed."""
        for typed, most in (((), 1 + 22 * 8 / 200), (("--max-seconds", "2.5"), 2.5)):
            output = "typed" if typed else "out"
            self.call(
                *("capacity", "--dataset", self.data, *WARM, *QUICK[:6]),
                *("--decoder", "raw-read", *READS, "--device", "emulated:200", "--no-client"),
                *("--most-gpus", "2", "--repetitions", "1", "--host-cpu-ms", "0"),
                *(*typed, "-o", self.path(output)),
            )
            one, two = (r["limits"]["max_seconds"] for r in self.ledger(output))
            self.assertAlmostEqual(one, most)
            self.assertLess(two, 2 * most)
            self.call("validate", self.path(output))

    def test_none_is_fed_where_more_is_needed_than_can_be_read(self):
        answer = self.capacity(
            *("--device", "emulated:1e9", "--most-gpus", "4", "--host-cpu-ms", "0")
        )
        self.assertIn("AU of 90 % or more: 0 GPUs", answer.out)
        self.assertIn("from memory this machine alone: ", answer.out)
        self.assertIn("what limits beyond: ", answer.out)
        self.assertNotIn("How busy its CPUs were is not known", answer.out)
        self.assertFalse([f for f in os.listdir("/dev/shm") if f.startswith("feedrate-locked-")])

    def test_the_machines_own_limit_counts_what_the_steps_burn(self):
        answer = self.capacity(
            *("--device", "emulated:100", "--most-gpus", "2", "--host-cpu-ms", "20")
        )
        found = re.search(
            r"from memory this machine alone: ([\d,.]+)(?: \(95 %: [\d,.]+ to [\d,.]+\))? img/s "
            r"\(the workers of \d+ GPUs? beside steps of 20 ms of CPU, \d+ samples\), "
            r"enough for (\d+) GPUs? at 90 %: by the rate alone, not tried",
            answer.out,
        )
        self.assertTrue(found, answer)
        of_each_cpu = 8 / 0.020  # images/s: a batch of 8 in 20 ms
        self.assertLess(int(found[2]), 1.2 * CPUS * of_each_cpu / (0.9 * 100), answer)

    def test_what_memory_feeds_is_measured_as_often(self):
        answer = self.capacity(
            *("--device", "emulated:1e9", "--most-gpus", "1", "--host-cpu-ms", "0"),
            *("--repetitions", "3", "-o", self.path("out")),
        )
        self.assertEqual([r["repetition"] for r in self.ledger("out/client")], [0, 1, 2])
        self.assertRegex(
            answer.out, r"this machine alone: [\d,.]+ \(95 %: [\d,.]+ to [\d,.]+\) img"
        )
        # More reads in flight were not tried.
        self.assertNotIn("what limits beyond: the storage", answer.out)

    def test_the_hosts_cpu_time_is_told_beside_none(self):
        """Where it is much of a step."""
        for ms, said in (("5", "at least 1 GPU at 90 %"), ("1", "not searched, as 1 ms are less ")):
            with self.subTest(ms):
                answer = self.capacity("--device", "emulated:200", *FEW, "--host-cpu-ms", ms)
                self.assertIn(f"{ms} ms of CPU on the host", answer.out)
                self.assertIn(f"steps that take no CPU on the host: {said}", answer.out)

    def test_what_a_step_costs_its_host_was_measured(self):
        answer = self.capacity("--device", "emulated:200", *FEW)
        self.assertIn("0.8 ms of CPU on the host", answer.out)

    def test_how_many_reads_are_in_flight_is_searched_for(self):
        answer = self.capacity(
            *("--device", "emulated:200", *FEW, "--seed", "5", "-o", self.path("out")), reads=()
        )
        self.assertRegex(
            answer.out,
            r"(?m)^reads in flight: one read at a time(?: takes [\d.e+-]+ ms)?: [\d,.]+ img/s"
            r"(?: \(a read takes [\d.e+-]+ ms, [\w ]+\))?"
            r"(?:; \d+ in flight \(\d+ workers? x depth \d+ a GPU\): [\d,.]+ img/s)?"
            r", and more (?:gave less than 5 % more(?:, with CPUs .* busy)?|was not tried: .*)$",
        )
        asked = self.ledger("out/reads-in-flight")
        tried = [(int(r["cell"]["workers"]), int(r["cell"]["io-depth"])) for r in asked]
        self.assertEqual(list(dict.fromkeys(tried))[:3], [(1, 1), (1, 2), (1, 4)])
        self.assertEqual({r["cell"]["device"] for r in asked}, {"emulated:inf"})
        self.assertEqual({r["cell"]["host-cpu-ms"] for r in asked}, {"0"})
        for record in self.ledger("out"):
            chosen = (int(record["cell"]["workers"]), int(record["cell"]["io-depth"]))
            self.assertIn(chosen, tried)
            self.assertNotIn(record["seed"], [r["seed"] for r in asked])
        for ledger in ("out", "out/reads-in-flight"):
            self.call("validate", self.path(ledger))
        again = self.capacity("--device", "emulated:200", "-o", self.path("out"), code=1)
        self.assertIn("already holds results", again.err)

    def test_what_was_typed_of_the_reads_in_flight_stays(self):
        for typed, axis, value in (
            (["--workers", "2"], "workers", 2),
            (["--io-depth", "3"], "io-depth", 3),
        ):
            with self.subTest(axis):
                output = self.path(axis)
                words = ("--device", "emulated:200", *FEW, "-o", output)
                self.capacity(*words, *typed, reads=())
                for ledger in (axis, f"{axis}/reads-in-flight"):
                    values = {int(r["cell"][axis]) for r in self.ledger(ledger)}
                    self.assertEqual(values, {value}, ledger)

    def test_of_one_reader_only_workers_are_searched_for(self):
        """They decode beside each other."""
        self.data = self.path("packed")
        sizes = ["--format", "jpeg", "--image-size", "48", "--count", "64", "--classes", "4"]
        made = self.finish(self.start("gen", self.data, *sizes, "--container", "files,hdf5"))
        if "cannot read HDF5" in made.err:
            self.skipTest(made.err)
        self.assertEqual(made.code, 0, made)
        answer = self.capacity(
            *("--container", "hdf5", "--device", "emulated:200", *FEW, "-o", self.path("out")),
            reads=(),
        )
        self.assertRegex(
            answer.out,
            r"(?m)^reads in flight: one at a time, as --container hdf5 has one reader; "
            r"\d+ workers? a GPU: [\d,.]+ img/s, "
            r"and more (?:gave less than 5 % more(?:, with CPUs .* busy)?|was not tried: .*)$",
        )
        tried = [int(r["cell"]["workers"]) for r in self.ledger("out/reads-in-flight")]
        self.assertEqual(list(dict.fromkeys(tried))[:2], [1, 2])

    def test_the_only_stored_size_is_taken(self):
        """As `run` takes it."""
        own = [*WARM[:2], *WARM[4:]]
        cell = [
            "--dataset",
            self.data,
            *own,
            *QUICK,
            *READS,
            "--repetitions",
            "1",
            *FEW,
            "--device",
            "emulated:200",
        ]
        answer = self.call("capacity", *cell)
        self.assertIn("--image-size 48x48, as nothing else is in " + self.data, answer.err)
        self.assertIn("AU of 90 % or more: at least 1 GPU", answer.out)

    def test_of_several_stored_sizes_the_error_lists_them(self):
        data = self.path("two")
        sizes = ["--image-size", "48x48,64x64"]
        self.call("gen", data, "--format", "jpeg", *sizes, "--count", "32", "--classes", "4")
        answer = self.call("capacity", "--dataset", data, *QUICK, *READS, code=1)
        for part in ("has no jpeg/mixed", "jpeg/48x48", "jpeg/64x64", "with --image-size"):
            self.assertIn(part, answer.err)

    def test_storage_that_stalls_ends_the_search_without_a_number(self):
        self.data = self.copy_of_data()
        folder = os.path.join(self.data, "jpeg", "48x48", "class_002")
        victim = os.path.join(folder, sorted(os.listdir(folder))[3])
        for reads, ledger in ((READS, "out"), ((), "searched/reads-in-flight")):
            with self.subTest(ledger):
                process = self.start(
                    *("capacity", "--dataset", self.data, "--page-cache", "as-is", *WARM[2:]),
                    *(*QUICK, "--repetitions", "100", "--device", "emulated:200", *reads),
                    *("--stall-seconds", "1", "-o", self.path(ledger.split("/")[0])),
                )
                self.until(process, lambda ledger=ledger: self.records_so_far(ledger) >= 1)
                os.rename(victim, victim + ".away")
                os.mkfifo(victim)  # opening it never returns
                answer = self.finish(process)
                os.rename(victim + ".away", victim)
                self.assertEqual((answer.code, answer.out), (1, ""), answer)
                last = answer.err.splitlines()[-1]
                self.assertRegex(last, r"^feedrate: .*: stalled: .*--stall-seconds$")

    def test_a_flag_stands_under_the_answer_and_changes_no_exit_code(self):
        """As of `run`: what was asked was measured."""
        few = ("--min-steps", "1000")
        answer = self.capacity(
            *("--device", "emulated:200", "--most-gpus", "1", "--host-cpu-ms", "0", "--no-client"),
            *few,
        )
        self.assertIn("AU of 90 % or more: ", answer.out)
        self.assertRegex(answer.out, r"(?m)^  serious +short_window: ")
        self.run_cell(*few, "--max-seconds", "0.3", "--no-ceiling")

    def test_a_signal_leaves_what_was_measured_and_what_that_shows(self):
        for number in SIGNALS:
            with self.subTest(number):
                shutil.rmtree(self.path("out"), True)
                answer = self.stop(
                    number,
                    lambda: self.records_so_far("out") >= 2,
                    *("capacity", "--dataset", self.data, *WARM, "--decoder", "raw-read", *READS),
                    *("--device", "emulated:200", "--host-cpu-ms", "0", "--most-gpus", "4"),
                    *(*QUICK, "--repetitions", "100", "-o", self.path("out")),
                )
                self.assertIn("feedrate: interrupted\n", answer.err)
                self.assertIn("medians of the runs with so many GPUs:\n", answer.out)
                self.assertRegex(answer.out, r"(?m)^ +1 +[\d.]+% ")
                self.assertRegex(answer.out, r"(?m)^  page cache warm$")
                self.assertTrue(answer.out.startswith("DO NOT QUOTE: interrupted "), answer)
                for share in (90, 95):
                    self.assertRegex(
                        answer.out,
                        rf"(?m)^AU of {share} % or more, so far: (at least|fewer than) \d+ GPU",
                    )
                self.assertNotIn("% or more: ", answer.out)

    def test_a_signal_before_the_first_run_has_ended_leaves_no_table(self):
        answer = self.stop(
            SIGNALS[0],
            lambda: self.records_so_far("out") == 0,
            *("capacity", "--dataset", self.data, *WARM, *READS, "--device", "emulated:200"),
            *("--warmup-seconds", "50", "--max-warmup-seconds", "60", "-o", self.path("out")),
        )
        self.assertIn("feedrate: interrupted\n", answer.err)
        self.assertEqual(answer.out, "")

    def test_a_signal_while_reads_in_flight_are_searched_for_leaves_their_best_rate(self):
        for number in SIGNALS:
            with self.subTest(number):
                shutil.rmtree(self.path("out"), True)
                answer = self.stop(
                    number,
                    lambda: self.records_so_far("out/reads-in-flight") >= 2,
                    *("capacity", "--dataset", self.data, *WARM, *QUICK),
                    *("--device", "emulated:200", "-o", self.path("out")),
                )
                self.assertIn("feedrate: interrupted\n", answer.err)
                self.assertRegex(
                    answer.out,
                    r"\ADO NOT QUOTE: interrupted before the search was over\n"
                    r"so far one GPU's loader got [\d,.]+ img/s \(\d+ workers? x depth \d+\); "
                    r"no GPUs were tried yet\n\Z",
                )
                self.assertGreaterEqual(len(self.ledger("out/reads-in-flight")), 2)

    def test_what_cannot_be_measured_from_memory_is_no_answer(self):
        """Where the data cannot be copied."""

        def no_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

        answer = self.capacity(
            *("--device", "emulated:200", "--most-gpus", "1", "--host-cpu-ms", "0"),
            code=1,
            preexec_fn=no_files,
        )
        self.assertIn("what this machine manages from memory is not known: ", answer.err)
        self.assertIn("AU of 90 % or more: ", answer.out)

    def test_help_shows_the_values_that_hold(self):
        """Not those of `run`."""

        def help_of(command):
            words = " ".join(self.call(command, "--help").out.split())
            # CLI11 shows a default as "=2", from 2.4 on as " [2]".
            return re.sub(r"(--[\w-]+ FLOAT) \[([^\]]*)\]", r"\1=\2", words)

        shown = help_of("capacity")
        for limit in ("max-warmup-seconds FLOAT=2", "min-seconds FLOAT=4, or 22 steps"):
            self.assertIn(f"--{limit} ", shown)
        self.assertIn(
            "--max-seconds FLOAT=1 + min-seconds, or 22 steps; up to 60 where steps are slow ",
            shown,
        )
        for axis, value in (("data", "jpeg"), ("page-cache", "cold"), ("host-cpu-ms", "graph;")):
            self.assertRegex(shown, rf"--{axis} VALUE [^\[]*\[{value}")
        for axis in ("workers", "io-depth"):
            self.assertRegex(shown, rf"--{axis} VALUE [^\[]*\[searched for")
        self.assertIn("--max-seconds FLOAT=1.05 * min-seconds ", help_of("jobs"))
        self.assertIn("--max-seconds FLOAT=120 ", help_of("run"))

    def test_wrong_options_are_named(self):
        for words, error in (
            (["--device", "emulated:200", "--workers", "1,2"], "searches for one kind of cell"),
            (["--device", "emulated:200", "--host-cpu-ms", "-1"], "milliseconds, such as 2.5"),
        ):
            with self.subTest(words):
                answer = self.capacity(*words, code=2)
                self.assertIn(error, answer.err)
        answer = self.call("capacity", "--dataset", self.data, *WARM, "--device", "cpu", code=2)
        self.assertIn("use --device emulated:NAME", answer.err)


class Steps(ProgramTest):
    def test_recorded_steps_are_replayed(self):
        steps = self.path("a.steps")
        self.write("a.steps", "an older recording\n")
        cell = ["--data", "synthetic", *SMALL, "--batch-size", "8", *SHORT]
        self.call(
            *("run", *cell, "--device", "emulated:400", "--host-cpu-ms", "1"),
            *("--record-steps", steps),
        )
        with open(steps, encoding="utf-8") as file:
            self.assertEqual(file.readline(), "feedrate.steps/2\n")
        answer = self.call(
            *("run", *cell, "--device", f"emulated:trace={steps}", "--no-ceiling", "--json")
        )
        record = json.loads(answer.out)
        self.assertAlmostEqual(record["device"]["step_ms"], 20, delta=2)
        self.assertGreaterEqual(record["device"]["host_cpu_ms"], 0.9)
        self.assertIn("EMULATED from its recorded steps", record["device"]["name"])
        self.assertNotIn(" 0 steps", record["device"]["source"])
        self.assertRegex(record["cell"]["device"], "^emulated:trace=[0-9a-f]{16}$")
        words = ["run", *cell, "--device", f"emulated:trace={steps}", "--no-ceiling", "--json"]
        anonymous = self.call(*words, "--anonymize").out
        self.assertEqual(json.loads(anonymous)["cell_id"], record["cell_id"])
        self.assertNotIn(steps, anonymous)
        with open(steps, encoding="utf-8") as file:
            text = file.read()
        one_more = re.sub(r"(?m)^steps\t(\d+)$", lambda n: f"steps\t{int(n[1]) + 1}", text)
        self.write("a.steps", one_more + "20.5\n")
        self.assertNotEqual(json.loads(self.call(*words).out)["cell_id"], record["cell_id"])
        head = re.sub(r"(?ms)^steps\t\d+$.*", "", text)
        long_then_short = ["20"] * 400 + ["1"] * 400  # the window's steps are long
        self.write("a.steps", head + "\n".join(["steps\t800", "step_ms", *long_then_short, ""]))
        flags = {flag["name"] for flag in json.loads(self.call(*words).out)["flags"]}
        self.assertNotIn("harness_bound", flags)
        many = str(4 * len(os.sched_getaffinity(0)))  # whose CPU time this machine has not
        answer = self.call(*words, "--gpus", many, "--host-cpu-ms", "10")
        flags = {flag["name"] for flag in json.loads(answer.out)["flags"]}
        self.assertIn("harness_bound", flags)
        for part in (text[:-1], text[: text.rindex("\n", 0, -1) + 1], text + "20.5\n"):
            self.write("a.steps", part)
            self.refused(*words, names=[steps, "; record it anew: "], code=1)

    def test_what_cannot_be_recorded_or_replayed_is_named(self):
        cell = ["--dataset", self.data, *SMALL, "--batch-size", "8", *SHORT]
        answer = self.call(
            *("run", *cell, "--data", "jpeg", "--device", "emulated:400"),
            *("--record-steps", self.path("b")),
            code=2,
        )
        self.assertIn("--data synthetic", answer.err)
        self.assertFalse(os.path.exists(self.path("b")))
        self.refused(
            *("run", *cell, "--data", "synthetic", "--device", "emulated:400"),
            *("--record-steps", self.folder),
            names=[self.folder, "Is a directory", "name a file"],
            code=1,
        )
        answer = self.call(
            *("run", *cell, "--data", "jpeg", "--device", "emulated:trace=" + self.path("none")),
            code=1,
        )
        self.assertIn("cannot be read", answer.err)


if __name__ == "__main__":
    main()
