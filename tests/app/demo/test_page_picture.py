"""The demo's page as a picture: the same charts and sentences as the page, in the colours of one theme."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from app.demo.page import page_of
from app.demo.page_picture import PAGE_WIDTH, SCALE, as_picture, coloured
from app.theme import DARK, LIGHT, Theme
from tests.app.colours import colours
from tests.app.demo.test_page import make_report


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_it_is_readable_and_wears_the_theme(qtbot: QtBot, theme: Theme) -> None:
    image = as_picture(page_of(make_report(), "A machine"), theme)
    assert image.width() == PAGE_WIDTH * SCALE
    assert image.pixelColor(4, 4) == QColor(theme.page)
    assert {theme.reused, theme.computed, theme.cold, theme.text} <= colours(image)


def test_nothing_on_the_dark_page_is_darker_than_the_page(qtbot: QtBot) -> None:
    shown = colours(as_picture(page_of(make_report(), "A machine"), DARK))
    assert min(QColor(name).lightness() for name in shown) >= QColor(DARK.page).lightness()


def test_it_grows_with_what_was_answered(qtbot: QtBot) -> None:
    report = make_report()
    before = as_picture(page_of(report, "A machine"), LIGHT).height()
    report.add_answers(2, "Because it is so. " * 80, "Why not? " * 80)
    assert as_picture(page_of(report, "A machine"), LIGHT).height() > before + 200


def test_a_chart_brings_its_own_colours() -> None:
    for _, svg, _ in page_of(make_report(), "A machine").charts:
        shapes = list(ElementTree.fromstring(coloured(svg, DARK)).iter())
        assert not any(shape.get("class") for shape in shapes)
        assert all(shape.get("fill") or shape.get("stroke") for shape in shapes if shape.tag[-4:] in ("rect", "line"))
