"""The whole program: every file is there and sound, whatever the ledger holds."""

import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from dataclasses import replace

import ledgers
from ledgers import axes, read_more, record, repetitions
from report.claims import claims, epoch
from report.figures import figures
from report.figures.context import Context
from report.ledger import settings
from report.look import style

try:
    import matplotlib  # noqa: F401

    HAVE_MATPLOTLIB = True
except ImportError:
    HAVE_MATPLOTLIB = False

STEMS = ["latency", "share", "stages", "throughput_vs_workers"]
TABLES = ["files.json", "table.csv", "table.md", "table.tex", "workers.csv"]


def over_workers(count=1, **changes):
    """As repetitions(), of three worker counts."""
    return repetitions(count, **changes) + [
        r
        for workers in (4, 8)
        for r in repetitions(count, **{**changes, "workers": workers})
        if r["role"] == "cell"
    ]


class Waiting(unittest.TestCase):
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
        records = over_workers(2, cells=(("tensor", 900.0), ("jpeg", 400.0)))
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
        first = self.content("stages.pdf"), self.content("stages.svg")
        self.run_report(records)
        self.assertEqual(first, (self.content("stages.pdf"), self.content("stages.svg")))

    @unittest.skipUnless(shutil.which("pdffonts"), "no pdffonts; apt-get install poppler-utils")
    def test_pdf_fonts_are_embedded_truetype(self):
        self.run_report(over_workers(2), "--formats", "pdf")
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
            "stages",
        )
        names = {n for n in os.listdir(self.report) if n.endswith(".svg")}
        self.assertEqual(
            names,
            {
                f"{stem}.{device}{more}.svg"
                for device in ("emulated-a100", "emulated-v100-1000")
                for stem, more in (
                    ("stages", ""),
                    ("stages", ".2-gpus"),
                    ("throughput_vs_gpus", ""),
                )
            },
        )

    def test_a_changed_ledger_leaves_no_stale_figure(self):
        self.run_report(over_workers(), "--formats", "png")
        self.assertIn("stages.png", os.listdir(self.report))
        with open(self.path("my_own.png"), "w") as file:
            file.write("mine")
        self.png_only(repetitions(1, cells=()), ["my_own"])

    def test_edge_cases_draw(self):
        one_count = [stem for stem in STEMS if stem != "throughput_vs_workers"]
        self.png_only(repetitions(1, cells=(("tensor", 1100.0),), workers=0), one_count)
        failed = record(axes("jpeg"), None, 0, status="failed", error="gone")
        self.png_only([failed], [])
        self.png_only(repetitions(1, cells=()) + [failed], [])
        bare = over_workers(2)
        for r in bare:
            for key in ("step_ms", "data_wait_ms", "stages", "capacities", "ci95", "device"):
                r.pop(key, None)
        self.png_only(bare, ["share", "throughput_vs_workers"])

    def test_workers_that_do_not_vary_leave_the_axis_to_what_does(self):
        records = repetitions(1)
        for depth in (4, 16):
            records += [r for r in repetitions(1, **{"io-depth": depth}) if r["role"] == "cell"]
        del records[1]  # the cell without an io-depth
        self.run_report(records, "--formats", "svg", "--only", "throughput_vs_workers")
        svg = self.content("throughput_vs_workers.svg").decode()
        for words in (">Throughput against io-depth: a look:", ">io-depth<", ">16<", ">jpeg<"):
            self.assertIn(words, svg)

    def test_missing_cells_and_drift_are_told_in_the_figure(self):
        records = repetitions(2, drift=0.05, cells=(("jpeg", 400.0), ("png", 300.0))) + [
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

    def test_a_cpu_says_what_its_loader_takes(self):
        records = over_workers(device="cpu")
        for r in records:
            r["window_s"] = 4.0
            r["environment"]["cpu"] = {"cores": 2}
        self.run_report(records, "--formats", "svg")
        svg = self.content("throughput_vs_workers.svg").decode()
        words = " ".join(re.findall("<text[^>]*>([^<]*)</text>", svg))
        self.assertIn("computes for up to 39.4 % of", words)

    def test_nasty_labels_do_not_break_the_figures(self):
        for nasty in ("_$\\frac{ \x00\x1b[1m \ud800$x$ 100 % &", "<script>alert(1)</script>"):
            records = over_workers(
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


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Media(unittest.TestCase):
    """Every figure of a ledger, drawn in each medium."""

    @classmethod
    def setUpClass(cls):
        from report.look import typeface

        typeface.use(typeface.cut())
        records = [
            read_more(r, gpus=r["cell"]["gpus"])
            for gpus in (1, 2)
            for r in over_workers(
                3, gpus=gpus, cells=(("jpeg", 400.0 * gpus), ("png", 300.0 * gpus))
            )
        ]
        found = settings.group(records)
        context = Context("x/ledger.jsonl", "0.1.0", claims=claims.of(found))
        cls.pages = {}
        for plan in figures.plan(found):
            for medium in (style.SHEET, style.COLUMN, style.WIDE):
                page = cls.draw(plan, replace(context, medium=medium))
                if page:
                    cls.pages[plan.name, medium.name] = page

    @staticmethod
    def draw(plan, context):
        import matplotlib

        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(style.rc(context.medium))
            module = importlib.import_module("report.figures." + plan.module)
            return module.draw(plan.setting, plan.gpus, context)

    def test_each_medium_has_each_figure(self):
        names = {name for name, _ in self.pages}
        self.assertLessEqual({"throughput_vs_workers", "throughput_vs_gpus", "stages"}, names)
        self.assertEqual(len(self.pages), 3 * len(names))
        for (_, medium), page in self.pages.items():
            self.assertEqual((page.bare, page.narrow), (medium != "sheet", medium == "column"))
            width = {"sheet": 10.0, "column": 3.33, "wide": 7.0}[medium]
            self.assertAlmostEqual(page.figure.get_figwidth() / page.scale, width)

    def test_no_legend_lies_over_what_is_drawn(self):
        legends = 0
        for key, page in self.pages.items():
            renderer = page.figure.canvas.get_renderer()
            for ax in page.figure.axes:
                inside = ax.get_window_extent(renderer)
                for legend in page.figure.legends:
                    legends += 1
                    box = legend.get_window_extent(renderer)
                    self.assertGreaterEqual(box.y0, inside.y1 - 1, key)
                if ax.get_legend():
                    legends += 1
                    box = ax.get_legend().get_window_extent(renderer)
                    self.assertGreaterEqual(box.y0, inside.y1 - 1, key)
        self.assertGreater(legends, 0)


class Colours(unittest.TestCase):
    def test_a_colour_has_one_meaning(self):
        kinds = {look.colour for look in (*style.KINDS.values(), style.OTHER)}
        stages = [*style.STAGES.values()]
        stages += [style.NORMALISE, style.COPY, style.STORAGE, style.SUBMIT, style.STEP]
        badges = [colour for _, colour in style.TAGS.values()]
        others = [*stages, *badges, *style.READINGS]
        self.assertEqual(len(set(others)), len(others))
        for one in others:
            for kind in kinds:
                far = sum((a - b) ** 2 for a, b in zip(parts(one), parts(kind))) ** 0.5
                self.assertGreater(far, 40, (one, kind))


def parts(colour):
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


class Registry(unittest.TestCase):
    def test_a_figure_is_one_row(self):
        self.assertEqual(len(figures.NAMED), len(figures.FIGURES))
        for figure in figures.FIGURES:
            self.assertIn(
                figure.counts, (figures.FIRST, figures.EVERY, figures.OVER, figures.DIAGNOSIS)
            )
            self.assertFalse(figure.sentence.endswith("."), figure.name)

    @unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
    def test_its_module_has_two_functions(self):
        for name in figures.NAMED:
            module = importlib.import_module("report.figures." + name)
            for function, takes in ((module.claim, 2), (module.draw, 3)):
                self.assertEqual(len(inspect.signature(function).parameters), takes, name)


if __name__ == "__main__":
    unittest.main()
