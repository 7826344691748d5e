"""The window: three columns, what is in them, and which of them there is room for. No logic."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QSize, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QMainWindow,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.charts.panel import ChartPanel
from app.composer.composer import Composer, local_files
from app.language import tr
from app.sidebar.sidebar import WIDTH as SIDEBAR_WIDTH
from app.sidebar.sidebar import Sidebar
from app.transcript.transcript import COLUMN_WIDTH, SIDE, Transcript
from app.widgets.icons import app_icon
from app.widgets.room import fit
from app.window.actions import Actions
from app.window.empty_state import EmptyState
from app.window.header import Header
from app.window.loading_bar import LoadingBar
from app.window.notice_bar import NoticeBar
from app.window.tool_bar import ToolBar

FIRST_SIZE = QSize(1280, 800)
"""Pixels of a first window where the screen has room."""
CHARTS_WIDTH, NARROWEST_CHARTS, WIDEST_CHARTS = 360, 320, 640
LEAST_MIDDLE = 220
LEAST_TEXT = 520
"""Pixels the conversation keeps; a column that leaves it less is folded, the charts first."""
BARE_TEXT = 420
"""Pixels the conversation keeps even beside charts that were just asked for; where there are less they stay folded."""


class Window(QMainWindow):
    """Attributes: commands, sidebar, header, loading_bar, notice, transcript, empty, tool_bar, composer, charts.

    The user's wish for a column holds while there is room; on a narrow window asking for one folds the other.
    Signals: closing() once, when the user closes the window.
    """

    closing = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setWindowTitle("Headstart")
        self.setWindowIcon(app_icon())
        self.setMinimumSize(640, 420)
        self.setAcceptDrops(True)
        self.resize(FIRST_SIZE)
        self.commands = Actions(self)
        model_menu = self.commands.model_menu()
        self.sidebar = Sidebar(self.commands.new, model_menu)
        self.header = Header(self.commands.show_sidebar, self.commands.show_charts, self.commands.main_menu(model_menu))
        self.loading_bar, self.notice = LoadingBar(), NoticeBar()
        self.transcript, self.empty = Transcript(), EmptyState()
        self.composer, self.tool_bar = Composer(), ToolBar()
        self.charts = ChartPanel(theme.current())
        self._wants_sidebar, self._wants_charts = True, True
        self._sidebar_width, self._charts_width = SIDEBAR_WIDTH, CHARTS_WIDTH
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        self._middle = QStackedWidget()
        self._middle.addWidget(self.empty)
        self._middle.addWidget(self.transcript)
        self.charts.setMinimumWidth(NARROWEST_CHARTS)
        self.charts.setMaximumWidth(WIDEST_CHARTS)
        self._columns = columns = QSplitter()
        columns.setChildrenCollapsible(False)
        columns.setHandleWidth(1)  # Qt takes a few pixels beside it for the mouse, too
        for column in (self.sidebar, self._conversation_column(), self.charts):
            columns.addWidget(column)
        columns.setStretchFactor(1, 1)
        columns.splitterMoved.connect(self._on_moved)
        self.setCentralWidget(columns)

    def _conversation_column(self) -> QWidget:
        middle = QWidget()
        middle.setMinimumWidth(LEAST_MIDDLE)
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for widget in (self.header, _line(), self.loading_bar, self.notice):
            column.addWidget(widget)
        column.addWidget(self._middle, 1)
        self._column = column
        for centred in (self.tool_bar, self.composer):
            below = QHBoxLayout()
            below.setContentsMargins(SIDE, 0, SIDE, 0)
            centred.setMaximumWidth(COLUMN_WIDTH)
            below.addStretch(1)
            below.addWidget(centred, 1000)
            below.addStretch(1)
            column.addLayout(below)
        return middle

    def _connect(self) -> None:
        actions = self.commands
        actions.show_sidebar.triggered.connect(self._on_sidebar_wish)
        actions.show_charts.triggered.connect(self._on_charts_wish)
        actions.find.triggered.connect(self._find)
        actions.write.triggered.connect(self.composer.edit.setFocus)
        actions.rename.triggered.connect(self.header.rename)
        self.header.renaming_ended.connect(self._on_renaming_ended)
        actions.quit.triggered.connect(self.close)
        actions.open_menu.triggered.connect(self.header.menu_button.showMenu)

    @property
    def wishes(self) -> tuple[bool, bool]:
        """Whether the user wants the sidebar and the charts, whatever there is room for."""
        return self._wants_sidebar, self._wants_charts

    def set_wishes(self, sidebar: bool, charts: bool) -> None:
        """What the user wants to see."""
        self._wants_sidebar, self._wants_charts = sidebar, charts
        self._show_columns(*self._room_for(sidebar, charts))

    @property
    def widths(self) -> tuple[int, int]:
        """Pixels that the user gave to the conversations and to the charts."""
        return self._sidebar_width, self._charts_width

    def set_widths(self, sidebar: int, charts: int) -> None:
        """Give the columns at the sides this room, within what each can do with."""
        self._sidebar_width = min(max(sidebar, self.sidebar.minimumWidth()), self.sidebar.maximumWidth())
        self._charts_width = min(max(charts, self.charts.minimumWidth()), self.charts.maximumWidth())
        self._show_columns(*self._room_for(*self.wishes))

    def show_transcript(self, has_messages: bool) -> None:
        """The transcript, or what to do where there is none."""
        self._middle.setCurrentWidget(self.transcript if has_messages else self.empty)

    def show_bar(self, bar: QWidget) -> None:
        """Put a bar between the header and the conversation."""
        self._column.insertWidget(self._column.indexOf(self.loading_bar), bar)

    def geometry_text(self) -> str:
        """Place and size, to be kept in the settings."""
        return bytes(self.saveGeometry().toBase64().data()).decode("ascii")

    def set_geometry_text(self, text: str) -> None:
        """Go back to a kept place and size, nonsense is ignored by Qt; "" takes the size a first window has."""
        if text:
            self.restoreGeometry(QByteArray.fromBase64(text.encode("ascii", "ignore")))
        else:
            self.resize(FIRST_SIZE)
        if not self.isMaximized() and not self.isFullScreen():
            fit(self, self.size())  # the screen may be another one, or its scale

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._show_columns(*self._room_for(*self.wishes))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if local_files(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Files may be dropped anywhere; they go with the next question."""
        self.composer.files_given.emit(local_files(event.mimeData()))
        event.acceptProposedAction()

    def closeEvent(self, event: QCloseEvent) -> None:
        self.hide()  # storing everything and ending the engine may take a moment
        self.closing.emit()
        super().closeEvent(event)

    def _on_sidebar_wish(self, wanted: bool) -> None:
        self._wants_sidebar = wanted
        self._show_columns(*self._room_for(wanted, self._wants_charts, asked="sidebar"))

    def _on_charts_wish(self, wanted: bool) -> None:
        self._wants_charts = wanted
        self._show_columns(*self._room_for(self._wants_sidebar, wanted, asked="charts"))
        if wanted and self.charts.isHidden():
            self.notice.show_notice(tr("The window is too narrow for the charts. They open as soon as it is wider."))

    def _room_for(self, sidebar: bool, charts: bool, asked: str = "") -> tuple[bool, bool]:
        return columns(self.width(), sidebar, charts, asked, self.widths)

    def _show_columns(self, sidebar: bool, charts: bool) -> None:
        for widget, shown, action in (
            (self.sidebar, sidebar, self.commands.show_sidebar),
            (self.charts, charts, self.commands.show_charts),
        ):
            widget.setVisible(shown)
            action.setChecked(shown)
        left, right = self._sidebar_width * sidebar, self._charts_width * charts
        self._columns.setSizes([left, max(1, self.width() - left - right - sidebar - charts), right])

    def _on_moved(self) -> None:
        """The user chose other widths; a column that is folded keeps its own."""
        if self.sidebar.isVisible():
            self._sidebar_width = self.sidebar.width()
        if self.charts.isVisible():
            self._charts_width = self.charts.width()

    def _on_renaming_ended(self) -> None:
        """The field is gone: go on writing, unless the user pressed something else meanwhile."""
        if self.focusWidget() in (None, self.header.field, self.header.pill):
            self.composer.edit.setFocus()

    def _find(self) -> None:
        if not self.sidebar.isVisible():
            self._on_sidebar_wish(True)
        self.sidebar.search.setFocus()
        self.sidebar.search.selectAll()


def columns(
    width: int,
    sidebar: bool,
    charts: bool,
    asked: str = "",
    widths: tuple[int, int] = (SIDEBAR_WIDTH, CHARTS_WIDTH),
) -> tuple[bool, bool]:
    """Which of the wanted columns there is room for; one that was just `asked` for makes the other fold if need be.
    `widths` are those of sidebar and charts."""
    room, (left, right) = width - LEAST_TEXT, widths
    if asked == "charts" and charts and width >= BARE_TEXT + right:
        return sidebar and room >= left + right, True
    if asked == "sidebar" and sidebar:
        return True, charts and room >= left + right
    sidebar = sidebar and room >= left
    return sidebar, charts and room >= right + left * sidebar


def _line() -> QFrame:
    line = QFrame()
    line.setObjectName("line")
    line.setFixedHeight(1)
    line.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    return line
