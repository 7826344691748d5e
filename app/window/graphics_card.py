"""Software for the graphics card: what fits it, how large it is, and its installation, on request."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QProgressBar, QVBoxLayout, QWidget

from app import theme
from app.language import tr, translated
from app.widgets.plain import Label, SoftLabel
from app.widgets.work import Work
from app.words import size
from engine import (
    GraphicsOffer,
    GraphicsRuntime,
    HeadstartError,
    find_graphics_offer,
    install_graphics,
    installed_graphics,
    remove_graphics,
)

SAYS = tr("The processor computes, unless software for the graphics card is installed, which takes gigabytes.")
NEXT_START = tr("Close Headstart and open it again to use it.")


class GraphicsDialog(QDialog):
    """Looks for a graphics card when it opens, off the window's thread; `says` is the sentence on show.

    Three functions do the work: `find` gives what could be installed, `install` installs it, `remove` deletes it.
    """

    def __init__(
        self,
        parent: QWidget | None = None,
        find: Callable[[], GraphicsOffer] = find_graphics_offer,
        install: Callable[..., GraphicsRuntime] = install_graphics,
        remove: Callable[[], None] = remove_graphics,
        present: Callable[[], GraphicsRuntime | None] = installed_graphics,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Graphics card"))
        self.setModal(True)
        self._find, self._install, self._remove, self._present = find, install, remove, present
        self._offer: GraphicsOffer | None = None
        self._work: Work | None = None
        self.says, self.bar = Label(), QProgressBar()
        self.says.setWordWrap(True)
        self.bar.setTextVisible(False)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.install = buttons.addButton(tr("Install"), QDialogButtonBox.ButtonRole.ActionRole)
        self.install.setObjectName("primary")
        self.remove = buttons.addButton(tr("Remove"), QDialogButtonBox.ButtonRole.ResetRole)
        self.remove.setAutoDefault(False)
        for button in buttons.buttons():
            button.setIcon(QIcon())
        buttons.rejected.connect(self.reject)
        self.install.clicked.connect(self._on_install)
        self.remove.clicked.connect(self._on_remove)
        self.finished.connect(self._stop)
        self._lay_out(buttons)
        self._look()

    def _lay_out(self, buttons: QDialogButtonBox) -> None:
        heading, about = Label(tr("Compute on the graphics card")), SoftLabel(SAYS)
        heading.setFont(theme.text_font(bold=True))
        about.setWordWrap(True)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(24, 24, 24, 24)
        whole.setSpacing(12)
        for widget in (heading, about, self.says, self.bar):
            whole.addWidget(widget)
        whole.addStretch()
        whole.addWidget(buttons)
        self.resize(520, 240)

    def _look(self) -> None:
        self.remove.setVisible(self._present() is not None)
        self._begin(lambda _: self._find(), tr("Looking for a graphics card…"), self._on_offer)

    def _begin(self, task: Callable[..., object], says: str, done: Callable[[object], None]) -> None:
        """Run a task, with a bar that says so until it ends."""
        self.says.setText(says)
        self.bar.setRange(0, 0)
        self.bar.show()
        self.install.hide()
        self._work = work = Work(task, self)
        work.progressed.connect(self._on_progress)
        work.done.connect(done)
        work.failed.connect(lambda sentence, _: self._end(sentence))
        work.start()

    def _end(self, says: str) -> None:
        self.bar.hide()
        self.says.setText(translated(says))
        self.remove.setVisible(self._present() is not None)

    def _on_progress(self, what: str, fraction: float | None) -> None:
        self.says.setText(f"{translated(what)}…")
        self.bar.setRange(0, 0 if fraction is None else 100)
        self.bar.setValue(int(100 * (fraction or 0)))

    def _on_offer(self, found: object) -> None:
        offer = cast(GraphicsOffer, found)
        self._offer = offer
        self._end(words(offer, self._present()))
        self.install.setVisible(not offer.refusal)

    def _on_install(self) -> None:
        offer = self._offer
        assert offer is not None
        self.remove.hide()
        self._begin(
            lambda say: self._install(offer, say),
            tr("Installing…"),
            lambda _: self._end(tr("It is installed. {next_start}", next_start=NEXT_START)),
        )

    def _on_remove(self) -> None:
        try:
            self._remove()
        except HeadstartError as error:
            self._end(str(error))
            return
        self._end(tr("It is removed. The processor computes from the next start on."))

    def _stop(self) -> None:
        if self._work is not None:
            self._work.stop()


def words(offer: GraphicsOffer, present: GraphicsRuntime | None) -> str:
    """What is installed and what could be, with its size and the free disk."""
    has = (
        tr("Torch's build {build} is installed and takes {size}. ", build=present.build, size=size(present.bytes))
        if present
        else ""
    )
    if offer.refusal:
        return has + translated(offer.refusal)
    return tr(
        "{has}{why} Torch's build {build} can use it: {size} to download, {size2} on disk, where {size3} are free.",
        has=has,
        why=translated(offer.why),
        build=offer.build,
        size=size(offer.download_bytes),
        size2=size(offer.disk_bytes),
        size3=size(offer.free_bytes),
    )
