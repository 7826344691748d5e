"""A question whose first word is foreseen at once is drawn behind that word, a moment later at most, and never lost."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from app.chat.cost import Cost
from engine import Matched, TextDelta
from tests.app.fake_engine import Script
from tests.app.window.conftest import Screen, settle

FIRST, NEXT = "Where is my parcel?", "And when?"
ANSWER = "Hello from a fake."


@pytest.fixture(autouse=True)
def _no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("app.chat.bridge", "app.window.postponed"):
        monkeypatch.setattr(f"{module}.HELD_S", 3600.0)


@pytest.fixture
def begun(screen: Screen) -> Screen:
    """A conversation with one answer."""
    screen.ask(FIRST)
    screen.play()
    return screen


def send_foreseen(screen: Screen, text: str) -> None:
    """Send a question of which the window knows that nearly all of its prompt is cached."""
    screen.type(text)
    screen.session.cost.draft.ask()
    screen.application.bridge.drain()
    screen.press(Qt.Key.Key_Return)
    settle()


def drawn(screen: Screen) -> list[str]:
    """The messages that can be seen, without asking for those that are yet to be drawn."""
    return [message.text for message in screen.transcript.built if message.isVisible()]


def let_time_pass(screen: Screen) -> None:
    """The longest that drawing waits."""
    screen.application.presenter.postponed.timer.timeout.emit()
    settle()


def test_it_is_drawn_with_the_first_word(begun: Screen) -> None:
    send_foreseen(begun, NEXT)
    assert drawn(begun) == [FIRST, ANSWER]
    assert begun.composer.text == ""
    assert begun.composer.button.text() == "Stop"
    assert [message.content for message in begun.session.messages] == [FIRST, ANSWER, NEXT, ""]
    begun.until(Matched)
    assert drawn(begun) == [FIRST, ANSWER], "nothing is drawn while the engine reads"
    begun.until(TextDelta)
    assert drawn(begun) == [FIRST, ANSWER, NEXT, "Hello"]
    begun.play()
    assert drawn(begun) == [FIRST, ANSWER, NEXT, ANSWER]
    assert begun.transcript.following


def test_the_first_question_of_a_conversation_waits_too(screen: Screen) -> None:
    send_foreseen(screen, FIRST)
    assert screen.window.empty.isVisible()
    screen.until(TextDelta)
    assert drawn(screen) == [FIRST, "Hello"]
    assert screen.window.windowTitle().startswith(FIRST)
    assert [row.title for row in screen.window.sidebar.list.rows] == [FIRST]
    screen.play()
    assert drawn(screen) == [FIRST, ANSWER]


def test_what_is_typed_meanwhile_stays(screen: Screen) -> None:
    send_foreseen(screen, FIRST)
    screen.type("next")
    screen.play()
    assert screen.composer.text == "next"


def test_it_is_drawn_where_the_word_is_late(begun: Screen) -> None:
    send_foreseen(begun, NEXT)
    let_time_pass(begun)
    assert drawn(begun) == [FIRST, ANSWER, NEXT, ""]
    begun.play()
    assert drawn(begun) == [FIRST, ANSWER, NEXT, ANSWER]


def test_nothing_waits_where_the_word_is_not_foreseen(begun: Screen) -> None:
    begun.ask(NEXT)
    assert drawn(begun) == [FIRST, ANSWER, NEXT, ""]
    begun.until(Matched)
    assert begun.session.state == "prefill"


def test_a_long_prompt_is_not_foreseen(begun: Screen) -> None:
    send_foreseen(begun, "word " * 100)
    assert len(drawn(begun)) == 4


def test_what_was_typed_since_it_was_counted_is_not_foreseen(begun: Screen) -> None:
    begun.type(NEXT)
    begun.session.cost.draft.ask()
    begun.application.bridge.drain()
    begun.ask(" " + "word " * 20)
    assert len(drawn(begun)) == 4


def test_a_stop_finds_it(begun: Screen) -> None:
    send_foreseen(begun, NEXT)
    begun.press(Qt.Key.Key_Escape)
    begun.play()
    assert drawn(begun) == [FIRST, ANSWER, NEXT]
    assert begun.session.state == "idle"
    assert begun.composer.button.text() == "Send"


def test_a_failure_finds_it(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(), Script(fail_after=-1))
    screen.ask(FIRST)
    screen.play()
    send_foreseen(screen, NEXT)
    screen.play()
    assert drawn(screen) == [FIRST, ANSWER, NEXT]
    assert screen.window.notice.text == "The fake engine was told to fail."


def test_another_conversation_finds_it(begun: Screen) -> None:
    number = begun.session.conversation.id
    send_foreseen(begun, NEXT)
    begun.application.presenter.new()
    settle()
    assert drawn(begun) == []
    assert begun.window.empty.isVisible()
    begun.play()
    assert drawn(begun) == []
    begun.application.presenter.open(number)
    settle()
    assert drawn(begun) == [FIRST, ANSWER, NEXT, ANSWER]


def test_a_new_conversation_is_left_before_it_is_drawn(screen: Screen) -> None:
    send_foreseen(screen, FIRST)
    number = screen.session.conversation.id
    screen.type("draft")
    screen.application.presenter.new()
    settle()
    assert screen.composer.text == ""
    screen.play()
    screen.application.presenter.open(number)
    settle()
    assert drawn(screen) == [FIRST, ANSWER]
    assert screen.composer.text == "draft"


def test_another_look_finds_it(begun: Screen) -> None:
    send_foreseen(begun, NEXT)
    begun.application.change_text_size(1)
    settle()
    begun.play()
    assert begun.texts() == [FIRST, ANSWER, NEXT, ANSWER]


def test_another_look_goes_to_it(begun: Screen) -> None:
    """Whoever sends a question sees it, wherever the view was before."""
    begun.ask("word " * 1000)
    begun.play()
    begun.transcript.verticalScrollBar().setValue(0)
    send_foreseen(begun, NEXT)
    begun.application.change_text_size(1)
    settle()
    begun.play()
    assert begun.transcript.following


def test_whoever_asks_for_the_messages_finds_it(begun: Screen) -> None:
    send_foreseen(begun, NEXT)
    assert begun.texts() == [FIRST, ANSWER, NEXT, ""]
    begun.play()
    assert begun.texts() == [FIRST, ANSWER, NEXT, ANSWER]


def test_an_earlier_question_is_edited_before_it_is_drawn(begun: Screen) -> None:
    send_foreseen(begun, NEXT)
    begun.transcript.wishes.edit.emit(begun.session.messages[0].id)
    assert begun.composer.text == FIRST
    begun.play()
    assert begun.composer.text == FIRST
    assert drawn(begun) == [FIRST, ANSWER, NEXT, ANSWER]


def test_the_window_is_closed_before_it_is_drawn(begun: Screen, make_screen: Callable[..., Screen]) -> None:
    number = begun.session.conversation.id
    send_foreseen(begun, NEXT)
    begun.window.close()
    later = make_screen()
    later.application.presenter.open(number)
    settle()
    assert drawn(later)[:3] == [FIRST, ANSWER, NEXT]


def test_the_page_does_not_jump(begun: Screen) -> None:
    """The focus stays in the field, and the view at the end."""
    send_foreseen(begun, "word " * 5)
    bar = begun.transcript.verticalScrollBar()
    assert begun.composer.edit.hasFocus()
    assert bar.value() == bar.maximum()
    begun.until(TextDelta)
    assert begun.composer.edit.hasFocus()
    assert bar.value() == bar.maximum()


@pytest.mark.parametrize("seed", range(6))
def test_the_window_ends_as_if_nothing_had_waited(
    make_screen: Callable[..., Screen], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, seed: int
) -> None:
    """Whatever the user does, and whenever the first words come."""
    ends = []
    for is_soon in (True, False):
        monkeypatch.setattr(Cost, "is_word_soon", lambda cost, text, is_soon=is_soon: is_soon)
        ends.append(play_at_random(make_screen, random.Random(seed)))
        for file in tmp_path.glob("history*"):
            file.unlink()
    assert ends[0] == ends[1]


def play_at_random(make_screen: Callable[..., Screen], chance: random.Random) -> tuple[object, ...]:
    """A window that much was done with, and what can be seen of it at the end."""
    kinds = (Script(), Script(), Script(), Script(tokens=()), Script(fail_after=-1), Script(fail_after=2))
    screen = make_screen(*chance.choices(kinds, k=30))
    screen.application.bridge.timer.timeout.disconnect()  # no time passes
    for number in range(30):
        chance.choice(DEEDS)(screen, f"Q{number} " + "word " * chance.randrange(60), chance)
        settle()
    screen.play()
    let_time_pass(screen)
    window, transcript, composer = screen.window, screen.transcript, screen.composer
    assert screen.texts() == [message.content for message in screen.session.messages]
    seen = (
        screen.texts(), transcript.following, composer.text, composer.editing, composer.button.text(),
        window.windowTitle(), window.empty.isVisible(), window.notice.text,
        [row.title for row in window.sidebar.list.rows],
    )  # fmt: skip
    window.close()
    return seen


def go_on(screen: Screen, text: str, chance: random.Random) -> None:
    if screen.session.answers.is_answering:
        screen.engine.advance()
        screen.application.bridge.drain()


def with_some_conversation(do: Callable[[Screen, int], object]) -> Deed:
    def deed(screen: Screen, text: str, chance: random.Random) -> None:
        if rows := screen.session.conversations():
            do(screen, chance.choice(rows).id)

    return deed


def edit(screen: Screen, text: str, chance: random.Random) -> None:
    """What can be pressed is drawn."""
    let_time_pass(screen)
    if questions := [message.id for message in screen.session.messages if message.role == "user"]:
        screen.transcript.wishes.edit.emit(chance.choice(questions))


Deed = Callable[[Screen, str, random.Random], object]
DEEDS: tuple[Deed, ...] = (
    *3 * [lambda screen, text, chance: screen.ask(text)],
    *4 * [go_on],
    lambda screen, text, chance: screen.press(Qt.Key.Key_Escape),
    lambda screen, text, chance: screen.application.presenter.new(),
    lambda screen, text, chance: screen.application.presenter.retry(),
    lambda screen, text, chance: screen.application.change_text_size(chance.choice((1, -1))),
    lambda screen, text, chance: screen.transcript.verticalScrollBar().setValue(0),
    lambda screen, text, chance: screen.type(text),
    lambda screen, text, chance: let_time_pass(screen),
    lambda screen, text, chance: screen.play(),
    with_some_conversation(lambda screen, number: screen.application.presenter.open(number)),
    with_some_conversation(lambda screen, number: screen.session.rename(number, "Parcels")),
    with_some_conversation(lambda screen, number: screen.session.delete(number)),
    edit,
)
