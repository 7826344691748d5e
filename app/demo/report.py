"""What the demo measured, and with what; as report.json and report.csv. No Qt."""

from __future__ import annotations

import csv
import io
import json
import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

import psutil

from app.proof.compare import Parted
from engine import HeadstartError, ModelInfo, TurnStats, describe_devices

PACKAGES = ("headstart", "torch", "transformers", "PySide6-Essentials", "pyqtgraph", "numpy")
"""Those whose versions stand in the report."""


Cache = Literal["off", "on", "ahead"]


@dataclass(frozen=True, slots=True)
class Row:
    """One turn with the cache on or off, or on and read ahead while its question was typed. reused_tokens +
    computed_tokens == prompt_tokens, and `ahead_tokens` of the reused ones were read ahead; sizes in bytes. In `passes`
    of the model `accepted_tokens` were written ahead, by guesses that held."""

    turn: int
    cache: Cache
    prompt_tokens: int
    reused_tokens: int
    computed_tokens: int
    written_tokens: int
    ttft_s: float
    tokens_per_s: float
    cache_bytes: int
    ahead_tokens: int = 0
    passes: int = 0
    accepted_tokens: int = 0


Pair = tuple[Row, Row]
"""A turn with the cache and without."""


@dataclass(frozen=True, slots=True)
class Aside:
    """What belongs to a turn besides figures: the conversation it lies in, its question, what there is to see, and the
    answer with the thought before it; `cold_answer` and `cold_thought` are those without the cache where they are other
    ones, "" where they are equal."""

    conversation: str
    question: str
    note: str = ""
    answer: str = ""
    cold_answer: str = ""
    thought: str = ""
    cold_thought: str = ""


@dataclass
class Report:
    """Everything the demo measured. `turns` holds the rows with the cache on and off, `parted` the turns whose answers
    differ, `asides` what belongs to each turn besides. `script` and `about` are the script's name and what it shows."""

    model: ModelInfo
    versions: Mapping[str, str]
    turns: list[Row] = field(default_factory=list)
    parted: list[Parted] = field(default_factory=list)
    script: str = "support"
    about: str = ""
    asides: dict[int, Aside] = field(default_factory=dict)

    @property
    def answers_equal(self) -> bool:
        """Whether the two passes wrote the same tokens in every turn."""
        return not self.parted

    def pairs(self) -> list[Pair]:
        """Each turn with the cache on and off."""
        return list(zip(self.rows("on"), self.rows("off"), strict=True))

    def ahead(self, turn: int) -> list[Row]:
        """The row of a turn whose question was read while it was typed, too; none where it was not."""
        return [row for row in self.rows("ahead") if row.turn == turn]

    def rows(self, cache: Cache) -> list[Row]:
        """The rows of one kind, by turn."""
        return sorted((row for row in self.turns if row.cache == cache), key=lambda row: row.turn)

    def as_json(self) -> str:
        """The content of report.json."""
        content: dict[str, Any] = {
            "model": self.model.name,
            "device": self.model.device,
            "dtype": self.model.dtype,
            "near": self.model.near,
            "versions": dict(self.versions),
            "answers_equal": self.answers_equal,
            "parted": [asdict(parted) for parted in self.parted],
            "turns": [asdict(row) for row in self._ordered()],
        }
        if self.script != "support":
            asides = [{"turn": turn, **asdict(aside)} for turn, aside in sorted(self.asides.items())]
            content = {"script": self.script, **content, "asides": asides}
        return json.dumps(content, indent=2, ensure_ascii=False) + "\n"

    def as_csv(self) -> str:
        """The content of report.csv: the rows of report.json."""
        text = io.StringIO()
        writer = csv.DictWriter(text, [column.name for column in fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in self._ordered())
        return text.getvalue()

    def _ordered(self) -> list[Row]:
        return sorted(self.turns, key=lambda row: (row.turn, row.cache))

    def add_answers(self, turn: int, answer: str, cold_answer: str, thought: str = "", cold_thought: str = "") -> None:
        """Remember what the two runs of a turn wrote."""
        if (answer, thought) == (cold_answer, cold_thought):
            cold_answer = cold_thought = ""
        written = {"answer": answer, "thought": thought, "cold_answer": cold_answer, "cold_thought": cold_thought}
        self.asides[turn] = replace(self.asides[turn], **written)


def make_row(turn: int, cache: Cache, stats: TurnStats) -> Row:
    """The row of a turn that has ended. Raises HeadstartError where the model wrote nothing at all."""
    if stats.ttft_s is None:
        raise HeadstartError(f"The model wrote nothing in turn {turn}, cache {cache}. Try another model.")
    return Row(
        turn=turn,
        cache=cache,
        prompt_tokens=stats.prompt_tokens,
        reused_tokens=stats.reused_tokens,
        computed_tokens=stats.computed_tokens,
        written_tokens=stats.written_tokens,
        ttft_s=stats.ttft_s,
        tokens_per_s=stats.tokens_per_s,
        cache_bytes=stats.cache_bytes,
        ahead_tokens=stats.ahead_tokens,
        passes=stats.passes,
        accepted_tokens=stats.accepted_tokens,
    )


def machine() -> str:
    """Processor, graphics cards, cores, memory and system; never the computer's name. Imports torch."""
    names = dict.fromkeys(device.name for device in reversed(describe_devices().devices))
    memory = psutil.virtual_memory().total / 1e9
    system = f"{platform.system()} {platform.machine()}"
    return f"{', '.join(names)}, {os.cpu_count() or 1} cores, {memory:.0f} GB memory, {system}"


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that the figures were measured with."""
    found = {"python": sys.version.split()[0]}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def save_report(report: Report, folder: Path) -> None:
    """Write report.json and report.csv. Raises OSError."""
    (folder / "report.json").write_text(report.as_json(), "utf-8")
    (folder / "report.csv").write_text(report.as_csv(), "utf-8")


def times_sooner(on: Row, off: Row) -> float | None:
    """How many times sooner the first token came with the cache; None where nothing was reused: both were cold then,
    and differ by chance."""
    return off.ttft_s / on.ttft_s if on.reused_tokens and on.ttft_s > 0 else None
