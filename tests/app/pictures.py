"""Pictures of all that the window can show, to be looked at one by one: `python -m tests.app.pictures FOLDER [NAME…]`.

Each state is played on the fake engine and drawn in both themes at three sizes: 640x480, 1280x800, and 960x600 on a
screen that is scaled to 200%. NAMEs pick states; without any all are drawn.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from app.application import build
from app.demo.pictures import change_theme
from app.models.catalogue import offers
from app.models.downloads import Download
from app.settings import Settings
from app.theme import current
from app.transcript.formula import draw
from app.widgets.explain import Explain
from app.window.presenter import SUPPORT_BOT
from app.window.tour import QUESTIONS
from engine import Divergence, FoundModel, ModelFit, ToolCall
from tests.app.conftest import timer_of
from tests.app.fake_engine import MODEL, FakeEngine, Script, words
from tests.app.tree_pictures import FEW, ON_DISK, TITLES, view
from tests.app.window.conftest import Screen, settle

SIZES = {1: (QSize(640, 480), QSize(1280, 800)), 2: (QSize(960, 600),)}
"""What is drawn at which scale of the screen."""

SHORT = (
    "Yes. As long as the parcel has not left our store you can change the address in your account, under *My orders*."
    "\n\n1. Open the order.\n2. Choose **Change address**.\n3. Confirm the new one.\n\nAfter that only the carrier can."
)
RICH = """# A tent in five minutes

## What you need

| Part | How many | Weight | Remark on where it is found in the bag and how it is told from the others |
|:--|--:|--:|:--|
| Pole | 3 | 480 g | The long one is blue; both short ones are grey |
| Peg | 12 | 14 g | Two more than you need |
| Sheet | 1 | 1,250 g | In the side pocket |

### Steps

- [x] Lay out the *inner* tent
- [ ] Push the poles through
  - blue into blue
  - grey into grey
- [ ] Raise it[^1]

> It stands by itself on hard ground.

The area is \\(a \\cdot b\\), see `size.py`:

```python
def area(width: float, depth: float) -> float:
    return width * depth  # in square metres
```

[^1]: From both sides at once.
"""
SLOW = replace(MODEL, name="SmolLM2-135M-Instruct.Q4_1", prefill_tokens_per_s=850.0, dtype="int4")


def empty(screen: Screen) -> None:
    screen.play()


def loading(screen: Screen) -> None:
    screen.engine.advance(2)
    screen.application.bridge.drain()


def no_model(screen: Screen) -> None:
    screen.engine.load_failure = "There is no model at /models/gone. Check the path, or open another model."
    screen.play()


def reading(screen: Screen) -> None:
    screen.play()
    screen.window.empty.chosen.emit(SUPPORT_BOT)
    screen.engine.advance(2)
    screen.application.bridge.drain()
    settle()
    timer_of(screen.answer().note).timeout.emit()
    fill = screen.composer.next_prompt.ribbon.fill
    fill.setCurrentTime(fill.duration())


def first_answer(screen: Screen) -> None:
    screen.play()
    screen.window.empty.chosen.emit(SUPPORT_BOT)
    play(screen)


def second_answer(screen: Screen) -> None:
    first_answer(screen)
    screen.window.notice.offer.click()
    play(screen)


def play(screen: Screen) -> None:
    """The turn, and what the window asks for when it is over."""
    screen.play()
    for previewer in (screen.session.cost.draft, screen.session.cost.edit):
        if previewer.rest.isActive():
            previewer.ask()
    screen.play()
    screen.application.badges.refresh()
    screen.application.badges.ask()
    screen.play()
    screen.window.charts.redraw()


def writing(screen: Screen) -> None:
    second_answer(screen)
    screen.ask("And if it is raining on the day it arrives, where does the driver leave it?")
    screen.engine.advance(30)
    screen.application.bridge.drain()
    screen.window.charts.redraw()


def figures(screen: Screen) -> None:
    second_answer(screen)
    screen.answer().tools.figures.click()


def written_ahead(screen: Screen) -> None:
    """What was written ahead is underlined, and counted among the figures."""
    screen.engine.scripts = (Script(words(SHORT), accepted=(*range(4, 9), *range(18, 24), *range(27, 34))),)
    figures(screen)
    screen.answer().underline_ahead(True)


def many(screen: Screen) -> None:
    """A day's work: several conversations, the charts of all of them."""
    second_answer(screen)
    for question in ("A packing list for three days in the Alps", "Why is the sky blue?", "Rename the branch"):
        screen.window.commands.new.trigger()
        screen.ask(question)
        play(screen)
    screen.application.presenter.open(1)
    play(screen)
    screen.window.charts.scope.all.click()
    screen.window.charts.redraw()


