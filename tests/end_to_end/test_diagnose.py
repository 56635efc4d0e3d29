"""What limits one cell, how sure that is, and what would help."""

import errno
import glob
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from forbidden import forbid
from program import ProgramTest, main, program, records_of

SIZE = ["--image-size", "64", "--input-size", "64"]
JPEG = ["--data", "jpeg", *SIZE, "--batch-size", "8"]
CELL = [*JPEG, "--device", "emulated:800", "--workers", "2"]
SLOW_DECODE = ["--budget", "14s", "--plant", "decode=6"]  # 2 workers: 333 images/s of 800
# Shorter than the budget would have them, so that several rounds fit.
BRIEF = [
    *("--warmup-seconds", "0.05", "--max-warmup-seconds", "0.1"),
    *("--min-seconds", "0.1", "--max-seconds", "0.2"),
]
FADVISE = {"x86_64": 221, "aarch64": 223}.get(platform.machine())
RUNGS = [
    "synthetic",
    "device",
    "host",
    "sample",
    "decoded",
    "encoded",
    "none",
    "cold",
    "discard",
    "cpus",
]
FIELDS = {
    *("schema", "cell", "cell_id", "label", "device", "emulated", "rounds", "seconds", "verdict"),
    *("ladder", "waterfall", "slopes", "capacities", "stages", "advice", "patterns"),
    *("runs", "flags", "blocks_failed", "blocks_batch_size", "interrupted"),
}
VERDICT = {
    "names",
    "resources",
    "clear",
    "confidence",
    "suspects",
    "sentence",
    "evidence",
    "agree",
}
LOSS = {"step", "from", "to", "lost_imgs_per_s", "lost_share", "ms_per_step"}
SLOPE = {"place", "kind", "delay_ms", "extra_reads", "withheld", "pairs", "slope", "binds"}
CAPACITY = {"resource", "imgs_per_s", "utilisation", "largest_stage", "largest_share"}
REMEDY = {"remedy", "options", "why", "predicted", "measured", "by_workers", "not_tried"}
STOPPED = {"name": "stopped", "severity": "serious", "reason": "for 12 s", "remedy": "wait"}
LATER_RUNG = "round 1 · (?!synthetic)"  # the ceiling comes first
NUMBER, RANGE = r"([\d,]+)", r"(?:[\d,]+ to [\d,]+|-)"


def unwrapped(text):
    return " ".join(text.split())


