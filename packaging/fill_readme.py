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
    equal = "The answers of both passes are equal, token by token." if report["answers_equal"] else _parted(report)
    return "\n".join([*lines, "", equal])


def _parted(report: dict) -> str:
    places = ", ".join(
        f"turn {part['turn']} at token {part['token']} ({part['margin']:.2f})" for part in report["parted"]
    )
    return f"The answers part (in brackets the distance between the two best logits there): {places}."


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
