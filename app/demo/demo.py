"""`headstart demo`: a script played in the real window, with the cache on and off, into a folder."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from app.application import Application, build, ended_by_signals, leave, qt_application, spec_of
from app.demo.page import as_html, page_of
from app.demo.page_picture import as_picture
from app.demo.pictures import MISS, PICTURE_SIZE, THEMES, Watcher, save_image, save_pictures
from app.demo.player import DemoClock, Player
from app.demo.report import Report, machine, save_report, versions
from app.demo.report_words import as_table
from app.demo.script import NAMES, Script, read_files, read_script
from app.demo.show import DemoShow
from app.settings import Settings
from app.theme import DARK, LIGHT
from engine import DEVICES, DTYPES, Engine, EnginePort, HeadstartError

DEFAULT_TURNS = 8
SAYS = {
    MISS: "The window right after the turn that read the prompt again: the amber box says where it changed",
    "window": "The window at the end",
    "explainer": "What was read again, and why",
    "tree": "The tree of shared prefixes",
}
"""What each picture on the page shows."""
RESTS_AT_END = 5
"""By then the ribbon, the badges of the list and the tree have said what they have to say."""


def add_demo_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `headstart demo`. Those about the model may also stand in front of the word `demo`."""
    keep = argparse.SUPPRESS
    parser.add_argument(
        "--out", type=out_folder, required=True, metavar="DIR", help="folder for the report and the pictures"
    )
    parser.add_argument("--offscreen", action="store_true", help="without opening a window on the screen")
    parser.add_argument("--script", choices=NAMES, help="what to play (default: support)")
    parser.add_argument("--system", type=Path, metavar="FILE", help="play your own: a file with the system prompt")
    parser.add_argument("--questions", type=Path, metavar="FILE", help="and a file with one question on each line")
    parser.add_argument("--turns", type=whole_number, metavar="N", help="how many questions (default: 8, or all)")
    parser.add_argument("--model", metavar="PATH", default=keep, help="a folder with safetensors, or a GGUF file")
    parser.add_argument("--device", choices=DEVICES, default=keep, help="where the model runs")
    parser.add_argument("--dtype", choices=DTYPES, default=keep, help="number format of the weights")


def whole_number(text: str) -> int:
    """A count, of which the script says whether it has as many questions."""
    if not text.removeprefix("-").isdecimal() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"give a whole number, not {text[:40]!r}")
    return int(text)


def out_folder(text: str) -> Path:
    """The folder of --out. An empty name would be the folder that the user happens to be in."""
    if not text:
        raise argparse.ArgumentTypeError("give the folder a name; . is the one you are in")
    if not text.isprintable():  # so are half surrogates, which stand for bytes that are no text
        raise argparse.ArgumentTypeError("give the folder a name that can be read: letters, digits, signs")
    return Path(text)


class Terminal(NamedTuple):
    """Where the demo says what it does. `say` takes a line. `show_progress` takes what is being done while the model is
    loaded, and the share of it that is done, None where that is not known."""

    say: Callable[[str], None] = print
    show_progress: Callable[[str, float | None], None] = lambda stage, fraction: None


def run_demo(options: argparse.Namespace, engine: EnginePort | None = None, terminal: Terminal | None = None) -> int:
    """Play the demo and write its files; 0 when all is written.

    The user's conversations and settings are not touched. Raises HeadstartError with a sentence for the user when an
    option cannot be met, the engine fails, or the window is closed before the end.
    """
    script = script_of(options)
    turns = turns_of(options.turns, script)
    with new_folder(options.out):
        status, engine_ended = _run(options, script, turns, engine, terminal or Terminal())
    return leave(status, engine_ended)


def _run(
    options: argparse.Namespace, script: Script, turns: int, engine: EnginePort | None, terminal: Terminal
) -> tuple[int, bool]:
    """Play in a folder of its own, which is gone afterwards; the status, and whether the engine's thread has ended."""
    if (options.out / "report.json").exists():
        terminal.say(f"{options.out} holds an earlier demo. Its files are replaced once this one has been played.")
    if options.offscreen:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    qt_application()
    clock = DemoClock()
    with tempfile.TemporaryDirectory(prefix="headstart-demo-", ignore_cleanup_errors=True) as folder:
        history = Path(folder) / "history.sqlite3"
        # Nothing on disk, and nothing read ahead unless that is what is shown: the first turn is to be cold.
        settings = Settings(theme="light", disk_budget_mb=0, read_ahead="never")
        application = build(engine or Engine(), settings, history, clock.values)
        with ended_by_signals(application.window) as ending:
            try:
                play(application, options, script, turns, clock, terminal)
            except HeadstartError:
                if not ending.number:  # otherwise it says that the window was closed
                    raise
            finally:
                application.window.close()
                application.close()
    return ending.status(0), application.engine_ended