def miss(screen: Screen) -> None:
    """A word near the front of the system prompt is another one, so that all that stood behind it is read again."""
    second_answer(screen)
    prompt, stats = screen.session.conversation.system_prompt, screen.session.messages[-1].stats
    assert stats is not None
    before, old, behind = prompt.partition(" Wren,")
    assert old
    position = 4 + len(before) // 4
    read = stats.prompt_tokens + stats.written_tokens - position
    texts = (f"{before[-24:]}{word}{behind[:24]}" for word in (old, " Robin,"))
    screen.application.presenter.set_system_prompt(f"{before} Robin,{behind}")
    why = Divergence(position, 0, "edited", *texts, read)
    screen.engine.scripts = (*[Script(words(SHORT))] * 2, Script(words(SHORT), divergence=why))
    screen.ask("Where is my parcel?")
    play(screen)
    screen.transcript.follow()


def error(screen: Screen) -> None:
    screen.engine.scripts = (Script(words(SHORT), fail_after=-1, sentence=TOO_LITTLE),)
    screen.play()
    screen.window.empty.chosen.emit(SUPPORT_BOT)
    screen.play()


TOO_LITTLE = "There is not enough memory to read this prompt. Close other programs, or begin a new conversation."


def rich(screen: Screen) -> None:
    screen.engine.scripts = (Script(words(RICH)),)
    draw([(r"a \cdot b", False)])  # a thread would draw it some time after the picture
    screen.play()
    screen.ask("How do I put up the tent?")
    play(screen)


def rich_top(screen: Screen) -> None:
    rich(screen)
    screen.transcript.show_message(screen.session.messages[0].id)


def thoughts(screen: Screen) -> None:
    call = ToolCall("look_up_parcel", '{"number": "4711", "country": "AT"}', "1")
    screen.engine.scripts = (
        Script(words(SHORT), thought=words("The rules say that the address can be changed. " * 3), tool_calls=(call,)),
    )
    screen.play()
    screen.ask(QUESTIONS[0])
    play(screen)
    screen.answer().thought.line.click()


def editing(screen: Screen) -> None:
    second_answer(screen)
    screen.window.transcript.wishes.edit.emit(screen.session.messages[0].id)
    play(screen)


def search(screen: Screen) -> None:
    many(screen)
    screen.window.commands.find.trigger()
    screen.window.sidebar.search.setText("address")
    settle()
    screen.application.presenter.open(1)
    play(screen)


def versions(screen: Screen) -> None:
    second_answer(screen)
    screen.session.retry()
    play(screen)


def over_answers(opens: Callable[[Screen], QWidget | None]) -> Callable[[Screen], QWidget | None]:
    """A state in which a dialog stands over the second answer."""

    def state(screen: Screen) -> QWidget | None:
        second_answer(screen)
        made = opens(screen)
        settle()
        return made

    return state


def opened(screen: Screen, name: str) -> QWidget | None:
    getattr(screen.window.commands, name).trigger()
    return screen.application.dialogs.open_dialog


def system_prompt(screen: Screen) -> QWidget | None:
    made = opened(screen, "system_prompt")
    assert made is not None
    made.edit.insertPlainText("Today is {{date}}, {{time}}. ")
    screen.play()
    screen.application.dialogs.editing.pricer.ask()
    screen.session.cost.prompt.ask()
    screen.play()
    return made


def presets(screen: Screen) -> QWidget | None:
    """Presets in folders, of which one is chosen."""
    table = screen.application.history.presets
    for name, text, where in (
        ("Support", "You are the support bot of {{company}} in {{city}}. Be brief and friendly. " * 9, ""),
        ("Translator", "Translate what is said into {{language}}. " * 30, "Writing"),
        ("Proof reader", "Correct the spelling of each text, and nothing else. " * 40, "Writing"),
    ):
        table.move(table.add(name, text).id, where)
    made = opened(screen, "system_prompt")
    made.presets.list.opened.emit(next(row.id for row in made.presets.list.rows if row.title == "Proof reader"))
    made.presets.keep_resident.click()
    screen.play()
    screen.application.dialogs.preset_badges.ask()
    screen.play()
    return made


