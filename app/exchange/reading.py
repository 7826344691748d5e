"""Conversations out of files of ChatGPT, LM Studio, Jan, Open WebUI and Headstart, told apart by what they hold.

Formats, as their makers and users describe them:
- ChatGPT: a ZIP file with conversations.json, a list; each has a `mapping` of nodes with parent and message, and the
  `current_node`.
- LM Studio: *.conversation.json; `messages` have `versions`, one of them `currentlySelected`, of one step or several.
- Jan: a folder for each thread, with thread.json and messages.jsonl.
- Open WebUI: a list; each has a `chat` with a `history` of messages by id, each with its parentId, and the currentId.
- Headstart: what `writing.to_json_text` writes.

What is no text (pictures, calls of tools of these services) is left out.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.documents import BROKEN_ARCHIVE, Attachment, refuse_locked
from app.exchange.writing import FORMAT, VERSION
from app.history.records import LAST_MOMENT
from app.history.talks import Said, Talk
from engine import HeadstartError, ToolCall

LARGEST_FILE = 500_000_000
"""Bytes of a file with conversations that is read."""

UNKNOWN = (
    "{name} holds no conversations that Headstart knows how to read. Exports of ChatGPT (the ZIP or"
    " conversations.json), LM Studio, Jan, Open WebUI and Headstart are read."
)
_Broken = (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError, OSError, HeadstartError)
"""What reading a conversation raises that is not as its format has it."""


def read_conversations(path: Path) -> tuple[list[Talk], int]:
    """The conversations in a file or folder, oldest first, and how many in it could not be read.

    Raises HeadstartError with a sentence for the user where there are none.
    """
    try:
        parts = list(_values(path))
    except (*BROKEN_ARCHIVE, OSError) as error:
        raise HeadstartError(f"{path.name} could not be read: it is damaged or out of reach.", str(error)) from None
    if not parts:
        raise HeadstartError(UNKNOWN.format(name=path.name))
    talks, skipped = [], 0
    for read, value in parts:
        try:
            talk = read(value)
        except _Broken:
            skipped += 1
            continue
        talks += [talk] if talk.messages else []
    if not talks:
        raise HeadstartError(f"{path.name} holds no conversation with a text that can be read.")
    return sorted(talks, key=lambda talk: talk.updated), skipped


def _values(path: Path) -> Iterator[tuple[Callable[[Any], Talk], Any]]:
    """Each conversation as its file has it, with what reads it."""
    if path.is_dir():
        for each in sorted([*path.rglob("messages.jsonl"), *path.rglob("*.conversation.json")]):
            yield from _values(each)
        return
    if path.stat().st_size > LARGEST_FILE:
        raise HeadstartError(f"{path.name} is larger than {LARGEST_FILE // 1_000_000} MB. Export a part of it.")
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            refuse_locked(archive, path.name)
            for info in archive.infolist():
                is_listed = info.filename.endswith(".json") and "conversations" in info.filename
                if is_listed and info.file_size <= LARGEST_FILE:
                    yield from _of_value(_json(archive.read(info), path.name), path)
    elif path.name == "thread.json" or path.suffix == ".jsonl":
        yield _jan, path.with_name("messages.jsonl") if path.name == "thread.json" else path
    else:
        yield from _of_value(_json(path.read_bytes(), path.name), path)


def _json(data: bytes, name: str) -> Any:
    try:
        return json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise HeadstartError(f"{name} is no JSON file, or a damaged one.", str(error)) from None


def _of_value(value: Any, path: Path) -> Iterator[tuple[Callable[[Any], Talk], Any]]:
    if isinstance(value, dict) and value.get("format") == FORMAT:
        if value.get("version") != VERSION:
            raise HeadstartError(f"{path.name} was written by a newer Headstart. Update Headstart to read it.")
        yield from ((_own, each) for each in _list(value.get("conversations")))
        return
    for each in value if isinstance(value, list) else [value]:
        if not isinstance(each, dict):
            continue
        if "mapping" in each:
            yield _chatgpt, each
        elif isinstance(each.get("chat"), dict):
            yield _open_webui, each
        elif any("versions" in message for message in _list(each.get("messages")) if isinstance(message, dict)):
            yield _lm_studio(path), each


def _own(value: Any) -> Talk:
    messages = tuple(_own_message(each, place) for place, each in enumerate(value["messages"]))
    leaf = int(value["leaf"])
    return Talk(
        _text(value["title"]),
        messages,
        _text(value["system_prompt"]),
        _moment(value["created"]),
        _moment(value["updated"]),
        leaf if 0 <= leaf < len(messages) else len(messages) - 1,
    )


def _own_message(value: Any, place: int) -> Said:
    parent = value["parent"]
    if value["role"] not in ("user", "assistant", "tool") or not (parent is None or 0 <= parent < place):
        raise ValueError("no message")
    files = tuple(
        Attachment(*(_text(each[name]) for name in ("name", "text", "part", "note"))) for each in value["files"]
    )
    calls = tuple(ToolCall(**{name: _text(text) for name, text in each.items()}) for each in value["tool_calls"])
    text, thought = _text(value["content"]), _text(value["thought"])
    return Said(
        value["role"], text, parent, _moment(value["created"]), thought, files, calls, _text(value["tool_call_id"])
    )


def _chatgpt(value: Any) -> Talk:
    nodes = {key: (node.get("parent"), _chatgpt_message(node.get("message"))) for key, node in value["mapping"].items()}
    messages, leaf = _tree(nodes, value.get("current_node"))
    moments = _moment(value.get("create_time")), _moment(value.get("update_time"))
    return Talk(_text(value.get("title") or ""), messages, "", *moments, leaf)


def _chatgpt_message(message: Any) -> Said | None:
    """A node's message; None for one that says nothing to the user or comes from them to the service."""
    if not message or message["author"]["role"] not in ("user", "assistant"):
        return None
    content = message.get("content") or {}
    if content.get("content_type") not in ("text", "multimodal_text"):
        return None
    text = "\n\n".join(part for part in content.get("parts", ()) if isinstance(part, str) and part)
    return Said(message["author"]["role"], text, created=_moment(message.get("create_time"))) if text else None


