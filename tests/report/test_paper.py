"""What a paper takes: figures of one and two columns, LaTeX that compiles as text, and methods that
invent nothing."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from types import SimpleNamespace

from ledgers import axes, read_more, record, repetitions
from report import text
from report.answer import methods
from report.ledger import settings
from report.paper import latex_table
from test_figures import HAVE_MATPLOTLIB, Program
from test_marks import sweep

CONTEXT = SimpleNamespace(ledger_name="x", version="0.1.0")


def methods_of(records):
    return " ".join(
        s for paragraph in methods.paragraphs(settings.group(records), CONTEXT) for s in paragraph
    )


class Latex(unittest.TestCase):
    def test_nothing_acts(self):
        self.assertEqual(
            text.latex(r"\input{x} $a_b$ 5 % & #1 ^~"),
            r"\textbackslash{}input\{x\} \$a\_b\$ 5 \% \& \#1 \textasciicircum{}\textasciitilde{}",
        )
        self.assertEqual(text.latex("1 ± 2 × 3…"), r"1 $\pm$ 2 $\times$ 3\ldots{}")
        self.assertEqual(
            text.latex("--x --- <|>"), r"-{}-x -{}-{}- \textless{}\textbar{}\textgreater{}"
        )
        # else an option of the row's end before it
        self.assertEqual(text.latex("[4pt] *"), "{[}4pt{]} {*}")
        self.assertEqual(text.latex("\x1b\ud800中"), "??")

    def test_the_table_has_a_row_a_cell(self):
        records = sweep(data=("jpeg", "a_b & 50 %"), gpus=(1,))
        table = latex_table.write(settings.group(records))
        rows = [line for line in table.splitlines() if line.endswith(r"\\")]
        self.assertEqual(len(rows), 1 + 3)
        self.assertEqual(len({len(re.findall(r"(?<!\\)&", row)) for row in rows}), 1)
        self.assertEqual(table.count(r"\begin{tabular}"), table.count(r"\bottomrule"))
        self.assertIn(r"400 ! &", table)
        self.assertIn(r"a\_b \& 50 \%", table)

    def test_what_does_not_vary_stands_in_the_caption(self):
        records = sweep(data=("jpeg", "png"), workers=(2,), gpus=(1,), flagged=())
        table = latex_table.write(settings.group(records))
        head = table.split(r"\toprule")[1].split(r"\midrule")[0]
        self.assertNotIn("workers", head)
        self.assertRegex(table, r"\\caption\{.*workers: 2.*\}")
        records += sweep(data=("jpeg", "png"), workers=(4,), gpus=(1,), flagged=())[1:]
        table = latex_table.write(settings.group(records))
        self.assertIn("workers", table.split(r"\toprule")[1].split(r"\midrule")[0])

    def test_a_flag_of_some_rows_is_a_footnote(self):
        table = latex_table.write(
            settings.group(sweep(data=("jpeg", "png"), gpus=(1,), flagged=("jpeg",)))
        )
        (marked,) = [line for line in table.splitlines() if line.strip().startswith("jpeg")]
        (plain,) = [line for line in table.splitlines() if line.strip().startswith("png")]
        self.assertIn(r"\textsuperscript{a!}", marked)
        self.assertNotIn("textsuperscript", plain)
        self.assertRegex(table, r"\\textsuperscript\{a!\}\\,throttled! \(\d of \d runs")
        self.assertIn("! not to be quoted", table)

    def test_a_long_table_is_cut_into_pages_and_loses_nothing(self):
        records = [record(axes("jpeg", workers=w), 400.0, 0) for w in range(90)]
        table = latex_table.write(settings.group(records))
        self.assertEqual(table.count(r"\begin{tabular}"), 3)
        self.assertEqual(len(re.findall(r"^ *jpeg & ", table, re.M)), 90)
        self.assertEqual(len(set(re.findall(r"\\label\{.*\}", table))), 3)


COLUMNS_OF = {  # what such a paper begins with, and how wide its columns are, in points
    "IEEE": (r"\documentclass[conference]{IEEEtran}", 252.0),
    "ACM": (r"\documentclass[sigconf,nonacm]{acmart}", 241.2),
}


@unittest.skipUnless(shutil.which("pdflatex"), "pdflatex is not installed")
class Compiled(unittest.TestCase):
    """What is too wide for its column TeX calls an overfull box."""

    def compiled(self, begin, table):
        text = [
            begin,
            r"\usepackage{booktabs,graphicx,textcomp}",
            r"\title{Title}\author{Author}\begin{document}\maketitle",
            r"\typeout{COLUMN \the\columnwidth}",
            table,
            r"\end{document}",
        ]
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "x.tex"), "w", encoding="utf-8") as file:
                file.write("\n".join(text))
            done = subprocess.run(
                ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"],
                cwd=folder,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=120,
            )
        self.assertEqual(done.returncode, 0, done.stdout[-3000:])
        return done.stdout

    def test_each_table_fits_its_column(self):
        few = sweep(data=("jpeg", "png"), workers=(2, 4), gpus=(1, 2), flagged=("jpeg",))
        long = [record(axes("x" * 200, workers=w), 4e6, n) for w in (1, 2) for n in range(3)]
        for records in (few, long):
            table = latex_table.write(settings.group(records))
            for name, (begin, width) in COLUMNS_OF.items():
                with self.subTest(paper=name, rows=len(records)):
                    said = self.compiled(begin, table)
                    column = float(re.search(r"COLUMN ([\d.]+)pt", said)[1])
                    self.assertAlmostEqual(column, width, delta=3)
                    self.assertNotIn("Overfull \\hbox", said)


class Methods(unittest.TestCase):
    def test_says_what_the_ledger_says(self):
        words = methods_of(sweep(flagged=("jpeg",)))
        for part in (
            "feedrate 0.1.0 (commit 0123abcd)",
            "EMULATED DEVICE",
            "resnet50",
            "batch 256",
            "fp16",
            "224x224",
            "1 and 2 GPUs",
            "OpenCV 4.6.0",
            "Some CPU @ 2 GHz",
            "8 logical CPUs",
            "memory 24684096 kB",
            "kernel Linux 6.1",
            "10,000 samples, mean 112,345 bytes, manifest XXH3-64 0123456789abcdef",
            "at least 1 s",
            "at most 60 s",
            "3 s and 20 steps",
            "shuffled by the seed 7",
            "throttled! 2",
            "2026-11-21",
            "interval",
        ):
            self.assertIn(part, words)

    def test_older_records_have_the_memory_elsewhere(self):
        records = sweep(flagged=())
        for r in records[1:]:
            r["environment"] = dict(r["environment"], memory=None, memory_total="24684096 kB")
        self.assertIn("memory 24684096 kB; kernel", methods_of(records))

    def test_gives_ranges_where_records_differ(self):
        records = sweep(flagged=())
        records[0]["limits"] = dict(records[0]["limits"], min_seconds=5.0)
        records[1]["environment"] = dict(records[1]["environment"], kernel="Linux 6.2")
        words = methods_of(records)
        self.assertIn("at least 3 to 5 s and 20 steps", words)
        self.assertIn("kernel Linux 6.1 and Linux 6.2", words)

    def test_settings_that_differ_in_one_thing_are_one_setting_with_a_list(self):
        records = [record(axes("jpeg", **{"batch-size": b}), 400.0) for b in (32, 64, 128)]
        self.assertIn("resnet50 · batch 32, batch 64 and batch 128 · fp16", methods_of(records))
        records.append(record(axes("jpeg", **{"batch-size": 32, "precision": "fp32"}), 400.0))
        self.assertIn("batch 32 · fp32", methods_of(records))

    def test_leaves_out_what_is_unknown(self):
        words = methods_of(
            [record(axes("jpeg"), 400.0, 0, environment=None, device=None, started_at=None)]
        )
        for part in (
            "kernel",
            "CPU",
            "None",
            "Software",
            "Data:",
            "seed",
            "warmed",
            "began",
            "Flags",
        ):
            self.assertNotIn(part, words)
        self.assertIn("Repetitions: 1.", words)

    def test_a_drift_needs_a_first_and_a_last_ceiling(self):
        self.assertIn("changed by at most +2.0 %", methods_of(repetitions(2, drift=0.02)))
        self.assertNotIn("changed by", methods_of(sweep()))

    def test_names_what_was_lost(self):
        records = sweep(flagged=()) + [
            read_more(record(axes("png"), None, n, status="failed")) for n in range(2)
        ]
        self.assertIn(
            "Repetitions without a result (failed), left out and never counted as zero: 2.",
            methods_of(records),
        )


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Column(Program):
    @staticmethod
    def sweep(gpus=(1, 2)):
        """A figure of each kind, and a kind of data that is not valid."""
        return sweep(data=("jpeg", "png"), workers=(2, 4), gpus=gpus)

    def test_figures_are_one_or_two_columns_wide_and_readable(self):
        self.run_report(self.sweep(), "--formats", "svg", extras=("--no-slides",))
        names = sorted(os.listdir(self.path("paper")))
        stems = {n[:-4] for n in os.listdir(self.report) if n.endswith(".svg")}
        self.assertEqual(
            names,
            sorted(
                [f"{s}{wide}.{k}" for s in stems for wide in ("", ".wide") for k in ("pdf", "svg")]
                + ["figures.tex", "methods.md", "methods.tex"]
            ),
        )
        for name in (n for n in names if n.endswith(".svg")):
            svg = self.content(os.path.join("paper", name)).decode()
            width = "504pt" if name.endswith(".wide.svg") else "239.76pt"
            self.assertIn(f'width="{width}"', svg)
            self.assertIn("EMULATED DEVICE", svg)
            sizes = [
                float(size)
                for size in re.findall(r"font(?:-size)?: ?(?:bold |\d+ )?([\d.]+)px", svg)
            ]
            self.assertTrue(sizes)
            self.assertGreaterEqual(min(sizes), 6.99, name)
            self.assertLessEqual(max(sizes), 9.2, name)

    def test_captions_say_what_the_column_leaves_out(self):
        words = ("--formats", "svg", "--only", "stages")
        self.run_report(self.sweep(), *words, extras=("--no-slides",))
        captions = self.content("paper/figures.tex").decode()
        self.assertIn(r"\includegraphics{{stages}.pdf}", captions)
        self.assertIn(r"the cell carries a serious flag (throttled)", captions)
        self.assertIn("EMULATED DEVICE", captions)

    @unittest.skipUnless(shutil.which("pdffonts"), "no pdffonts; apt-get install poppler-utils")
    def test_fonts_are_embedded_truetype(self):
        self.run_report(self.sweep(gpus=(1,)), "--formats", "svg", extras=("--no-slides",))
        for name in (n for n in os.listdir(self.path("paper")) if n.endswith(".pdf")):
            fonts = (
                subprocess.check_output(["pdffonts", self.path("paper/" + name)])
                .decode()
                .splitlines()[2:]
            )
            self.assertTrue(fonts)
            for line in fonts:
                self.assertIn("TrueType", line)
                self.assertEqual(line.split()[-5], "yes", line)  # emb

    def test_an_earlier_papers_figures_go(self):
        old = {"stages.2-gpus.pdf", "stages.2-gpus.wide.pdf"}
        self.run_report(self.sweep(), "--formats", "svg", extras=("--no-slides",))
        self.assertLessEqual(old, set(os.listdir(self.path("paper"))))
        self.run_report(self.sweep(gpus=(1,)), "--formats", "svg", extras=("--no-slides",))
        self.assertFalse(old & set(os.listdir(self.path("paper"))))


if __name__ == "__main__":
    unittest.main()
