"""Whether the user has asked the desktop for less motion. Qt does not say so: each desktop is asked in its own way."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from pathlib import Path

from PySide6.QtCore import QSettings, QStandardPaths

ANSWER_MS = 80
"""Longer than this nobody waits for the desktop: the window stands still meanwhile."""
SPI_GETCLIENTAREAANIMATION = 0x1042
"""Windows' own number of the question; "Animation effects" in its settings."""


@cache
def is_reduced() -> bool:
    """Whether nothing is to move that need not. Asked once; where the desktop does not answer, things move."""
    if sys.platform == "win32":
        moves = ctypes.c_int(1)
        ctypes.windll.user32.SystemParametersInfoW(SPI_GETCLIENTAREAANIMATION, 0, ctypes.byref(moves), 0)
        return not moves.value
    if sys.platform == "darwin":
        return is_said(QSettings("apple.com", "universalaccess").value("reduceMotion"))
    config = Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.GenericConfigLocation))
    return is_still(QSettings(str(config / "kdeglobals"), QSettings.Format.IniFormat)) or portal_says_so()


def is_said(value: object) -> bool:
    """Whether a setting is on, in the forms that property lists have for it."""
    return value in (True, 1, "1", "true")


def is_still(kde: QSettings) -> bool:
    """Whether KDE's "Animation speed" is at its end, "Instant"."""
    try:
        return float(str(kde.value("KDE/AnimationDurationFactor", 1))) == 0
    except ValueError:
        return False


def portal_says_so() -> bool:
    """What desktops answer that have the portal (GNOME and others): their own switch for animations. One call with a
    limit of its own: a QDBusInterface asks first what the portal can do, and waits 25 seconds for a portal that hangs.
    """
    from PySide6.QtDBus import QDBus, QDBusConnection, QDBusMessage

    bus = QDBusConnection.sessionBus()
    if not bus.isConnected():
        return False
    name, path = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"
    question = QDBusMessage.createMethodCall(name, path, "org.freedesktop.portal.Settings", "ReadOne")
    question.setArguments(["org.gnome.desktop.interface", "enable-animations"])
    answer = bus.call(question, QDBus.CallMode.Block, ANSWER_MS)
    is_answer = answer.type() == QDBusMessage.MessageType.ReplyMessage and bool(answer.arguments())
    value = answer.arguments()[0] if is_answer else True
    return not getattr(value, "variant", lambda: value)()
