"""What the workers' time and the CPUs' goes to: a disk that limits looks unlike CPUs that do."""

import csv
import io
import unittest

from ledgers import axes, read_more, record
from report.claims import stage_times, tables, time_shares
from report.ledger import settings, varied
from report.look import style

CEILING = 2470.0
CPU_MS = 0.8  # of an image: decoding and augmenting
LOOK_MS = 0.1  # of it in `read`


def disk_sweep(seek_ms, repetitions=3, counts=(1, 2, 4, 8), cpus=2, **changes):
    """A sweep over workers whose disk serves one read at a time: {workers: …} by the closed form,
    each repetition a little faster than the one before."""
    records = []
    for n in range(repetitions):
        wobble = 1 + 0.002 * n
        records.append(read_more(record(axes(), CEILING, n, "ceiling")))
        for workers in counts:
            rate = wobble * min(1e3 * max(workers, 1) / (seek_ms + CPU_MS), 1e3 / seek_ms)
            rate = min(rate, 1e3 * cpus / CPU_MS, CEILING)
            records.append(
                _run(axes("jpeg", workers=workers, **changes), rate, n, workers, cpus, seek_ms)
            )
        records.append(read_more(record(axes(), CEILING, n, "ceiling", place=1)))
    return records


def _run(cell, rate, repetition, workers, cpus, seek_ms):
    """A run whose workers never wait for room in the queue."""
    seconds, items = 10.0, int(10 * rate)
    each = seconds * max(workers, 1) / items  # what a worker spends on an image, in s
    one = read_more(record(cell, rate, repetition), int(seconds))
    one["stages"] = [
        {
            "name": "read",
            "wall_s": items * (each - 1e-3 * (CPU_MS - LOOK_MS)),
            "cpu_s": items * 1e-3 * LOOK_MS,
            "items": items,
            "bytes": items * 58000,
        },
        *(
            {"name": name, "wall_s": items * 1e-3 * ms, "cpu_s": items * 1e-3 * ms, "items": items}
            for name, ms in (("decode", 0.5), ("augment", 0.2))
        ),
    ]
    busy = rate * 1e-3 * CPU_MS / cpus
    waits = (1 - busy) * (1 if seek_ms > 1 else 0.05)
    one["monitors"].update(
        cpu_busy=busy,
        cpu_other_processes=0.0,
        cpu_iowait=0.9 * waits,
        psi_io_some=0.98 if seek_ms > 1 else 0.1,
    )
    return one


def cells_of(records):
    (setting,) = settings.group(records)
    return setting, {c.workers: c for c in setting.cells}


class Shares(unittest.TestCase):
    def test_a_disk_that_serves_one_read_at_a_time(self):
        _, cells = cells_of(disk_sweep(12.7))
        rate = cells[8].rate.mean
        waits = time_shares.waiting(cells[8], "read")
        self.assertAlmostEqual(waits.mean, 1 - rate * CPU_MS * 1e-3 / 8, places=3)
        self.assertTrue(waits.low <= waits.mean <= waits.high <= 1.0)
        self.assertEqual(waits.n, 3)

    def test_shares_never_pass_the_whole(self):
        _, cells = cells_of(disk_sweep(12.7))
        for run in cells[2].runs:
            run["stages"] = [dict(s, wall_s=9 * s["wall_s"]) for s in run["stages"]]
        self.assertLess(time_shares.waiting(cells[2], "read").mean, 1.0)

    def test_waiting_for_a_cpu_is_no_waiting_for_the_disk(self):
        _, cells = cells_of(disk_sweep(12.7))
        before = time_shares.waiting(cells[2], "read").mean
        for run in cells[2].runs:
            run["cpu_wait_s"] = 10.0  # half of the time of two workers
        self.assertAlmostEqual(time_shares.waiting(cells[2], "read").mean, before - 0.5, places=2)

    def test_dali_asks_with_one_thread(self):
        _, cells = cells_of(disk_sweep(12.7, counts=(4,), loader="dali"))
        self.assertEqual(time_shares._threads(cells[4]), 1)
        _, cells = cells_of(disk_sweep(12.7, counts=(0, 4)))
        self.assertEqual([time_shares._threads(cells[n]) for n in (0, 4)], [1, 4])

    def test_what_a_kernel_does_not_tell_is_unknown(self):
        _, cells = cells_of(disk_sweep(12.7))
        self.assertAlmostEqual(time_shares.of_machine(cells[1], "psi_io_some").mean, 0.98)
        cells[1].runs[1]["monitors"]["psi_io_some"] = -1
        self.assertIsNone(time_shares.of_machine(cells[1], "psi_io_some"))
        self.assertIsNone(time_shares.of_machine(cells[1], "no_such_share"))

    def test_other_programs_are_told_apart_from_the_run(self):
        _, cells = cells_of(disk_sweep(12.7))
        for run in cells[1].runs:
            run["monitors"].update(cpu_busy=0.99, cpu_other_processes=0.95, cpu_iowait=0.01)
        self.assertAlmostEqual(time_shares.own(cells[1]).mean, 0.04)
        cells[1].runs[0]["monitors"]["cpu_other_processes"] = -1
        self.assertIsNone(time_shares.own(cells[1]))

    def test_one_or_two_repetitions_have_no_interval(self):
        _, cells = cells_of(disk_sweep(12.7, repetitions=2))
        self.assertIsNone(time_shares.of_machine(cells[1], "cpu_busy").low)