def preset_variables(screen: Screen) -> QWidget | None:
    made = presets(screen)
    made.presets.list.opened.emit(next(row.id for row in made.presets.list.rows if row.title == "Support"))
    return screen.application.dialogs.preset_choice.asking


def unsaved(screen: Screen) -> QWidget | None:
    made = system_prompt(screen)
    made.reject()
    return made.question


def folder(screen: Screen) -> QWidget | None:
    screen.application.filing_presenter.ask_folder()
    return screen.application.dialogs.open_dialog


def raw_message(screen: Screen) -> QWidget | None:
    screen.application.rewriting_presenter.show_raw(screen.session.messages[-1].id)
    return screen.application.dialogs.open_dialog


def all_versions(screen: Screen) -> QWidget | None:
    screen.window.commands.versions.trigger()
    return screen.application.dialogs.open_dialog


def deletion_of_all(screen: Screen) -> QWidget | None:
    screen.application.dialogs.confirm_deletion()
    return screen.application.dialogs.open_dialog


def sampling(screen: Screen) -> QWidget | None:
    screen.window.commands.sampling.trigger()
    return screen.application.dialogs.popover


def proof(screen: Screen) -> QWidget | None:
    screen.application.proving.prove_newest()
    screen.play()
    return screen.application.proving.dialog


def proof_running(screen: Screen) -> QWidget | None:
    screen.application.proving.prove_newest()
    screen.engine.advance(9)
    screen.application.bridge.drain()
    return screen.application.proving.dialog


def models(screen: Screen) -> QWidget | None:
    """What is on this computer, as far as other tests say."""
    made = opened(screen, "models")
    places = [Path(f"/models/{name}") for name in ("Qwen3-4B-GGUF/Qwen3-4B-Q4_K_M.gguf", "gemma-3-12b-it")]
    found = [
        FoundModel("Qwen3-4B-Q4_K_M", str(places[0]), places[0], "Headstart", 2_497_000_000, True),
        FoundModel("google/gemma-3-12b-it", str(places[1]), places[1], "Hugging Face cache", 24_370_000_000, False),
    ]
    made.here.show_models(found, {str(places[0]): time.time() - 7200}, None)
    fits = (ModelFit("Qwen3-4B", "bf16", 26 * 10**8, 10**8, 147_456, 8192, 40_960, 9 * 10**9, 16 * 10**9),)
    fits += (ModelFit("gemma-3-12b-it", "bf16", 26 * 10**9, 10**9, 393_216, 8192, 131_072, 9 * 10**9, 16 * 10**9),)
    for model, fit in zip(found, fits, strict=True):
        made.here.show_fit(model, fit)
    return made


