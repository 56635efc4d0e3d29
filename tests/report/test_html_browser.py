"""index.html in a real browser: nothing that a ledger says runs there, nothing is asked for,
nothing is complained of."""

import unittest

import browser
import ledgers  # noqa: F401  (puts scripts/ on the path)
import payloads
from ledgers import axes, record, repetitions, second
from test_html import HAVE_PLOTLY, Page, gpus_and_workers

# Draws, opens, sorts, filters and points at everything that the page has.
EVERYTHING = """(async () => {
  const wait = () => new Promise((done) => setTimeout(done, 0));
  document.querySelector("[data-theme-name=dark]").click();
  const presses = ".setting .segments button, .runs .chip, th button";
  for (const press of document.querySelectorAll(presses)) {
    press.click();
    await wait();
  }
  for (const legend of [...document.querySelectorAll(".legend")].slice(0, 4)) {
    for (const chip of [...legend.querySelectorAll("button")].slice(0, 2)) {
      chip.click();
      chip.click();
    }
  }
  for (const list of document.querySelectorAll("select")) {
    for (let i = 0; i < Math.min(list.options.length, 4); i += 1) {
      list.selectedIndex = i;
      list.dispatchEvent(new Event("change"));
    }
  }
  for (const field of document.querySelectorAll("input[type=search]")) {
    for (const typed of ["script", ""]) {
      field.value = typed;
      field.dispatchEvent(new Event("input"));
    }
  }
  let hovered = 0;
  for (const one of plots.values()) {
    if (!one.place.isConnected) continue;
    draw(one);
    if (!one.drawn) continue;
    for (let curve = 0; one.place.data && curve < one.place.data.length; curve += 1) {
      if (one.place.data[curve].hoverinfo === "skip") continue;
      const points = (one.place.data[curve].customdata || []).length;
      for (let n = 0; n < Math.min(points, 2); n += 1) {
        Plotly.Fx.hover(one.place, [{ curveNumber: curve, pointNumber: n }]);
        hovered += 1;
      }
    }
    Plotly.Fx.unhover(one.place);
    await wait();
  }
  for (let n = 0; n < report.cells.length; n += 1) {
    openRecords(n);
    for (const details of dialog.querySelectorAll("details")) details.open = true;
    await wait();
  }
  await new Promise((done) => setTimeout(done, 100));
  return hovered;
})()"""


