"""index.html: its numbers are the ledger's, every link of it leads somewhere, and what a ledger
says stays text."""

import base64
import hashlib
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

import ledgers
import payloads
from ledgers import axes, paired, record, repetitions, second
from report.claims import claims, tables
from report.figures import figures
from report.figures.context import Context
from report.ledger import ledger, settings
from report.page import html_cells, html_settings, html_svg

try:
    import jinja2  # noqa: F401

    HAVE_JINJA2 = True
except ImportError:
    HAVE_JINJA2 = False

SERIOUS = {"name": "throttled", "severity": "serious", "reason": "hot", "remedy": "cool it"}
VOID = {"meta", "input", "br", "img", "link", "hr", "base"}


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


def svg(words="imgs/s", links=()):
    """As matplotlib writes one: a style sheet, a marker, a clip path, links, text, comments."""
    points = "".join(
        f'<a xlink:href="{link}"><use xlink:href="#m1" x="{n}" y="5" style="fill: #d55e00"/></a>'
        for n, link in enumerate(links)
    )
    return f"""<?xml version="1.0" encoding="utf-8" standalone="no"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="504pt" height="216pt" viewBox="0 0 504 216"
 xmlns="http://www.w3.org/2000/svg" version="1.1">
 <metadata>Matplotlib</metadata>
 <defs><style type="text/css">*{{stroke-linejoin: round}}</style></defs>
 <g id="figure_1"><!-- <script>window.owned=1</script> -->
  <defs><path id="m1" d="M 0 3.123456 C 0.7956 3 0 1 2 3" style="stroke: #000000; fill: none"/>
  <clipPath id="p2"><rect x="1" y="2" width="3" height="4"/></clipPath></defs>
  <g clip-path="url(#p2)">{points}</g>
  <text style="font: 11px 'DejaVu Sans'" x="3" y="4" transform="rotate(-0 3 4)">{words}</text>
 </g>
</svg>"""


def drawn(plan, **changes):
    """What drawing.py yields for a figure."""
    return types.SimpleNamespace(
        **{
            "plan": plan,
            "kinds": ["pdf", "svg"],
            "sentence": "Images per second",
            "finding": f"{plan.module} says so",
            "svg": {"wide": svg(), "column": svg()},
            **changes,
        }
    )


def all_figures(plans):
    """Each with a link to each cell, and one to nowhere."""
    settings_of = dict.fromkeys(plan.setting for plan in plans)
    cells = [c for setting in settings_of for c in setting.ceilings + setting.cells]
    text = svg(links=[*(f"#{cell.anchor}" for cell in cells), "#cell-none"])
    return [drawn(plan, svg={"wide": text, "column": text}) for plan in plans]


class Document(html.parser.HTMLParser):
    """A page, read as a browser without scripts reads it."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.links, self.attributes = [], [], [], []
        self.words, self._open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        self.ids += [value for name, value in attributes if name == "id"]
        self.links += [value for name, value in attributes if name == "href" and tag == "a"]
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open and self._open[-1] == tag, (tag, self._open[-5:])
        self._open.pop()

    def handle_data(self, data):
        if not {"script", "style"} & set(self._open):
            self.words.append(data)

    @property
    def shown(self):
        return " ".join(" ".join(self.words).split())


class Page(unittest.TestCase):
    """Builds pages in a folder of their own."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="feedrate-report-")
        self.addCleanup(shutil.rmtree, self.folder)

    def read(self, records, tail=""):
        """(the settings, the records as read, the ledger's path)."""
        path = ledgers.write(self.folder, records, tail)
        read = ledger.read(path, lambda text: None)
        return settings.group(read), read, path

    def text(self, records, tail="", draw=lambda plans: [], **options):
        from report.page import html_page

        found, read, path = self.read(records, tail)
        context = Context("x/ledger.jsonl", "0.1.0", claims=claims.of(found))
        context.options = types.SimpleNamespace(**{"no_figures": False, **options})
        context.drawn = draw(figures.plan(found))
        return html_page.build(found, read, context, path)

    def build(self, records, tail="", draw=lambda plans: []):
        """The page as a file."""
        page = os.path.join(self.folder, "index.html")
        with open(page, "w", encoding="utf-8", newline="") as file:
            file.write(self.text(records, tail, draw))
        return page

    def cells(self, records):
        """(the rows, {a row's id: what it opens to}, Cells) of all settings."""
        found, read, _ = self.read(records)
        cells = html_cells.Cells(found, read)
        rows = [cells.row(cell) for cell in cells.all]
        return rows, {row: data for s in found for row, data in cells.data(s).items()}, cells

    def one(self, records, start):
        """(the row, what it opens to) of the one cell whose name begins so."""
        rows, opened, _ = self.cells(records)
        (row,) = [row for row in rows if row["name"].startswith(start)]
        return row, opened[row["id"]]