def _open_webui(value: Any) -> Talk:
    chat = value["chat"]
    history = chat.get("history") or {}
    nodes = {
        key: (message.get("parentId"), _plain_message(message)) for key, message in history.get("messages", {}).items()
    }
    messages, leaf = _tree(nodes, history.get("currentId"))
    title = _text(value.get("title") or chat.get("title") or "")
    moments = _moment(value.get("created_at")), _moment(value.get("updated_at"))
    return Talk(title, messages, _text(chat.get("system") or ""), *moments, leaf)


def _plain_message(message: Any) -> Said | None:
    text, role = message.get("content") or "", message["role"]
    if role not in ("user", "assistant") or not isinstance(text, str) or not text:
        return None
    return Said(role, text, created=_moment(message.get("timestamp")))


def _lm_studio(path: Path) -> Callable[[Any], Talk]:
    """What reads a conversation of LM Studio, which is named after its file where it has no name."""

    def read(value: Any) -> Talk:
        said = [each for each in map(_lm_studio_message, value["messages"]) if each]
        messages = tuple(replace(each, parent=place - 1 if place else None) for place, each in enumerate(said))
        created = _moment(value.get("createdAt"))
        title = _text(value.get("name") or path.name.split(".")[0])
        return Talk(title, messages, _text(value.get("systemPrompt") or ""), created, created, len(messages) - 1)

    return read


def _lm_studio_message(message: Any) -> Said | None:
    version = message["versions"][message.get("currentlySelected", 0)]
    blocks = version.get("steps") or [version]
    texts: dict[bool, list[str]] = {True: [], False: []}
    for block in blocks:
        is_thought = (block.get("style") or {}).get("type") == "thinking"
        content = block.get("content") or ()
        texts[is_thought] += [part["text"] for part in content if part.get("type") == "text" and part.get("text")]
    if version["role"] not in ("user", "assistant") or not texts[False]:
        return None
    return Said(version["role"], "\n\n".join(texts[False]), thought="\n\n".join(texts[True]))


def _jan(path: Path) -> Talk:
    about = path.with_name("thread.json")
    thread = _json(about.read_bytes(), about.name) if about.exists() else {}
    lines = path.read_text("utf-8").split("\n")
    said = [each for line in lines if line.strip() and (each := _jan_message(json.loads(line)))]
    said.sort(key=lambda each: each.created)  # the newest may stand first
    messages = tuple(replace(each, parent=place - 1 if place else None) for place, each in enumerate(said))
    first: Any = next(iter(thread.get("assistants") or ()), {})
    prompt = first.get("instructions") or "" if isinstance(first, dict) else ""
    moments = _moment(thread.get("created")), _moment(thread.get("updated"))
    return Talk(_text(thread.get("title") or ""), messages, _text(prompt), *moments, len(messages) - 1)


def _jan_message(message: Any) -> Said | None:
    texts = [part["text"]["value"] for part in message.get("content", ()) if part.get("type") == "text"]
    text = "\n\n".join(filter(None, texts))
    if message["role"] not in ("user", "assistant") or not text:
        return None
    return Said(message["role"], text, created=_moment(message.get("created_at")))


def _tree(nodes: Mapping[str, tuple[Any, Said | None]], current: Any) -> tuple[tuple[Said, ...], int]:
    """The messages of a tree, parents first, and the place of its `current` node or what stands above it.

    Nodes without a text are left out. Answers that follow each other without a branch are one: between them stood what
    is left out here. Nodes in a circle are reached from nowhere.
    """
    below: dict[Any, list[str]] = {}
    for key, (parent, _) in nodes.items():
        below.setdefault(parent if parent in nodes else None, []).append(key)
    found: list[Said] = []
    places: dict[str, int | None] = {}
    waiting: list[tuple[str, int | None, bool]] = [(key, None, False) for key in reversed(below.get(None, []))]
    while waiting:
        key, above, is_alone = waiting.pop()
        said = nodes[key][1]
        if said and above is not None and is_alone and said.role == found[above].role == "assistant":
            found[above] = replace(found[above], content=f"{found[above].content}\n\n{said.content}")
        elif said:
            found.append(replace(said, parent=above))
            above, is_alone = len(found) - 1, True
        places[key] = above
        children = below.get(key, [])
        waiting += [(child, above, is_alone and len(children) == 1) for child in reversed(children)]
    leaf = places.get(current)
    return tuple(found), len(found) - 1 if leaf is None else leaf


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("no text")
    return value


def _moment(value: Any) -> float:
    """Seconds since the epoch, from seconds or milliseconds; 0 where nobody knows."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    seconds = value / 1000 if value > 1e11 else float(value)
    return seconds if 0 <= seconds <= LAST_MOMENT else 0.0
