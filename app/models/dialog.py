"""The window “Models”: what is on this computer, and what can be downloaded."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QItemSelectionModel, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.models.catalogue import Offer, as_of
from app.models.downloads import Download
from app.widgets.plain import Label, SoftLabel
from app.widgets.room import fit
from app.words import about_seconds, size, time_ago
from engine import FoundModel, ModelFit, page_of

FIRST_SIZE = QSize(860, 620)
"""Pixels, where the screen has room."""
LEAST_WIDTH = 640
"""Pixels of rows below which a column is left out."""
KEY = Qt.ItemDataRole.UserRole
NOTHING = "No model is here yet. “To download” has some, and “Open model folder…” in the model menu opens others."
FOREIGN = "It belongs to {origin}, which may delete it; Headstart uses it where it lies."


class ModelsDialog(QDialog):
    """Two pages of rows with their details and buttons below. It shows what it is told to, and says what is wanted.

    Signals: opened(str path); deleted(FoundModel), once the button was pressed: nobody was asked yet; wanted(str, str),
    a repository and a file of it; named(str), what the user typed to be downloaded; paused(Download),
    gone_on(Download), cancelled(Download); token_given(Download, str)."""

    opened = Signal(str)
    deleted = Signal(object)
    wanted = Signal(str, str)
    named = Signal(str)
    paused = Signal(object)
    gone_on = Signal(object)
    cancelled = Signal(object)
    token_given = Signal(object, str)

    def __init__(self, parent: QWidget | None = None, clock: Callable[[], float] = time.time) -> None:
        super().__init__(parent)
        self.setWindowTitle("Models")
        self.setModal(True)
        self._clock = clock
        self.here = HerePage(clock)
        self.there = TherePage()
        self.pages = QStackedWidget()
        self.here_button, self.there_button = _tab("On this computer"), _tab("To download")
        self._lay_out()
        self._connect()
        self.show_page(0)
        fit(self, FIRST_SIZE)

    def _lay_out(self) -> None:
        tabs = QHBoxLayout()
        tabs.setSpacing(8)
        tabs.addWidget(self.here_button)
        tabs.addWidget(self.there_button)
        tabs.addStretch(1)
        self.close_button = _button("Close")
        tabs.addWidget(self.close_button)
        self.pages.addWidget(self.here)
        self.pages.addWidget(self.there)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(24, 16, 24, 16)
        whole.setSpacing(12)
        whole.addLayout(tabs)
        whole.addWidget(self.pages, 1)

    def _connect(self) -> None:
        self.here_button.clicked.connect(lambda: self.show_page(0))
        self.there_button.clicked.connect(lambda: self.show_page(1))
        self.close_button.clicked.connect(self.reject)
        self.here.opened.connect(self.opened)
        self.here.deleted.connect(self.deleted)
        there = self.there
        for mine, its in (
            (self.opened, there.opened),
            (self.wanted, there.wanted),
            (self.named, there.named),
            (self.paused, there.paused),
            (self.gone_on, there.gone_on),
            (self.cancelled, there.cancelled),
            (self.token_given, there.token_given),
        ):
            its.connect(mine)

    def show_page(self, page: int) -> None:
        """The models on this computer (0), or those to download (1)."""
        self.pages.setCurrentIndex(page)
        self.here_button.setChecked(page == 0)
        self.there_button.setChecked(page == 1)
        (self.here if page == 0 else self.there).rows.setFocus()


class HerePage(QWidget):
    """The models on this computer. Signals: opened(str path), deleted(FoundModel)."""

    opened = Signal(str)
    deleted = Signal(object)

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self._models: dict[str, FoundModel] = {}
        self._fits: dict[str, ModelFit | str] = {}
        self._open_path: str | None = None
        self.rows = _rows("Models on this computer", ("Model", "From", "On disk", "In memory", "Used"), 1)
        self.details = _details()
        self.says = _details()
        self.open_button, self.delete_button = _button("Open…", "primary"), _button("Delete…", "danger")
        self.open_button.clicked.connect(self._open)
        self.delete_button.clicked.connect(lambda: self.deleted.emit(self.chosen))
        self.rows.itemActivated.connect(lambda *_: self._open())
        self.rows.currentItemChanged.connect(lambda *_: self._show_chosen())
        _lay_out(self, self.rows, [self.details, self.says], [self.open_button, self.delete_button])
        self.details.setText("Looking for models…")
        self._show_chosen()

    @property
    def chosen(self) -> FoundModel | None:
        """The model of the row that is chosen."""
        item = self.rows.currentItem()
        return self._models.get(item.data(0, KEY)) if item else None

    def show_models(self, models: Sequence[FoundModel], used: Mapping[str, float], open_path: str | None) -> None:
        """Show these models, when each was opened last, and which is open."""
        chosen = self.chosen.place if self.chosen else None
        self._models = {str(model.place): model for model in models}
        self._open_path = open_path
        self.rows.clear()
        for key, model in self._models.items():
            last = used.get(model.path)
            ago = time_ago(max(0.0, self._clock() - last)) if last else "–"
            texts = [model.name, model.origin, size(model.bytes), "…", "open" if model.path == open_path else ago]
            _add(self.rows, key, texts, f"{model.name}\n{model.place}")
            if key in self._fits:
                self._show_fit(key)
        _choose(self.rows, str(chosen) if chosen else "")
        self.details.setText("" if models else NOTHING)
        self._show_chosen()

    def show_fit(self, model: FoundModel, found: ModelFit | str) -> None:
        """What a model takes in memory with the context that was chosen for it, or why it cannot be opened."""
        self._fits[str(model.place)] = found
        self._show_fit(str(model.place))
        self._show_chosen()

    def say(self, sentence: str) -> None:
        """A sentence below the details; "" for none."""
        self.says.setText(sentence)
        self.says.setVisible(bool(sentence))

    def _show_fit(self, key: str) -> None:
        item, found = _item(self.rows, key), self._fits[key]
        if item:
            item.setText(3, "cannot be opened" if isinstance(found, str) else memory(found))

    def _show_chosen(self) -> None:
        model = self.chosen
        self.open_button.setEnabled(model is not None)
        self.delete_button.setEnabled(model is not None and model.is_own)
        self.say("")
        if model is None:
            return
        found = self._fits.get(str(model.place))
        takes = found if isinstance(found, str) else found.refusal or f"{found.sentence}." if found else ""
        foreign = "" if model.is_own else FOREIGN.format(origin=model.origin)
        self.details.setText(" ".join(filter(None, (takes, foreign, str(model.place)))))

    def _open(self) -> None:
        if self.chosen:
            self.opened.emit(self.chosen.path)


class TherePage(QWidget):
    """What can be downloaded, and what is on its way. Signals as those of the dialog."""

    opened = Signal(str)
    wanted = Signal(str, str)
    named = Signal(str)
    paused = Signal(object)
    gone_on = Signal(object)
    cancelled = Signal(object)
    token_given = Signal(object, str)

    def __init__(self) -> None:
        super().__init__()
        self._offers: dict[str, Offer] = {}
        self._fits: dict[str, ModelFit] = {}
        self._downloads: dict[str, Download] = {}
        self._here: dict[str, str] = {}
        self.rows = _rows("Models to download", ("Model", "Download", "In memory", "Licence", "State"), 3)
        self.details = _details()
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("How far the download is")
        self.bar.setRange(0, 1000)
        self.begin_button, self.pause_button = _button("Download", "primary"), _button("Pause")
        self.cancel_button, self.open_button = _button("Cancel"), _button("Open…", "primary")
        self.name = QLineEdit()
        self.name.setPlaceholderText("Another model of the Hub: ORG/NAME, or ORG/NAME/FILE.gguf")
        self.name.setAccessibleName("Another model of the Hub")
        self.name_button = _button("Download it")
        self.token = QLineEdit()
        self.token.setEchoMode(QLineEdit.EchoMode.Password)
        self.token.setPlaceholderText("Token of your account (kept in this system's keyring)")
        self.token.setAccessibleName("Token for the Hub")
        self.token_button = _button("Keep it and go on")
        self._lay_out()
        self._connect()
        self._show_chosen()

    def _lay_out(self) -> None:
        buttons = [self.begin_button, self.open_button, self.pause_button, self.cancel_button]
        self._token_row, name_row = _line_with(self.token, self.token_button), _line_with(self.name, self.name_button)
        _lay_out(self, self.rows, [self.details, self.bar, self._token_row], buttons, name_row)

    def _connect(self) -> None:
        self.rows.currentItemChanged.connect(lambda *_: self._show_chosen())
        self.rows.itemActivated.connect(lambda *_: self._press())
        self.begin_button.clicked.connect(self._begin)
        self.pause_button.clicked.connect(lambda: self.paused.emit(self.download))
        self.cancel_button.clicked.connect(lambda: self.cancelled.emit(self.download))
        self.open_button.clicked.connect(lambda: self.opened.emit(self._path()))
        self.name.returnPressed.connect(self._give_name)
        self.name_button.clicked.connect(self._give_name)
        self.token.returnPressed.connect(self._give_token)
        self.token_button.clicked.connect(self._give_token)

    @property
    def key(self) -> str:
        """Which row is chosen, "" for none."""
        item = self.rows.currentItem()
        return str(item.data(0, KEY)) if item else ""

    @property
    def download(self) -> Download | None:
        """The download of the row that is chosen."""
        return self._downloads.get(self.key)

    def show_offers(self, offers: Sequence[Offer]) -> None:
        """Show the models of the list."""
        for offer in offers:
            key = f"{offer.repo} {offer.file}"
            self._offers[key] = offer
            _add(self.rows, key, [offer.name, f"about {size(offer.bytes)}", "…", offer.licence, ""], offer.repo)
        _choose(self.rows, "")

    def show_fit(self, offer: Offer, found: ModelFit) -> None:
        """About what a model of the list would take in memory here."""
        key = f"{offer.repo} {offer.file}"
        self._fits[key] = found
        if item := _item(self.rows, key):
            item.setText(2, f"about {memory(found)}")
        self._show_chosen()

    def show_here(self, models: Sequence[FoundModel]) -> None:
        """Which models of the list are on this computer already, in whose folder ever."""
        self._here = {
            key: model.path for key, offer in self._offers.items() for model in models if is_here(offer, model)
        }
        for key in self._offers:
            self._show_state(key)
        self._show_chosen()

    def show_download(self, download: Download, *, choose: bool = False) -> None:
        """How far a download is. One that is of no model in the list gets a row of its own."""
        key = next((key for key, each in self._downloads.items() if each is download), None)
        key = key or next((key for key, offer in self._offers.items() if download.is_of(offer.repo, offer.file)), "")
        if not key:
            key = f"{download.repo} {download.file}"
            name = f"{download.repo}/{download.file}".rstrip("/*")
            _add(self.rows, key, [name, "", "", "", ""], download.repo)
        self._downloads[key] = download
        if key not in self._offers and download.bytes and (item := _item(self.rows, key)):
            item.setText(1, size(download.bytes))
        self._show_state(key)
        if choose:
            _choose(self.rows, key)
        if key == self.key:
            self._show_chosen()

    def show_gone(self, download: Download) -> None:
        """A download was thrown away."""
        for key in [key for key, each in self._downloads.items() if each is download]:
            del self._downloads[key]
            item = _item(self.rows, key)
            if item and key not in self._offers:
                self.rows.takeTopLevelItem(self.rows.indexOfTopLevelItem(item))
            self._show_state(key)
        self._show_chosen()

    def say(self, sentence: str) -> None:
        """Say a sentence in place of the details."""
        self.details.setText(sentence)

    def _show_state(self, key: str) -> None:
        if item := _item(self.rows, key):
            download = self._downloads.get(key)
            item.setText(4, state(download) if download else "here" if key in self._here else "")

    def _show_chosen(self) -> None:
        key, download = self.key, self.download
        offer, stage = self._offers.get(key), download.stage if download else ""
        self.details.setText(" ".join(filter(None, (self._about(offer, key), progress(download) if download else ""))))
        self.bar.setVisible(download is not None and stage != "done")
        self.bar.setValue(int(1000 * download.here / download.bytes) if download and download.bytes else 0)
        self.begin_button.setText("Go on" if stage in ("paused", "failed") else "Download")
        self.begin_button.setVisible(stage in ("paused", "failed") or (not stage and key not in self._here))
        self.begin_button.setEnabled(bool(key))
        self.pause_button.setVisible(stage in ("running", "waiting"))
        self.cancel_button.setVisible(stage in ("running", "waiting", "paused", "failed"))
        self.open_button.setVisible(stage == "done" or (not stage and key in self._here))
        self._token_row.setVisible(bool(download and download.needs_token))

    def _about(self, offer: Offer | None, key: str) -> str:
        if offer is None or key in self._downloads:
            return ""
        found = self._fits.get(key)
        takes = (found.refusal or f"{found.sentence}.") if found else ""
        gate = f" Its licence is agreed to at {page_of(offer.repo)}; a token is asked for." if offer.is_gated else ""
        read = f"It reads {offer.context:,} tokens. Licence: {offer.licence}. Figures are about those of {as_of()}."
        return " ".join(filter(None, (takes, read, f"{page_of(offer.repo)}." if not gate else gate.strip())))

    def _press(self) -> None:
        """What Enter on a row does: the first button that is there."""
        for button in (self.begin_button, self.open_button, self.pause_button):
            if button.isVisibleTo(self):
                button.click()
                return

    def _begin(self) -> None:
        if self.download:
            self.gone_on.emit(self.download)
        elif offer := self._offers.get(self.key):
            self.wanted.emit(offer.repo, offer.file)

    def _path(self) -> str:
        return self.download.path if self.download else self._here.get(self.key, "")

    def _give_name(self) -> None:
        if self.name.text().strip():
            self.named.emit(self.name.text())

    def _give_token(self) -> None:
        if self.download and self.token.text().strip():
            text = self.token.text()
            self.token.clear()
            self.token_given.emit(self.download, text)


def is_here(offer: Offer, model: FoundModel) -> bool:
    """Whether a model on this computer is that of the list: it lies in ORG/NAME, or as the Hugging Face cache has
    it."""
    place = str(model.place).replace("\\", "/").lower()
    file = model.place.name if model.place.suffix.lower() == ".gguf" else ""
    folders = (f"/{offer.repo}", f"/models--{offer.repo.replace('/', '--')}")
    return offer.is_of(offer.repo, file) and any(f"{folder}/".lower() in f"{place}/" for folder in folders)


def memory(found: ModelFit) -> str:
    """What a model takes in memory, and whether there is as much."""
    return size(found.whole) if found.fits else f"{size(found.whole)}, too much"


def state(download: Download) -> str:
    """A word or two on a download, for its row."""
    share = f" {download.here / download.bytes:.0%}" if download.bytes else ""
    return {"running": share.strip() or "asking", "done": "here", "paused": f"paused{share}"}.get(
        download.stage, download.stage
    )


def progress(download: Download) -> str:
    """How far a download is, how fast, and how long it will take; or why it ended."""
    if download.stage in ("failed", "waiting"):
        return download.says
    if download.stage == "done":
        return f"{Path(download.path).name} is here, and was checked."
    of = f" of {size(download.bytes)}" if download.bytes else ""
    parts = [f"{download.says or 'Paused.'} {size(download.here)}{of}".strip()]
    if download.stage == "running" and download.speed > 0:
        left = (download.bytes - download.here) / download.speed
        parts += [f"{size(download.speed)} a second", f"about {about_seconds(left)} left"]
    return " · ".join(parts)


class _Rows(QTreeWidget):
    """Rows of which Enter activates the chosen one, on every system. Where there is little room, the column `spare` is
    left out: the details say that, too."""

    def __init__(self, spare: int) -> None:
        super().__init__()
        self._spare = spare

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.setColumnHidden(self._spare, self.width() < LEAST_WIDTH)
        if current := self.currentItem():
            self.scrollToItem(current)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentItem():
            self.itemActivated.emit(self.currentItem(), 0)
        else:
            super().keyPressEvent(event)


def _rows(name: str, columns: Sequence[str], spare: int) -> QTreeWidget:
    made = _Rows(spare)
    made.setAccessibleName(name)
    made.setHeaderLabels(list(columns))
    made.setRootIsDecorated(False)
    made.setUniformRowHeights(True)
    made.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    made.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    made.setMinimumHeight(96)
    made.setTextElideMode(Qt.TextElideMode.ElideMiddle)
    header = made.header()
    header.setStretchLastSection(False)
    header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    return made


def _add(rows: QTreeWidget, key: str, texts: Sequence[str], about: str) -> None:
    item = QTreeWidgetItem(list(texts))
    item.setData(0, KEY, key)
    item.setToolTip(0, about)
    rows.addTopLevelItem(item)


def _item(rows: QTreeWidget, key: str) -> QTreeWidgetItem | None:
    items = (rows.topLevelItem(place) for place in range(rows.topLevelItemCount()))
    return next((item for item in items if item and item.data(0, KEY) == key), None)


def _choose(rows: QTreeWidget, key: str) -> None:
    """Choose this row, or the first one where there is no such."""
    item = _item(rows, key) or rows.topLevelItem(0)
    if item:
        flags = QItemSelectionModel.SelectionFlag
        rows.setCurrentItem(item, 0, flags.ClearAndSelect | flags.Rows)


def _details() -> Label:
    made = SoftLabel()
    made.setWordWrap(True)
    made.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return made


def _button(text: str, kind: str = "") -> QPushButton:
    made = QPushButton(text)
    made.setObjectName(kind)
    made.setAutoDefault(False)
    return made


def _tab(text: str) -> QPushButton:
    made = _button(text, "tab")
    made.setCheckable(True)
    return made


def _line_with(field: QLineEdit, button: QPushButton) -> QWidget:
    made = QWidget()
    row = QHBoxLayout(made)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    row.addWidget(field, 1)
    row.addWidget(button)
    return made


def _lay_out(
    page: QWidget,
    rows: QTreeWidget,
    below: Sequence[QWidget],
    buttons: Sequence[QPushButton],
    last: QWidget | None = None,
) -> None:
    """Rows, what is said of the chosen one, its buttons, and one line more."""
    row = QHBoxLayout()
    row.setSpacing(8)
    for button in buttons:
        row.addWidget(button)
    row.addStretch(1)
    whole = QVBoxLayout(page)
    whole.setContentsMargins(0, 0, 0, 0)
    whole.setSpacing(8)
    whole.addWidget(rows, 1)
    for widget in below:
        whole.addWidget(widget)
    whole.addLayout(row)
    if last is not None:
        whole.addWidget(last)
