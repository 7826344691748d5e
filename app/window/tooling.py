"""What the window has of tools: the dialog that chooses them, and the bar that asks before one is called."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QDialog

from app.chat.calling import Calling
from app.chat.session import Session
from app.language import plural
from app.settings import Settings
from app.tools.connections import Outcome
from app.tools.servers import ChosenTool, ToolServer
from app.window.tools_dialog import ToolsDialog
from app.window.window import Window
from engine import HeadstartError, keep_key


class Tooling(QObject):
    """Keeps the tool bar in step with `calling`, and opens the dialog. `show` puts a dialog on the screen."""

    def __init__(
        self,
        window: Window,
        session: Session,
        settings: Settings,
        calling: Calling,
        *,
        show: Callable[[QDialog], None],
        save_settings: Callable[[], None],
    ) -> None:
        super().__init__(window)
        self._window, self._session, self._settings, self._calling = window, session, settings, calling
        self._show, self._save_settings = show, save_settings
        self._dialog: ToolsDialog | None = None
        window.commands.tools.triggered.connect(self.choose)
        window.tool_bar.decided.connect(calling.decide)
        window.tool_bar.stop_wanted.connect(calling.stop)
        calling.changed.connect(self._on_changed)
        calling.said.connect(window.notice.show_notice)
        calling.failed.connect(window.notice.show_error)
        calling.rules_changed.connect(save_settings)
        calling.listed.connect(self._on_listed)
        session.conversation_changed.connect(self._say_how_many)
        session.settings_changed.connect(self._say_how_many)
        self._say_how_many()

    def choose(self) -> None:
        """Let the user add servers, and choose tools for the conversation in view."""
        model = self._session.model
        self._dialog = dialog = ToolsDialog(
            self._settings.tool_servers,
            self._session.conversation.tools,
            self._calling.rule_of,
            keep_key,
            self._window,
            has_tools=model is None or model.has_tools,
        )
        dialog.server_added.connect(self._add)
        dialog.server_removed.connect(self._remove)
        dialog.rule_chosen.connect(self._calling.set_rule)
        dialog.chosen_tools.connect(self._session.set_tools)
        dialog.finished.connect(self._end)
        for name, place in self._settings.tool_servers.items():
            self._ask(name, place)
        self._show(dialog)

    def _ask(self, name: str, place: str) -> None:
        try:
            self._calling.list_tools(ToolServer(name, place))
        except HeadstartError as error:
            self._on_listed(name, Outcome(0, sentence=str(error)))

    def _on_listed(self, name: str, outcome: Outcome) -> None:
        if self._dialog is None:
            return
        if outcome.sentence:
            self._dialog.show_problem(name, outcome.sentence)
        else:
            self._dialog.show_tools(name, outcome.tools)

    def _add(self, name: str, place: str) -> None:
        self._settings.tool_servers[name] = place
        self._save_settings()
        self._ask(name, place)

    def _remove(self, name: str) -> None:
        place = self._settings.tool_servers.pop(name, "")
        with suppress(HeadstartError):  # it was never one
            self._calling.forget(ToolServer(name, place))
        self._save_settings()

    def _end(self, result: int) -> None:
        self._dialog = None

    def _on_changed(self) -> None:
        self._window.tool_bar.show_state(self._calling.wish, self._calling.running)

    def _say_how_many(self, change: object = None) -> None:
        tools: tuple[ChosenTool, ...] = self._session.conversation.tools
        self._window.header.show_tools(
            plural("{count:,} tool", "{count:,} tools", len(tools)) if tools else "", [each.name for each in tools]
        )
