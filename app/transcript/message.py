"""One message of the transcript: a question in its bubble, or an answer with its figures."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QEnterEvent, QFontMetrics, QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app import theme, words
from app.documents import Attachment
from app.history.records import is_cut
from app.transcript.answer_view import AnswerView
from app.transcript.divergence_box import DivergenceBox
from app.transcript.document_view import DocumentView
from app.transcript.fold import Fold, as_code, fenced
from app.transcript.message_actions import MessageActions, Wishes
from app.transcript.question_view import QuestionView
from app.transcript.reading_note import ReadingNote
from app.transcript.stat_strip import StatStrip
from app.widgets.plain import SoftLabel
from engine import Divergence, Prefill, Role, ToolCall, TurnStats

DIVIDER_HEIGHT, DIVIDER_GAP = 40, 12
"""Pixels of the line across the transcript, and beside the words in its middle."""


@dataclass(frozen=True, slots=True)
class MessageContent:
    """What a message shows. `version` of `versions` counts from 1; `finish_reason` is "" while an answer is written.
    `divergence_place` says where the divergence lies: "in your 2nd message"; `added` what was sent behind a question.
    `is_first_seen`: the model does not see what stands above. `thought` and `tool_calls` are the other parts of an
    answer; `called` is the tool whose result a message is. `files` went with a question. The stretches `accepted` of an
    answer's text were written ahead.
    """

    id: int
    role: Role
    text: str
    stats: TurnStats | None = None
    divergence: Divergence | None = None
    finish_reason: str = ""
    divergence_place: str = ""
    added: str = ""
    is_first_seen: bool = False
    version: int = 1
    versions: int = 1
    thought: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    called: str = ""
    files: tuple[Attachment, ...] = ()
    accepted: tuple[tuple[int, int], ...] = ()

    @property
    def is_cut(self) -> bool:
        """Whether this is an answer that can go on."""
        return is_cut(self.role, self.finish_reason, self.text or self.thought, self.tool_calls)


Folds = dict[tuple[int, str], bool]
"""What the user opened or folded, or had underlined, by the id of the message and the name of the part."""
AHEAD = "written ahead"


class MessageWidget(QWidget):
    """What questions and answers share. What the user wants of one is said in `wishes`."""

    def __init__(self, content: MessageContent, wishes: Wishes, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.content = content
        self.tools = MessageActions(content.id, content.role == "assistant", wishes, self)
        self.tools.set_siblings(content.version, content.versions)
        self.tools.copy.clicked.connect(self.copy)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)

    @property
    def text(self) -> str:
        """The message exactly as it was written or emitted."""
        return self.content.text

    @property
    def tab_stops(self) -> tuple[QWidget, ...]:
        """What the Tab key stops at, in order."""
        raise NotImplementedError

    def copy(self) -> None:
        """Put the message's text on the clipboard; one without text leaves there what there is."""
        if self.text:
            QGuiApplication.clipboard().setText(self.text)

    def end(self) -> None:
        """The message leaves the transcript: none of its timers goes on."""

    @property
    def shown(self) -> DocumentView | None:
        """Where its text is shown; None while it is folded."""
        raise NotImplementedError

    @property
    def marked_top(self) -> int | None:
        """Pixels from its top to the first place that is marked; None where none is."""
        view = self.shown
        top = view.marked_top if view is not None and view.isVisibleTo(self) else None
        return None if view is None or top is None else view.mapTo(self, QPoint(0, top)).y()

    def mark(self, needle: str) -> None:
        """Mark every place of what is searched for; "" none."""
        if self.shown is not None:
            self.shown.mark(needle)

    def reveal(self) -> None:
        """Show what is folded of the text, or left out of a long one."""

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.tools.set_hovered(True)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.tools.set_hovered(False)

    def finish(self, content: MessageContent) -> None:
        """The message in its final form, or as it stands when it is put into the transcript."""
        self.content = content
        self.tools.set_siblings(content.version, content.versions)


