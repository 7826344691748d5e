"""Colours, type and spacing of the window: light and dark tokens that become a QPalette and a small style sheet.

Every colour has one meaning everywhere (`reused` is blue in the strip, the ribbon and the charts). Text colours hold a
contrast of 4.5 to 1 on every background they are used on, shapes 3 to 1; tests/app/test_theme.py measures it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from string import Template

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QApplication

SMALL, BODY, LARGE = 12, 13, 22
"""The three type sizes, in device-independent pixels."""

GRID = 8
"""Distances are multiples of this many device-independent pixels (half of it inside a control)."""

STYLE_SHEET = Path(__file__).parent.parent / "resources" / "style.qss"


@dataclass(frozen=True, slots=True)
class Theme:
    """One set of colours, each as "#rrggbb".

    `page` is behind the conversation, `panel` behind the side columns, `bubble` behind a question and a chosen row,
    `code` behind code. `text`, `soft` and `faint` are text in falling weight; `line` separates, `edge` outlines a
    field. `accent` is what can be pressed, `on_accent` the text on it. `warn` is behind the one warm box, `found`
    behind what was searched for, `danger` is an error's text.
    """

    name: str
    page: str
    panel: str
    line: str
    edge: str
    text: str
    soft: str
    faint: str
    bubble: str
    hover: str
    code: str
    accent: str
    accent_hover: str
    on_accent: str
    selection: str
    reused: str
    computed: str
    pinned: str
    evicted: str
    cold: str
    warn: str
    found: str
    danger: str
    code_keyword: str
    code_string: str
    code_comment: str
    code_number: str
    code_name: str


LIGHT = Theme(
    name="light",
    page="#ffffff",
    panel="#f6f7f9",
    line="#e1e4e8",
    edge="#7f8994",
    text="#1c2024",
    soft="#5b636d",
    faint="#626a74",
    bubble="#eef1f5",
    hover="#e8ecf1",
    code="#f4f6f8",
    accent="#0b62a8",
    accent_hover="#09528d",
    on_accent="#ffffff",
    selection="#bcdcf5",
    reused="#2a7fb8",
    computed="#c77700",
    pinned="#1f5f8b",
    evicted="#c2410c",
    cold="#868f9a",
    warn="#fff6e5",
    found="#ffe28a",
    danger="#b42318",
    code_keyword="#8a2f8f",
    code_string="#2c6e2f",
    code_comment="#5f6872",
    code_number="#9a4a00",
    code_name="#0b5c9e",
)

DARK = Theme(
    name="dark",
    page="#16181b",
    panel="#1d2024",
    line="#2e3238",
    edge="#6d7580",
    text="#e8eaed",
    soft="#a3abb5",
    faint="#939ba6",
    bubble="#24282d",
    hover="#2d3238",
    code="#1e2226",
    accent="#6db3ec",
    accent_hover="#8cc5f2",
    on_accent="#10202c",
    selection="#2c5878",
    reused="#4da3dc",
    computed="#f0a63a",
    pinned="#8cc6ee",
    evicted="#f2784b",
    cold="#6d7580",
    warn="#2c2618",
    found="#6b5410",
    danger="#ff8a75",
    code_keyword="#d7a1e0",
    code_string="#9fd08f",
    code_comment="#8f98a3",
    code_number="#f0b27a",
    code_name="#85c1ee",
)


TEXT_PERCENTS = (80, 90, 100, 110, 125, 150, 175, 200)
"""How large messages may be shown, against their usual size."""

_current = LIGHT
_text_percent = 100


def current() -> Theme:
    """The theme the program wears now. A widget that paints itself asks here each time it paints."""
    return _current


def resolve(setting: str, app: QApplication) -> Theme:
    """The theme for the setting "light", "dark" or "system"; "system" asks the desktop, then the palette."""
    if setting == "light":
        return LIGHT
    if setting == "dark":
        return DARK
    scheme = app.styleHints().colorScheme()
    if scheme == Qt.ColorScheme.Unknown:
        return DARK if app.palette().window().color().lightness() < 128 else LIGHT
    return DARK if scheme == Qt.ColorScheme.Dark else LIGHT


def apply(app: QApplication, theme: Theme) -> None:
    """Give the whole program this theme: style, font, palette and style sheet. Widgets hear of it as PaletteChange."""
    global _current
    _current = theme
    if app.style().objectName() != "fusion":
        app.setStyle("Fusion")
    app.setFont(text_font())
    app.setPalette(palette(theme))
    app.setStyleSheet(style_sheet(theme))


def set_text_percent(percent: int) -> None:
    """From now on messages, and what is written, are shown so large."""
    global _text_percent
    _text_percent = percent


def reading(size: int) -> int:
    """A type size of messages and of what is written, as large as the user wants it, in pixels."""
    return round(size * _text_percent / 100)


def reading_font(bold: bool = False) -> QFont:
    """The font of messages and of what is written."""
    return text_font(reading(BODY), bold)


def text_font(size: int = BODY, bold: bool = False) -> QFont:
    """The system's own font, or Inter or DejaVu Sans where there is none, at one of the three sizes and two weights."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    families = [family for family in font.families() if family]
    font.setFamilies([*families, "Inter", "DejaVu Sans"])
    font.setPixelSize(size)
    font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    return font


def code_font(size: int = SMALL) -> QFont:
    """The system's fixed-width font, small."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setFamilies([*[family for family in font.families() if family], "DejaVu Sans Mono", "monospace"])
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setPixelSize(size)
    return font


def palette(theme: Theme) -> QPalette:
    """The theme as a QPalette, for everything the style sheet does not name."""
    role = QPalette.ColorRole
    colours = {
        role.Window: theme.page,
        role.WindowText: theme.text,
        role.Base: theme.page,
        role.AlternateBase: theme.panel,
        role.Text: theme.text,
        role.PlaceholderText: theme.faint,
        role.Button: theme.panel,
        role.ButtonText: theme.text,
        role.BrightText: theme.danger,
        role.Highlight: theme.selection,
        role.HighlightedText: theme.text,
        role.Link: theme.accent,
        role.LinkVisited: theme.accent,
        role.ToolTipBase: theme.bubble,
        role.ToolTipText: theme.text,
        role.Light: theme.panel,
        role.Midlight: theme.line,
        role.Mid: theme.line,
        role.Dark: theme.edge,
        role.Shadow: theme.edge,
        role.Accent: theme.accent,
    }
    made = QPalette()
    for name, colour in colours.items():
        made.setColor(name, QColor(colour))
    for name in (role.Text, role.WindowText, role.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, name, QColor(theme.faint))
    return made


def style_sheet(theme: Theme) -> str:
    """resources/style.qss with this theme's colours and the type sizes filled in."""
    sizes = {"small": f"{SMALL}px", "body": f"{BODY}px", "large": f"{LARGE}px"}
    icons = (STYLE_SHEET.parent / "icons").as_posix()
    return Template(STYLE_SHEET.read_text(encoding="utf-8")).substitute(asdict(theme), icons=icons, **sizes)
