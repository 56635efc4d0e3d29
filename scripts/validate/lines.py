"""Answers that are kept in a file, a line of JSON each, so that who was interrupted goes on."""

import json
import os


def lines_of(file):
    """What was made already, without a last line that is cut off."""
    if not file or not os.path.exists(file):
        return []
    with open(file, encoding="utf-8") as text:
        whole = [line for line in text if line.endswith("\n")]
    with open(file, "w", encoding="utf-8") as text:
        text.writelines(whole)
    return [json.loads(line) for line in whole]


def append(file, line):
    if file:
        with open(file, "a", encoding="utf-8") as lines:
            lines.write(json.dumps(line) + "\n")
