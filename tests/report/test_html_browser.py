"""index.html in a real browser: nothing that a ledger says runs there, nothing is asked for,
nothing is complained of; what the script adds works, and nothing is cut off."""

import unittest

import browser
import ledgers  # noqa: F401  (puts scripts/ on the path)
import payloads
from ledgers import axes, record, repetitions, second
from test_html import HAVE_JINJA2, SERIOUS, Page, all_figures, drawn, gpus_and_workers

# Opens, sorts, filters, enlarges and points at everything that the page has; how many points.
EVERYTHING = """(async () => {
  const wait = () => new Promise((done) => setTimeout(done, 10));
  for (const button of document.querySelectorAll(".cells th button, .command button")) {
    button.click();
    await wait();
  }
  for (const button of document.querySelectorAll(".larger")) {
    button.click();
    await wait();
    document.getElementById("zoom").close();
    await wait();
  }
  for (const field of document.querySelectorAll("input[type=search]")) {
    for (const typed of ["script", ""]) {
      field.value = typed;
      field.dispatchEvent(new Event("input"));
    }
  }
  for (const details of document.querySelectorAll("details")) details.open = true;
  await wait();
  const points = [...document.querySelectorAll(".chart a")];
  for (const point of points)
    point.firstChild.dispatchEvent(new PointerEvent("pointerover", {bubbles: true}));
  await new Promise((done) => setTimeout(done, 100));
  return points.length;
})()"""
# What sticks out at the right, but for what scrolls in a box of its own.
STICKS_OUT = """[...document.querySelectorAll("body *")].filter((one) =>
    one.getBoundingClientRect().right > innerWidth + 1 && !one.closest(".scroll, .skip, svg"))
    .map((one) => `${one.tagName} ${one.className}`)"""


