"""Writes the demo's figures (report.json) into README.md, between the two comments that name the table.

`python packaging/fill_readme.py out/pictures/report.json`
"""

import json
import sys
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
BEGIN, END = "<!-- demo table: made by `make pictures` -->", "<!-- end of demo table -->"


def table(report: dict) -> str:
    """One row a turn: what was read with and without the cache, and how long the first token took."""
    lines = [
        f"{report['model']}, {report['device']}, {report['dtype']}:",
        "",
        "| turn | prompt | reused | read | first token | without cache | times faster |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    turns = {(row["turn"], row["cache"]): row for row in report["turns"]}
    for number in sorted({turn for turn, _ in turns}):
        warm, cold = turns[number, "on"], turns[number, "off"]
        sooner = f"{cold['ttft_s'] / warm['ttft_s']:.1f}" if warm["reused_tokens"] else "–"
        lines.append(
            f"| {number} | {warm['prompt_tokens']:,} | {warm['reused_tokens']:,} | {warm['computed_tokens']:,} "
            f"| {warm['ttft_s']:.2f} s | {cold['ttft_s']:.2f} s | {sooner} |"
        )
    equal = (
        "The answers with the cache and without are equal, token by token."
        if report["answers_equal"]
        else _parted(report)
    )
    return "\n".join([*lines, "", equal])


def _parted(report: dict) -> str:
    """The same words as in app/demo/report_words.py."""
    count, parted = len({row["turn"] for row in report["turns"]}), report["parted"]
    places = ", ".join(f"{_place(part['token'])} in turn {part['turn']}" for part in parted)
    return f"The answers are equal in {count - len(parted)} of {count} turns. They part {places}."


def _place(equal: int) -> str:
    return f"after {equal} equal token{'s' * (equal > 1)}" if equal else "at the first token"


def main(path: str) -> None:
    """Replace what stands between the comments."""
    text = README.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, found, tail = rest.partition(END)
    if not found:
        sys.exit(f"README.md has lost its comments {BEGIN} and {END}")
    report = json.loads(Path(path).read_text(encoding="utf-8"))
    README.write_text(f"{head}{BEGIN}\n{table(report)}\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
