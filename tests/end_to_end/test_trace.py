"""`feedrate run --trace FILE`: what Perfetto makes of it, and what is refused."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import unittest

from program import CELL, ROOT, SHORT, ProgramTest, main

STEPS, COPIES, FIRST_WORKER, FIRST_OPERATORS = 1, 2, 10, 1000
# Needs no matplotlib.
LIVES = """
import json, sys
from report.ledger import trace, trace_lives

found = trace.read(sys.argv[1:])
low, high, _ = trace_lives.window(found, found.ranks)
lives = trace_lives.lives(found.ranks[0], low + 5e-7, high + 5e-7)
print(json.dumps([[ms for _, ms in life.parts()] for life in lives]))
"""
WITH_TORCH = os.environ.get("FEEDRATE_TORCH") == "ON"


def trace_processor(file):
    """Perfetto's own reader; skips the test where it is not to be had. The package fetches the
    program that reads from the network, which need not be there."""
    if importlib.util.find_spec("perfetto") is None:
        raise unittest.SkipTest("PyPI's perfetto is not installed")
    from perfetto.trace_processor import TraceProcessor

    try:
        return TraceProcessor(trace=file)
    except Exception as error:  # whatever keeps the program from coming or starting
        raise unittest.SkipTest(f"Perfetto's trace processor does not start: {error}") from error


def spans(trace, rank=None, row=None):
    """Events that last, of a rank's row: (start, end, event), in microseconds."""
    found = []
    for event in trace["traceEvents"]:
        fits = rank in (None, event["pid"]) and row in (None, event["tid"])
        if event["ph"] == "X" and fits:
            found.append((event["ts"], event["ts"] + event["dur"], event))
    return found


