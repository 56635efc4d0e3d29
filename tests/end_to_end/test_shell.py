"""The man page and the completions of shells, which the program writes itself."""

import re
import shutil
import subprocess
import unittest

from program import ProgramTest, main

COMMANDS = (
    "gen run sweep diagnose capacity jobs report compare validate reproduce verify list doctor"
    " completion manual"
).split()


class Completion(ProgramTest):
    def completed(self, *words):
        """What bash would offer for the last of the words."""
        script = self.write("completion", self.call("completion", "bash").out)
        line = (
            'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _feedrate;'
            ' printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(
            ["bash", "-euc", line, "bash", script, "feedrate", *words],
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_subcommands_and_options(self):
        self.assertEqual(self.completed("sw"), ["sweep"])
        self.assertEqual(set(self.completed("")), {*COMMANDS, "--help", "--version"})
        self.assertEqual(self.completed("run", "--image-s"), ["--image-size"])
        self.assertIn("--like", self.completed("gen", "--"))
        self.assertNotIn("--like", self.completed("run", "--"))
        self.assertEqual(self.completed("run", "some-fi"), [])  # files are the shell's own

    def test_values_of_axes_also_behind_a_comma(self):
        self.assertEqual(self.completed("run", "--data", "jp"), ["jpeg"])
        self.assertEqual(self.completed("sweep", "--data", "jpeg,te"), ["jpeg,tensor"])
        self.assertEqual(self.completed("sweep", "--loader", "p"), ["pool"])
        self.assertEqual(self.completed("run", "--data", "=", "jp"), ["jpeg"])
        self.assertIn("jpeg", self.completed("run", "--data", "="))
        self.assertEqual(self.completed("completion", ""), ["bash", "zsh"])

    @unittest.skipUnless(shutil.which("zsh"), "no zsh here")
    def test_zsh_takes_its_own(self):
        script = self.write("_feedrate", self.call("completion", "zsh").out)
        done = subprocess.run(["zsh", "-n", script], capture_output=True, encoding="utf-8")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_shell_that_is_not_known(self):
        self.refused("completion", "fish", names=["SHELL", "fish", "bash"])


class Manual(ProgramTest):
    def test_it_has_every_subcommand_and_every_option(self):
        manual = self.call("manual").out.replace("\\-", "-")
        self.assertTrue(manual.startswith(".TH FEEDRATE 1 "))
        for command in COMMANDS:
            self.assertIn(f'.SH "FEEDRATE {command}"', manual)
            section = manual.split(f'.SH "FEEDRATE {command}"')[1].split("\n.SH")[0]
            if f"feedrate {command} --help" in section:
                continue  # a part in Python, which says its options itself
            shown = self.call(command, "--help").out
            for option in set(re.findall(r"(?m)^  (?:-\w,)?(--[\w-]+)", shown)):
                self.assertRegex(section, rf"\.B .*{option}\b")

    @unittest.skipUnless(shutil.which("groff"), "no groff here")
    def test_it_is_a_page_without_a_warning(self):
        done = subprocess.run(
            ["groff", "-man", "-ww", "-Tutf8"],
            input=self.call("manual").out,
            capture_output=True,
            encoding="utf-8",
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        bold_by_overstriking = re.compile("(.)\b\\1")  # as Debian's man macros ask for
        text = bold_by_overstriking.sub(r"\1", done.stdout).replace("\x1b[0m", "")
        self.assertIn("--image-size", text)


if __name__ == "__main__":
    main()
