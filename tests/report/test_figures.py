"""The whole program: every file is there and sound, whatever the ledger holds."""

import os
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

import ledgers
from ledgers import axes, record, repetitions
from report import epoch

try:
    import matplotlib  # noqa: F401

    HAVE_MATPLOTLIB = True
except ImportError:
    HAVE_MATPLOTLIB = False

STEMS = [
    "bars",
    "batch_times",
    "ceiling_heatmap",
    "load_vs_step",
    "stages",
    "throughput_vs_workers",
    "waiting_cost",
]
TABLES = ["files.json", "table.csv", "table.md", "table.tex", "workers.csv"]


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class WaitingCost(unittest.TestCase):
    """The two parts of what the input costs."""

    SHOWN, NOT_SHOWN = (types.SimpleNamespace(is_shown=shown) for shown in (True, False))

    def cell(self, idle, ceiling_waits=0.0):
        run = {
            "imgs_per_s": 500.0,
            "device_idle_fraction": idle,
            "ceiling_imgs_per_s": 1000.0,
            "ceiling_device_rate": {"imgs_per_s": 1000.0 / (1 - ceiling_waits)},
        }
        return types.SimpleNamespace(serious=False, runs=[run])

    def test_what_the_ceiling_waits_too_is_no_part(self):
        per_image = 3600 / epoch.IMAGES
        waits = epoch.hours_waiting(self.cell(0.4)) * per_image
        self.assertAlmostEqual(waits, 0.4 / 500)
        waits = epoch.hours_waiting(self.cell(0.4, ceiling_waits=0.1)) * per_image
        self.assertAlmostEqual(waits, 0.4 / 500 - 0.1 / 1000)
        self.assertEqual(epoch.hours_waiting(self.cell(0.01, ceiling_waits=0.1)), 0)

    def test_a_bar_is_divided_where_its_loss_is_shown(self):
        from report import waiting_cost

        cell = self.cell(0.4)
        waits = epoch.hours_waiting(cell)
        self.assertEqual(
            waiting_cost._parts(cell, waits + 1, self.SHOWN),
            [(waiting_cost.WAITS, waits), (waiting_cost.SLOWER, (waits + 1) - waits)],
        )
        whole = [(waiting_cost.WHOLE, 0.5)]
        self.assertEqual(waiting_cost._parts(cell, 0.5, self.NOT_SHOWN), whole)
        self.assertEqual(waiting_cost._parts(self.cell(None), 0.5, self.SHOWN), whole)


