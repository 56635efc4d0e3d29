"""B beside A as a figure and as a page: what differs first, the ratios, both answers."""

import base64
import contextlib
import hashlib
import html.parser
import importlib.util
import os
import re
import types
import unittest
from unittest import mock

import sound
from report.compare import compare, compare_page, verdicts
from report.page import html_template
from test_compare import LATER, Compared, steady
from test_figures import HAVE_MATPLOTLIB

HAVE_JINJA2 = importlib.util.find_spec("jinja2") is not None
HAVE_ANSWER = importlib.util.find_spec("report.answer") is not None

if HAVE_MATPLOTLIB:
    import drawn
    from report.compare import comparison
    from report.look import style


def many(**rates):
    return {
        "ceiling": steady()["ceiling"],
        **{data: steady(jpeg=r)["jpeg"] for data, r in rates.items()},
    }


class Sides(Compared):
    """Two ledgers on disk, read and compared."""

    def compared(self, a, b, *across, margin=0.01):
        folders = [sound.folder(self.parent, name, r) for name, r in (("a", a), ("b", b))]
        rules = verdicts.Rules(margin, across)
        with contextlib.redirect_stderr(None):
            sides = [compare._read(folder) for folder in folders]
            pairs = compare._pairs(*sides, rules)
        (found,) = verdicts.compare([pairs], rules)
        return *sides, found, rules

    def usual(self):
        """png is slower, jpeg faster, bmp as it was."""
        return self.compared(
            sound.sweep(many(png=500.0, jpeg=400.0, bmp=600.0)),
            sound.sweep(many(png=400.0, jpeg=440.0, bmp=600.0), LATER),
        )


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class Forest(Sides):
    def page(self, compared, medium="SHEET"):
        context = drawn.context_of([], medium)
        return drawn.in_style(lambda: comparison.draw(*compared, context), medium)

    def rows(self, page):
        """{the first word of its name: its (ratio, colour, face)}."""
        ax = page.figure.axes[0]
        at = {y: (x, rim, face) for x, y, rim, face, _ in drawn.points(ax)}
        names = zip(ax.get_yticks(), ax.get_yticklabels())
        return {t.get_text().split()[0]: at[y] for y, t in names if y in at}

    def test_a_row_is_the_ratio_with_its_interval(self):
        compared = self.usual()
        found = {c.pair.one.data: c for c in compared[2]}
        page = self.page(compared)
        rows = self.rows(page)
        self.assertAlmostEqual(rows["png"][0], found["png"].rate.ratio)
        self.assertAlmostEqual(rows["png"][0], 0.8, delta=0.01)
        spans = [list(line.get_xdata()) for line in page.figure.axes[0].lines]
        self.assertIn(list(found["png"].rate.interval), spans)
        said = drawn.texts(page)
        self.assertTrue(any(re.match(r"0\.\d{3} \(.* to .*\) slower$", t) for t in said), said)
        self.assertTrue(any(re.match(r"1\.\d{3} \(.* to .*\) faster$", t) for t in said), said)

    def test_what_differs_has_the_colour_of_its_kind_and_the_rest_is_grey(self):
        rows = self.rows(self.page(self.usual()))
        self.assertEqual(rows["png"][1], style.KINDS["png"].colour)
        self.assertEqual(rows["jpeg"][1], style.KINDS["jpeg"].colour)
        self.assertEqual(rows["bmp"][1], style.GREY)
        self.assertEqual(rows["ceiling"][1], style.GREY)

    def test_the_strip_is_the_margin(self):
        (ax,) = self.page(self.usual()).figure.axes
        (strip,) = ax.patches
        self.assertAlmostEqual(strip.get_x(), 1 / 1.01)
        self.assertAlmostEqual(strip.get_x() + strip.get_width(), 1.01)
        self.assertEqual(ax.get_xscale(), "linear")

    def test_a_large_factor_needs_a_log_scale(self):
        a, b = sound.sweep(many(png=100.0)), sound.sweep(many(png=900.0), LATER)
        (ax,) = self.page(self.compared(a, b)).figure.axes
        self.assertEqual(ax.get_xscale(), "log")
        self.assertIn("log scale", ax.get_xlabel())

    def test_what_cannot_be_compared_is_said_and_no_point(self):
        a = sound.sweep(many(png=500.0, jpeg=400.0))
        page = self.page(self.compared(a, sound.sweep(many(png=500.0), LATER)))
        self.assertNotIn("jpeg", self.rows(page))
        self.assertIn("× not comparable: missing in B", drawn.texts(page))

    def test_the_claim_counts_and_names_the_furthest(self):
        compared = self.usual()
        words = comparison.claim(*compared[2:])
        self.assertRegex(
            words,
            r"^B is slower in 1 and faster in 1 of 4 cells: furthest, png 500x375, 2 workers at"
            r" 0\.\d{3} \(0\.\d{3} to 0\.\d{3}\) of A$",
        )
        self.assertIn(words, self.page(compared).caption[0])

    def test_nothing_shown_is_no_equality(self):
        compared = self.compared(sound.sweep(steady()), sound.sweep(steady(), LATER))
        words = comparison.claim(*compared[2:])
        self.assertEqual(words, "Of 2 cells none is shown to be slower or faster in B")

    def test_nothing_compared_is_not_drawn(self):
        once = {"ceiling": [1000.0], "jpeg": [400.0]}
        compared = self.compared(sound.sweep(once), sound.sweep(once, LATER))
        self.assertIsNone(self.page(compared))
        self.assertEqual(comparison.claim(*compared[2:]), "No cell could be compared")

    def test_a_column_has_the_same_rows(self):
        rows = self.rows(self.page(self.usual(), "COLUMN"))
        self.assertEqual(set(rows), {"ceiling", "png", "jpeg", "bmp"})

    def test_axes_that_change_alike_everywhere_are_said_once(self):
        a = sound.sweep(many(png=500.0, jpeg=400.0))
        b = sound.sweep(many(png=400.0, jpeg=400.0), LATER)
        for one in b:
            if one["role"] == "cell":
                one["cell"] = {**one["cell"], "loader": "batch"}
                one["cell_id"] += "b"
        page = self.page(self.compared(a, b, "loader"))
        self.assertIn("From A to B: loader pool → batch.", " ".join(page.notes))
        self.assertNotIn("→", " ".join(drawn.texts(page.figure.axes[0])))

    def test_words_keep_to_the_page(self):
        a, b = (sound.sweep(many(png=r), axes={"decoder": "raw-read"}) for r in (500.0, 300.0))
        for one in b:
            one["started_at"] = LATER
        for medium in ("SHEET", "COLUMN"):
            page = self.page(self.compared(a, b), medium)
            (ax,), renderer = page.figure.axes, page.figure.canvas.get_renderer()
            self.assertGreater(ax.get_window_extent(renderer).width, 0.15 * page.figure.bbox.width)
            for text in [*ax.texts, *ax.get_yticklabels()]:
                box = text.get_window_extent(renderer)
                self.assertTrue(box.x0 >= 0 and box.x1 <= page.figure.bbox.width, text.get_text())

    def test_an_emulated_device_is_marked(self):
        self.assertIn("EMULATED DEVICE", drawn.texts(self.page(self.usual())))


