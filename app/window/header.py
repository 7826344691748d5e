"""The line above the conversation: its title, its system prompt, and the buttons for columns and the menu."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QAction, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QMenu, QPushButton, QSizePolicy, QToolButton, QWidget

from app import theme
from app.language import tr
from app.widgets.icons import icon
from app.widgets.plain import SoftLabel, tool_tip

HEIGHT = 56
SERVER = tr("This conversation is sent to a server of its own. “Use a server…”, in the model menu, changes that.")
BESIDE_PROMPT = 240
"""Pixels of the header that the buttons take, and the beginning of a title."""


class Header(QWidget):
    """Title, system prompt, and buttons. Signals: renamed(str), prompt_wanted(), renaming_ended(): by the user, who
    goes on elsewhere."""

    renamed = Signal(str)
    renaming_ended = Signal()
    prompt_wanted = Signal()

    def __init__(self, show_sidebar: QAction, show_charts: QAction, menu: QMenu) -> None:
        super().__init__()
        self.setFixedHeight(HEIGHT)
        sidebar, charts = _toggle(show_sidebar, "sidebar", self), _toggle(show_charts, "charts", self)
        self.title = ElidedTitle(self)
        self.title.edit_wanted.connect(self.rename)
        self.field = QLineEdit(self)
        self.field.setAccessibleName(tr("Title of the conversation"))
        self.field.editingFinished.connect(self._end_rename)
        self.field.installEventFilter(self)
        self.field.hide()
        self.pill = QPushButton(self)
        self.pill.setObjectName("pill")
        self.pill.clicked.connect(self.prompt_wanted)
        self.server = SoftLabel(self)
        self.server.setToolTip(tool_tip(SERVER))
        self.tools = SoftLabel(self)
        self.menu_button = _icon_button("menu", tr("Menu"), self)
        self.menu_button.setMenu(menu)
        self.menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 0, 12, 0)
        row.setSpacing(8)
        row.addWidget(sidebar)
        row.addWidget(self.title)
        row.addWidget(self.field)
        row.addWidget(self.pill)
        row.addWidget(self.server)
        row.addWidget(self.tools)
        row.addStretch(1)
        row.addWidget(charts)
        row.addWidget(self.menu_button)
        stops = (sidebar, self.field, self.pill, charts, self.menu_button)
        for before, after in pairwise(stops):
            self.setTabOrder(before, after)
        self._prompt = ""
        self.show_prompt("", 0, pinned=False)
        self.show_server("")
        self.show_tools("", ())

    def show_title(self, title: str, can_rename: bool) -> None:
        """Show the conversation's title."""
        self.title.show_title(title, can_rename)

    def show_prompt(self, prompt: str, tokens: int, pinned: bool) -> None:
        """Sum up the system prompt: its tokens, 0 while they are not counted, and whether it is kept."""
        if not prompt:
            says = tr("Add a system prompt")
        else:
            parts = [tr("System prompt")]
            parts += [tr("{tokens:,} tokens", tokens=tokens)] if tokens else []
            parts += [tr("kept")] if pinned else []
            says = " · ".join(parts)
        self._prompt = says
        self._fit_prompt()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_prompt()

    def _fit_prompt(self) -> None:
        """Say less of the system prompt where there is no room for all of it beside some of the title."""
        short = self._prompt.partition(" · ")[0]
        for says in (self._prompt, short):
            self.pill.setText(says)
            if self.pill.sizeHint().width() + BESIDE_PROMPT <= self.width():
                break
        self.pill.setToolTip(tr("Read or change the system prompt of this conversation"))
        self.pill.setAccessibleName(self._prompt)

    def show_server(self, host: str) -> None:
        """Say which server answers this conversation; "" for the model that is open."""
        self.server.setText(tr("Answered by {host}", host=host))
        self.server.setVisible(bool(host))

    def show_tools(self, says: str, names: Sequence[str]) -> None:
        """Say how many tools the model may call in this conversation, and which; "" for none."""
        self.tools.setText(says)
        self.tools.setToolTip(
            tool_tip(tr("The model may ask to call: {parts}. “Tools…” changes that.", parts=", ".join(names)))
        )
        self.tools.setVisible(bool(says))

    def rename(self) -> None:
        """Let the user type another title in place of the present one."""
        if not self.title.can_rename:
            return
        self.field.setText(self.title.title)
        self.title.hide()
        self.field.show()
        self.field.selectAll()
        self.field.setFocus()

    def stop_renaming(self) -> None:
        """Leave the title as it is."""
        self.field.hide()
        self.title.show()

    def _end_rename(self) -> None:
        if self.field.isHidden():
            return
        new = self.field.text().strip()
        self.stop_renaming()
        self.renaming_ended.emit()
        if new and new != self.title.title:
            self.renamed.emit(new)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Escape:
            self.stop_renaming()
            self.renaming_ended.emit()
            return True
        return super().eventFilter(watched, event)


class ElidedTitle(QWidget):
    """The title in bold, with an ellipsis where there is no room. Signals: edit_wanted() on a double click."""

    edit_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title, self.can_rename = "", False
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.setMinimumWidth(48)

    def show_title(self, title: str, can_rename: bool) -> None:
        """Show this title."""
        self.title, self.can_rename = title, can_rename
        self.setAccessibleName(title)
        self.setToolTip(tool_tip(tr("{title}\nDouble-click to rename", title=title) if can_rename else ""))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(theme.text_font(bold=True))
        return QSize(metrics.horizontalAdvance(self.title) + 4, 24)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        font = theme.text_font(bold=True)
        painter.setFont(font)
        shown = QFontMetrics(font).elidedText(self.title, Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.edit_wanted.emit()


def _icon_button(name: str, says: str, parent: QWidget) -> QToolButton:
    button = QToolButton(parent)
    button.setObjectName("quiet")
    button.setIcon(icon(name))
    button.setIconSize(QSize(16, 16))
    button.setFixedSize(28, 28)
    button.setAccessibleName(says)
    button.setToolTip(tool_tip(says))
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return button


def _toggle(action: QAction, name: str, parent: QWidget) -> QToolButton:
    shortcut = action.shortcut().toString()
    button = _icon_button(name, action.text().replace("&", ""), parent)
    button.setToolTip(tool_tip(f"{button.accessibleName()} ({shortcut})"))
    button.clicked.connect(action.trigger)
    return button
