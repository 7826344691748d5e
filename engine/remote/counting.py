"""The tokens of a prompt for a server before it is sent, and how many of them it has had before.

Servers that count say the ids themselves: vLLM and Headstart of a conversation, llama.cpp's of the text that its
template makes. A tokenizer of the same model on this computer, in the Hugging Face cache, says where the messages lie
and what the tokens say; where a server counts nothing, it stands in, until the server's own count contradicts it.

What a server has had is known, and not what of that it keeps: so nothing here is called remembered.
"""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from engine.events import Preview
from engine.library.resolve import newest_revision
from engine.prompt.comparing import common_length
from engine.prompt.template import Prompt, PromptBuilder
from engine.remote.wire import RemoteModel, body_of
from engine.types import BLOCK_TOKENS, HeadstartError, Message, ModelError, Request, Tool

NO_COUNT = "This server does not count tokens ahead."
MOST_CONVERSATIONS = 64
"""Of how many conversations the last prompt is kept."""

Ask = Callable[[str, Mapping[str, Any]], Awaitable[Any]]
"""Sends a body to a path of the server's root, and gives what it answers. Raises HeadstartError."""

Asked = tuple[tuple[Message, ...], tuple[Tool, ...]]
Key = tuple[str, str, str]


class Told(NamedTuple):
    """How many tokens a prompt has, and which; without any ids where only their number is known."""

    tokens: int
    ids: tuple[int, ...]


@dataclass(slots=True)
class Counting:
    """What is known of the prompts of all servers. `open_tokenizer` reads that of a model in a folder."""

    open_tokenizer: Callable[[Path], Any]
    _builders: dict[str, PromptBuilder | None] = field(default_factory=dict)
    _silent: set[str] = field(default_factory=set)
    _newest: OrderedDict[Key, tuple[Asked, tuple[int, ...]]] = field(default_factory=OrderedDict)
    _had: OrderedDict[Key, tuple[int, ...]] = field(default_factory=OrderedDict)

    async def preview(self, request_id: int, request: Request, model: RemoteModel, ask: Ask) -> Preview:
        """The tokens of a prompt, and how many at its start the server has had in this conversation. Raises ModelError
        where nobody counts them."""
        told = await self._told(request, model, ask)
        prompt = await asyncio.to_thread(self._made_here, request, model)
        if prompt is not None and told is not None and prompt.ids != told.ids:
            self._builders[model.name] = prompt = None
        if prompt is not None:
            told = Told(len(prompt.ids), prompt.ids)
        if told is None:
            raise ModelError(NO_COUNT)
        count, ids = told
        key = _key(request, model)
        _keep(self._newest, key, (_asked(request), ids))
        had = common_length(ids, self._had.get(key, ()))
        texts = self._texts(model, ids) if prompt else ()
        return Preview(
            request_id=request_id,
            prompt_tokens=count,
            reused_tokens=had,
            computed_tokens=count - had,
            seconds=0.0,
            system_tokens=prompt.system_tokens if prompt else 0,
            context_length=model.context_length,
            spans=prompt.spans if prompt else (),
            block_texts=texts,
            ids=ids,
            is_elsewhere=True,
        )

    def answered(self, request: Request, model: RemoteModel, prompt_tokens: int | None) -> None:
        """The server has answered a prompt of so many tokens, None where it does not say."""
        key = _key(request, model)
        asked, ids = self._newest.get(key, ((), ()))
        if asked != _asked(request) or prompt_tokens is None:
            return
        if len(ids) == prompt_tokens:
            _keep(self._had, key, ids)
        else:
            self._builders[model.name] = None
            self._had.pop(key, None)

    async def _told(self, request: Request, model: RemoteModel, ask: Ask) -> Told | None:
        """The tokens as the server counts them; None where it does not."""
        if model.place.address in self._silent:
            return None
        body = body_of(request, model)
        said = {"messages": body["messages"], **({"tools": body["tools"]} if request.tools else {})}
        with suppress(HeadstartError, AttributeError, KeyError, TypeError, ValueError):
            if model.owner == "llamacpp":
                text = (await ask("/apply-template", said))["prompt"]
                counted = await ask("/tokenize", {"content": text, "add_special": True, "parse_special": True})
            else:
                counted = await ask("/tokenize", {"model": model.name, **said})
            ids = tuple(int(each) for each in counted.get("tokens") or ())
            return Told(int(counted.get("count", len(ids))), ids)
        self._silent.add(model.place.address)
        return None

    def _made_here(self, request: Request, model: RemoteModel) -> Prompt | None:
        """The prompt as the model's own tokenizer and template on this computer make it; None without these."""
        if model.name not in self._builders:
            self._builders[model.name] = self._found(model.name)
        builder = self._builders[model.name]
        if builder is not None:
            with suppress(HeadstartError):
                return builder.build(request.messages, request.day, request.tools, request.template)
        return None

    def _found(self, name: str) -> PromptBuilder | None:
        folder = local_folder(name)
        if folder is not None:
            with suppress(HeadstartError, OSError):
                return PromptBuilder(self.open_tokenizer(folder))
        return None

    def _texts(self, model: RemoteModel, ids: tuple[int, ...]) -> tuple[str, ...]:
        """The text of each block of 16 tokens."""
        builder = self._builders.get(model.name)
        starts = range(0, min(len(ids), model.context_length), BLOCK_TOKENS)
        return tuple(str(builder.tokenizer.decode(ids[at : at + BLOCK_TOKENS])) for at in starts) if builder else ()


def local_folder(name: str) -> Path | None:
    """The newest revision of a model in the Hugging Face cache, where its tokenizer is there; None else. `name` is what
    a server calls its model, such as "ORG/NAME"."""
    organisation, slash, model = name.partition("/")
    if not (slash and organisation and model) or "/" in model or name.startswith("."):
        return None
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    hub = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    with suppress(OSError, ModelError):
        folder = newest_revision(hub / f"models--{organisation}--{model}")
        return folder if (folder / "tokenizer_config.json").is_file() else None
    return None


def _asked(request: Request) -> Asked:
    return request.messages, request.tools


def _key(request: Request, model: RemoteModel) -> Key:
    return model.place.address, model.name, request.conversation


def _keep(kept: OrderedDict[Key, Any], key: Key, value: Any) -> None:
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > MOST_CONVERSATIONS:
        kept.popitem(last=False)
