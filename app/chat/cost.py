"""What prompts that are not sent yet would cost: the draft, a change of an earlier question, another system prompt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from app.chat.branch import Branch, repair_text
from app.chat.bridge import Bridge
from app.chat.previewer import Previewer
from app.chat.price import price_of_change
from app.placeholders import Cure, Values, names_in
from engine import CacheView, HeadstartError, ModelInfo, Preview, Request


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a question would be sent with now."""

    branch: Branch
    values: Values
    use_cache: bool
    model: ModelInfo

    def request(self, branch: Branch, text: str) -> Request:
        """What this branch would ask if `text` were sent."""
        return branch.with_draft(repair_text(text), self.values).request(self.use_cache, self.values)

    def with_system_prompt(self, text: str, cures: tuple[Cure, ...]) -> Branch:
        """The branch as it would be under another system prompt."""
        text = repair_text(text)
        kept = tuple(cure for cure in cures if cure.name in names_in(text))
        changed = replace(self.branch.conversation, system_prompt=text, cures=kept)
        return Branch(changed, self.branch.messages, self.branch.left_out)


class Foresight(QObject):
    """Asks the engine for previews. `look` gives the present outlook, None while nothing can be sent.

    Signals: preview_changed(Preview) of the draft, price_changed(int, Preview) of a change of the question with this
    id, prompt_previewed(Preview | None) of the draft under the system prompt that is being written; None when it is
    written no longer.
    """

    preview_changed = Signal(object)
    price_changed = Signal(int, object)
    prompt_previewed = Signal(object)

    def __init__(self, bridge: Bridge, look: Callable[[], Outlook | None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._draft = ""
        self._edited = self._considered = 0  # ids of questions, 0 for none
        self._prompt: tuple[str, tuple[Cure, ...]] | None = None
        self.draft = Previewer(bridge, self._draft_request, self)
        self.draft.preview_changed.connect(self.preview_changed)
        self.price = Previewer(bridge, self._price_request, self)
        self.price.preview_changed.connect(self._on_price)
        self.prompt = Previewer(bridge, self._prompt_request, self)
        self.prompt.preview_changed.connect(self.prompt_previewed)
        bridge.cache_view.connect(self._on_cache_view)

    def draft_changed(self, text: str, edited: int | None) -> None:
        """This text would be sent now, in place of the question `edited` or as a new one."""
        if (text, edited or 0) != (self._draft, self._edited):
            self._draft, self._edited = text, edited or 0
            self.refresh()

    def draft_sent(self) -> None:
        """The draft is no longer one."""
        self._draft, self._edited = "", 0
        self.drop()

    def consider_edit(self, message_id: int | None) -> None:
        """A change of this question is thought of; None: no longer."""
        self._considered = message_id or 0
        self._schedule(self.price, message_id is not None)

    def consider_prompt(self, text: str | None, cures: tuple[Cure, ...] = ()) -> None:
        """This system prompt is being written; None: no longer."""
        self._prompt = None if text is None else (text, cures)
        self._schedule(self.prompt, text is not None)
        if text is None:
            self.prompt_previewed.emit(None)

    def refresh(self) -> None:
        """Something changed that the cost depends on."""
        self._schedule(self.draft, True)
        self._schedule(self.price, self._considered != 0)
        self._schedule(self.prompt, self._prompt is not None)

    def drop(self) -> None:
        """Nothing can be sent now."""
        for previewer in (self.draft, self.price, self.prompt):
            previewer.drop()

    def under(self, text: str, cures: tuple[Cure, ...]) -> Request | None:
        """What sending the draft would ask under another system prompt; None while nothing can be sent."""
        return self._request(lambda look: look.with_system_prompt(text, cures))

    def _schedule(self, previewer: Previewer, wanted: bool) -> None:
        if wanted and self._look():
            previewer.schedule()
        else:
            previewer.drop()

    def _draft_request(self) -> Request | None:
        return self._request(lambda look: look.branch)

    def _prompt_request(self) -> Request | None:
        if self._prompt is None:
            return None
        return self.under(*self._prompt)

    def _request(self, find_branch: Callable[[Outlook], Branch]) -> Request | None:
        """What sending the draft would ask, in the branch found."""
        look = self._look()
        if look is None:
            return None
        branch = find_branch(look)
        try:
            return look.request(branch.before(self._edited) if self._edited else branch, self._draft)
        except HeadstartError:  # the question that is being edited left the view
            return None

    def _price_request(self) -> Request | None:
        look = self._look()
        texts = [message.content for message in look.branch.messages if message.id == self._considered] if look else []
        if not look or not texts:
            return None
        return look.request(look.branch.before(self._considered), texts[0])

    def _on_price(self, preview: Preview) -> None:
        if self._considered and (look := self._look()):
            self.price_changed.emit(self._considered, price_of_change(preview, look.model))

    def _on_cache_view(self, view: CacheView) -> None:
        self.refresh()  # something was published, dropped or evicted, perhaps by another conversation