def lines_of(opened):
    """(lines that count, lines of earlier tries)."""
    return tuple([int(one[0][0]) for one in some] for some in opened["records"])


class Rows(Page):
    def test_every_row_leads_to_its_lines(self):
        records = gpus_and_workers()
        rows, opened, _ = self.cells(records)
        self.assertEqual(len({(r["role"], r["cell_id"]) for r in records}), len(rows))
        seen = set()
        for row in rows:
            counted, others = lines_of(opened[row["id"]])
            self.assertTrue(counted)
            self.assertEqual(others, [])
            self.assertEqual(len({records[n - 1]["cell_id"] for n in counted}), 1)
            self.assertEqual([int(n) for n in re.findall(r"\d+", row["lines"])], counted)
            seen |= set(counted)
        self.assertEqual(seen, set(range(1, len(records) + 1)))

    def test_a_row_has_a_key_and_a_word_for_every_column(self):
        rows, opened, _ = self.cells(gpus_and_workers())
        for row in rows:
            data = opened[row["id"]]
            self.assertEqual(len(row["words"]), len(tables.HEAD))
            self.assertEqual(len(data["keys"]), len(tables.HEAD))
            for one in data["records"][0]:
                self.assertEqual(len(one[0]), len(html_cells.RECORD_HEAD))

    def test_a_try_that_was_replaced_is_shown_and_not_counted(self):
        lost = record(axes("jpeg"), None, status="failed", error="gone")
        _, opened = self.one([lost, record(axes("jpeg"), 400.0)], "jpeg")
        self.assertEqual(lines_of(opened), ([2], [1]))

    def test_a_ceiling_without_runs_leads_to_the_records_that_name_it(self):
        records = [record(axes("jpeg"), 250.0, ceiling_imgs_per_s=500.0)]
        _, opened = self.one(records, "ceiling")
        self.assertEqual(lines_of(opened), ([1], []))
        self.assertIn("elsewhere", dict(opened["facts"])["measured"])
        self.assertEqual(opened["records"][0][0][0][2:4], ["500", ""], "of the ceiling alone")

    def test_a_ceiling_of_pairs_leads_to_the_records_that_hold_it(self):
        _, opened = self.one(paired(2, cells=(("jpeg", 400.0), ("png", 200.0))), "ceiling")
        self.assertEqual(lines_of(opened), ([1, 2, 3, 4], []))
        self.assertIn("in pairs", dict(opened["facts"])["measured"])

    def test_missing_cells_are_missing_and_never_zero(self):
        lost = [record(axes("png"), None, n, status="failed", error="gone") for n in range(2)]
        row, opened = self.one(second(repetitions(2) + lost), "png")
        self.assertEqual((row["words"][5], row["marks"]), ("missing: failed", "missing flagged"))
        self.assertIsNone(opened["keys"][5])
        self.assertEqual(dict(opened["facts"])["images/s"], "missing: failed")

    def test_an_invalid_cell_and_a_share_of_an_invalid_ceiling_are_marked(self):
        for spoilt, images, share in (("cell", r" !$", r" !$"), ("ceiling", r"\d$", r" !$")):
            records = second(repetitions(2))
            for r in records:
                r["flags"] = [SERIOUS] if r["role"] == spoilt else []
            row, opened = self.one(second(records), "jpeg")
            facts = dict(opened["facts"])
            self.assertRegex(facts["images/s"], images)
            self.assertRegex(facts["of the ceiling"], share)
            self.assertIn("throttled", facts["not valid"])
            self.assertEqual("invalid" in row["marks"], spoilt == "cell")

    def test_a_cell_says_only_the_axes_that_tell_it_apart(self):
        _, opened = self.one(gpus_and_workers(), "jpeg 500x375, 4 workers, 2 GPUs")
        said = dict(opened["axes"])
        self.assertEqual((said["workers"], said["gpus"], said["data"]), ("4", "2", "jpeg"))
        self.assertNotIn("device", said)
        (setting, *_), _, _ = self.read(gpus_and_workers())
        self.assertIn(("device", "emulated:a100"), html_cells.shared_axes(setting))

    def test_surroundings_are_said_once_and_where_they_differ(self):
        records = second(repetitions(2))
        records[1]["environment"]["host"] = "other"
        _, _, cells = self.cells(records)
        self.assertIn(("commit", "0123456789ab"), cells.surroundings)
        self.assertNotIn("host", dict(cells.surroundings))
        apart = cells.pools()["surroundings"]
        self.assertEqual(apart, [[("host", "host")], [("host", "other")]])

    def test_ids_are_one_of_a_kind_and_plain(self):
        records = repetitions(1) + paired(1, gpus=2) + paired(1, gpus=4)
        records[1]["cell_id"] = 'a "b"<c>'
        found, read, _ = self.read(records)
        cells = html_cells.Cells(found, read)
        ids = [cells.id_of(cell) for cell in cells.all]
        self.assertEqual(len(ids), len(set(ids)))
        for one in ids:
            self.assertRegex(one, r"^cell-[A-Za-z0-9_-]+$")
        self.assertEqual(cells.links()["#cell-a--b--c-"], "#cell-a--b--c-")

    def test_a_link_that_could_mean_two_rows_leads_to_none(self):
        records = paired(1, gpus=2) + paired(1, gpus=4)  # their ceilings have no cell_id
        found, read, _ = self.read(records)
        links = html_cells.Cells(found, read).links()
        self.assertNotIn("#cell-ceiling", links)
        self.assertEqual(len(links), 2)

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
            self.cells(records)


