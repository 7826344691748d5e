"""The composition root: builds everything once, starts it in order, and ends it in the opposite order."""

from __future__ import annotations

import argparse
import locale
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget

from app import theme, updates
from app.charts.presenter import ChartPresenter
from app.charts.tree.presenter import TreePresenter
from app.chat.bridge import Bridge
from app.chat.calling import Calling
from app.chat.filing import Filing
from app.chat.rewriting import Rewriting
from app.chat.savings import SavedTotal
from app.chat.session import Session
from app.chat.titles import Titles
from app.command.arguments import spec_of
from app.command.ending import Ending, handled
from app.command.logs import end_logging
from app.composer.attaching import Attaching
from app.composer.trimming import Trimming
from app.exchange.backup import put_back
from app.history.errors import InUseError
from app.history.history import History, default_path
from app.history.records import label_of
from app.language import tr
from app.licences import own_version
from app.models.presenter import ModelsPresenter
from app.own_data import delete, everything
from app.placeholders import Values, current_values
from app.proof.presenter import ProofPresenter
from app.settings import Settings, disk_bytes, model_spec
from app.settings import default_path as settings_path
from app.sidebar.badges import Badges
from app.system_prompt.presets import kept_presets
from app.tools.connections import Connections
from app.transcript.cure_offer import CureOffer
from app.translations import dress
from app.widgets.message_box import MessageBox
from app.window.answered_by import AnsweredBy
from app.window.conversation_model import ConversationModel
from app.window.dialogs import Dialogs
from app.window.exchanging import Exchanging
from app.window.filing_presenter import FilingPresenter
from app.window.finding import Finding
from app.window.one_window import OneWindow, show_first
from app.window.presenter import Presenter
from app.window.ready_note import ReadyNote
from app.window.rewriting_presenter import RewritingPresenter
from app.window.serving import Serving
from app.window.tooling import Tooling
from app.window.updating import Updating
from app.window.window import Window
from engine import EitherEngine, EnginePort, HeadstartError, ModelSpec, graphics_begins, graphics_notice, graphics_ready

DESKTOP_ID = "org.headstart.Headstart"
"""What desktops know the program by: the name of its desktop file, as in packaging/app.toml."""

UNSEEN = ("offscreen", "minimal")
"""Platforms of Qt that have no screen."""


