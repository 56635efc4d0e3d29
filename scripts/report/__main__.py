"""`python3 scripts/report DIR`: puts scripts/ in place of this folder on the path, so that the
modules here are report.ledger, report.statistics … and shadow nothing of Python's own."""
import os
import sys

if __name__ == "__main__":
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    from report.cli import main

    sys.exit(main(sys.argv[1:]))
