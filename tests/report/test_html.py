"""index.html: its numbers are the ledger's, its lines lead back there, and it stands alone."""

import base64
import hashlib
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import ledgers
import payloads
from ledgers import axes, paired, record, repetitions, second
from report import (
    claims,
    derived,
    html_cells,
    html_page,
    html_records,
    ledger,
    settings,
    storage,
    thin,
)

try:
    import plotly  # noqa: F401

    HAVE_PLOTLY = True
except ImportError:
    HAVE_PLOTLY = False


def gpus_and_workers():
    records = []
    for gpus in (1, 2, 4):
        for workers in (0, 2, 4):
            records += repetitions(
                3,
                1000.0 * gpus,
                gpus=gpus,
                workers=workers,
                cells=(("tensor", 900.0 * gpus), ("jpeg", 200.0 * gpus * (workers or 0.5))),
            )
    return second(records)


class Page(unittest.TestCase):
    """Builds pages in a folder of their own."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="feedrate-report-")
        self.addCleanup(shutil.rmtree, self.folder)

    def data(self, records, tail=""):
        """What the page holds, before it is written."""
        path = ledgers.write(self.folder, records, tail)
        read = ledger.read(path, lambda text: None)
        return html_page._data(
            settings.group(read),
            read,
            derived.Context("x/ledger.jsonl", "0.1.0"),
            path,
            1,
            self.fail,
        )

    def build(self, records, tail=""):
        path = ledgers.write(self.folder, records, tail)
        read = ledger.read(path, lambda text: None)
        page = os.path.join(self.folder, "index.html")
        with open(page, "w", encoding="utf-8", newline="") as file:
            file.write(
                html_page.build(
                    settings.group(read),
                    read,
                    derived.Context("x/ledger.jsonl", "0.1.0"),
                    path,
                    self.fail,
                )
            )
        return page


class Numbers(Page):
    def test_every_cell_leads_to_its_lines(self):
        records = gpus_and_workers()
        data = self.data(records)
        self.assertEqual(len(data["cells"]), sum(len(s["cells"]) for s in data["settings"]))
        for cell in data["cells"]:
            lines = [data["records"][n]["line"] for n in cell["records"]]
            self.assertTrue(lines)
            kinds = {(records[n - 1]["role"], records[n - 1]["cell_id"]) for n in lines}
            self.assertEqual(len(kinds), 1)
            self.assertEqual(cell["row"][-1], ", ".join(map(str, lines)))
        self.assertEqual(
            {n for cell in data["cells"] for n in cell["records"] + cell["others"]},
            set(range(len(records))),
        )

    def test_points_carry_the_number_of_their_cell(self):
        data = self.data(gpus_and_workers())
        seen = set()
        for setting in data["settings"]:
            for figure in setting["figures"]:
                for trace in (
                    t
                    for panel in figure["panels"]
                    for t in panel["data"]
                    if t["type"] == "scatter" and "customdata" in t and figure["stem"] != "heat_map"
                ):
                    for y, number in zip(trace["y"], trace["customdata"]):
                        cell = data["cells"][number]
                        seen.add(figure["stem"])
                        if (
                            figure["stem"].startswith("throughput")
                            and y is not None
                            and trace.get("yaxis") != "y2"
                        ):
                            runs = [data["records"][n]["rate"] for n in cell["records"]]
                            # Over GPUs stands the cell chosen, less the bias of choosing.
                            self.assertAlmostEqual(
                                y / (sum(runs) / len(runs)),
                                1,
                                places=6 if figure["stem"].endswith("workers") else 2,
                            )
        self.assertEqual(
            seen,
            {
                "throughput_vs_workers",
                "stages",
                "disk_or_cpu",
                "bandwidth",
                "throughput_vs_gpus",
                "scaling_efficiency",
            },
        )
        self.assertIn("heat_map", [f["stem"] for f in data["settings"][0]["figures"]])

    def test_a_try_that_was_replaced_is_shown_and_not_counted(self):
        lost, good = (
            record(axes("jpeg"), None, status="failed", error="gone"),
            record(axes("jpeg"), 400.0),
        )
        (cell,) = self.data([lost, good])["cells"]
        self.assertEqual((cell["records"], cell["others"]), ([1], [0]))

    def test_a_ceiling_without_runs_leads_to_the_records_that_name_it(self):
        data = self.data([record(axes("jpeg"), 250.0, ceiling_imgs_per_s=500.0)])
        (ceiling,) = [c for c in data["cells"] if c["ceiling"]]
        self.assertTrue(ceiling["recorded"])
        self.assertEqual(ceiling["records"], [0])

    def test_a_ceiling_of_pairs_leads_to_the_records_that_hold_it(self):
        data = self.data(paired(2, cells=(("jpeg", 400.0), ("png", 200.0))))
        (ceiling,) = [c for c in data["cells"] if c["ceiling"]]
        self.assertEqual((ceiling["in_pairs"], ceiling["recorded"]), (True, False))
        self.assertEqual(ceiling["records"], [0, 1, 2, 3])

    def test_missing_cells_are_missing_and_never_zero(self):
        records = second(
            repetitions(2)
            + [record(axes("png"), None, n, status="failed", error="gone") for n in range(2)]
        )
        data = self.data(records)
        (png,) = [c for c in data["cells"] if c["name"].startswith("png")]
        self.assertTrue(png["missing"])
        self.assertEqual(png["row"][5], "missing: failed")
        self.assertIsNone(png["keys"][5])
        number = data["cells"].index(png)
        crosses = 0
        for trace in (
            t for f in data["settings"][0]["figures"] for p in f["panels"] for t in p["data"]
        ):
            if trace["type"] == "bar":
                self.assertNotIn(
                    0, [x for x, n in zip(trace["x"], trace["customdata"]) if n == number]
                )
            elif number in trace.get("customdata", []) and trace["mode"] in ("markers", "text"):
                crosses += 1
        self.assertGreaterEqual(crosses, 3)
        tile = next(t for t in data["settings"][0]["tiles"] if t["cell"] == number)
        self.assertEqual((tile["rate"], tile["share"]), ("missing: failed", None))
        self.assertIn("gone", data["settings"][0]["losses"][0]["words"])

    def test_invalid_cells_carry_their_mark_everywhere(self):
        records = second(repetitions(2))
        records[1]["flags"] = [
            {"name": "throttled", "severity": "serious", "reason": "hot", "remedy": "cool it"}
        ]
        data = self.data(second(records))
        (number,) = [n for n, c in enumerate(data["cells"]) if c["invalid"]]
        figures = {f["stem"]: f["panels"][0]["data"] for f in data["settings"][0]["figures"]}
        line = next(
            t for t in figures["throughput_vs_workers"] if number in t.get("customdata", [])
        )
        self.assertEqual((line["text"], line["marker"]["symbol"]), (["!"], ["square-open"]))
        self.assertTrue(figures["heat_map"][0]["text"][0].endswith("!"))
        for stem in ("stages", "disk_or_cpu", "bandwidth"):
            words = [
                t["text"] for t in figures[stem] if t["type"] == "scatter" and t["mode"] == "text"
            ]
            self.assertTrue(all(w[0].endswith("!") for w in words), words)
        tile = next(t for t in data["settings"][0]["tiles"] if t["cell"] == number)
        self.assertEqual(tile["invalid"], "throttled")
        self.assertEqual(data["records"][1]["flags"], [["throttled", "serious", "hot", "cool it"]])
        self.assertIn("cool it", data["settings"][0]["warnings"][0]["words"])

    def test_a_share_of_an_invalid_ceiling_is_marked_wherever_it_stands(self):
        records = second(repetitions(2))
        for r in records:
            if r["role"] == "ceiling":
                r["flags"] = [{"name": "harness_bound", "severity": "serious"}]
        data = self.data(second(records))
        (cell,) = [c for c in data["cells"] if not c["ceiling"]]
        self.assertFalse(cell["invalid"])
        self.assertRegex(dict(cell["facts"])["of the ceiling"], r"^40\.0 % .*!$")
        self.assertNotIn("!", dict(cell["facts"])["images/s"])
        (setting,) = data["settings"]
        (tile,) = [t for t in setting["tiles"] if t["share"] is not None]
        self.assertEqual(tile["share_words"], "40.0 % of the ceiling ! ceiling: harness_bound")
        self.assertEqual(tile["verdict"], "", "nothing is claimed of it")
        figures = {f["stem"]: f["panels"][0]["data"] for f in setting["figures"]}
        (words,) = [t["text"] for t in figures["stages"] if t.get("mode") == "text"]
        self.assertTrue(words[0].endswith(" !"))
        hovers = [
            h
            for traces in figures.values()
            for t in traces
            for h in t.get("hovertext", [])
            if "of the ceiling" in h
        ]
        self.assertTrue(hovers)
        for hover in hovers:
            self.assertRegex(hover, r"of the ceiling( \([^<]*\))? !<br>")
            self.assertIn("! ceiling: harness_bound", hover)

    def test_an_efficiency_beside_an_invalid_cell_is_marked(self):
        records = second(
            repetitions(2, gpus=1) + repetitions(2, 2000.0, gpus=2, cells=(("jpeg", 700.0),))
        )
        records[1]["flags"] = [{"name": "throttled", "severity": "serious"}]
        data = self.data(second(records))
        figures = {f["stem"]: f["panels"][0]["data"] for f in data["settings"][0]["figures"]}
        line = next(
            t for t in figures["scaling_efficiency"] if t.get("text") and t["meta"] != "ceiling"
        )
        self.assertEqual(
            (line["text"], line["marker"]["symbol"]), (["!", "!"], ["square-open"] * 2)
        )
        self.assertIn("% of linear", line["hovertext"][1])
        self.assertRegex(line["hovertext"][1], "of linear[^<]*!<br>! at 1 GPU: throttled")
        top = next(
            t for t in figures["scaling_efficiency"] if t.get("text") and t["meta"] == "ceiling"
        )
        self.assertEqual(top["text"], ["", ""])
        facts = [dict(c["facts"]) for c in data["cells"] if not c["ceiling"]]
        self.assertTrue(all(f["scaling efficiency"].endswith("!") for f in facts))

    def test_a_fastest_cell_that_is_not_valid_stands_for_nothing(self):
        records = repetitions(1, workers=2) + repetitions(1, workers=4, cells=(("jpeg", 800.0),))
        records[4]["flags"] = [{"name": "throttled", "severity": "serious"}]
        tiles = [
            t for t in self.data(records)["settings"][0]["tiles"] if t["title"].startswith("jpeg")
        ]
        self.assertEqual(
            [(t["where"], bool(t["invalid"])) for t in tiles],
            [("stored at 500x375, 2 workers", False)],
        )

    def test_storage_bytes_that_the_kernel_does_not_tell_are_unknown(self):
        records = second(repetitions(1))
        known = settings.group(records)[0].cells[0]
        self.assertEqual((storage.files_rate(known), storage.storage_rate(known)), (2.5e7, 2e7))
        for r in records:
            r["monitors"]["storage_read_bytes"] = -1
        cell = settings.group(records)[0].cells[0]
        self.assertIsNone(storage.storage_rate(cell))
        for r in records:
            r["monitors"]["storage_read_bytes"] = 0
        self.assertEqual(storage.storage_rate(settings.group(records)[0].cells[0]), 0.0)
        # one run of the cell is not all of them
        del records[1]["monitors"]["storage_read_bytes"]
        self.assertEqual(records[1]["role"], "cell")
        self.assertIsNone(storage.storage_rate(settings.group(records)[0].cells[0]))

    def test_what_a_cache_serves_is_no_reading(self):
        for cache, known in (("none", True), ("encoded", False), ("sample", False), (None, False)):
            records = second(repetitions(1, cache=cache))
            for r in records:
                r["dataset"] = {"mean_bytes": 1000} if r["role"] == "cell" else None
            cell = settings.group(records)[0].cells[0]
            rates = [
                rate(cell)
                for rate in (storage.files_rate, storage.storage_rate, storage.needed_rate)
            ]
            self.assertEqual([rate is not None for rate in rates], [known] * 3, cache)
            (of_page,) = [c for c in self.data(records)["cells"] if not c["ceiling"]]
            self.assertEqual("from files" in dict(of_page["facts"]), known)
            self.assertEqual(
                "bandwidth" in [f["stem"] for f in self.data(records)["settings"][0]["figures"]],
                known,
            )

    def test_decoding_is_no_reading(self):
        records = second(repetitions(1))
        for r in records:
            r["stages"] = [s for s in r.get("stages", []) if s["name"] == "decode"]
        self.assertIsNone(storage.files_rate(settings.group(records)[0].cells[0]))

    def test_the_record_is_there_to_the_digit(self):
        records = repetitions(1)
        records[0]["seed"] = 2**63 + 1
        records[0]["step_ms"]["raw"] = [1.25] * 40
        data = self.data(records)
        first = data["records"][0]
        fields = dict(
            zip(data["shapes"][first["shape"]], (data["texts"][text] for text in first["fields"]))
        )
        self.assertEqual(fields["seed"], "9223372036854775809")
        self.assertEqual(json.loads(fields["cell"]), records[0]["cell"])
        self.assertIn("(40 numbers)", fields["step_ms"])
        self.assertNotIn(ledger.LINE, fields)

    def test_odd_types_break_nothing(self):
        for odd in (None, 7, "x", [], {}, [1], [None], {"a": []}, 10**400, True):
            records = second(repetitions(1))
            for r in records:
                for key in (
                    "flags",
                    "monitors",
                    "ranks",
                    "dataset",
                    "environment",
                    "limits",
                    "started_at",
                    "error",
                ):
                    r[key] = odd if key != "flags" or not isinstance(odd, (int, str, bool)) else []
                if isinstance(odd, dict) or odd is None:
                    r["step_ms"] = r["data_wait_ms"] = odd
            self.data(records)


class Thinning(unittest.TestCase):
    def test_no_spike_is_lost(self):
        source = random.Random(5)
        for count in (1, 7, 100, 101, 5000):
            values = [source.lognormvariate(1, 0.2) for _ in range(count)]
            spikes = sorted(source.sample(range(count), min(5, count)))
            for n in spikes:
                values[n] *= 50
            places, kept = thin.min_max(values, 100)
            self.assertLessEqual(len(kept), 100)
            self.assertEqual([values[p] for p in places], kept)
            self.assertEqual(places, sorted(set(places)))
            self.assertEqual(list(itertools.accumulate(thin.steps_of(places))), places)
            self.assertEqual((min(kept), max(kept)), (min(values), max(values)))
            for n in range(50 if count > 100 else 0):
                inside = values[n * count // 50 : (n + 1) * count // 50]
                self.assertIn(max(inside), kept)
                self.assertIn(min(inside), kept)

    def test_unknown_stays_unknown(self):
        self.assertEqual(thin.min_max([1, None, "x", 2], 10), ([0, 1, 2, 3], [1, None, None, 2]))
        self.assertEqual(thin.min_max([None] * 50, 10), ([], []))
        monitors = html_records.described(
            second([dict(record(axes("jpeg"), 9.0), **{ledger.LINE: 1})])
        )[0][0]["series"]
        self.assertIsNone(monitors["lists"]["disk_read_bytes_per_s"][1][-1])
        self.assertNotIn("psi_memory_some", monitors["lists"])


@unittest.skipUnless(HAVE_PLOTLY, "plotly is not installed")
class Document(Page):
    def text(self, *what):
        with open(self.build(*what), encoding="utf-8", newline="") as file:
            return file.read()

    def test_the_policy_names_the_scripts_and_the_style_and_nothing_else(self):
        text = self.text(gpus_and_workers())
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text).group(1)
        self.assertIn("default-src 'none'", policy)
        self.assertIn("connect-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        self.assertEqual(re.findall(r"(?:https?:|\*|'self'|blob:)", policy), [])
        found = [re.findall(r"'sha256-([^']*)'", part) for part in policy.split(";")[1:3]]
        scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
        styles = re.findall(r"<style>(.*?)</style>", text.split("<script>")[0], re.S)
        self.assertEqual((len(scripts), len(styles)), (2, 1))
        for hashes, parts in zip(found, (scripts, styles + [""])):
            self.assertEqual(
                hashes,
                [base64.b64encode(hashlib.sha256(p.encode()).digest()).decode() for p in parts],
            )

    def test_payloads_stay_within_their_block(self):
        self.assertGreaterEqual(len(set(payloads.ALL)), 100)
        records = repetitions(1)
        records[1]["environment"]["command"] = payloads.ALL
        records[1]["flags"] = [
            {"name": p, "severity": p, "reason": p, "remedy": p} for p in payloads.ALL
        ]
        text = self.text(records)
        block = re.search(
            r'<script type="application/json" id="report-data">([^<]*)</script>', text
        ).group(1)
        self.assertTrue(block.isascii())
        self.assertEqual(set(block) & set("<>&\n\r\x7f"), set())
        data = json.loads(block)
        second_record = data["records"][1]
        commands = data["texts"][
            second_record["fields"][data["shapes"][second_record["shape"]].index("environment")]
        ]
        self.assertIn("</script><script>window.owned=1;alert(1)</script>", commands)
        ours = text[: text.index(block)]
        self.assertNotIn("owned", ours)

    def test_the_same_ledger_gives_the_same_bytes(self):
        self.assertEqual(self.text(gpus_and_workers()), self.text(gpus_and_workers()))

    def test_a_torn_tail_and_failures_alone_make_a_page(self):
        self.text([record(axes("jpeg"), None, status="failed", error="gone")], '{"torn')


class Command(Page):
    def run_report(self, *options, code=0, env=None):
        ledgers.write(self.folder, repetitions(1))
        done = subprocess.run(
            [
                sys.executable,
                os.path.join(ledgers.SCRIPTS, "report"),
                self.folder,
                "--no-figures",
                *options,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
        )
        self.assertEqual(done.returncode, code, done.stderr.decode())
        self.assertNotIn(b"Traceback", done.stderr)
        return done.stderr.decode(), sorted(os.listdir(os.path.join(self.folder, "report")))

    def test_no_html_leaves_it_out(self):
        _, files = self.run_report("--no-html")
        self.assertEqual(
            files, ["files.json", "index.md", "table.csv", "table.md", "table.tex", "workers.csv"]
        )

    def test_without_plotly_one_line_says_so_and_the_rest_is_written(self):
        with open(os.path.join(self.folder, "plotly.py"), "w") as file:
            file.write("raise ModuleNotFoundError('gone', name='plotly')\n")
        err, files = self.run_report(code=1, env=dict(os.environ, PYTHONPATH=self.folder))
        self.assertEqual(
            files, ["files.json", "index.md", "table.csv", "table.md", "table.tex", "workers.csv"]
        )
        lines = [line for line in err.splitlines() if "plotly" in line]
        self.assertEqual(len(lines), 1)
        for words in (
            "index.html: Python module plotly is missing",
            "pip install plotly",
            "--no-html",
        ):
            self.assertIn(words, lines[0])

    @unittest.skipUnless(HAVE_PLOTLY, "plotly is not installed")
    def test_it_is_written(self):
        _, files = self.run_report()
        self.assertIn("index.html", files)


class Names(unittest.TestCase):
    def test_the_table_has_a_key_for_every_column(self):
        (setting,) = settings.group(
            [dict(r, **{ledger.LINE: n}) for n, r in enumerate(repetitions(1), 1)]
        )
        cells = html_cells.Cells(
            [setting],
            [r for c in setting.ceilings + setting.cells for r in c.runs],
            claims.of([setting]),
        )
        for cell in cells.described():
            self.assertEqual(len(cell["row"]), len(html_cells.HEAD))
            self.assertEqual(len(cell["keys"]), len(html_cells.HEAD))


if __name__ == "__main__":
    unittest.main()