def play(
    application: Application,
    options: argparse.Namespace,
    script: Script,
    turns: int,
    clock: DemoClock,
    terminal: Terminal,
) -> None:
    """Play the script in the window and write the files. On a screen, somebody starts it and closes the window."""
    session, write = application.session, application.window.composer.set_text
    player = Player(session, application.bridge, application.history, terminal.say, clock, write)
    application.settings.read_ahead = "always" if script.is_typed else "never"
    show = None if options.offscreen else DemoShow(application.window, player, script, turns)
    application.window.closing.connect(player.stop)
    watcher = Watcher(application, player)
    application.session.answers.loading_changed.connect(
        lambda event: terminal.show_progress(event.stage, event.fraction)
    )
    application.open(spec_of(options, application.settings))
    application.window.resize(PICTURE_SIZE)
    report = Report(player.wait_for_model(), versions(), script=script.name, about=script.about)
    player.check_fits(script, turns, report.model)
    if show is not None:
        terminal.say("The window is ready. Press Start in the bar above the conversation; nothing is played before.")
    player.play(script, turns, report)
    leave_a_draft(application, player, script, turns)
    save(application, report, watcher, options.out)
    terminal.say(f"\n{as_table(report)}\n\nThe report and the pictures are in {options.out}; report.html shows it all.")
    if show is not None:
        show.end(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str((options.out / "report.html").resolve()))))
        player.wait_until_closed()


def leave_a_draft(application: Application, player: Player, script: Script, turns: int) -> None:
    """Show what comes next in the ribbon, and in the charts the turns of all conversations where there are several."""
    window = application.window
    window.charts.scope.all.setChecked(len(script.titles) > 1)
    application.chart_presenter.show_measured()
    window.notice.hide()
    window.composer.set_text(script.question_after(turns))
    application.bridge.read_cache_view()  # asks for a picture with all runs; it is there after the rest
    for _ in range(RESTS_AT_END):
        player.rest()


def save(application: Application, report: Report, watcher: Watcher, folder: Path) -> None:
    """Write report.json, report.csv, the pictures and the page that shows them."""
    try:
        save_report(report, folder)
        save_pictures(application, watcher, folder)
        save_page(report, folder, MISS if watcher.miss else "")
    except OSError as error:
        raise refuse_folder(folder, error) from error


def save_page(report: Report, folder: Path, miss: str = "") -> None:
    """Write the page, with the pictures of the folder in it, and its own picture in both themes. Raises OSError."""
    shown = [part for part in (miss, "window", "tree" if report.script == "tree" else "explainer") if part]
    light, dark = ([(folder / f"{part}-{name}.png").read_bytes() for part in shown] for name in THEMES)
    pictures = list(zip([SAYS[part] for part in shown], light, dark, strict=True))
    page = page_of(report, machine())
    (folder / "report.html").write_text(as_html(page, pictures), "utf-8")
    for colours, name in ((LIGHT, "page.png"), (DARK, "page-dark.png")):
        save_image(as_picture(page, colours), folder / name)


def script_of(options: argparse.Namespace) -> Script:
    """What the options ask for. Raises HeadstartError where files cannot be read or options contradict each other."""
    if options.system is None and options.questions is None:
        return read_script(options.script or NAMES[0])
    if options.script:
        raise HeadstartError("Give --script, or --system and --questions, but not both.")
    return read_files(options.system, options.questions)


def turns_of(asked: int | None, script: Script) -> int:
    """How many turns to play. Raises HeadstartError where the script has not as many questions."""
    count = len(script.questions)
    if asked is None:
        return min(DEFAULT_TURNS, count) if script.name == "support" else count
    if not 1 <= asked <= count:
        questions = "1 question" if count == 1 else f"{count} questions"
        raise HeadstartError(f"The demo has {questions}: give --turns a number from 1 to that.")
    return asked


@contextmanager
def new_folder(folder: Path) -> Iterator[None]:
    """Make the folder. What is still empty in the end goes again. Raises HeadstartError where files cannot be written
    to it."""
    made: list[Path] = []
    try:
        made += missing_folders(folder)
        check_folder(folder)
        yield
    finally:
        for each in made:
            with suppress(OSError, ValueError):  # files are in it, or it can be no path
                each.rmdir()


def missing_folders(folder: Path) -> list[Path]:
    """What of this path has to be made, the innermost folder first. Raises HeadstartError where it can be no path."""
    try:
        return [each for each in (folder, *folder.parents) if not each.exists()]
    except OSError as error:  # a name that is too long
        raise refuse_folder(folder, error) from error


def refuse_folder(folder: Path, error: Exception) -> HeadstartError:
    """The error to raise where something cannot be written to the folder."""
    path, reason = str(folder), getattr(error, "strerror", None) or str(error)
    shown = path if len(path) <= 120 else f"{path[:120]}…"
    return HeadstartError(f"The report cannot be written to {shown}: {reason}. Give --out another folder.", str(error))


def check_folder(folder: Path) -> None:
    """Make the folder. Raises HeadstartError where files cannot be written to it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        raise refuse_folder(folder, error) from error
