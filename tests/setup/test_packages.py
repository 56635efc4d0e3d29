"""The packages of the report import from those before them alone."""

import ast
import pathlib
import unittest

REPORT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "report"
# What each may import from, beside itself and the modules that lie beside the packages.
BEFORE = {
    "ledger": (),
    "look": ("ledger",),
    "claims": ("ledger", "look"),
    "figures": ("ledger", "look", "claims"),
    "answer": ("ledger", "look", "claims", "figures"),
    "page": ("ledger", "look", "claims", "figures", "answer"),
    "deck": ("ledger", "look", "claims", "figures", "answer"),
    "paper": ("ledger", "look", "claims", "figures", "answer"),
    "compare": ("ledger", "look", "claims", "figures", "answer", "page"),
    "check": ("ledger", "look", "claims", "figures"),
}
ABOVE = (
    "cli",
    "several",
    "single",
    "__main__",
    "made",
)  # modules beside the packages that use them
MAKES_IT_AGAIN = "check"  # the whole report, as single does


def imports(path):
    """(package, module) of each relative import; "" for what lies beside the packages."""
    here = path.parent.name if path.parent != REPORT else ""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            words = [here] if node.level == 1 and here else []
            words += node.module.split(".") if node.module else []
            if words and words[0] in BEFORE:
                yield words[0], words[1:] or [a.name for a in node.names]
            else:
                yield "", words or [a.name for a in node.names]


class Packages(unittest.TestCase):
    def test_each_imports_from_those_before_it_alone(self):
        for package, before in BEFORE.items():
            files = sorted((REPORT / package).glob("*.py"))
            self.assertGreater(len(files), 1, package)
            for file in files:
                for other, names in imports(file):
                    with self.subTest(file=str(file.relative_to(REPORT)), imports=other):
                        self.assertIn(other, ("", package, *before))
                        if not other and package != MAKES_IT_AGAIN:
                            self.assertFalse(set(names) & set(ABOVE))

    def test_what_lies_beside_them_imports_none(self):
        for file in sorted(REPORT.glob("*.py")):
            if file.stem not in ABOVE:
                self.assertEqual([p for p, _ in imports(file) if p], [], file.name)

    def test_all_are_known(self):
        found = {p.parent.name for p in REPORT.glob("*/*.py")}
        self.assertEqual(found, set(BEFORE))


if __name__ == "__main__":
    unittest.main()
