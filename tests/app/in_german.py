"""The window in German, in a process of its own (some texts are made when their modules are imported): says what is cut
on a small screen, a line for each. `python -m tests.app.in_german`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtWidgets import QApplication

from app.translations import dress, speak


def cut(place: Path) -> Iterator[str]:
    """What of the window and of each dialog lies outside of it, is cut, or stands on something else."""
    from app.application import build
    from app.settings import Settings
    from tests.app.fake_engine import FakeEngine, Script, words
    from tests.app.pictures import DIALOGS, SLOW
    from tests.app.window.conftest import Screen, settle
    from tests.app.window.test_dialogs_fit import SMALL, assert_nothing_is_cut

    for name, opens in DIALOGS.items():
        engine = FakeEngine(Script(words("Yes.")), manual=True, model=SLOW)
        screen = Screen(build(engine, Settings(theme="light"), place / f"{name}.sqlite3"), engine)
        screen.application.open()
        screen.play()
        screen.ask("Where is my parcel?")
        screen.play()
        dialog = opens(screen)
        assert dialog is not None
        for size in (dialog.size(), SMALL):
            dialog.resize(size)
            settle()
            try:
                assert_nothing_is_cut(dialog)
            except AssertionError as error:
                yield f"{name} at {dialog.width()}x{dialog.height()}: {error}"
        dialog.close()
        screen.window.close()
        settle()


def main() -> int:
    """Print what is cut; 1 where something is."""
    speak("de")
    app = QApplication([])
    dress(app)
    with tempfile.TemporaryDirectory() as place:
        found = list(cut(Path(place)))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
