"""The window “Models”: what is on this computer, what can be downloaded, and how far that is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QTreeWidget
from pytestqt.qtbot import QtBot

from app.models import downloads, presenter
from app.models.catalogue import Offer, offers
from app.models.dialog import ModelsDialog, is_here, progress
from app.models.downloads import Download
from app.window.open_model import OpenModelDialog
from engine import FoundModel, HeadstartError, ModelError, ModelFit, ModelSpec
from engine.library import hub as engine_hub
from tests.app.fake_engine import MODEL
from tests.app.window.conftest import Screen, settle
from tests.engine.library.hub_server import FakeHub, running, used
from tests.engine.model_files import write_gguf

GB = 10**9
FIT = ModelFit("Own-1B", "bf16", GB, GB // 10, 10**5, 8192, 32_768, free=7 * GB, total=16 * GB)
LARGE = ModelFit("Studio-30B", "bf16", 30 * GB, GB, 10**5, 8192, 32_768, free=7 * GB, total=16 * GB)
REPO, FILE = "org/Tiny-GGUF", "Tiny-Q4_K_M.gguf"


def fit_of(spec: ModelSpec) -> ModelFit | None:
    """What the models of these tests take."""
    if "studio" in spec.path:
        return LARGE
    if "odd" in spec.path:
        raise ModelError("odd.gguf is not a readable GGUF file: download it again.")
    return FIT


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with three models, of which one is Headstart's own."""
    monkeypatch.setenv("HEADSTART_DATA_DIR", str(tmp_path / "home"))
    models = tmp_path / "home" / "models"
    own = models / "org" / "Own" / "own.gguf"
    own.parent.mkdir(parents=True)
    own.write_bytes(b"x" * 100)

    def find() -> list[FoundModel]:
        studio, odd = Path("/studio/large.gguf"), Path("/jan/odd.gguf")
        there = [FoundModel("own", str(own), own, "Headstart", 10**6, True)] if own.exists() else []
        there += [
            FoundModel(place.stem, str(place), place, "Headstart", 5, True)
            for place in models.rglob("Tiny-*.gguf")
            if place.is_file()
        ]
        return [
            FoundModel("large", str(studio), studio, "LM Studio", 17 * GB, False),
            FoundModel("odd", str(odd), odd, "Jan", 5, False),
            *there,
        ]

    monkeypatch.setattr(presenter, "find_models", find)
    monkeypatch.setattr(presenter, "model_fit", fit_of)
    monkeypatch.setattr("app.window.dialogs.model_fit", fit_of)
    monkeypatch.setattr(presenter, "foreseen_fit", lambda name, weights, *_: FIT if weights < 7 * GB else LARGE)
    return models


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeHub]:
    """A hub with one model, which is in the list."""
    offer = Offer("Tiny", REPO, "*q4_k_m.gguf", 0.1, 31_000, "MIT", 256, 100)
    with running() as made:
        used(monkeypatch, made)
        monkeypatch.setattr(engine_hub, "PAUSES_S", (0.0, 0.0, 0.0))
        monkeypatch.setattr(engine_hub, "key_of", lambda _: made.kept)
        made.models[REPO] = {FILE: write_gguf(tmp_path / FILE).read_bytes()}
        monkeypatch.setattr(presenter, "offers", lambda: (offer,))
        yield made


class Manager:
    """The opened dialog, and what a user does in it."""

    def __init__(self, screen: Screen, qtbot: QtBot) -> None:
        screen.window.commands.models.trigger()
        dialog = screen.application.dialogs.open_dialog
        assert isinstance(dialog, ModelsDialog)
        self.screen, self.qtbot, self.dialog = screen, qtbot, dialog
        self.here, self.there = dialog.here, dialog.there
        qtbot.waitUntil(lambda: self.column(self.here.rows, 3) != [] and "…" not in self.column(self.here.rows, 3))

    def column(self, rows: QTreeWidget, number: int) -> list[str]:
        return [rows.topLevelItem(place).text(number) for place in range(rows.topLevelItemCount())]

    def choose(self, rows: QTreeWidget, name: str) -> None:
        rows.setCurrentItem(rows.findItems(name, Qt.MatchFlag.MatchExactly, 0)[0])
        settle()

    def download(self, until: str = "here") -> None:
        """Press Download and wait until the row says this."""
        self.dialog.there_button.click()
        self.there.begin_button.click()
        self.wait(until)

    def wait(self, state: str) -> None:
        says = re.compile(f"{state}.*" if state else "")
        self.qtbot.waitUntil(lambda: says.fullmatch(self.column(self.there.rows, 4)[0]) is not None)


