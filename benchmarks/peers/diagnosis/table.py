"""What every tool named, in Markdown, from the JSON lines that `run` wrote: for each tool the truth
beside the answer, then every bottleneck.

  python3 benchmarks/peers/diagnosis/table.py traceml.jsonl spdl.jsonl feedrate.jsonl

Of lines of the same tool and bottleneck the last one counts. `none` is right, and so is `unclear`,
where two resources are equally slow. SPDL's headspace has no word for copy: of a slow copy, which
its loader makes, `input` is the most that it can say, and it counts as wrong like the others.
"""

import json
import pathlib
import sys

from bottlenecks import BOTTLENECKS

TRUTHS = ("input", "copy", "compute", "none")
ANSWERS = (*TRUTHS, "unclear", "no answer")
TITLES = {"none": "none (two alike)"}


def answers_of(paths):
    """Tool -> {bottleneck: line}."""
    answers = {}
    for path in paths:
        for text in pathlib.Path(path).read_text().splitlines():
            line = json.loads(text)
            answers.setdefault(line["tool"], {})[line["name"]] = line
    return answers


def row(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def head(*cells):
    return row(*cells) + "\n|" + "---|" * len(cells)


def folded(lines, bottleneck):
    return lines[bottleneck.name]["folded"] if bottleneck.name in lines else "no answer"


def right(lines, bottleneck):
    answer = folded(lines, bottleneck)
    return answer == bottleneck.truth or (bottleneck.truth == "none" and answer == "unclear")


def names_the_stage(line, bottleneck):
    return bool(line and line.get("stages")) and set(line["stages"]) <= set(bottleneck.stages)


def matrix(tool, lines):
    count = sum(right(lines, one) for one in BOTTLENECKS)
    yield f"### {tool}: {count} of {len(BOTTLENECKS)} right\n"
    yield head("is \\ named", *(TITLES.get(answer, answer) for answer in ANSWERS))
    for truth in TRUTHS:
        rows = [folded(lines, one) for one in BOTTLENECKS if one.truth == truth]
        yield row(TITLES.get(truth, truth), *(rows.count(answer) or "" for answer in ANSWERS))
    staged = [one for one in BOTTLENECKS if names_the_stage(lines.get(one.name), one)]
    yield f"\nThe stage as well: {len(staged)} of {len(BOTTLENECKS)}.\n"


def every(answers):
    yield head("bottleneck", "is", *answers)
    for one in BOTTLENECKS:
        cells = []
        for lines in answers.values():
            label = lines[one.name]["label"] if one.name in lines else "no answer"
            cells.append(label if right(lines, one) else f"**{label}**")
        yield row(one.name, TITLES.get(one.truth, one.truth), *cells)
    yield "\nBold: not what it is."


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    answers = answers_of(sys.argv[1:])
    for tool, lines in answers.items():
        print("\n".join(matrix(tool, lines)))
    print("\n".join(every(answers)))


if __name__ == "__main__":
    main()
