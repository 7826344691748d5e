"""Both themes can be read, reach the palette, and follow the setting."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

from app import theme
from app.theme import DARK, LIGHT, Theme

GROUNDS = ("page", "panel", "bubble", "hover", "code")
TEXTS = ("text", "soft", "faint", "accent")
CODE = ("code_keyword", "code_string", "code_comment", "code_number", "code_name")
SHAPES = ("reused", "computed", "pinned", "evicted", "cold", "edge")


def luminance(colour: str) -> float:
    def linear(value: float) -> float:
        return value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue, _ = QColor(colour).getRgbF()
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("worn", [LIGHT, DARK], ids=lambda worn: worn.name)
def test_text_can_be_read_on_every_ground(worn: Theme) -> None:
    pairs = [(text, ground) for text in TEXTS for ground in GROUNDS]
    pairs += [(text, "code") for text in CODE]
    pairs += [("text", "warn"), ("soft", "warn"), ("text", "selection"), ("text", "found"), ("on_accent", "accent")]
    pairs += [("on_accent", "accent_hover"), ("danger", "page"), ("evicted", "panel")]
    poor = {pair: contrast(getattr(worn, pair[0]), getattr(worn, pair[1])) for pair in pairs}
    assert {pair: ratio for pair, ratio in poor.items() if ratio < 4.5} == {}


@pytest.mark.parametrize("worn", [LIGHT, DARK], ids=lambda worn: worn.name)
def test_shapes_can_be_told_from_what_is_behind_them(worn: Theme) -> None:
    pairs = [(shape, ground) for shape in SHAPES for ground in ("page", "panel")]
    poor = {pair: contrast(getattr(worn, pair[0]), getattr(worn, pair[1])) for pair in pairs}
    assert {pair: ratio for pair, ratio in poor.items() if ratio < 3.0} == {}


def test_applying_reaches_palette_font_and_style(qapp: QApplication) -> None:
    theme.apply(qapp, DARK)
    assert theme.current() is DARK
    assert qapp.palette().color(QPalette.ColorRole.Window) == QColor(DARK.page)
    assert qapp.font().pixelSize() == theme.BODY
    assert DARK.accent in qapp.styleSheet()
    assert "$" not in qapp.styleSheet()
    theme.apply(qapp, LIGHT)
    assert LIGHT.accent in qapp.styleSheet()


def test_the_setting_decides(qapp: QApplication) -> None:
    assert theme.resolve("light", qapp) is LIGHT
    assert theme.resolve("dark", qapp) is DARK


@pytest.mark.parametrize("worn", [LIGHT, DARK], ids=lambda worn: worn.name)
def test_following_a_desktop_without_a_scheme_goes_by_its_palette(qapp: QApplication, worn: Theme) -> None:
    qapp.setPalette(theme.palette(worn))
    assert theme.resolve("system", qapp) is worn
    theme.apply(qapp, LIGHT)
