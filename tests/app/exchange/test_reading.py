"""Conversations out of the files of other programs, written here by hand after how their makers describe them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.documents import Attachment
from app.exchange.reading import read_conversations
from app.exchange.writing import to_json_text, to_markdown
from app.history.talks import Said, Talk
from engine import HeadstartError, ToolCall
from tests.app.odd_archives import ODD, odd


def node(parent: str | None, role: str, text: str, kind: str = "text") -> dict[str, Any]:
    content = {"content_type": kind, "parts": [text]}
    return {"parent": parent, "message": {"author": {"role": role}, "content": content, "create_time": 1700000000.5}}


CHATGPT = [
    {
        "title": "Tents",
        "create_time": 1700000000.0,
        "update_time": 1700000100.0,
        "current_node": "a2",
        "mapping": {
            "root": {"parent": None, "message": None},
            "s": node("root", "system", ""),
            "q": node("s", "user", "What is a tent?"),
            "a1": node("q", "assistant", "A house of cloth."),
            "a2": node("q", "assistant", "A shelter."),
            "call": node("a1", "assistant", "search()", kind="code"),
            "result": node("call", "tool", "found"),
            "a3": node("result", "assistant", "It has poles."),
        },
    },
    {"title": "Broken", "mapping": {"q": {"parent": None, "message": {"author": {}}}}},
]
OPEN_WEBUI = [
    {
        "title": "Stoves",
        "created_at": 1700000000,
        "updated_at": 1700000200,
        "chat": {
            "system": "Be brief.",
            "history": {
                "currentId": "2",
                "messages": {
                    "1": {"id": "1", "parentId": None, "role": "user", "content": "Gas?", "timestamp": 1700000000},
                    "2": {"id": "2", "parentId": "1", "role": "assistant", "content": "Yes.", "timestamp": 1700000001},
                    "3": {"id": "3", "parentId": "1", "role": "assistant", "content": "No.", "timestamp": 1700000002},
                },
            },
        },
    }
]
LM_STUDIO = {
    "name": "Poles",
    "createdAt": 1700000000000,
    "systemPrompt": "Answer.",
    "messages": [
        {
            "currentlySelected": 1,
            "versions": [
                {"type": "singleStep", "role": "user", "content": [{"type": "text", "text": "Old"}]},
                {"type": "singleStep", "role": "user", "content": [{"type": "text", "text": "Steel or wood?"}]},
            ],
        },
        {
            "currentlySelected": 0,
            "versions": [
                {
                    "type": "multiStep",
                    "role": "assistant",
                    "steps": [
                        {
                            "type": "contentBlock",
                            "style": {"type": "thinking"},
                            "content": [{"type": "text", "text": "Hm."}],
                        },
                        {"type": "contentBlock", "content": [{"type": "text", "text": "Steel."}]},
                        {"type": "debugInfoBlock", "debugInfo": "x"},
                    ],
                }
            ],
        },
    ],
}


def saved(folder: Path, name: str, value: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps(value), "utf-8")
    return path


def lines(talk: Talk) -> list[tuple[str, str, int | None]]:
    return [(each.role, each.content, each.parent) for each in talk.messages]


@pytest.mark.parametrize("is_zip", [False, True])
def test_chatgpt(tmp_path: Path, is_zip: bool) -> None:
    path = saved(tmp_path, "conversations.json", CHATGPT)
    if is_zip:
        with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
            archive.write(path, "conversations.json")
            archive.writestr("user.json", "{}")
        path = tmp_path / "export.zip"
    (talk,), skipped = read_conversations(path)
    assert lines(talk) == [
        ("user", "What is a tent?", None),
        ("assistant", "A house of cloth.\n\nIt has poles.", 0),
        ("assistant", "A shelter.", 0),
    ]
    assert (talk.title, talk.leaf, talk.updated, skipped) == ("Tents", 2, 1700000100.0, 1)


def test_open_webui(tmp_path: Path) -> None:
    (talk,), _ = read_conversations(saved(tmp_path, "chats.json", OPEN_WEBUI))
    assert lines(talk) == [("user", "Gas?", None), ("assistant", "Yes.", 0), ("assistant", "No.", 0)]
    assert (talk.title, talk.system_prompt, talk.leaf) == ("Stoves", "Be brief.", 1)


def test_lm_studio(tmp_path: Path) -> None:
    (talk,), _ = read_conversations(saved(tmp_path, "1.conversation.json", LM_STUDIO))
    assert lines(talk) == [("user", "Steel or wood?", None), ("assistant", "Steel.", 0)]
    assert (talk.messages[1].thought, talk.system_prompt, talk.created) == ("Hm.", "Answer.", 1700000000.0)


def test_jan(tmp_path: Path) -> None:
    folder = tmp_path / "threads" / "jan_1"
    folder.mkdir(parents=True)
    saved(folder, "thread.json", {"title": "Pegs", "assistants": [{"instructions": "Help."}], "created": 1700000000})
    said = [("assistant", "Six.", 1700000002), ("user", "How many?", 1700000001)]
    messages = [
        {"role": role, "created_at": at, "content": [{"type": "text", "text": {"value": text, "annotations": []}}]}
        for role, text, at in said
    ]
    (folder / "messages.jsonl").write_text("\n".join(map(json.dumps, messages)) + "\n")
    for path in (tmp_path / "threads", folder / "messages.jsonl", folder / "thread.json"):
        (talk,), _ = read_conversations(path)
        assert lines(talk) == [("user", "How many?", None), ("assistant", "Six.", 0)]
        assert (talk.title, talk.system_prompt) == ("Pegs", "Help.")


OWN = Talk(
    "Tents",
    (
        Said("user", "Is it *wet*?", None, 1.0, files=(Attachment("a.txt", "dry", "the first 3", "a note"),)),
        Said("assistant", "", 0, 2.0, "Hm.\n\nWell.", (), (ToolCall("look", '{"where": "out"}', "1"),)),
        Said("tool", "rain", 1, 3.0, tool_call_id="1"),
        Said("assistant", "No.", 0, 2.5),
    ),
    "Be brief.",
    1.0,
    3.0,
    2,
)


def test_what_headstart_wrote_is_read_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "own.headstart"
    path.write_text(to_json_text([OWN]), "utf-8")
    assert read_conversations(path) == ([OWN], 0)


def test_markdown_has_the_branch_in_use() -> None:
    text = to_markdown(OWN)
    assert "## You\n\n*Attached: a.txt (the first 3)*\n\nIs it *wet*?\n\n## Answer\n\n> Hm.\n>\n> Well." in text
    assert '*Asked for look:* `{"where": "out"}`\n\n## Result of a tool\n\nrain' in text
    assert text.startswith("# Tents\n\n*1 January 1970")


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("x.json", "no json", "x.json is no JSON file"),
        ("x.json", "[]", "x.json holds no conversations that Headstart knows"),
        ("x.json", '{"a": 1}', "x.json holds no conversations that Headstart knows"),
        ("x.json", '[{"mapping": {}}]', "no conversation with a text"),
        ("x.headstart", '{"format": "headstart.conversations", "version": 2}', "newer Headstart"),
        ("x.jsonl", "nonsense", "no conversation"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, name: str, text: str, says: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(HeadstartError, match=says):
        read_conversations(tmp_path / name)


@pytest.mark.parametrize("kind", ODD)
def test_an_export_that_cannot_be_unpacked_is_said(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps(CHATGPT))
    path.write_bytes(odd(path.read_bytes(), kind))
    with pytest.raises(HeadstartError, match="password" if kind == "locked" else "is damaged or out of reach"):
        read_conversations(path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["mapping", "message", "author", "role", "content", "parts", "parent", "chat", "history"])
            | st.sampled_from(["messages", "versions", "steps", "user", "a", "format", "conversations"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    path = saved(tmp_path_factory.getbasetemp(), "any.json", value)
    try:
        talks, _ = read_conversations(path)
    except HeadstartError:
        return
    assert talks
