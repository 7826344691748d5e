"""Which sentence stays in the notice: an error that still holds is not replaced by what matters less."""

from __future__ import annotations

import pytest

from engine import DiskFullError
from tests.app.window.conftest import Screen

FULL = "The disk is full."


def test_a_full_disk_is_said_until_storing_works_again(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    file, notice = screen.application.history.file, screen.window.notice
    change, is_full = file.change, True

    def write(statement: str, *values: object) -> int:
        if is_full and "finish_reason" in statement:
            raise DiskFullError(FULL, "SQLITE_FULL")
        return change(statement, *values)

    monkeypatch.setattr(file, "change", write)
    screen.ask("Hi")
    screen.play()
    assert notice.text == FULL
    notice.show_notice("The chart is saved.")
    assert notice.text == f"{FULL}\nThe chart is saved."
    notice.show_error("No such model.", "path")
    assert notice.text == f"{FULL}\nNo such model."
    assert notice.detail == "SQLITE_FULL\npath"
    screen.ask("And now?")
    assert notice.text == FULL
    is_full = False
    screen.play()
    assert notice.text == ""
    screen.window.notice.show_notice("Later.")
    assert notice.text == "Later."


def test_it_can_be_closed(screen: Screen) -> None:
    notice = screen.window.notice
    notice.show_error(FULL, stays=True)
    notice.close_button.click()
    assert notice.text == ""
    notice.show_notice("Later.")
    assert notice.text == "Later."


def test_an_offer_outlives_an_error_that_holds_no_longer(screen: Screen) -> None:
    notice, gone = screen.window.notice, []
    notice.show_error(FULL, stays=True)
    notice.show_offer("Deleted.", "Undo", lambda: None, is_error=False, expire=lambda: gone.append(True))
    notice.end_lasting()
    assert (notice.text, notice.offer.isVisible(), gone) == ("Deleted.", True, [])
    notice.clear()
    assert (notice.text, gone) == ("", [True])