@pytest.fixture
def manager(screen: Screen, home: Path, qtbot: QtBot) -> Manager:
    return Manager(screen, qtbot)


def visible(*buttons: QPushButton) -> list[str]:
    return [button.text() for button in buttons if not button.isHidden()]


def test_it_shows_what_is_here_whose_it_is_and_what_it_takes(manager: Manager) -> None:
    rows = manager.here.rows
    assert len(rows.selectedIndexes()) == 5  # all columns of the first row
    assert [manager.column(rows, number) for number in range(5)] == [
        ["large", "odd", "own"],
        ["LM Studio", "Jan", "Headstart"],
        ["17.0 GB", "0 kB", "1.0 MB"],
        ["31.8 GB, too much", "cannot be opened", "1.9 GB"],
        ["–", "–", "–"],
    ]
    manager.choose(rows, "large")
    assert "Studio-30B takes 31.8 GB of memory" in manager.here.details.text()
    assert "It belongs to LM Studio" in manager.here.details.text()
    assert not manager.here.delete_button.isEnabled()
    manager.choose(rows, "odd")
    assert manager.here.details.text().startswith("odd.gguf is not a readable GGUF file: download it again.")


def test_enter_on_a_row_opens_the_model_and_next_time_says_when(manager: Manager, home: Path, qtbot: QtBot) -> None:
    path = str(home / "org" / "Own" / "own.gguf")
    manager.screen.engine.model = replace(MODEL, path=path)
    manager.choose(manager.here.rows, "own")
    QTest.keyClick(manager.here.rows, Qt.Key.Key_Return)
    opened = manager.screen.application.dialogs.open_dialog
    assert isinstance(opened, OpenModelDialog)
    qtbot.waitUntil(opened.bar.isHidden)
    opened.open_button.click()
    manager.screen.play()
    assert manager.screen.engine.specs[-1].path == path
    assert list(manager.screen.application.settings.last_used) == [MODEL.path, path]
    again = Manager(manager.screen, qtbot)
    assert again.column(again.here.rows, 4) == ["–", "–", "open"]
    again.choose(again.here.rows, "own")
    again.here.delete_button.click()
    assert again.here.says.text() == "own is open. Open another model first, then delete it."


def test_what_is_open_by_another_path_or_guesses_for_it_is_not_deleted(manager: Manager, home: Path) -> None:
    file = home / "org" / "Own" / "own.gguf"
    write_gguf(file)
    model = manager.screen.session.model
    assert model is not None
    manager.choose(manager.here.rows, "own")
    manager.screen.application.settings.drafts[model.path] = str(file.parent)
    manager.here.delete_button.click()
    assert manager.here.says.text() == "own guesses what the open model writes. Switch that off first."
    manager.screen.session.answers.model = replace(model, path=str(file.parent))
    manager.here.delete_button.click()
    assert manager.here.says.text() == "own is open. Open another model first, then delete it."
    assert manager.screen.application.models.box is None


def test_deleting_asks_with_the_size_and_deletes(manager: Manager, home: Path, qtbot: QtBot) -> None:
    manager.choose(manager.here.rows, "own")
    manager.here.delete_button.click()
    box = manager.screen.application.models.box
    assert box is not None
    assert box.text == "Delete own from this computer?"
    assert "1.0 MB become free" in box.more
    box.press("Cancel")
    assert (home / "org" / "Own" / "own.gguf").exists()
    manager.here.delete_button.click()
    manager.screen.application.models.box.press("Delete 1.0 MB")
    qtbot.waitUntil(lambda: manager.column(manager.here.rows, 0) == ["large", "odd"])
    assert list(home.iterdir()) == []
    qtbot.waitUntil(lambda: "…" not in manager.column(manager.here.rows, 3))


def test_the_list_says_what_each_takes_here_before_anything_is_downloaded(manager: Manager) -> None:
    manager.dialog.there_button.click()
    rows = manager.there.rows
    assert rows.topLevelItemCount() == len(offers())
    manager.choose(rows, "Qwen3 14B")
    item = rows.currentItem()
    assert [item.text(number) for number in range(1, 5)] == [
        "about 9.0 GB",
        "about 31.8 GB, too much",
        "Apache-2.0",
        "",
    ]
    assert "choose a smaller one" in manager.there.details.text()
    manager.choose(rows, "Llama 3.2 1B Instruct (from Meta)")
    assert "a token is asked for" in manager.there.details.text()


