"""An answer while it is written: token ids in, what can be shown out, and what it is in the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from engine.prompt.marks import AnswerFormat
from engine.prompt.parts import AnswerReader, Part
from engine.prompt.token_text import as_control
from engine.turn.detokenize import Detokenizer, StopStrings
from engine.types import Message, ToolCall


class WrittenAnswer:
    """Reads an answer token by token. `decode` maps ids to marked text (`TokenText.marked`), `reader` finds the parts;
    None for a model that writes none. Stop strings are looked for in the answer's text, not in its thought.
    `is_one_call`: it has one call of a tool at most. The first `kept` characters of its text were written before.

    `is_stopped` says that one was met, `is_thought` that the last token belonged to the thought. Some models call tools
    behind the token that ends their answers. `is_over` says that something else came there: the answer is its first
    `length` tokens.
    """

    def __init__(
        self,
        decode: Callable[[Sequence[int]], str],
        form: AnswerFormat = AnswerFormat(),  # noqa: B008 - frozen
        reader: AnswerReader | None = None,
        stop: Sequence[str] = (),
        *,
        is_one_call: bool = False,
        kept: int = 0,
    ) -> None:
        self._names = form.names
        self._characters = Detokenizer(decode, form.names)
        self._reader = reader
        self._is_one_call = is_one_call
        self._text = StopStrings(stop, kept)
        self._thought: list[str] = []
        self._count = 0
        self._end: int | None = None  # the tokens before an end behind which a tool call may yet come
        self.is_thought = False
        self.is_over = False

    @property
    def is_stopped(self) -> bool:
        return self._text.is_met

    @property
    def is_thinking(self) -> bool:
        """Whether the next token stands in a thought, unless it ends that."""
        return self._reader is not None and self._reader.is_thought

    @property
    def has_called(self) -> bool:
        """Whether the one call is there that it may hold."""
        return self._is_one_call and self._reader is not None and bool(self._reader.calls)

    @property
    def has_more(self) -> bool:
        """Whether it holds calls that it may not: those behind the first one of a list."""
        return self._is_one_call and self._reader is not None and len(self._reader.calls) > 1

    @property
    def length(self) -> int:
        """How many of the tokens are the answer."""
        return self._count if self._end is None else self._end

    def is_end(self, token: int) -> bool:
        """Whether this token ends the answer where it stands, although it stands within answers elsewhere."""
        name = self._names.get(token)
        return name is not None and self._reader is not None and self._reader.is_end(as_control(name))

    def goes_on(self, token: int) -> bool:
        """Whether a tool call may follow behind this token, which ends answers: only the next ones tell."""
        name = self._names.get(token)
        is_open = name is not None and self._reader is not None and self._reader.may_go_on(as_control(name))
        if is_open:
            self._end = self._count
        return is_open

    def add(self, token: int) -> list[Part]:
        """What can be shown after one more token."""
        text = self._characters.add(token)
        self._count += 1
        if self._reader is None:
            return list(self._shown([Part(text)]))
        if self._end is not None and not self._reader.may_go_on(text):
            self.is_over = True
            return []
        was_thought = self._reader.is_thought
        parts = list(self._shown(self._reader.add(text)))
        self.is_thought = was_thought or self._reader.is_thought
        if self._reader.is_call:
            self._end = None
        return parts

    def finish(self) -> list[Part]:
        """What was held back, at the end of the answer."""
        parts = [Part(self._characters.finish() if self._end is None else "")]
        if self._reader is not None:
            parts = [*self._reader.add(parts[0].text), *self._reader.finish()]
        shown = list(self._shown(parts))
        rest = self._text.add("", is_last=True)
        return [*shown, Part(rest)] if rest else shown

    def message(self, ids: Sequence[int]) -> Message:
        """The answer as it is, written as these ids."""
        calls: Sequence[ToolCall] = self._reader.calls if self._reader else ()
        calls = calls[:1] if self._is_one_call else calls
        return Message("assistant", self._text.text, tuple(ids), "".join(self._thought), tuple(calls))

    def _shown(self, parts: Sequence[Part]) -> Iterator[Part]:
        for text, is_thought in parts:
            if is_thought:
                self._thought.append(text)
            shown = text if is_thought else self._text.add(text)
            if shown:
                yield Part(shown, is_thought)