class Flags(Page):
    def flags(self, records):
        found, read, _ = self.read(records)
        return html_settings.flags(found[0], html_cells.Cells(found, read))

    def test_each_stands_once_with_its_count_and_its_largest_share(self):
        records = second(repetitions(3, cells=(("jpeg", 400.0), ("png", 200.0))))
        shares = iter(("7.5", "99", "12"))
        for r in records:
            if r["cell"]["data"] == "jpeg":
                r["flags"] = [
                    {
                        "name": "noisy",
                        "severity": "warning",
                        "reason": f"others took {next(shares)} % of the CPUs",
                    }
                ]
        (flag,) = self.flags(records)
        self.assertEqual((flag["count"], flag["of"]), (1, 3))
        self.assertEqual(flag["reason"], "others took 99 % of the CPUs")
        self.assertEqual(flag["which"], "worst: ")

    def test_the_serious_one_speaks_for_its_name_and_stands_first(self):
        records = second(repetitions(2))
        records[1]["flags"] = [
            {"name": "a", "severity": "warning", "reason": "90 %"},
            {"name": "b", "severity": "warning", "reason": "x"},
            {"name": "a", "severity": "serious", "reason": "5 %"},
        ]
        flags = self.flags(records)
        self.assertEqual([f["name"] for f in flags][:2], ["a", "b"])
        self.assertEqual((flags[0]["severity"], flags[0]["reason"]), ("serious", "5 %"))

    def test_what_follows_from_an_invalid_ceiling_is_said(self):
        records = second(repetitions(2))
        for r in records:
            r["flags"] = [SERIOUS] if r["role"] == "ceiling" else []
        self.assertEqual(
            {f["name"] for f in self.flags(second(records))}, {"throttled", "invalid_ceiling"}
        )


