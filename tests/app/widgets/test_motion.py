"""The desktop's wish for less motion is heard, and a desktop that does not answer holds nothing up."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtDBus import QDBusConnection, QDBusMessage, QDBusVariant

from app.widgets import motion


class Bus:
    """A bus on which the portal gives this answer. Whoever asks it anything else than calls with a limit fails."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.limits: list[int] = []

    def isConnected(self) -> bool:
        return True

    def call(self, question: QDBusMessage, mode: object, limit_ms: int) -> QDBusMessage:
        self.limits.append(limit_ms)
        if self.answer is None:
            return question.createErrorReply("org.freedesktop.DBus.Error.NoReply", "the portal hangs")
        return question.createReply(self.answer)


@pytest.mark.parametrize(
    ("answer", "is_reduced"), [(QDBusVariant(False), True), (QDBusVariant(True), False), (False, True), (None, False)]
)
def test_the_portal_is_asked_once_and_for_no_longer_than_the_window_may_stand_still(
    monkeypatch: pytest.MonkeyPatch, answer: object, is_reduced: bool
) -> None:
    bus = Bus(answer)
    monkeypatch.setattr(QDBusConnection, "sessionBus", lambda: bus)
    assert motion.portal_says_so() is is_reduced
    assert bus.limits == [motion.ANSWER_MS]
    assert motion.ANSWER_MS <= 100


@pytest.mark.parametrize(("factor", "is_still"), [("0", True), ("0.5", False), ("fast", False)])
def test_the_animation_speed_of_kde_is_heard(tmp_path: Path, factor: str, is_still: bool) -> None:
    (tmp_path / "kdeglobals").write_text(f"[KDE]\nAnimationDurationFactor={factor}\n")
    assert motion.is_still(QSettings(str(tmp_path / "kdeglobals"), QSettings.Format.IniFormat)) is is_still
