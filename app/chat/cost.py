"""What prompts that are not sent yet would cost: the draft, a change of an earlier question, another system prompt,
other settings of the chat template."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, QTimer, Signal

from app.chat.ahead import WRITING_REST_MS, Reader, alternatives, certain_part, later
from app.chat.attached import Attached
from app.chat.branch import Branch
from app.chat.bridge import Bridge
from app.documents import Attachment
from app.history.records import repair_text
from app.placeholders import Cure, Values, names_in
from engine import HeadstartError, ModelInfo, Preview, Request, TemplateSettings, TurnStats

PREVIEW_REST_MS, READING_REST_MS = 80, 600
"""Less than from one key to the next, for most who type: then what they send was previewed, and its prompt is built.
And more than that even for whoever types slowly, while the engine reads."""
SOON_TOKENS, SOON_CHARACTERS, SOON_S = 32, 64, 0.3
"""A first word is foreseen at once where so few tokens are left to read, so little was typed since they were counted,
and it takes no longer: neither by the estimate, which says little of so few tokens, nor by the newest of such answers.
"""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the next question would be sent with: the branch it continues, what its placeholders stand for, and
    `keep_room` as in `Branch.request`."""

    branch: Branch
    values: Values
    use_cache: bool
    model: ModelInfo
    keep_room: bool

    def request(self, branch: Branch, text: str, files: tuple[Attachment, ...] = ()) -> Request:
        """What this branch would ask if `text` were sent with these files."""
        drafted = branch.with_draft(repair_text(text), self.values, files)
        return drafted.request(self.use_cache, self.values, keep_room=self.keep_room)

    def alternatives(self, branch: Branch, text: str, files: tuple[Attachment, ...] = ()) -> list[Request]:
        """What this branch would ask if `text` were sent now, and what it may ask in place of that when it is sent."""
        then = replace(self, values=later(self.values))
        return [self.request(branch, text, files), *(then.request(branch, each, files) for each in alternatives(text))]

    def with_system_prompt(self, text: str, cures: tuple[Cure, ...]) -> Branch:
        """The branch as it would be under another system prompt."""
        text = repair_text(text)
        kept = tuple(cure for cure in cures if cure.name in names_in(text))
        changed = replace(self.branch.conversation, system_prompt=text, cures=kept)
        return Branch(changed, self.branch.messages, self.branch.left_out)


