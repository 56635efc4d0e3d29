"""Text from a ledger goes into CSV, Markdown, terminals and figures without acting there."""

import csv
import io
import unittest

from ledgers import axes, record, repetitions
from report import text
from report.answer import terminal
from report.claims import tables
from report.ledger import settings, statistics
from report.ledger.heading import heading

NASTY = [
    "$x_{1}$",
    "<script>alert(1)</script>",
    "100 %",
    "a_b|c",
    "=1+1",
    "\x1b[31mred",
    "\ud800",
    "\\frac{",
    "line\nbreak",
]


class Text(unittest.TestCase):
    def test_spreadsheet_formulas_are_quoted(self):
        for start in "=+-@":
            self.assertEqual(text.csv_cell(start + "cmd|x"), "'" + start + "cmd|x")
        for before in ("\t", "\r", "\n", "\r\n", " ", "\u00a0", "\ufeff", "\u200b", "\0"):
            for start in "=+-@":
                self.assertEqual(
                    text.csv_cell(before + start + "1"), "'" + start + "1", repr(before)
                )
        for wide in "\uff1d\uff0b\uff0d\uff20":
            self.assertTrue(text.csv_cell(wide + "1").startswith("'"))
        self.assertEqual(text.csv_cell(-0.02), "-0.02")
        self.assertEqual(text.csv_cell(None), "")

    def test_a_dollar_starts_no_formula(self):
        self.assertEqual(text.plain("$x$"), r"\$x\$")

    def test_terminals_get_no_control_characters(self):
        for nasty in NASTY:
            self.assertTrue(text.clean(nasty).isprintable())
            text.clean(nasty).encode("utf-8")

    def test_markdown_gets_no_markup(self):
        self.assertEqual(text.markdown("<b>|x_"), "&lt;b&gt;\\|x\\_")

    def test_numbers(self):
        self.assertEqual(
            [text.amount(v) for v in (0, 5.612, 56.12, 99.96, 1234.5, 0.0721)],
            ["0", "5.61", "56.1", "100", "1,234", "0.072"],
        )
        self.assertEqual(text.percent(0.999), "99.9 %")
        self.assertEqual(text.percent(1.0), "100 %")
        self.assertEqual(text.duration(0.5), "30.0 min")
        self.assertEqual(text.duration(-1e-16), "0 s")
        self.assertEqual(text.duration(0.5 / 3600), "0.5 s")


class Intervals(unittest.TestCase):
    def test_one_plus_minus_where_both_sides_are_alike(self):
        rate = statistics.estimate([1000.0, 1010.0, 1005.0])
        self.assertEqual(text.plus_minus(rate), "1,005 ± 12")
        share = statistics.share([(0.5, 1), (0.505, 1), (0.5025, 1)])
        self.assertEqual(text.share_words(share), "50.2 ± 0.6 %")

    def test_from_where_to_where_if_the_sides_differ(self):
        rate = statistics.bounded(statistics.estimate([1300.0, 1700.0, 2460.0, 2440.0]), 2470.0)
        self.assertEqual(text.plus_minus(rate), "1,975 (715 to 2,470)")
        share = statistics.share([(0.9, 1), (0.93, 1), (0.98, 1)], most=1.0)
        self.assertEqual(text.share_words(share), "75.6 to 100 %")

    def test_no_range_where_both_ends_read_alike(self):
        rate = statistics.bounded(statistics.estimate([2469.99, 2469.98, 2469.995]), 2470.0)
        self.assertEqual(text.plus_minus(rate), "2,470 ± 0.038")


class Tables(unittest.TestCase):
    def found(self, name="x"):
        records = repetitions(2, cells=(("jpeg", 400.0), ("png", 90.0)))
        records += [record(axes("raw"), None, 0, status="failed", error="=HYPERLINK(1)")]
        for r in records:
            r["device"]["name"] = name
            r["flags"] = [{"name": name, "severity": "serious", "reason": name, "remedy": name}]
        return settings.group(records)

    def test_csv_has_a_row_a_cell_and_empty_for_missing(self):
        rows = list(csv.DictReader(io.StringIO(tables.write_csv(self.found()))))
        self.assertEqual([r["role"] for r in rows], ["ceiling", "cell", "cell", "cell"])
        raw = rows[-1]
        self.assertEqual((raw["data"], raw["imgs_per_s"], raw["repetitions"]), ("raw", "", "0"))
        self.assertAlmostEqual(float(rows[1]["ceiling_fraction"]), 0.4)
        self.assertEqual(rows[1]["pin-memory"], "on")
        self.assertIn("HYPERLINK", raw["errors"])
        self.assertFalse(raw["errors"].startswith("="))

    def test_a_heading_says_all_of_whose_rate_it_is(self):
        whose = "NVIDIA H200, PyTorch's published 3,079 img/s scaled to 1000x1000"
        (setting,) = self.found(f"{whose} (EMULATED)")
        self.assertTrue(heading(setting).startswith(f"{whose} (EMULATED DEVICE) · "))
        words = " ".join(terminal.table([setting], heading).split())
        self.assertIn(f"{whose} (EMULATED DEVICE)", words)

    def test_terminal_stays_within_100_columns_and_lists_what_is_missing(self):
        words = terminal.table(self.found("NVIDIA " + "very long name " * 20), heading)
        self.assertLessEqual(max(map(len, words.splitlines())), 100)
        self.assertIn("missing: failed", words)
        self.assertIn("EMULATED DEVICE", words)
        self.assertIn("raw 500x375, workers 2, GPUs 1, repetition 0: failed", words)

    def test_nasty_names_change_no_structure(self):
        for nasty in NASTY:
            found = self.found(nasty)
            rows = list(csv.reader(io.StringIO(tables.write_csv(found))))
            self.assertEqual(len({len(row) for row in rows}), 1)
            self.assertNotIn("<script", tables.write_markdown(found, heading))
            terminal.table(found, heading).encode("utf-8")


if __name__ == "__main__":
    unittest.main()
