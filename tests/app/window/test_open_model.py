"""What a chosen model takes is shown before it is opened, with a choice of how long conversations may grow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.window.open_model import OpenModelDialog
from engine import ModelError, ModelFit, ModelSpec
from tests.app.window.conftest import Screen

GB = 10**9
FIT = ModelFit("Large-8B", "bf16", 5 * GB, GB // 10, 10**5, 8192, 32_768, free=7 * GB, total=16 * GB)


def dialog(
    qtbot: QtBot, look: Callable[[ModelSpec], ModelFit | None], wish: int | None = None, freed: int = 0
) -> OpenModelDialog:
    made = OpenModelDialog(ModelSpec("large.gguf", context_tokens=wish), look, freed)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitUntil(made.bar.isHidden, timeout=60_000)
    return made


def choose(made: OpenModelDialog, tokens: int) -> None:
    made.length.setCurrentIndex(made.length.findData(tokens))


def figures(made: OpenModelDialog) -> list[str]:
    return [label.text() for label in made.parts]


def test_it_shows_what_the_model_takes_for_each_length(qtbot: QtBot) -> None:
    made = dialog(qtbot, lambda _: FIT)
    assert made.name.text() == "Large-8B"
    assert made.length.currentText() == "Automatic (8,192 tokens)"
    assert [made.length.itemText(index) for index in range(1, made.length.count())] == [
        f"{tokens:,} tokens" for tokens in (1024, 2048, 4096, 8192, 16_384, 32_768)
    ]
    assert figures(made) == ["5.0 GB", "100 MB", "819 MB", "0 MB", "5.9 GB", "7.0 GB"]
    choose(made, 16_384)
    assert figures(made)[2:5] == ["1.6 GB", "0 MB", "6.7 GB"]
    chosen: list[tuple[int, int, str]] = []
    made.chosen.connect(lambda *choice: chosen.append(choice))
    assert "takes half of the room" in made.loss.text()
    assert "Perplexity of a page of text with the default model: 29.0, in fp32 29.2" in made.loss.text()
    made.rounds.setChecked(True)
    made.open_button.click()
    assert chosen == [(16_384, 8, "")]


def test_what_does_not_fit_is_refused_with_three_ways_out(qtbot: QtBot) -> None:
    made = dialog(qtbot, lambda _: FIT, wish=32_768)
    assert made.length.currentData() == 32_768
    assert not made.open_button.isEnabled()
    for way in ("up to 18,432 tokens fit", "fewer bits", "a smaller one"):
        assert way in made.says.text()
    choose(made, 8192)
    assert made.open_button.isEnabled()
    assert made.says.text() == ""


def test_the_present_model_is_closed_where_that_makes_room(qtbot: QtBot) -> None:
    made = dialog(qtbot, lambda _: replace(FIT, free=5 * GB), freed=GB)
    assert made.open_button.isEnabled()
    assert figures(made)[-1] == "6.0 GB"


def test_a_small_model_that_writes_ahead_is_counted(qtbot: QtBot) -> None:
    """Where it does not fit, or cannot be read, the model is opened without it or not at all."""

    def look(spec: ModelSpec) -> ModelFit:
        if spec.draft == "/models/wrong.gguf":
            raise ModelError("wrong.gguf is cut short: download it again.")
        return replace(FIT, draft=GB if spec.draft else 0)

    made = OpenModelDialog(ModelSpec("large.gguf"), look, 0, drafts=["/models/small.gguf", "/models/wrong.gguf"])
    qtbot.addWidget(made)
    made.show()
    chosen: list[tuple[int, int, str]] = []
    made.chosen.connect(lambda *choice: chosen.append(choice))
    qtbot.waitUntil(made.bar.isHidden, timeout=60_000)
    assert not made.parts[3].isVisible()
    made.draft.setCurrentIndex(2)
    qtbot.waitUntil(made.bar.isHidden, timeout=60_000)
    assert made.says.text() == "wrong.gguf is cut short: download it again."
    choose(made, 4096)
    assert not made.open_button.isEnabled()
    assert not made.parts[0].isVisible(), "the figures were those of another choice"
    made.draft.setCurrentIndex(1)
    choose(made, 0)
    assert not made.open_button.isEnabled(), "it is being looked at"
    qtbot.waitUntil(made.bar.isHidden, timeout=60_000)
    assert figures(made)[3:5] == ["1.0 GB", "6.9 GB"]
    assert made.parts[3].isVisible()
    made.open_button.click()
    assert chosen == [(0, 16, "/models/small.gguf")]


def test_a_small_model_that_is_gone_can_be_left_out(qtbot: QtBot) -> None:
    """It was chosen before; nobody could open the large one any more, were there no other choice."""

    def look(spec: ModelSpec) -> ModelFit:
        if spec.draft:
            raise ModelError("There is no model at /models/gone.gguf.")
        return FIT

    made = OpenModelDialog(ModelSpec("large.gguf", draft="/models/gone.gguf"), look, 0)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitUntil(made.bar.isHidden, timeout=60_000)
    assert made.says.text() == "There is no model at /models/gone.gguf."
    assert made.draft.isVisible()
    assert not made.length.isVisible()
    assert not made.open_button.isEnabled()
    made.draft.setCurrentIndex(0)
    qtbot.waitUntil(made.open_button.isEnabled, timeout=60_000)
    assert made.length.isVisible()
    assert made.parts[0].isVisible()
    assert made.says.text() == ""


def test_what_is_wrong_with_a_model_is_said(qtbot: QtBot) -> None:
    def refuse(_: ModelSpec) -> ModelFit:
        raise ModelError("large.gguf is cut short: download it again.")

    made = dialog(qtbot, refuse)
    assert made.says.text() == "large.gguf is cut short: download it again."
    assert not made.open_button.isEnabled()


def test_a_chosen_file_is_looked_at_then_loaded_and_its_length_kept(
    screen: Screen, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.window.dialogs.model_fit", lambda spec: FIT)
    screen.window.commands.open_gguf.trigger()
    file_dialog = screen.application.dialogs.open_dialog
    assert isinstance(file_dialog, QFileDialog)
    file_dialog.fileSelected.emit("/models/large.gguf")
    made = screen.application.dialogs.open_dialog
    assert isinstance(made, OpenModelDialog)
    qtbot.waitUntil(made.bar.isHidden, timeout=60_000)
    choose(made, 4096)
    made.rounds.setChecked(True)
    made.draft.addItem("small", "/models/small.gguf")
    made.draft.setCurrentIndex(made.draft.count() - 1)
    qtbot.waitUntil(made.bar.isHidden, timeout=60_000)
    made.open_button.click()
    screen.play()
    spec = screen.engine.specs[-1]
    assert (spec.path, spec.context_tokens, spec.kv_bits) == ("/models/large.gguf", 4096, 8)
    settings = screen.application.settings
    assert settings.contexts == {"/models/large.gguf": 4096}
    assert settings.kv_bits == {"/models/large.gguf": 8}
    assert settings.drafts == {"/models/large.gguf": spec.draft} == {"/models/large.gguf": "/models/small.gguf"}
    screen.window.commands.length.trigger()
    again = screen.application.dialogs.open_dialog
    assert isinstance(again, OpenModelDialog)
    qtbot.waitUntil(again.bar.isHidden, timeout=60_000)
    assert again.length.currentData() == 4096
    choose(again, 0)
    assert again.rounds.isChecked()
    again.rounds.setChecked(False)
    assert again.draft.currentData() == "/models/small.gguf"
    again.draft.setCurrentIndex(0)
    qtbot.waitUntil(again.bar.isHidden, timeout=60_000)
    again.open_button.click()
    screen.play()
    assert (screen.engine.specs[-1].context_tokens, screen.engine.specs[-1].kv_bits) == (None, 16)
    assert (settings.contexts, settings.kv_bits, settings.drafts) == ({}, {}, {})
