"""The deck: what can be edited stays editable, what is invalid is marked, and the same ledger gives
the same bytes."""

import os
import unittest

from ledgers import axes, read_more, record
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
        self.assertEqual(len(titles), 1 + len(figures) + 1 + 1)
        self.assertIn(
            "Where the workers' time goes: a look: fewer than 3 repetitions, nothing is claimed",
            titles,
        )
        for words in ("EMULATED DEVICE", "2026-11-21", "Some CPU"):
            self.assertIn(words, self.words(deck.slides[0]))
        (table,) = [shape.table for s in deck.slides for shape in s.shapes if shape.has_table]
        self.assertEqual(len(table.rows), 1 + 2)
        self.assertIn("warmed up", self.words(deck.slides[len(titles) - 1]))

    def test_invalid_cells_are_marked_and_give_no_finding(self):
        deck = self.deck(sweep(gpus=(1,)))
        titles = [s.shapes.title.text for s in deck.slides]
        self.assertEqual([t for t in titles if "loses" in t or "lose" in t], [])
        self.assertIn("No valid result", titles[1])
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