class Embedding(unittest.TestCase):
    """An SVG within the page."""

    def document(self, text, prefix="f1w-", links=()):
        return Document(html_svg.embedded(text, prefix, dict(links)))

    def test_ids_are_its_own_and_references_follow(self):
        text = html_svg.embedded(svg(links=["#cell-a"]), "f1w-", {"#cell-a": "#cell-a"})
        self.assertEqual(Document(text).ids, ["f1w-m1", "f1w-p2"])
        self.assertIn('href="#f1w-m1"', text)
        self.assertIn('clip-path="url(#f1w-p2)"', text)
        self.assertNotIn("xlink", text)

    def test_links_lead_to_rows_or_are_none(self):
        links = ["#cell-a", "#cell-b", "javascript:alert(1)", "http://evil.invalid/", "#m1"]
        found = self.document(svg(links=links), links={"#cell-a": "#cell-a-2"})
        self.assertEqual(found.links, ["#cell-a-2"])
        self.assertEqual(found.tags.count("use"), len(links), "the points stay")
        self.assertIn(("tabindex", "-1"), found.attributes)

    def test_its_style_sheet_metadata_and_comments_stay_behind(self):
        text = html_svg.embedded(svg(), "f1w-", {})
        for words in ("<style", "Matplotlib", "<!", "<?", "script", "504pt"):
            self.assertNotIn(words, text)
        self.assertIn('viewBox="0 0 504 216"', text)
        self.assertIn("M 0 3.12 C 0.79 3 0 1 2 3", text)
        self.assertIn("stroke:#000000;fill:none", text)

    def test_words_stay_words(self):
        for words in payloads.ALL:
            printable = "".join(c for c in words if c.isprintable() and not c.isspace() or c == " ")
            printable = printable.encode("utf-8", "replace").decode()
            text = html_svg.embedded(svg(html.escape(printable)), "f1w-", {})
            found = Document(text)
            self.assertEqual("".join(found.words), printable)
            self.assertEqual(set(found.tags) - html_svg.TAGS - {"clippath"}, set())

    def test_nothing_in_it_can_run_or_load(self):
        bad = [
            "<script>x</script>",
            "<foreignObject><b onclick='x'>y</b></foreignObject>",
            "<g onload='x'><path d='M 0 0'/></g>",
            "<image xlink:href='http://evil.invalid/x.png' width='1' height='1'/>",
            "<use xlink:href='http://evil.invalid/x.svg#a'/>",
            "<path style='fill: url(http://evil.invalid/x)' d='M 0 0'/>",
            r"<path style='fill: \75rl(//evil.invalid/x)' d='M 0 0'/>",
            "<path style='background: image-set(\"//evil.invalid/x\" 1x)' d='M 0 0'/>",
            "<animate onbegin='x'/>",
            "<set attributeName='href' to='javascript:x'/>",
        ]
        for one in bad:
            text = html_svg.embedded(svg().replace("</svg>", one + "</svg>"), "f1w-", {})
            found = Document(text)
            self.assertNotIn("evil", text)
            self.assertNotIn("javascript", text)
            self.assertEqual([n for n, _ in found.attributes if n.startswith("on")], [], one)
            self.assertEqual(set(found.tags) - html_svg.TAGS - {"clippath"}, set(), one)


