"""The prompt of a request. The newest are remembered, for what is previewed is mostly what is sent next. A long text is
encoded in a thread of its own, so that everything else goes on meanwhile."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from functools import partial

from engine.prompt.marks import AnswerFormat
from engine.prompt.parts import AnswerReader
from engine.prompt.template import Prompt, PromptBuilder
from engine.remembered import Remembered
from engine.stopping import Listen, in_own_thread, wait_for
from engine.types import Request, Sampling, TemplateSettings

LONG_TEXT = 50_000
"""Characters of a request from which on it is encoded in a thread of its own: a million take a second."""
REMEMBERED_BYTES = 8_000_000
"""For prompts of the draft, of what may be sent in place of it, and of conversations whose badges are asked for."""


class Building:
    """Builds the prompts of requests with one `builder`; of long ones one at a time. `form` is how the model marks the
    parts of its answers. Short ones are remembered."""

    def __init__(self, builder: PromptBuilder, form: AnswerFormat) -> None:
        self.builder = builder
        self._form = form
        self._remembered = Remembered(lambda asked: self.now(asked, asked.template), REMEMBERED_BYTES)
        self._long_text: tuple[Request, Future[Prompt]] | None = None
        """The long text that is encoded in a thread of its own, or was, and its prompt was not used yet."""

    def build(self, request: Request, listen: Listen) -> Prompt:
        """The prompt of a request. While a long one is built, `listen` is called; what it raises leaves the building to
        itself. Short ones do not wait for it."""
        if sum(len(message.content) for message in request.messages) <= LONG_TEXT:
            if self._long_text and self._long_text[1].done():  # nobody came back for it
                self._long_text = None
            if request.day is None:  # then a template that prints a date sees today's
                return self.now(request, request.template)
            return self._remembered(_text_of(request))
        build = partial(self.now, request, request.template)
        while (other := self._long_text) and _text_of(other[0]) != _text_of(request):
            wait_for(other[1], listen)
            self._end(other)
        mine = self._long_text = self._long_text or (request, in_own_thread(build))
        wait_for(mine[1], listen)
        self._end(mine)
        return mine[1].result()

    @property
    def nbytes(self) -> int:
        """What the builder remembers of texts, and the prompts that are remembered."""
        return self.builder.nbytes + self._remembered.nbytes

    def forget(self) -> None:
        """Remember no prompt."""
        self._remembered.forget()
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

    def _end(self, done: tuple[Request, Future[Prompt]]) -> None:
        """Hold it no longer, unless a preview within `listen` has begun another one by now."""
        if self._long_text is done:
            self._long_text = None


def _text_of(request: Request) -> Request:
    """What of a request its prompt is made of: two that have it in common have the same prompt. With the salt, for how
    soon a prompt is there is to tell nobody what others asked who are kept apart."""
    asked = Request(request.messages, Sampling(), day=request.day, tools=request.tools, template=request.template)
    return replace(asked, begun=request.begun, is_plain=request.is_plain, salt=request.salt)
