"""The dialog that says which servers of tools there are, and which of their tools a conversation has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon, QKeyEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.tools.servers import ChosenTool, Rule, ToolServer, name_of, with_own_names
from app.widgets.plain import Label, SoftLabel, tool_tip
from app.widgets.room import fit
from app.words import shortened_line
from engine import HeadstartError

ABOUT = (
    "Servers of the Model Context Protocol (MCP) give the model functions to call: a program of this computer, or an "
    "address. A tool that is ticked stands at the start of this conversation's prompt, so a change reads all of it "
    "again once; it is called only as you allow it."
)
ABOUT_SAFETY = "A server's program runs with your rights: add only what you trust."
NO_TOOLS = "The chat template of this model takes no tools, so questions with them are refused."
ASKING = "Asking the server…"
EMPTY = "This server has no tools."
ABOUT_KEY = "The key of a server at an address is kept in the keyring of this system, and sent to that address only."
RULES: dict[Rule, str] = {"ask": "Ask me first", "always": "Always", "never": "Never"}
SIZE = QSize(620, 480)
LONGEST = 200


class ToolsDialog(QDialog):
    """Shows `servers` (by name, their command or address), each with its tools once `show_tools` or `show_problem` has
    said what it has. `chosen` are those of the conversation in view. `rule_of` says whether a tool is called without
    asking.

    Signals: server_added(str, str), its name and place, after `keep_key` has stored the key of an address, or refused
    with HeadstartError, which stands below the fields then; server_removed(str); rule_chosen(ChosenTool, str);
    chosen_tools(tuple) when the dialog is accepted.
    """

    server_added = Signal(str, str)
    server_removed = Signal(str)
    rule_chosen = Signal(object, str)
    chosen_tools = Signal(object)

    def __init__(
        self,
        servers: Mapping[str, str],
        chosen: Sequence[ChosenTool],
        rule_of: Callable[[ChosenTool], Rule],
        keep_key: Callable[[str, str], None],
        parent: QWidget | None = None,
        *,
        has_tools: bool = True,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Tools")
        self.setModal(True)
        self._names = list(servers)
        self._rule_of, self._keep_key = rule_of, keep_key
        self._chosen = {(each.server, each.called): each for each in chosen}
        self._tools: dict[tuple[str, str], tuple[QTreeWidgetItem, ChosenTool]] = {}
        self._answered: set[str] = set()
        self.tree = QTreeWidget()
        self.tree.setHeaderLabels(["Tool", "When the model calls it"])
        self.tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.tree.header().setStretchLastSection(False)
        self.tree.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.tree.setAccessibleName("Servers and their tools")
        self.tree.currentItemChanged.connect(self._on_current)
        self.place = QLineEdit()
        self.place.setPlaceholderText("A command, or http://…")
        self.place.setAccessibleName("Command or address of a server")
        self.key = QLineEdit()
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.key.setPlaceholderText("Key, if any")
        self.key.setAccessibleName("Key of a server at an address")
        self.key.setToolTip(tool_tip(ABOUT_KEY))
        self.add = QPushButton("Add")
        self.add.setAutoDefault(False)
        self.add.clicked.connect(self._add)
        self.place.returnPressed.connect(self._add)
        self.key.returnPressed.connect(self._add)
        self.remove = QPushButton("Remove the server")
        self.remove.setAutoDefault(False)
        self.remove.setEnabled(False)
        self.remove.clicked.connect(self._remove)
        self.wrong = Label("")
        self.wrong.setWordWrap(True)
        self.wrong.hide()
        self._lay_out(has_tools)
        for name, place in servers.items():
            self._show_server(name, place)

    def show_tools(self, server: str, tools: Sequence[ChosenTool]) -> None:
        """These are the tools of a server."""
        top = self._top(server)
        if top is None:
            return
        states = {key: item.checkState(0) for key, (item, _) in self._tools.items() if key[0] == server}
        self._tools = {key: value for key, value in self._tools.items() if key[0] != server}
        self._answered.add(server)
        top.takeChildren()
        for tool in tools:
            item = QTreeWidgetItem(top, [shortened_line(tool.called, LONGEST)])
            key = tool.server, tool.called
            first = Qt.CheckState.Checked if key in self._chosen else Qt.CheckState.Unchecked
            item.setCheckState(0, states.get(key, first))
            item.setToolTip(0, tool_tip(tool.description))
            self._tools[key] = item, tool
            self.tree.setItemWidget(item, 1, self._rules(tool))
        if not tools:
            _line(top, EMPTY)

    def show_problem(self, server: str, sentence: str) -> None:
        """A server does not say which tools it has; those that the conversation has of it stay as they are."""
        if (top := self._top(server)) is not None:
            self.show_tools(server, [each for each in self._chosen.values() if each.server == server])
            top.insertChild(0, _line(None, sentence))

    def selected(self) -> tuple[ChosenTool, ...]:
        """The tools that are ticked, and those of servers that have not answered yet. What a server has no longer is
        none."""
        ticked = [tool for item, tool in self._tools.values() if item.checkState(0) == Qt.CheckState.Checked]
        unknown = set(self._names) - self._answered
        waiting = [each for each in self._chosen.values() if each.server in unknown]
        return with_own_names([*ticked, *waiting])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter in a field for a server adds it; in the rest of the dialog it presses the button."""
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if not (is_enter and self.focusWidget() in (self.place, self.key)):
            super().keyPressEvent(event)

    def accept(self) -> None:
        self.chosen_tools.emit(self.selected())
        super().accept()

    def _lay_out(self, has_tools: bool) -> None:
        whole = QVBoxLayout(self)
        whole.setContentsMargins(24, 24, 24, 24)
        whole.setSpacing(12)
        for text in (ABOUT, ABOUT_SAFETY, *([] if has_tools else [NO_TOOLS])):
            note = SoftLabel(text)
            note.setWordWrap(True)
            whole.addWidget(note)
        whole.addWidget(self.tree, 1)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.place, 2)
        row.addWidget(self.key, 1)
        row.addWidget(self.add)
        whole.addLayout(row)
        whole.addWidget(self.wrong)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        buttons.button(QDialogButtonBox.StandardButton.Ok).setText("Use in this conversation")
        buttons.button(QDialogButtonBox.StandardButton.Ok).setObjectName("primary")
        for button in buttons.buttons():
            button.setIcon(QIcon())
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        last = QHBoxLayout()
        last.addWidget(self.remove)
        last.addStretch(1)
        last.addWidget(buttons)
        whole.addLayout(last)
        fit(self, SIZE)

    def _show_server(self, name: str, place: str) -> None:
        top = QTreeWidgetItem(self.tree, [name])
        top.setToolTip(0, tool_tip(place))
        top.setData(0, Qt.ItemDataRole.UserRole, name)
        top.setFirstColumnSpanned(True)
        _line(top, ASKING)
        top.setExpanded(True)

    def _rules(self, tool: ChosenTool) -> QComboBox:
        box = QComboBox()
        box.addItems(list(RULES.values()))
        box.setCurrentIndex(list(RULES).index(self._rule_of(tool)))
        box.setAccessibleName(f"When the model calls {tool.called}")
        box.activated.connect(lambda number: self.rule_chosen.emit(tool, list(RULES)[number]))
        return box

    def _add(self) -> None:
        place = self.place.text().strip()
        name = name_of(place, self._names)
        try:
            server = ToolServer(name, place)
            if server.is_address and self.key.text():
                self._keep_key(place, self.key.text())
        except HeadstartError as error:
            self.wrong.setText(str(error))
            self.wrong.show()
            return
        self.wrong.hide()
        self.place.clear()
        self.key.clear()
        self._names.append(name)
        self._show_server(name, place)
        self.server_added.emit(name, place)

    def _remove(self) -> None:
        if (item := self.tree.currentItem()) is None:
            return
        top = item.parent() or item
        name = top.data(0, Qt.ItemDataRole.UserRole)
        self.tree.takeTopLevelItem(self.tree.indexOfTopLevelItem(top))
        self._names.remove(name)
        self._tools = {key: value for key, value in self._tools.items() if key[0] != name}
        self._answered.discard(name)
        self.server_removed.emit(name)

    def _top(self, server: str) -> QTreeWidgetItem | None:
        items = [self.tree.topLevelItem(number) for number in range(self.tree.topLevelItemCount())]
        return next((each for each in items if each and each.data(0, Qt.ItemDataRole.UserRole) == server), None)

    def _on_current(self, item: QTreeWidgetItem | None, before: QTreeWidgetItem | None = None) -> None:
        self.remove.setEnabled(item is not None)


def _line(top: QTreeWidgetItem | None, text: str) -> QTreeWidgetItem:
    """A line under a server that is no tool."""
    item = QTreeWidgetItem([text]) if top is None else QTreeWidgetItem(top, [text])
    item.setFlags(Qt.ItemFlag.ItemIsEnabled)
    item.setToolTip(0, tool_tip(text))
    return item
