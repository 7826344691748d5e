"""One sentence across the top of the conversation: an error, or something to know."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QToolButton, QWidget

from app import theme
from app.language import tr, translated
from app.widgets.icons import icon
from app.widgets.plain import Label


class NoticeBar(QWidget):
    """Shows the newest sentence until it is closed, and above it an error that still holds, which no other sentence
    replaces. `detail` is what "Copy details" puts on the clipboard, `offer` the button that `show_offer` shows.
    """

    def __init__(self) -> None:
        super().__init__()
        self.detail = ""
        self._is_error = False
        self._sentence = ""
        self._lasting = ("", "")
        self._newest = ("", "", False, "")
        self._says = Label(self)
        self._says.setWordWrap(True)
        self._says.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._copy = QPushButton(tr("Copy details"), self)
        self._copy.setObjectName("link")
        self._copy.clicked.connect(self._copy_details)
        self.offer = QPushButton(self)
        self.offer.setAccessibleName(tr("What can be done about it"))
        self.offer.clicked.connect(self._on_offer)
        self._accept: Callable[[], object] = lambda: None
        self._expire: Callable[[], object] = lambda: None
        self.close_button = close = QToolButton(self)
        close.setObjectName("action")
        close.setIcon(icon("close"))
        close.setIconSize(QSize(16, 16))
        close.setFixedSize(24, 24)
        close.setAccessibleName(tr("Close this notice"))
        close.clicked.connect(self._close)
        row = QHBoxLayout(self)
        row.setContentsMargins(24, 8, 16, 8)
        row.addWidget(self._says, 1)
        row.addWidget(self.offer)
        row.addWidget(self._copy)
        row.addWidget(close)
        self.hide()

    @property
    def text(self) -> str:
        """The sentence shown, as it was given; "" when there is none."""
        return "" if self.isHidden() else self._sentence

    @property
    def has_offer(self) -> bool:
        """Whether something is offered that would expire if this notice went."""
        return not self.isHidden() and not self.offer.isHidden()

    def show_error(self, sentence: str, detail: str = "", stays: bool = False) -> None:
        """Something failed: `sentence` says what to do. It `stays` until it is closed or `end_lasting` is called."""
        if stays:
            self._lasting = (sentence, detail)
            self.clear()
        else:
            self._show(sentence, detail, is_error=True)

    def show_notice(self, sentence: str) -> None:
        """Something to know."""
        self._show(sentence, "", is_error=False)

    def add_notice(self, sentence: str) -> None:
        """Something to know, behind what is said already."""
        said, detail, is_error, offer = self._newest if not self.isHidden() else ("", "", False, "")
        self._show(" ".join(filter(None, (said, sentence))), detail, is_error, offer)

    def show_offer(
        self,
        sentence: str,
        offer: str,
        accept: Callable[[], object],
        is_error: bool = True,
        expire: Callable[[], object] = lambda: None,
        detail: str = "",
    ) -> None:
        """Something failed, or could come next, and a button with the label `offer` does it: it calls `accept`. Where
        that gives False, because it failed, the button stays below what was said about that. Once the offer goes
        without having been taken, `expire` is called."""
        self._end_offer()
        self._accept, self._expire = accept, expire
        self._show(sentence, detail, is_error=is_error, offer=offer)

    def clear(self) -> None:
        """What was said is over, but for what stays."""
        self._end_offer()
        if self._lasting[0]:
            self._show("", "", is_error=True)
        else:
            self.hide()

    def end_lasting(self) -> None:
        """What stayed holds no longer."""
        if self._lasting[0]:
            self._lasting = ("", "")
            if self.has_offer:
                self._show(*self._newest)
            else:
                self.hide()

    def _end_offer(self) -> None:
        expire, self._expire = self._expire, lambda: None
        expire()

    def _on_offer(self) -> None:
        """Nothing that is said meanwhile makes the offer expire: it was taken, or it is there again."""
        offer, expire, self._expire = self.offer.text(), self._expire, lambda: None
        if self._accept() is False:
            sentence, detail, is_error, _ = self._newest
            self._expire = expire
            self._show(sentence, detail, is_error, offer)

    def _close(self) -> None:
        self._lasting = ("", "")
        self._end_offer()
        self.hide()

    def _show(self, sentence: str, detail: str, is_error: bool, offer: str = "") -> None:
        if not offer:
            self._end_offer()
        self._newest = (sentence, detail, is_error, offer)
        lasting, its_detail = self._lasting
        sentence, detail = (_joined(lasting, sentence), _joined(its_detail, detail))
        is_error = is_error or bool(lasting)
        self._is_error = is_error
        self.offer.setText(offer)
        self.offer.setAccessibleName(offer or tr("What can be done about it"))
        self.offer.setVisible(bool(offer))
        self.detail = detail
        self._sentence, sentence = sentence, translated(sentence)
        self._says.setText(sentence)
        self._says.setAccessibleName(tr("Error: {sentence}", sentence=sentence) if is_error else sentence)
        self._copy.setText(tr("Copy details"))
        self._copy.setVisible(bool(detail))
        self.show()
        self.update()

    def _copy_details(self) -> None:
        QGuiApplication.clipboard().setText(f"{self._says.text()}\n\n{self.detail}")
        self._copy.setText(tr("Copied"))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        colours = theme.current()
        painter.fillRect(self.rect(), QColor(colours.bubble))
        painter.fillRect(0, 0, 3, self.height(), QColor(colours.danger if self._is_error else colours.accent))


def _joined(lasting: str, newest: str) -> str:
    return "\n".join(filter(None, (lasting, newest)))
