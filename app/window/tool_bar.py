"""The bar above the composer that asks whether a tool may be called, and says which are being called."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from app.chat.calling import Wish
from app.language import tr
from app.widgets.plain import Label, tool_tip
from app.words import shortened_line

HIGHEST, AROUND = 96, 30
"""Pixels of the arguments, which are scrolled through where they are longer, and of the room around their lines."""
LONGEST_NAME = 60


class ToolBar(QWidget):
    """Hidden as long as there is nothing to ask or to say. Signals: decided(str): "ask" for this once, "always" or
    "never"; stop_wanted(): call nothing more."""

    decided = Signal(str)
    stop_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.says = Label(self)
        self.says.setWordWrap(True)
        self.arguments = QPlainTextEdit(self)
        self.arguments.setReadOnly(True)
        self.arguments.setObjectName("field")
        self.arguments.setTabChangesFocus(True)
        self.arguments.setAccessibleName(tr("Arguments of the call"))
        self.once = self._button(
            tr("Call it once"), "ask", tr("The tool is called now. You are asked again next time.")
        )
        self.once.setObjectName("primary")
        self.always = self._button(
            tr("Always"), "always", tr("This tool is called without asking, in every conversation.")
        )
        self.never = self._button(tr("Never"), "never", tr("This tool is not called, and the model is told so."))
        self.stop = QPushButton(tr("Stop"), self)
        self.stop.setAccessibleName(tr("Stop calling tools"))
        self.stop.clicked.connect(self.stop_wanted)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.says, 1)
        for button in (self.once, self.always, self.never, self.stop):
            row.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 8)
        column.setSpacing(8)
        column.addLayout(row)
        column.addWidget(self.arguments)
        self.show_state(None, ())

    def show_state(self, wish: Wish | None, running: Sequence[str]) -> None:
        """Ask about this call, or say which tools are being called; with neither there is nothing to see."""
        for widget in (self.once, self.always, self.never, self.arguments):
            widget.setVisible(wish is not None)
        self.stop.setVisible(bool(wish or running))
        if wish is not None:
            name = shortened_line(wish.tool.called, LONGEST_NAME)
            self.says.setText(
                tr(
                    "The model wants to call {name} of {shortened_line} with:",
                    name=name,
                    shortened_line=shortened_line(wish.tool.server, LONGEST_NAME),
                )
            )
            self.arguments.setPlainText(_laid_out(wish.call.arguments))
            lines = self.arguments.document().blockCount() * self.arguments.fontMetrics().lineSpacing()
            self.arguments.setFixedHeight(min(HIGHEST, lines + AROUND))
        elif running:
            self.says.setText(
                tr("Calling {shortened_line}…", shortened_line=shortened_line(", ".join(running), LONGEST_NAME))
            )
        self.setVisible(bool(wish or running))

    def _button(self, text: str, rule: str, about: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setToolTip(tool_tip(about))
        button.setAccessibleDescription(about)
        button.clicked.connect(lambda: self.decided.emit(rule))
        return button


def _laid_out(arguments: str) -> str:
    with suppress(ValueError, RecursionError):
        return json.dumps(json.loads(arguments), indent=2, ensure_ascii=False)
    return arguments