class Question(MessageWidget):
    """What the user asked, and the files that went with it, folded."""

    def __init__(self, content: MessageContent, wishes: Wishes, folds: Folds, parent: QWidget | None = None) -> None:
        super().__init__(content, wishes, parent)
        self.divider = Divider("The model no longer sees what stands above this line", self)
        self._column.addWidget(self.divider)
        self.bubble = QuestionView(content.text, self)
        self.files = [self._file(number, each, wishes, folds) for number, each in enumerate(content.files)]
        row = QHBoxLayout()
        row.addSpacing(64)
        row.addWidget(self.bubble, 1, Qt.AlignmentFlag.AlignRight)
        self._column.addLayout(row)
        if content.added:
            added = SoftLabel(f"sent with {content.added}", self)
            added.setAlignment(Qt.AlignmentFlag.AlignRight)
            self._column.addWidget(added)
        self._column.addWidget(self.tools)
        self.finish(content)

    @property
    def tab_stops(self) -> tuple[QWidget, ...]:
        return (*(file.line for file in self.files), self.bubble.view, self.bubble.show_all, *self.tools.buttons)

    def _file(self, number: int, file: Attachment, wishes: Wishes, folds: Folds) -> Fold:
        part = f"file {number}"
        fold = _remembered(Fold(f"Text of {file.name}", self), self.content.id, part, wishes, folds)
        fold.say(f"{words.shortened_line(file.title, 50)} · {len(file.text):,} characters")
        fold.set_text(fenced(file.text))
        fold.set_open(folds.get((self.content.id, part), False))
        self._column.addWidget(fold)
        return fold

    def end(self) -> None:
        for fold in self.files:
            fold.stop()

    @property
    def shown(self) -> DocumentView:
        return self.bubble.view

    def reveal(self) -> None:
        self.bubble.show_whole()

    def finish(self, content: MessageContent) -> None:
        super().finish(content)
        self.divider.setVisible(content.is_first_seen)


class ToolResult(MessageWidget):
    """What a tool gave back, folded."""

    def __init__(self, content: MessageContent, wishes: Wishes, folds: Folds, parent: QWidget | None = None) -> None:
        super().__init__(content, wishes, parent)
        self.fold = _remembered(Fold("Result of a tool", self), content.id, "result", wishes, folds)
        self.fold.say(f"Result of {content.called or 'a tool'}")
        self._column.addWidget(self.fold)
        self._column.addWidget(self.tools)
        for button in (self.tools.again, self.tools.edit, self.tools.prove, self.tools.figures, self.tools.more):
            button.hide()
        self.fold.set_text(content.text)
        self.fold.set_open(folds.get((content.id, "result"), False))

    @property
    def tab_stops(self) -> tuple[QWidget, ...]:
        return (self.fold.line, *self.tools.buttons)

    @property
    def shown(self) -> DocumentView | None:
        return self.fold.view

    def reveal(self) -> None:
        self.fold.set_open(True)

    def end(self) -> None:
        self.fold.stop()


