"""All versions of a conversation at a glance: where it branches, and which branch is in view."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.history.records import Outlined
from app.widgets.plain import SoftLabel, tool_tip
from app.widgets.room import fit
from app.words import shortened_line

NAMES = {"user": "You", "assistant": "Answer", "tool": "Tool"}
LONGEST = 90
"""Characters of a message that are shown."""
SIZE = (640, 520)
ABOUT = "Messages below each other follow each other; where there are versions, what follows each is within it."


class BranchesDialog(QDialog):
    """A tree that goes deeper only where a conversation branches. The branch in view is bold. Signals: chosen(int), the
    message whose branch is to be shown, on Enter or a double click."""

    chosen = Signal(object)

    def __init__(self, outline: Sequence[Outlined], in_view: Collection[int], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Versions of this conversation")
        self.setModal(True)
        self.tree = QTreeWidget(self)
        self.tree.setHeaderHidden(True)
        self.tree.setAccessibleName("Versions of this conversation")
        self.tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.tree.itemActivated.connect(self._on_activated)
        self.tree.ensurePolished()  # rows are measured as they are chosen, and keep the height that they have then
        self._fill(outline, in_view)
        about = SoftLabel(ABOUT, self)
        about.setWordWrap(True)
        kinds = QDialogButtonBox.StandardButton
        buttons = QDialogButtonBox(kinds.Open | kinds.Close, self)
        for button in buttons.buttons():
            button.setIcon(QIcon())
        buttons.button(kinds.Open).setText("Show")
        buttons.accepted.connect(lambda: self._on_activated(self.tree.currentItem()))
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(12)
        column.addWidget(about)
        column.addWidget(self.tree, 1)
        column.addWidget(buttons)
        self.resize(*SIZE)
        fit(self, self.size())

    def _fill(self, outline: Sequence[Outlined], in_view: Collection[int]) -> None:
        below: dict[int | None, int] = {}
        for message in outline:
            below[message.parent_id] = below.get(message.parent_id, 0) + 1
        versions = {message.id for message in outline if below[message.parent_id] > 1}
        items: dict[int | None, QTreeWidgetItem] = {}
        for message in outline:
            before = items.get(message.parent_id)
            place: QTreeWidgetItem | None = before
            if before is not None and below[message.parent_id] == 1 and message.parent_id not in versions:
                place = before.parent()  # it goes on without a branch: below what it follows, not within it
            item = items[message.id] = self._item(message, message.id in in_view)
            if place is None:
                self.tree.addTopLevelItem(item)
            else:
                place.addChild(item)
            if message.id in in_view:
                self.tree.setCurrentItem(item)
        self.tree.expandAll()

    def _item(self, message: Outlined, is_in_view: bool) -> QTreeWidgetItem:
        line = shortened_line(message.begins, LONGEST)
        item = QTreeWidgetItem([f"{NAMES.get(message.role, 'Message')}: {line}"])
        item.setData(0, Qt.ItemDataRole.UserRole, message.id)
        item.setToolTip(0, tool_tip(line))
        item.setFont(0, theme.text_font(bold=is_in_view))
        return item

    def _on_activated(self, item: QTreeWidgetItem | None, column: int = 0) -> None:
        if item is not None:
            self.chosen.emit(item.data(0, Qt.ItemDataRole.UserRole))
            self.accept()
