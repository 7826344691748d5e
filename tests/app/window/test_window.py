"""The window around the conversation: list, columns, model, themes, dialogs, names for screen readers."""

from __future__ import annotations

import json
import locale
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QDialogButtonBox, QLabel, QMenu, QSplitter, QWidget
from pytestqt.qtbot import QtBot

from app import theme
from app.application import qt_application
from app.demo.pictures import change_theme
from app.settings import Settings, quality
from app.system_prompt.editor import SystemPromptEditor
from app.widgets.icons import ICON_FOLDER
from app.widgets.room import bounded
from app.window.preferences import PreferencesDialog, PreferenceValues
from app.window.window import FIRST_SIZE, columns
from engine import BY_ITSELF, Divergence, Failed, Loading, ModelSpec, Sampling, TextDelta
from tests.app.fake_engine import MODEL, Script
from tests.app.window.conftest import Screen, accept, settle


def titles(screen: Screen) -> list[str]:
    return [row.title for row in screen.window.sidebar.list.rows]


def test_a_conversation_is_listed_opened_and_searched(screen: Screen) -> None:
    screen.ask("About parcels")
    screen.play()
    screen.window.commands.new.trigger()
    assert screen.window.empty.isVisible()
    screen.ask("About tents")
    screen.play()
    assert titles(screen) == ["About tents", "About parcels"]
    screen.window.sidebar.list.opened.emit(screen.window.sidebar.list.rows[1].id)
    settle()
    assert screen.texts()[0] == "About parcels"
    assert screen.window.header.title.title == "About parcels"
    screen.window.sidebar.search.setText("tents")
    assert titles(screen) == ["About tents"]
    screen.window.sidebar.search.setText("nothing like it")
    assert titles(screen) == []


def test_a_restart_shows_the_conversation_again(make_screen: Callable[..., Screen]) -> None:
    first = make_screen()
    first.ask("Remember me")
    first.play()
    strip = first.answer().strip.text
    first.window.close()
    second = make_screen()
    second.window.sidebar.list.opened.emit(second.window.sidebar.list.rows[0].id)
    settle()
    assert second.texts() == ["Remember me", "Hello from a fake."]
    assert second.answer().strip.text == strip


def test_a_title_keeps_its_star_in_brackets_in_the_windows_title(screen: Screen) -> None:
    """Qt takes a single [*] for the place of its mark of what is not stored."""
    screen.ask("Which pages does docs[*].html mean?")
    screen.play()
    assert screen.window.windowTitle() == "Which pages does docs[*][*].html mean? – Headstart"
    assert not screen.window.isWindowModified()


def test_the_title_is_renamed_in_place(screen: Screen, qtbot: QtBot) -> None:
    """Escape leaves it as it was."""
    screen.ask("First words")
    screen.play()
    screen.window.commands.rename.trigger()
    screen.window.header.field.setText("Parcels")
    qtbot.keyClick(screen.window.header.field, Qt.Key.Key_Escape)
    assert titles(screen) == ["First words"]
    assert screen.window.header.title.isVisible()
    screen.window.commands.rename.trigger()
    screen.window.header.field.setText("Parcels")
    qtbot.keyClick(screen.window.header.field, Qt.Key.Key_Return)
    assert titles(screen) == ["Parcels"]
    assert screen.window.header.title.title == "Parcels"


def test_a_title_that_is_typed_belongs_to_its_own_conversation(screen: Screen) -> None:
    screen.ask("First words")
    screen.play()
    screen.window.commands.rename.trigger()
    screen.window.header.field.setText("Half a ti")
    screen.window.commands.new.trigger()
    screen.window.header.field.editingFinished.emit()
    assert screen.session.conversation.title == ""
    assert titles(screen) == ["First words"]
    assert screen.window.header.title.isVisible()


def test_support_bot_fills_the_system_prompt(screen: Screen) -> None:
    screen.window.empty.chosen.emit("support bot")
    assert len(screen.session.conversation.system_prompt) > 5_000
    assert screen.window.header.pill.text() == "System prompt"
    screen.ask("")
    assert screen.engine.requests[0].messages[0].role == "system"
    screen.play()


