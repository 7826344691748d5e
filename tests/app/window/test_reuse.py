"""What the window says about reuse is what the engine said: ribbon, price of an edit, warm box, badges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app import words
from app.chat.places import place_of
from app.sidebar.badges import Badges, badge_of
from app.system_prompt.editor import SystemPromptEditor
from app.transcript.message import Answer
from app.transcript.message_actions import ActionButton
from app.widgets.next_prompt import NextPrompt
from app.widgets.ribbon_cells import State
from engine import CacheView, Divergence, Failed, Matched, Prefill, Preview, TextDelta
from tests.app.conftest import DAY, timer_of
from tests.app.fake_engine import Script
from tests.app.window.conftest import Screen, settle


@pytest.fixture
def heard(screen: Screen) -> list[Preview | Matched]:
    """The engine's previews and matches, as they come out of the bridge."""
    events: list[Preview | Matched] = []
    screen.application.bridge.preview.connect(events.append)
    screen.application.bridge.matched.connect(events.append)
    return events


def newest(heard: list[Preview | Matched], kind: type) -> Preview | Matched:
    return next(event for event in reversed(heard) if isinstance(event, kind))


def shown_tokens(line: NextPrompt) -> Counter[State]:
    """Tokens on screen in each state, free ones left out."""
    counts: Counter[State] = Counter()
    for cell in line.ribbon.cells:
        counts.update(dict(cell.parts))
    counts.pop("free", None)
    return counts


def foresee(screen: Screen) -> None:
    """Typing has rested: whatever is scheduled is asked now."""
    cost = screen.session.cost
    for previewer in (cost.draft, cost.edit, cost.prompt):
        if previewer.rest.isActive():
            previewer.ask()
    screen.play()


def ask_badges(screen: Screen) -> Badges:
    badges = screen.application.badges
    badges.ask()
    screen.play()
    return badges


