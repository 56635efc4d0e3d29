"""Figures of a trace: which batches and which span they show, and files that are no trace."""

import contextlib
import io
import json
import os
import tempfile
import unittest

import ledgers  # noqa: F401  puts the report on the path
from report import cli
from report.figures import timeline
from report.ledger import trace, trace_lives

TRAINING, STEPS, COPIES, WORKER = 0, 1, 2, 10


class Made:
    """A trace of a rank: every batch is made in 4 ms by two workers, lies 2 ms in the queue, is
    copied in 1 ms, waits 1 ms and trains for 8; a batch begins every 10 ms."""

    def __init__(self, rank=0, batches=40, device="NVIDIA T (EMULATED)", longer=()):
        self.events = []
        self.rank = rank
        for tid, name in ((0, "training thread"), (1, "device: steps"), (2, "device: copies")):
            self.name(tid, name)
        self.name(WORKER, "worker 0")
        self.name(WORKER + 1, "worker 1")
        self.add("M", "process_name", 0, args={"name": f"rank {rank}: {device}"})
        for n in range(batches):
            self.batch(n, 10.0 * n, 3.0 if n in longer else 0.0)
        for name, at in (("window begins", 105.0), ("window ends", 10.0 * batches - 50)):
            self.add("i", name, STEPS, ts=1e3 * at, s="p")

    def batch(self, n, at, more):
        for worker in (0, 1):
            row = WORKER + worker
            self.span("read", row, at, 0.5, n)
            self.span("decode", row, at + 0.5, 3.5, n)
        self.queue(n, at + 4, at + 6 + more)
        self.span("wait", TRAINING, at + 5, 1 + more, n)
        self.span("submit", TRAINING, at + 6 + more, 0.5, n)
        self.span("copy", COPIES, at + 6 + more, 1, n)
        self.span("step", STEPS, at + 8 + more, 8 - more, n)

    def add(self, phase, name, tid, **more):
        self.events.append({"ph": phase, "name": name, "pid": self.rank, "tid": tid, **more})

    def name(self, tid, name):
        self.add("M", "thread_name", tid, args={"name": name})

    def span(self, name, tid, start, ms, batch):
        self.add("X", name, tid, ts=1e3 * start, dur=1e3 * ms, args={"batch": batch})

    def queue(self, batch, ready, taken):
        for phase, at in (("b", ready), ("e", taken)):
            self.add(phase, "queue", TRAINING, ts=1e3 * at, args={"batch": batch})
            count = {"batches": int(phase == "b")}
            self.add("C", "batches ready", TRAINING, ts=1e3 * at, args=count)


def text_of(*made, indent=None, other=None):
    whole = {"displayTimeUnit": "ms", "traceEvents": [e for one in made for e in one.events]}
    whole["otherData"] = {"program": "feedrate", **(other or {})}
    return json.dumps(whole, indent=indent)


