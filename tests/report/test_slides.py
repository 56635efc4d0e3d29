"""The deck: what can be edited stays editable, what is invalid is marked, and the same ledger gives
the same bytes."""

import os
import textwrap
import unittest

from ledgers import axes, read_more, record
from report.ledger.heading import EMULATION
from test_figures import HAVE_MATPLOTLIB, TABLES, Program
from test_marks import sweep

try:
    import pptx
except ImportError:
    pptx = None


@unittest.skipUnless(HAVE_MATPLOTLIB and pptx, "matplotlib or python-pptx is not installed")
class Slides(Program):
    def deck(self, records):
        self.run_report(records, "--formats", "png", extras=("--no-paper",))
        return pptx.Presentation(self.path("slides.pptx"))

    @staticmethod
    def words(slide):
        frames = [s.text_frame.text for s in slide.shapes if s.has_text_frame]
        cells = [
            c.text for s in slide.shapes if s.has_table for row in s.table.rows for c in row.cells
        ]
        return "\n".join(frames + cells)

    def test_a_slide_a_figure_and_a_row_a_cell(self):
        deck = self.deck(sweep(flagged=(), gpus=(1,)))
        self.assertAlmostEqual(deck.slide_width / deck.slide_height, 16 / 9, 3)
        titles = [s.shapes.title.text for s in deck.slides]
        figures = [n for n in os.listdir(self.report) if n.endswith(".png")]
        pictures = [shape for s in deck.slides for shape in s.shapes if shape.shape_type == 13]
        self.assertEqual(len(pictures), len(figures))
        for picture in pictures:
            self.assertGreaterEqual(picture.left, 0)
            self.assertLessEqual(picture.left + picture.width, deck.slide_width)
            self.assertLessEqual(picture.top + picture.height, deck.slide_height)
        shown = sum(shape.shape_type == 13 for s in list(deck.slides)[:6] for shape in s.shapes)
        self.assertEqual((shown, len(titles)), (2, 6 + len(figures) - 2 + 1 + 1))
        self.assertIn(
            "Where the workers' time goes: a look: fewer than 3 repetitions, nothing is claimed",
            titles,
        )
        for words in ("EMULATED DEVICE", "2026-11-21", "Some CPU"):
            self.assertIn(words, self.words(deck.slides[0]) + self.words(deck.slides[1]))
        (table,) = [shape.table for s in deck.slides for shape in s.shapes if shape.has_table]
        self.assertEqual(len(table.rows), 1 + 2)
        self.assertIn("warmed up", self.words(deck.slides[len(titles) - 1]))

    def test_six_slides_stand_alone(self):
        """Finding, what was measured, how fast, what limits, what helps, how sure."""
        records = [r for n in range(4) for r in sweep(flagged=(), gpus=(1,))]
        for n, r in enumerate(records):
            r["repetition"] = n // 2
        deck = self.deck(records)
        titles = [s.shapes.title.text for s in deck.slides]
        self.assertEqual(
            titles[0], "jpeg 500x375 with 2 workers loses 60.0 % of its ceiling in 4 repetitions"
        )
        self.assertIn("not measured: a GPU (EMULATED DEVICE)", titles[1])
        self.assertRegex(titles[3], "^(Busiest|Likely)")
        self.assertTrue(titles[4].startswith("Next: "))
        self.assertIn("feedrate diagnose", self.words(deck.slides[4]))
        self.assertEqual(titles[5], "How sure: valid; 4 repetitions")
        self.assertIn(EMULATION, self.words(deck.slides[5]))

    def test_titles_are_large_and_none_is_twice_there(self):
        long = "with a name of many letters " * 8
        records = sweep(flagged=(), gpus=(1, 2), data=("jpeg", long))
        for device in ("emulated:v100", "emulated:h100"):
            more = sweep(flagged=(), gpus=(1, 2), data=(long,))
            for r in more:
                r["cell"]["device"], r["cell_id"] = device, r["cell_id"] + device
            records += more
        deck = self.deck(records)
        titles = [s.shapes.title for s in deck.slides]
        self.assertEqual(len({t.text for t in titles}), len(titles))
        for title in titles:
            (run,) = title.text_frame.paragraphs[0].runs
            self.assertGreaterEqual(run.font.size.pt, 24)
            self.assertLessEqual(len(textwrap.wrap(run.text, 52)), 2, run.text)

    def test_invalid_cells_are_marked_and_give_no_finding(self):
        deck = self.deck(sweep(gpus=(1,)))
        titles = [s.shapes.title.text for s in deck.slides]
        self.assertEqual([t for t in titles if "loses" in t or "lose" in t], [])
        self.assertIn("Nothing may be quoted", titles[0])
        everything = "\n".join(self.words(s) for s in deck.slides)
        self.assertIn("400 !", everything)
        self.assertIn("throttled!", everything)

    def test_long_tables_are_paged_within_the_slide(self):
        deck = self.deck(
            sweep(flagged=(), gpus=(1,))
            + [read_more(record(axes("jpeg", workers=w), 400.0)) for w in range(3, 60)]
        )
        tables = [shape for s in deck.slides for shape in s.shapes if shape.has_table]
        self.assertEqual(sum(len(t.table.rows) - 1 for t in tables), 59)
        for shape in tables:
            self.assertLessEqual(
                shape.top + sum(row.height for row in shape.table.rows), deck.slide_height
            )

    def test_the_same_ledger_gives_the_same_bytes(self):
        self.deck(sweep())
        first = self.content("slides.pptx")
        self.deck(sweep())
        self.assertEqual(first, self.content("slides.pptx"))

    def test_nasty_words_reach_the_deck_as_words(self):
        nasty = "<script>&\x00\x1b[1m\ud800"
        records = sweep(gpus=(1,), data=(nasty,))
        for r in records:
            r["device"]["name"] = nasty
        self.assertIn("<script>&", self.words(self.deck(records).slides[0]))


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Missing(Program):
    def test_without_python_pptx_the_rest_is_written(self):
        fake = os.path.join(self.folder, "fake")
        os.makedirs(fake)
        with open(os.path.join(fake, "pptx.py"), "w") as file:
            file.write("raise ImportError('none', name='pptx')\n")
        _, err = self.run_report(
            sweep(flagged=(), gpus=(1,)),
            "--formats",
            "png",
            code=1,
            extras=("--no-paper",),
            env=dict(os.environ, PYTHONPATH=fake),
        )
        self.assertEqual(sum("pptx is missing" in line for line in err.splitlines()), 1)
        self.assertIn("--no-slides", err)
        self.assertTrue({"stages.png", "index.md", *TABLES} <= set(os.listdir(self.report)))
        self.assertNotIn("slides.pptx", os.listdir(self.report))
        self.assertNotIn(b"slides.pptx", self.content("index.md"))


if __name__ == "__main__":
    unittest.main()
