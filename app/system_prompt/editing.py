"""The system prompt while it is edited: what changes in it from turn to turn, what that costs, and what helps."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, QTimer

from app.chat.branch import Branch
from app.chat.bridge import Bridge
from app.chat.changing_parts import Finding, Search, payers
from app.chat.cost import Previewer
from app.chat.cures import FREEZE, MOVE
from app.chat.session import Session
from app.history.records import repair_text
from app.placeholders import Cure, names_in, system_as_sent, with_cure, without_cure
from app.system_prompt.editor import SystemPromptEditor
from app.system_prompt.findings import MOST_PLACES, THAW, Price, PriceQuestion, rows
from engine import Preview, Request


class PromptEditing(QObject):
    """Looks after one open editor. `cures` are those chosen so far; saving the text takes them over.

    `pricer` asks the engine for the tokens of the text and for what each finding costs, once typing rests.
    """

    def __init__(self, editor: SystemPromptEditor, session: Session, bridge: Bridge) -> None:
        super().__init__(editor)
        self.cures = session.conversation.cures
        self.pricer = Previewer(bridge, self._requests, self._on_previews, self)
        self._editor = editor
        self._session = session
        self._findings: tuple[Finding, ...] = ()
        self._prices: dict[Finding, Price] = {}
        self._asked: tuple[Finding, ...] = ()
        self._question: PriceQuestion | None = None
        self._search = Search("")
        self._steps = QTimer(self)
        self._steps.setSingleShot(True)
        self._steps.timeout.connect(self._search_on)
        editor.text_changed.connect(self._on_text)
        editor.findings.chosen.connect(self._on_chosen)
        editor.finished.connect(self._on_finished)
        session.cost.prompt_previewed.connect(editor.next_prompt.show_preview)
        self._on_text()

    @property
    def written(self) -> tuple[str, tuple[Cure, ...]]:
        """The text as it would be saved, and the cures of what occurs in it."""
        text = repair_text(self._editor.text)
        names = names_in(text)
        return text, tuple(cure for cure in self.cures if cure.name in names)

    def take(self, text: str, cures: tuple[Cure, ...]) -> None:
        """Another text with its cures takes the place of what is written; undoing brings that back."""
        self.cures = cures
        self._editor.replace(0, len(self._editor.text), text)
        self._on_text()  # the cures may be others where the text is the same

    def _on_text(self) -> None:
        if not self._editor.text:
            self._editor.show_tokens(0)
        elif not self._session.model:
            self._editor.show_tokens(None)
        self.pricer.drop()
        self._search = Search(self._editor.text)
        self._search_on()

    def _search_on(self) -> None:
        """Look through some more of the newest text; a short one is done at once."""
        if self._search.step():
            self._show_found()
        else:
            self._steps.start()

    def _show_found(self) -> None:
        self._steps.stop()
        self._findings = self._search.findings
        self._prices = {}
        self._show()
        self._price()

    def _price(self) -> None:
        if self._session.model:
            self.pricer.schedule()
        self._session.cost.consider_prompt(self._editor.text, self.cures)

    def _on_finished(self) -> None:
        self._steps.stop()
        self.pricer.drop()
        self._session.cost.consider_prompt(None)

    def _show(self) -> None:
        self._editor.cures_changed = self.cures != self._session.conversation.cures
        paying = payers(self._findings, frozenset(cure.name for cure in self.cures))
        self._editor.findings.show_rows(rows(self._findings, self.cures, self._prices))
        self._editor.mark((finding.start, finding.end, finding in paying) for finding in self._findings)

    def _requests(self) -> list[Request]:
        text = repair_text(self._editor.text)
        if not text:
            return []
        session, values = self._session, self._session.placeholder_values()
        conversation = replace(session.conversation, system_prompt=text, cures=self.cures)
        branch = Branch(conversation, session.messages).with_draft("", values)
        sent = {**values, **dict(branch.messages[-1].filled)}
        self._asked = self._findings[:MOST_PLACES]
        self._question = PriceQuestion(
            branch.request(use_cache=False, values=values),
            tuple(system_as_sent(text[: finding.start], sent, self.cures) for finding in self._asked),
        )
        return self._question.requests()

    def _on_previews(self, *previews: Preview) -> None:
        assert self._question is not None
        prices = self._question.prices(*previews)
        self._editor.show_tokens(prices.system_tokens)
        known = zip(self._asked, zip(prices.behind, prices.seconds, strict=True), strict=False)
        self._prices = dict(known)
        self._show()

    def _on_chosen(self, key: str, action: str) -> None:
        if action == THAW:
            self._cure(without_cure(self.cures, key))
        elif action == FREEZE:
            self._cure(with_cure(self.cures, self._session.new_cure(key, "frozen")))
        elif action == MOVE and key.isdecimal():
            if not self._steps.isActive():  # while a long text is looked through, what was found may stand elsewhere
                self._move_pasted(next(finding for finding in self._findings if f"{finding.start}" == key))
        else:
            self._cure(with_cure(self.cures, Cure(key, "moved")))

    def _move_pasted(self, finding: Finding) -> None:
        self.cures = with_cure(self.cures, Cure(finding.name, "moved"))
        self._editor.replace(finding.start, finding.end, f"{{{{{finding.name}}}}}")

    def _cure(self, cures: tuple[Cure, ...]) -> None:
        self.cures = cures
        self._show()
        self._price()
