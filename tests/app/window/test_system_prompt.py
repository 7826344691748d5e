"""The system prompt editor in the window: what it finds while typing, what that costs, and its one-click cures."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QTextEdit

from app import theme
from app.chat.changing_parts import STEP_LENGTH, Search
from app.placeholders import Cure, current_values
from app.system_prompt.editing import PromptEditing
from app.system_prompt.editor import SystemPromptEditor
from engine import Preview
from tests.app.window.conftest import Screen, settle

RULES = "You are a support bot. Be brief and friendly. " * 20


class Editing:
    """The editor of a screen, opened."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        screen.window.header.pill.click()
        editor, editing = screen.application.dialogs.open_dialog, screen.application.dialogs.editing
        assert isinstance(editor, SystemPromptEditor)
        assert isinstance(editing, PromptEditing)
        self.editor, self.editing = editor, editing

    def type(self, text: str) -> None:
        """Put this text into the editor, and rest."""
        self.editor.edit.setPlainText(text)
        self.rest()

    def rest(self) -> None:
        """What the timer does once typing rests."""
        self.editing.pricer.ask()
        self.screen.play()

    def press(self, key: str, action: str) -> None:
        self.editor.findings.button(key, action).click()
        self.rest()

    def save(self) -> None:
        self.editor.save_button.click()
        settle()

    @property
    def said(self) -> tuple[str, ...]:
        return self.editor.findings.texts


def asked(screen: Screen) -> list[str]:
    return [message.content for message in screen.engine.requests[-1].messages]


def test_the_price_is_what_the_engine_says_of_the_text_before_and_of_the_whole(screen: Screen) -> None:
    screen.ask("First question?")
    screen.play()
    editing = Editing(screen)
    screen.session.cost.drop()  # on a busy machine its timer rings while this test still works
    previews: list[Preview] = []
    screen.application.bridge.preview.connect(previews.append)
    asked = len(screen.engine.previews)
    editing.type(f"It is {{{{time}}}}. {RULES}")
    whole, before = previews[:2]  # behind them may be what other timers ask for
    said = [span.end for span in whole.spans if span.message_index < len(whole.spans) - 1]
    tokens, seconds = said[-1] - before.system_tokens, whole.seconds - before.seconds
    assert editing.said == (
        f"{{{{time}}}} changes at each turn: {tokens:,} tokens after it are read again, about\xa0{seconds:.2f}\xa0s.",
    )
    assert editing.editor.tokens.text() == f"{whole.system_tokens:,} tokens"
    assert [request.use_cache for request in screen.engine.previews[asked:][:2]] == [False, False]


def test_the_list_follows_the_text(screen: Screen) -> None:
    editing = Editing(screen)
    assert editing.editor.findings.isHidden()
    editing.editor.edit.setPlainText("At {{time}}")
    assert editing.said == ("{{time}} changes at each turn: everything after it is read again.",)
    assert editing.editor.findings.isVisible()
    settle()
    assert editing.editor.findings.height() > 30
    editing.type("At noon")
    assert editing.editor.findings.isHidden()
    editing.type("")
    assert editing.editor.tokens.text() == "0 tokens"


def marks(editor: SystemPromptEditor) -> list[tuple[str, str]]:
    """The underlined texts with their colours."""
    selections: list[QTextEdit.ExtraSelection] = editor.edit.extraSelections()
    return [(each.cursor.selectedText(), each.format.underlineColor().name()) for each in selections]  # type: ignore[attr-defined]


def test_what_is_found_is_underlined_also_behind_characters_of_two_halves(screen: Screen) -> None:
    editing = Editing(screen)
    editing.type("👍🏽 {{time}} and Date: 2026-11-29")
    worn = theme.current()
    assert marks(editing.editor) == [("{{time}}", worn.computed), ("2026-11-29", worn.edge)]
    screen.application.choose_theme("dark")
    settle()
    assert marks(editing.editor)[0] == ("{{time}}", theme.DARK.computed)


def test_freezing_holds_once_it_is_saved(screen: Screen) -> None:
    editing = Editing(screen)
    editing.type(f"On {{{{date}}}}. {RULES}")
    editing.press("date", "freeze")
    today = current_values()["date"]
    assert editing.said == (f"{{{{date}}}} stays “{today}” in this conversation.",)
    assert screen.session.conversation.cures == ()
    editing.save()
    assert screen.session.conversation.cures == (Cure("date", "frozen", today),)
    screen.ask("Which day?")
    assert asked(screen)[0].startswith(f"On {today}. ")
    screen.play()


