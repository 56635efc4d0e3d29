"""`python3 scripts/report DIR`, `… compare A B`, `… check DIR`: puts scripts/ in place of this
folder on the path, so that the modules here are report.ledger, report.statistics … and shadow
nothing of Python's own. A folder that is named as a command is given as ./compare, or after the
word report.
"""

import os
import sys

if __name__ == "__main__":
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    from report import interrupts

    name = {"compare": "compare", "check": "validate"}.get("".join(sys.argv[1:2]), "report")
    interrupts.install("feedrate " + name)
    from report import cli
    from report.check import check
    from report.compare import compare

    commands = {"report": cli.main, "compare": compare.main, "check": check.main}
    command = commands.get("".join(sys.argv[1:2]))
    sys.exit(command(sys.argv[2:]) if command else cli.main(sys.argv[1:]))
