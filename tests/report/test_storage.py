"""What the runs took from files and from storage, in bytes per second."""

import unittest

from ledgers import repetitions, second
from report.ledger import settings, storage


class Bandwidth(unittest.TestCase):
    def test_storage_bytes_that_the_kernel_does_not_tell_are_unknown(self):
        records = second(repetitions(1))
        known = settings.group(records)[0].cells[0]
        self.assertEqual((storage.files_rate(known), storage.storage_rate(known)), (2.5e7, 2e7))
        for r in records:
            r["monitors"]["storage_read_bytes"] = -1
        cell = settings.group(records)[0].cells[0]
        self.assertIsNone(storage.storage_rate(cell))
        for r in records:
            r["monitors"]["storage_read_bytes"] = 0
        self.assertEqual(storage.storage_rate(settings.group(records)[0].cells[0]), 0.0)
        # one run of the cell is not all of them
        del records[1]["monitors"]["storage_read_bytes"]
        self.assertEqual(records[1]["role"], "cell")
        self.assertIsNone(storage.storage_rate(settings.group(records)[0].cells[0]))

    def test_what_a_cache_serves_is_no_reading(self):
        for cache, known in (("none", True), ("encoded", False), ("sample", False), (None, False)):
            records = second(repetitions(1, cache=cache))
            for r in records:
                r["dataset"] = {"mean_bytes": 1000} if r["role"] == "cell" else None
            cell = settings.group(records)[0].cells[0]
            rates = [
                rate(cell)
                for rate in (storage.files_rate, storage.storage_rate, storage.needed_rate)
            ]
            self.assertEqual([rate is not None for rate in rates], [known] * 3, cache)

    def test_decoding_is_no_reading(self):
        records = second(repetitions(1))
        for r in records:
            r["stages"] = [s for s in r.get("stages", []) if s["name"] == "decode"]
        self.assertIsNone(storage.files_rate(settings.group(records)[0].cells[0]))


if __name__ == "__main__":
    unittest.main()
