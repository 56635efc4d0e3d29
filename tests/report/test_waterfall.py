"""What `feedrate diagnose` found: read, drawn and told no stronger than it is; and without it, a
report as before."""

import copy
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import diagnoses
import ledgers
import payloads
import test_html
from report.claims import claims, diagnosis, diagnosis_file
from report.errors import ReportError
from report.figures import figures, findings
from report.figures.context import Context
from report.ledger import ledger, settings
from report.page import html_cells, html_settings
from test_figures import HAVE_MATPLOTLIB, Program

try:
    import pptx
except ImportError:
    pptx = None


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="feedrate-waterfall-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.ledger = os.path.join(self.folder, "ledger.jsonl")

    def read(self, found):
        diagnoses.write(self.folder, found)
        return diagnosis_file.read(self.ledger)

    def settings(self, found, records=None):
        """The settings of a ledger with that diagnosis beside it."""
        path = ledgers.write(self.folder, ledgers.second(records or diagnoses.records()))
        if found:
            diagnoses.write(self.folder, found)
        self.notes = []
        self.records = ledger.read(path, lambda text: None)
        grouped = settings.group(self.records)
        diagnosis_file.attach(grouped, path, self.notes.append)
        return grouped


class Reader(Folder):
    def test_no_file_is_nothing(self):
        self.assertIsNone(diagnosis_file.read(self.ledger))
        (setting,) = self.settings(None)
        self.assertIsNone(setting.diagnosis)
        self.assertNotIn("waterfall", [plan.module for plan in figures.plan([setting])])

    def test_it_is_read(self):
        found = self.read(diagnoses.diagnosis())
        self.assertEqual((found.ceiling.mean, found.reached.name), (2470.0, "none"))
        self.assertEqual([r.name for r in found.ladder if not r.rate], ["cold"])
        how = {bar.step.name: bar.how for bar in found.bars()}
        self.assertEqual(how["normalise"], diagnosis.NOT_TOLD)
        self.assertEqual(how["decode"], diagnosis.LOSS)
        self.assertEqual(how["read"], diagnosis.GAIN)
        named = [bar.step.name for bar in found.bars() if bar.is_named]
        self.assertEqual(named, ["decode"])
        self.assertEqual(found.problems(), [])

    def test_what_a_bar_says_follows_from_its_rungs(self):
        for bar in self.read(diagnoses.diagnosis()).bars():
            start, end, _ = diagnoses.STEPS[bar.step.name]
            self.assertAlmostEqual(bar.top, diagnoses.RATES[start])
            self.assertAlmostEqual(bar.bottom, diagnoses.RATES[end])
            self.assertAlmostEqual(
                bar.share, (diagnoses.RATES[start] - diagnoses.RATES[end]) / 2470.0
            )
        words = {bar.step.name: bar.words for bar in self.read(diagnoses.diagnosis()).bars()}
        self.assertEqual(words["decode"], ("−1,241", "50.2 %"))
        self.assertEqual(words["read"], ("+27", "1.1 %"))

    def test_the_chain_ends_at_the_cell_itself(self):
        found = diagnoses.diagnosis()
        found["ladder"][7] = diagnoses.rung("cold", 300.0)
        self.assertEqual(self.read(found).reached.name, "none", "a warm cell pays for no storage")
        rates = {**diagnoses.RATES, "cold": 300.0}
        found["waterfall"].append(diagnoses.step("storage", "none", "cold", [500.0, 576.0], rates))
        self.assertEqual(self.read(found).reached.name, "cold")

    def test_a_broken_file_is_one_line_that_names_it_and_the_place(self):
        def changed(*path, value):
            found = diagnoses.diagnosis()
            at = found
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] = value
            return found

        cases = [
            ("{", "it is no JSON"),
            ("[" * 100000, "it is no JSON"),
            (changed("schema", value="feedrate.diagnosis/2"), "'feedrate.diagnosis/2' is unknown"),
            ("[1]", "is unknown"),
            (changed("cell", value=7), "`cell` is no object"),
            (changed("rounds", value=0), "`rounds` is no count"),
            (changed("emulated", value=False), "`emulated` does not fit"),
            (changed("verdict", "clear", value="yes"), "`verdict.clear` is neither"),
            (changed("verdict", "confidence", value=7), "`verdict.confidence` is not from 0 to 1"),
            (changed("waterfall", 2, "from", value="cold"), "`waterfall[2].from` names no rung"),
            (
                changed("ladder", 0, "imgs_per_s", "mean", value="2470"),
                "`ladder[0].imgs_per_s.mean` is no number",
            ),
            (
                changed("ladder", 0, "imgs_per_s", "ci95", value=[3, 2]),
                "`ladder[0].imgs_per_s.ci95` is no interval",
            ),
            (changed("ladder", 0, "rung", value="none"), "`ladder` has a rung twice"),
            (changed("advice", 0, "remedy", value=None), "`advice[0].remedy` is no text"),
            (changed("slopes", value={}), "`slopes` is no list"),
        ]
        for found, words in cases:
            with self.assertRaises(ReportError, msg=words) as caught:
                self.read(found)
            line = str(caught.exception)
            self.assertIn(words, line)
            self.assertTrue(line.startswith(os.path.join(self.folder, "diagnosis.json")), line)
            self.assertIn("feedrate diagnose", line)
            self.assertNotIn("\n", line)

    def test_one_of_another_setting_is_told_and_not_shown(self):
        found = diagnoses.diagnosis()
        found["cell"]["batch-size"] = 64
        (setting,) = self.settings(found)
        self.assertIsNone(setting.diagnosis)
        self.assertEqual(len(self.notes), 1)
        self.assertIn("it is not shown", self.notes[0])

    def test_a_number_that_does_not_follow_is_a_problem(self):
        found = diagnoses.diagnosis()
        found["waterfall"][4]["lost_imgs_per_s"]["mean"] *= 1.1
        self.assertIn(
            "waterfall[4].lost_imgs_per_s.mean is 1365.1, its rungs differ by 1241",
            self.read(found).problems(),
        )


