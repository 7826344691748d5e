"""Writes the figures of a bench run (tests/bench/bench.json) into tests/bench/SPEED.md, between the comments that name
its table, and those that the window shows into resources/measured.json.

`python packaging/fill_speed.py` after `make bench OUT=tests/bench/bench.json`
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SPEED, FIGURES = ROOT / "tests" / "bench" / "SPEED.md", ROOT / "tests" / "bench" / "bench.json"
MEASURED = ROOT / "resources" / "measured.json"
BEGIN, END = "<!-- speed table: made by packaging/fill_speed.py -->", "<!-- end of speed table -->"


def table(report: dict) -> str:
    """One line a row of the bench: the value, the bound it must keep and the one it aims at."""
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    lines = [
        f"{report['machine']}; {versions}:",
        "",
        "| # | measure | value | must | aim |",
        "|---|---|---:|---:|---:|",
    ]
    for row in sorted(report["rows"], key=_number):
        value = f"{row['value']:.3g} {row['unit']}" if row["unit"] not in ("ratio", "share") else f"{row['value']:.3g}"
        lines.append(f"| {row['id']} | {row['name']} | {value.strip()} | {row['must']} | {row['aim']} |")
    return "\n".join(lines)


def measured(report: dict) -> dict:
    """Perplexity for each number format."""
    perplexities = [row for row in report["rows"] if row["id"].startswith("Q")]
    return {"perplexity": {row["name"].rpartition(", ")[2]: round(row["value"], 2) for row in perplexities}}


def _number(row: dict) -> tuple[float, int, str]:
    """The rows of the table by number, then what has a letter."""
    digits = "".join(letter for letter in row["id"] if letter.isdigit())
    return (float(digits) if row["id"][0].isdigit() else float("inf"), "ZRQ".find(row["id"][0]), row["id"])


def main() -> None:
    """Replace what stands between the comments, and the file for the window."""
    text = SPEED.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, found, tail = rest.partition(END)
    if not found:
        sys.exit(f"SPEED.md has lost its comments {BEGIN} and {END}")
    report = json.loads(FIGURES.read_text(encoding="utf-8"))
    MEASURED.write_text(json.dumps(measured(report), indent=1) + "\n", encoding="utf-8")
    SPEED.write_text(f"{head}{BEGIN}\n{table(report)}\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
