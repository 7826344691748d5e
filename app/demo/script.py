"""What the demo plays: the scripts that come along, and a user's own system prompt and questions. No Qt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

from engine import HeadstartError, ModelInfo

NAMES = ("support", "one-token", "tree", "typing")
TITLES = {
    "support": "A support bot that is not read twice",
    "one-token": "One different token",
    "tree": "A tree of shared prefixes",
    "typing": "It reads while you type",
    "own": "Your own conversation",
}
"""What a script is called on its page and in its bar; "own" is one of the user's own files."""
Before = Literal["", "next day", "cure"]
MOST_BYTES = 5_000_000
"""A text file of the user's that is larger than this was not meant."""


@dataclass(frozen=True, slots=True)
class Step:
    """One question, in the conversation number `chat` of the script, counted from 0.

    `before` says what happens first: "next day" moves the clock, "cure" moves the date out of the system prompt.
    `note` says in a sentence what there is to see.
    """

    question: str
    chat: int = 0
    before: Before = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Script:
    """A system prompt and questions, in order. `titles` are those of the conversations, `about` says what is shown.
    `draft` is a question that is not asked any more: it shows what would come next. `is_typed`: questions are typed
    word by word, and read ahead meanwhile."""

    name: str
    titles: tuple[str, ...]
    system_prompt: str
    steps: tuple[Step, ...]
    about: str = ""
    draft: str = ""
    is_typed: bool = False

    def question_after(self, turns: int) -> str:
        """What would be asked next when this many turns are played."""
        return self.steps[turns].question if turns < len(self.steps) else self.draft or self.steps[0].question

    @property
    def questions(self) -> tuple[str, ...]:
        """The questions alone."""
        return tuple(step.question for step in self.steps)


def read_script(name: str = "support") -> Script:
    """One of the scripts that come along."""
    return {"support": _support, "one-token": _one_token, "tree": _tree, "typing": _typing}[name]()


def read_files(system: Path | None, questions: Path | None) -> Script:
    """A user's own: the system prompt in one file, one question on each line of the other.

    Raises HeadstartError where a file is missing, empty, or no text.
    """
    if system is None or questions is None:
        raise HeadstartError("--system and --questions belong together: give both, or neither.")
    prompt = _read_text(system, "--system").strip()
    lines = _lines(_read_text(questions, "--questions"))
    if not prompt:
        raise HeadstartError(f"{system} is empty. Write the system prompt into it.")
    if not lines:
        raise HeadstartError(f"{questions} is empty. Write one question on each line of it.")
    about = "One conversation under a system prompt of your own."
    return Script("own", (system.stem,), prompt, _asking(lines), about)


def too_long(script: Script, fitting: int, turns: int, system_tokens: int, model: ModelInfo) -> str:
    """What helps where only the first `fitting` of so many turns fit into the model's context. `system_tokens` is what
    the system prompt takes with the shortest question and its answer. What comes along cannot be shortened."""
    is_own = script.name == "own"
    reads = f"{model.name} reads {model.context_length:,}"
    if system_tokens > model.context_length:
        cure = "Shorten the system prompt, or give" if is_own else "Give"
        return f"The system prompt takes about {system_tokens:,} tokens; {reads}. {cure} --model another model."
    said = f"{reads} tokens, and behind the system prompt"
    if not fitting:
        cure = "Shorten it, or give" if is_own else "Give"
        return f"{said} not even the first question fits. {cure} --model another model."
    first = "the first question fits" if fitting == 1 else f"the first {fitting} of {turns} questions fit"
    cure = f"Give --turns {fitting}, shorten the questions," if is_own else f"Give --turns {fitting}"
    return f"{said} only {first}. {cure} or --model another model."


def _support() -> Script:
    questions = _lines(_resource("support_questions.txt"))
    about = "A support bot whose rules and tools take 3,000 tokens answers one short question after the other."
    return Script("support", ("Support bot",), _resource("support_bot.md").strip(), _asking(questions), about)


def _one_token() -> Script:
    support = _support()
    head, _, rules = support.system_prompt.partition("\n\n")
    q = support.questions
    steps = (
        Step(q[0], note="Nothing is cached yet: the whole prompt is read."),
        Step(q[1], note="The prompt begins as before: only the question is read."),
        Step(
            q[2], before="next day", note="The date in the prompt is another one: everything behind it is read again."
        ),
        Step(q[3], before="cure", note="The cure: the date moves to the newest message. The prompt is read once more."),
        Step(q[4], note="From now on only what is new is read."),
        Step(q[5], before="next day", note="The date is another one again, and nothing is read twice."),
    )
    about = "One date near the front of the prompt changes, and 3,000 tokens are read again; then the cure."
    prompt = f"{head}\n\nToday is {{{{date}}}}.\n\n{rules}"
    return Script("one-token", ("One different token",), prompt, steps, about, draft=q[6])


def _typing() -> Script:
    support = _support()
    notes = (
        "The rules are read when the conversation is opened, before anything is typed.",
        "While the question is typed, it is read: the cells of the ribbon turn blue.",
    )
    pairs = zip(support.questions[::2], support.questions[1::2], strict=False)
    *asked, draft = (f"{first} {second}" for first, second in pairs)
    steps = tuple(Step(question, note=notes[min(number, 1)]) for number, question in enumerate(asked))
    about = "Questions are typed at five words a second. What is certain of them is read by the time Enter is pressed."
    return Script("typing", ("Support bot",), support.system_prompt, steps, about, draft, is_typed=True)


def _tree() -> Script:
    titles: list[str] = []
    steps: list[Step] = []
    for line in _lines(_resource("tree_questions.txt")):
        if line.startswith("# "):
            titles.append(line[2:])
        else:
            steps.append(Step(line, len(titles) - 1, note=_branching(steps, line, len(titles) - 1)))
    about = "Four conversations about one document. What they share is read once, and kept once."
    draft = "How and when do we get the deposit for the card back?"
    return Script("tree", tuple(titles), _resource("tree_document.md").strip(), tuple(steps), about, draft)


def _branching(before: list[Step], question: str, chat: int) -> str:
    if not before:
        return "Nothing is cached yet: the document is read."
    if before[-1].chat == chat:
        return "The conversation goes on."
    if any(step.question == question for step in before):
        return "Another conversation begins with the same question: it shares that, too."
    return "Another conversation branches off behind the document."


def _asking(questions: Iterable[str]) -> tuple[Step, ...]:
    return tuple(Step(question) for question in questions)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _resource(name: str) -> str:
    return (files("resources") / "demo" / name).read_text("utf-8")


def _read_text(path: Path, option: str) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise HeadstartError(f"{path} is larger than {MOST_BYTES // 1_000_000} MB. Give {option} a text file.")
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise HeadstartError(f"{path} is no text in UTF-8. Give {option} a text file.", str(error)) from error
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise HeadstartError(f"{path} cannot be read: {reason}. Give {option} a text file.", str(error)) from error
