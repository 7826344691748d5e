"""A note of the desktop when a long answer is ready, for whoever looks at something else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.window.ready_note import LONG_S, READY, STOPPED, ReadyNote
from tests.app.fake_engine import Script
from tests.app.window.conftest import Screen


@pytest.mark.parametrize(
    ("seconds", "is_active", "script", "said"),
    [
        (LONG_S + 1, False, Script(), [(READY, "Where is it?")]),
        (LONG_S - 1, False, Script(), []),
        (LONG_S + 1, True, Script(), []),
        (LONG_S + 1, False, Script(fail_after=1), [(STOPPED, "Where is it?")]),
    ],
    ids=["long", "short", "in front", "broken off"],
)
def test_it_comes_for_a_long_answer_behind_the_window(
    make_screen: Callable[..., Screen],
    monkeypatch: pytest.MonkeyPatch,
    seconds: float,
    is_active: bool,
    script: Script,
    said: list[tuple[str, str]],
) -> None:
    screen, shown = make_screen(script), []
    monkeypatch.setattr(screen.window, "isActiveWindow", lambda: is_active)
    opened: list[int] = []
    note = ReadyNote(
        screen.window,
        screen.session,
        opened.append,
        show=lambda *words: shown.append(words),
        clock=lambda: screen.session.messages[-1].created + seconds,
    )
    screen.ask("Where is it?")
    number = screen.session.conversation.id
    screen.play()
    assert shown == said
    if shown:
        note.open()
        assert opened == [number]


def test_what_the_user_stopped_is_told_to_nobody(make_screen: Callable[..., Screen]) -> None:
    screen, shown = make_screen(), []
    ReadyNote(screen.window, screen.session, print, show=lambda *words: shown.append(words), clock=lambda: 4e9)
    screen.window.hide()
    screen.ask("Where is it?")
    screen.window.commands.stop.trigger()
    screen.play()
    assert shown == []
