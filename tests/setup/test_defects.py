"""The defects of tests/defects are to be planted in the code as it is now."""

import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "defects"))
from defects import DEFECTS  # noqa: E402


class Defects(unittest.TestCase):
    def test_each_has_its_one_place(self):
        self.assertGreaterEqual(len(DEFECTS), 30)
        self.assertEqual(len({defect.name for defect in DEFECTS}), len(DEFECTS))
        for defect in DEFECTS:
            with self.subTest(defect.name):
                with open(os.path.join(ROOT, defect.file), encoding="utf-8") as file:
                    self.assertEqual(file.read().count(defect.old), 1, defect.file)
                self.assertNotEqual(defect.old, defect.new)
                self.assertIn(defect.seen_by, ("behaviour", "sanitizer"))


if __name__ == "__main__":
    unittest.main()
