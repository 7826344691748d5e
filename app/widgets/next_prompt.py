"""What sending now would cost: one line, and the prompt as a ribbon of cells under it."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app import words
from app.language import tr
from app.widgets.explain import Explain
from app.widgets.plain import Label, SoftLabel, tool_tip
from app.widgets.ribbon import HIGH, Ribbon
from engine import Matched, Prefill, Preview

LINE, BELOW, SPACING = 20, 4, 6
NEXT = tr("Next prompt")


class NextPrompt(QWidget):
    """Shows the newest preview; what something else would cost goes in front of it for a while.

    `preview` is what is on screen, None for nothing. While a prompt is being answered, it says what the cache held of
    that prompt, in place of the estimate.
    """

    def __init__(self, parent: QWidget | None = None, name: str = NEXT) -> None:
        super().__init__(parent)
        self.preview: Preview | None = None
        self._name = name
        self._shown: tuple[str, str] = ("", "")
        self._newest: tuple[Preview | None, str, str, int | None] = (None, name, "", None)
        self._answered: Preview | None = None
        self._previewed: Preview | None = None
        self._is_instead = False
        self._heading, self._cost = _label(self), _label(self)
        self.explain = Explain("ribbon", self)
        self.ribbon = Ribbon(self)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._lay_out()
        self.show_preview(None)

    def _lay_out(self) -> None:
        line = QHBoxLayout()
        line.setSpacing(SPACING)
        line.addWidget(self._heading)
        line.addWidget(self.explain)
        line.addStretch(1)
        line.addWidget(self._cost)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, BELOW)
        column.setSpacing(0)
        column.addLayout(line)
        column.addStretch(1)
        column.addWidget(self.ribbon)

    @property
    def text(self) -> str:
        """The line, "" while nothing is known."""
        return "  ·  ".join(part for part in self._shown if part)

    def show_preview(self, preview: Preview | None) -> None:
        """Show this preview; None while there is nothing to send to."""
        self._answered, self._previewed = None, preview
        self._newest = (preview, self._name, words.next_prompt(preview) if preview else "", None)
        if preview is None or not self._is_instead:
            self.show_newest()

    def show_ahead(self, progress: Prefill) -> None:
        """So much of what is certain of the next prompt was read ahead since the newest preview. Where nothing of that
        was left to compute, as for a question that was not changed, it stays as it is."""
        if self._previewed is None or self._answered is not None or not self._previewed.computed_tokens:
            return
        done = max(0, min(progress.done, self._previewed.computed_tokens - 1))
        shown = replace(
            self._previewed,
            reused_tokens=self._previewed.reused_tokens + done,
            ahead_tokens=self._previewed.ahead_tokens + done,
            computed_tokens=self._previewed.computed_tokens - done,
            seconds=self._previewed.seconds * (1 - done / self._previewed.computed_tokens),
        )
        self._newest = (shown, self._name, words.next_prompt(shown), None)
        if not self._is_instead:
            self.show_newest()

    def show_matched(self, matched: Matched, context_length: int) -> None:
        """A prompt was looked up and is being answered: show what became of it."""
        self._answered = _became(self._newest[0], matched, context_length)
        self._note_read(self._answered, 0)
        self.show_newest()

    def show_reading(self, progress: Prefill) -> None:
        """So much of the prompt that was looked up is computed by now."""
        if self._answered is not None:
            self._note_read(self._answered, progress.done)
            if not self._is_instead:
                self.show_newest()

    def show_instead(self, preview: Preview, heading: str, cost: str) -> None:
        """Show what something else than Send would cost, until `show_newest`."""
        self._is_instead = True
        self._show(preview, heading, cost, None)

    def show_newest(self) -> None:
        """Go back to the newest preview."""
        self._is_instead = False
        self._show(*self._newest)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Cut the line where there is no room for it; pointing at it says all of it."""
        room = self.width() - self._heading.sizeHint().width() - self.explain.sizeHint().width() - 3 * SPACING
        metrics, whole = self._cost.fontMetrics(), self._shown[1]
        self._cost.setText(metrics.elidedText(whole, Qt.TextElideMode.ElideRight, max(0, room)))
        self._cost.setToolTip(tool_tip(whole))

    def sizeHint(self) -> QSize:
        return QSize(320, LINE + HIGH + 2 + BELOW)

    def _note_read(self, answered: Preview, done: int) -> None:
        self._newest = (answered, tr("This prompt"), words.this_prompt(answered, done), answered.reused_tokens + done)

    def _show(self, preview: Preview | None, heading: str, cost: str, read_tokens: int | None) -> None:
        self.preview = preview
        self._shown = (heading, cost) if preview else ("", "")
        self._heading.setText(self._shown[0])
        self._fit()
        self.explain.setVisible(preview is not None)
        self.setAccessibleName(self.text or self._name)
        self.ribbon.setAccessibleName(tr("{text_}; arrow keys go through its cells", text_=self.text or self._name))
        self.ribbon.show_preview(preview, read_tokens=read_tokens)


def _became(newest: Preview | None, matched: Matched, context_length: int) -> Preview:
    """What the cache held of a prompt. The texts of its cells are those of the newest preview, where that was of the
    same prompt."""
    prompt, reused = matched.prompt_tokens, matched.reused_tokens
    if newest is not None and (newest.prompt_tokens, newest.spans) == (prompt, matched.spans):
        pinned = min(newest.pinned_tokens, reused)
        became = replace(newest, reused_tokens=reused, computed_tokens=matched.computed_tokens, pinned_tokens=pinned)
        became = replace(became, is_elsewhere=False)  # the server has said what it reused
        disk, memory = matched.disk_tokens, matched.memory_tokens
        return replace(became, disk_tokens=disk, memory_tokens=memory, ahead_tokens=matched.ahead_tokens)
    computed, number = matched.computed_tokens, matched.request_id
    became = Preview(number, prompt, reused, computed, 0.0, 0, context_length, matched.spans)
    disk, memory = matched.disk_tokens, matched.memory_tokens
    return replace(became, disk_tokens=disk, memory_tokens=memory, ahead_tokens=matched.ahead_tokens)


def _label(parent: QWidget) -> Label:
    label = SoftLabel(parent)
    label.setFixedHeight(LINE)
    return label