class TraceFigures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, text, name="trace.json"):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run_report(self, *arguments):
        """(exit code, stdout, stderr)."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = cli.main(list(arguments))
        return code, out.getvalue(), err.getvalue()

    def refused(self, text, *words, more=(), name="trace.json"):
        code, _, err = self.run_report(self.file(text, name), *more)
        self.assertEqual((code, err.count("\n")), (1, 1), err)
        for word in words:
            self.assertIn(word, err)

    def read(self, *made, **more):
        return trace.read([self.file(text_of(*made, **more))])

    def test_both_figures_are_written_beside_the_trace(self):
        path = self.file(text_of(Made()))
        code, out, err = self.run_report(path)
        self.assertEqual(code, 0, err)
        figures = {
            f"trace.{name}.{kind}"
            for name in ("batch_life", "timeline")
            for kind in ("pdf", "svg", "png")
        }
        self.assertEqual(set(os.listdir(self.folder)), figures | {"trace.json"})
        self.assertIn("made 4.00, queued 2.00, to device 1.00, behind step 1.00, step 8.00", out)
        with open(os.path.join(self.folder, "trace.timeline.svg"), encoding="utf-8") as file:
            svg = file.read()
        self.assertIn("EMULATED DEVICE", svg)
        self.assertIn("emulation not yet compared with a GPU", svg)
        self.assertIn("worker 1", svg)

    def test_the_parts_of_a_life_are_the_whole_life(self):
        found = self.read(Made(longer={30}))
        for life in trace_lives.lives(found.ranks[0]):
            self.assertAlmostEqual(sum(ms for _, ms in life.parts()), life.ms, places=4)

    def test_the_median_and_the_longest_are_of_the_window(self):
        # batch 2 is before it; of the others one is longer: its step begins later and lasts longer
        made = Made(longer={2})
        late = next(e for e in made.events if e["name"] == "step" and e["args"]["batch"] == 31)
        late["dur"] += 500.0
        found = self.read(made)
        shown, note = trace_lives.chosen(found, found.ranks)
        self.assertEqual([why for why, _ in shown], ["median of 25", "longest of 25"])
        self.assertEqual(shown[1][1].batch, 31)
        self.assertAlmostEqual(shown[0][1].ms, 16.0)
        self.assertAlmostEqual(shown[1][1].ms, 16.5)
        self.assertEqual(note, "")

    def test_a_batch_may_be_named(self):
        code, out, err = self.run_report(
            self.file(text_of(Made())), "--batch", "7", "--only", "batch_life", "--formats", "svg"
        )
        self.assertEqual(code, 0, err)
        self.assertEqual(out.count("\n"), 1)
        self.assertIn("batch 7:", out)
        self.refused(text_of(Made()), "--batch 99", "no step", more=["--batch", "99"])

    def test_a_batch_that_a_cache_hands_out_again_was_made_once(self):
        made = Made(batches=20)
        again = [dict(e, ts=e["ts"] + 2e5) for e in made.events if e["tid"] < 3 and e["ph"] == "X"]
        made.events += again
        found = self.read(made)
        lives = trace_lives.lives(found.ranks[0])
        self.assertEqual([life.batch for life in lives], [*range(20), *range(20)])
        self.assertAlmostEqual(lives[19].ms, 16.0)
        self.assertAlmostEqual(lives[20].ms, 10.0)  # from when it was taken

    def test_stages_of_the_training_thread_count_where_there_is_no_worker(self):
        made = Made()
        made.events = [
            dict(e, tid=TRAINING if e["tid"] >= WORKER else e["tid"])
            for e in made.events
            if e["ph"] not in "beC" and e["tid"] != WORKER + 1
            if not (e["ph"] == "M" and e["tid"] == WORKER)
        ]
        code, out, err = self.run_report(self.file(text_of(made)), "--formats", "svg")
        self.assertEqual(code, 0, err)
        self.assertIn("made 6.00, queued 0, to device 1.00", out)

    def test_a_timeline_is_ten_steps_in_the_middle_of_the_window(self):
        found = self.read(Made())
        low, high, _ = timeline.span(found, found.ranks)
        steps = found.ranks[0].row(STEPS)
        self.assertEqual(sum(low < end <= high for end in steps.ends), 10)
        begins, ends, _ = trace_lives.window(found, found.ranks)
        self.assertAlmostEqual((low + high) / 2, (begins + ends) / 2, delta=12)
        low, high, _ = timeline.span(found, found.ranks, at=0.1, steps=4)
        self.assertEqual(sum(low < end <= high for end in steps.ends), 4)
        self.assertAlmostEqual((low + high) / 2, 100, delta=10)
        self.refused(text_of(Made()), "--at 99", "no step ran then", more=["--at", "99"])

    def test_operators_are_no_workers(self):
        made = Made(device="")
        made.span("aten::mm", 1000, 3.0, 1.0, 0)
        made.name(1000, "operators: thread 7")
        self.assertEqual(
            [row.name for row in self.read(made).ranks[0].workers], ["worker 0", "worker 1"]
        )
        code, _, err = self.run_report(self.file(text_of(made)), "--formats", "svg")
        self.assertEqual(code, 0, err)

    def test_a_device_may_have_no_name(self):
        made = Made()
        made.events = [e for e in made.events if e["name"] != "process_name"]
        code, _, err = self.run_report(self.file(text_of(made)), "--formats", "svg")
        self.assertEqual(code, 0, err)
        with open(os.path.join(self.folder, "trace.timeline.svg"), encoding="utf-8") as file:
            self.assertNotIn("emulation", file.read())

    def test_several_ranks_of_one_file_or_of_several(self):
        one = self.file(text_of(Made(0), Made(1)), "both.json")
        code, out, err = self.run_report(one, "--formats", "svg")
        self.assertEqual(code, 0, err)
        each = [self.file(text_of(Made(rank)), f"apart.rank{rank}.json") for rank in (0, 1)]
        again = self.run_report(*each, "--formats", "svg")
        self.assertEqual((again[0], again[1]), (0, out), again[2])
        with open(os.path.join(self.folder, "apart.timeline.svg"), encoding="utf-8") as file:
            self.assertIn("rank 1", file.read())
        code, _, err = self.run_report(each[0], each[0])
        self.assertEqual(code, 1)
        self.assertIn("rank 0 is in another of these files, too", err)

    def test_what_was_left_out_is_not_shown_as_idleness(self):
        # rows of at most 60 events: the training thread has 80, workers have 80, so 30 batches
        made = Made()
        rows = {}
        for event in list(made.events):
            if event["ph"] == "X":
                rows.setdefault(event["tid"], []).append(event)
                if len(rows[event["tid"]]) > 60:
                    made.events.remove(event)
        found = self.read(made, other={"most_events_of_a_row": 60, "left_out": 1})
        _, high, note = trace_lives.window(found, found.ranks)
        self.assertLessEqual(high, 300)
        self.assertIn("left out", note)
        self.assertLessEqual(timeline.span(found, found.ranks)[1], 300)

    def test_a_file_in_another_layout_reads_the_same(self):
        lines, pretty = (self.read(Made(), indent=indent).ranks[0] for indent in (None, 2))
        self.assertEqual(lines.row(STEPS).starts, pretty.row(STEPS).starts)
        self.assertEqual(lines.queue, pretty.queue)

    def test_events_that_a_chunk_cuts_are_whole(self):
        before, trace.CHUNK = trace.CHUNK, 997
        self.addCleanup(setattr, trace, "CHUNK", before)
        self.assertEqual(len(self.read(Made()).ranks[0].row(STEPS)), 40)

    def test_what_is_no_trace_is_said_in_a_line(self):
        whole = text_of(Made())
        self.refused("", "is empty")
        self.refused(" \n", "is empty")
        self.refused(whole[: len(whole) // 2], "is cut off")
        self.refused(whole[:-3], "is cut off")
        self.refused('{"a": 1}', "is no trace of feedrate")
        self.refused("[1, 2]", "is no trace of feedrate")
        self.refused('{"traceEvents": [7]}', "is no trace of feedrate")
        self.refused('{"traceEvents": []}', "holds no events")
        self.refused('{"traceEvents": [{"ph": "X", "name": "f", "pid": 0}]}', "no trace")
        other = {"ph": "X", "name": "f", "pid": 0, "tid": 4, "ts": 1, "dur": 2, "args": {}}
        self.refused(
            json.dumps({"traceEvents": [other]}), "is no trace of feedrate: it lacks steps"
        )
        self.refused('{"traceEvents": [{"ph": "X", "ts": NaN}]}', "is")
        self.refused(whole, "has no such rank", more=["--rank", "3"])
        code, _, err = self.run_report(os.path.join(self.folder, "none.json"))
        self.assertEqual((code, err.count("\n")), (1, 1), err)

    def test_a_trace_is_told_from_a_ledger_by_its_content(self):
        self.assertTrue(trace.is_trace(self.file(text_of(Made()), "any-name")))
        self.assertFalse(trace.is_trace(self.file('{"schema":"feedrate.result/3"}\n', "l.json")))
        self.assertFalse(trace.is_trace(self.file("{}", "ledger.jsonl")))
        self.assertFalse(trace.is_trace(self.folder))

    def test_names_in_a_trace_do_nothing_in_a_figure(self):
        made = Made(device="$x_{1}$ <b>\x1b[31m")
        code, _, err = self.run_report(self.file(text_of(made)), "--formats", "svg")
        self.assertEqual(code, 0, err)


if __name__ == "__main__":
    unittest.main()