@unittest.skipUnless(HAVE_JINJA2, "Jinja2 is not installed")
class Whole(Page):
    """The page as text."""

    def test_the_policy_names_script_and_style_and_nothing_else(self):
        text = self.text(gpus_and_workers())
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
        parts = dict(part.split(None, 1) for part in html.unescape(policy.group(1)).split("; "))
        self.assertEqual(parts["default-src"], "'none'")
        self.assertEqual(
            {part for part, words in parts.items() if "unsafe" in words}, {"style-src-attr"}
        )
        for name, tag in (("script-src", "script"), ("style-src", "style")):
            (own,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.S)
            digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
            self.assertEqual(parts[name], f"'sha256-{digest}'")
            self.assertNotIn("<!--", own)
            self.assertNotIn("\r", own)
        self.assertEqual(len(re.findall(r"<script\b", text)), 2)

    def test_the_answer_comes_first_then_the_shares_then_the_rest(self):
        def draw(plans):
            other = next(p for p in plans if p.module == "throughput_vs_workers")
            share = types.SimpleNamespace(**{**vars(other), "module": "share"})
            return [drawn(other), drawn(share, finding="the shares")]

        found = Document(self.text(gpus_and_workers(), draw=draw)).shown
        places = [
            found.index(words)
            for words in ("Next", "the shares", "says so", "All cells", "How the numbers")
        ]
        self.assertEqual(places, sorted(places))

    def test_every_link_leads_somewhere_and_no_id_is_there_twice(self):
        records = gpus_and_workers() + second(repetitions(2, model="resnet18"))
        records[1]["flags"] = [SERIOUS]
        found = Document(self.text(second(records), draw=all_figures))
        self.assertEqual(sorted(found.ids), sorted(set(found.ids)))
        inside = [link[1:] for link in found.links if link.startswith("#")]
        self.assertGreater(len(inside), 100)
        self.assertEqual(set(inside) - set(found.ids), set())
        for link in found.links:
            if not link.startswith("#"):
                self.assertRegex(link, r"^[A-Za-z0-9_.-]+\.(pdf|svg|csv)$")
        self.assertEqual(
            {name for name, _ in found.attributes if name in ("src", "action", "srcset")}, set()
        )

    def test_it_can_be_read_without_a_script(self):
        records = gpus_and_workers() + [record(axes("png"), None, status="failed", error="gone")]
        records[1]["flags"] = [SERIOUS]
        found = Document(self.text(second(records), draw=all_figures))
        for words in (
            "EMULATED DEVICE",
            "missing: failed",
            "throttled (serious), 1 of",
            "cool it",
            "gone",
            "says so",
            "Images per second.",
            "lines 2, 6 and 10",
            "throughput_vs_workers says so 4 GPUs",
            "Training throughput was measured",
        ):
            self.assertIn(words, found.shown)
        self.assertEqual(found.tags.count("figure"), len(figures.plan(self.read(records)[0])))
        self.assertGreater(found.tags.count("svg"), 10)

    def test_several_settings_have_a_list_of_links(self):
        one = Document(self.text(repetitions(3)))
        self.assertNotIn("nav", one.tags)
        two = Document(self.text(repetitions(3) + repetitions(3, model="resnet18")))
        self.assertIn("nav", two.tags)
        self.assertEqual(two.links[1:3], ["#setting-1", "#setting-2"])

    def test_what_may_not_be_quoted_comes_after_what_may(self):
        bad = second(repetitions(3, model="resnet18"))
        for r in bad:
            r["flags"] = [SERIOUS]
        found = Document(self.text(second(bad) + second(repetitions(3))))
        self.assertLess(
            found.shown.index("resnet50"), found.shown.index("resnet18"), found.shown[:400]
        )
        self.assertIn("not to be quoted", found.shown)

    def test_without_figures_it_says_why(self):
        for options, words in (
            ({"no_figures": True}, "--no-figures was given"),
            ({}, "none would say anything"),
        ):
            self.assertIn(words, Document(self.text(repetitions(1), **options)).shown)

    def test_a_figure_without_an_svg_says_so_and_keeps_its_files(self):
        for svgs, why in (({}, "drawn for its files"), ({"wide": "<svg"}, "cannot be read")):
            names = []

            def draw(plans, names=names, svgs=svgs):
                names.append(plans[0].name)
                return [drawn(plans[0], svg=svgs)]

            found = Document(self.text(repetitions(1), draw=draw))
            self.assertIn(why, found.shown)
            self.assertIn(f"{names[0]}.pdf", found.links)

    def test_hostile_names_stay_text(self):
        self.assertGreaterEqual(len(set(payloads.ALL)), 100)
        plain = Document(self.text(second(repetitions(1)), draw=all_figures))
        for n in range(0, len(payloads.ALL), 9):
            names = [*payloads.ALL[n : n + 9], "x" * 200, "a\nb", "'\""]
            records = second(repetitions(1, cells=()))
            for name in names:
                (one,) = second([record(axes(name, decoder=name), 300.0)])
                one["device"]["name"] = one["environment"]["host"] = name
                one.update(started_at=name, error=name, verdict=name)
                one["environment"][name] = {name: name}
                one["capacities"][0].update(resource=name, largest_stage=name)
                one["flags"] = [dict.fromkeys(("name", "severity", "reason", "remedy"), name)]
                records.append(one)
            draw = lambda plans: [
                drawn(plan, finding=names[0], sentence=names[0]) for plan in plans
            ]
            text = self.text(records, draw=draw)
            found = Document(text)
            self.assertEqual(set(found.tags) - set(plain.tags) - {"li", "b", "ul"}, set())
            self.assertEqual(found.tags.count("script"), 2)
            self.assertEqual([a for a in found.attributes if a[0].startswith("on")], [], names)
            block = re.search(r'id="report-data">([^<]*)</script>', text).group(1)
            self.assertTrue(block.isascii())
            self.assertEqual(set(block) & set("<>&\n\r\x7f"), set())
            json.loads(block)
            text.encode("utf-8")

    def test_the_same_ledger_gives_the_same_bytes(self):
        text = self.text(gpus_and_workers(), draw=all_figures)
        self.assertEqual(text, self.text(gpus_and_workers(), draw=all_figures))

    def test_a_torn_tail_and_failures_alone_make_a_page(self):
        lost = [record(axes("jpeg"), None, status="failed", error="gone")]
        self.assertIn("gone", self.text(lost, '{"torn'))

    def test_five_hundred_cells_stay_small(self):
        records = repetitions(6, cells=())
        for size in range(25):
            for workers in range(5):
                changes = {"image-size": f"{500 + size}x375", "workers": workers}
                records += [
                    record(axes(data, **changes), 300.0 + n, n)
                    for data in ("npy", "jpeg", "png", "bmp")
                    for n in range(6)
                ]
        text = self.text(second(records, 2))
        self.assertEqual(text.count("<tr id="), 501)
        self.assertLess(len(text), 1.5e6)