def test_moving_puts_the_value_behind_the_question(screen: Screen) -> None:
    editing = Editing(screen)
    editing.type(f"On {{{{date}}}}. {RULES}")
    editing.press("date", "move")
    editing.save()
    screen.ask("Which day?")
    assert asked(screen)[0].startswith("On [date: see the newest message]. ")
    assert asked(screen)[1] == f"Which day?\n\n[date: {current_values()['date']}]"
    screen.play()
    assert screen.texts()[0] == "Which day?"


def test_a_pasted_date_becomes_a_placeholder_that_is_moved(screen: Screen) -> None:
    editing = Editing(screen)
    editing.type("👍🏽 Today is 29 Nov 2026. Be brief.")
    editing.press("12", "move")
    assert editing.editor.text == "👍🏽 Today is {{date}}. Be brief."
    assert editing.said == ("{{date}} goes with the newest message; the system prompt stays the same.",)
    editing.editor.edit.undo()
    assert editing.editor.text == "👍🏽 Today is 29 Nov 2026. Be brief."
    editing.editor.edit.redo()
    editing.save()
    assert screen.session.conversation.cures == (Cure("date", "moved"),)


def test_a_cure_can_be_taken_back_and_cancel_changes_nothing(screen: Screen) -> None:
    screen.session.set_system_prompt("At {{time}}.", (Cure("time", "frozen", "1:00"),))
    editing = Editing(screen)
    assert editing.said == ("{{time}} stays “1:00” in this conversation.",)
    editing.press("time", "thaw")
    assert editing.said[0].startswith("{{time}} changes at each turn")
    editing.editor.discard()
    assert screen.session.conversation.cures == (Cure("time", "frozen", "1:00"),)
    editing = Editing(screen)
    editing.press("time", "thaw")
    editing.save()
    assert screen.session.conversation.cures == ()


@pytest.mark.parametrize("text", ["At {{time}}.", "At noon."])
def test_without_a_model_there_is_no_price_and_nothing_is_asked(make_screen: Callable[..., Screen], text: str) -> None:
    screen = make_screen(load_failure="It is broken.")
    editing = Editing(screen)
    editing.editor.edit.setPlainText(text)
    assert screen.engine.previews == []
    assert not editing.editor.tokens.text()


def test_escape_asks_before_it_drops_what_was_written(screen: Screen) -> None:
    editing = Editing(screen)
    editing.type("Be brief.")
    QTest.keyClick(editing.editor.edit, Qt.Key.Key_Escape)
    box = editing.editor.question
    assert box is not None
    assert (editing.editor.isVisible(), box.text) == (True, "Save the changed system prompt?")
    box.press("Go on writing")
    assert (editing.editor.isVisible(), editing.editor.text) == (True, "Be brief.")
    editing.editor.close()
    assert editing.editor.question is not None
    editing.editor.question.press("Save")
    assert screen.session.conversation.system_prompt == "Be brief."


def test_escape_closes_an_editor_in_which_nothing_changed_and_discarding_drops(screen: Screen) -> None:
    editing = Editing(screen)
    QTest.keyClick(editing.editor.edit, Qt.Key.Key_Escape)
    assert not editing.editor.isVisible()
    editing = Editing(screen)
    editing.type("Be brief.")
    editing.editor.reject()
    assert editing.editor.question is not None
    editing.editor.question.press("Discard")
    assert (editing.editor.isVisible(), screen.session.conversation.system_prompt) == (False, "")


def test_a_key_in_a_long_prompt_waits_for_one_step_of_the_search_only(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[Search] = []
    step = Search.step
    monkeypatch.setattr(Search, "step", lambda search: steps.append(search) or step(search))
    editing = Editing(screen)
    text = "Be brief. " * (STEP_LENGTH // 3) + "Today is 29 Nov 2026. {{time}}"
    for typed in (text, f"{text} more"):
        steps.clear()
        editing.editor.edit.setPlainText(typed)
        assert len(steps) == 1
    settle_until(lambda: len(editing.editor.findings.texts) == 2)
    assert len(steps) == 4, "nothing of the text before was looked through any more"
    assert len(set(map(id, steps))) == 1
    assert len(editing.editor.edit.extraSelections()) == 2


def settle_until(is_done: Callable[[], bool]) -> None:
    for _ in range(100):
        if is_done():
            return
        settle()
    raise AssertionError("it did not happen")