class Answer(MessageWidget):
    """What the model wrote, or is writing: its thought, text, tool calls, progress until it begins, figures, and why it
    was read again. Attributes: thought, calls: what is folded of it; text and copying are those of the answer itself.

    What the user opens or folds is kept in `folds`. By itself only a thought opens that nothing follows.
    """

    def __init__(self, content: MessageContent, wishes: Wishes, folds: Folds, parent: QWidget | None = None) -> None:
        super().__init__(content, wishes, parent)
        self._wishes, self._folds = wishes, folds
        self.thought = self._fold("Thought", "thought")
        self.thought.hide()
        self.calls: list[Fold] = []
        self._calls_column = QVBoxLayout()
        self._calls_column.setSpacing(0)
        self.view = AnswerView(self)
        self.note = ReadingNote(self)
        self.strip = StatStrip(self, lambda: self.tools.awake)
        self.tools.add(self.strip.explain)
        self.box = DivergenceBox(self)
        self.box.clicked.connect(lambda: wishes.divergence.emit(content.id))
        self.box.action_wanted.connect(lambda key: wishes.cure.emit(content.id, key))
        self._column.addWidget(self.thought)
        self._column.addWidget(self.view)
        self._column.addLayout(self._calls_column)
        self._column.addWidget(self.note)
        self._column.addSpacing(4)
        self._column.addWidget(self.strip)
        self._column.addSpacing(4)
        self._column.addWidget(self.box)
        self._column.addWidget(self.tools)
        self._keep_room_for_tools()
        self.finish(content)

    @property
    def text(self) -> str:
        return self.view.text

    @property
    def tab_stops(self) -> tuple[QWidget, ...]:
        calls = [call.line for call in self.calls]
        return (self.thought.line, self.view, *calls, self.box, *self.tools.buttons, self.strip.explain)

    @property
    def shown(self) -> DocumentView:
        return self.view

    def _fold(self, name: str, part: str) -> Fold:
        return _remembered(Fold(name, self), self.content.id, part, self._wishes, self._folds)

    def _keep_room_for_tools(self) -> None:
        """The buttons show once there is text to copy. Their room is kept before that, so that the first word of an
        answer moves nothing."""
        policy = self.tools.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.tools.setSizePolicy(policy)

    def end(self) -> None:
        self.note.end()
        self.view.stop()
        for fold in (self.thought, *self.calls):
            fold.stop()

    def wait(self, sentence: str) -> None:
        """The question is sent and nothing has come yet: the note stands where the text will."""
        self.view.hide()
        self.note.begin(sentence)

    def show_progress(self, progress: Prefill, at_once: bool = False) -> None:
        """The prompt is being read, `at_once`: for longer than it takes to say so."""
        self.note.show_progress(progress)
        if at_once:
            self.note.show()

    def append_thought(self, text: str) -> None:
        """More of the thought before the answer has come."""
        self.note.end()
        self.thought.append(text)
        self.thought.show()
        self._say_thought()

    def append(self, text: str) -> None:
        """More of the answer has come."""
        self.note.end()
        self.view.show()
        self.tools.show()
        self.tools.copy.setEnabled(True)
        self.view.append(text)
        self._say_thought()

    def show_stats(self, stats: TurnStats) -> None:
        """Figures so far. Nothing shows before the first token, so that the strip does not move it."""
        self.content = replace(self.content, stats=stats)
        self._say_thought()
        if stats.ttft_s is not None:
            self.strip.show_stats(stats)

    def finish(self, content: MessageContent) -> None:
        super().finish(content)
        self.tools.setVisible(bool(content.text or content.finish_reason))
        self.tools.copy.setEnabled(bool(content.text))
        self._show_parts(content)
        if content.finish_reason:
            self.note.end()
            self.view.setVisible(bool(content.text) or not content.thought)
        if self.view.text != content.text:
            self.view.set_text(content.text)
        else:
            self.view.settle()
        self._underline()
        if content.stats and (content.finish_reason or content.stats.ttft_s is not None):
            self.strip.show_stats(content.stats, content.finish_reason)
        computed = content.stats.computed_tokens if content.stats else 0
        self.box.show_divergence(content.divergence, content.divergence_place, computed)

    @property
    def is_ahead_underlined(self) -> bool:
        """Whether the user has what was written ahead underlined."""
        return self._folds.get((self.content.id, AHEAD), False)

    def underline_ahead(self, wanted: bool) -> None:
        """Underline what was written ahead, or no longer."""
        self._folds[self.content.id, AHEAD] = wanted
        self._underline()

    def _underline(self) -> None:
        self.view.underline(self.content.accepted if self.is_ahead_underlined else ())

    def _say_thought(self) -> None:
        is_running = not (self.content.finish_reason or self.content.text or self.view.text)
        self.thought.say(words.thought(self.content.stats, is_running))

    def _show_parts(self, content: MessageContent) -> None:
        """Thought and tool calls as they stand in this content."""
        is_all = bool(content.finish_reason) and not (content.text or content.tool_calls)
        self.thought.set_text(content.thought)
        self.thought.set_open(self._folds.get((content.id, "thought"), is_all))
        self.thought.setVisible(bool(content.thought))
        self._say_thought()
        for number, call in enumerate(content.tool_calls):
            self._show_call(number, call)

    def _show_call(self, number: int, call: ToolCall) -> None:
        part = f"call {number}"
        if number == len(self.calls):
            self.calls.append(self._fold("Arguments", part))
            self._calls_column.addWidget(self.calls[-1])
            QWidget.setTabOrder(self.calls[-2].line if number else self.view, self.calls[-1].line)
        fold = self.calls[number]
        fold.say(f"Asked for {call.name}")
        fold.set_text(as_code(call.arguments))
        fold.set_open(self._folds.get((self.content.id, part), False))


def _remembered(fold: Fold, message_id: int, part: str, wishes: Wishes, folds: Folds) -> Fold:
    """A fold of a message that notes what the user makes of it."""

    def note(is_open: bool) -> None:
        folds[message_id, part] = is_open
        wishes.unfolded.emit(message_id)

    fold.toggled.connect(note)
    return fold


class Divider(QWidget):
    """A line across the transcript with a few words in its middle: what is different above and below it."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = text
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(120, DIVIDER_HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        colours, font = theme.current(), theme.text_font(theme.SMALL)
        metrics = QFontMetrics(font)
        text = metrics.elidedText(self.text, Qt.TextElideMode.ElideRight, self.width() - 2 * DIVIDER_GAP)
        width = metrics.horizontalAdvance(text)
        words = QRectF((self.width() - width) / 2, 0, width, DIVIDER_HEIGHT)
        middle = DIVIDER_HEIGHT // 2
        painter.setPen(QColor(colours.edge))
        painter.drawLine(0, middle, int(words.left()) - DIVIDER_GAP, middle)
        painter.drawLine(int(words.right()) + DIVIDER_GAP, middle, self.width(), middle)
        painter.setFont(font)
        painter.setPen(QColor(colours.soft))
        painter.drawText(words, Qt.AlignmentFlag.AlignCenter, text)
