"""A report of a folder of result folders: each is made once, and one page has a row for each."""

import html
import json
import os
import re
import shutil
import tempfile
import unittest
from urllib.parse import unquote

import ledgers
import sound
from report import cli, several
from test_check import Checked
from test_html import HAVE_JINJA2

TABLES = ("--no-figures", "--no-paper", "--no-slides")
ROW = re.compile(r'<tr( class="invalid")?>\s*<th scope="row"><a href="([^"]*)">([^<]*)</a>')
SERIOUS = {"name": "throttled", "severity": "serious", "reason": "hot", "remedy": "cool it"}


def jpeg_at(rate, **changes):
    """A sweep whose ceiling is at 1,000 images/s."""
    return sound.sweep({"ceiling": [1000.0, 1001.0, 1002.0], "jpeg": [rate] * 3}, **changes)


def not_quotable():
    records = jpeg_at(100.0)
    for record in records:
        record.update(flags=[SERIOUS], valid=False)
    return records


class Found(unittest.TestCase):
    def setUp(self):
        self.parent = tempfile.mkdtemp(prefix="feedrate-report-")
        self.addCleanup(shutil.rmtree, self.parent)

    def test_ledgers_of_two_levels_and_no_deeper(self):
        for name in ("b", "a", "kind/c", "far/too/deep"):
            sound.folder(self.parent, name, jpeg_at(400.0))
        found = [os.path.relpath(path, self.parent) for path in several.ledgers(self.parent)]
        self.assertEqual(found, ["a/ledger.jsonl", "b/ledger.jsonl", "kind/c/ledger.jsonl"])

    def test_a_folder_with_a_ledger_of_its_own_is_a_result(self):
        sound.folder(self.parent, "more", jpeg_at(400.0))
        ledgers.write(self.parent, jpeg_at(400.0))
        self.assertEqual(several.ledgers(self.parent), [])
        self.assertEqual(several.ledgers(os.path.join(self.parent, "ledger.jsonl")), [])


@unittest.skipUnless(HAVE_JINJA2, "Jinja2 is not installed")
class Several(Checked):
    def report(self, *options, code=0):
        """(lines of talk, the page)."""
        found, out, err = self.run_quietly(cli.main, [self.parent, *TABLES, *options])
        self.assertEqual((found, out), (code, ""), err)
        with open(os.path.join(self.parent, "index.html"), encoding="utf-8") as file:
            return err.splitlines(), file.read()

    def test_the_largest_loss_stands_first_and_what_must_not_be_quoted_last(self):
        rates = {"small": jpeg_at(800.0), "none": jpeg_at(1001.0), "large": jpeg_at(300.0)}
        for name, records in {**rates, "void": not_quotable()}.items():
            sound.folder(self.parent, name, records)
        talk, page = self.report()
        self.assertEqual(len(talk), len(rates) + 2, talk)
        rows = ROW.findall(page)
        self.assertEqual([name for _, _, name in rows], ["large", "small", "none", "void"])
        self.assertEqual([bool(invalid) for invalid, _, _ in rows], [False] * 3 + [True])
        for words in ("EMULATED", "2026-11-21", "node1: Xeon", "must not be quoted: throttled"):
            self.assertIn(words, page)
        self.assertIn("4 results, of which 3 may be quoted - feedrate report</title>", page)
        self.assertNotIn("<script", page)
        self.assertIn("script-src 'none'", html.unescape(page))

    def test_each_row_leads_to_its_page_whatever_the_folder_is_named(self):
        names = ["a b#c%20", "javascript:alert(1)", "<b>&'\""]
        for name in names:
            sound.folder(self.parent, name, jpeg_at(400.0))
        _, page = self.report()
        links = [html.unescape(link) for _, link, _ in ROW.findall(page)]
        self.assertEqual(len(links), len(names))
        for link in links:
            self.assertNotIn(":", link)
            self.assertTrue(os.path.isfile(os.path.join(self.parent, unquote(link))), link)

    def test_a_report_without_a_page_is_led_to_as_well(self):
        folder = sound.folder(self.parent, "r1", jpeg_at(400.0))
        self.run_quietly(cli.main, [folder, *TABLES, "--no-html"])
        self.pass_for_whole(folder)
        _, page = self.report()
        self.assertEqual(ROW.findall(page)[0][1], "r1/report/index.md")

    def test_a_report_is_made_again_only_if_its_ledger_has_changed(self):
        folder = sound.folder(self.parent, "r1", jpeg_at(400.0))
        table = os.path.join(folder, "report", "table.md")
        self.report()
        self.pass_for_whole(folder)
        for records, is_kept in ((jpeg_at(400.0), True), (jpeg_at(300.0), False)):
            ledgers.write(folder, records)
            with open(table, "w", encoding="utf-8") as file:
                file.write("mine")
            talk, _ = self.report()
            with open(table, encoding="utf-8") as file:
                self.assertEqual(file.read() == "mine", is_kept, talk)
            self.assertIn("is of this ledger" if is_kept else "was made", talk[0])

    @staticmethod
    def pass_for_whole(folder):
        """As if its report had figures: to draw them takes long."""
        path = os.path.join(folder, "report", "files.json")
        with open(path, encoding="utf-8") as file:
            made = json.load(file)
        made["options"]["no_figures"] = False
        with open(path, "w", encoding="utf-8") as file:
            json.dump(made, file)

    def test_a_ledger_that_cannot_be_read_costs_no_other(self):
        sound.folder(self.parent, "sound", jpeg_at(400.0))
        ledgers.write(os.path.join(self.parent, "damaged"), [], '{"torn\n')
        talk, page = self.report(code=1)
        (line,) = [line for line in talk if "damaged" in line]
        self.assertIn("line 1: not a JSON object", line)
        self.assertEqual([name for _, _, name in ROW.findall(page)], ["sound"])
        self.assertIn("not a JSON object", page)

    def test_somebody_elses_page_is_kept(self):
        sound.folder(self.parent, "r1", jpeg_at(400.0))
        page = os.path.join(self.parent, "index.html")
        with open(page, "w", encoding="utf-8") as file:
            file.write("<h1>My results</h1>")
        _, text = self.report(code=1)
        self.assertEqual(text, "<h1>My results</h1>")
        self.assertFalse(os.path.exists(os.path.join(self.parent, "r1", "report")))
        place = os.path.join(self.parent, "pages")
        code, _, err = self.run_quietly(cli.main, [self.parent, *TABLES, "-o", place])
        self.assertEqual(code, 0, err)
        with open(os.path.join(place, "index.html"), encoding="utf-8") as file:
            self.assertEqual(ROW.findall(file.read())[0][1], "../r1/report/index.html")

    def test_what_means_one_report_is_refused(self):
        sound.folder(self.parent, "r1", jpeg_at(400.0))
        for options in (["--only", "share"], ["--no-html"]):
            with self.assertRaises(SystemExit) as ended:
                self.run_quietly(cli.main, [self.parent, *options])
            self.assertEqual(ended.exception.code, 2)


if __name__ == "__main__":
    unittest.main()
