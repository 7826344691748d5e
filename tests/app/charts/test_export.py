"""Charts as files: the numbers and pictures that are on screen, and a sentence where they cannot be written."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QSize, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from app.charts.export import KINDS, PNG_SCALE, SaveButton
from app.charts.panel import ChartPanel
from app.charts.series import ShownTurn
from app.theme import DARK, LIGHT, Theme
from engine import CacheView, TtftParts, TurnStats

TURNS = (
    TurnStats(1, 3065, 0, 3065, 40, 1.6, TtftParts(0.0, 0.1, 0.0, 0.0, 1.2, 0.3), 51.0, 1.6, True, 0),
    TurnStats(2, 3100, 3056, 44, 40, None, TtftParts(), 0.0, 1.7, False, 0),
)


@pytest.fixture
def panel(qtbot: QtBot) -> ChartPanel:
    made = ChartPanel(LIGHT)
    qtbot.addWidget(made)
    made.resize(360, 800)
    made.load_turns([ShownTurn(stats, 10 + n, "Parcels, “mine”") for n, stats in enumerate(TURNS)])
    made.add_cache_view(CacheView(0, 2.5, 10**9, 70, 20, 30, 0, 0))
    made.show()
    made.redraw()
    QApplication.processEvents()
    return made


def table(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8"))))


def test_the_table_holds_every_figure_of_every_turn(panel: ChartPanel) -> None:
    first, second = table(panel.first_token.rendered("csv"))
    assert (first["turn"], first["message_id"], first["conversation"]) == ("1", "10", "Parcels, “mine”")
    assert (first["ttft_s"], first["prefill_s"], first["cold_measured"]) == ("1.6", "1.2", "True")
    assert (second["ttft_s"], second["reused_tokens"], second["computed_tokens"]) == ("", "3056", "44")
    assert table(panel.tokens.rendered("csv"))[1]["prompt_tokens"] == "3100"
    (moment,) = table(panel.cache.rendered("csv"))
    assert (moment["time_s"], moment["pinned_bytes"], moment["reusable_bytes"]) == ("2.5", "70", "30")


@pytest.mark.parametrize("worn", [LIGHT, DARK], ids=lambda worn: worn.name)
def test_pictures_have_the_theme_the_size_and_something_to_see(panel: ChartPanel, worn: Theme) -> None:
    panel.set_theme(worn)
    for card in (panel.first_token, panel.tokens, panel.cache):
        png = QImage.fromData(QByteArray(card.rendered("png")))
        assert png.size() == (card.size() + QSize(32, 32)) * PNG_SCALE
        assert png.pixelColor(2, 2) == QColor(worn.panel)
        drawn = QSvgRenderer(QByteArray(card.rendered("svg")))
        assert drawn.isValid()
        assert drawn.viewBox().size() == png.size() / PNG_SCALE
        svg = card.rendered("svg").decode("utf-8")
        assert f"<title>{card.accessibleName()}</title>" in svg
        assert "<image" not in svg, "shapes, not pixels"
        assert card.number in svg
    colours = {png.pixelColor(x, y).name() for x in range(0, png.width(), 3) for y in range(0, png.height(), 3)}
    assert worn.pinned in colours


def test_a_hovered_chart_is_saved_as_it_is_without_the_mouse(panel: ChartPanel) -> None:
    panel.redraw()
    quiet = panel.tokens.rendered("png")
    panel.tokens.bars.hover(0)
    assert panel.tokens.rendered("png") == quiet
    assert panel.tokens.name == "Parcels, “mine”"


def test_the_button_and_the_menu_ask_for_each_kind(qtbot: QtBot, panel: ChartPanel) -> None:
    button = panel.tokens.findChild(SaveButton)
    assert button is not None
    for number, kind in enumerate(KINDS):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        with qtbot.waitSignal(panel.tokens.save_wanted) as wanted:
            menu.actions()[number].trigger()
        menu.close()
        assert wanted.args == [kind]
        dialog = panel.saver.dialog
        assert dialog is not None
        assert dialog.selectedFiles()[0].endswith(f"headstart-tokens.{kind}")
        dialog.reject()
        assert panel.saver.dialog is None


def test_a_chosen_file_is_written(qtbot: QtBot, panel: ChartPanel, tmp_path: Path) -> None:
    path = tmp_path / "chart.csv"
    panel.tokens.save_wanted.emit("csv")
    assert panel.saver.dialog is not None
    with qtbot.waitSignal(panel.saver.saved) as saved:
        panel.saver.dialog.fileSelected.emit(str(path))
    panel.saver.dialog.reject()
    assert saved.args == [str(path)]
    assert path.read_bytes() == panel.tokens.rendered("csv")
    assert list(tmp_path.iterdir()) == [path], "no draft is left"


def test_a_folder_that_cannot_be_written_is_a_sentence_and_nothing_is_lost(
    qtbot: QtBot, panel: ChartPanel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "chart.png"
    path.write_text("an older one")

    def refuse(self: Path, data: bytes) -> int:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "write_bytes", refuse)
    with qtbot.waitSignal(panel.saver.failed) as failed:
        panel.saver.save(path, b"new")
    sentence, detail = failed.args
    assert sentence.startswith(f"The chart cannot be saved to {tmp_path}: Permission denied.")
    assert "Choose another folder" in sentence
    assert "chart.png" in detail
    assert path.read_text() == "an older one"