class Table(unittest.TestCase):
    def test_the_table_holds_the_shares_and_nothing_for_what_is_unknown(self):
        setting, cells = cells_of(disk_sweep(12.7))
        cells[1].runs[0]["monitors"]["psi_io_some"] = -1
        rows = csv.DictReader(io.StringIO(tables.write_csv([setting])))
        rows = {row["workers"]: row for row in rows if row["role"] == "cell"}
        self.assertEqual((rows["1"]["psi_io_some"], rows["2"]["psi_io_some"]), ("", "0.98"))
        self.assertAlmostEqual(
            float(rows["8"]["read_waiting_fraction"]),
            time_shares.waiting(cells[8], "read").mean,
            places=6,
        )
        self.assertLess(float(rows["8"]["cpu_busy"]), 0.04)


DETAILS = ("lowest", "low", "medium", "high", "highest")
MS = dict(zip(DETAILS, (0.50, 0.55, 0.62, 0.70, 0.80)))


def detail_sweep():
    """Four repetitions, each off by its noise: ms of one worker per image, by detail."""
    records = []
    for n, noise in enumerate((0.0, 0.01, -0.01, 0.005)):
        records.append(read_more(record(axes(device="cuda"), 2000.0, n, "ceiling")))
        for detail, usual in MS.items():
            ms = usual * (1 + noise)
            cell = axes("jpeg", device="cuda", workers=1, detail=detail)
            one = read_more(record(cell, 1e3 / ms, n))
            one["stages"] = [
                {"name": name, "wall_s": ms * share, "cpu_s": ms * share, "items": 1000, "bytes": 1}
                for name, share in (("read", 0.1), ("decode", 0.6), ("augment", 0.3))
            ]
            records.append(one)
    return records


class Details(unittest.TestCase):
    """Cells that differ in how much there is to see in their pictures."""

    def setUp(self):
        (self.setting,) = settings.group(detail_sweep())

    def test_totals_are_of_each_repetition(self):
        load = stage_times.load_ms(self.setting.cells[0])
        self.assertEqual([round(ms, 4) for ms in load.points], [0.5, 0.505, 0.495, 0.5025])

    def test_variants_stand_in_the_order_of_the_axis(self):
        names = [s.variant for s in style.series_of(self.setting.cells)]
        self.assertEqual(names, [f"detail {detail}" for detail in DETAILS])

    def test_a_figure_over_them_has_one_line(self):
        axis, cells = varied.over(self.setting.cells)
        self.assertEqual((axis, {c.variant for c in cells}), ("detail", {""}))
        scale = varied.Scale(axis, cells)
        self.assertEqual(scale.words, list(DETAILS))
        self.assertEqual([scale.place(c) for c in cells], [0, 1, 2, 3, 4])

    def test_axes_without_an_order_make_no_line(self):
        loaders = [axes("jpeg", loader=loader) for loader in ("pool", "batch")]
        records = [record(cell, 400.0, n) for cell in loaders for n in (0, 1)]
        (setting,) = settings.group(records)
        self.assertEqual(varied.over(setting.cells), ("", []))

    def test_workers_come_before_any_other_axis(self):
        _, cells = cells_of(disk_sweep(12.7, counts=(0, 2, 8)))
        axis, found = varied.over(list(cells.values()))
        self.assertEqual((axis, len(found)), ("workers", 3))
        scale = varied.Scale(axis, found)
        self.assertEqual((scale.words, scale.places), (["0", "2", "8"], [0.0, 1.0, 3.0]))
        self.assertTrue(scale.has_none_apart)

    def test_the_table_holds_the_time_of_an_image(self):
        rows = csv.DictReader(io.StringIO(tables.write_csv([self.setting])))
        rows = {row["detail"]: row for row in rows if row["role"] == "cell"}
        for detail in DETAILS:
            ends = ("_low95", "", "_high95")
            load = [float(rows[detail]["load_ms_per_image" + end]) for end in ends]
            self.assertEqual(load, sorted(load))
            self.assertAlmostEqual(load[1], MS[detail] * 1.00125, places=6)


if __name__ == "__main__":
    unittest.main()