def test_system_prompt_editor_counts_and_saves(screen: Screen, qtbot: QtBot) -> None:
    screen.window.header.pill.click()
    editor = screen.application.dialogs.open_dialog
    assert isinstance(editor, SystemPromptEditor)
    editor.edit.setPlainText("You are helpful." * 10)
    screen.application.dialogs.editing.pricer.ask()
    screen.play()
    assert editor.tokens.text() == "44 tokens"
    editor.save_button.click()
    assert screen.session.conversation.system_prompt == "You are helpful." * 10
    qtbot.waitUntil(lambda: screen.window.header.pill.text() == "System prompt · 44 tokens")


def test_sampling_changes_hold_at_once(screen: Screen) -> None:
    screen.window.composer.sampling.click()
    popover = screen.application.dialogs.popover
    popover.form.fields["temperature"].setValue(0.0)
    assert screen.session.conversation.sampling.temperature == 0.0
    assert screen.composer.sampling.text() == "Greedy"
    popover.form.fields["seed"].setValue(7)
    assert screen.session.conversation.sampling.seed == 7
    popover.reset_button.click()
    assert screen.session.conversation.sampling == Sampling()
    popover.close()


def test_preferences_reload_the_model_only_where_needed(screen: Screen) -> None:
    screen.window.commands.preferences.trigger()
    dialog = screen.application.dialogs.open_dialog
    assert isinstance(dialog, PreferencesDialog)
    dialog.budget.setValue(256)
    dialog.system_prompt.setPlainText("Be brief.")
    accept(dialog)
    assert screen.engine.calls == ["set_cache_budget 256000000"]
    assert len(screen.engine.specs) == 1
    values = PreferenceValues("dark", "cpu", "fp32", 256, -1, Sampling(temperature=0.2), "Be brief.")
    screen.application.dialogs.save_preferences(values)
    assert (screen.engine.specs[1].device, screen.engine.specs[1].dtype) == ("cpu", "fp32")
    assert theme.current() is theme.DARK
    screen.play()
    screen.window.commands.new.trigger()
    assert screen.session.conversation.sampling.temperature == 0.2


@pytest.mark.parametrize("budget", [-1, 0, 500])
def test_the_start_has_the_disk_compared_with_the_conversations(
    make_screen: Callable[..., Screen], budget: int
) -> None:
    """What a program that ended too early did not delete is deleted then; also where nothing may be kept any more."""
    screen = make_screen(settings=Settings(disk_budget_mb=budget))
    screen.ask("Where is the parcel?")
    screen.play()
    screen.engine.calls.clear()
    screen.application.delete_left_overs()
    assert screen.engine.calls == ["keep_only #1"] + ["set_disk_budget 0"] * (budget == 0)


def test_what_may_be_kept_on_disk_is_a_preference(screen: Screen) -> None:
    """Automatic at first; a change holds at once, without a load. 0 is off."""
    assert screen.engine.specs[-1].disk_bytes is None
    for chosen, asked in ((300, 300_000_000), (0, 0), (-1, None)):
        screen.window.commands.preferences.trigger()
        dialog = screen.application.dialogs.open_dialog
        assert isinstance(dialog, PreferencesDialog)
        dialog.disk.setValue(chosen)
        accept(dialog)
        assert screen.engine.calls[-1] == f"set_disk_budget {asked}"
    assert dialog.disk.text() == "automatic"
    assert len(screen.engine.specs) == 1


