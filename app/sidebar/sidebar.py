"""The left column: the conversations that are kept, and the model that answers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from datetime import time as clock_time

from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QColor, QEnterEvent, QFocusEvent, QFontMetrics, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.language import tr, translated
from app.widgets.conversation_list import ConversationList, Listed
from app.widgets.explain import Explain
from app.widgets.plain import Label, SoftLabel, elided, tool_tip
from app.words import day_headings, size, token_cost
from engine import CacheView, ModelInfo

WIDTH, NARROWEST, WIDEST = 232, 180, 420
"""Pixels: at first, and what a user may choose."""


TOP = tr("Kept at the top")


class Sidebar(QFrame):
    """New, search, the list of conversations, and the model at the foot. `model_button` opens the model menu,
    `folder_button` that of folders, `explain` says what the badges are. Signals: search_changed(str), day_changed() at
    midnight, when what was "Today" no longer is; those of `list` are its own."""

    search_changed = Signal(str)
    day_changed = Signal()

    def __init__(self, new: QAction, model_menu: QMenu) -> None:
        super().__init__()
        self.setObjectName("sidebar")
        self.setMinimumWidth(NARROWEST)
        self.setMaximumWidth(WIDEST)
        self.setAccessibleName(tr("Conversations and model"))
        self._new_button = self._make_new_button(new)
        self.search = QLineEdit(self)
        self.search.setPlaceholderText(tr("Search conversations"))
        self.search.setAccessibleName(tr("Search conversations"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self.search_changed)
        self.search.installEventFilter(self)
        self.explain = Explain("badge", self)
        self.folder_button = QPushButton(self)
        self.folder_button.setObjectName("quiet")
        self.folder_button.setMenu(QMenu(self))
        self.list = ConversationList(self)
        self._nothing = SoftLabel(self)
        self._nothing.setWordWrap(True)
        self._nothing.setContentsMargins(20, 8, 20, 8)
        self.model_button = ModelButton(model_menu, self)
        self._midnight = QTimer(self)
        self._midnight.setSingleShot(True)
        self._midnight.timeout.connect(self.day_changed)
        self._lay_out()

    def _make_new_button(self, new: QAction) -> QPushButton:
        button = QPushButton(tr("New"), self)
        button.setObjectName("primary")
        button.setAccessibleName(tr("New conversation"))
        button.setToolTip(tool_tip(tr("New conversation ({tostring})", tostring=new.shortcut().toString())))
        button.clicked.connect(new.trigger)
        return button

    def _lay_out(self) -> None:
        name = Label("Headstart", self)
        name.setFont(theme.text_font(bold=True))
        top = QHBoxLayout()
        top.setContentsMargins(16, 0, 16, 0)
        top.addWidget(name, 1)
        top.addWidget(self._new_button)
        field = QHBoxLayout()
        field.setContentsMargins(16, 0, 16, 0)
        field.addWidget(self.search)
        heading = QHBoxLayout()
        heading.setContentsMargins(13, 0, 16, 0)
        heading.setSpacing(6)
        heading.addWidget(self.folder_button)
        heading.addWidget(self.explain)
        heading.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 13, 0, 0)
        column.setSpacing(12)
        column.addLayout(top)
        column.addLayout(field)
        column.addLayout(heading)
        column.addWidget(self._nothing)
        column.addWidget(self.list, 1)
        column.addWidget(self.model_button)

    def show_folder(self, name: str) -> None:
        """Say whose conversations are listed."""
        metrics = self.folder_button.fontMetrics()
        shown = metrics.elidedText(name, Qt.TextElideMode.ElideRight, WIDTH - 90)
        self.folder_button.setText(f"{shown.replace('&', '&&')} ▾")
        self.folder_button.setAccessibleName(tr("Folder: {name}", name=name))
        self.folder_button.setToolTip(tool_tip(tr("Choose a folder, or make one")))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """From the search the Down key goes to the first of what was found, and Enter opens it."""
        if watched is self.search and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            rows, key = self.list.rows, event.key()
            if rows and key == Qt.Key.Key_Down:
                self.list.show_current(rows[0].id)
                self.list.setFocus()
                return True
            if rows and self.search.text() and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.list.opened.emit(rows[0].id)
                return True
        return super().eventFilter(watched, event)

    @property
    def needle(self) -> str:
        """What is searched for, "" where nothing is."""
        return self.search.text().strip()

    def show_rows(self, rows: Sequence[Listed], current: int) -> None:
        """Show these conversations, or what to do where there are none."""
        searched = self.needle
        now = time.time()
        headings = {} if searched else headings_of(rows, now)
        self.list.show_rows(rows, current, searched, headings)
        self._midnight.start(ms_to_midnight(now))
        self._nothing.setVisible(not rows)
        self._nothing.setText(
            tr("No conversation holds “{searched}”.", searched=searched)
            if searched
            else tr("Your conversations will be listed here.")
        )


def ms_to_midnight(now: float) -> int:
    """Milliseconds to the next day, and one more."""
    tomorrow = datetime.combine(datetime.fromtimestamp(now).date() + timedelta(days=1), clock_time())
    return max(1, round(1000 * (tomorrow.timestamp() - now)) + 1)


def headings_of(rows: Sequence[Listed], now: float) -> dict[int, str]:
    """The headings between rows, by the number of the row below: what is kept at the top, then the days."""
    top = sum(row.is_top for row in rows)
    days = day_headings((row.updated for row in rows[top:]), now)
    return ({0: TOP} if top else {}) | {top + place: name for place, name in days.items()}


class ModelButton(QAbstractButton):
    """Which model answers and what its cache holds, in two lines; pressing it opens the model menu."""

    def __init__(self, menu: QMenu, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._menu = menu
        self._model: ModelInfo | None = None
        self._cache: CacheView | None = None
        self._cache_on = True
        self._pointed = False
        self.setFixedHeight(64)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.clicked.connect(self._open_menu)
        self._say(tr("No model"), tr("Open one"))

    @property
    def lines(self) -> tuple[str, str]:
        """The two lines, whole."""
        return self._lines

    @property
    def shown(self) -> list[str]:
        """The two lines as there is room for them."""
        metrics = QFontMetrics(theme.text_font(theme.SMALL))
        return [elided(metrics, text, tail, self.width() - 32) for text, tail in self._parts]

    def show_model(self, model: ModelInfo | None) -> None:
        """This model answers now, None for none. Of another model it is not known yet what its cache holds."""
        if model != self._model:
            self._cache = None
        self._model = model
        self._refresh()

    def show_cache(self, view: CacheView) -> None:
        """What the cache holds now."""
        self._cache = view
        self._refresh()

    def show_cache_on(self, on: bool) -> None:
        """Whether new questions may use the cache."""
        self._cache_on = on
        self._refresh()

    def show_loading(self) -> None:
        """A model is being loaded."""
        self._say(tr("Loading the model"), tr("You can write meanwhile"))

    def _refresh(self) -> None:
        if self._model is None:
            self._say(tr("No model"), tr("Open one"))
            return
        kind = f" · {self._model.dtype}{(tr(' · near') if self._model.near else '')}"
        device = {"cpu": "CPU", "mps": "MPS"}.get(self._model.device, self._model.device.upper())
        self._say(self._model.name, f"{device} · {self._cache_words(self._model)}", kind)

    def _cache_words(self, model: ModelInfo) -> str:
        if not model.cached_bytes_per_token:
            return tr("remembered there")
        if not self._cache_on:
            return tr("remembering is off")
        held = self._cache.used_bytes if self._cache else 0
        budget = self._cache.budget_bytes if self._cache else model.cache_budget_bytes
        return tr("{size} of {size2} memory", size=size(held), size2=size(budget))

    def _disk_words(self) -> str:
        """What lies on disk, or why nothing does; "" where that is not known or nothing to speak of."""
        if self._cache is None or self._model is None:
            return ""
        return translated(self._cache.disk_note) or (
            tr("{size} on disk", size=size(self._cache.disk_bytes)) if self._cache.disk_bytes else ""
        )

    def _say(self, name: str, second: str, kind: str = "") -> None:
        """`kind` stands behind the name of the model and is never cut."""
        first = name + kind
        self._lines, self._parts = (first, second), ((name, kind), (second, ""))
        lines = [
            first,
            second,
            *([tr("{cost} of memory", cost=cost)] if self._model and (cost := token_cost(self._model)) else []),
        ]
        lines += [disk] if (disk := self._disk_words()) else []
        self.setAccessibleName(tr("Model: {parts}", parts=". ".join(lines)))
        self.setToolTip(tool_tip("\n".join([*lines, tr("Open another model")])))
        self.update()

    def _open_menu(self) -> None:
        above = QPoint(8, -self._menu.sizeHint().height())
        self._menu.popup(self.mapToGlobal(above))

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, 64)

    def enterEvent(self, event: QEnterEvent) -> None:
        self._pointed = True
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._pointed = False
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours = theme.current()
        painter.fillRect(16, 0, self.width() - 32, 1, QColor(colours.line))
        if self._pointed or self.hasFocus():
            painter.setPen(QColor(colours.accent) if self.hasFocus() else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.bubble))
            painter.drawRoundedRect(QRectF(8.5, 8.5, self.width() - 17, self.height() - 17), 6, 6)
        painter.setFont(theme.text_font(theme.SMALL))
        for line, top, colour in zip(self.shown, (13, 31), (colours.text, colours.soft), strict=True):
            painter.setPen(QColor(colour))
            painter.drawText(QRectF(16, top, self.width() - 32, 20), Qt.AlignmentFlag.AlignVCenter, line)
