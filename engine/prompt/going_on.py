"""An answer that goes on and whose ids are not those that this model would have written: as this model would write it,
with its thought between the marks that the model's format has."""

from __future__ import annotations

from typing import NamedTuple

from engine.prompt.marks import HARMONY_PARTS, AnswerFormat, Marks
from engine.prompt.parts import AnswerReader
from engine.prompt.token_text import as_control
from engine.types import InvalidRequestError, Message

READ_OTHERWISE = (
    "This model would read the beginning of this answer otherwise: its thought, or a mark in its text. Have a new "
    "answer written."
)


class Stretch(NamedTuple):
    """A stretch of an answer. `is_mark`: the format's own text, with special tokens as `as_control` writes them."""

    text: str
    is_mark: bool = False


def as_written(answer: Message, form: AnswerFormat, asked_with: str, reader: AnswerReader | None) -> list[Stretch]:
    """The stretches of an answer behind a prompt that ends with `asked_with`, special tokens as in marks. `reader` is
    what reads the answer there, None where it is its text. Raises InvalidRequestError where that would not find the
    thought and the text which the answer has."""
    stretches = [part for part in _stretches(answer, form, asked_with.rstrip()) if part.text]
    if _read(stretches, reader) != (answer.thought.strip(), answer.content.strip()):
        raise InvalidRequestError(READ_OTHERWISE)
    return stretches


def _stretches(answer: Message, form: AnswerFormat, asked_with: str) -> list[Stretch]:
    thought, content = answer.thought.strip(), answer.content
    header = next((marks for marks in form.marks if marks.kind == "header" and "channel" in marks.opens), None)
    if header is not None:
        return _in_channels(thought, content, header)
    pairs = [marks for marks in form.marks if marks.kind == "thought" and marks.opens and marks.closes]
    opened = [marks for marks in pairs if asked_with.endswith(marks.opens.rstrip())]
    if not pairs or not (opened or thought):
        return [Stretch(content)]
    marks = (opened or pairs)[0]
    opens = Stretch("" if opened else f"{marks.opens}\n", is_mark=True)
    closes = Stretch(f"\n{marks.closes}\n\n" if content else "", is_mark=True)
    return [opens, Stretch(thought), closes, Stretch(content)]


def _in_channels(thought: str, content: str, header: Marks) -> list[Stretch]:
    """Each part behind a header that names its channel. The prompt wrote who speaks, for the first of them."""
    end = HARMONY_PARTS["thought"].closes
    ends = f"{as_control(end)}{as_control('<|start|>')}" if header.is_control else f"{end}<|start|>"
    stretches = []
    if thought:
        stretches += [Stretch(f"{header.opens}analysis{header.closes}", is_mark=True), Stretch(thought)]
    if content and thought:
        stretches.append(Stretch(f"{ends}assistant", is_mark=True))
    if content:
        stretches += [Stretch(f"{header.opens}final{header.closes}", is_mark=True), Stretch(content)]
    return stretches


def _read(stretches: list[Stretch], reader: AnswerReader | None) -> tuple[str, str]:
    """The thought and the text that the reader finds."""
    whole = "".join(part.text for part in stretches)
    if reader is None:
        return "", whole.strip()
    parts = [*reader.add(whole), *reader.finish()]
    thought, text = (
        "".join(part.text for part in parts if part.is_thought == is_thought) for is_thought in (True, False)
    )
    return thought.strip(), text.strip()
