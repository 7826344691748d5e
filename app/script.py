"""The demo's conversation: a support bot with its rules and tools, and a customer's questions. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Script:
    """The system prompt (about 3,000 tokens with its tool list) and the questions (about 50 tokens each), in order."""

    title: str
    system_prompt: str
    questions: tuple[str, ...]


def read_script() -> Script:
    """The script that comes with the program."""
    folder = files("resources") / "demo"
    prompt = (folder / "support_bot.md").read_text("utf-8").strip()
    questions = (folder / "support_questions.txt").read_text("utf-8").splitlines()
    return Script("Support bot", prompt, tuple(line.strip() for line in questions if line.strip()))
