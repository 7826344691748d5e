"""Presets of the system prompt: kept under a name, listed with the engine's badge, chosen, renamed, deleted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from app.placeholders import Cure
from app.sidebar import badges
from app.sidebar.badges import Badges, preset_badge
from app.system_prompt.editor import SystemPromptEditor
from app.system_prompt.preset_panel import MANY, PresetPanel
from app.system_prompt.presets import PresetChoice
from engine import Preview
from tests.app.window.conftest import Screen, accept, settle

SUPPORT = "You are a support bot. Be brief and friendly. " * 20
PIRATE = "You are a pirate. Arr. " * 30


class Panel:
    """The presets of an opened editor, and what a user does with them."""

    def __init__(self, screen: Screen) -> None:
        screen.window.header.pill.click()
        editor, choice = screen.application.dialogs.open_dialog, screen.application.dialogs.preset_choice
        assert isinstance(editor, SystemPromptEditor)
        assert isinstance(choice, PresetChoice)
        self.screen, self.editor, self.panel, self.choice = screen, editor, editor.presets, choice
        settle()

    def keep(self, name: str, text: str) -> None:
        self.editor.edit.setPlainText(text)
        self.panel.name.setText(name)
        self.panel.keep.click()
        settle()

    def open(self, name: str) -> None:
        self.panel.list.opened.emit(self.id(name))
        settle()

    def id(self, name: str) -> int:
        return next(row.id for row in self.panel.list.rows if row.title == name)

    def rename(self, name: str) -> None:
        self.panel.rename_button.click()
        self.panel.name.setText(name)
        QTest.keyClick(self.panel.name, Qt.Key.Key_Return)
        settle()

    def ask(self) -> Badges:
        badges = self.screen.application.dialogs.preset_badges
        assert isinstance(badges, Badges)
        self.answer()
        badges.ask()
        self.screen.play()
        return badges

    def answer(self) -> None:
        """Let the engine answer what timers asked for by now."""
        while self.screen.application.bridge.busy:
            self.screen.engine.run_all()
            self.screen.application.bridge.drain()

    def close(self) -> None:
        self.editor.discard()
        settle()

    @property
    def names(self) -> list[str]:
        return [row.title for row in self.panel.list.rows]

    @property
    def said(self) -> str:
        return self.panel.says.text()


@pytest.fixture
def two(screen: Screen) -> Panel:
    """An editor with two presets."""
    panel = Panel(screen)
    panel.keep("Support", SUPPORT)
    panel.keep("Pirate", PIRATE)
    return panel


def test_a_preset_is_kept_chosen_and_used(screen: Screen) -> None:
    panel = Panel(screen)
    assert panel.panel.nothing.text().startswith("Save a text under a name")
    panel.keep("Support", SUPPORT)
    assert (panel.names, panel.panel.name.text(), panel.panel.nothing.isHidden()) == (["Support"], "", True)
    panel.editor.edit.setPlainText("Something else")
    assert not panel.panel.list.selectionModel().hasSelection()
    panel.open("Support")
    assert panel.editor.text == SUPPORT
    assert panel.panel.list.selectionModel().hasSelection()
    panel.editor.save_button.click()
    screen.ask("Hello?")
    assert screen.engine.requests[-1].messages[0].content == SUPPORT
    screen.play()


def test_presets_outlive_the_program(make_screen: Callable[..., Screen]) -> None:
    first = make_screen()
    panel = Panel(first)
    panel.editor.edit.setPlainText("On {{date}}. Be brief.")
    panel.editor.findings.button("date", "move").click()
    panel.panel.name.setText("Dated")
    panel.panel.keep.click()
    panel.close()
    first.window.close()
    again = Panel(make_screen())
    again.open("Dated")
    assert again.editor.text == "On {{date}}. Be brief."
    assert again.choice._editing.cures == (Cure("date", "moved"),)


def test_the_badge_of_a_preset_is_what_the_engine_foresees_under_it(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(badges, "REST_MS", 3_600_000)  # asked by the test, and by no timer that rings in between
    screen.session.set_system_prompt(SUPPORT)
    screen.ask("Where is my parcel?")
    screen.play()
    panel = Panel(screen)
    panel.keep("Support", SUPPORT)
    panel.keep("Pirate", PIRATE)
    panel.ask().refresh()
    panel.answer()
    heard: list[Preview] = []
    screen.application.bridge.preview.connect(heard.append)
    before = len(screen.engine.previews)
    panel.ask()
    asked = screen.engine.previews[before:]
    rows = panel.panel.list
    assert [request.messages[0].content for request in asked[:2]] == [PIRATE, SUPPORT]
    assert [rows.badge(panel.id(name)) for name in ("Pirate", "Support")] == [
        preset_badge(heard[0]),
        preset_badge(heard[1]),
    ]
    pirate, support = (rows.model().index(place, 0) for place in range(2))
    said = rows.model().data(support, Qt.ItemDataRole.AccessibleTextRole)
    assert "resident" in said, "and so little that its seconds are not worth saying"
    assert "resident" not in rows.model().data(pirate, Qt.ItemDataRole.AccessibleTextRole)
    panel.open("Pirate")
    panel.editor.next_prompt.show_preview(None)
    screen.session.cost.prompt.ask()
    screen.play()
    shown, badge = panel.editor.next_prompt.preview, rows.badge(panel.id("Pirate"))
    assert shown is not None
    assert badge is not None
    assert (badge.reused_tokens, badge.prompt_tokens) == (shown.reused_tokens, shown.prompt_tokens)


def test_a_badge_changes_with_the_text_that_is_kept(two: Panel) -> None:
    two.ask()
    before = two.panel.list.badge(two.id("Pirate"))
    two.editor.edit.setPlainText(PIRATE * 2)
    two.panel.name.setText(" pirate ")
    two.panel.keep.click()
    assert two.said == "There is a preset “Pirate” already. Give another name, or replace its text:"
    two.panel.offer.click()
    two.ask()
    after = two.panel.list.badge(two.id("Pirate"))
    assert before is not None
    assert after is not None
    assert after.prompt_tokens > before.prompt_tokens
    assert two.names == ["Pirate", "Support"]


def test_what_cannot_be_kept_is_a_sentence(screen: Screen) -> None:
    panel = Panel(screen)
    for name, text, sentence in (
        ("  ", SUPPORT, "Give the preset a name."),
        ("x" * 61, SUPPORT, "This name has 61 characters. Give one of at most 60."),
        ("bell\x07", SUPPORT, "This name holds characters that cannot be shown. Type it anew."),
        ("Empty", " \n", "There is no text to keep yet. Write a system prompt first."),
    ):
        panel.keep(name, text)
        assert (panel.said, panel.names) == (sentence, [])
        panel.panel.name.textEdited.emit("x")
        assert panel.panel.says.isHidden()


def test_renaming_keeps_the_text_and_refuses_a_name_that_is_taken(two: Panel) -> None:
    two.open("Support")
    two.rename("Pirate")
    assert two.said == "There is a preset “Pirate” already. Give another name."
    two.rename("Help desk")
    assert (two.names, two.panel.keep.text()) == (["Help desk", "Pirate"], "Save as preset")
    two.open("Help desk")
    assert two.editor.text == SUPPORT
    assert two.editor.isVisible()


def test_a_refused_new_name_offers_to_replace_and_a_refused_renaming_does_not(two: Panel) -> None:
    two.open("Support")
    two.rename("Pirate")
    assert two.panel.offer.isHidden()
    two.open("Support")
    two.keep("Pirate", "Another text")
    assert two.panel.offer.text() == "Replace its text"


def test_deleting_can_be_undone(two: Panel) -> None:
    two.open("Support")
    two.panel.delete_button.click()
    assert (two.names, two.said, two.editor.text) == (["Pirate"], "“Support” is deleted.", SUPPORT)
    two.panel.offer.click()
    assert (two.names, two.panel.says.isHidden()) == (["Pirate", "Support"], True)
    two.open("Support")
    assert two.editor.text == SUPPORT


def test_escape_leaves_a_renaming_and_choosing_can_be_undone(two: Panel) -> None:
    two.open("Support")
    two.panel.rename_button.click()
    assert two.panel.name.text() == "Support"
    QTest.keyClick(two.panel.name, Qt.Key.Key_Escape)
    assert (two.panel.name.text(), two.editor.isVisible()) == ("", True)
    two.editor.edit.setPlainText("Mine")
    two.open("Pirate")
    two.editor.edit.undo()
    assert two.editor.text == "Mine"


def test_many_presets_can_be_searched(screen: Screen) -> None:
    panel = Panel(screen)
    for number in range(MANY):
        panel.choice._table.add(f"Preset {number}", f"Text {number}")
    panel.keep("Weather", "It rains.")
    found: PresetPanel = panel.panel
    assert found.search.isVisible()
    found.search.setText("WEATH")
    assert panel.names == ["Weather"]
    found.search.setText("snow")
    assert (panel.names, found.nothing.text()) == ([], "No preset is called “snow”.")


def test_presets_go_into_a_file_and_come_back(screen: Screen, tmp_path: Path) -> None:
    panel = Panel(screen)
    assert not panel.panel.export_button.isEnabled()
    panel.keep("Support", SUPPORT)
    panel.keep("Pirate", PIRATE)
    path = tmp_path / "presets.json"
    panel.panel.export_button.click()
    dialog = panel.panel.findChild(QFileDialog)
    dialog.fileSelected.emit(str(path))  # what pressing Save does
    dialog.reject()
    assert panel.panel.says.text() == "2 presets written to presets.json."
    screen.application.history.presets.delete(panel.id("Pirate"))
    panel.choice.take_in(str(path))
    assert panel.panel.says.text() == "1 preset taken in; 1 was there already."
    assert [row.title for row in panel.panel.list.rows] == ["Pirate", "Support"]


def test_a_file_without_presets_is_said(screen: Screen, tmp_path: Path) -> None:
    panel = Panel(screen)
    (tmp_path / "x.json").write_text("{}")
    panel.choice.take_in(str(tmp_path / "x.json"))
    assert "holds no presets" in panel.panel.says.text()
    panel.keep("Support", SUPPORT)
    panel.choice.write(str(tmp_path / "not there" / "x.json"))
    assert "cannot be written" in panel.panel.says.text()


def press(panel: Panel, name: str, *labels: str) -> None:
    """Choose in the menu of a preset."""
    menu = panel.panel.list.menu_for(panel.id(name))
    for label in labels:
        action = next(each for each in menu.actions() if each.text() == label)
        menu = action.menu() or menu
    action.trigger()
    settle()


def answer(panel: Panel, keeps: bool = False, **values: str) -> None:
    """Fill in what the dialog over the editor asks for."""
    asking = panel.choice.asking
    assert asking is not None
    assert list(asking.fields) == list(values)
    for name, value in values.items():
        asking.fields[name].setText(value)
    asking.keeps.setChecked(keeps)
    accept(asking)
    settle()


def headings(panel: Panel) -> list[str]:
    model = panel.panel.list.model()
    said = [model.data(model.index(row, 0), Qt.ItemDataRole.AccessibleTextRole) for row in range(model.rowCount())]
    return [text.rpartition(",")[0] for text in said]


def test_presets_stand_in_folders(two: Panel) -> None:
    press(two, "Pirate", "Folder", "New folder…")
    answer(two, Folder="  Fun ")
    assert headings(two) == ["Support", "Fun, Pirate"]
    press(two, "Support", "Folder", "Fun")
    assert headings(two) == ["Fun, Pirate", "Support"]
    press(two, "Pirate", "Folder", "None")
    assert headings(two) == ["Pirate", "Fun, Support"]
    press(two, "Pirate", "Folder", "New folder…")
    answer(two, Folder="x" * 61)
    assert two.said == "This name has 61 characters. Give one of at most 60."
    two.panel.list.delete_wanted.emit(two.id("Support"))
    two.panel.offer.click()
    assert headings(two) == ["Pirate", "Fun, Support"]


def test_the_variables_of_a_preset_are_asked_for_when_it_is_chosen(screen: Screen) -> None:
    panel = Panel(screen)
    panel.keep("Support", "You help {{company}} in {{ city }} on {{date}}.")
    panel.editor.edit.setPlainText("Mine")
    panel.open("Support")
    assert panel.editor.text == "Mine"
    answer(panel, company="ACME", city="")
    assert panel.editor.text == "You help ACME in {{ city }} on {{date}}."
    assert panel.panel.list.selectionModel().hasSelection()
    panel.open("Support")
    panel.choice.asking.reject()
    assert panel.editor.text == "You help ACME in {{ city }} on {{date}}."
    panel.open("Support")
    answer(panel, keeps=True, company="ACME", city="Graz")
    panel.editor.edit.setPlainText("Mine")
    panel.open("Support")
    assert panel.editor.text == "You help ACME in Graz on {{date}}."
    asked = panel.choice.request(panel.id("Support"))
    assert asked.messages[0].content.startswith("You help ACME in Graz on ")
    press(panel, "Support", "Variables…")
    answer(panel, company="Other", city="Wien")
    assert panel.editor.text == "You help Other in Wien on {{date}}."


def test_a_preset_is_kept_resident_from_now_on_and_at_each_start(make_screen: Callable[..., Screen]) -> None:
    first = make_screen()
    panel = Panel(first)
    panel.keep("Support", SUPPORT)
    assert not panel.panel.keep_resident.isChecked()
    before = len(first.engine.wishes)
    panel.panel.keep_resident.click()
    first.play()
    wish = first.engine.wishes[before]
    assert (wish[0].messages[0].content, wish[0].conversation) == (SUPPORT, f"preset {panel.id('Support')}")
    label = wish[0].conversation
    panel.close()
    first.window.close()
    again = make_screen()
    assert label in [request.conversation for request in again.engine.kept]
    panel = Panel(again)
    panel.open("Support")
    assert panel.panel.keep_resident.isChecked()
    panel.panel.keep_resident.click()
    again.play()
    assert again.engine.calls[-1] == f"forget {label}"
    assert not panel.panel.keep_resident.isChecked()


def test_another_text_of_a_resident_preset_takes_its_place_and_a_deleted_one_goes(two: Panel) -> None:
    two.open("Pirate")
    two.panel.keep_resident.click()
    two.keep("Pirate", "Ahoy. " * 90)
    two.panel.offer.click()
    two.answer()
    assert two.screen.engine.wishes[-1][0].messages[0].content == "Ahoy. " * 90
    number = two.id("Pirate")
    two.panel.list.delete_wanted.emit(number)
    assert two.screen.engine.calls[-1] == f"forget preset {number}"
    two.panel.offer.click()
    assert two.screen.engine.wishes[-1][0].conversation == f"preset {two.id('Pirate')}"
    two.answer()


def test_read_it_now_says_when_nobody_can(two: Panel) -> None:
    press(two, "Pirate", "Read it now")
    assert two.said == "It is read while nothing is asked."
    assert two.screen.engine.wishes[-1][0].messages[0].content == PIRATE
    two.answer()
    two.screen.session.use_cache = False
    press(two, "Pirate", "Read it now")
    assert two.said == "No model is open here that could read it now; it is read once one is."


def test_a_badge_says_resident_on_disk_remembered_or_from_scratch() -> None:
    def said(reused: int, pinned: int = 0, disk: int = 0) -> str:
        preview = Preview(1, 3000, reused, 3000 - reused, 2.0, 2900, 8192, (), pinned, disk_tokens=disk)
        return preset_badge(preview).text.partition(",")[0]

    assert [said(2912, 2900), said(2912, 0, 2912), said(2912), said(0)] == [
        "resident",
        "remembered on disk",
        "remembered",
        "from scratch",
    ]