class Program(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="feedrate-report-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.report = os.path.join(self.folder, "report")

    def run_report(
        self, records, *options, tail="", code=0, env=None, extras=("--no-paper", "--no-slides")
    ):
        """The program's (stdout, stderr). With extras=() it also makes what follows from the
        figures: paper and slides."""
        ledgers.write(self.folder, records, tail)
        done = subprocess.run(
            [
                sys.executable,
                os.path.join(ledgers.SCRIPTS, "report"),
                self.folder,
                "--no-html",
                *options,
                *extras,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
        )
        self.assertEqual(done.returncode, code, done.stderr.decode())
        self.assertNotIn(b"Traceback", done.stderr)
        return done.stdout.decode("utf-8", "replace"), done.stderr.decode()

    def path(self, name):
        return os.path.join(self.report, name)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_errors_are_one_line_with_a_remedy(self):
        _, err = self.run_report([], code=1)
        self.assertEqual(err.count("\n"), 1)
        self.assertIn("feedrate sweep", err)
        self.assertFalse(os.path.exists(self.report))

    def test_tables_without_figures(self):
        out, err = self.run_report(repetitions(2), "--no-figures", tail='{"torn')
        self.assertIn("torn", err)
        self.assertIn("jpeg", out)
        self.assertEqual(sorted(os.listdir(self.report)), sorted(["index.md", *TABLES]))

    def test_a_terminal_without_utf8(self):
        env = dict(os.environ, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
        out, _ = self.run_report(repetitions(2), "--no-figures", env=env)
        self.assertIn("(EMULATED DEVICE) , resnet50 ,", out)  # its middle dots


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Figures(Program):
    def png_only(self, records, expected, tail=""):
        self.run_report(records, "--formats", "png", tail=tail)
        found = sorted(n[:-4] for n in os.listdir(self.report) if n.endswith(".png"))
        self.assertEqual(found, sorted(expected))

    def test_every_file_is_there_and_sound(self):
        records = repetitions(2, cells=(("tensor", 900.0), ("jpeg", 400.0)))
        self.run_report(records)
        expected = [f"{s}.{k}" for s in STEMS for k in ("pdf", "svg", "png")]
        self.assertEqual(sorted(os.listdir(self.report)), sorted(expected + ["index.md", *TABLES]))
        for stem in STEMS:
            self.assertTrue(self.content(stem + ".pdf").startswith(b"%PDF"))
            self.assertTrue(self.content(stem + ".png").startswith(b"\x89PNG"))
            svg = self.content(stem + ".svg")
            self.assertIn(b"EMULATED DEVICE", svg)  # text as text
            self.assertIn(b"feedrate 0.1.0", svg)
            self.assertIn(b"emulation not yet compared with a GPU", svg)
            self.assertIn(stem.encode(), self.content("index.md"))
        first = self.content("bars.pdf"), self.content("bars.svg")
        self.run_report(records)
        self.assertEqual(first, (self.content("bars.pdf"), self.content("bars.svg")))

    @unittest.skipUnless(shutil.which("pdffonts"), "no pdffonts; apt-get install poppler-utils")
    def test_pdf_fonts_are_embedded_truetype(self):
        self.run_report(repetitions(2), "--formats", "pdf")
        for stem in STEMS:
            lines = subprocess.check_output(["pdffonts", self.path(stem + ".pdf")]).decode()
            fonts = lines.splitlines()[2:]
            self.assertTrue(fonts)
            for line in fonts:
                self.assertIn("TrueType", line)
                self.assertNotIn("Type 3", line)
                self.assertEqual(line.split()[-5], "yes", line)  # emb

    def test_several_gpus_and_settings_name_the_files(self):
        records = []
        for device in ("emulated:a100", "emulated:v100|1000"):
            for gpus in (1, 2):
                records += repetitions(
                    1, 1000.0 * gpus, cells=(("jpeg", 400.0 * gpus),), device=device, gpus=gpus
                )
        self.run_report(
            records,
            "--formats",
            "svg",
            "--only",
            "throughput_vs_gpus",
            "--only",
            "bars",
            "--only",
            "scaling_efficiency",
        )
        names = {n for n in os.listdir(self.report) if n.endswith(".svg")}
        self.assertEqual(
            names,
            {
                f"{stem}.{device}{more}.svg"
                for device in ("emulated-a100", "emulated-v100-1000")
                for stem, more in (
                    ("bars", ""),
                    ("bars", ".2-gpus"),
                    ("throughput_vs_gpus", ""),
                    ("scaling_efficiency", ""),
                )
            },
        )

    def test_a_changed_ledger_leaves_no_stale_figure(self):
        self.run_report(repetitions(1), "--formats", "png")
        with open(self.path("my_own.png"), "w") as file:
            file.write("mine")
        self.png_only(repetitions(1, cells=()), ["bars", "batch_times", "my_own"])

    def test_edge_cases_draw(self):
        self.png_only(repetitions(1, cells=(("tensor", 1100.0),), workers=0), STEMS)
        failed = record(axes("jpeg"), None, 0, status="failed", error="gone")
        self.png_only([failed], [])
        self.png_only(repetitions(1, cells=()) + [failed], ["bars", "batch_times"])
        bare = repetitions(2)
        for r in bare:
            for key in ("step_ms", "data_wait_ms", "stages", "capacities", "ci95", "device"):
                r.pop(key, None)
        self.png_only(bare, ["bars", "ceiling_heatmap", "throughput_vs_workers", "waiting_cost"])

    def test_missing_cells_and_drift_are_told_in_the_figure(self):
        records = repetitions(2, drift=0.05) + [
            record(axes("jpeg", workers=4), None, n, status="failed") for n in range(2)
        ]
        records[1]["flags"] = [{"name": "throttled", "severity": "serious"}]
        self.run_report(records, "--formats", "svg", "--only", "throughput_vs_workers")
        svg = self.content("throughput_vs_workers.svg").decode()
        for words in (
            "ceiling_drifted: the ceiling moved by +5.0 %",
            "In one repetition a share may be off by about",
            "missing, not zero: 1 cell, failed",
            "serious flag (throttled)",
            "n = 2 repetitions",
            "no interval below 3 repetitions",
        ):
            self.assertIn(words, svg)

    def test_a_figure_says_that_the_ledger_kept_only_the_first_batches(self):
        records = repetitions(1)
        for r in records:
            r["steps"] = 40000
            r["step_ms"]["p99"] = 1234.5
        self.run_report(records, "--formats", "svg")
        for stem in ("batch_times", "load_vs_step"):
            self.assertIn(
                "the first 4 batches of up to 40000", self.content(stem + ".svg").decode()
            )
        batches = self.content("batch_times.svg").decode()
        self.assertIn("p99 1,234", batches)  # of all, not of those drawn
        self.assertNotIn("no batch left out", batches)

    def test_a_cpu_says_what_its_loader_takes(self):
        records = repetitions(1, device="cpu")
        for r in records:
            r["window_s"] = 4.0
            r["environment"]["cpu"] = {"cores": 2}
        self.run_report(records, "--formats", "svg")
        for stem in ("throughput_vs_workers", "bars"):
            self.assertIn("computes for up to 39.4 % of", self.content(stem + ".svg").decode())

    def test_nasty_labels_do_not_break_the_figures(self):
        for nasty in ("_$\\frac{ \x00\x1b[1m \ud800$x$ 100 % &", "<script>alert(1)</script>"):
            records = repetitions(
                1,
                model=nasty,
                precision=nasty,
                cells=((nasty, 400.0),),
                **{"image-size": nasty, "input-size": nasty},
            )
            for r in records:
                r["device"]["name"] = nasty
                r["flags"] = [{"name": nasty, "severity": "serious", "reason": nasty}]
                for stage in r.get("stages") or []:
                    stage["name"] = nasty
            self.run_report(records, "--formats", "svg")
            for name in os.listdir(self.report):
                if name.endswith(".csv"):
                    continue  # plain text: markup means nothing there
                self.assertNotIn(b"<script>", self.content(name), name)


if __name__ == "__main__":
    unittest.main()
