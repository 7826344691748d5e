"""The tree of runs under the mouse and the keyboard: zoom, pan, look at one, open it, pin, unpin or drop it."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QColor,
    QContextMenuEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QMenu, QSizePolicy, QWidget

from app.charts.tree import words as tree_words
from app.charts.tree.camera import MARGIN, TALLEST_ROW, Camera
from app.charts.tree.layout import TreeLayout, find_again, lay_out
from app.charts.tree.picture import Painted, TreePicture
from app.charts.tree.words import Titles
from app.language import tr
from app.theme import BODY, Theme, text_font
from app.widgets.plain import tool_tip
from app.widgets.role import role
from engine import CacheView, NodeView

DEGREES_A_STEP = 120
MOST_TITLES = 8


@role(QAccessible.Role.Tree)
class TreeView(QWidget):
    """Attributes: layout_, camera, titles, painted (what the last repaint drew).

    The run in the details is the current one: the one that was clicked or that the keys went to, else the last the
    mouse was over; a click beside the tree lets go of it. It stays the same run when the tree changes, and there is
    none once it is gone. Enter or a double click opens it.

    Signals: current_changed(); open_wanted(int conversation, int token, str text): show this conversation where the run
    with this text begins; pin_wanted(NodeView), unpin_wanted(NodeView), drop_wanted(NodeView).
    """

    current_changed = Signal()
    open_wanted = Signal(object, int, str)
    pin_wanted = Signal(object)
    unpin_wanted = Signal(object)
    drop_wanted = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.layout_ = TreeLayout()
        self.camera = Camera()
        self.titles: Titles = {}
        self.painted = Painted()
        self._theme = theme
        self._current = -1
        self._pressed: QPoint | None = None
        self._dragged: QPoint | None = None
        self._chosen = False  # by a click: what the mouse only passes over leaves that alone
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(240, 120)
        self.setAccessibleName(tr("Tree of shared beginnings"))

    @property
    def current(self) -> int:
        """The index of the current run, -1 for none."""
        return self._current

    @property
    def current_node(self) -> NodeView | None:
        """The current run."""
        return self.layout_.nodes[self._current] if self._current >= 0 else None

    @property
    def height_of_tree(self) -> int:
        """Pixels that all rows take where there is room for them, with what is left free around them."""
        return round(self.camera.rows * TALLEST_ROW + 2 * MARGIN)

    def show_view(self, view: CacheView, titles: Titles) -> None:
        """Show a newer picture of the cache. The current run stays where it is, as far as it is still there."""
        self.titles = titles
        before = self.current_node
        stood = self._corner(self._current)
        self.layout_ = lay_out(view.nodes)
        self._current = find_again(before, self.layout_.nodes) if before else -1
        self._chosen = self._chosen and self._current >= 0
        self._frame()
        if self._current >= 0 and not self.camera.fits:
            stands = self._corner(self._current)
            self.camera.pan(stood[0] - stands[0], stood[1] - stands[1])
        self._tell_current()
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of this theme from now on."""
        self._theme = theme
        self.update()

    def set_current(self, index: int) -> None:
        """Make a run the current one."""
        if index != self._current:
            self._current = index
            self._tell_current()
            self.update()

    def zoom(self, steps: float, at: QPointF | None = None) -> None:
        """Zoom in by so many steps around a point; None takes the middle of the current run, or of the view."""
        point = at or self._focus()
        self.camera.zoom_by(steps, point.x(), point.y())
        self.update()

    def fit(self) -> None:
        """Show the whole tree."""
        self.camera.fit()
        self.update()

    def menu(self) -> QMenu | None:
        """The menu of what can be done with the current run; None where there is none."""
        node = self.current_node
        if node is None:
            return None
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        for owner in tree_words.owners(node, self.titles)[:MOST_TITLES]:
            action = menu.addAction(tr("Open “{title}”", title=owner.title.replace("&", "&&")))
            action.setEnabled(owner.id != 0)
            action.triggered.connect(
                lambda _=False, number=owner.id: self.open_wanted.emit(number, node.start, node.text)
            )
        menu.addSeparator()
        if node.pinned:
            menu.addAction(tr("Un&pin, with all behind it")).triggered.connect(lambda: self.unpin_wanted.emit(node))
        elif tree_words.is_behind(node):
            pin = menu.addAction(tr("&Pin: not while it is {place} only", place=tree_words.place(node)))
            pin.setToolTip(tool_tip(tree_words.CANNOT_PIN))
            pin.setEnabled(False)
        else:
            menu.addAction(tr("&Pin, with all before it")).triggered.connect(lambda: self.pin_wanted.emit(node))
        drop = menu.addAction(tr("&Drop ({freed})", freed=tree_words.freed(self.layout_, self._current)))
        drop.triggered.connect(lambda: self.drop_wanted.emit(node))
        return menu

    def open_current(self) -> None:
        """Open the conversation of the current run; where it belongs to several, ask which."""
        node = self.current_node
        named = [owner for owner in tree_words.owners(node, self.titles) if owner.id] if node else []
        if node and len(named) == 1:
            self.open_wanted.emit(named[0].id, node.start, node.text)
        elif named:
            self._pop_up(self._focus().toPoint())

    def sizeHint(self) -> QSize:
        return QSize(920, 480)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(self._theme.page))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self.layout_.nodes:
            painter.setFont(text_font(BODY))
            painter.setPen(QColor(self._theme.soft))
            empty = tr("Nothing is remembered yet. Send a message, and what it shares with others appears here.")
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, empty)
        else:
            picture = TreePicture(self.layout_, self.camera, self.titles, self._theme, self._current)
            self.painted = picture.paint(painter)
        if self.hasFocus():
            painter.setPen(QColor(self._theme.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._frame()

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned, sideways = event.angleDelta().y(), event.angleDelta().x()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.camera.pan((sideways or turned) / 2, 0)
            self.update()
        elif turned:
            self.zoom(turned / DEGREES_A_STEP, event.position())
        else:
            self.camera.pan(sideways / 2, 0)
            self.update()
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed = self._dragged = event.position().toPoint()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = event.position().toPoint()
        if self._pressed is None or self._dragged is None:
            if not self._chosen:
                self._look_at(at)
            return
        if (at - self._pressed).manhattanLength() >= QApplication.startDragDistance():
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
        if self.cursor().shape() == Qt.CursorShape.ClosedHandCursor:
            self.camera.pan(at.x() - self._dragged.x(), at.y() - self._dragged.y())
            self._dragged = at
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self._pressed is None:
            return
        dragging = self.cursor().shape() == Qt.CursorShape.ClosedHandCursor
        self._pressed = self._dragged = None
        self.unsetCursor()
        at = event.position().toPoint()
        if not dragging:
            self._chosen = self._look_at(at)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._pressed = self._dragged = None
        if event.button() == Qt.MouseButton.LeftButton and self._look_at(event.position().toPoint()):
            self.open_current()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            self._pop_up(self._focus().toPoint())
        elif self._look_at(event.pos()):
            self._pop_up(event.pos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows walk the tree, + and - zoom, 0 shows all, Enter opens, P pins or unpins, Delete drops."""
        key, node = Qt.Key(event.key()), self.current_node
        if key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus):
            self.zoom(-1 if key == Qt.Key.Key_Minus else 1)
        elif key == Qt.Key.Key_0:
            self.fit()
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._walk(key)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.open_current()
        elif key == Qt.Key.Key_P and node:
            (self.unpin_wanted if node.pinned else self.pin_wanted).emit(node)
        elif key == Qt.Key.Key_Delete and node:
            self.drop_wanted.emit(node)
        else:
            event.ignore()

    def _frame(self) -> None:
        self.camera.show(self.layout_.width, self.layout_.rows, self.width(), self.height())

    def _corner(self, index: int) -> tuple[float, float]:
        """The top left of a run in the view, in pixels."""
        box = self.layout_.boxes[index] if index >= 0 else None
        return self.camera.to_view(box.x, box.y) if box else (0.0, 0.0)

    def _look_at(self, at: QPoint) -> bool:
        """Make the run at a pixel the current one; False where there is none."""
        found = self.layout_.at(*self.camera.to_tree(at.x(), at.y()))
        if found >= 0:
            self.set_current(found)
        return found >= 0

    def _walk(self, key: Qt.Key) -> None:
        if not self.layout_.nodes:
            return
        self._chosen = True
        if self._current < 0:
            self.set_current(self.layout_.roots[0])
        else:
            self.set_current(neighbour(self.layout_, self._current, key))
        box = self.layout_.boxes[self._current]
        self.camera.reveal(box.x, box.y, box.width, box.height)
        self.update()

    def _focus(self) -> QPointF:
        """The middle of the visible part of the current run, or of the view where no run is current."""
        shown = self.rect().toRectF()
        if self._current >= 0:
            block = TreePicture(self.layout_, self.camera, self.titles, self._theme).block(self._current)
            seen = block.intersected(shown)
            shown = shown if seen.isEmpty() else seen
        return shown.center()

    def _pop_up(self, at: QPoint) -> None:
        if menu := self.menu():
            menu.popup(self.mapToGlobal(at))

    def _tell_current(self) -> None:
        node = self.current_node
        says = f"{tree_words.titles_of(node, self.titles)}: {tree_words.figures(node)}" if node else ""
        if says != self.accessibleDescription():
            self.setAccessibleDescription(says)
        self.current_changed.emit()


def neighbour(layout: TreeLayout, index: int, key: Qt.Key) -> int:
    """The run an arrow key leads to: left the one before, right the first behind, up and down within the column."""
    node = layout.nodes[index]
    if key == Qt.Key.Key_Left:
        return node.parent if 0 <= node.parent < index else index
    if key == Qt.Key.Key_Right:
        return layout.children[index][0] if layout.children[index] else index
    box = layout.boxes[index]
    column = [(other.y, i) for i, other in enumerate(layout.boxes) if other.depth == box.depth]
    if key == Qt.Key.Key_Up:
        return max((place for place in column if place[0] < box.y), default=(0.0, index))[1]
    return min((place for place in column if place[0] > box.y), default=(0.0, index))[1]