@unittest.skipUnless(HAVE_PLOTLY, "plotly is not installed")
@unittest.skipUnless(
    browser.find(),
    "no Chromium (" + ", ".join(browser.NAMES) + ") is on the PATH; apt-get install chromium",
)
class InTheBrowser(Page):
    def open(self, records, **size):
        page = self.build(records)
        self.browser = browser.Browser(**size)
        self.addCleanup(self.browser.close)
        self.browser.load(page)
        return self.browser

    def assert_harmless(self):
        self.assertEqual(self.browser.complaints, [])
        self.assertEqual(self.browser.dialogs, [])
        self.assertIsNone(self.browser.run("window.owned"))
        self.assertEqual(
            {url.partition(":")[0] for url in self.browser.requests} - {"data"}, {"file"}
        )
        self.assertEqual(len([url for url in self.browser.requests if url.startswith("file:")]), 1)
        self.assertEqual(self.browser.run("document.scripts.length"), 3)
        self.assertEqual(
            self.browser.run(
                "document.querySelectorAll('iframe, object, embed, form, base, link, img, video,"
                " audio').length"
            ),
            0,
        )
        self.assertEqual(
            self.browser.run(
                "document.querySelectorAll('a:not([href^=\"#\"]):not(.modebar-btn)').length"
            ),
            0,
        )
        self.assertEqual(
            self.browser.run(
                """[...document.querySelectorAll("*")].flatMap((one) => [...one.attributes])
            .filter((one) => /^on/i.test(one.name) ||
                /href|src|action/i.test(one.name) && !/^(#|data:image)/i.test(one.value) ||
                one.name === "style" &&
                    /url/i.test(one.value.replace(/url[(]"#[-0-9a-z]*"[)]/g, "")))
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
            one.update(
                {
                    "dataset": {"path": text, "variant": text},
                    "verdict": text,
                    "started_at": text,
                    "error": text,
                    text: text,
                }
            )
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
            one["monitors"][text] = 0.5
            one["monitors"]["series"][text] = [1]
            records.append(one)
            records += second(
                [record(axes("png", **{"image-size": text}), None, n, status="failed", error=text)]
            )[: n % 3]
        page = self.open(records)
        self.assertGreater(page.run(EVERYTHING), 100)
        shown = page.run("document.body.textContent")
        self.assertIn("<script>window.owned=1;alert(1)</script>", shown.split("report-data")[0])
        self.assert_harmless()

    def test_no_payload_runs_from_axes_and_titles(self):
        records = []
        for n in range(0, len(payloads.ALL), 14):
            for text in payloads.ALL[n : n + 14]:
                records += second(
                    repetitions(
                        1,
                        model=payloads.ALL[n],
                        precision=payloads.ALL[n],
                        **{
                            "image-size": text,
                            "input-size": payloads.ALL[n],
                            "cache": text,
                            "device": "emulated:" + payloads.ALL[n],
                        },
                    )
                )
        self.open(records).run(EVERYTHING)
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

    def test_everything_is_drawn_and_opens(self):
        page = self.open(gpus_and_workers())
        for event in ("beforeprint", "afterprint"):
            page.run(f"window.dispatchEvent(new Event('{event}'))")
        page.run(EVERYTHING)
        self.assert_harmless()
        self.assertEqual(
            page.run(
                """[...plots.values()].filter((one) =>
            one.place.isConnected && one.place.clientWidth &&
                !one.place.querySelector(".main-svg")).length"""
            ),
            0,
        )
        self.assertIn("ledger line", page.run("dialog.textContent"))
        self.assertIn('"cell_id"', page.run("dialog.querySelector('pre').textContent"))

    def test_a_click_on_a_point_and_on_a_row_opens_its_lines(self):
        page = self.open(gpus_and_workers())
        page.run("document.querySelector('tbody tr:nth-child(5) td:nth-child(3)').click()")
        row = page.run("document.querySelector('tbody tr:nth-child(5) td:last-child').textContent")
        self.assertIn(row.replace(", ", ", ").split(",")[0], page.run("dialog.textContent"))
        page.run("dialog.close()")
        page.run(
            """(() => {
            const one = [...plots.values()].find((p) => p.file.startsWith("throughput_vs_workers"));
            draw(one);
            const n = one.place.data.findIndex((t) => t.customdata && t.customdata.length);
            const point = {customdata: one.place.data[n].customdata[0]};
            one.place.emit("plotly_click", {points: [point]});
            })()"""
        )
        self.assertTrue(page.run("dialog.open"))

    def test_the_table_sorts_and_filters_and_keeps_the_missing_last(self):
        records = gpus_and_workers() + [record(axes("png"), None, status="failed")]
        page = self.open(records)
        rates = (
            "[...document.querySelectorAll('tbody tr td:nth-child(6)')].map((one) =>"
            " parseFloat(one.textContent.replace(',', '')))"
        )
        for _ in range(2):
            page.run("document.querySelector('th:nth-child(6) button').click()")
            found = page.run(f"{rates}.map((rate) => Number.isNaN(rate) ? null : rate)")
            self.assertIsNone(found[-1])
            down = (
                page.run("document.querySelector('th:nth-child(6)').getAttribute('aria-sort')")
                == "descending"
            )
            self.assertEqual(found[:-1], sorted(found[:-1], reverse=down))
        page.run(
            "(() => { const f = document.querySelector('input[type=search]'); f.value = 'png';"
            " f.dispatchEvent(new Event('input')); })()"
        )
        self.assertEqual(page.run("document.querySelectorAll('tbody tr').length"), 1)

    def test_a_phone_needs_no_sideways_scrolling(self):
        page = self.open(gpus_and_workers())
        page.size(360, 740, phone=True)
        page.run("new Promise((done) => setTimeout(done, 300))")
        page.run(EVERYTHING)
        page.run("dialog.close()")
        self.assertLessEqual(page.run("document.documentElement.scrollWidth"), 360)
        wide = page.run(
            "[...document.querySelectorAll('.plot .main-svg')].filter((one) =>"
            " one.getBoundingClientRect().right > 360).length"
        )
        self.assertEqual(wide, 0)

    def test_dark_is_taken_from_the_system_and_from_the_switch(self):
        page = self.open(repetitions(1))
        back = "getComputedStyle(document.body).backgroundColor"
        page.prefer("light")
        light = page.run(back)
        page.prefer("dark")
        dark = page.run(back)
        self.assertNotEqual(light, dark)
        page.run("document.querySelector('[data-theme-name=light]').click()")
        self.assertEqual(page.run(back), light)
        page.prefer("light")
        page.run("document.querySelector('[data-theme-name=dark]').click()")
        self.assertEqual(page.run(back), dark)


if __name__ == "__main__":
    unittest.main()
