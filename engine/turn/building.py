"""The prompt of a request. The newest are remembered, for what is previewed is mostly what is sent next. A long text is
encoded in a thread of its own, so that everything else goes on meanwhile."""

from __future__ import annotations

from concurrent.futures import Future
from functools import partial
from typing import NamedTuple

from engine.prompt.marks import AnswerFormat
from engine.prompt.parts import AnswerReader
from engine.prompt.template import Prompt, PromptBuilder
from engine.stopping import Listen, in_own_thread, wait_for
from engine.types import Request, TemplateSettings

LONG_TEXT = 50_000
"""Characters of a request from which on it is encoded in a thread of its own: a million take a second."""
REMEMBERED_PROMPTS, REMEMBERED_BYTES = 32, 8_000_000
"""Of the draft, of what may be sent in place of it, and of conversations in sight whose badges are asked for."""


class Built(NamedTuple):
    """A prompt, what it was built for, and the bytes that it takes."""

    request: Request
    prompt: Prompt
    nbytes: int


class Building:
    """Builds the prompts of requests with one `builder`; of long ones one at a time. `form` is how the model marks the
    parts of its answers. Short ones are remembered; those that nobody asked for the longest time go first."""

    def __init__(self, builder: PromptBuilder, form: AnswerFormat) -> None:
        self.builder = builder
        self._form = form
        self._built: list[Built] = []
        """What was asked for last is at the end."""
        self._long_text: tuple[Request, Future[Prompt]] | None = None
        """The long text that is encoded in a thread of its own, or was, and its prompt was not used yet."""

    def build(self, request: Request, listen: Listen) -> Prompt:
        """The prompt of a request. While a long one is built, `listen` is called; what it raises leaves the building to
        itself. Short ones do not wait for it."""
        build = partial(self.now, request, request.template)
        if sum(len(message.content) for message in request.messages) <= LONG_TEXT:
            if self._long_text and self._long_text[1].done():  # nobody came back for it
                self._long_text = None
            return self._remembered(request) or self._noted(request, build())
        while (other := self._long_text) and not _is_same_text(other[0], request):
            wait_for(other[1], listen)
            self._end(other)
        mine = self._long_text = self._long_text or (request, in_own_thread(build))
        wait_for(mine[1], listen)
        self._end(mine)
        return mine[1].result()

    @property
    def nbytes(self) -> int:
        """What the builder remembers of texts, and the prompts that are remembered."""
        return self.builder.nbytes + sum(each.nbytes for each in self._built)

    def forget(self) -> None:
        """Remember no prompt."""
        self._built.clear()
        if self._long_text and self._long_text[1].done():
            self._long_text = None

    def now(self, request: Request, settings: TemplateSettings) -> Prompt:
        """The prompt of a request with other settings of its template, in this thread."""
        if request.is_plain:
            return self.builder.plain(request.messages[0])
        prompt = self.builder.build(request.messages, request.day, request.tools, settings)
        if request.begun is None:
            return prompt
        asked_with, reader = self.builder.asked_with(prompt), self.reader(prompt, request)
        return prompt.with_begun(self.builder.begun(request.begun, self._form, asked_with, reader))

    def reader(self, prompt: Prompt, request: Request) -> AnswerReader | None:
        """What finds the parts of the answer to this prompt; None where the answer is its text."""
        if not self._form.marks or request.is_plain:
            return None
        has_tools = any(message.tool_calls or message.role == "tool" for message in prompt.messages)
        return AnswerReader(self._form, self.builder.asked_with(prompt), request.tools, has_tools=has_tools)

    def _remembered(self, request: Request) -> Prompt | None:
        """What was built for the same text. How soon it is there tells nobody what others asked who are kept apart."""
        known = [each for each in self._built if each.request.salt == request.salt]
        found = next((each for each in known if _is_same_text(each.request, request)), None)
        if found is None:
            return None
        self._built = [each for each in self._built if each is not found] + [found]
        return found.prompt

    def _noted(self, request: Request, prompt: Prompt) -> Prompt:
        size = prompt.nbytes
        # Without a day of its own, a template that prints a date sees today's.
        if request.day is not None and size <= REMEMBERED_BYTES:
            self._built.append(Built(request, prompt, size))
            while len(self._built) > REMEMBERED_PROMPTS or sum(each.nbytes for each in self._built) > REMEMBERED_BYTES:
                del self._built[0]
        return prompt

    def _end(self, done: tuple[Request, Future[Prompt]]) -> None:
        """Hold it no longer, unless a preview within `listen` has begun another one by now."""
        if self._long_text is done:
            self._long_text = None


def _is_same_text(one: Request, other: Request) -> bool:
    """Whether two requests have the same prompt."""
    same = (one.messages, one.day, one.tools, one.begun) == (other.messages, other.day, other.tools, other.begun)
    return same and (one.template, one.is_plain) == (other.template, other.is_plain)