class Command(Page):
    def run_report(self, *options, code=0, **env):
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
            env={**os.environ, "DISPLAY": "", "WAYLAND_DISPLAY": "", **env},
        )
        self.assertEqual(done.returncode, code, done.stderr.decode())
        self.assertNotIn(b"Traceback", done.stderr)
        report = os.path.join(self.folder, "report")
        return done.stderr.decode(), sorted(os.listdir(report)) if os.path.isdir(report) else []

    TABLES = ["files.json", "index.md", "table.csv", "table.md", "table.tex", "workers.csv"]

    def test_no_html_leaves_it_out(self):
        _, files = self.run_report("--no-html")
        self.assertEqual(files, self.TABLES)

    def test_without_jinja2_one_line_says_so_and_the_rest_is_written(self):
        with open(os.path.join(self.folder, "jinja2.py"), "w") as file:
            file.write("raise ModuleNotFoundError('gone', name='jinja2')\n")
        with open(os.path.join(self.folder, "markupsafe.py"), "w") as file:
            file.write("Markup = str\n")
        err, files = self.run_report("--open", code=1, PYTHONPATH=self.folder)
        self.assertEqual(files, self.TABLES)
        (line,) = [line for line in err.splitlines() if "inja2" in line]
        for words in (
            "index.html: Python module jinja2 is missing",
            "pip install Jinja2",
            "--no-html",
        ):
            self.assertIn(words, line)
        self.assertNotIn("not opened", err)

    @unittest.skipUnless(HAVE_JINJA2, "Jinja2 is not installed")
    def test_it_is_written(self):
        err, files = self.run_report()
        self.assertIn("index.html", files)
        self.assertNotIn("not opened", err)

    @unittest.skipUnless(HAVE_JINJA2, "Jinja2 is not installed")
    @unittest.skipIf(sys.platform == "darwin", "there is always a display")
    def test_without_a_display_it_says_where_the_page_is(self):
        err, _ = self.run_report("--open")
        page = os.path.join(self.folder, "report", "index.html")
        self.assertIn(f"{page}: not opened, as this machine has no display", err)

    @unittest.skipUnless(HAVE_JINJA2, "Jinja2 is not installed")
    @unittest.skipIf(sys.platform == "darwin", "it would open a browser")
    def test_with_a_display_the_browser_gets_its_address(self):
        asked = os.path.join(self.folder, "asked")
        browser = os.path.join(self.folder, "browser")
        with open(browser, "w") as file:
            file.write(f'#!/bin/sh\nprintf %s "$1" >{asked}\n')
        os.chmod(browser, 0o755)
        err, _ = self.run_report("--open", DISPLAY=":0", BROWSER=f"{browser} %s")
        with open(asked) as file:
            self.assertRegex(file.read(), r"^file:///.*/report/index\.html$")
        self.assertNotIn("not opened", err)

    def test_open_without_a_page_is_a_mistake(self):
        err, _ = self.run_report("--open", "--no-html", code=2)
        self.assertIn("--open: with --no-html there is no page to open", err)


if __name__ == "__main__":
    unittest.main()