@unittest.skipUnless(HAVE_JINJA2, "Jinja2 is not installed")
@unittest.skipUnless(
    browser.find(),
    "no Chromium (" + ", ".join(browser.NAMES) + ") is on the PATH; apt-get install chromium",
)
class InTheBrowser(Page):
    def open(self, records, draw=all_figures, **size):
        page = self.build(records, draw=draw)
        self.browser = browser.Browser(**size)
        self.addCleanup(self.browser.close)
        self.browser.load(page)
        return self.browser

    def assert_harmless(self):
        page = self.browser
        self.assertEqual(page.complaints, [])
        self.assertEqual(page.dialogs, [])
        self.assertIsNone(page.run("window.owned"))
        self.assertEqual({url.partition(":")[0] for url in page.requests} - {"data"}, {"file"})
        self.assertEqual(len([url for url in page.requests if url.startswith("file:")]), 1)
        self.assertEqual(page.run("document.scripts.length"), 2)
        self.assertEqual(
            page.run(
                "document.querySelectorAll('iframe, object, embed, form, base, link, img, video,"
                " audio').length"
            ),
            0,
        )
        self.assertEqual(
            page.run(
                """[...document.querySelectorAll("*")].flatMap((one) => [...one.attributes])
            .filter((one) => /^on/i.test(one.name) ||
                /href|src|action/i.test(one.name) &&
                    !/^(#|data:image|[\\w.-]+[.](pdf|svg|png|csv)$)/i.test(one.value))
            .map((one) => `${one.name}=${one.value}`)"""
            ),
            [],
        )

    def test_no_payload_runs_from_names_flags_errors_and_surroundings(self):
        records = second(repetitions(1, cells=()))
        for n, text in enumerate(payloads.ALL):
            (one,) = second([record(axes(text, workers=1 + n % 4), 300.0 + n)])
            one["device"]["name"] = one["environment"]["host"] = one["environment"]["os"] = text
            one["environment"].update({text: text, "command": [text, text]})
            one["dataset"] = {"path": text, "variant": text}
            one.update({"verdict": text, "started_at": text, "error": text, text: text})
            one["flags"] = [
                {
                    "name": text,
                    "severity": ("serious", "warning", text)[n % 3],
                    "reason": text,
                    "remedy": text,
                }
            ]
            one["stages"][0]["name"] = text
            one["capacities"][0].update(resource=text, largest_stage=text)
            records.append(one)
            lost = [
                record(axes("png", **{"image-size": text}), None, n, status="failed", error=text)
            ]
            records += second(lost)[: n % 3]
        page = self.open(records)
        self.assertGreater(page.run(EVERYTHING), 100)
        self.assertIn(
            "<script>window.owned=1;alert(1)</script>",
            page.run("document.getElementById('main').textContent"),
        )
        self.assert_harmless()

    def test_no_payload_runs_from_axes_and_titles(self):
        records = []
        for n in range(0, len(payloads.ALL), 14):
            for text in payloads.ALL[n : n + 14]:
                changes = {"image-size": text, "input-size": payloads.ALL[n], "cache": text}
                changes["device"] = "emulated:" + payloads.ALL[n]
                records += second(
                    repetitions(1, model=payloads.ALL[n], precision=payloads.ALL[n], **changes)
                )
        texts = iter(payloads.ALL * 9)
        draw = lambda plans: [drawn(p, finding=next(texts), sentence=next(texts)) for p in plans]
        self.open(records, draw).run(EVERYTHING)
        self.assert_harmless()

    def test_markup_that_did_get_in_would_be_stopped_and_noticed(self):
        page = self.open(repetitions(1))
        page.run(
            "document.body.insertAdjacentHTML('beforeend', '<img src=x"
            ' onerror="window.owned=1">\')'
        )
        page.run("new Promise((done) => setTimeout(done, 200))")
        self.assertIsNone(page.run("window.owned"))
        self.assertTrue(
            [c for c in page.complaints if "Content Security Policy" in c], page.complaints
        )

    def test_everything_opens_and_nothing_is_complained_of(self):
        page = self.open(gpus_and_workers())
        for event in ("beforeprint", "afterprint"):
            page.run(f"window.dispatchEvent(new Event('{event}'))")
        page.run(EVERYTHING)
        self.assert_harmless()
        self.assertEqual(
            page.run("document.querySelectorAll('.opened').length"),
            page.run("document.querySelectorAll('.cells tbody tr[id]').length"),
        )
        self.assertEqual(page.run("document.querySelectorAll('#zoom .chart').length"), 0)

    def test_a_point_shows_its_numbers_and_leads_to_its_row(self):
        page = self.open(gpus_and_workers())
        name = page.run(
            """(() => {
            const point = [...document.querySelectorAll(".wide a")].at(-1);
            const row = document.querySelector(point.getAttribute("href"));
            point.firstChild.dispatchEvent(new PointerEvent("pointerover", {bubbles: true}));
            return row.dataset.name;
            })()"""
        )
        shown = page.run("tip.hidden ? '' : tip.textContent")
        self.assertIn(name, shown)
        self.assertIn("imgs/s: ", shown)
        # the row is there again, whatever was filtered, and open
        page.run(
            """(() => {
            const field = document.querySelector("input[type=search]");
            field.value = "nothing of the kind";
            field.dispatchEvent(new Event("input"));
            const point = [...document.querySelectorAll(".wide a")].at(-1);
            point.dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}));
            })()"""
        )
        page.run("new Promise((done) => setTimeout(done, 200))")
        self.assertEqual(
            page.run(
                "[...document.querySelectorAll('.cells tr[id]')].filter((row) => !row.hidden)"
                ".map((row) => row.dataset.name)"
            ),
            [name],
        )
        self.assertIn("images/s", page.run("document.querySelector('.opened').textContent"))

    def test_a_row_opens_and_closes_by_a_click_anywhere_in_it(self):
        page = self.open(gpus_and_workers())
        press = "document.querySelector('.cells tbody tr[id] td').click()"
        wait = "new Promise((done) => setTimeout(done, 100))"
        for count in (1, 0):
            page.run(press)
            page.run(wait)
            self.assertEqual(page.run("document.querySelectorAll('.opened').length"), count)

    def test_the_table_sorts_and_filters_and_keeps_the_missing_last(self):
        page = self.open(gpus_and_workers() + [record(axes("png"), None, status="failed")])
        rates = (
            "[...document.querySelectorAll('.cells tbody tr[id]')].map((row) =>"
            " report.cells[row.id].keys[5])"
        )
        for down in (False, True):
            page.run("document.querySelector('.cells th:nth-child(6) button').click()")
            found = page.run(rates)
            self.assertIsNone(found[-1])
            self.assertEqual(found[:-1], sorted(found[:-1], reverse=down))
            self.assertEqual(
                page.run(
                    "document.querySelector('.cells th:nth-child(6)').getAttribute('aria-sort')"
                ),
                "descending" if down else "ascending",
            )
        page.run(
            "(() => { const f = document.querySelector('input[type=search]'); f.value = 'png';"
            " f.dispatchEvent(new Event('input')); })()"
        )
        shown = "[...document.querySelectorAll('.cells tr[id]')].filter((r) => !r.hidden).length"
        self.assertEqual(page.run(shown), 1)

    def test_a_figure_opens_larger_and_goes_back(self):
        page = self.open(gpus_and_workers())
        inside = "document.querySelectorAll('#zoom .chart svg').length"
        page.run("document.querySelector('.larger').click()")
        self.assertEqual((page.run("dialog.open"), page.run(inside)), (True, 1))
        page.run("dialog.close()")
        page.run("new Promise((done) => setTimeout(done, 100))")
        self.assertEqual(page.run(inside), 0)
        self.assertEqual(page.run("document.querySelectorAll('figure:not(:has(svg))').length"), 0)

    def test_each_width_shows_its_figure_and_nothing_sticks_out(self):
        records = gpus_and_workers() + [record(axes("x" * 200), 300.0)]
        records[1]["flags"] = [{**SERIOUS, "reason": "y" * 200}]
        page = self.open(second(records))
        for width in (400, 700, 1000, 1600):
            page.size(width, 800, phone=width < 500)
            page.run("new Promise((done) => setTimeout(done, 200))")
            self.assertLessEqual(page.run("document.documentElement.scrollWidth"), width)
            self.assertEqual(page.run(STICKS_OUT), [], width)
            self.assertEqual(
                page.run("getComputedStyle(document.querySelector('.wide')).display"),
                "block" if width >= 720 else "none",
            )

    def test_on_paper_nothing_sticks_out_and_what_is_folded_is_open(self):
        page = self.open(gpus_and_workers())
        page.size(718, 1000)  # A4 less its margins, in CSS pixels
        page.call("Emulation.setEmulatedMedia", media="print")
        page.run("window.dispatchEvent(new Event('beforeprint'))")
        page.run("new Promise((done) => setTimeout(done, 200))")
        self.assertLessEqual(page.run("document.documentElement.scrollWidth"), 718)
        self.assertEqual(
            page.run(
                "[...document.querySelectorAll('.scroll')].filter((one) =>"
                " one.scrollWidth > one.clientWidth + 1).length"
            ),
            0,
        )
        self.assertEqual(
            page.run("document.querySelectorAll('figure details:not([open])').length"), 0
        )
        page.run("window.dispatchEvent(new Event('afterprint'))")
        self.assertEqual(page.run("document.querySelectorAll('details[open]').length"), 0)

    def test_on_paper_what_is_folded_is_seen_without_the_script(self):
        page = self.open(gpus_and_workers())
        seen = (
            "[...document.querySelectorAll('figure details p')].map((one) => one.checkVisibility())"
        )
        self.assertEqual(set(page.run(seen)), {False})
        page.call("Emulation.setEmulatedMedia", media="print")
        self.assertEqual(set(page.run(seen)), {True})
        rows = "[...document.querySelectorAll('.cells details > small')]"
        self.assertEqual(page.run(f"{rows}.filter((one) => one.checkVisibility()).length"), 0)

    def test_dark_is_taken_from_the_system(self):
        page = self.open(repetitions(1))
        back = "getComputedStyle(document.body).backgroundColor"
        seen = "getComputedStyle(document.querySelector('.chart svg')).filter"
        page.prefer("light")
        light = page.run(back)
        self.assertEqual(page.run(seen), "none")
        page.prefer("dark")
        self.assertNotEqual(light, page.run(back))
        self.assertIn("invert", page.run(seen))


if __name__ == "__main__":
    unittest.main()