def test_a_device_that_is_not_there_is_said_of_each_model(
    screen: Screen, home: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise ModelError("This computer has no usable CUDA device. Choose the device 'auto' or 'cpu'.")

    monkeypatch.setattr(presenter, "foreseen_fit", refuse)
    monkeypatch.setattr(presenter, "model_fit", refuse)
    manager = Manager(screen, qtbot)
    assert set(manager.column(manager.here.rows, 3)) == {"cannot be opened"}
    assert manager.here.details.text().startswith("This computer has no usable CUDA device.")


def test_a_model_is_downloaded_and_opened(hub: FakeHub, screen: Screen, home: Path, qtbot: QtBot) -> None:
    manager = Manager(screen, qtbot)
    manager.download()
    assert (home / REPO / FILE).read_bytes() == hub.models[REPO][FILE]
    assert "was checked" in manager.there.details.text()
    there = manager.there
    buttons = (there.begin_button, there.open_button, there.pause_button, there.cancel_button)
    assert visible(*buttons) == ["Open…"]
    qtbot.waitUntil(lambda: "Tiny-Q4_K_M" in manager.column(manager.here.rows, 0))
    qtbot.waitUntil(lambda: "…" not in manager.column(manager.here.rows, 3))
    manager.choose(manager.here.rows, "Tiny-Q4_K_M")
    manager.here.delete_button.click()
    screen.application.models.box.press("Delete 0 kB")
    manager.wait("")
    assert visible(*buttons) == ["Download"]
    manager.download()
    there.open_button.click()
    assert isinstance(screen.application.dialogs.open_dialog, OpenModelDialog)
    qtbot.waitUntil(screen.application.dialogs.open_dialog.bar.isHidden)


def test_a_download_is_paused_goes_on_and_is_thrown_away(
    hub: FakeHub, screen: Screen, home: Path, qtbot: QtBot
) -> None:
    hub.cuts = [1000, *[0] * 9]
    manager = Manager(screen, qtbot)
    there = manager.there
    manager.download(until="failed")
    assert "cannot be reached, or the connection was cut" in there.details.text()
    buttons = (there.begin_button, there.open_button, there.pause_button, there.cancel_button)
    assert visible(*buttons) == ["Go on", "Cancel"]
    hub.cuts = []
    hub.held.clear()
    there.begin_button.click()
    qtbot.waitUntil(lambda: len(hub.tokens) == 7)  # the file is asked for
    assert visible(*buttons) == ["Pause", "Cancel"]
    there.pause_button.click()
    manager.wait("paused")
    assert visible(*buttons) == ["Go on", "Cancel"]
    there.cancel_button.click()
    manager.wait("")
    assert visible(*buttons) == ["Download"]
    hub.held.set()
    qtbot.waitUntil(lambda: not (home / "org" / "Tiny-GGUF").exists())
    hub.ranges.clear()
    manager.download()
    assert hub.ranges == [None]
    qtbot.waitUntil(lambda: "…" not in manager.column(manager.here.rows, 3))


def test_what_was_broken_off_is_there_after_the_next_start(
    hub: FakeHub, make_screen: Callable[..., Screen], home: Path, qtbot: QtBot
) -> None:
    hub.cuts = [1000, *[0] * 9]
    first = Manager(make_screen(), qtbot)
    first.download(until="failed")
    first.screen.window.close()
    hub.cuts = []
    again = Manager(make_screen(), qtbot)
    assert again.column(again.there.rows, 4) == ["paused"]
    hub.ranges.clear()
    again.download()
    assert hub.ranges == ["bytes=1000-"]
    qtbot.waitUntil(lambda: "…" not in again.column(again.here.rows, 3))


def test_a_download_goes_on_without_the_dialog_and_the_window_says_when_it_is_here(
    hub: FakeHub, screen: Screen, home: Path, qtbot: QtBot
) -> None:
    hub.held.clear()
    manager = Manager(screen, qtbot)
    manager.download(until="asking")
    manager.dialog.close_button.click()
    hub.held.set()
    qtbot.waitUntil(lambda: screen.window.notice.text == "Tiny-Q4_K_M was downloaded.")
    screen.window.notice.offer.click()
    opened = screen.application.dialogs.open_dialog
    assert isinstance(opened, OpenModelDialog)
    qtbot.waitUntil(opened.bar.isHidden)


def test_a_model_behind_a_licence_is_had_with_a_token(
    hub: FakeHub, screen: Screen, home: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.token = "hf_secret"
    manager = Manager(screen, qtbot)
    there = manager.there
    manager.download(until="failed")
    assert there.token.isVisible()
    assert "only to those who agreed to its licence" in there.details.text()

    def no_keyring(token: str) -> None:
        raise HeadstartError("This system keeps no keys.")

    monkeypatch.setattr(presenter, "keep_hub_token", no_keyring)
    there.token.setText("hf_secret")
    there.token_button.click()
    assert there.details.text() == "This system keeps no keys."
    monkeypatch.setattr(presenter, "keep_hub_token", lambda token: setattr(hub, "kept", token))
    there.token.setText("hf_secret")
    QTest.keyClick(there.token, Qt.Key.Key_Return)
    manager.wait("here")
    assert not there.token.isVisible()
    qtbot.waitUntil(lambda: "…" not in manager.column(manager.here.rows, 3))


def test_any_model_of_the_hub_can_be_named(hub: FakeHub, screen: Screen, home: Path, qtbot: QtBot) -> None:
    hub.models["some/Other"] = {"Tiny-other.gguf": hub.models[REPO][FILE]}
    manager = Manager(screen, qtbot)
    manager.dialog.there_button.click()
    there = manager.there
    there.name.setText("what is this")
    QTest.keyClick(there.name, Qt.Key.Key_Return)
    assert there.details.text().startswith("“what is this” is no name of a model on the Hub")
    there.name.setText("some/Gone")
    there.name_button.click()
    qtbot.waitUntil(lambda: manager.column(there.rows, 4)[-1] == "failed")
    assert there.details.text() == "There is no some/Gone on the Hub, or a file of it is gone: check the name."
    there.cancel_button.click()
    assert manager.column(there.rows, 0) == ["Tiny"]
    there.name.setText("https://huggingface.co/some/Other")
    there.name_button.click()
    qtbot.waitUntil(lambda: manager.column(there.rows, 4)[-1] == "here")
    assert (home / "some" / "Other" / "Tiny-other.gguf").exists()
    qtbot.waitUntil(lambda: "…" not in manager.column(manager.here.rows, 3))


def test_the_second_download_waits_for_the_first(hub: FakeHub, screen: Screen, home: Path, qtbot: QtBot) -> None:
    hub.models["some/Other"] = {"Tiny-other.gguf": hub.models[REPO][FILE]}
    hub.held.clear()
    manager = Manager(screen, qtbot)
    manager.download(until="asking")
    manager.there.name.setText("some/Other")
    manager.there.name_button.click()
    assert manager.column(manager.there.rows, 4)[1] == "waiting"
    hub.held.set()
    qtbot.waitUntil(lambda: manager.column(manager.there.rows, 4) == ["here", "here"])
    qtbot.waitUntil(lambda: "…" not in manager.column(manager.here.rows, 3))


def test_progress_is_said_in_figures() -> None:
    download = Download("a/b", "", "running", bytes=10**9, says="Downloading…")
    download.note(0.0, 0)
    assert progress(download) == "Downloading… 0 MB of 1.0 GB"
    download.note(2.0, 10**8)
    assert progress(download) == "Downloading… 100 MB of 1.0 GB · 50 MB a second · about 18 s left"
    download.note(2 + 2 * downloads.SPEED_S, 10**8)
    download.note(3 + 2 * downloads.SPEED_S, 10**8)
    assert download.speed == 0.0


@pytest.mark.parametrize(
    ("place", "there"),
    [
        ("/home/me/.lmstudio/models/org/Tiny-GGUF/Tiny-Q4_K_M.gguf", True),
        ("/cache/hub/models--org--Tiny-GGUF/snapshots/abc/tiny-q4_k_m.gguf", True),
        ("/models/org/Tiny-GGUF/Tiny-Q8_0.gguf", False),
        ("/models/org/Tiny-GGUF-v2/Tiny-Q4_K_M.gguf", False),
        ("/models/org/Tiny-GGUF", False),
    ],
)
def test_a_model_of_the_list_is_here_in_whose_folder_ever(place: str, there: bool) -> None:
    model = FoundModel("Tiny", place, Path(place), "LM Studio", 1, False)
    assert is_here(Offer("Tiny", REPO, "*q4_k_m.gguf", 0.1, 31_000, "MIT", 256, 100), model) == there


def test_the_list_is_in_order() -> None:
    found = offers()
    assert [offer.parameters for offer in found] == sorted(offer.parameters for offer in found)
    assert 0.1 <= found[0].parameters <= found[-1].parameters <= 15
    assert len({(offer.repo, offer.file) for offer in found}) == len(found)
    assert all(offer.licence and offer.bytes > 10**8 and offer.kv_bytes_per_token > 10**4 for offer in found)