class Words(Folder):
    def words(self, **verdict):
        return self.read(diagnoses.diagnosis(verdict=verdict)).words()

    def test_a_verdict_is_told_no_stronger_than_it_is(self):
        self.assertEqual(self.words(), "decode limits (confidence 99 %)")
        self.assertEqual(
            self.words(names=["decode", "read"], clear=False, confidence=0.6),
            "not clear between decode and read",
        )
        self.assertEqual(self.words(clear=False), "not clear: perhaps decode")
        self.assertEqual(self.words(names=[]), "no step is shown to limit")
        self.assertIn("but the evidence does not agree", self.words(agree=False))
        self.assertIn("(confidence 98 %)", self.words(confidence=0.9899))
        self.assertIn("(confidence above 99 %)", self.words(confidence=1.0))

    def test_two_rounds_are_a_look(self):
        found = self.read(diagnoses.diagnosis(rounds=2))
        self.assertEqual(found.words(), claims.LOOK)
        self.assertFalse(any(bar.is_named for bar in found.bars()))

    @unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
    def test_findings_and_slides_say_it(self):
        found = self.settings(diagnoses.diagnosis())
        (plan,) = (p for p in figures.plan(found) if p.module == "waterfall")
        words = "jpeg 500x375, 2 workers: decode limits (confidence 99 %)"
        self.assertEqual(findings.finding(plan, None), words)
        self.assertEqual(findings.headline(plan, None), words)

    def test_runs_that_must_not_be_quoted_claim_nothing(self):
        found = diagnoses.diagnosis()
        found["flags"][0]["severity"] = "serious"
        read = self.read(found)
        self.assertEqual(
            read.words(), "must not be quoted: noisy_neighbour (20 of 36 runs, worst 30 %)"
        )
        self.assertEqual({bar.how for bar in read.bars()}, {diagnosis.NOT_QUOTABLE})
        self.assertFalse(any(bar.is_named for bar in read.bars()))
        found["flags"][0]["severity"] = "warning"
        self.assertEqual(self.read(found).not_quotable, "")

    def test_a_slope_says_how_likely_it_limits_as_the_verdict_takes_it(self):
        words = [slope.words for slope in self.read(diagnoses.diagnosis()).slopes]
        self.assertEqual(words, ["above 99 %", "0 %", "no interval", "3 %", "2 %"])
        unknown = diagnoses.diagnosis()
        del unknown["slopes"][0]["binds"]
        self.assertEqual(self.read(unknown).slopes[0].words, "")

    def test_caveats_say_what_was_left_out_and_what_disturbed_it(self):
        found = diagnoses.diagnosis(blocks_failed="a file is broken")
        found["ladder"][1]["left_out"] = "a file is gone"
        self.assertEqual(
            self.read(found).caveats,
            [
                "Left out of later rounds: device (a file is gone).",
                "Left out: cold (the page cache cannot be dropped here: not root).",
                "Left out of some rounds: delays (a file is broken).",
                "Warning: noisy_neighbour in 20 of 36 runs: other programs used 30 % of the CPUs.",
            ],
        )

    def test_caveats_say_where_delays_had_other_batches(self):
        found = diagnoses.diagnosis()
        own = found["cell"]["batch-size"]
        said = f"Delays were measured with batches of {own // 2}, not the cell's {own}."
        found["blocks_batch_size"] = own // 2
        self.assertIn(said, self.read(found).caveats)
        found["blocks_batch_size"] = own
        self.assertNotIn("batches", " ".join(self.read(found).caveats))

    def test_caveats_of_an_older_file_are_what_it_left_out(self):
        found = diagnoses.diagnosis()
        for key in ("flags", "runs", "blocks_failed"):
            del found[key]
        self.assertEqual(len(self.read(found).caveats), 1)


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Figure(Program):
    def draw(self, found, *options, code=0, extras=("--no-slides",)):
        if found is not None:
            diagnoses.write(self.folder, found)
        options = options or ("--formats", "svg", "--only", "waterfall")
        return self.run_report(diagnoses.records(), *options, code=code, extras=extras)

    def svg(self, found):
        self.draw(found)
        return self.content("waterfall.svg").decode()

    def test_it_is_registered_and_drawn_in_every_format(self):
        self.draw(diagnoses.diagnosis(), "--only", "waterfall")
        self.assertTrue(self.content("waterfall.pdf").startswith(b"%PDF"))
        self.assertTrue(self.content("waterfall.png").startswith(b"\x89PNG"))
        svg = self.content("waterfall.svg").decode()
        for words in (
            "jpeg 500x375, 2 workers: decode limits (confidence 99 %)",
            "EMULATED DEVICE",
            "decode limits: without it",
            "−1,241 img/s",
            ">50.2 %<",
            "+27 img/s",
            "normalise: not told from 0",
            "discard (no link of the chain)",
            "From diagnosis.json: 4 rounds in 58 s",
        ):
            self.assertIn(words, svg)
        said = " ".join(re.findall("<text[^>]*>([^<]*)</text>", svg))
        self.assertIn("Left out: cold (the page cache cannot be dropped here: not root).", said)
        column = self.content("paper/waterfall.svg").decode()
        self.assertIn("−1,241 (50.2 %)", column)
        self.assertIn("EMULATED DEVICE", column)
        first = self.content("waterfall.pdf")
        self.draw(diagnoses.diagnosis(), "--only", "waterfall")
        self.assertEqual(first, self.content("waterfall.pdf"))

    def test_looks(self):
        from report.figures import waterfall
        from report.look import style

        diagnoses.write(self.folder, diagnoses.diagnosis())
        bars = diagnosis_file.read(os.path.join(self.folder, "ledger.jsonl")).bars()
        looks = {bar.step.name: waterfall.look_of(bar) for bar in bars}
        self.assertEqual(looks["normalise"][0], waterfall.MUTED)
        self.assertEqual(looks["decode"][0], style.STAGES["decode"])
        self.assertGreater(looks["decode"][2], looks["augment"][2])
        self.assertNotEqual(looks["augment"][0], style.STAGES["augment"])
        self.assertEqual({name for name, look in looks.items() if look[3]}, {"read"})

    def test_a_long_title_takes_more_lines_of_the_same_size(self):
        found = diagnoses.diagnosis(
            label="jpeg 500x375 in tar shards, 2 workers",
            verdict={"names": ["normalise", "augment", "decode"], "clear": False},
        )
        svg = self.svg(found)
        self.assertIn(">jpeg 500x375 in tar shards, 2 workers:<", svg)
        self.assertIn(">not clear between normalise, augment and decode<", svg)

    def test_a_ceiling_that_is_not_valid_is_said_and_nothing_is_claimed(self):
        found = diagnoses.diagnosis()
        found["flags"][0]["severity"] = "serious"
        svg = self.svg(found)
        for words in (
            "The ceiling and all that is held against it must not be quoted: noisy_neighbour",
            ">must not be quoted<",
        ):
            self.assertIn(words, svg)
        self.assertNotIn("decode limits", svg)
        self.assertNotIn("named by the verdict", svg)

    def test_without_intervals_nothing_is_claimed(self):
        found = diagnoses.diagnosis(rounds=2)
        for one in found["ladder"] + found["waterfall"]:
            for key in {"imgs_per_s", "lost_imgs_per_s", "ms_per_step"} & one.keys():
                one[key]["ci95"] = None
        svg = self.svg(found)
        self.assertIn("nothing is claimed", svg)
        self.assertNotIn("decode limits", svg)
        self.assertNotIn("named by the verdict", svg)

    def test_without_a_ceiling_there_is_nothing_to_draw(self):
        found = diagnoses.diagnosis()
        found["ladder"][0] = {"rung": "synthetic", "left_out": "it failed"}
        del found["waterfall"][0]
        self.draw(found)
        self.assertFalse(os.path.exists(self.path("waterfall.svg")))

    def test_a_broken_file_ends_the_report_with_one_line(self):
        for found in ("{", {"schema": "feedrate.diagnosis/9"}):
            _, err = self.draw(found, code=1)
            lines = [line for line in err.splitlines() if "diagnosis.json" in line]
            self.assertEqual(len(lines), 1, err)
            self.assertEqual(err.splitlines()[-1], lines[0])

    def test_nasty_words_stay_words(self):
        nasty = "<script>$\\frac{&\x1b[1m"
        found = diagnoses.diagnosis(label=nasty)
        found["waterfall"][4]["step"] = nasty
        found["verdict"].update(names=[nasty], sentence=nasty)
        found["ladder"][7]["left_out"] = nasty
        svg = self.svg(found)
        self.assertNotIn("<script>", svg)
        self.assertIn("&lt;script&gt;$\\frac{&amp;", svg)

    def test_a_report_without_one_has_no_trace_of_it(self):
        self.draw(None, "--formats", "svg")
        self.assertFalse([n for n in os.listdir(self.report) if "waterfall" in n])
        self.assertNotIn(b"waterfall", self.content("index.md"))
        self.draw(diagnoses.diagnosis(), "--formats", "svg")
        self.assertIn(b"decode limits (confidence 99 %)", self.content("index.md"))
        for row in (
            b"| storage | read | 20 % more reads | 6 |",
            b"| reads in flight | withhold | 25 % fewer | 6 |",
            b"### Diagnosis of jpeg",
        ):
            self.assertIn(row, self.content("index.md"))
        os.unlink(os.path.join(self.folder, "diagnosis.json"))
        self.draw(None, "--formats", "svg")
        self.assertFalse([n for n in os.listdir(self.report) if "waterfall" in n])

    def validate(self):
        done = subprocess.run(
            [
                sys.executable,
                os.path.join(ledgers.SCRIPTS, "report"),
                "check",
                self.folder,
                "--no-drawing",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.assertNotIn(b"Traceback", done.stderr)
        return done.stdout.decode()

    def test_validate_sees_another_diagnosis_and_numbers_that_do_not_follow(self):
        self.draw(diagnoses.diagnosis(), "--no-figures")
        self.assertNotIn("diagnosis.json", self.validate())
        found = diagnoses.diagnosis(seconds=60.0)
        diagnoses.write(self.folder, found)
        self.assertIn("made from another diagnosis.json", self.validate())
        found["waterfall"][4]["lost_imgs_per_s"]["mean"] = 2000.0
        diagnoses.write(self.folder, found)
        self.assertIn("diagnosis.json: waterfall[4].lost_imgs_per_s.mean", self.validate())

    @unittest.skipUnless(pptx, "python-pptx is not installed")
    def test_one_slide_has_it(self):
        self.draw(diagnoses.diagnosis(), "--formats", "svg", extras=("--no-paper",))
        deck = pptx.Presentation(self.path("slides.pptx"))
        slides = [
            s for s in deck.slides if s.shapes.title.text == "Decode limits (confidence 99 %)"
        ]
        self.assertEqual(len(slides), 1)
        remedy = deck.slides[4]
        self.assertIn("more workers", remedy.shapes.title.text)
        (table,) = (shape.table for shape in remedy.shapes if shape.has_table)
        self.assertIn("1,541", "".join(c.text for row in table.rows for c in row.cells))
        self.assertEqual(sum(shape.shape_type == 13 for shape in slides[0].shapes), 1)


class Told(Folder):
    """What the page says of it."""

    def told(self, found, records=None):
        grouped = self.settings(found, records)
        return html_settings.diagnosed(grouped[0], html_cells.Cells(grouped, self.records))

    def tables(self, found):
        return {table["title"]: table["rows"] for table in self.told(found)["tables"]}

    def test_loaders_that_no_device_holds_up_are_no_setting(self):
        """A rung of the diagnosis: a device that takes any rate is no ceiling."""
        records = diagnoses.records()
        alone = [
            {**r, "cell_id": "0" * 16, "cell": {**r["cell"], "device": "emulated:inf"}}
            for r in records
            if r["role"] == "cell"
        ]
        with_one = self.settings(diagnoses.diagnosis(), records + alone)
        self.assertNotIn("emulated:inf", [s.axes["device"] for s in with_one])
        os.unlink(os.path.join(self.folder, diagnosis_file.NAME))
        without = self.settings(None, records + alone)
        self.assertIn("emulated:inf", [s.axes["device"] for s in without])

    def test_advice_that_nobody_tries_says_why(self):
        for options, said in (("--cache decoded", "in the ladder"), (None, "a what-if")):
            found = diagnoses.diagnosis()
            found["advice"][1]["options"] = options
            self.assertEqual(self.tables(found)["Advice"][1][3], said)

    def test_a_loss_is_told_at_one_risk_for_all_steps(self):
        """An interval that just leaves 0 out is one of several that might, but for the one that
        the verdict names."""
        found = diagnoses.diagnosis()
        for step in found["waterfall"]:
            mean = step["lost_imgs_per_s"]["mean"]
            off = {"normalise": 0.91, "decode": 0.01}.get(step["step"], 5) * abs(mean)
            step["lost_imgs_per_s"]["ci95"] = [mean - off, mean + off]
        told = {row[0]: row[-1] for row in self.tables(found)["Steps"]}
        self.assertEqual((told["normalise"], told["decode"]), ("not told from 0", "loss"))
        found["verdict"]["names"] = ["normalise"]
        told = {row[0]: row[-1] for row in self.tables(found)["Steps"]}
        self.assertEqual((told["normalise"], told["decode"]), ("loss", "loss"))

    def test_it_has_verdict_evidence_and_tables(self):
        found = self.told(diagnoses.diagnosis())
        self.assertEqual(found["verdict"], "decode limits (confidence 99 %)")
        facts = dict(found["facts"])
        self.assertEqual(facts["Confidence"], "99 %")
        self.assertEqual(
            facts["Evidence"], "agrees (ladder: decode; capacities: decode; slopes: decode)"
        )
        tables = {table["title"]: table["rows"] for table in found["tables"]}
        self.assertEqual(
            list(tables),
            ["Steps", "Delays put in", "Capacities", "Stages", "Advice", "Patterns over time"],
        )
        self.assertEqual(
            tables["Delays put in"][0],
            ["worker", "burn", "0.25 ms", "6", "0.97 (0.90 to 1.04)", "above 99 %"],
        )
        self.assertEqual(tables["Capacities"][0], ["loader", "812", "98 %", "decode", "70 %"])
        self.assertEqual(
            [row[2:4] for row in tables["Advice"]],
            [
                ["1,600 (1,500 to 1,700)", "1,541 (1,520 to 1,562)"],
                ["1,200 (1,100 to 1,300)", "not tried"],
            ],
        )
        self.assertIn("by workers 2: 838; 4: 1,541; W* is 4", tables["Advice"][0][4])
        self.assertIn("not tried: the build has no such decoder", tables["Advice"][1][4])
        for table in found["tables"]:
            for row in table["rows"]:
                self.assertEqual(len(row), len(table["head"]))
        (cell,) = [r["cell_id"] for r in self.records if r["role"] == "cell"][:1]
        self.assertEqual(found["row"], f"cell-{cell}")
        self.assertIn("Left out: cold", found["notes"][0])

    def test_a_look_claims_nothing(self):
        found = self.told(diagnoses.diagnosis(rounds=2))
        self.assertEqual((found["verdict"], found["sentence"]), (claims.LOOK, ""))
        self.assertEqual([name for name, _ in found["facts"]], ["Measured"])

    def test_what_may_not_be_quoted_is_told_no_verdict(self):
        grouped = self.settings(diagnoses.diagnosis())
        cells = html_cells.Cells(grouped, self.records)
        found = html_settings.diagnosed(grouped[0], cells, "must not be quoted: noise")
        self.assertEqual((found["verdict"], found["sentence"]), ("must not be quoted: noise", ""))
        self.assertEqual([name for name, _ in found["facts"]], ["Measured"])

    @unittest.skipUnless(test_html.HAVE_JINJA2, "Jinja2 is not installed")
    def test_no_text_of_it_becomes_markup(self):
        plain = test_html.Document(self.page(diagnoses.diagnosis()))
        for text in payloads.ALL[:: max(1, len(payloads.ALL) // 12)]:
            found = test_html.Document(self.page(nasty(diagnoses.diagnosis(), text)))
            self.assertEqual(set(found.tags) - set(plain.tags), set(), text)
            self.assertEqual(found.tags.count("script"), 2)
            self.assertEqual([n for n, _ in found.attributes if n.startswith("on")], [])

    def page(self, found):
        from report.page import html_page

        grouped = self.settings(found)
        context = Context("x/ledger.jsonl", "0.1.0", claims=claims.of(grouped))
        return html_page.build(grouped, self.records, context, self.ledger)


def nasty(found, text):
    """The diagnosis with that text wherever it holds words of its own."""
    found = copy.deepcopy(found)
    found.update(label=text, device=text)
    found["verdict"].update(names=[text], resources=[text], sentence=text, evidence={text: text})
    for key in ("waterfall", "slopes", "capacities", "stages", "advice", "patterns"):
        for one in found[key]:
            for name, value in one.items():
                if isinstance(value, str) and name not in ("from", "to"):
                    one[name] = text
    found["ladder"][7]["left_out"] = text
    return found


if __name__ == "__main__":
    unittest.main()