def test_preferences_reload_the_model_that_answers(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(loaded=False)
    screen.session.answers.load(ModelSpec("/models/named-on-the-command-line"))
    settings = screen.application.settings
    values = PreferenceValues("light", "cpu", "fp32", 0, 0, settings.sampling, "")
    screen.application.dialogs.save_preferences(values)
    assert screen.engine.specs[-1] == ModelSpec("/models/named-on-the-command-line", "cpu", "fp32", disk_bytes=0)
    assert settings.model_path == ""
    screen.play()


def test_the_cache_can_be_switched_off(screen: Screen) -> None:
    screen.window.commands.use_cache.trigger()
    assert screen.window.sidebar.model_button.lines[1] == "CPU · remembering is off"
    screen.ask("Cold?")
    screen.play()
    assert not screen.engine.requests[0].use_cache
    screen.window.commands.use_cache.trigger()
    assert screen.window.sidebar.model_button.lines[1].startswith("CPU · 0 MB of ")
    screen.window.commands.clear_cache.trigger()
    assert screen.engine.calls == ["clear_cache"]
    screen.play()


def test_an_error_leaves_what_the_cache_holds_on_show(screen: Screen) -> None:
    screen.ask("Fill it")
    screen.play()
    lines = screen.window.sidebar.model_button.lines
    assert "cache 0 MB" not in lines[1]
    screen.engine.inject(Failed(BY_ITSELF, "The idle work failed."))
    screen.application.bridge.drain()
    assert screen.window.notice.isVisible()
    assert screen.window.sidebar.model_button.lines == lines


def test_loading_is_shown_quietly(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(loaded=False)
    assert screen.session.state == "loading"
    screen.until(Loading)
    assert not screen.window.loading_bar.isHidden()
    assert "Reading the tokenizer" in screen.window.loading_bar.text
    screen.play()
    assert screen.window.loading_bar.isHidden()
    assert screen.window.sidebar.model_button.lines == ("Fake-1M · fp32", "CPU · 0 MB of 537 MB memory")


def test_a_long_name_never_hides_how_the_model_computes(make_screen: Callable[..., Screen]) -> None:
    name = "Llama-3.2-3B-Instruct-of-my-own"
    screen = make_screen(model=replace(MODEL, name=name, dtype="int4", near="here it is so."))
    button = screen.window.sidebar.model_button
    assert button.lines[0] == f"{name} · int4 · near"
    assert button.shown[0].startswith("Llama")
    assert button.shown[0].endswith("own · int4 · near")
    assert len(button.shown[0]) < len(button.lines[0])
    assert button.lines[0] in button.toolTip()


def test_loading_can_be_cancelled(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(loaded=False)
    screen.until(Loading)
    bar, notice = screen.window.loading_bar, screen.window.notice
    bar.cancel.click()
    assert (bar.text.startswith("Stopping"), bar.cancel.isEnabled()) == (True, False)
    screen.play()
    assert bar.isHidden()
    assert notice.text == "Loading was stopped. There is no model yet; open one when you want to go on."
    assert screen.window.sidebar.model_button.lines[0] == "No model"
    screen.application.dialogs.load("")
    screen.play()
    assert notice.text == ""
    screen.application.dialogs.load("/slow")
    screen.until(Loading)
    assert bar.cancel.isEnabled()
    bar.cancel.click()
    screen.play()
    assert notice.text == "Loading was stopped. Fake-1M still answers."
    assert screen.window.sidebar.model_button.lines[0].startswith("Fake-1M")


def test_another_error_offers_nothing_again_after_loading_was_stopped(make_screen: Callable[..., Screen]) -> None:
    """A question waited for the model and was given up with it; what fails later has nothing to do with that."""
    screen = make_screen(loaded=False)
    screen.until(Loading)
    screen.ask("Anyone?")
    screen.window.loading_bar.cancel.click()
    screen.play()
    screen.application.dialogs.load("")
    screen.play()
    screen.application.session.error.emit("The file cannot be read.", "")
    assert screen.window.notice.text == "The file cannot be read."
    assert not screen.window.notice.has_offer


def test_dates_in_prompts_do_not_follow_the_systems_language(qapp: QApplication) -> None:
    with suppress(locale.Error):  # not every system has it
        locale.setlocale(locale.LC_TIME, "C.UTF-8")  # as Qt does with the language of the desktop
    assert qt_application() is qapp
    assert locale.setlocale(locale.LC_TIME) == "C"


def test_no_model_offers_to_open_one(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(load_failure="It is broken.")
    labels = [label.text() for label in screen.window.empty.findChildren(QLabel)]
    assert "No model is open" in labels
    screen.engine.load_failure = ""
    screen.window.empty.chosen.emit("default model")
    screen.play()
    assert screen.session.model is not None
    assert "No model is open" not in [label.text() for label in screen.window.empty.findChildren(QLabel)]


def test_a_model_is_remembered_once_it_is_loaded(screen: Screen) -> None:
    screen.application.dialogs.load("/models/good")
    assert screen.application.settings.model_path == ""
    screen.play()
    assert screen.application.settings.model_path == "/models/good"
    screen.engine.load_failure = "This folder has no model."
    screen.application.dialogs.load("/models/bad")
    screen.play()
    assert screen.engine.specs[-1].path == "/models/bad"
    assert screen.application.settings.model_path == "/models/good"


def test_charts_are_fed(screen: Screen) -> None:
    screen.ask("One?")
    screen.play()
    screen.ask("Two?")
    screen.play()
    screen.window.charts.redraw()
    assert "remembered" in screen.window.charts.tokens.number
    screen.window.commands.new.trigger()
    screen.window.charts.redraw()
    assert screen.window.charts.tokens.number == "–"


def test_columns_fold_the_right_one_first(screen: Screen) -> None:
    for width, shown in (
        (1280, (True, True)),
        (1100, (True, False)),
        (900, (True, False)),
        (700, (False, False)),
        (1280, (True, True)),
    ):
        screen.window.resize(width, 640)
        settle()
        assert (screen.window.sidebar.isVisible(), screen.window.charts.isVisible()) == shown


def test_a_column_that_is_asked_for_makes_the_other_fold() -> None:
    assert columns(900, True, True, asked="charts") == (False, True)
    assert columns(900, True, True, asked="sidebar") == (True, False)
    assert columns(1280, True, False, asked="charts") == (True, False)


def test_loading_is_said_once(screen: Screen) -> None:
    for stage, fraction, says in (
        ("Loading the model", None, "Loading the model"),
        ("Loading the model", 0.5, "Loading the model  ·  50%"),
        ("Reading the weights", 0.5, "Loading the model  ·  Reading the weights  ·  50%"),
    ):
        screen.window.loading_bar.show_stage(Loading(1, stage, fraction))
        assert screen.window.loading_bar.text == says


@pytest.mark.parametrize(
    ("screen_size", "size"), [((1920, 1080), (1280, 800)), ((1280, 800), (1264, 752)), ((1366, 728), (1280, 680))]
)
def test_a_first_window_fits_the_screen(screen_size: tuple[int, int], size: tuple[int, int]) -> None:
    assert bounded(FIRST_SIZE, QSize(*screen_size)) == QSize(*size)


def test_a_window_without_a_kept_size_asks_the_screen(screen: Screen) -> None:
    room = screen.window.screen().availableGeometry().size()
    screen.window.set_geometry_text("")
    assert screen.window.size() == bounded(FIRST_SIZE, room)


def test_charts_that_would_leave_no_room_for_the_text_are_not_opened(screen: Screen) -> None:
    assert columns(780, True, True, asked="charts") == (False, True)
    assert columns(779, True, True, asked="charts") == (True, False)
    screen.window.resize(700, 640)
    settle()
    screen.window.commands.show_charts.trigger()
    assert screen.window.charts.isHidden()
    assert not screen.window.commands.show_charts.isChecked()
    assert screen.window.notice.text.startswith("The window is too narrow for the charts.")
    screen.window.resize(1280, 800)
    settle()
    assert screen.window.charts.isVisible()


def test_the_transcript_beside_the_charts_is_no_wider_than_its_view(make_screen: Callable[..., Screen]) -> None:
    divergence = Divergence(9, 0, "date", "03:49:49.", "03:53:12.", 3721)
    screen = make_screen(Script(tokens=("It is long. " * 40,), divergence=divergence))
    screen.ask("What time is it? " * 20)
    screen.play()
    screen.window.resize(900, 640)
    screen.window.commands.show_charts.trigger()
    settle()
    box = screen.answer().box
    box.show_actions([(key, f"{key} the placeholder of this conversation", "") for key in ("Freeze", "Move", "Prove")])
    settle()
    transcript = screen.transcript
    assert transcript.widget().width() == transcript.viewport().width()
    assert len({button.y() for button in box.buttons.values()}) == 3
    assert all(box.rect().contains(button.geometry()) for button in box.buttons.values())


def test_column_wishes_are_kept(make_screen: Callable[..., Screen]) -> None:
    settings = Settings(theme="light")
    screen = make_screen(settings=settings)
    screen.window.commands.show_charts.trigger()
    assert not screen.window.charts.isVisible()
    screen.window.close()
    assert (settings.show_sidebar, settings.show_charts) == (True, False)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_themes_reach_every_part(screen: Screen, name: str) -> None:
    screen.ask("Colours?")
    screen.play()
    screen.window.commands.themes[name].trigger()
    settle()
    worn = theme.current()
    assert worn.name == name
    assert screen.application.settings.theme == name
    image = screen.window.grab().toImage()
    assert image.pixelColor(4, 400).name() == worn.panel
    assert image.pixelColor(image.width() - 4, image.height() - 4).name() == worn.panel
    place = screen.transcript.mapTo(screen.window, screen.transcript.rect().center())
    assert image.pixelColor(place).name() == worn.page
    block = screen.answer().view.document().begin()
    assert block.begin().fragment().charFormat().foreground().color().name() == worn.text


def test_every_shortcut_is_there_once(screen: Screen) -> None:
    keys = [a.shortcut().toString() for a in screen.window.findChildren(QAction) if not a.shortcut().isEmpty()]
    assert len(keys) == len(set(keys))
    expected = {"Ctrl+N", "Ctrl+F", "Ctrl+Shift+F", "Ctrl+L", "Ctrl+,", "Ctrl+B", "Ctrl+J", "Ctrl+Q", "Ctrl+R", "Esc"}
    assert expected <= set(keys)


def test_every_control_has_a_name(screen: Screen) -> None:
    screen.ask("```py\nx\n```")
    screen.play()
    nameless = [
        widget
        for widget in screen.window.findChildren(QWidget)
        if widget.focusPolicy() != Qt.FocusPolicy.NoFocus
        and not isinstance(widget.parent(), QAbstractScrollArea)  # the name is the scroll area's own
        and not widget.objectName().startswith("qt_")
        and not (widget.accessibleName() or getattr(widget, "text", str)())
    ]
    assert nameless == []


def test_tab_goes_from_the_list_to_the_composer_through_the_messages(screen: Screen) -> None:
    screen.ask("Tab?")
    screen.play()
    screen.window.activateWindow()
    screen.window.sidebar.search.setFocus()
    seen = []
    while QApplication.focusWidget() is not screen.composer.edit and len(seen) < 40:
        seen.append(QApplication.focusWidget())
        screen.window.focusNextChild()
    assert screen.window.sidebar.list in seen
    assert screen.transcript.messages[0].tab_stops[0] in seen
    assert seen.index(screen.transcript.messages[0].tab_stops[0]) < seen.index(screen.answer().view)


def test_everything_that_was_set_aside_is_said(make_screen: Callable[..., Screen], tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text("{")
    (tmp_path / "history.sqlite3").write_bytes(b"no database" * 999)
    screen = make_screen(settings=Settings.load(tmp_path / "settings.json"))
    settings, history = screen.application.settings.notice, screen.application.history.notice
    assert settings
    assert history
    assert screen.window.notice.text == f"{settings} {history}"


def test_closing_ends_everything_once(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen()
    screen.ask("Unfinished")
    screen.window.close()
    assert screen.engine.closed
    screen.application.close()


def test_the_buttons_of_dialogs_have_no_icons_and_an_unchecked_box_can_be_seen(qtbot: QtBot) -> None:
    values = PreferenceValues("dark", "auto", "auto", 0, -1, Sampling(), "")
    dialog, editor = PreferencesDialog(values, {}), SystemPromptEditor("")
    for shown in (dialog, editor):
        qtbot.addWidget(shown)
        buttons = shown.findChildren(QDialogButtonBox)[0].buttons()
        assert all(button.icon().isNull() for button in buttons)
    for colours in (theme.LIGHT, theme.DARK):
        boxes = "QCheckBox::indicator, QTreeView::indicator { width: 14px; height: 14px; border: 1px solid "
        assert f"{boxes}{colours.edge};" in theme.style_sheet(colours)
        assert (ICON_FOLDER / f"check-{colours.name}.svg").is_file()


def test_each_number_format_says_what_it_costs_in_quality(qtbot: QtBot) -> None:
    figures = json.loads((ICON_FOLDER.parent / "measured.json").read_text("utf-8"))["perplexity"]
    dialog = PreferencesDialog(PreferenceValues("dark", "auto", "auto", 0, -1, Sampling(), ""), {}, quality=quality)
    qtbot.addWidget(dialog)
    for index in range(dialog.dtype.count()):
        dialog.dtype.setCurrentIndex(index)
        dtype = dialog.dtype.currentData()
        said = f"{figures[dtype]:.1f}" if dtype in figures else "not measured"
        assert said in dialog.quality.text()


def test_the_columns_keep_the_widths_that_the_user_gave_them(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen()
    window, settings = screen.window, screen.application.settings
    splitter = window.findChild(QSplitter)
    assert splitter is not None
    splitter.moveSplitter(300, 1)
    splitter.moveSplitter(window.width() - 421, 2)
    settle()
    assert (window.sidebar.width(), window.charts.width()) == (300, 420)
    for width in (700, 1280, 1500):
        window.resize(width, 800)
        settle()
    window.commands.show_sidebar.trigger()
    window.commands.show_sidebar.trigger()
    settle()
    assert (window.sidebar.width(), window.charts.width()) == (300, 420)
    assert window.header.width() == 1500 - 300 - 420 - 2
    window.close()
    again = make_screen(settings=settings)
    settle()
    assert (again.window.sidebar.width(), again.window.charts.width()) == (300, 420)


def test_a_width_of_no_use_is_not_taken_over(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(settings=Settings(theme="light", sidebar_width=1, charts_width=9_999))
    settle()
    assert screen.window.sidebar.width() == screen.window.sidebar.minimumWidth()
    assert screen.window.transcript.width() + screen.window.empty.width() > 0


def test_the_size_of_text_changes_with_keys_and_is_kept(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(tokens=("# Head\n\nSome `code` and text. " * 9,)))
    for question in ("One", "Two"):
        screen.ask(question)
        screen.play()
    screen.type("A draft")
    usual = [message.height() for message in screen.transcript.messages]
    for key, percent in ((Qt.Key.Key_Plus, 110), (Qt.Key.Key_Equal, 125), (Qt.Key.Key_Minus, 110)):
        screen.press(key, Qt.KeyboardModifier.ControlModifier)
        settle()
        assert screen.application.settings.text_percent == percent
    larger = [message.height() for message in screen.transcript.messages]
    assert all(now > before for now, before in zip(larger, usual, strict=True))
    assert screen.composer.edit.font().pixelSize() == theme.reading(theme.BODY) > theme.BODY
    assert screen.composer.text == "A draft"
    screen.window.close()
    again = make_screen(settings=screen.application.settings)
    again.application.presenter.open(1)
    settle()
    assert [message.height() for message in again.transcript.messages] == larger
    for _ in range(20):
        again.press(Qt.Key.Key_Plus, Qt.KeyboardModifier.ControlModifier)
    assert again.application.settings.text_percent == theme.TEXT_PERCENTS[-1]
    again.press(Qt.Key.Key_0, Qt.KeyboardModifier.ControlModifier)
    settle()
    assert [message.height() for message in again.transcript.messages] == usual


def test_another_size_of_text_disturbs_no_answer_that_is_written(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(tokens=("One. ", "Two. ", "Three. "), stats_every=1))
    screen.ask("Count")
    screen.until(TextDelta)
    screen.window.commands.larger.trigger()
    settle()
    assert screen.answer().text == "One. "
    screen.play()
    assert screen.answer().text == "One. Two. Three. "


def test_models_that_were_opened_are_offered_again(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen()
    menu = next(each for each in screen.window.findChildren(QMenu) if each.title() == "&Model")

    def offered() -> list[str]:
        texts = [action.text() for action in menu.actions()]
        return texts[texts.index("&Default model") + 2 :]

    assert offered() == []
    for path in ("/models/one", "/models/two.gguf", "/models/one", ""):
        screen.application.dialogs.load(path)
        screen.play()
    assert offered() == ["one", "two.gguf"]
    screen.engine.load_failure = "It is broken."
    screen.application.dialogs.load("/models/broken")
    screen.play()
    assert offered() == ["one", "two.gguf"], "what never opened is not offered"
    screen.window.close()
    again = make_screen(settings=screen.application.settings)
    menu = next(each for each in again.window.findChildren(QMenu) if each.title() == "&Model")
    menu.actions()[-1].trigger()
    assert again.engine.specs[-1].path == "/models/two.gguf"


def test_a_picture_in_another_theme_has_nothing_empty_below_the_newest_answer(screen: Screen) -> None:
    question = "Also, I ordered a sleeping bag from you nine days ago, and today the same bag is 30 euros cheaper. " * 3
    for _ in range(5):
        screen.ask(question)
        screen.play()
    transcript = screen.window.transcript
    page = transcript.widget()
    assert page is not None
    for name in ("dark", "light", "dark"):
        change_theme(screen.application, name)
        assert page.height() == max(page.minimumSizeHint().height(), transcript.viewport().height())
