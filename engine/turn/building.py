"""The prompt of a request. A long text is encoded in a thread of its own, so that everything else goes on meanwhile."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future
from functools import partial

from engine.prompt.marks import AnswerFormat
from engine.prompt.parts import AnswerReader
from engine.prompt.template import Prompt, PromptBuilder
from engine.stopping import Listen, in_own_thread, wait_for
from engine.types import Request, TemplateSettings

LONG_TEXT = 50_000
"""Characters of a request from which on it is encoded in a thread of its own: a million take a second."""


NEWEST = 4
"""Prompts that are remembered: of what was previewed, or read ahead, and of what may be sent in place of that."""


class Building:
    """Builds the prompts of requests with one `builder`; of long ones one at a time. `form` is how the model marks the
    parts of its answers. What was previewed is mostly what is sent next, so the newest short ones are remembered."""

    def __init__(self, builder: PromptBuilder, form: AnswerFormat) -> None:
        self.builder = builder
        self._form = form
        self._newest: deque[tuple[Request, Prompt]] = deque(maxlen=NEWEST)
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

    def forget(self) -> None:
        """Remember no prompt."""
        self._newest.clear()

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
        return next((prompt for asked, prompt in self._newest if _is_same_text(asked, request)), None)

    def _noted(self, request: Request, prompt: Prompt) -> Prompt:
        if request.day is not None:  # else a template that prints a date sees today's
            self._newest.appendleft((request, prompt))
        return prompt

    def _end(self, done: tuple[Request, Future[Prompt]]) -> None:
        """Hold it no longer, unless a preview within `listen` has begun another one by now."""
        if self._long_text is done:
            self._long_text = None


def _is_same_text(one: Request, other: Request) -> bool:
    """Whether two requests have the same prompt."""
    same = (one.messages, one.day, one.tools, one.begun) == (other.messages, other.day, other.tools, other.begun)
    return same and (one.template, one.is_plain) == (other.template, other.is_plain)