class Application(QObject):
    """The running program: who is there, and what each is given. Nobody but the window's own presenters knows the whole
    window; the others get their widget and functions to call.

    `to_delete` says that the user wants all their data deleted, `to_restore` is a folder with what is to be put in its
    place: `run` does that once everything is closed.
    """

    def __init__(
        self,
        engine: EnginePort,
        settings: Settings,
        history_path: Path,
        values: Callable[[], Values] = current_values,
    ) -> None:
        super().__init__()
        self.settings = settings
        self.history = History(history_path)
        self._engine = engine
        self.bridge = Bridge(engine)
        self.session = Session(self.bridge, self.history, settings, values=values)
        self.session.residents.wanted = partial(kept_presets, self.history.presets)
        self.filing = Filing(self.session, self.history, self)
        self.titles = Titles(self.session, self.bridge, settings, self)
        self.rewriting = Rewriting(self.session, self.history, self.bridge, self)
        self.apply_theme()
        theme.set_text_percent(settings.text_percent)
        self.window = Window()
        self._closed = False
        self.to_delete = False
        self.to_restore: TemporaryDirectory[str] | None = None
        self.engine_ended = False
        self._fill_window()
        self._fill_columns()
        self._connect()

    def _fill_window(self) -> None:
        """Those who look after the whole window, and those who speak in its notice."""
        window, session, bridge, settings = self.window, self.session, self.bridge, self.settings
        self.presenter = Presenter(window, session, self.filing, self.rewriting, bridge, _support_prompt())
        set_system_prompt = self.presenter.set_system_prompt
        self.ready_note = ReadyNote(window, session, self.presenter.open)
        self.updating = Updating(updates.source(), own_version(), window.notice, self)
        self.answered_by = AnsweredBy(
            window.header, session, bridge, self.history.servers, say_error=window.notice.show_error
        )
        self.dialogs = Dialogs(
            window,
            session,
            bridge,
            settings,
            self.history.presets,
            self.answered_by,
            set_system_prompt=set_system_prompt,
            choose_theme=self.choose_theme,
            save_settings=self._save_settings,
            delete_data=self._close_and_delete,
            updating=self.updating,
        )
        self.models = ModelsPresenter(
            window,
            session,
            bridge,
            settings,
            look_at=self.dialogs.look_at,
            show=self.dialogs.show,
            offer=partial(window.notice.show_offer, is_error=False),
            save_settings=self._save_settings,
        )
        self.conversation_model = ConversationModel(
            window.notice,
            session,
            bridge,
            self.history.models,
            servers=self.history.servers,
            load=self.dialogs.load,
        )
        window.commands.models.triggered.connect(self.models.open)
        self.calling = Calling(session, settings, Connections(), self)
        self.tooling = Tooling(
            window, session, settings, self.calling, show=self.dialogs.show, save_settings=self._save_settings
        )
        self.filing_presenter = FilingPresenter(window, session, self.filing, self.titles, self.dialogs.show)
        self.finding = Finding(window, session)
        self.rewriting_presenter = RewritingPresenter(
            window, session, self.rewriting, self.filing, self.answered_by, self.dialogs.show
        )
        say, say_error = window.notice.show_notice, window.notice.show_error
        self.proving = ProofPresenter(window, session, bridge, self.history, say=say, say_error=say_error)
        self.cure_offer = CureOffer(
            window.transcript, session, set_system_prompt=set_system_prompt, prove=self.proving.prove, say=say
        )
        self.exchanging = Exchanging(
            window,
            session,
            self.history,
            settings_path(),
            say=say,
            say_error=say_error,
            restore=self._close_and_restore,
        )
        self.trimming = Trimming(
            session,
            bridge,
            settings,
            send=lambda: self.presenter.send(window.composer.text),
            say=say,
            offer=window.notice.show_offer,
            take_back=window.notice.clear,
            parent=window,
        )

        self.attaching = Attaching(
            window.composer,
            session,
            say=say,
            say_error=say_error,
            offer=window.notice.show_offer,
            take_back=window.notice.clear,
            parent=window,
        )

    def _fill_columns(self) -> None:
        """Those who look after the charts and the badges of the conversations."""
        window, session, bridge = self.window, self.session, self.bridge
        show_message = window.transcript.show_message
        self.chart_presenter = ChartPresenter(
            window.charts,
            session,
            bridge,
            self.history,
            SavedTotal(session.answers, self.settings, self),
            show_message=show_message,
            say=window.notice.show_notice,
            say_error=window.notice.show_error,
        )
        self.tree_presenter = TreePresenter(window.charts, session, bridge, show_message)
        self.serving = Serving(
            window.commands.serve,
            self._engine,
            bridge,
            self.settings,
            say=window.notice.show_notice,
            say_error=window.notice.show_error,
            save_settings=self._save_settings,
            parent=self,
        )
        self.serving.answered.connect(self.chart_presenter.add_programs)
        self.serving.answered.connect(self.tree_presenter.refresh_soon)
        self.badges = Badges(window.sidebar.list, session, bridge, session.next_turn)

    def _connect(self) -> None:
        for name, action in self.window.commands.themes.items():
            action.triggered.connect(partial(self.choose_theme, name))
        self.window.commands.themes[self.settings.theme].setChecked(True)
        _app().styleHints().colorSchemeChanged.connect(self._on_system_scheme)
        self.window.transcript.wishes.figures.connect(self._on_figures)
        self.window.transcript.show_figures(self.settings.show_figures)
        self.window.charts.set_folded(self.settings.folded)
        self.window.charts.folded_changed.connect(self._on_folded)
        for action, steps in (
            (self.window.commands.larger, 1),
            (self.window.commands.smaller, -1),
            (self.window.commands.usual_size, 0),
        ):
            action.triggered.connect(partial(self._on_text_size, steps))
        self.window.commands.tree.triggered.connect(self.tree_presenter.open)
        self.window.commands.prove.triggered.connect(self.proving.prove_newest)
        self.window.transcript.wishes.prove.connect(self.proving.prove)
        self.window.closing.connect(self.tree_presenter.close)
        self.window.closing.connect(self.close)
        self.bridge.loaded.connect(lambda _: graphics_ready())

    def open(self, spec: ModelSpec | None = None) -> None:
        """Show the window, then load the model; None takes the one of the settings."""
        self.window.set_geometry_text(self.settings.window_geometry)
        self.window.set_widths(self.settings.sidebar_width, self.settings.charts_width)
        self.window.set_wishes(self.settings.show_sidebar, self.settings.show_charts)
        self.window.show()
        self.window.composer.edit.setFocus()
        said = (self.settings.notice, self.history.notice, graphics_notice())
        if notices := [notice for notice in said if notice]:
            self.window.notice.show_notice(" ".join(notices))
        if self.settings.look_for_updates:
            self.updating.ask()
        self.session.answers.load(spec or model_spec(self.settings))

    def open_files(self, conversations: str, model: str = "") -> None:
        """Take in conversations from a file, and open a model, that the desktop opened with Headstart; "" for none."""
        if conversations:
            self.exchanging.take_in(Path(conversations))
        if model and not (self.session.model and self.session.model.path == model):
            self.session.answers.load(model_spec(self.settings, model))

    def delete_left_overs(self) -> None:
        """Have the engine delete from disk what belongs to no conversation, or may not be kept there: the program may
        have ended before a deletion did. Call it at the start, and only with the user's own conversations."""
        try:
            conversations = self.history.conversations()
        except HeadstartError as error:
            self.window.notice.show_error(str(error), error.detail)
            return
        self.session.forgetting.begin()
        living = [*(label_of(each.id) for each in conversations), *self.session.residents.labels]
        self.bridge.tell("keep_only", living)
        if disk_bytes(self.settings) == 0:
            self.bridge.tell("set_disk_budget", 0)

    def choose_theme(self, setting: str, checked: bool = True) -> None:
        """Use and remember "system", "light" or "dark"."""
        self.settings.theme = setting  # type: ignore[assignment]
        self.window.commands.themes[setting].setChecked(True)
        if theme.resolve(self.settings.theme, _app()) is not theme.current():
            self.presenter.change_look(self.apply_theme)
            self._colour_charts()
        self._save_settings()

    def change_text_size(self, steps: int) -> None:
        """Show messages so many sizes larger, or smaller where it is below 0; 0 goes back to the usual size."""
        sizes, now = theme.TEXT_PERCENTS, self.settings.text_percent
        nearest = min(range(len(sizes)), key=lambda place: abs(sizes[place] - now))
        wanted = sizes[min(max(nearest + steps, 0), len(sizes) - 1)] if steps else 100
        if wanted == now:
            return
        self.settings.text_percent = wanted
        self.presenter.change_look(lambda: theme.set_text_percent(wanted))
        self._save_settings()

    def apply_theme(self) -> None:
        """Give the program the theme of the settings."""
        theme.apply(_app(), theme.resolve(self.settings.theme, _app()))

    def close(self) -> None:
        """Store everything and end the engine; `engine_ended` then says whether its thread did. Safe to call twice; the
        window calls it when it is closed."""
        if self._closed:
            return
        self._closed = True
        self.window.notice.clear()  # what could be undone until now is final, while the engine can be told
        _app().styleHints().colorSchemeChanged.disconnect(self._on_system_scheme)
        self.settings.window_geometry = self.window.geometry_text()
        self.settings.show_sidebar, self.settings.show_charts = self.window.wishes
        self.settings.sidebar_width, self.settings.charts_width = self.window.widths
        self._save_settings()
        self.window.transcript.clear()
        self.attaching.stop()
        self.exchanging.stop()
        self.models.stop()
        self.conversation_model.stop()
        self.badges.close()
        self.updating.stop()
        self.calling.close()
        self.session.shutdown()
        self.history.close()
        self.serving.close()
        self.engine_ended = self.bridge.close()

    def _close_and_delete(self) -> None:
        """End the program; what is to be deleted is deleted when nothing has it open any more."""
        self.to_delete = True
        self.window.close()

    def _close_and_restore(self, folder: TemporaryDirectory[str]) -> None:
        """End the program; what is in the folder is put in place when nothing has it open any more."""
        self.to_restore = folder
        self.window.close()

    def _on_system_scheme(self, scheme: Qt.ColorScheme) -> None:
        if self.settings.theme == "system":
            self.presenter.change_look(self.apply_theme)
            self._colour_charts()

    def _colour_charts(self) -> None:
        self.window.charts.set_theme(theme.current())
        self.tree_presenter.set_theme()

    def _on_figures(self) -> None:
        self.settings.show_figures = not self.settings.show_figures
        self.window.transcript.show_figures(self.settings.show_figures)
        self._save_settings()

    def _on_text_size(self, steps: int, checked: bool = False) -> None:
        self.change_text_size(steps)

    def _on_folded(self, folded: str) -> None:
        self.settings.folded = folded
        self._save_settings()

    def _save_settings(self) -> None:
        try:
            self.settings.save()
        except HeadstartError as error:
            self.window.notice.show_error(str(error), error.detail)


