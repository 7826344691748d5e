"""The chat template of one tokenizer: where it is found, what it takes, what it lets one choose, and what it writes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from engine.prompt.alignment import Frames
from engine.prompt.handed import Form, find_form, handed
from engine.prompt.rendering import RENDERER, TemplateEndlessError
from engine.prompt.sent import as_sent, with_words
from engine.prompt.switches import Switch, thinking_switches
from engine.remembered import Remembered
from engine.types import HeadstartError, InvalidRequestError, Message, ModelError

PLAIN_TEMPLATE = (
    "{% for message in messages %}{{ message['role'].capitalize() + ': ' + message['content'] + '\\n\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'Assistant: ' }}{% endif %}"
)
"""For models without a chat template of their own."""

ENDLESS_TEMPLATE = (
    "This model's chat template takes more time or memory than any should, so it was stopped. Download the model "
    "again, or choose another one."
)
NO_PROCESS = "Chat templates are read by a process of its own, which could not be started. Start Headstart again."


@dataclass(frozen=True, slots=True)
class Context:
    """What a template gets to see beside the messages. `now` is the same for all renderings of one prompt."""

    now: datetime
    tools: tuple[dict[str, Any], ...] = ()
    switch: Switch = field(default_factory=Switch)


class ChatTemplate:
    """The template of a tokenizer (a transformers fast tokenizer), which gets a plain one where it has none. What it
    wrote is remembered within `remembered_bytes`."""

    def __init__(self, tokenizer: Any, remembered_bytes: int) -> None:
        self._tokenizer = tokenizer
        if not tokenizer.chat_template:
            tokenizer.chat_template = _beside(tokenizer) or PLAIN_TEMPLATE
        self._rendering = Remembered(self._render_text, remembered_bytes)
        self._forms: dict[str, Form] = {}

    @property
    def nbytes(self) -> int:
        """What is remembered."""
        return self._rendering.nbytes

    @property
    def thinking(self) -> tuple[str, ...]:
        """What the template lets one choose about thoughts: what makes a difference when it is rendered."""
        with suppress(InvalidRequestError):
            switches = self.switches()
            chat = [Message("system", "x"), Message("user", "x")]
            texts = {name: self._tried(chat, switch) for name, switch in switches.items()}
            return tuple(switches) if len(set(texts.values()) - {None}) > 1 else ()
        return ()

    @property
    def has_tools(self) -> bool:
        """Whether the template takes tools."""
        return self.form(has_tools=True).has_tools

    def form(self, *, has_tools: bool) -> Form:
        template = self.source(has_tools=has_tools)
        if template not in self._forms:
            context = Context(datetime(2025, 1, 1))
            self._forms[template] = find_form(template, lambda said, tools: self.render(said, tools, context))
        return self._forms[template]

    def switches(self) -> dict[str, Switch]:
        return thinking_switches(self.source(has_tools=False))

    def switch(self, thinking: str) -> Switch:
        if not thinking:
            return Switch()
        switches = self.switches()
        if thinking not in switches:
            known = f"It knows {', '.join(switches)}." if switches else "It knows no such choice: leave it out."
            raise InvalidRequestError(f"This model's chat template cannot set thinking to {thinking[:40]!r}. {known}")
        return switches[thinking]

    def between_messages(self) -> list[str]:
        """What the template writes between one message and the next; nothing where it refuses plain questions."""
        frames = Frames([])
        said = [
            {"role": role, "content": frames.around("x", n)} for n, role in enumerate(("user", "assistant", "user"))
        ]
        try:
            stretches, _ = frames.read(self.render(said, (), Context(datetime(2025, 1, 1))))
        except InvalidRequestError:
            return []
        return [stretch.text for stretch in stretches[2:-1:2]]

    def _tried(self, messages: Sequence[Message], switch: Switch) -> str | None:
        with suppress(InvalidRequestError):
            chat = as_sent(messages)
            chat = with_words(chat, switch.words) if switch.words else chat
            context = Context(datetime(2025, 1, 1), switch=switch)
            form = self.form(has_tools=False)
            return self.render(handed(chat, form, {}, lambda text, number: text), (), context)
        return None

    def source(self, *, has_tools: bool) -> str:
        """The source of the template. Of several with names, the one for tools, the default one, or the first."""
        source = self._tokenizer.chat_template
        if not isinstance(source, Mapping):
            return str(source)
        names = ["tool_use", "default", *sorted(source)] if has_tools else ["default", *sorted(source)]
        return str(source[next(name for name in names if name in source)])

    def render(self, said: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], context: Context) -> str:
        """The text that the template makes of these messages. `apply_chat_template` takes no clock from us."""
        seen = {
            **self._tokenizer.special_tokens_map,
            "messages": said,
            "tools": list(tools) or None,
            "documents": None,
            "add_generation_prompt": True,
            "date_string": context.now.strftime("%d %b %Y"),
            **context.switch.variables,
        }
        text: str = self._rendering(
            self.source(has_tools=bool(tools)), json.dumps(seen, default=str), context.now.isoformat()
        )
        return text

    @staticmethod
    def _render_text(template: str, seen: str, now: str) -> str:
        try:
            return RENDERER.render(template, json.loads(seen), datetime.fromisoformat(now))
        except TemplateEndlessError as error:
            raise ModelError(ENDLESS_TEMPLATE, str(error)) from error
        except OSError as error:
            raise HeadstartError(NO_PROCESS, str(error)) from error
        except Exception as error:  # what the template says is for whoever wrote the messages
            raise InvalidRequestError(
                "This model's chat template does not accept these messages.", str(error)
            ) from error


def _beside(tokenizer: Any) -> str:
    """The template in `chat_template.json`, where models with images keep it; "" where there is none."""
    path = Path(str(getattr(tokenizer, "name_or_path", ""))) / "chat_template.json"
    with suppress(OSError, ValueError, AttributeError):
        return str(json.loads(path.read_text(encoding="utf-8-sig")).get("chat_template") or "")
    return ""