class Across(Compared):
    """The error is the command that works."""

    def test_it_names_the_whole_command(self):
        a = sound.sweep(steady())
        b = sound.sweep(steady(), LATER, axes={"device": "emulated:h200"})
        code, _, err = self.run_on(a, b)
        self.assertEqual(code, 1)
        (command,) = re.findall("`feedrate compare ([^`]*)`", err)
        self.assertTrue(command.endswith(" --across device"), command)
        self.assertEqual(self.run_command(command.split())[0], 0)

    def test_cells_alone_that_differ_get_it_as_a_note(self):
        """The ceilings are alike, as with two storages."""
        a = sound.sweep(steady())
        b = sound.sweep(steady(), LATER)
        for one in b:
            if one["role"] == "cell":
                one["cell"] = {**one["cell"], "io": "uring", "page-cache": "warm"}
                one["cell_id"] = "other"
        code, _, err = self.run_on(a, b)
        self.assertEqual(code, 1)
        (command,) = re.findall("`feedrate compare ([^`]*)`", err)
        self.assertIn("--across io,page-cache", command)

    def test_what_was_typed_already_stays(self):
        a = sound.sweep(steady())
        b = sound.sweep(steady(), LATER, axes={"device": "emulated:h200", "precision": "bf16"})
        _, _, err = self.run_on(a, b, "--across", "device")
        self.assertIn("--across device,precision`", err)