def build(
    engine: EnginePort,
    settings: Settings,
    history_path: Path | None = None,
    values: Callable[[], Values] = current_values,
) -> Application:
    """Everything but the loaded model; `open` shows it. `values` are what placeholders in system prompts stand for.

    Raises HeadstartError when the conversations cannot be read.
    """
    return Application(engine, settings, history_path or default_path(), values)


def run(options: argparse.Namespace) -> int:
    """Open the window and stay until it is closed. `options` are those of the command line.

    Where another Headstart has the conversations open, its window comes to the front instead. Raises HeadstartError
    when settings or conversations cannot be read, after a box has said so on the screen.
    """
    app = qt_application()
    dress(app)
    engine = EitherEngine()
    try:
        settings = Settings.load()
        application = build(engine, settings)
    except HeadstartError as error:
        engine.close()
        if isinstance(error, InUseError) and show_first(
            default_path(), options.conversations or "", options.model or ""
        ):
            print("Headstart is open already; its window is in front now.")
            return 0
        say_on_screen(error)
        raise
    with ended_by_signals(application.window) as ending:
        # Who reads a copy does not hold the lock, and would take the socket of the Headstart that does.
        is_owner = not application.history.file.is_read_only
        own = application.window, default_path(), application.open_files
        one_window = OneWindow(*own) if is_owner else None
        try:
            graphics_begins()
            application.open(spec_of(options, settings))
            if options.conversations:
                application.open_files(options.conversations)
            application.delete_left_overs()
            status = app.exec()
        finally:
            if one_window:
                one_window.close()
            application.close()
            graphics_ready()
    if application.to_delete:
        delete_data()
    if application.to_restore:
        restore_data(application.to_restore)
    return leave(ending.status(status), application.engine_ended)