class Trace(ProgramTest):
    def traced(self, *more, name="trace.json", **options):
        """The record of a run, and its trace."""
        record = self.record("--workers", "2", "--trace", self.path(name), *more, **options)
        with open(self.path(name), encoding="utf-8") as file:
            return record, json.load(file)

    def test_every_step_is_there_and_lasts_as_long_as_was_measured(self):
        record, trace = self.traced()
        moments = {e["name"]: e["ts"] for e in trace["traceEvents"] if e["ph"] == "i"}
        begins, ends = moments["window begins"], moments["window ends"]
        steps = spans(trace, 0, STEPS)
        self.assertEqual([e["args"]["step"] for _, _, e in steps], list(range(len(steps))))
        within = [(start, end) for start, end, _ in steps if begins + 0.0005 < end <= ends + 0.0005]
        self.assertEqual(len(within), record["steps"])
        self.assertAlmostEqual((ends - begins) / 1e6, record["window_s"], delta=1e-3)
        busy = sum(end - start for start, end in within) / (ends - begins)
        self.assertAlmostEqual(busy, 1 - record["device_idle_fraction"], delta=0.02)

    def test_the_trace_is_of_the_cell_and_not_of_its_ceiling(self):
        _, trace = self.traced()
        self.assertTrue(spans(trace, 0, FIRST_WORKER))
        self.assertTrue(spans(trace, 0, COPIES))

    def test_a_workers_stages_follow_each_other(self):
        _, trace = self.traced()
        for worker in (0, 1):
            row = spans(trace, 0, FIRST_WORKER + worker)
            names = {event["name"] for _, _, event in row}
            self.assertLessEqual({"read", "decode", "augment"}, names)
            for (_, ended, first), (start, _, second) in zip(row, row[1:]):
                self.assertLessEqual(ended, start + 0.0005, (first, second))

    def test_ranks_that_are_threads_share_a_file(self):
        _, trace = self.traced("--gpus", "2", "--no-ceiling")
        names = {
            e["pid"]: e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "process_name"
        }
        self.assertEqual(sorted(names), [0, 1])
        for rank, name in names.items():
            self.assertRegex(name, rf"^rank {rank}: .*EMULATED")
            self.assertTrue(spans(trace, rank, STEPS))
        self.assertEqual(os.listdir(self.folder), ["trace.json"])

    def test_a_relative_path_is_where_the_program_was_started(self):
        self.record("--trace", "here.json", "--no-ceiling", data="tensor")
        self.assertTrue(os.path.exists(self.path("here.json")))

    def test_what_cannot_be_written_is_refused_before_anything_is_measured(self):
        for name in ("nowhere/trace.json", "."):
            self.refused(
                *("run", "--data", "jpeg", "--dataset", self.data, *CELL, *SHORT),
                *("--trace", self.path(name)),
                names=[name, "cannot be written"],
                code=1,
            )

    def test_names_are_taken_out_of_the_record(self):
        record, _ = self.traced("--no-ceiling", "--anonymize", name="my secret.json")
        self.assertNotIn("secret", json.dumps(record))

    def test_the_report_reads_the_life_of_every_batch(self):
        record, _ = self.traced("--no-ceiling")
        answer = subprocess.run(
            [sys.executable, "-c", LIVES, self.path("trace.json")],
            env=dict(os.environ, PYTHONPATH=os.path.join(ROOT, "scripts")),
            stdout=subprocess.PIPE,
            encoding="utf-8",
            check=True,
        )
        lives = json.loads(answer.stdout)
        self.assertEqual(len(lives), record["steps"])
        for made, *others in lives:
            self.assertGreater(made, 0)
            self.assertGreaterEqual(min(others), 0)
        mean = sum(life[-1] for life in lives) / len(lives)
        self.assertAlmostEqual(mean, 1e3 * 8 / 2000, delta=0.5)

    def test_the_report_refuses_what_is_no_trace(self):
        with open(self.path("cut.json"), "w", encoding="utf-8") as file:
            file.write('{"displayTimeUnit":"ms","traceEvents":[{"ph":"M"')
        self.refused("report", "cut.json", names=["cut.json", "is cut off"], code=1)
        self.refused("report", "none.json", names=["none.json"], code=1)

    def test_operators_need_a_trace_and_a_device_that_has_some(self):
        words = ("run", "--data", "jpeg", "--dataset", self.data, *CELL, *SHORT)
        self.refused(*words, "--trace-operators", names=["--trace-operators", "--trace FILE"])
        self.refused(
            *(*words, "--trace-operators", "--trace", self.path("trace.json")),
            names=["--trace-operators", "emulated"],
        )

    @unittest.skipUnless(WITH_TORCH, "this build has no LibTorch")
    def test_operators_are_of_steps_behind_the_window(self):
        answer = self.call(
            *("run", "--device", "cpu", "--model", "resnet18", "--batch-size", "2"),
            *("--input-size", "32", "--data", "synthetic", "--no-ceiling", *SHORT),
            *("--max-warmup-seconds", "3", "--max-seconds", "5", "--json"),
            *("--trace", self.path("trace.json"), "--trace-operators"),
        )
        record = json.loads(answer.out)
        with open(self.path("trace.json"), encoding="utf-8") as file:
            trace = json.load(file)
        moments = {e["name"]: e["ts"] for e in trace["traceEvents"] if e["ph"] == "i"}
        found = [s for s in spans(trace) if s[2]["tid"] >= FIRST_OPERATORS]
        names = [event["name"] for _, _, event in found]
        self.assertIn("aten::convolution", names)
        self.assertLess(moments["window ends"], moments["operators begin"])
        steps = [s for s in spans(trace, 0, STEPS) if s[0] >= moments["operators begin"]]
        self.assertEqual(len(steps), 5)
        apart = 5000  # two clocks
        self.assertGreater(min(start for start, _, _ in found), steps[0][0] - apart)
        self.assertLess(max(end for _, end, _ in found), steps[-1][1] + apart)
        within = [s for s in spans(trace, 0, STEPS) if s[1] <= moments["window ends"] + 0.0005]
        self.assertGreaterEqual(len(within), record["steps"])

    @unittest.skipUnless(os.environ.get("FEEDRATE_COUNT_RANGES"), "no NVTX, or a sanitizer")
    def test_a_tool_of_nvtx_is_shown_every_stage_and_step(self):
        tool = {"NVTX_INJECTION64_PATH": os.environ["FEEDRATE_COUNT_RANGES"]}
        counts = self.path("ranges")
        record, trace = self.traced(
            "--no-ceiling", env={**os.environ, **tool, "COUNT_RANGES": counts}
        )
        with open(counts, encoding="utf-8") as file:
            *lines, ended = [line.split() for line in file]
        begun = {name: int(count) for domain, name, count in lines if domain == "feedrate"}
        self.assertEqual(len(begun), len(lines))
        self.assertEqual(sum(begun.values()), int(ended[1]))
        traced = {}
        for event in trace["traceEvents"]:
            traced[event["name"]] = traced.get(event["name"], 0) + (event["ph"] == "X")
        self.assertEqual(begun["submit"], traced["submit"])
        self.assertEqual(begun["wait"], traced["wait"])
        for stage in ("read", "decode", "augment"):
            # what workers made when the run had ended may be in one of them only
            self.assertAlmostEqual(begun[stage], traced[stage], delta=8 * 64, msg=stage)
            self.assertGreaterEqual(begun[stage], 8 * record["steps"], stage)

    def test_perfetto_reads_it(self):
        record, trace = self.traced()
        with trace_processor(self.path("trace.json")) as reader:
            errors = reader.query(
                "select name, value from stats where severity = 'error' and value > 0"
            )
            self.assertEqual([(row.name, row.value) for row in errors], [])
            steps = next(reader.query("select count(*) n from slice where name = 'step'")).n
            self.assertEqual(steps, len(spans(trace, 0, STEPS)))
            self.assertGreaterEqual(steps, record["steps"])
            rows = {row.name for row in reader.query("select name from thread")}
            self.assertLessEqual({"training thread", "device: steps", "worker 1"}, rows)
            counters = {row.name for row in reader.query("select name from counter_track")}
            self.assertTrue(any(re.search("batches ready", name) for name in counters), counters)
            waiting = next(reader.query("select count(*) n from slice where name = 'queue'")).n
            self.assertEqual(waiting, sum(e["ph"] == "b" for e in trace["traceEvents"]))


if __name__ == "__main__":
    main()