class Elements(html.parser.HTMLParser):
    """The elements of a page, in order, and its words."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.words, self.inside = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.inside.append(tag)

    def handle_endtag(self, tag):
        while tag in self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if self.inside[-1:] != ["style"]:
            self.words.append(data.strip())

    @property
    def said(self):
        return " ".join(word for word in self.words if word)


ANSWER = types.SimpleNamespace(
    found="png loses <b>half</b>",
    limit="storage: 60 of 281 MB/s",
    cost="2 h",
    is_valid=False,
    validity="must not be quoted: throttled",
    next="measure again: feedrate sweep",
    facts=(("device", "EMULATED A100"),),
)


@unittest.skipUnless(HAVE_MATPLOTLIB and HAVE_JINJA2, "matplotlib or Jinja2 is not installed")
class Page(Sides):
    def build(self, compared, found=(ANSWER,)):
        baseline, side, comparisons, rules = compared
        with mock.patch.object(compare_page, "answers", lambda *_: found):
            return compare_page.build(baseline, [(side, comparisons)], rules, "0.1.0", self.fail)

    def test_what_differs_in_the_machines_comes_first(self):
        a, b = sound.sweep(steady()), sound.sweep(steady(), LATER)
        for one in b:
            one["environment"] = {**one["environment"], "cpu": {"model": "Epyc", "cores": 2}}
        said = Elements(self.build(self.compared(a, b))).said
        places = [
            said.index(words)
            for words in (
                "Unlike machines",
                "CPU: Xeon in A, Epyc in B",
                "Of 2 cells",
                "Cell by cell",
            )
        ]
        self.assertEqual(places, sorted(places))

    def test_both_answers_stand_beside_each_other(self):
        text = self.build(self.usual())
        said = Elements(text).said
        for words in ("Limit: storage: 60 of 281 MB/s", "must not be quoted", "EMULATED A100"):
            self.assertEqual(said.count(words), 2, words)
        self.assertNotIn("<b>half", text)
        self.assertIn("&lt;b&gt;half", text)

    def test_the_pictures_lie_in_the_page(self):
        tags = Elements(self.build(self.usual())).tags
        (wide,) = [a["srcset"] for tag, a in tags if tag == "source"]
        (column,) = [a["src"] for tag, a in tags if tag == "img"]
        for url in (wide, column):
            head, _, data = url.partition(",")
            self.assertEqual(head, "data:image/svg+xml;base64")
            self.assertIn(b"<svg", base64.b64decode(data))
        self.assertNotEqual(wide, column)

    def test_nothing_runs_and_nothing_is_loaded(self):
        text = self.build(self.usual())
        tags = Elements(text).tags
        self.assertFalse({"script", "link", "iframe", "object"} & {tag for tag, _ in tags})
        self.assertEqual([a for _, a in tags if any(k.startswith("on") for k in a)], [])
        (policy,) = [a["content"] for _, a in tags if a.get("http-equiv")]
        self.assertIn("default-src 'none'; script-src 'none'; style-src 'sha256-", policy)
        (sheet,) = re.findall("(?s)<style>(.*?)</style>", text)
        digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
        self.assertIn(f"'sha256-{digest}'", policy)

    def test_every_row_of_the_table_is_there(self):
        compared = self.usual()
        tags = Elements(self.build(compared)).tags
        self.assertEqual(sum(tag == "tr" for tag, _ in tags), 1 + len(compared[2]))

    def test_hostile_words_stay_words(self):
        a, b = sound.sweep(steady()), sound.sweep(steady(), LATER)
        for one in b:
            one["environment"] = {**one["environment"], "host": "<script>alert(1)</script>"}
        text = self.build(self.compared(a, b))
        self.assertNotIn("<script", text)
        self.assertIn("&lt;script&gt;alert(1)", text)

    def test_the_command_writes_it_beside_its_table(self):
        path = os.path.join(self.parent, "page.html")
        a, b = sound.sweep(steady()), sound.sweep(steady(jpeg=380.0), LATER)
        with mock.patch.object(compare_page, "answers", lambda *_: (ANSWER,)):
            code, out, err = self.run_on(a, b, "--html", path)
        self.assertEqual(code, 3)
        self.assertIn("slower", out)
        self.assertIn(f"the page is {path}", err)
        with open(path, encoding="utf-8") as file:
            self.assertIn("B is slower in 1 of 2 cells", file.read())

    def test_a_folder_that_is_not_there_is_one_line(self):
        path = os.path.join(self.parent, "none", "page.html")
        with mock.patch.object(compare_page, "answers", lambda *_: ()):
            code, _, err = self.run_on(
                sound.sweep(steady()), sound.sweep(steady(), LATER), "--html", path
            )
        self.assertEqual(code, 1)
        self.assertIn("none: No such file or directory", err.splitlines()[-1])
        self.assertNotIn("Traceback", err)

    @unittest.skipUnless(HAVE_ANSWER, "there is no answer.py")
    def test_the_answers_are_those_of_a_report(self):
        baseline, *_ = self.usual()
        (one,) = compare_page.answers(baseline, "0.1.0")
        self.assertIn("jpeg 500x375 with 2 workers loses 60", one.found)


class Policy(unittest.TestCase):
    def test_without_texts_nothing_runs(self):
        self.assertIn("script-src 'none'; style-src 'none';", html_template.policy([], []))

    def test_each_text_has_its_hash(self):
        words = html_template.policy(["a", "b"], ["c"])
        scripts = re.search("script-src ([^;]*);", words).group(1).split()
        self.assertEqual(len(set(scripts)), 2)
        digest = base64.b64encode(hashlib.sha256(b"a").digest()).decode()
        self.assertEqual(scripts[0], f"'sha256-{digest}'")


if __name__ == "__main__":
    unittest.main()