def delete_data() -> None:
    """Delete the user's data after everything is closed, what was stored on closing too; say what could not be."""
    end_logging()  # a line would make the log anew
    if left := delete(everything()):
        error = HeadstartError(f"Not everything could be deleted. What is left: {left[0]}.", "\n".join(left))
        say_on_screen(error)
        print(f"headstart: {error}", file=sys.stderr)


def restore_data(folder: TemporaryDirectory[str]) -> None:
    """Put a backup in place after everything is closed; say where that failed."""
    with folder:
        try:
            put_back(Path(folder.name), default_path(), settings_path())
        except HeadstartError as error:
            say_on_screen(error)
            print(f"headstart: {error}", file=sys.stderr)


def leave(status: int, engine_ended: bool) -> int:
    """The status to end the process with. Where the engine's thread goes on, the process ends here: the thread is
    inside torch, which must not be taken apart while it computes."""
    if not engine_ended:
        logging.shutdown()
        os._exit(status)
    return status


@contextmanager
def ended_by_signals(window: QWidget) -> Iterator[Ending]:
    """Signals close the window, as the user would, and whatever dialog is open over it. It is closed by Qt's event
    loop, never in the middle of what is being done. Python sees a signal only while it runs, hence the timer."""
    ending = Ending()

    def close() -> None:
        window.close()
        _app().closeAllWindows()

    def end(number: int) -> None:
        ending.number = ending.number or number
        QTimer.singleShot(0, close)

    wake = QTimer()
    wake.timeout.connect(lambda: None)
    wake.start(250)
    try:
        with handled(end):
            yield ending
    finally:
        wake.stop()


def say_on_screen(error: HeadstartError) -> None:
    """Why there is no window, for those who started it without a terminal. Waits for the click; not where nobody sees
    the screen."""
    if QGuiApplication.platformName() in UNSEEN:
        return
    app = qt_application()
    theme.apply(app, theme.resolve("system", app))
    box = MessageBox(None, "Headstart", str(error))
    box.set_details(error.detail)
    box.add(tr("Close"), kind="primary")
    box.exec()


def qt_application() -> QApplication:
    """The QApplication of this process, made where there is none yet."""
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    # Qt takes over the system's language for all of the process: the dates of chat templates would follow it.
    for category in (locale.LC_TIME, locale.LC_NUMERIC):
        locale.setlocale(category, "C")
    app.setApplicationName("Headstart")
    app.setDesktopFileName(DESKTOP_ID)
    return app


def _app() -> QApplication:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    return app


def _support_prompt() -> str:
    """The system prompt that the empty window offers to try; "" where its file is missing."""
    try:
        return (files("resources") / "demo" / "support_bot.md").read_text("utf-8").strip()
    except OSError:
        return ""
