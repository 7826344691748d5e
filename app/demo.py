"""`headstart demo`: a support bot's conversation in the real window, with the cache on and off, into a folder."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from importlib import metadata
from pathlib import Path

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication, QWidget

from app.application import Application, build, spec_of
from app.player import Player
from app.progress_line import ProgressLine
from app.report import Report, save_report
from app.script import Script, read_script
from app.settings import Settings
from engine import DEVICES, DTYPES, Engine, EnginePort, HeadstartError

PICTURE_SIZE = QSize(1280, 800)
PACKAGES = ("headstart", "torch", "transformers", "PySide6-Essentials", "pyqtgraph", "numpy")


def add_demo_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `headstart demo`. Those about the model may also stand in front of the word `demo`."""
    keep = argparse.SUPPRESS
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the report and the pictures")
    parser.add_argument("--offscreen", action="store_true", help="without opening a window on the screen")
    parser.add_argument("--turns", type=int, default=8, metavar="N", help="how many questions to ask (default: 8)")
    parser.add_argument("--model", metavar="PATH", default=keep, help="a folder with safetensors, or a GGUF file")
    parser.add_argument("--device", choices=DEVICES, default=keep, help="where the model runs")
    parser.add_argument("--dtype", choices=DTYPES, default=keep, help="number format of the weights")
    parser.add_argument(
        "--exact", action="store_true", default=keep, help="equal to a run without the cache, bit for bit"
    )


def run_demo(options: argparse.Namespace, engine: EnginePort | None = None) -> int:
    """Play the demo and write its files; 0 when all is written.

    The user's conversations and settings are not touched. Raises HeadstartError with a sentence for the user when an
    option cannot be met, the engine fails, or the window is closed before the end.
    """
    script = read_script()
    check_turns(options.turns, script)
    check_folder(options.out)
    if options.offscreen:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    app = QApplication.instance() or QApplication(sys.argv[:1])
    app.setApplicationName("Headstart")
    settings = Settings(theme="light")
    with tempfile.TemporaryDirectory(prefix="headstart-demo-", ignore_cleanup_errors=True) as folder:
        application = build(engine or Engine(), settings, Path(folder) / "history.sqlite3")
        try:
            report = play(application, options, script)
            save(application, report, options.out)
        finally:
            application.window.close()
            application.close()
    print(f"\n{report.as_table()}\n\nThe report and the pictures are in {options.out}.")
    return 0


def play(application: Application, options: argparse.Namespace, script: Script) -> Report:
    """Both passes in the application's window, which then shows the conversation and a draft of the next question."""
    player = Player(application.session, application.bridge, application.history, print_line)
    application.window.closing.connect(player.stop)
    line = ProgressLine()
    application.session.loading_changed.connect(lambda event: line.show(event.stage, event.fraction))
    application.open(spec_of(options, application.settings))
    application.window.resize(PICTURE_SIZE)
    report = Report(player.wait_for_model(), versions())
    line.end()
    player.play_warm(script, options.turns, report)
    player.play_cold(report)
    application.window.composer.set_text(script.questions[options.turns % len(script.questions)])
    player.rest()
    return report


def save(application: Application, report: Report, folder: Path) -> None:
    """Write report.json, report.csv, window-light.png, window-dark.png and charts.png."""
    window = application.window
    window.resize(PICTURE_SIZE)
    try:
        save_report(report, folder)
        for theme in ("dark", "light"):
            application.choose_theme(theme)
            QApplication.processEvents()
            save_picture(window, folder / f"window-{theme}.png")
        window.charts.redraw()
        save_picture(window.charts, folder / "charts.png")
    except OSError as error:
        raise HeadstartError(f"The report cannot be written to {folder}: {error.strerror}.", str(error)) from error


def save_picture(widget: QWidget, path: Path) -> None:
    """What a widget looks like now, as PNG. Raises OSError."""
    if not widget.grab().save(str(path)):
        raise OSError(None, "a picture cannot be saved", str(path))


def check_turns(turns: int, script: Script) -> None:
    """Raise HeadstartError where the script has not as many questions."""
    if not 1 <= turns <= len(script.questions):
        raise HeadstartError(f"The demo has {len(script.questions)} questions: give --turns a number from 1 to that.")


def check_folder(folder: Path) -> None:
    """Make the folder. Raises HeadstartError where files cannot be written to it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise HeadstartError(
            f"The report cannot be written to {folder}: {error.strerror}. Give --out another folder.", str(error)
        ) from error


def versions() -> dict[str, str]:
    """What the figures were measured with."""
    found = {"python": sys.version.split()[0]}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def print_line(text: str) -> None:
    """One line on standard output, at once."""
    print(text, flush=True)