def models_to_download(screen: Screen) -> QWidget | None:
    made = models(screen)
    for offer in offers():
        weights, token = offer.bytes, offer.kv_bytes_per_token
        made.there.show_fit(
            offer, ModelFit(offer.name, "bf16", weights, weights // 20, token, 8192, 32_768, 7 * 10**9, 16 * 10**9)
        )
    download = Download("Qwen/Qwen3-4B-GGUF", "*q4_k_m.gguf", "running", 2_497_280_256, says="Downloading…")
    download.note(0.0, 900_000_000)
    download.note(1.0, 911_000_000)
    made.there.show_download(download, choose=True)
    refused = Download("google/gemma-3-4b-it", "", "failed", says=REFUSED, needs_token=True)
    made.there.show_download(refused)
    made.show_page(1)
    return made


def models_refused(screen: Screen) -> QWidget | None:
    made = models_to_download(screen)
    made.there.rows.setCurrentItem(made.there.rows.topLevelItem(made.there.rows.topLevelItemCount() - 1))
    return made


REFUSED = (
    "The Hub gives google/gemma-3-4b-it only to those who agreed to its licence, or there is no such model. Agree on "
    "its page, then give a token of your account."
)


def graphics(screen: Screen) -> QWidget | None:
    opened(screen, "preferences").graphics_wanted.emit()
    return screen.application.dialogs.open_dialog


def menu(screen: Screen) -> QWidget | None:
    made = screen.window.header.menu_button.menu()
    made.popup(screen.window.mapToGlobal(QPoint(40, 40)))
    return made


def model_menu(screen: Screen) -> QWidget | None:
    made = next(each for each in screen.window.findChildren(QMenu) if each.title() == "&Model")
    made.popup(screen.window.mapToGlobal(QPoint(40, 40)))
    return made


def explanation(screen: Screen) -> QWidget | None:
    button = Explain("ribbon", screen.window)
    button.open()
    button.popover.fit(screen.window.size())
    return button.popover


def tree(screen: Screen) -> QWidget | None:
    return tree_of(screen, FEW)


def tree_on_disk(screen: Screen) -> QWidget | None:
    return tree_of(screen, ON_DISK)


def tree_of(screen: Screen, nodes: object) -> QWidget | None:
    screen.engine.cache_view = lambda: view(nodes)
    screen.application.tree_presenter.open()
    made = screen.application.tree_presenter.tree
    assert made is not None
    made.show_view(view(nodes), TITLES)
    if nodes:
        made.view.set_current(1)
    return made


def tree_empty(screen: Screen) -> QWidget | None:
    return tree_of(screen, ())


DIALOGS: dict[str, Callable[[Screen], QWidget | None]] = {
    **{
        each.__name__: each
        for each in (
            *(system_prompt, unsaved, folder, raw_message, all_versions, deletion_of_all, sampling, proof, graphics),
            *(models, models_to_download, models_refused, presets, preset_variables),
            *(tree, tree_on_disk, tree_empty),
        )
    },
    **{
        name: lambda screen, name=name: opened(screen, name)
        for name in ("preferences", "shortcuts", "about", "open_server", "tools")
    },
}
"""Whatever opens over the window, by its name: each opens it and returns it."""

STATES: dict[str, Callable[[Screen], QWidget | None]] = {
    **{
        each.__name__: each
        for each in (
            *(empty, loading, no_model, reading, first_answer, second_answer, writing, figures, many, miss, error),
            written_ahead,
            *(rich, rich_top, thoughts, editing, search, versions),
        )
    },
    **{each.__name__: over_answers(each) for each in (proof_running, menu, model_menu, explanation)},
    **{name: over_answers(opens) for name, opens in DIALOGS.items()},
}


def draw_all(folder: Path, names: list[str], scale: int) -> None:
    """Draw these states at the sizes that belong to the scale of this process."""
    app = QApplication.instance() or QApplication([])
    for name in names or list(STATES):
        for size in SIZES[scale]:
            with tempfile.TemporaryDirectory() as place:
                draw_state(folder, name, size, Path(place))
            app.processEvents()


def draw_state(folder: Path, name: str, size: QSize, place: Path) -> None:
    """One state at one size in both themes."""
    engine = FakeEngine(Script(words(SHORT)), manual=True, model=SLOW)
    application = build(engine, Settings(theme="light"), place / "history.sqlite3")
    screen = Screen(application, engine)
    application.open()
    screen.window.resize(size)
    settle()
    over = STATES[name](screen)
    for theme in ("light", "dark"):
        change_theme(application, theme)
        if over is not None and over.isWindow():
            over.resize(over.size().boundedTo(size - QSize(16, 48)))
        settle()
        scale = round(screen.window.devicePixelRatioF())
        suffix = "@2x" if scale == 2 else ""
        picture(screen.window, over).save(str(folder / f"{name}-{size.width()}x{size.height()}{suffix}-{theme}.png"))
    screen.window.close()
    screen.window.deleteLater()
    settle()
    del screen, application, over
    gc.collect()  # a thread of the next state must not be the one that finds these widgets gone


def picture(window: QWidget, over: QWidget | None) -> QImage:
    """The window, and in its middle what stands over it."""
    image = window.grab().toImage()
    if over is not None and over.isVisible():
        painter = QPainter(image)
        ground = current()
        painter.fillRect(window.rect(), Qt.GlobalColor.transparent)
        corner = QPoint((window.width() - over.width()) // 2, max(0, (window.height() - over.height()) // 2))
        painter.fillRect(corner.x() - 1, corner.y() - 1, over.width() + 2, over.height() + 2, ground.edge)
        painter.drawPixmap(corner, over.grab())
        painter.end()
    return image


def main() -> int:
    """Draw everything into the folder named first: one process for each scale."""
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    if scale := os.environ.get("QT_SCALE_FACTOR"):
        draw_all(folder, names, int(scale))
        return 0
    for number in SIZES:
        surroundings = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": str(number)}
        subprocess.run([sys.executable, "-m", "tests.app.pictures", *sys.argv[1:]], env=surroundings, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
