"""What happens to errors that nobody caught: a line in the log, and one dialog with details to copy.

Nothing in here may raise: a hook that fails falls back to standard error.
"""

from __future__ import annotations

import faulthandler
import logging
import sys
import threading
import traceback
from pathlib import Path
from types import TracebackType
from typing import TextIO

from PySide6.QtCore import QMessageLogContext, QMetaObject, QObject, Qt, QtMsgType, Slot, qInstallMessageHandler
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from app.files import keep_private, refuse_pipe
from app.language import tr
from app.widgets.message_box import MessageBox

log = logging.getLogger("headstart.crash")

MOST_DETAILS = 20
_QT_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


class CrashHooks(QObject):
    """The hooks of this process. Make and install one on the GUI thread; `uninstall` puts back what was there.

    `details` holds the reports of this run, newest last, at most 20; `dialog` is the open dialog, if there is one.
    """

    def __init__(self, log_file: Path) -> None:
        super().__init__()
        self.log_file = log_file
        self.details: list[str] = []
        self.dialog: MessageBox | None = None
        self._fault_path = log_file.with_name("fault.log")
        self._fault_file: TextIO | None = None
        self._before = (sys.excepthook, threading.excepthook)

    def install(self) -> None:
        """Catch errors of slots and threads, messages of Qt, and (in `fault.log`) crashes below Python."""
        self._before = (sys.excepthook, threading.excepthook)
        sys.excepthook = self._on_error
        threading.excepthook = self._on_thread_error
        qInstallMessageHandler(self._on_qt_message)
        try:
            refuse_pipe(self._fault_path)
            self._fault_file = self._fault_path.open("a", encoding="utf-8")
            keep_private(self._fault_path)
            faulthandler.enable(self._fault_file)
        except OSError:
            log.warning("no fault log: %s cannot be written", self._fault_path)

    def uninstall(self) -> None:
        """Put the former hooks back."""
        sys.excepthook, threading.excepthook = self._before
        qInstallMessageHandler(None)
        if self._fault_file:
            faulthandler.disable()
            self._fault_file.close()
            self._fault_file = None

    def _on_error(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        try:
            self._report("".join(traceback.format_exception(kind, error, trace)))
        except BaseException:
            _last_words(kind, error, trace)

    def _on_thread_error(self, hook: threading.ExceptHookArgs) -> None:
        if hook.exc_type is not SystemExit and hook.exc_value is not None:
            self._on_error(hook.exc_type, hook.exc_value, hook.exc_traceback)

    def _on_qt_message(self, kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
        try:
            logging.getLogger("qt").log(_QT_LEVELS.get(kind, logging.WARNING), "%s", message)
        except BaseException:
            print(message, file=sys.__stderr__)

    def _report(self, detail: str) -> None:
        log.critical("unexpected error\n%s", detail)
        self.details = [*self.details, detail][-MOST_DETAILS:]
        # Widgets belong to the GUI thread, and the error may come from another.
        QMetaObject.invokeMethod(self, "show_details", Qt.ConnectionType.QueuedConnection)

    def can_show(self) -> bool:
        """Whether there is somebody to show a dialog to."""
        return isinstance(QApplication.instance(), QApplication) and QGuiApplication.platformName() != "offscreen"

    @Slot()
    def show_details(self) -> None:
        """Show the newest report: in the open dialog, or in a new one; a line on standard error where there is none."""
        try:
            if not self.can_show():
                print(f"headstart: an error it did not expect; the details are in {self.log_file}.", file=sys.stderr)
                return
            self.dialog = self.dialog or self._make_dialog()
            self.dialog.set_details("\n".join(self.details))
            self.dialog.open()
        except BaseException:
            log.exception("the dialog about an error failed")

    def _make_dialog(self) -> MessageBox:
        dialog = MessageBox(
            QApplication.activeWindow(),
            "Headstart",
            tr("Something went wrong that Headstart did not expect."),
            tr(
                "Your conversations are kept. If it happens again, restart the program and report it "
                "with the details. They are also in {log_file}.",
                log_file=self.log_file,
            ),
        )
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.add(tr("Copy details"), self._copy, closes=False)
        dialog.add(tr("Close"), kind="primary")
        dialog.destroyed.connect(self._forget_dialog)
        return dialog

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(self.details))

    @Slot()
    def _forget_dialog(self) -> None:
        self.dialog = None


def _last_words(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    try:
        sys.__excepthook__(kind, error, trace)
    except BaseException:
        return  # nothing is left to say it with