def test_the_ribbon_is_the_preview(screen: Screen, heard: list[Preview | Matched]) -> None:
    screen.session.set_system_prompt("You are the support bot of a mail-order shop. " * 10)
    screen.ask("Where is my parcel?")
    screen.play()
    screen.type("And when does it come? " * 6)
    foresee(screen)
    preview = newest(heard, Preview)
    assert isinstance(preview, Preview)
    line = screen.composer.next_prompt
    pinned = preview.pinned_tokens
    assert pinned > 0
    expected = {"pinned": pinned, "reused": preview.reused_tokens - pinned, "computed": preview.computed_tokens}
    assert shown_tokens(line) == {state: count for state, count in expected.items() if count}
    assert line.accessibleName() == f"Next prompt  ·  {words.next_prompt(preview)}"
    assert screen.window.header.pill.text().endswith("kept")
    line.ribbon.setFocus(Qt.FocusReason.TabFocusReason)
    said = line.ribbon.accessibleDescription()
    assert "to read" in said
    assert "your 2nd message" in said
    assert preview.block_texts[line.ribbon.cells[line.ribbon.current].start // 16].strip() in said


def test_while_it_is_answered_the_ribbon_is_what_was_matched(screen: Screen, heard: list[Preview | Matched]) -> None:
    screen.ask("Where is my parcel?")
    screen.play()
    screen.ask("Sent before its preview came")
    screen.until(TextDelta)
    matched = newest(heard, Matched)
    line = screen.composer.next_prompt
    assert line.accessibleName() == (
        f"This prompt  ·  {matched.reused_tokens:,} of {matched.prompt_tokens:,} tokens remembered"
        f" · {matched.computed_tokens:,} read"
    )
    assert sum(shown_tokens(line).values()) == matched.prompt_tokens
    screen.play()
    foresee(screen)
    assert line.text.startswith("Next prompt")


def test_while_the_prompt_is_read_the_ribbon_says_what_is_computed_by_now(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(prefill_chunks=2))
    screen.ask("Where is my parcel?")
    line = screen.composer.next_prompt
    screen.until(Matched)
    assert line.preview is not None
    total = line.preview.computed_tokens
    assert line.text == f"This prompt  ·  0 of {total} tokens remembered · {total} to read"
    screen.until(Prefill)
    assert line.text == f"This prompt  ·  0 of {total} tokens remembered · {total // 2} of {total} read"
    screen.until(Prefill)
    assert line.text == f"This prompt  ·  0 of {total} tokens remembered · {total} read"


def test_a_prompt_past_the_context_says_so(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen()
    screen.type("word " * 8000)
    foresee(screen)
    line = screen.composer.next_prompt
    assert line.text.endswith("tokens too long for this model")
    assert shown_tokens(line)["past"] == line.preview.prompt_tokens - 8192  # type: ignore[union-attr]


def test_the_price_of_an_edit_shows_while_its_button_is_pointed_at(
    screen: Screen, heard: list[Preview | Matched]
) -> None:
    for question in ("Where is my parcel?", "And the tent?"):
        screen.ask(question)
        screen.play()
    foresee(screen)
    line = screen.composer.next_prompt
    before = line.text
    edit = button(screen, 0, "Edit this question")
    edit.setFocus(Qt.FocusReason.TabFocusReason)
    foresee(screen)
    asked = newest(heard, Preview)
    assert isinstance(asked, Preview)
    cost = asked.prompt_tokens - min(asked.reused_tokens, asked.spans[-1].start)
    assert line.text.startswith(f"If you change your 1st message  ·  {cost} tokens are read again, about ")
    assert edit.accessibleDescription() == line.text.rpartition("  ·  ")[2]
    assert shown_tokens(line)["computed"] == cost
    screen.composer.edit.setFocus()
    assert line.text == before


def test_the_price_of_an_edit_follows_what_is_cached(screen: Screen) -> None:
    screen.session.set_system_prompt("You are a support bot. " * 20)
    screen.ask("Where is my parcel?")
    screen.play()
    button(screen, 0, "Edit this question").setFocus(Qt.FocusReason.TabFocusReason)
    foresee(screen)
    line = screen.composer.next_prompt
    before = shown_tokens(line)
    screen.window.commands.clear_cache.trigger()
    screen.play()
    foresee(screen)
    assert line.text.startswith("If you change your 1st message")
    assert shown_tokens(line)["computed"] == before.total() > before["computed"]


def test_a_price_that_comes_too_late_is_not_shown(screen: Screen) -> None:
    screen.ask("Where is my parcel?")
    screen.play()
    foresee(screen)
    before = screen.composer.next_prompt.text
    edit = button(screen, 0, "Edit this question")
    edit.setFocus(Qt.FocusReason.TabFocusReason)
    screen.session.cost.edit.ask()
    screen.composer.edit.setFocus()
    screen.play()
    assert screen.composer.next_prompt.text == before


def button(screen: Screen, message: int, name: str) -> ActionButton:
    """A button under a message, by its name."""
    buttons = screen.transcript.messages[message].findChildren(ActionButton)
    return next(each for each in buttons if each.accessibleName() == name)


def test_an_edit_is_foreseen_in_its_own_branch(screen: Screen) -> None:
    for question in ("One?", "Two?"):
        screen.ask(question)
        screen.play()
    button(screen, 0, "Edit this question").click()
    screen.composer.set_text("Another one?")
    foresee(screen)
    foreseen = screen.engine.previews[-1]
    screen.press(Qt.Key.Key_Return)
    assert screen.engine.requests[-1].messages == foreseen.messages
    screen.play()
    foresee(screen)
    assert len(screen.engine.previews[-1].messages) == 3


def test_the_system_prompt_is_foreseen_while_it_is_written(screen: Screen, heard: list[Preview | Matched]) -> None:
    screen.ask("Hello?")
    screen.play()
    foresee(screen)
    before = screen.composer.next_prompt.text
    screen.window.header.pill.click()
    editor = screen.application.dialogs.open_dialog
    assert isinstance(editor, SystemPromptEditor)
    editor.edit.setPlainText("Be brief. " * 20)
    foresee(screen)
    foreseen = screen.engine.previews[-1]
    assert foreseen.messages[0].content == "Be brief. " * 20
    cost = words.next_prompt(newest(heard, Preview))  # type: ignore[arg-type]
    assert editor.next_prompt.text == f"With this text  ·  {cost}"
    assert screen.composer.next_prompt.text == f"With the changed system prompt  ·  {cost}"
    editor.discard()
    assert screen.composer.next_prompt.text == before


def test_the_warm_box_leads_to_the_message_it_is_about(make_screen: Callable[..., Screen]) -> None:
    divergence = Divergence(41, 3, "edited", "is green", "is blue", 2600)
    screen = make_screen(Script(), Script(), Script(divergence=divergence))
    for question in ("One? " * 200, "Two?", "Three? " * 200):
        screen.ask(question)
        screen.play()
    box = screen.answer().box
    assert box.accessibleName().startswith("One different word at token 41, in the 2nd answer: “green” became “blue”.")
    QTest.keyClick(box, Qt.Key.Key_Space)
    settle()
    message = screen.transcript.messages[3]
    assert isinstance(message, Answer)
    assert screen.window.focusWidget() is message.view
    view = screen.transcript.viewport()
    assert 0 <= message.mapTo(view, message.rect().topLeft()).y() < view.height()


def test_the_warm_box_opens_the_system_prompt(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(divergence=Divergence(4, 0, "date", "29 Nov", "30 Nov", 2600)))
    screen.session.set_system_prompt("It is 30 Nov.")
    screen.ask("Which day?")
    screen.play()
    QTest.mouseClick(screen.answer().box, Qt.MouseButton.LeftButton)
    assert isinstance(screen.application.dialogs.open_dialog, SystemPromptEditor)


def test_badges_are_the_engines_previews(screen: Screen, heard: list[Preview | Matched]) -> None:
    screen.ask("About parcels " * 9)
    screen.play()
    screen.window.commands.new.trigger()
    screen.ask("About tents")
    screen.play()
    foresee(screen)
    heard.clear()
    ask_badges(screen)
    rows = screen.window.sidebar.list
    previews = [event for event in heard if isinstance(event, Preview)]
    assert [rows.badge(row.id) for row in rows.rows] == [badge_of(preview) for preview in previews]
    model = rows.model()
    for place, preview in enumerate(previews):
        said = model.data(model.index(place, 0), Qt.ItemDataRole.AccessibleTextRole)
        assert badge_of(preview).text in said
        assert "estimated" not in said, "so little is not worth saying"
        pointed = model.data(model.index(place, 0), Qt.ItemDataRole.ToolTipRole)
        assert "tokens of its next prompt are remembered" in pointed
    screen.window.commands.clear_cache.trigger()
    screen.play()
    ask_badges(screen)
    assert [badge.is_warm for row in rows.rows if (badge := rows.badge(row.id))] == [False, False]
    assert "remembered" not in model.data(model.index(0, 0), Qt.ItemDataRole.AccessibleTextRole)
    assert "0 of " in model.data(model.index(0, 0), Qt.ItemDataRole.ToolTipRole)


def test_badges_wait_for_everything_else_and_go_one_by_one(screen: Screen) -> None:
    for title in ("One", "Two", "Three"):
        screen.window.commands.new.trigger()
        screen.ask(title)
        screen.play()
    foresee(screen)
    badges, engine = screen.application.badges, screen.engine
    screen.ask("More?")
    screen.until(TextDelta)
    before = len(engine.previews)
    badges.ask()
    assert len(engine.previews) == before
    screen.play()
    foresee(screen)
    before = len(engine.previews)
    badges.ask()
    badges.ask()
    assert len(engine.previews) == before + 1
    screen.play()
    assert len(engine.previews) == before + 3
    badges.ask()
    assert len(engine.previews) == before + 3  # nothing changed since
    screen.application.bridge.cache_view.emit(CacheView(0, 1.0, 10, 0, 0, 0, 5, 0))
    assert timer_of(badges).isActive()
    ask_badges(screen)
    assert len(engine.previews) == before + 6


def test_badges_ask_by_themselves_once_the_window_rests(screen: Screen, qtbot: QtBot) -> None:
    screen.ask("Hello?")
    screen.play()
    rows = screen.window.sidebar.list
    screen.engine.release()
    qtbot.waitUntil(lambda: rows.badge(rows.rows[0].id) is not None)


def test_rows_out_of_sight_are_not_asked_about(screen: Screen) -> None:
    for number in range(40):
        screen.application.history.create("", screen.session.conversation.sampling, DAY, f"{number}")
    screen.session.conversations_changed.emit()
    rows = screen.window.sidebar.list
    seen = rows.visible_ids()
    assert 5 < len(seen) < 20
    assert seen == tuple(row.id for row in rows.rows[: len(seen)])
    rows.scrollToBottom()
    assert rows.visible_ids()[-1] == rows.rows[-1].id
    screen.window.commands.show_sidebar.trigger()
    assert rows.visible_ids() == ()


def test_a_badge_that_fails_is_no_badge(screen: Screen) -> None:
    screen.ask("Hello?")
    screen.play()
    foresee(screen)
    badges = screen.application.badges
    badges.ask()
    screen.engine.poll()
    screen.engine.inject(Failed(badges._awaited[0], "no"))
    screen.play()
    rows = screen.window.sidebar.list
    assert rows.badge(rows.rows[0].id) is None
    assert screen.window.notice.text == ""


def test_another_model_makes_all_badges_unknown(screen: Screen) -> None:
    screen.ask("Hello?")
    screen.play()
    foresee(screen)
    ask_badges(screen)
    rows = screen.window.sidebar.list
    assert rows.badge(rows.rows[0].id) is not None
    screen.application.dialogs.load("")
    assert rows.badge(rows.rows[0].id) is None
    screen.play()
    foresee(screen)
    ask_badges(screen)
    assert rows.badge(rows.rows[0].id) is not None


def test_a_conversation_longer_than_the_context_says_so(screen: Screen) -> None:
    screen.ask("word " * 8000)
    screen.play()
    foresee(screen)
    ask_badges(screen)
    rows = screen.window.sidebar.list
    badge = rows.badge(rows.rows[0].id)
    assert badge is not None
    assert badge.text == "longer than the model reads"
    assert "more than this model reads" in badge.explanation
    said = rows.model().data(rows.model().index(0, 0), Qt.ItemDataRole.ToolTipRole)
    assert "stimated" not in said, "no seconds are said"


def test_changed_tools_are_placed() -> None:
    """Nobody wrote them in a message: there is nowhere to go to."""
    assert place_of(Divergence(9, -1, "tools", "find", "ask", 100), (), True, 0) == "in the tools"
    assert place_of(Divergence(9, -1, "edited", "find", "ask", 100), (), True, 0) == "between two messages"


def test_a_stored_explanation_keeps_the_place_that_was_true_then(make_screen: Callable[..., Screen]) -> None:
    divergence = Divergence(4, 0, "edited", "is green", "is blue", 2600)
    screen = make_screen(Script(), Script(divergence=divergence))
    screen.ask("One?")
    screen.play()
    screen.ask("Two?")
    screen.play()
    number = screen.session.conversation.id
    screen.session.set_system_prompt("You came later.")
    screen.session.new_conversation()
    screen.session.open(number)
    settle()
    assert "in your 1st message" in screen.answer().box.accessibleName()


def test_questions_that_were_sent_together_are_one_place(make_screen: Callable[..., Screen]) -> None:
    divergence = Divergence(90, 2, "edited", "is green", "is blue", 2600)
    screen = make_screen(Script(), Script(), Script(divergence=divergence))
    screen.ask("One?")
    screen.until(Prefill)
    screen.press(Qt.Key.Key_Escape)
    screen.play()
    screen.ask("Two?")
    screen.play()
    screen.ask("Three?")
    screen.play()
    assert "in your 3rd message" in screen.answer().box.accessibleName()


def test_the_charts_keep_naming_the_newest_turn_that_was_read_again(make_screen: Callable[..., Screen]) -> None:
    divergence = Divergence(4, 0, "date", "30 November", "1 December", 3128)
    screen = make_screen(Script(), Script(divergence=divergence), Script())
    card = screen.window.charts.tokens
    for question in ("One?", "Two?", "Three?"):
        assert card.more == "" or question == "Three?"
        screen.ask(question)
        screen.play()
        screen.window.charts.redraw()
    assert card.more == "Turn 2 read 3,128 again: a date moved on"
    screen.session.new_conversation()
    screen.window.charts.redraw()
    assert card.more == ""


def test_the_charts_name_the_message_that_changed(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(), Script(divergence=Divergence(4, 0, "edited", "is green", "is blue", 2600)))
    screen.session.set_system_prompt("Be brief.")
    for question in ("One?", "Two?"):
        screen.ask(question)
        screen.play()
    screen.window.charts.redraw()
    assert screen.window.charts.tokens.more == "Turn 2 read 2,600 again: the system prompt changed"


def test_what_lies_on_disk_is_said_where_the_model_is(screen: Screen) -> None:
    """Hovering the model says how much; a disk that cannot be used is said once, and stays to be read there."""
    button, show = screen.window.sidebar.model_button, screen.application.bridge.cache_view.emit
    show(CacheView(0, 1.0, 10, 0, 0, 0, 5, 0, disk_bytes=214_000_000))
    assert "214 MB on disk" in button.toolTip()
    assert "214 MB on disk" in button.accessibleName()
    broken = CacheView(0, 2.0, 10, 0, 0, 0, 5, 0, disk_note="The disk is full.")
    show(broken)
    assert (screen.window.notice.text, "The disk is full." in button.toolTip()) == ("The disk is full.", True)
    screen.window.notice.hide()
    show(broken)
    assert not screen.window.notice.isVisible()
