"""What a person at a terminal sees of `run` and `sweep`."""

import os
import re
import select
import signal
import time
import unittest

from program import CELL, HAS_GPU, PATIENCE, SHORT, ProgramTest, main, open_terminal, program

CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Terminal(ProgramTest):
    def on_terminal(self, columns, *words, **environment):
        """All that the program writes to a terminal of so many columns."""
        ours, theirs = open_terminal(columns)
        child = os.fork()
        if child == 0:
            os.close(ours)
            for descriptor in (0, 1, 2):
                os.dup2(theirs, descriptor)
            os.chdir(self.folder)
            os.execvpe(
                program(), [program(), *words], {**os.environ, "TERM": "xterm", **environment}
            )
        os.close(theirs)
        text, until = b"", time.monotonic() + PATIENCE
        while time.monotonic() < until:
            if not select.select([ours], [], [], 1)[0]:
                continue
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
            if not part:
                break
            text += part
        os.close(ours)
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status), text.decode()

    def test_no_line_of_progress_wraps(self):
        for columns in (40, 80):
            with self.subTest(columns):
                words = self.sweep_words(*SHORT, "--workers", "1,2", output=f"r{columns}")
                code, text = self.on_terminal(columns, *words)
                self.assertEqual(code, 0, text)
                # What is rewritten in place, and the table's rows.
                for line in re.split(r"[\r\n]+", CONTROL.sub("", text)):
                    heads = ("feedrate:", "2 runs", "2 measured", "2000 img/s (", self.folder)
                    heads += ("best: ", "worst: ", "flags: ", "next: ", "DO NOT QUOTE: ", "noise ")
                    if not line.startswith(heads):
                        self.assertLessEqual(len(line), columns, line)
                self.assertRegex(text, r"run +img/s +ceiling")
                text = text.replace("\r", "\n").replace("\x1b[K", "")
                # Beside a busy neighbour a ceiling may be unfit: then no share is shown.
                row = r"(?m)^(\x1b\[3[13]m)? +2 jpeg.* (\d+(\.\d)? %|-)"
                self.assertRegex(text, row)

    def test_elsewhere_each_run_is_a_line(self):
        answer = self.sweep("--workers", "1,2")
        self.assertEqual(len(re.findall(r"(?m)^\[\d/2\] .*: [\d,.]+!? img/s", answer.err)), 2)
        self.assertNotIn("\x1b", answer.err)

    def test_no_color_is_kept(self):
        # A row in yellow or red: its window has fewer steps than were asked for.
        words = self.sweep_words(
            "--min-steps", "5000", "--max-seconds", "0.3", "--warmup-seconds", "0.1", output="a"
        )
        _, coloured = self.on_terminal(80, *words)
        self.assertRegex(coloured, r"\x1b\[3[13]m +1 ")
        words[words.index(self.path("a"))] = self.path("b")
        _, plain = self.on_terminal(80, *words, NO_COLOR="1")
        self.assertNotRegex(plain, r"\x1b\[3")
        self.assertIn("img/s", plain)

    def test_quiet_says_the_result_alone(self):
        answer = self.run_cell("--quiet")
        self.assertEqual(answer.err, "")
        self.assertEqual(len(answer.out.splitlines()[:6]), 6, answer)
        answer = self.sweep("--quiet")
        self.assertEqual((answer.out, answer.err), ("", ""))
        self.assertEqual(len(self.ledger()), 1)

    def test_quiet_says_what_failed(self):
        # Two cells, of which one reads a size that is not there.
        words = self.sweep_words("--quiet", *SHORT, cell=[*CELL, "--image-size", "48,64"])
        answer = self.call(*words, code=1)
        self.assertIn("64x64", answer.err)

    def test_quiet_and_verbose_exclude_each_other(self):
        self.refused("run", "--quiet", "--verbose", names=["--verbose", "--quiet"])

    def test_five_lines_and_every_figure(self):
        answer = self.run_cell()
        keys = [line.split()[0] for line in answer.out.splitlines()[1:6]]
        self.assertEqual(keys, ["throughput", "device", "verdict", "advice", "record"], answer)
        self.assertIn("not kept (-o DIR keeps it)", answer.out)
        answer = self.run_cell("--verbose")
        for key in ("step", "waiting", "stages", "reads", "page cache"):
            self.assertRegex(answer.out, f"(?m)^  {key} ")

    def test_three_repetitions_have_an_interval(self):
        answer = self.run_cell("--repetitions", "3", "-o", self.path("kept"))
        self.assertRegex(answer.out, r"throughput .*95 %.*\(3 repetitions\)")
        self.assertIn(self.path("kept", "ledger.jsonl"), answer.out)
        self.assertEqual([r["role"] for r in self.ledger("kept")], ["cell"] * 3)
        self.assertEqual([r["repetition"] for r in self.ledger("kept")], [0, 1, 2])

    def test_one_run_has_an_interval_of_its_own(self):
        answer = self.run_cell()
        # Beside a busy neighbour a ceiling may be unfit: then the reason is said.
        share = r"% of the ceiling \(95 % within this run: .*, \d+ pairs; "
        self.assertRegex(answer.out, share + "|no share of it: ")

    def test_a_run_that_takes_long_says_what_to_lower(self):
        words = ("--data", "synthetic", "--device", "emulated:20", "--batch-size", "40")
        process = self.start("run", *words)
        try:
            told = next((line for line in process.stderr if "; faster: " in line), "")
        finally:
            process.kill()
            self.finish(process)
        self.assertRegex(
            told, r"^feedrate: a step takes 2 s here: this run .* \d+ s; faster: --batch-size \d+$"
        )
        self.assertNotIn("; faster: ", self.call("run", *words[:2], *CELL, *SHORT).err)

    @unittest.skipIf(HAS_GPU, "a GPU is here")
    def test_the_stand_in_for_a_gpu_is_named(self):
        words = ["run", "--data", "synthetic", *SHORT]
        for more in ((), ("--device", "auto")):
            answer = self.call(*words, *more)
            self.assertIn(
                "feedrate: no GPU here: using emulated:a100 (--device cpu trains for real)\n",
                answer.err,
            )
            self.assertIn("EMULATED", answer.out)
        self.assertNotIn("no GPU", self.call(*words, "--device", "emulated:a100").err)

    @unittest.skipIf(HAS_GPU, "training takes longer than this test waits")
    def test_run_alone_measures_pictures_of_its_own(self):
        os.mkdir(self.path("tmp"))
        answer = self.call("run", *SHORT, env={**os.environ, "TMPDIR": self.path("tmp")})
        self.assertIn("no data is named (--data, --dataset): measuring 128 generated", answer.err)
        self.assertRegex(answer.out, "(?m)^jpeg mixed, 2 workers.*EMULATED")
        self.assertRegex(answer.out, "(?m)^  advice ")
        self.assertEqual(os.listdir(self.path("tmp")), [])
        (gen,) = re.findall("(?m)^  next .* feedrate (gen data/ .*) && feedrate diag", answer.out)
        self.call(*gen.split(), "--count", "8", "--classes", "2")
        self.assertTrue(os.path.exists(self.path("data", "dataset.json")), gen)

    def test_run_alone_can_be_interrupted(self):
        os.mkdir(self.path("tmp"))
        process = self.start("run", env={**os.environ, "TMPDIR": self.path("tmp")})
        until = time.monotonic() + PATIENCE
        while not os.listdir(self.path("tmp")) and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        answer = self.finish(process)
        self.assertEqual(answer.code, 130, answer)
        self.assertIn("feedrate: interrupted\n", answer.err)
        self.assertEqual(os.listdir(self.path("tmp")), [])


if __name__ == "__main__":
    main()