def lines_of(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.readlines()


def number(text):
    return float(text.replace(",", ""))


class DiagnoseTest(ProgramTest):
    pictures = None
    of_decode = None

    @classmethod
    def setUpClass(cls):
        if DiagnoseTest.pictures is None:
            DiagnoseTest.pictures = tempfile.mkdtemp(prefix="feedrate-e2e-pictures-")
            unittest.addModuleCleanup(shutil.rmtree, DiagnoseTest.pictures, True)
            for name, count in (("many", "192"), ("few", "8")):
                words = ["--format", "jpeg", "--count", count, "--classes", "4", *SIZE]
                subprocess.run(
                    [program(), "gen", os.path.join(cls.pictures, name), *words],
                    check=True,
                    capture_output=True,
                )
        cls.data = os.path.join(cls.pictures, "many")
        cls.few = os.path.join(cls.pictures, "few")

    def words(self, *more, cell=CELL, data=None):
        return ["diagnose", "--dataset", data or self.data, *cell, *more]

    def diagnose(self, *more, cell=CELL, data=None, **options):
        return self.call(*self.words(*more, cell=cell, data=data), **options)

    def one_line(self, answer):
        """The JSON that is all of stdout."""
        self.assertEqual(answer.out.count("\n"), 1, answer)
        self.assertTrue(answer.out.endswith("\n"), answer)
        return json.loads(answer.out)

    def decode_is_slow(self):
        """(answer, folder) of a diagnosis that many tests look at, with a folder of their own.
        Made once."""
        if DiagnoseTest.of_decode is None:
            folder = os.path.join(self.pictures, "decode")
            shutil.rmtree(folder, True)
            answer = self.diagnose(*SLOW_DECODE, "-o", folder, "--json")
            DiagnoseTest.of_decode = answer, folder
        answer, folder = DiagnoseTest.of_decode
        return answer, shutil.copytree(folder, self.path("out"))

    def rounds(self, name="out"):
        """Whole ones so far; -1 before there is a file."""
        try:
            return len(lines_of(self.path(name, "rounds.jsonl"))) - 1
        except FileNotFoundError:
            return -1


class Answers(DiagnoseTest):
    def test_a_planted_decode_is_named(self):
        answer, _ = self.decode_is_slow()
        found = self.one_line(answer)
        verdict = found["verdict"]
        self.assertEqual((verdict["names"], verdict["resources"]), (["decode"], ["workers"]))
        self.assertTrue(verdict["clear"])
        self.assertGreater(verdict["confidence"], 0.8)
        self.assertIn("decode limits it (workers): ", verdict["sentence"])
        self.assertEqual(verdict["evidence"]["capacities"], "decode")
        slopes = {(s["place"], s["kind"]): s["binds"] for s in found["slopes"]}
        self.assertGreater(slopes["worker", "sleep"], 0.9)
        self.assertLess(slopes["step", "sleep"], 0.5)
        decode = next(s for s in found["stages"] if s["stage"] == "decode")
        self.assertGreater(decode["wall_ms"], 5)
        self.assertLess(decode["cpu_ms"], 4, "what was planted sleeps")
        rates = {r["rung"]: r["imgs_per_s"]["mean"] for r in found["ladder"] if "runs" in r}
        self.assertLess(rates["none"], 1.1 * 2 / 6e-3)
        self.assertLess(rates["encoded"], 1.1 * 2 / 6e-3)
        self.assertGreater(rates["decoded"], 1.3 * rates["encoded"], "it spares the decoding")

    def test_the_json_has_every_field(self):
        answer, folder = self.decode_is_slow()
        found = self.one_line(answer)
        self.assertEqual(set(found), FIELDS)
        self.assertEqual(found["schema"], "feedrate.diagnosis/1")
        self.assertIs(found["emulated"], True)
        self.assertIn("EMULATED", found["device"])
        self.assertEqual(found["cell"]["workers"], 2)
        self.assertEqual(set(found["verdict"]), VERDICT)
        self.assertEqual(set(found["verdict"]["evidence"]), {"ladder", "capacities", "slopes"})
        self.assertEqual([rung["rung"] for rung in found["ladder"]], RUNGS)
        for rung in found["ladder"]:
            fields = {"rung", "left_out"} if "left_out" in rung else {"rung", "imgs_per_s", "runs"}
            self.assertEqual(set(rung) - {"noise"}, fields)
        # A disk that cannot be dropped (tmpfs) has no cold run.
        self.assertLessEqual({r["rung"] for r in found["ladder"] if "left_out" in r}, {"cold"})
        for name, fields in (
            ("waterfall", LOSS),
            ("slopes", SLOPE),
            ("capacities", CAPACITY),
            ("stages", {"stage", "wall_ms", "cpu_ms"}),
            ("advice", REMEDY),
        ):
            self.assertTrue(found[name], name)
            for entry in found[name]:
                self.assertEqual(set(entry), fields, name)
        self.assertEqual({remedy["measured"] for remedy in found["advice"]}, {None})
        with open(os.path.join(folder, "diagnosis.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file), found, "the file says what was printed")

    def test_the_folder_is_whole(self):
        answer, folder = self.decode_is_slow()
        found = self.one_line(answer)
        head, *rounds = map(json.loads, lines_of(folder, "rounds.jsonl"))
        self.assertEqual(head["cell_id"], found["cell_id"])
        self.assertEqual(len(rounds), found["rounds"])
        self.assertEqual(
            set(rounds[0]["rates"]), {r["rung"] for r in found["ladder"] if "runs" in r}
        )
        records = records_of(folder)
        for record in records:
            self.assertIn("planted", [flag["name"] for flag in record["flags"]])
        measured = {r["cell"]["cache"] for r in records if r["cell"]["data"] == "jpeg"}
        self.assertLessEqual({"device", "host", "sample", "encoded", "discard"}, measured)
        self.call("validate", folder)

    def test_the_report_draws_the_waterfall(self):
        _, folder = self.decode_is_slow()
        words = ["report", folder, "--only", "waterfall", "--formats", "svg", "--no-paper"]
        answer = self.finish(self.start(*words))
        if "Python module matplotlib is missing" in answer.err:
            self.skipTest("needs matplotlib: ./scripts/quickstart")
        self.assertEqual(answer.code, 0, answer)
        (figure,) = glob.glob(os.path.join(folder, "report", "waterfall*.svg"))
        self.assertGreater(os.path.getsize(figure), 1000)
        self.call("validate", folder, "--no-drawing")

    def test_nothing_planted_is_compute_bound(self):
        answer = self.diagnose("--budget", "10s")
        self.assertRegex(answer.out, r"(?m)^jpeg .*EMULATED")
        self.assertRegex(
            answer.out,
            rf"(?m)^(likely )?compute-bound(, by elimination)?: {NUMBER} of {NUMBER} img/s, "
            r"[\d.]+ %\s+of the",
        )
        # Beside a build with a sanitizer, the CPUs' work is no longer far from the device's.
        self.assertRegex(
            answer.out, r"(?m)^  (confidence (above 99|\d+) %$|likely: compute \(device\) )"
        )
        for part in (
            "the (three kinds of evidence|evidence that says something) ",
            "ladder ",
            "delayed ",
            "could deliver alone ",
        ):
            self.assertRegex(answer.out, rf"(?m)^  {part}")
        self.assertRegex(answer.out, r"(?m)^  synthetic: the ceiling +\d")
        self.assertRegex(answer.out, r"\d rounds? in \d")
        self.assertRegex(answer.err, r"^diagnosing jpeg.*: about 10 s \(--budget\)\n")
        self.assertEqual(os.listdir(self.folder), [], "without -o nothing is kept")

    def test_a_budget_that_holds_no_pair_gives_no_number(self):
        """Of steps of 0.1 s, a pair of blocks takes 1.8 s."""
        cell = [*JPEG[:-1], "1", "--device", "emulated:10", "--workers", "1"]
        words = self.words(*BRIEF, "--budget", "2s", cell=cell)
        names = ["--budget 2", "holds no pair of blocks: the ladder took ", "; use --budget "]
        self.refused(*words, names=names, code=1, talk=True)

    def test_a_budget_that_is_too_short_says_what_it_can(self):
        answer = self.diagnose("--budget", "2s", "--json")
        self.assertRegex(
            answer.err,
            r"(?m)^feedrate: --budget 2.* s is too short for 6 pairs .*; [\d.]+ (s|min) would",
        )
        found = self.one_line(answer)
        self.assertEqual(found["rounds"], 1)
        self.assertIn(" of the ceiling", found["verdict"]["sentence"])
        self.assertTrue(found["verdict"]["names"])
        for slope in found["slopes"]:
            self.assertEqual(slope["binds"] is None, slope["pairs"] == 1, "one pair tells nothing")
        for suspect in found["verdict"]["suspects"]:
            self.assertNotEqual(suspect["binds"], 0.5, "which stood for what was not measured")
        self.assertEqual({r["imgs_per_s"]["ci95"] is None for r in found["ladder"][:2]}, {True})

    def test_help_tells_of_all_but_what_is_for_tests(self):
        shown = self.call("diagnose", "--help").out
        for option in ("--budget TIME", "--try", "--resume", "--json", "-o"):
            self.assertRegex(shown, rf"(?m)^ +{option}\b")
        self.assertNotIn("plant", shown)


class Advice(DiagnoseTest):
    def test_what_was_not_tried_has_one_number(self):
        _, folder = self.decode_is_slow()
        answer = self.diagnose(*SLOW_DECODE, "-o", folder, "--resume")
        self.assertRegex(answer.out, rf"(?m)^  more workers +{NUMBER}  {RANGE}$")
        self.assertNotIn("measured:", answer.out)
        for line in answer.out.splitlines():
            self.assertLessEqual(len(line), 80, line)
        self.assertNotRegex(answer.out, r"(?m) $", "blanks at a line's end")

    def test_what_was_promised_is_measured(self):
        """In a folder whose diagnosis is whole: its rounds are not measured again."""
        _, folder = self.decode_is_slow()
        rounds, before = lines_of(folder, "rounds.jsonl"), records_of(folder)
        answer = self.diagnose(*SLOW_DECODE, "-o", folder, "--resume", "--try")
        self.assertEqual(lines_of(folder, "rounds.jsonl"), rounds)
        self.assertRegex(answer.out, r"(?m)^  would give +img/s  may be$")
        told = re.search(
            rf"(?m)^  more workers +{NUMBER}  {RANGE}\n +measured: +{NUMBER}  {RANGE}\n"
            r" +--workers (\d+): ",
            answer.out,
        )
        self.assertTrue(told, answer)
        with open(os.path.join(folder, "diagnosis.json"), encoding="utf-8") as file:
            found = json.load(file)
        advice = {remedy["remedy"]: remedy for remedy in found["advice"]}["more workers"]
        self.assertEqual(number(told[1]), round(advice["predicted"]["mean"]))
        self.assertEqual(number(told[2]), round(advice["measured"]["mean"]))
        self.assertEqual(advice["options"], f"--workers {told[3]}")
        self.assertEqual(set(advice["by_workers"]), {"rates", "enough", "enough_ci95"})
        own = next(r for r in found["ladder"] if r["rung"] == "none")["imgs_per_s"]["mean"]
        self.assertGreater(advice["measured"]["mean"], 1.3 * own)

        records = records_of(folder)
        self.assertEqual(records[: len(before)], before)
        tried_runs = [r for r in records[len(before) :] if r["cell"]["workers"] == int(told[3])]
        self.assertGreaterEqual(len(tried_runs), 3)
        self.assertEqual({r["status"] for r in tried_runs}, {"ok"})
        self.assertLessEqual(
            advice["measured"]["mean"], max(r["imgs_per_s"] for r in tried_runs) + 1
        )

        again = self.one_line(self.call("diagnose", "--from", folder, "--json"))
        tried = {remedy["remedy"]: remedy for remedy in again["advice"]}["more workers"]
        for field in ("measured", "by_workers"):
            self.assertEqual(tried[field], advice[field])

        tensors = re.search(r"precached tensors .*? not tried: (.*)$", unwrapped(answer.out))
        self.assertTrue(tensors, answer)
        self.assertIn("tensor-uint8", tensors[1], "the folder holds pictures alone")
        self.call("validate", folder)

        of_rounds = json.loads(rounds[0])["seen"]["runs"]
        self.assertGreaterEqual(found["runs"], of_rounds + len(tried_runs), "those count as well")
        tried_runs[-1]["flags"].append(STOPPED)
        self.write("out/ledger.jsonl", "".join(json.dumps(r) + "\n" for r in records))
        shown = unwrapped(self.call("diagnose", "--from", folder).out)
        self.assertRegex(
            shown,
            r"^DO NOT QUOTE: .*stopped in 1 of \d+ runs \(for 12 s \(tried: more workers\)\)",
        )

    def test_a_signal_says_that_it_was_interrupted(self):
        _, folder = self.decode_is_slow()
        before = self.records_so_far("out")
        answer = self.stop(
            signal.SIGINT,
            lambda: self.records_so_far("out") > before,
            *self.words(*SLOW_DECODE, "-o", folder, "--resume", "--try"),
        )
        self.assertIn("decode limits it", answer.out)
        self.assertEqual(answer.err.count("feedrate: interrupted"), 1, answer)
        self.call("validate", folder)


class Interrupted(DiagnoseTest):
    def told_once(self, answer):
        said = [line for line in answer.err.splitlines() if line.startswith("feedrate: ")]
        stopping = "feedrate: stopping (once more to stop at once)"
        interrupted = "feedrate: interrupted; go on: the same command with --resume"
        self.assertEqual(said, [stopping, interrupted], answer)

    def test_whole_rounds_are_kept_and_used(self):
        cell = [*JPEG, "--device", "emulated:1600", "--workers", "0"]
        words = [*BRIEF, "--budget", "20s", "-o", self.path("out"), "--json"]
        answer = self.stop(
            signal.SIGINT, lambda: self.rounds() == 1, *self.words(*words, cell=cell)
        )
        self.told_once(answer)
        so_far = self.one_line(answer)
        self.assertEqual((so_far["rounds"], so_far["interrupted"]), (1, True))
        kept, records = lines_of(self.path("out", "rounds.jsonl")), self.ledger("out")
        self.assertEqual(len(kept), 2)
        planned = json.loads(kept[0])["rounds"]
        self.assertGreater(planned, 1)
        self.call("validate", self.path("out"))

        found = self.one_line(self.diagnose(*words, "--resume", cell=cell))
        self.assertEqual((found["rounds"], found["interrupted"]), (planned, False))
        rounds = lines_of(self.path("out", "rounds.jsonl"))
        self.assertEqual(rounds[1], kept[1])
        self.assertEqual(len(rounds), 1 + planned)
        self.assertEqual(self.ledger("out")[: len(records)], records)
        identities = [
            (r["cell_id"], r["repetition"]) for r in self.ledger("out") if r["status"] == "ok"
        ]
        self.assertEqual(len(identities), len(set(identities)), "no run is counted twice")
        self.call("validate", self.path("out"))

    def test_before_a_round_is_whole_only_runs_are_kept(self):
        words = [*BRIEF, "--budget", "2s", "-o", self.path("out")]
        answer = self.stop(
            signal.SIGINT, lambda: self.records_so_far("out") >= 2, *self.words(*words)
        )
        self.told_once(answer)
        self.assertEqual(answer.out, "")
        self.assertEqual(self.rounds(), 0)
        self.assertFalse(os.path.exists(self.path("out", "diagnosis.json")))
        records = self.ledger("out")
        self.assertGreaterEqual(len(records), 2)

        found = self.one_line(self.diagnose(*words, "--resume", "--json"))
        self.assertEqual((found["rounds"], self.rounds()), (1, 1))
        self.assertEqual(self.ledger("out")[: len(records)], records)
        self.call("validate", self.path("out"))

    def test_without_a_folder_the_first_round_is_said(self):
        process = self.start(*self.words(*BRIEF, "--budget", "10m"))
        later = next((line for line in process.stderr if re.match(LATER_RUNG, line)), "")
        self.assertTrue(later, "no rung after the ceiling")
        process.send_signal(signal.SIGINT)
        answer = self.finish(process)
        self.assertEqual(answer.code, 128 + signal.SIGINT, answer)
        self.assertRegex(
            answer.out,
            r"\ADO NOT QUOTE: interrupted before the first round was whole\n"
            r"so far: jpeg .*"
            r"(% of its ceiling of [\d,.]+ img/s; the device waited \d+ % of the time"
            r"|: its ceiling is [\d,.]+ img/s, and it was not measured yet)\n\Z",
        )
        self.assertIn(
            "feedrate: interrupted; with -o DIR what is measured is kept, and --resume goes on\n",
            answer.err,
        )


class Rungs(DiagnoseTest):
    """That cannot be measured."""

    def left_out(self, found):
        return {r["rung"]: r["left_out"] for r in found["ladder"] if "left_out" in r}

    def test_a_dataset_that_is_too_small_for_one_leaves_that_out(self):
        words = [*BRIEF, "--budget", "2s", "-o", self.path("out"), "--json"]
        found = self.one_line(self.diagnose(*words, data=self.few))
        left_out = self.left_out(found)
        self.assertEqual(list(left_out), ["cold"])
        self.assertIn("too small for a cold run", left_out["cold"])
        self.call("validate", self.path("out"))
        again = self.one_line(self.diagnose(*words, "--resume", data=self.few))
        took = found.pop("seconds"), again.pop("seconds")
        with self.subTest("a diagnosis that is whole says the same again"):
            self.assertEqual(again, found)
        with self.subTest("and how long its rounds took"):
            self.assertGreater(took[1], took[0] / 2)

    def test_a_page_cache_that_keeps_everything_has_no_cold_rung(self):
        if FADVISE is None:
            self.skipTest("the number of fadvise is not known here")
        kept = {
            "preexec_fn": forbid(FADVISE, errno.EPERM),
            "env": {**os.environ, "FEEDRATE_DROP_CACHES": "no"},
        }
        answer = self.diagnose(*BRIEF, "--budget", "2s", **kept)
        self.assertRegex(
            unwrapped(answer.out),
            r" left out: nothing kept, page cache cold: .*stays in the page cache",
        )
        self.refused(
            *self.words(*BRIEF, "--budget", "2s", "--page-cache", "cold"),
            names=["cold", "stays in the page cache"],
            code=1,
            talk=True,
            **kept,
        )

    def test_a_cold_pass_that_is_shorter_than_the_blocks_is_made_again(self):
        """48 steps of 10 ms: one pass has room for a pair of blocks or two."""
        cell = [*JPEG[:-1], "4", "--device", "emulated:400", "--workers", "2"]
        cell += ["--page-cache", "cold"]
        answer = self.finish(
            self.start(*self.words(*BRIEF, "--budget", "15s", "--json", cell=cell))
        )
        if answer.code == 1 and "page cache" in answer.err:
            self.skipTest("the page cache of this file system cannot be dropped")
        self.assertEqual(answer.code, 0, answer)
        pairs = {s["place"]: s["pairs"] for s in self.one_line(answer)["slopes"]}
        self.assertGreaterEqual(sum(pairs.values()), 6, pairs)
        self.assertLessEqual({"worker", "step"}, set(pairs))

    def test_a_cold_cell_of_too_few_pictures_is_refused_at_once(self):
        self.refused(
            *self.words("--budget", "2s", "--page-cache", "cold", data=self.few),
            names=[self.few, "too small for a cold run"],
            code=1,
        )

    def test_what_fails_in_a_later_round_leaves_the_answer_to_those_before(self):
        data = shutil.copytree(self.data, self.path("data"))
        process = self.start(
            *self.words(*BRIEF, "--budget", "60s", "-o", self.path("out"), "--json", data=data)
        )
        try:
            self.until(process, lambda: self.rounds() == 1)
            head = json.loads(lines_of(self.path("out", "rounds.jsonl"))[0])
            self.assertGreater(head["rounds"], 2)
            for picture in glob.glob(os.path.join(data, "jpeg", "*", "*", "*")):
                os.unlink(picture)
            answer = self.finish(process)
        finally:
            process.kill()
        self.assertEqual(answer.code, 1, answer)
        self.assertRegex(
            answer.err, r"(?m)^feedrate: jpeg.*; the rounds before it give the answer$"
        )
        found = self.one_line(answer)
        self.assertEqual(found["rounds"], len(lines_of(self.path("out", "rounds.jsonl"))) - 1)
        with self.subTest("the next start measures that round again"):
            shutil.rmtree(data)
            shutil.copytree(self.data, data)
            words = [*BRIEF, "--budget", "60s", "-o", self.path("out"), "--json", "--resume"]
            again = self.one_line(self.diagnose(*words, data=data))
            self.assertEqual(again["rounds"], head["rounds"])
            runs = {rung["rung"]: rung.get("runs") for rung in again["ladder"]}
            self.assertEqual(runs["encoded"], again["rounds"], "it failed with the cell alone")

    def test_an_answer_that_cannot_be_written_is_printed(self):
        _, folder = self.decode_is_slow()
        os.unlink(os.path.join(folder, "diagnosis.json"))
        os.mkdir(os.path.join(folder, "diagnosis.json"))
        answer = self.diagnose(*SLOW_DECODE, "-o", folder, "--resume", code=1)
        self.assertIn("decode limits it", answer.out)
        self.assertRegex(answer.err, r"(?m)^feedrate: .*diagnosis\.json")

    def test_loaders_beside_the_steps_are_a_cell_of_their_own(self):
        words = ["--cache", "discard", "--min-seconds", "0.3", "--warmup-seconds", "0.1", "--json"]
        answer = self.call("run", "--dataset", self.data, *CELL, *words)
        record = self.one_line(answer)
        self.assertEqual((record["status"], record["cell"]["cache"]), ("ok", "discard"))
        self.assertGreater(record["imgs_per_s"], 0.5 * 800)
        made = {stage["name"]: stage["items"] for stage in record["stages"]}
        self.assertGreater(made["decode"], 0, "its loaders work, although nobody waits for them")
        self.refused(
            *("run", "--dataset", self.data, *JPEG, "--device", "emulated:800"),
            *("--cache", "discard", "--workers", "0"),
            names=["discard", "--workers 1"],
        )


class BadInput(DiagnoseTest):
    def test_what_is_typed_wrong_is_named(self):
        for more, names in (
            (["--data", "synthetic"], ["stored data", "stored --data"]),
            (["--workers", "1,2"], ["looks at one cell", "make 2"]),
            (["--cache", "host"], ["--cache none"]),
            (["--cache", "discard"], ["--cache none"]),
            (["--resume"], ["--resume", "-o DIR"]),
            (["--budget", "0"], ["--budget 0", "90s"]),
            (["--budget", "-3s"], ["--budget -3s", "90s"]),
            (["--budget", "soon"], ["--budget soon", "90s"]),
            (["--budget", "nan"], ["--budget nan", "90s"]),
            (["--plant", "decode"], ["--plant decode", "decode=1.5"]),
            (["--plant", "nowhere=3"], ["--plant nowhere=3", "all-reduce"]),
            (["--plant", "decode=-1"], ["--plant decode=-1"]),
            (["--plant", "read=2:spike=50"], ["--plant read=2:spike=50"]),
        ):
            with self.subTest(more):
                cell = [*SIZE, "--device", "emulated:800"]
                self.refused(*self.words(*more, cell=cell), names=names)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_ledger_is_diagnosed_as_it_is(self):
        answer, folder = self.decode_is_slow()
        for more, names in (
            (["--workers", "4"], ["--workers", "--where workers=VALUE"]),
            (["--budget", "5s"], ["--budget", "leave it out"]),
        ):
            with self.subTest(more):
                self.refused("diagnose", "--from", folder, *more, names=names)
        found = self.one_line(self.call("diagnose", "--from", folder, "--json"))
        measured = self.one_line(answer)
        for field in ("verdict", "ladder", "slopes", "runs", "flags", "patterns"):
            self.assertEqual(found[field], measured[field], field)

    def swept(self, repetitions, rungs):
        """A ledger such as a sweep writes, in which decoding is slow: those rungs, and the cell."""
        _, folder = self.decode_is_slow()
        records = [r for r in records_of(folder) if r["repetition"] == 0]
        kept = []
        for record in records:
            cell = record["cell"]
            name = "synthetic" if cell["data"] == "synthetic" else cell["cache"]
            is_other = cell["page-cache"] == "cold" or cell["device"] != "emulated:800"
            if is_other or name not in (*rungs, "synthetic", "none"):
                continue
            # What is planted spoils a record. Here it stands for a decoder that is as slow.
            record["flags"] = [f for f in record["flags"] if f["name"] != "planted"]
            record["valid"] = True
            kept += [{**record, "repetition": i} for i in range(repetitions)]
        os.mkdir(self.path("swept"))
        self.write("swept/ledger.jsonl", "".join(json.dumps(r) + "\n" for r in kept))
        return self.path("swept")

    def test_a_sweep_has_the_ladder_and_the_capacities(self):
        folder = self.swept(3, ("host", "decoded", "encoded"))
        found = self.one_line(self.call("diagnose", "--from", folder, "--json"))
        self.assertEqual(found["rounds"], 3)
        self.assertEqual((found["verdict"]["names"], found["verdict"]["clear"]), (["decode"], True))
        self.assertEqual((found["slopes"], found["verdict"]["confidence"]), ([], None))
        rungs = {rung["rung"]: rung for rung in found["ladder"]}
        for name in ("device", "sample", "discard"):
            self.assertEqual(rungs[name]["left_out"], "not in this ledger")
        (own,) = [
            r["imgs_per_s"]
            for r in records_of(folder)
            if (r["repetition"], r["cell"]["data"], r["cell"]["cache"]) == (0, "jpeg", "none")
        ]
        self.assertLessEqual(rungs["none"]["imgs_per_s"]["mean"], own * 1.001)
        self.assertGreater(rungs["none"]["imgs_per_s"]["mean"], own * 0.8)
        steps = [loss["step"] for loss in found["waterfall"]]
        self.assertEqual(steps, ["normalise and copy", "collate and augment", "decode", "read"])

    def test_one_repetition_is_a_look(self):
        folder = self.swept(1, ("decoded", "encoded"))
        found = self.one_line(self.call("diagnose", "--from", folder, "--json"))
        self.assertEqual((found["rounds"], found["verdict"]["clear"]), (1, False))
        self.assertRegex(found["verdict"]["sentence"], "^perhaps decode: ")
        for remedy in found["advice"]:
            self.assertIsNone(remedy["predicted"]["ci95"], remedy)

    def test_what_a_ledgers_runs_saw_is_told(self):
        folder = self.swept(3, ("decoded", "encoded"))
        records = records_of(folder)
        noise = {"name": "noisy_neighbour", "severity": "warning", "reason": "so", "remedy": "end"}
        for record in records:
            record["valid"] = record["cell"]["cache"] != "decoded"
            record["flags"] = [noise] if record["valid"] else [noise, STOPPED]
        again = [record for record in records if record["valid"]][-1:]  # it counts once
        self.write("swept/ledger.jsonl", "".join(json.dumps(r) + "\n" for r in records + again))
        found = self.one_line(self.call("diagnose", "--from", folder, "--json"))
        runs = sum(record["valid"] for record in records)
        self.assertEqual(found["runs"], runs)
        flags = [(flag["name"], flag["runs"]) for flag in found["flags"]]
        self.assertEqual(flags, [("noisy_neighbour", runs)], "nothing rests on the others")
        rungs = {rung["rung"]: rung for rung in found["ladder"]}
        unfit = "what this ledger has of it must not be quoted: stopped"
        self.assertEqual(rungs["decoded"]["left_out"], unfit)
        shown = unwrapped(self.call("diagnose", "--from", folder).out)
        self.assertIn(f"noise in most runs: noisy_neighbour in {runs} of {runs}", shown)

    def test_of_several_cells_one_is_to_be_chosen(self):
        limits = ["--min-seconds", "0.2", "--warmup-seconds", "0.05", "--workers", "1,2"]
        self.call("sweep", "--dataset", self.data, *CELL[:-2], *limits, "-o", self.path("swept"))
        ledger = ["diagnose", "--from", self.path("swept")]
        self.refused(
            *ledger, names=["holds 2 cells, which differ in workers", "--where AXIS=VALUE"]
        )
        chosen = self.call(*ledger, "--where", "workers=1")
        self.assertIn("jpeg 64x64, 1 worker,", chosen.out)
        self.refused(*ledger, "--where", "workers=7", names=["holds no cell of that kind"], code=1)

    def test_jobs_that_ran_beside_each_other_are_no_repetitions(self):
        limits = ["--min-seconds", "0.3", "--warmup-seconds", "0.05", "--copies", "2"]
        cell = ["--dataset", self.data, *CELL, *limits, "-o", self.path("jobs")]
        self.call("jobs", *cell)
        self.assertTrue(any("jobs" in record for record in records_of(self.path("jobs"))))
        alone = ["diagnose", "--from", self.path("jobs")]
        self.refused(*alone, names=["ledger.jsonl", "measured by itself"], code=1)

    def test_a_launchers_processes_are_refused(self):
        """Each would make a diagnosis of its own."""
        self.refused(
            *self.words("--budget", "2s"),
            names=["feedrate diagnose", "torchrun", "without a launcher"],
            env={**os.environ, "RANK": "0", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"},
        )

    def test_a_dataset_that_is_missing_is_named(self):
        none = self.path("none")
        self.refused(*self.words("-o", self.path("out"), data=none), names=none, code=1)
        cell = ["--data", "png", *CELL[2:]]
        self.refused(*self.words(cell=cell), names=["png/64x64", "gen"], code=1)

    def test_a_ledger_that_is_there_wants_resume(self):
        _, folder = self.decode_is_slow()
        before = records_of(folder), lines_of(folder, "rounds.jsonl")
        self.refused(
            *self.words(*SLOW_DECODE, "-o", folder),
            names=["ledger.jsonl", "--resume", "-o DIR"],
            code=1,
        )
        self.assertEqual((records_of(folder), lines_of(folder, "rounds.jsonl")), before)

    def test_a_folder_without_a_diagnosis_is_not_gone_on_with(self):
        for new in ("none", "empty"):
            with self.subTest(new):
                folder = self.path(new)
                if new == "empty":
                    os.mkdir(folder)
                words = ["diagnose", "--dataset", self.data, "-o", folder, "--resume"]
                answer = self.finish(self.start(*words))
                self.assertEqual((answer.code, answer.out), (2, ""), answer)
                line = answer.err.splitlines()[-1]  # what it has chosen stands before
                self.assertIn(folder + ": holds no diagnosis that could go on; give the", line)
        self.assertEqual(os.listdir(self.path("empty")), [])
        self.assertFalse(os.path.exists(self.path("none")))

    def test_another_cells_diagnosis_is_not_gone_on_with(self):
        _, folder = self.decode_is_slow()
        before = records_of(folder), lines_of(folder, "rounds.jsonl")
        cell = [*JPEG[:-1], "16", "--device", "emulated:800", "--workers", "2"]
        self.refused(
            *self.words(*SLOW_DECODE, "-o", folder, "--resume", cell=cell),
            names=["rounds.jsonl", "another cell", "-o DIR"],
            code=1,
        )
        self.assertEqual((records_of(folder), lines_of(folder, "rounds.jsonl")), before)

    def test_other_limits_are_not_mixed_with_those_that_were_measured(self):
        """As of `sweep --resume`."""
        _, folder = self.decode_is_slow()
        for more in (["--min-seconds", "0.7"], ["--seed", "7"]):
            with self.subTest(more):
                self.refused(
                    *self.words(*SLOW_DECODE, "-o", folder, "--resume", *more),
                    names=["ledger.jsonl", more[0].strip("-").replace("-", "_"), more[1]],
                    code=1,
                )

    def test_rounds_that_are_none_are_named(self):
        _, folder = self.decode_is_slow()
        rounds = lines_of(folder, "rounds.jsonl")
        for bad in (
            "{}\n",
            "nonsense\n",
            rounds[1].replace('"pairs":[{', '"pairs":[{"place":1},{'),
        ):
            with self.subTest(bad[:20]):
                self.write("out/rounds.jsonl", rounds[0] + bad)
                self.refused(
                    *self.words(*SLOW_DECODE, "-o", folder, "--resume"),
                    names=["rounds.jsonl, line 2", "is no round"],
                    code=1,
                )


if __name__ == "__main__":
    main()
