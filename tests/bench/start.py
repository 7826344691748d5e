"""Starts the program, prints when its window was on screen and when its model was ready, and ends.

Prints one line of JSON: seconds since the moment its one argument names, in seconds of time.time(), at which its parent
started it. Conversations and settings are those of an empty folder.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path


def main() -> int:
    """See above."""
    born = float(sys.argv[1])
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from app.application import build
    from app.settings import Settings
    from engine import Engine

    times: dict[str, float] = {}
    app = QApplication(["start"])
    with tempfile.TemporaryDirectory() as folder:
        application = build(Engine(), Settings(disk_budget_mb=0), Path(folder) / "start.db")
        application.session.answers.model_changed.connect(lambda model: _ready(times, born, model, app))
        QTimer.singleShot(0, lambda: times.setdefault("visible", time.time() - born))
        application.open()
        app.exec()
        application.close()
    print(json.dumps(times))
    return 0


def _ready(times: dict[str, float], born: float, model: object, app: object) -> None:
    if model is not None:
        times["ready"] = time.time() - born
        app.quit()  # type: ignore[attr-defined]


if __name__ == "__main__":
    sys.exit(main())
