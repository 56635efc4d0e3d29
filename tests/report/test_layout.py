"""Every figure of rich ledgers in every medium: no words lie over others or beyond the page, none
are too small, and there are few of them."""

import re
import unittest

from test_figures import HAVE_MATPLOTLIB

if HAVE_MATPLOTLIB:
    import gallery
    from report import lines
    from report.figures import page
    from report.look import style

TITLES_OF_TRACES = ("batch_life", "timeline")
TOUCH = 0.6  # points by which two words may overlap: the boxes have some air


def words_of(made):
    """[(Text, its box), …] of all that is seen."""
    renderer = made.figure.canvas.get_renderer()
    texts = [*made.figure.texts, *(t for one in made.figure.legends for t in one.get_texts())]
    axes = made.figure.axes
    for ax in [*axes, *(child for one in axes for child in one.child_axes)]:
        texts += [*ax.texts, ax.title, ax._left_title, ax._right_title, ax.xaxis.label]
        texts += [ax.yaxis.label] + _ticks(ax)
        texts += ax.get_legend().get_texts() if ax.get_legend() else []
    seen = [t for t in texts if t.get_visible() and t.get_text().strip()]
    return [(t, t.get_window_extent(renderer)) for t in seen]


def _ticks(ax):
    """The labels of ticks within the limits, which alone are drawn."""
    found = []
    for axis, (low, high) in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        low, high = sorted((low, high))
        wide = 1e-6 * (high - low)
        for tick in axis.get_major_ticks():
            if low - wide <= tick.get_loc() <= high + wide and tick.label1.get_visible():
                found += [tick.label1]
            if low - wide <= tick.get_loc() <= high + wide and tick.label2.get_visible():
                found += [tick.label2]
    return found


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Layout(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pages = gallery.pages()
        for _, made in cls.pages:
            made.figure.canvas.draw()

    def each(self, medium=None):
        for key, made in self.pages:
            if medium in (None, key[3]):
                yield key, made

    def test_every_figure_is_there(self):
        from report.figures import figures

        names = {key[0] for key, _ in self.pages}
        self.assertEqual(names, {*figures.NAMED, "comparison", *TITLES_OF_TRACES})

    def test_no_words_lie_over_others(self):
        found = []
        for key, made in self.each():
            air = TOUCH * made.figure.dpi / 72
            words = words_of(made)
            for i, (one, a) in enumerate(words):
                for other, b in words[i + 1 :]:
                    x = min(a.x1, b.x1) - max(a.x0, b.x0)
                    y = min(a.y1, b.y1) - max(a.y0, b.y0)
                    if x > air and y > 3 * air:
                        found.append((*key, one.get_text(), other.get_text()))
        self.assertEqual(found, [])

    def test_all_words_are_on_the_page(self):
        found = []
        for key, made in self.each():
            whole, air = made.figure.bbox, made.figure.dpi / 72
            for text, box in words_of(made):
                if box.x0 < -air or box.y0 < -air or box.x1 > whole.x1 + air:
                    found.append((*key, text.get_text()))
        self.assertEqual(found, [])

    def test_no_letters_are_too_small(self):
        for key, made in self.each():
            least = min(text.get_fontsize() for text, _ in words_of(made))
            self.assertGreaterEqual(least, style.LEAST, key)

    def test_a_title_takes_two_lines_at_most(self):
        for key, made in self.each("SHEET"):
            bold = [t for t in made.figure.texts if t.get_weight() == "bold"]
            bold = [t for t in bold if t.get_color() != "white"]
            self.assertIn(len(bold), (1, 2), key)
            self.assertTrue(made.caption[0].startswith(bold[0].get_text()), key)

    def test_notes_are_three_lines_and_one_of_provenance(self):
        for key, made in self.each("SHEET"):
            small = [t for t in made.figure.texts if t.get_fontsize() == style.TINY]
            grey = [t for t in small if t.get_color() == style.GREY]
            self.assertEqual(len(grey), 1, key)
            self.assertLessEqual(len(small) - 1, page.NOTES, key)

    def test_a_caption_is_short_and_begins_with_the_claim(self):
        for key, made in self.each():
            said = " ".join(made.caption)
            self.assertLess(len(re.findall(r"\w[\w.,/:]*", said)), 40, key)
            self.assertTrue(made.notes, key)


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Lines(unittest.TestCase):
    def broken(self, words, *rooms):
        return lines.of_title(words, len, rooms)

    def test_a_number_keeps_to_its_unit_and_an_interval_to_itself(self):
        words = "png loses 21.4 % (20.0 to 22.1 %) here"
        for room in range(17, 40):
            for line in self.broken(words, room)[:-1]:
                self.assertFalse(re.search(r"\d$|\(\S+$|to$", line), (room, line))

    def test_two_lines_are_alike_and_prefer_a_pause(self):
        self.assertEqual(self.broken("aaaa bbbb cccc dddd", 14), ["aaaa bbbb", "cccc dddd"])
        self.assertEqual(self.broken("aaaa: bb ccccc", 9), ["aaaa:", "bb ccccc"])
        self.assertEqual(self.broken("aaaa bbbb", 9), ["aaaa bbbb"])

    def test_the_first_room_is_the_first_line_s_alone(self):
        self.assertEqual(self.broken("aaaa bbbb cccc", 5, 20), ["aaaa", "bbbb cccc"])

    def test_notes_that_are_cut_say_so(self):
        found = lines.of_notes("word " * 40, 20, 3)
        self.assertEqual(len(found), 3)
        self.assertTrue(found[-1].endswith(" …"))
        self.assertLessEqual(max(map(len, found)), 20)
        self.assertEqual(lines.of_notes("a b", 20, 3), ["a b"])
        self.assertEqual(lines.of_notes("aaaa · bbbb · cccc", 13, 1), ["aaaa · bbbb …"])


if __name__ == "__main__":
    unittest.main()
