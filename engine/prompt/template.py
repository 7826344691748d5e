"""From the messages of a chat to the token ids of a prompt, which stay the same from turn to turn.

The chat template is rendered twice: with the messages' contents, and with a marker in place of each. The second text
shows what between the contents belongs to the template. With that the first text is cut into pieces. A generated answer
is put in as the ids that the model wrote, every other piece is encoded from its text. So the next prompt begins with
exactly the tokens that are in the cache.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from typing import Any

from engine.prompt.rendering import RENDERER, TemplateEndlessError
from engine.prompt.special_tokens import ControlTokens
from engine.prompt.token_text import TokenText, readable
from engine.remembered import Remembered
from engine.types import HeadstartError, InvalidRequestError, Message, ModelError, TokenSpan, Tool

PLAIN_TEMPLATE = (
    "{% for message in messages %}{{ message['role'].capitalize() + ': ' + message['content'] + '\\n\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'Assistant: ' }}{% endif %}"
)
"""For models without a chat template of their own."""

NO_TEXT = "A message holds half of a character, which cannot be read. Delete it, or write the message anew."
NO_TOOLS = (
    "This model's chat template knows no tools. Send the request without them, or choose a model that was trained for "
    "tools, such as a Qwen3 or a Llama-3.1."
)
NO_TOOL_RESULTS = (
    "This model's chat template leaves out what tools returned. Put it into a question, or choose a model that was "
    "trained for tools, such as a Qwen3 or a Llama-3.1."
)

ENDLESS_TEMPLATE = (
    "This model's chat template takes more time or memory than any should, so it was stopped. Download the model "
    "again, or choose another one."
)
NO_PROCESS = "Chat templates are read by a process of its own, which could not be started. Start Headstart again."
REMEMBERED_BYTES = 64_000_000
"""Memory for texts that were encoded, with their tokens; and a quarter as much for answers that were checked."""

log = logging.getLogger("headstart")

_MARK = "\ue000{}\ue001"
_MARKS = re.compile("\ue000(\\d+)\ue001")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as token ids. `spans` says where each message lies; one that the template left out has none."""

    ids: tuple[int, ...]
    spans: tuple[TokenSpan, ...]
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()

    @property
    def system_tokens(self) -> int:
        """Tokens from the start to the end of the system prompt, or with tools to where the first message of the chat
        begins; 0 where the prompt begins with neither."""
        has_system = bool(self.spans) and self.spans[0].role == "system"
        if self.tools:
            return next((span.start for span in self.spans[has_system:]), 0)
        return self.spans[0].end if has_system else 0


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of rendered text, or of generated ids. `message` is its message's number, -1 for the template's text.

    `is_plain` text spells out a special token, and is encoded as the characters that it is made of.
    """

    text: str
    message: int
    ids: tuple[int, ...] = ()
    is_plain: bool = False


@dataclass(frozen=True, slots=True)
class _Setting:
    """What a template gets to see besides the messages. `now` is the same for all renderings of one prompt."""

    now: datetime
    tools: tuple[dict[str, Any], ...] = ()


class PromptBuilder:
    """Builds prompts with one tokenizer (a transformers fast tokenizer) and its chat template.

    The model knows the tokens below `vocabulary`. Two threads may build at the same time.
    """

    def __init__(self, tokenizer: Any, vocabulary: int = sys.maxsize) -> None:
        self.tokenizer = tokenizer
        self._vocabulary = vocabulary
        if not tokenizer.chat_template:
            tokenizer.chat_template = PLAIN_TEMPLATE
        self._text = TokenText(tokenizer)
        self._control = ControlTokens(tokenizer, self._between_messages())
        self.tokenizer("", add_special_tokens=False)  # sets truncation and padding once: after that calls may overlap
        self._encode = Remembered(self._encode_text, REMEMBERED_BYTES)
        self._says = Remembered(self._says_text, REMEMBERED_BYTES // 4)

    @property
    def nbytes(self) -> int:
        """What is remembered of texts that were encoded."""
        return self._encode.nbytes + self._says.nbytes

    def build(self, messages: Sequence[Message], day: date | None = None, tools: Sequence[Tool] = ()) -> Prompt:
        """The prompt that asks for the next answer. `day` is what a template that prints a date gets to see.

        Raises InvalidRequestError where the template refuses the messages, or leaves out tools or what they returned,
        and where a text cannot be encoded.
        """
        _check_encodable(messages, tools)
        now = datetime.combine(day, time(12)) if day else datetime.now()
        pieces = self._pieces(messages, _Setting(now, self._described(tools)))
        ids: list[int] = []
        spans: list[TokenSpan] = []
        for run in _runs(pieces):
            if run[0].ids:
                self._add_span(spans, messages, run[0].message, len(ids), len(ids) + len(run[0].ids))
                ids += run[0].ids
            else:
                self._add_text(ids, spans, messages, run)
        return Prompt(tuple(ids), tuple(spans), tuple(messages), tuple(tools))

    def _pieces(self, messages: Sequence[Message], setting: _Setting) -> list[_Piece]:
        """The rendered text cut into the template's own parts and the messages' contents."""
        text = self._render([(m.role, m.content) for m in messages], setting)
        marked = [(m.role, _MARK.format(i)) for i, m in enumerate(messages)]
        frame = self._render(marked, setting)
        if setting.tools and frame == self._render(marked, replace(setting, tools=())):
            raise InvalidRequestError(NO_TOOLS)
        literals = _MARKS.split(frame)
        order = [int(number) for number in literals[1::2]]
        if any(m.role == "tool" and index not in order for index, m in enumerate(messages)):
            raise InvalidRequestError(NO_TOOL_RESULTS)
        pieces = _align(text, literals[::2], order, messages) or [_Piece(self._render_harmless(messages, setting), -1)]
        pieces = [piece if self._wrote(piece, messages) else replace(piece, ids=()) for piece in pieces]
        return [replace(piece, is_plain=self._spells_special(piece)) for piece in pieces]

    def _between_messages(self) -> list[str]:
        """What the template writes between one message and the next; nothing where it refuses plain questions."""
        roles = ("user", "assistant", "user")
        try:
            frame = self._render([(role, _MARK.format(i)) for i, role in enumerate(roles)], _Setting(datetime.now()))
        except InvalidRequestError:
            return []
        return _MARKS.split(frame)[2:-1:2]

    def _wrote(self, piece: _Piece, messages: Sequence[Message]) -> bool:
        """Whether a piece's ids are this model's. Those of another model's answer mean something else here."""
        content = messages[piece.message].content
        return not piece.ids or (max(piece.ids) < self._vocabulary and self._says(piece.ids, content))

    def _says_text(self, ids: tuple[int, ...], content: str) -> bool:
        """Whether ids read as this content. Of an empty content, which says nothing, none may be a special token."""
        if not content.strip() and not self._control.ids.isdisjoint(ids):
            return False
        return readable(self._text.marked(ids)).strip() == content.strip()

    def _described(self, tools: Sequence[Tool]) -> tuple[dict[str, Any], ...]:
        """Tools as chat templates expect them; special tokens that they spell out are broken up."""
        return tuple(
            {
                "type": "function",
                "function": {
                    "name": self._control.broken_up(tool.name),
                    "description": self._control.broken_up(tool.description),
                    "parameters": json.loads(self._control.broken_up(tool.parameters)),
                },
            }
            for tool in tools
        )

    def _render_harmless(self, messages: Sequence[Message], setting: _Setting) -> str:
        """The rendered text for templates that change the contents so that they cannot be found again in it.

        Special tokens that the contents spell out are broken up, because nothing tells them from the template's own.
        """
        log.info("the chat template changes what is written: answers are encoded anew")
        return self._render([(message.role, self._control.broken_up(message.content)) for message in messages], setting)

    def _spells_special(self, piece: _Piece) -> bool:
        return piece.message >= 0 and not piece.ids and self._control.are_in(piece.text)

    def _add_text(
        self, ids: list[int], spans: list[TokenSpan], messages: Sequence[Message], run: Sequence[_Piece]
    ) -> None:
        """Encode neighbouring pieces of text as one, and find each message's tokens by its characters."""
        new, starts = self._encode("".join(piece.text for piece in run), run[0].is_plain)
        at = 0
        for piece in run:
            if piece.message >= 0:
                start, end = bisect_left(starts, at), bisect_left(starts, at + len(piece.text))
                self._add_span(spans, messages, piece.message, len(ids) + start, len(ids) + end)
            at += len(piece.text)
        ids += new

    @staticmethod
    def _add_span(spans: list[TokenSpan], messages: Sequence[Message], message: int, start: int, end: int) -> None:
        spans.append(TokenSpan(message, messages[message].role, start, end))

    def _encode_text(self, text: str, is_plain: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Ids of a text, and for each the character it begins at. Plain text is one piece: then all are 0."""
        if is_plain:
            ids = self._control.as_characters(text)
            return tuple(ids), (0,) * len(ids)
        encoded = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        return tuple(encoded["input_ids"]), tuple(start for start, _ in encoded["offset_mapping"])

    def _render(self, messages: Sequence[tuple[str, str]], setting: _Setting) -> str:
        """The text that the template makes of these messages. `apply_chat_template` takes no clock from us."""
        tools = list(setting.tools) or None
        seen = {
            **self.tokenizer.special_tokens_map,
            "messages": [{"role": role, "content": content} for role, content in messages],
            "tools": tools,
            "documents": None,
            "add_generation_prompt": True,
            "date_string": setting.now.strftime("%d %b %Y"),
        }
        try:
            return RENDERER.render(self.tokenizer.get_chat_template(tools=tools), seen, setting.now)
        except TemplateEndlessError as error:
            raise ModelError(ENDLESS_TEMPLATE, str(error)) from error
        except OSError as error:
            raise HeadstartError(NO_PROCESS, str(error)) from error
        except Exception as error:  # what the template says is for whoever wrote the messages
            has_tools = setting.tools or any(role == "tool" for role, _ in messages)
            advice = "without tools" if has_tools else "without a system prompt"
            raise InvalidRequestError(
                f"This model's chat template does not accept these messages. Try {advice}.", str(error)
            ) from error


def _check_encodable(messages: Sequence[Message], tools: Sequence[Tool]) -> None:
    """Raise InvalidRequestError where a string holds half of a character (a lone surrogate), which is no text."""
    texts = [text for message in messages for text in (message.role, message.content)]
    texts += [text for tool in tools for text in (tool.name, tool.description, tool.parameters)]
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        raise InvalidRequestError(NO_TEXT, str(error)) from error


def _runs(pieces: Sequence[_Piece]) -> list[list[_Piece]]:
    """The pieces in groups that are encoded at once: neighbouring texts together, every other piece on its own."""
    runs: list[list[_Piece]] = []
    for piece in pieces:
        if runs and not any(part.ids or part.is_plain for part in (piece, runs[-1][0])):
            runs[-1].append(piece)
        else:
            runs.append([piece])
    return runs


def _align(
    text: str, literals: Sequence[str], order: Sequence[int], messages: Sequence[Message]
) -> list[_Piece] | None:
    """Cut a rendered text into pieces: the template's `literals`, and between them the contents of messages in `order`.

    None where the template changes contents in a way that cannot be followed. Then all of the text is encoded as it is.
    """
    is_told_apart = sorted(set(order)) == sorted(order) and all(number < len(messages) for number in order)
    if not text.startswith(literals[0]) or not is_told_apart:
        return None
    pieces = [_Piece(literals[0], -1)]
    at = len(literals[0])
    for message, literal in zip(order, literals[1:], strict=True):
        content = _content_at(text, at, messages[message].content, literal, is_last=message == order[-1])
        if content is None:
            return None
        whole = content.strip() == messages[message].content.strip()
        ids = messages[message].token_ids if whole else ()
        if ids:
            pieces[-1] = _Piece(_before_answer(pieces[-1].text, literals[-1]), -1)
        pieces += [_Piece(content, message, ids), _Piece(literal, -1)]
        at += len(content) + len(literal)
    return [piece for piece in pieces if piece.text or piece.ids or piece.message >= 0] if at == len(text) else None


def _before_answer(literal: str, request: str) -> str:
    """The template's text before a generated answer, as it stood when the answer was asked for.

    Some templates (Mistral) write blanks in front of an answer only when it is there. `request` is the text that asks
    for the next answer.
    """
    return request if literal.startswith(request) and literal[len(request) :].isspace() else literal


def _content_at(text: str, at: int, content: str, literal: str, *, is_last: bool) -> str | None:
    """The form in which a message's content stands at character `at` of the text, or None where none fits.

    That is the whole content, or trimmed, or without the reasoning at its start, or as a JSON string, which is how some
    templates (Llama-3.1) quote what a tool returned.
    """
    rest = len(text) - at - len(literal)
    answer = content.rpartition("</think>")[2]
    stripped = [part for whole in (content, answer) for part in (whole, whole.rstrip(), whole.lstrip(), whole.strip())]
    quoted = json.dumps(content, ensure_ascii=False)[1:-1]
    for candidate in (*stripped, answer.lstrip("\n"), answer.strip("\n"), quoted):
        fits = len(candidate) == rest if is_last else True
        if fits and text.startswith(candidate, at) and text.startswith(literal, at + len(candidate)):
            return candidate
    return None
