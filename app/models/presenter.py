"""The window “Models” and what stands behind it: the folders of this computer, the list, the downloads."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QDialog, QWidget

from app.chat.bridge import Bridge
from app.chat.session import Session
from app.language import tr
from app.models.catalogue import Offer, offers
from app.models.dialog import ModelsDialog
from app.models.downloads import Download, Downloads
from app.settings import Settings, model_spec
from app.widgets.message_box import MessageBox
from app.widgets.work import Work
from app.words import size
from engine import (
    FoundModel,
    HeadstartError,
    Loaded,
    ModelFit,
    ModelSpec,
    delete_model,
    find_models,
    foreseen_fit,
    is_same_model,
    is_server,
    keep_hub_token,
    model_fit,
    wish_of,
)

MOST_USED = 100
"""Models of which it is remembered when they were opened last."""


class ModelsPresenter(QObject):
    """Opens the dialog, and does what is wanted in it; downloads go on without it. `look_at` opens a model once the
    user has seen what it takes, `show` shows a dialog over the window, `offer` says a sentence with a button. `dialog`
    is the one on screen, None when there is none, `box` the question over it that was asked last."""

    def __init__(
        self,
        window: QWidget,
        session: Session,
        bridge: Bridge,
        settings: Settings,
        *,
        look_at: Callable[[str], None],
        show: Callable[[QDialog], None],
        offer: Callable[[str, str, Callable[[], object]], None],
        save_settings: Callable[[], None],
    ) -> None:
        super().__init__(window)
        self._window, self._session, self._settings = window, session, settings
        self._look_at, self._show, self._offer, self._save_settings = look_at, show, offer, save_settings
        self.dialog: ModelsDialog | None = None
        self.box: MessageBox | None = None
        self.downloads = Downloads(self)
        self.downloads.changed.connect(self._on_download)
        self.downloads.finished.connect(self._on_downloaded)
        self.downloads.gone.connect(self._on_gone)
        self._work: Work | None = None
        self._to_look_at: list[FoundModel] = []
        bridge.loaded.connect(self._on_loaded)

    def open(self) -> None:
        """Show the dialog, and look at what there is, off the window's thread."""
        self.dialog = dialog = ModelsDialog(self._window)
        dialog.opened.connect(self._open)
        dialog.deleted.connect(self._ask_to_delete)
        dialog.wanted.connect(self.downloads.begin)
        dialog.named.connect(self._on_named)
        dialog.paused.connect(self.downloads.pause)
        dialog.gone_on.connect(self.downloads.go_on)
        dialog.cancelled.connect(self.downloads.cancel)
        dialog.token_given.connect(self._on_token)
        dialog.finished.connect(self._on_closed)
        dialog.there.show_offers(offers())
        self.downloads.find_unfinished()
        for download in self.downloads.all:
            dialog.there.show_download(download)
        self._show(dialog)
        self._run(lambda: _foreseen(self._settings), self._on_foreseen)

    def stop(self) -> None:
        """The program ends; what was downloaded so far stays."""
        self.downloads.stop()
        if self._work is not None:
            self._work.stop()

    # What is on this computer

    def _run(self, task: Callable[[], object], done: Callable[[object], None]) -> None:
        if self._work is not None:
            self._work.stop()
        self._work = work = Work(lambda _: task(), self)
        work.done.connect(done)
        work.failed.connect(lambda sentence, _: self._say_here(sentence))
        work.start()

    def _say_here(self, sentence: str) -> None:
        if self.dialog is not None:
            self.dialog.here.say(sentence)

    def _on_foreseen(self, found: object) -> None:
        if self.dialog is not None:
            for offer, made in cast(list[tuple[Offer, ModelFit]], found):
                self.dialog.there.show_fit(offer, self._beside_none(made))
            self._look()

    def _look(self) -> None:
        self._run(find_models, self._on_found)

    def _on_found(self, found: object) -> None:
        models = cast(list[FoundModel], found)
        if self.dialog is not None:
            opened = next((each.path for each in models if self._is_open(each.path)), None)
            self.dialog.here.show_models(models, self._settings.last_used, opened)
            self.dialog.there.show_here(models)
            self._to_look_at = list(models)
            self._fit_next()

    def _fit_next(self) -> None:
        """Find what the models take, one after the other."""
        if self.dialog is not None and self._to_look_at:
            model = self._to_look_at.pop(0)
            self._run(lambda: _fit(model_spec(self._settings, model.path)), partial(self._on_fit, model))

    def _on_fit(self, model: FoundModel, found: object) -> None:
        if self.dialog is not None and found is not None:
            fit = cast(ModelFit | str, found)
            self.dialog.here.show_fit(model, fit if isinstance(fit, str) else self._beside_none(fit))
        self._fit_next()

    def _beside_none(self, fit: ModelFit) -> ModelFit:
        """What a model takes once the one that is open is closed: that happens where there is no room for both."""
        freed = self._session.model.weights_bytes if self._session.model else 0
        return replace(fit, free=min(fit.free + freed, fit.total))

    def _is_open(self, path: str) -> bool:
        model = self._session.model
        return model is not None and not is_server(model.path) and is_same_model(model.path, path)

    def _guesses(self, path: str) -> bool:
        """Whether this model guesses what the one that is open writes."""
        draft = self._settings.drafts.get(self._session.model.path, "") if self._session.model else ""
        return bool(draft) and is_same_model(draft, path)

    def _open(self, path: str) -> None:
        if self.dialog is not None:
            self.dialog.accept()
        self._look_at(path)

    def _ask_to_delete(self, model: FoundModel) -> None:
        if self.dialog is None:
            return
        if self._is_open(model.path):
            self.dialog.here.say(tr("{name} is open. Open another model first, then delete it.", name=model.name))
            return
        if self._guesses(model.path):
            self.dialog.here.say(
                tr("{name} guesses what the open model writes. Switch that off first.", name=model.name)
            )
            return
        again = tr(" It is fetched again when it is opened.") if not model.path else ""
        asked = tr("Delete {name} from this computer?", name=model.name)
        more = tr(
            "{size} become free in {parent}. Conversations stay.{again}",
            size=size(model.bytes),
            parent=model.place.parent,
            again=again,
        )
        self.box = box = MessageBox(self.dialog, tr("Delete a model"), asked, more)
        box.add(tr("Delete {size}", size=size(model.bytes)), partial(self._delete, model), "danger")
        box.add(tr("Cancel"), kind="safe")
        box.open()

    def _delete(self, model: FoundModel) -> None:
        try:
            delete_model(model.place)
        except HeadstartError as error:
            self._say_here(str(error))
            return
        self.downloads.forget(model.place)
        self._look()

    def _on_loaded(self, event: Loaded) -> None:
        """Remember when a model was opened last."""
        path = event.model.path
        if not is_server(path):
            others = {name: when for name, when in self._settings.last_used.items() if name != path}
            newest = dict(list(others.items())[-MOST_USED + 1 :])
            self._settings.last_used = {**newest, path: int(time.time())}
            self._save_settings()

    # Downloads

    def _on_named(self, text: str) -> None:
        assert self.dialog is not None
        try:
            repo, file = wish_of(text)
        except HeadstartError as error:
            self.dialog.there.say(str(error))
            return
        self.dialog.there.name.clear()
        self.dialog.there.show_download(self.downloads.begin(repo, file), choose=True)

    def _on_token(self, download: Download, token: str) -> None:
        try:
            keep_hub_token(token)
        except HeadstartError as error:
            if self.dialog is not None:
                self.dialog.there.say(str(error))
            return
        self.downloads.go_on(download)

    def _on_download(self, download: Download) -> None:
        if self.dialog is not None:
            self.dialog.there.show_download(download)

    def _on_gone(self, download: Download) -> None:
        if self.dialog is not None:
            self.dialog.there.show_gone(download)

    def _on_downloaded(self, download: Download) -> None:
        """Where the dialog is closed by now, the window says so."""
        if self.dialog is not None:
            self._look()
        else:
            name = Path(download.path).stem if download.file else download.repo
            self._offer(tr("{name} was downloaded.", name=name), tr("Open it…"), lambda: self._look_at(download.path))

    def _on_closed(self) -> None:
        self.dialog = None
        self._to_look_at.clear()


def _foreseen(settings: Settings) -> list[tuple[Offer, ModelFit]]:
    """About what each model of the list would take here; nothing where the device that was chosen is not there."""
    with suppress(HeadstartError):  # each model on this computer says so
        return [
            (offer, foreseen_fit(offer.name, offer.bytes, offer.kv_bytes_per_token, offer.context, settings.device))
            for offer in offers()
        ]
    return []


def _fit(spec: ModelSpec) -> ModelFit | str | None:
    """What a model takes, or why it cannot be opened."""
    try:
        return model_fit(spec)
    except HeadstartError as error:
        return str(error)