class Previewer(QObject):
    """Asks the engine for previews once nothing has changed for 80 ms, or for 600 ms while it reads what nobody waits
    for, and hands on the answer to the newest question.

    `requests` builds what to ask about, nothing where there is nothing to ask; `tell` gets one preview for each,
    in their order, when all are there. One that fails needs no word: sending the same says why.

    Attributes: `rest` runs from a change until `ask` is called.
    """

    def __init__(
        self,
        bridge: Bridge,
        requests: Callable[[], Sequence[Request]],
        tell: Callable[..., None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._requests = requests
        self._tell = tell
        self._awaited: dict[int, Preview | None] = {}  # what came so far, by the id it was asked for under
        self.rest = QTimer(self)
        self.rest.setSingleShot(True)
        self.rest.timeout.connect(self._on_rest)
        self._has_waited_for_reading = False
        bridge.preview.connect(self._on_preview)

    def schedule(self) -> None:
        """Something changed: what was asked before is stale."""
        self._give_up()
        self._has_waited_for_reading = False
        self.rest.start(PREVIEW_REST_MS)

    def drop(self) -> None:
        """There is nothing to preview now."""
        self._give_up()
        self.rest.stop()

    def ask(self) -> None:
        """Ask now. The timer calls this in the end."""
        self.rest.stop()
        self._give_up()
        self._awaited = {self._bridge.request_preview(request): None for request in self._requests()}

    def _on_rest(self) -> None:
        """A preview breaks off what is being read ahead or again, and that piece begins anew. While somebody types it
        goes first: else whoever types on a slow computer would have nothing read."""
        if self._bridge.is_reading and not self._has_waited_for_reading:
            self._has_waited_for_reading = True
            self.rest.start(READING_REST_MS - PREVIEW_REST_MS)
        else:
            self.ask()

    def _give_up(self) -> None:
        """Nobody waits for what was asked any more: the engine need not work on it."""
        for request_id, preview in self._awaited.items():
            if preview is None:
                self._bridge.cancel(request_id)
        self._awaited = {}

    def _on_preview(self, preview: Preview) -> None:
        if preview.request_id not in self._awaited:
            return
        self._awaited[preview.request_id] = preview
        previews = [each for each in self._awaited.values() if each is not None]
        if len(previews) == len(self._awaited):
            self._awaited = {}
            self._tell(*previews)


class Cost(QObject):
    """Keeps the cost of five prompts up to date while the session is idle, each as `Previewer` does, and has what is
    certain of the first and the third read ahead.

    `outlook` gives what a question would be sent with now, None while nothing can be sent; `attached` are the files
    that go with drafts; `may_read_ahead` says whether anything is to be read before it is sent. Attributes: `draft`,
    `edit`, `prompt`, `template` and `files` are the previewers of the five, `reader` and `prompt_reader` read ahead.

    Signals: draft_previewed(Preview) of what the composer holds, edit_priced(int, Preview) of a change of the question
    with this id, prompt_previewed(Preview | None) of the draft under the system prompt that is being written; None when
    it is written no longer. template_previewed(Preview, dict[TemplateSettings, Preview]) of the draft as it is, and
    under the settings that are thought of. files_previewed(Preview, Preview) of the draft without its files, and with
    them, where it has any. reading_ahead(Prefill): so much of the draft is read by now.
    """

    draft_previewed = Signal(object)
    edit_priced = Signal(object, object)
    prompt_previewed = Signal(object)
    template_previewed = Signal(object, object)
    files_previewed = Signal(object, object)
    reading_ahead = Signal(object)

    def __init__(
        self,
        bridge: Bridge,
        outlook: Callable[[], Outlook | None],
        attached: Attached,
        may_read_ahead: Callable[[], bool] = lambda: False,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._outlook = outlook
        self._attached = attached
        self._draft = self._read = ""
        self._edited = self._considered = 0  # ids of questions, 0 for none
        self._word_took_s = 0.0
        self._known: tuple[str, Preview] | None = None  # the draft that was previewed last, and its preview
        self._prompt: tuple[str, tuple[Cure, ...]] | None = None
        self._templates: tuple[TemplateSettings, ...] = ()
        self.draft = Previewer(bridge, self._draft_request, self._on_draft_previewed, self)
        self.edit = Previewer(bridge, self._edit_request, self._on_edit_previewed, self)
        self.prompt = Previewer(bridge, self._prompt_request, self.prompt_previewed.emit, self)
        self.template = Previewer(bridge, self._template_requests, self._on_template_previewed, self)
        self.files = Previewer(bridge, self._files_requests, self.files_previewed.emit, self)
        self._may_read_ahead = may_read_ahead
        said = (self.reading_ahead.emit, self._on_draft_read)
        self.reader = Reader(bridge, self._draft_alternatives, *said, parent=self)
        told = self.prompt_previewed.emit
        self.prompt_reader = Reader(bridge, self._prompt_alternatives, ready=told, parent=self, rest_ms=WRITING_REST_MS)
        attached.changed.connect(self._on_files)
        bridge.cache_view.connect(self._preview)  # what is cached may be less or more, perhaps by another conversation

    def draft_changed(self, text: str, edited: int | None = None) -> None:
        """This text would be sent now, in place of the question `edited` or as a new one."""
        if (text, edited or 0) != (self._draft, self._edited):
            if (edited or 0) != self._edited:
                self._known = None
            self._draft, self._edited = text, edited or 0
            self._preview()
            if self._outlook():
                self.reader.text_changed(text, edited)

    def is_word_soon(self, text: str) -> bool:
        """Whether nearly all is cached of what sending this text would ask now, as a new question, so that an answer
        begins at once. Only where that is known, of this text or of one that it goes on with."""
        if self._known is None or self._edited:
            return False
        draft, preview = self._known
        kept = draft if text.startswith(draft) else certain_part(draft)
        is_near = preview.computed_tokens <= SOON_TOKENS and not preview.is_elsewhere
        is_fast = max(preview.seconds, self._word_took_s) <= SOON_S
        return is_near and is_fast and text.startswith(kept) and len(text) - len(kept) <= SOON_CHARACTERS

    def note_answer(self, stats: TurnStats | None) -> None:
        """An answer with these figures has ended; None: another model answers from now on."""
        if stats is None:
            self._word_took_s = 0.0
        elif stats.ttft_s is not None and stats.computed_tokens <= SOON_TOKENS:
            self._word_took_s = stats.ttft_s

    def draft_sent(self) -> None:
        """The draft is no longer one."""
        self._draft, self._edited, self._known = "", 0, None
        self.drop()

    def consider_edit(self, message_id: int | None) -> None:
        """A change of this question is thought of; None: no longer."""
        self._considered = message_id or 0
        self._schedule(self.edit, message_id is not None)

    def consider_prompt(self, text: str | None, cures: tuple[Cure, ...] = ()) -> None:
        """This system prompt is being written; None: no longer."""
        self._prompt = None if text is None else (text, cures)
        self._schedule(self.prompt, text is not None)
        if text is None:
            self.prompt_reader.drop()
            self.prompt_previewed.emit(None)
        elif self._outlook():
            self.prompt_reader.text_changed(text, cures)

    def consider_template(self, settings: Sequence[TemplateSettings]) -> None:
        """Other settings of the chat template are thought of, none: no longer."""
        self._templates = tuple(settings)
        self._schedule(self.template, bool(settings))

    def refresh(self, change: object = None) -> None:
        """Something changed that the cost depends on."""
        self._known = None
        self._preview()
        if self._outlook():
            self.reader.schedule()
        else:
            self.reader.drop()

    def _on_files(self) -> None:
        """Other files go with the draft: nobody types them, so they are read at once."""
        self.refresh()
        if self._outlook():
            self.reader.ask()

    def _preview(self, change: object = None) -> None:
        self._schedule(self.draft, True)
        self._schedule(self.edit, self._considered != 0)
        self._schedule(self.prompt, self._prompt is not None)
        self._schedule(self.template, bool(self._templates))
        self._schedule(self.files, bool(self._draft_files()))

    def drop(self) -> None:
        """Nothing can be sent now."""
        readers = self.reader, self.prompt_reader
        for asking in (self.draft, self.edit, self.prompt, self.template, self.files, *readers):
            asking.drop()

    def request_under(self, text: str, cures: tuple[Cure, ...]) -> Request | None:
        """What sending the draft would ask under another system prompt; None while nothing can be sent."""
        return self._request(lambda outlook: outlook.with_system_prompt(text, cures))

    def _schedule(self, previewer: Previewer, wanted: bool) -> None:
        if wanted and self._outlook():
            previewer.schedule()
        else:
            previewer.drop()

    def _draft_request(self) -> list[Request]:
        request = self._request(lambda outlook: outlook.branch)
        return [request] if request else []

    def _prompt_request(self) -> list[Request]:
        request = self.request_under(*self._prompt) if self._prompt else None
        return [request] if request else []

    def _draft_alternatives(self) -> list[Request]:
        """What sending the draft would ask, and what might be asked in place of it by the time it is sent."""
        if not self._may_read_ahead() or not (outlook := self._outlook()):
            return []
        try:
            branch = outlook.branch.before(self._edited) if self._edited else outlook.branch
        except HeadstartError:  # the question that is being edited left the view
            return []
        self._read = self._draft
        return outlook.alternatives(branch, self._draft, self._draft_files())

    def _prompt_alternatives(self) -> list[Request]:
        """What might be asked under the system prompt that is being written, which is not at its end yet."""
        if not self._may_read_ahead() or self._prompt is None:
            return []
        text, cures = self._prompt
        written = (self.request_under(each, cures) for each in (text, *alternatives(text)))
        return [request for request in written if request]

    def _template_requests(self) -> list[Request]:
        if not (now := self._request(lambda outlook: outlook.branch)):
            return []
        return [now, *(replace(now, template=settings) for settings in self._templates)]

    def _files_requests(self) -> list[Request]:
        files = self._draft_files()
        found = [self._request(lambda outlook: outlook.branch, each) for each in ((), files) if files]
        return [each for each in found if each]

    def _draft_files(self) -> tuple[Attachment, ...]:
        return self._attached.files(self._edited or None)

    def _edit_request(self) -> list[Request]:
        if not (outlook := self._outlook()):
            return []
        before, asked = outlook.branch.before, self._considered
        found = [message for message in outlook.branch.messages if message.id == asked and message.role == "user"]
        return [outlook.request(before(asked), each.content, each.attachments) for each in found]

    def _request(
        self, find_branch: Callable[[Outlook], Branch], files: tuple[Attachment, ...] | None = None
    ) -> Request | None:
        """What sending the draft would ask, in the branch found, with these files (None: those it has)."""
        if not (outlook := self._outlook()):
            return None
        branch = find_branch(outlook)
        try:
            before = branch.before(self._edited) if self._edited else branch
            return outlook.request(before, self._draft, self._draft_files() if files is None else files)
        except HeadstartError:  # the question that is being edited left the view
            return None

    def _on_draft_previewed(self, preview: Preview) -> None:
        self._known = self._draft, preview  # it did not change since it was asked about
        self.draft_previewed.emit(preview)

    def _on_draft_read(self, preview: Preview) -> None:
        self._known = self._read, preview
        self.draft_previewed.emit(preview)

    def _on_template_previewed(self, now: Preview, *others: Preview) -> None:
        self.template_previewed.emit(now, dict(zip(self._templates, others, strict=True)))

    def _on_edit_previewed(self, preview: Preview) -> None:
        is_known = bool(preview.spans) or not preview.is_elsewhere  # where the question stands in the prompt
        if is_known and self._considered and (outlook := self._outlook()):
            self.edit_priced.emit(self._considered, price_of_change(preview, outlook.model))


def price_of_change(preview: Preview, model: ModelInfo) -> Preview:
    """The preview of a prompt as it becomes when its last question changes from its first token on, and stays as long.

    Nothing behind that token can be reused. Where as much as that had to be computed anyway, the preview is the price.
    """
    start = max((span.start for span in preview.spans if span.role == "user"), default=0)
    if preview.reused_tokens <= start:
        return preview
    computed = preview.prompt_tokens - start
    seconds = computed / model.prefill_tokens_per_s if model.prefill_tokens_per_s > 0 else preview.seconds
    pinned = min(preview.pinned_tokens, start)
    disk = max(0, preview.disk_tokens - (preview.reused_tokens - start))
    ahead = max(0, preview.ahead_tokens - (preview.reused_tokens - start))
    changed = replace(preview, reused_tokens=start, computed_tokens=computed, pinned_tokens=pinned, seconds=seconds)
    memory = max(
        0, min(preview.memory_tokens, preview.memory_tokens + preview.disk_tokens - preview.reused_tokens + start)
    )
    return replace(changed, disk_tokens=disk, memory_tokens=memory, ahead_tokens=ahead)
