"""What a newcomer meets: what the program is for, the minute that shows it, and figures and bars that follow."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QPushButton, QWidget

from app.transcript.message import MessageWidget
from app.widgets.conversation_list import ConversationList
from app.window.presenter import SUPPORT_BOT
from app.window.tour import ASK_NEXT, NEXT, QUESTIONS
from engine import BY_ITSELF, CacheView, Failed
from tests.app.fake_engine import MODEL, Script
from tests.app.window.conftest import Screen, settle


def test_the_empty_page_says_what_it_is_for_and_offers_to_show_it(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(loaded=False)
    for is_loaded in (False, True):
        settle()
        empty = screen.window.empty
        assert empty.isVisible()
        assert empty.title == "It reads everything once.\nThe next answer starts at once."
        assert "All of it stays on this computer" in empty.text
        buttons = [each.text() for each in empty.findChildren(QPushButton) if each.isVisible()]
        assert buttons == ["Show me: ask a support bot two questions · about a minute"]
        assert ("as soon as the model is loaded" in empty.beside) is not is_loaded
        screen.play()


def test_the_minute_asks_a_question_and_offers_the_second(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(stats_every=1))
    screen.type("mine")
    screen.window.empty.chosen.emit(SUPPORT_BOT)
    settle()
    assert screen.composer.text == "mine", "what was written stays"
    screen.play()
    assert screen.texts()[0] == QUESTIONS[0]
    assert screen.session.conversation.title == "Support bot"
    assert screen.session.conversation.system_prompt
    notice = screen.window.notice
    assert (notice.text, notice.offer.text()) == (NEXT, ASK_NEXT)
    notice.offer.click()
    screen.play()
    assert screen.texts()[2] == QUESTIONS[1]
    assert notice.text == ""
    stats = screen.session.messages[-1].stats
    assert stats is not None
    assert stats.reused_tokens > stats.computed_tokens
    screen.window.charts.redraw()
    assert screen.window.charts.headline.text == "About 100 times sooner"
    assert screen.answer().strip.text.startswith("First word after")


def test_the_minute_may_begin_while_the_model_loads(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(loaded=False)
    screen.window.empty.chosen.emit(SUPPORT_BOT)
    screen.play()
    assert screen.window.notice.text == NEXT


def test_who_writes_something_else_is_left_alone(screen: Screen) -> None:
    screen.window.empty.chosen.emit(SUPPORT_BOT)
    screen.window.commands.stop.trigger()
    screen.play()
    assert screen.window.notice.text != NEXT
    screen.ask("My own question")
    screen.play()
    assert screen.window.notice.text != NEXT


FAILS = Script(fail_after=-1)


def test_an_error_bar_goes_when_its_cause_is_gone(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(FAILS, Script())
    screen.ask("One")
    screen.play()
    assert screen.window.notice.text == FAILS.sentence
    screen.session.retry()
    screen.play()
    assert screen.window.notice.text == ""


def test_a_failed_load_is_said_until_a_model_is_there(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(load_failure="There is no model at /gone: check the path.")
    assert screen.window.notice.text.startswith("There is no model")
    screen.engine.load_failure = ""
    screen.application.dialogs.load("")
    screen.play()
    assert screen.window.notice.text == ""


def test_a_full_disk_is_said_until_it_is_not(screen: Screen) -> None:
    full = CacheView(BY_ITSELF, 1.0, 10**9, 0, 0, 0, 0, 0, disk_note="The disk is full.")
    for view, said in ((full, "The disk is full."), (replace(full, disk_note=""), "")):
        screen.engine.inject(view)
        screen.application.bridge.drain()
        assert screen.window.notice.text == said


def test_figures_follow_what_the_engine_does_by_itself(make_screen: Callable[..., Screen]) -> None:
    """Reading an answer once more, writing to disk: nobody asked, and the memory, the badges and the prompt follow."""
    screen = make_screen()
    screen.ask("One")
    screen.play()
    previews = len(screen.engine.previews)
    screen.engine.inject(CacheView(BY_ITSELF, 9.0, 10**9, 0, 0, 77_000_000, 0, 0))
    screen.application.bridge.drain()
    screen.window.charts.redraw()
    assert screen.window.charts.cache.number == "77 MB of 1.0 GB"
    assert "77 MB of 1.0 GB" in screen.window.sidebar.model_button.lines[1]
    assert screen.session.cost.draft.rest.isActive(), "the next prompt is asked about anew"
    screen.session.cost.draft.ask()
    assert len(screen.engine.previews) > previews
    screen.engine.inject(Failed(BY_ITSELF, "What was read cannot be written to disk.", "detail"))
    screen.application.bridge.drain()
    assert screen.window.notice.text == "What was read cannot be written to disk."


@pytest.mark.parametrize("with_cache", [True, False])
def test_figures_follow_a_turn_with_the_cache_and_without(make_screen: Callable[..., Screen], with_cache: bool) -> None:
    screen = make_screen()
    screen.session.use_cache = with_cache
    for question in ("One", "Two"):
        screen.ask(question)
        screen.play()
        screen.session.cost.draft.ask()
        screen.play()
    preview = screen.composer.next_prompt.preview
    assert preview is not None
    assert (preview.reused_tokens > 0) is with_cache
    assert screen.window.charts.memory.rows()["reusable_bytes"][-1] == (
        0 if not with_cache else screen.engine._view(0).reusable_bytes
    )


def test_after_a_model_that_was_refused_everything_is_as_before(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen()
    screen.ask("One")
    screen.play()
    screen.engine.load_failure = "This model is refused."
    screen.application.dialogs.load("/other")
    screen.play()
    screen.session.cost.draft.ask()
    screen.play()
    assert screen.composer.next_prompt.preview is not None
    assert "memory" in screen.window.sidebar.model_button.lines[1]
    screen.application.badges.ask()
    screen.play()
    number = screen.session.conversation.id
    assert screen.window.sidebar.list.badge(number) is not None


def test_without_a_model_no_memory_is_shown(screen: Screen) -> None:
    """The one before was closed to make room for one that did not fit."""
    screen.ask("One")
    screen.play()
    load_id = screen.session.answers.load(replace(screen.engine.specs[-1], path="/huge"))
    screen.engine.inject(Failed(load_id, "It does not fit.", is_model_gone=True))
    screen.application.bridge.drain()
    screen.window.charts.redraw()
    assert screen.window.charts.cache.number == "–"
    assert screen.window.sidebar.model_button.lines == ("No model", "Open one")


def focused(screen: Screen) -> QWidget | None:
    settle()
    return screen.window.focusWidget()


def test_the_focus_is_where_one_writes_after_every_action(make_screen: Callable[..., Screen]) -> None:
    """Nothing leaves the keyboard nowhere."""
    screen = make_screen(Script(), Script())
    window, commands, edit = screen.window, screen.window.commands, screen.composer.edit
    screen.ask("One")
    screen.play()
    number = screen.session.conversation.id

    def rename(end: Qt.Key) -> None:
        commands.rename.trigger()
        assert focused(screen) is window.header.field
        QTest.keyClick(window.header.field, end)

    actions: dict[str, Callable[[], object]] = {
        "answer again": commands.retry.trigger,
        "rename": lambda: rename(Qt.Key.Key_Return),
        "leave the name": lambda: rename(Qt.Key.Key_Escape),
        "edit": lambda: window.transcript.wishes.edit.emit(screen.session.messages[0].id),
        "leave the edit": lambda: screen.press(Qt.Key.Key_Escape),
        "new": commands.new.trigger,
        "open": lambda: screen.application.presenter.open(number),
        "write": commands.write.trigger,
        "send": lambda: screen.ask("Two"),
    }
    for name, act in actions.items():
        act()
        assert focused(screen) is edit, name
        screen.play()
        assert focused(screen) is edit, name


def test_details_show_the_figures_under_every_answer_and_stay(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen()
    for question in ("One", "Two"):
        screen.ask(question)
        screen.play()
    answers = [screen.transcript.answer(m.id) for m in screen.session.messages if m.role == "assistant"]
    for wanted in (True, False, True):
        screen.answer().tools.figures.click()
        settle()
        assert [answer.strip._figures.isVisible() for answer in answers if answer] == [wanted, wanted]
        assert screen.application.settings.show_figures is wanted
    screen.window.commands.new.trigger()
    screen.session.open(screen.session.conversations()[0].id)
    settle()
    assert screen.answer().strip._figures.isVisible()


def test_folded_charts_stay_folded(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen()
    screen.ask("One")
    screen.play()
    screen.window.charts.redraw()
    screen.window.charts.tokens.fold.click()
    assert screen.application.settings.folded == "tokens,prefixes"


def test_the_search_is_used_from_the_keyboard_and_jumps_to_its_match(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(tokens=("A long answer.\n\n" * 40,)))
    for question in ("About boots", "About tents", "About lamps"):
        screen.ask(question)
        screen.play()
    number, wanted = screen.session.conversation.id, screen.session.messages[0].id
    screen.window.commands.new.trigger()
    screen.window.commands.find.trigger()
    search = screen.window.sidebar.search
    QTest.keyClicks(search, "boots")
    settle()
    QTest.keyClick(search, Qt.Key.Key_Down)
    assert screen.window.focusWidget() is screen.window.sidebar.list
    search.setFocus()
    QTest.keyClick(search, Qt.Key.Key_Return)
    settle()
    assert screen.session.conversation.id == number
    bar = screen.transcript.verticalScrollBar()
    assert bar.value() < bar.maximum(), "at the match, not at the end"
    found = screen.transcript.message(wanted)
    assert found is not None
    assert found.visibleRegion().boundingRect().height() > 0


def marked(message: MessageWidget) -> list[str]:
    assert message.shown is not None
    return [mark.cursor.selectedText() for mark in message.shown.extraSelections()]


def test_a_search_shows_the_words_around_its_match_and_marks_it(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(tokens=("Take the blue tent. " * 400, "\n\nThe *red* Straße is far. ", "More. " * 900)))
    screen.ask("What now?")
    screen.play()
    number = screen.session.conversation.id
    screen.window.commands.new.trigger()
    search, rows = screen.window.sidebar.search, screen.window.sidebar.list
    search.setText("strasse ")
    settle()
    assert [row.excerpt[:31] for row in rows.rows] == ["…The *red* Straße is far. More."]
    assert rows.grab().toImage() != blank(rows)
    screen.application.presenter.open(number)
    settle()
    answer = screen.answer()
    assert marked(answer) == ["Straße"]
    assert answer.marked_top is not None
    top = answer.mapTo(screen.transcript.viewport(), QPoint(0, answer.marked_top)).y()
    assert 0 < top < screen.transcript.viewport().height(), "the match is in sight, not only its message"
    search.clear()
    settle()
    assert marked(answer) == []
    assert [row.excerpt for row in rows.rows] == [""]


def test_what_is_left_out_of_a_long_question_is_shown_where_the_match_is_there(screen: Screen) -> None:
    screen.ask("line\n" * 60 + "needle")
    screen.play()
    number = screen.session.conversation.id
    screen.window.commands.new.trigger()
    screen.window.sidebar.search.setText("NEEDLE")
    screen.application.presenter.open(number)
    settle()
    assert marked(screen.transcript.messages[0]) == ["needle"]


def test_a_search_opens_the_version_that_matched(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(tokens=("The old answer.",)), Script(tokens=("Another.",)))
    screen.ask("What?")
    screen.play()
    screen.session.retry()
    screen.play()
    number = screen.session.conversation.id
    assert screen.texts() == ["What?", "Another."]
    for needle, texts in (("old", ["What?", "The old answer."]), ("another", ["What?", "Another."])):
        screen.window.commands.new.trigger()
        screen.window.sidebar.search.setText(needle)
        screen.application.presenter.open(number)
        settle()
        assert screen.texts() == texts
        assert [text.casefold() for text in marked(screen.answer())] == [needle]


def blank(rows: ConversationList) -> QImage:
    rows.show_rows([], 0)
    return rows.grab().toImage()


def test_a_long_title_makes_the_charts_no_wider(screen: Screen) -> None:
    """Seen: pointing at a bar of all conversations widened the panel."""
    screen.ask("A question whose title is far too long for the column at the right of the window, by far")
    screen.play()
    charts = screen.window.charts
    charts.scope.all.click()
    charts.redraw()
    settle()
    width = charts.tokens.width()
    charts.tokens.bars.hover(0)
    settle()
    assert charts.tokens.width() == width <= 328
    assert charts.tokens.fold.width() <= width


def test_each_conversation_keeps_its_draft_also_over_the_end_of_the_program(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen()
    screen.ask("One")
    screen.play()
    number = screen.session.conversation.id
    screen.type("half of a thought")
    screen.window.commands.new.trigger()
    assert screen.composer.text == ""
    screen.type("something new")
    screen.application.presenter.open(number)
    assert screen.composer.text == "half of a thought"
    screen.window.close()
    again = make_screen()
    assert again.composer.text == "something new"
    again.application.presenter.open(number)
    assert again.composer.text == "half of a thought"
    again.press(Qt.Key.Key_Return)
    again.play()
    again.window.commands.new.trigger()
    again.application.presenter.open(number)
    assert again.composer.text == "", "what was sent is no draft"


def test_a_draft_goes_with_its_conversation(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen()
    screen.ask("One")
    screen.play()
    number = screen.session.conversation.id
    screen.type("a secret")
    screen.session.delete(number)
    settle()
    assert screen.composer.text == ""
    assert screen.application.history.draft(number) == ""


def said_in(window: QWidget) -> Iterator[str]:
    """Every text of a window: shown, said on pointing at it, told to a screen reader."""
    for widget in [window, *window.findChildren(QWidget)]:
        yield from (widget.toolTip(), widget.accessibleName(), widget.accessibleDescription())
        if isinstance(widget, QLabel | QAbstractButton):
            yield widget.text()
    rows = window.findChild(ConversationList).model()
    for place in range(rows.rowCount()):
        for role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            yield str(rows.index(place, 0).data(role))


ESTIMATE = re.compile(r"about ([\d.,]+)(?: to ([\d.,]+))? (?:s|min|h)\b")


def test_no_place_that_shows_a_time_has_false_digits(make_screen: Callable[..., Screen]) -> None:
    """What is an estimate says so, and has two digits at most; what it is estimated to be from scratch is a span."""
    slow = replace(MODEL, prefill_tokens_per_s=37.0)
    screen = make_screen(Script(stats_every=1), model=slow)
    screen.window.empty.chosen.emit(SUPPORT_BOT)
    screen.play()
    for _ in range(2):
        screen.window.notice.offer.click()
        screen.play()
        screen.session.cost.draft.ask()
        screen.play()
        screen.application.badges.refresh()
        screen.application.badges.ask()
        screen.play()
        screen.window.charts.redraw()
        found = [match for text in said_in(screen.window) for match in ESTIMATE.finditer(text)]
        assert len(found) >= 4, "the line under the answer, the headline, the prompt"
        for match in found:
            for number in filter(None, match.groups()):
                assert len(number.replace(".", "").replace(",", "").strip("0")) <= 2, match.group()
        cold = [text for text in said_in(screen.window) if "instead of about" in text]
        assert cold
        assert all(re.search(r"instead of about [\d.]+ to [\d.]+ (s|min)", text) for text in cold)
