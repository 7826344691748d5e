"""The tokens of a prompt for a server before it is sent, and how many of them it has had before.

Servers that count say the ids themselves: vLLM and Headstart of a conversation, llama.cpp's of the text that its
template makes. A tokenizer of the same model on this computer, in the Hugging Face cache, says where the messages lie
and what the tokens say; where a server counts nothing, it stands in, until the server's own count contradicts it.

What a server has had is known, and not what of that it keeps: so nothing here is called remembered.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from engine.events import Preview
from engine.library.found import hub_cache
from engine.library.resolve import newest_revision
from engine.prompt.comparing import common_length
from engine.prompt.template import Prompt, PromptBuilder
from engine.remote.wire import NotThereError, Place, RemoteModel, body_of
from engine.types import BLOCK_TOKENS, HeadstartError, InvalidRequestError, Message, ModelError, Request, Tool

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
    _counts: set[str] = field(default_factory=set)
    """Addresses of servers that count nothing, and of those that have counted."""
    _making: threading.Lock = field(default_factory=threading.Lock)
    _newest: OrderedDict[Key, tuple[Asked, tuple[int, ...]]] = field(default_factory=OrderedDict)
    _had: OrderedDict[Key, tuple[int, ...]] = field(default_factory=OrderedDict)

    async def preview(self, request_id: int, request: Request, model: RemoteModel, ask: Ask) -> Preview:
        """The tokens of a prompt, and how many at its start the server has had in this conversation. Raises ModelError
        where nobody counts them."""
        told = await self._told(request, model, ask)
        prompt, texts = await asyncio.to_thread(self._made_here, request, model, told)
        if prompt is not None:
            told = Told(len(prompt.ids), prompt.ids)
        if told is None:
            raise ModelError(NO_COUNT)
        count, ids = told
        key = _key(request, model)
        _keep(self._newest, key, (_asked(request), ids))
        had = common_length(ids, self._had.get(key, ()))
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
        """The server has answered a prompt of so many tokens; None or 0 where it does not say."""
        key = _key(request, model)
        asked, ids = self._newest.get(key, ((), ()))
        if asked != _asked(request) or not prompt_tokens:
            return
        if len(ids) == prompt_tokens:
            _keep(self._had, key, ids)
        else:
            self._builders[model.name] = None
            self._had.pop(key, None)

    def ask_again(self, place: Place) -> None:
        """A server is opened: perhaps it is another one by now."""
        self._silent.discard(place.address)

    async def _told(self, request: Request, model: RemoteModel, ask: Ask) -> Told | None:
        """The tokens as the server counts them; None where it does not. One that cannot, or that does not understand
        how it is asked, is not asked again; one that has counted, or that is not heard of now, is."""
        address = model.place.address
        if address in self._silent:
            return None
        body = body_of(request, model)
        said = {"messages": body["messages"], **({"tools": body["tools"]} if request.tools else {})}
        try:
            if model.owner == "llamacpp":
                text = (await ask("/apply-template", said))["prompt"]
                counted = await ask("/tokenize", {"content": text, "add_special": True, "parse_special": True})
            else:
                counted = await ask("/tokenize", {"model": model.name, **said})
            told = _told_by(counted)
        except NotThereError:
            self._silent.add(address)
        except (InvalidRequestError, AttributeError, KeyError, TypeError, ValueError):
            if address not in self._counts:
                self._silent.add(address)
        except HeadstartError:
            return None
        else:
            self._counts.add(address)
            return told
        return None

    def _made_here(
        self, request: Request, model: RemoteModel, told: Told | None
    ) -> tuple[Prompt | None, tuple[str, ...]]:
        """The prompt as the model's own tokenizer and template on this computer make it, with the texts of its blocks;
        None without these, and where the server has `told` otherwise: then they are not believed any more."""
        with self._making:  # a tokenizer is no two threads' at once
            if model.name not in self._builders:
                self._builders[model.name] = self._found(model.name)
            builder = self._builders[model.name]
            if builder is None:
                return None, ()
            try:
                prompt = builder.build(request.messages, request.day, request.tools, request.template)
            except HeadstartError:
                return None, ()
            if told is not None and told != (len(prompt.ids), prompt.ids if told.ids else ()):
                self._builders[model.name] = None
                return None, ()
            starts = range(0, min(len(prompt.ids), model.context_length), BLOCK_TOKENS)
            ids = prompt.ids
            return prompt, tuple(str(builder.tokenizer.decode(ids[at : at + BLOCK_TOKENS])) for at in starts)

    def _found(self, name: str) -> PromptBuilder | None:
        folder = local_folder(name)
        if folder is not None:
            with suppress(HeadstartError, OSError):
                return PromptBuilder(self.open_tokenizer(folder))
        return None


def _told_by(counted: Any) -> Told:
    """What a server says. Raises ValueError and others where it says no number: some answer anything with 200."""
    ids = tuple(int(each) for each in counted.get("tokens") or ())
    count = int(counted["count"]) if not ids else len(ids)
    if count < 1:
        raise ValueError("a prompt has tokens")
    return Told(count, ids)


def local_folder(name: str) -> Path | None:
    """The newest revision of a model in the Hugging Face cache, where its tokenizer is there; None else. `name` is what
    a server calls its model, such as "ORG/NAME"."""
    organisation, slash, model = name.partition("/")
    if not (slash and organisation and model) or "/" in model or name.startswith("."):
        return None
    with suppress(OSError, ValueError, ModelError):
        folder = newest_revision(hub_cache() / f"models--{organisation}--{model}")
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
