"""Buttons in the warm boxes of answers: what helps against a part of the system prompt that changes from turn to turn,
or against the form of the chat template (in the newest answer), and the proof that the cache changed nothing (in
each)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtCore import QObject

from app.chat.cures import (
    FREEZE,
    KEEP_THOUGHTS,
    MOVE,
    SYSTEM_IN_QUESTION,
    Culprit,
    cured_prompt,
    find_culprit,
    is_moved_away,
    template_cure,
)
from app.chat.session import Session
from app.language import tr
from app.placeholders import Cure
from app.transcript.divergence_box import PROVE
from app.transcript.message import Answer, MessageWidget
from app.transcript.transcript import Transcript
from app.words import tokens
from engine import Divergence

Action = tuple[str, str, str]

PROVE_ACTION = (PROVE, tr("Prove it"), tr("Read the prompt of this turn with the cache and without."))


class _Words(NamedTuple):
    """What a cure of a chat template is called, what it does, and what is said once it is chosen."""

    label: str
    does: str
    done: str


_TEMPLATE_WORDS = {
    KEEP_THOUGHTS: _Words(
        tr("Keep thoughts in the history"),
        tr("The model then gets its earlier thoughts back with each question."),
        tr("Thoughts stay in the history of this conversation from now on."),
    ),
    SYSTEM_IN_QUESTION: _Words(
        tr("Keep the system prompt in the first question"),
        tr("It then stands at the same place in each prompt."),
        tr("The system prompt stands in the first question of this conversation from now on."),
    ),
}
_READ_ONCE_MORE = tr(
    "The prompt is read once more; after that it stays the same. It can be undone where the temperature is set."
)


class CureOffer(QObject):
    """Shows these buttons in a transcript, and does what they say.

    `set_system_prompt` changes the system prompt of the conversation in view and its cures, `prove` opens the proof of
    the answer with this id, and `say` tells the user a sentence.
    """

    def __init__(
        self,
        transcript: Transcript,
        session: Session,
        *,
        set_system_prompt: Callable[[str, tuple[Cure, ...]], None],
        prove: Callable[[int], None],
        say: Callable[[str], None],
    ) -> None:
        super().__init__(transcript)
        self._transcript = transcript
        self._session = session
        self._set_system_prompt = set_system_prompt
        self._prove = prove
        self._say = say
        for happened in (session.conversation_changed, session.message_added, session.message_finished):
            happened.connect(self._offer)
        session.settings_changed.connect(self._offer)
        session.answers.matched.connect(self._offer)
        transcript.wishes.cure.connect(self._on_wanted)
        transcript.were_built.connect(self._offer_with)
        self._offer()

    def _offer(self, change: object = None) -> None:
        self._offer_with(self._transcript.built)

    def _offer_with(self, messages: Sequence[MessageWidget]) -> None:
        newest = next((each for each in reversed(self._transcript.built) if isinstance(each, Answer)), None)
        for answer in (message for message in messages if isinstance(message, Answer)):
            cures, advice = self._cures(answer.content.id) if answer is newest else ((), None)
            if is_moved_away(self._session.conversation, answer.content.divergence):
                advice = ""
            prove = (PROVE_ACTION,) if answer.content.finish_reason else ()
            answer.box.show_actions((*cures, *prove), advice)

    def _cures(self, answer_id: int) -> tuple[tuple[Action, ...], str | None]:
        """What helps against what this prompt was read again for, and what the box says of it, None: its own advice."""
        if culprit := self._culprit(answer_id):
            return _cure_actions(culprit), ""
        divergence = self._divergence(answer_id)
        if divergence and template_cure(self._session.conversation, divergence):
            words = _TEMPLATE_WORDS[divergence.cure or KEEP_THOUGHTS]
            more = (
                tr("about {tokens} more in each prompt, ", tokens=tokens(divergence.cure_tokens))
                if divergence.cure_tokens
                else ""
            )
            action = (divergence.cure or KEEP_THOUGHTS, words.label, words.does)
            return (action,), tr("{label}: {more}all of it reused.", label=words.label, more=more)
        return (), None

    def _divergence(self, answer_id: int) -> Divergence | None:
        """Where the prompt of this answer left the cache; None where it is not the newest message."""
        messages = self._session.messages
        return messages[-1].divergence if messages and messages[-1].id == answer_id else None

    def _culprit(self, answer_id: int) -> Culprit | None:
        questions = [message for message in self._session.messages if message.role == "user"]
        return find_culprit(self._session.conversation, questions, self._divergence(answer_id))

    def _on_wanted(self, answer_id: int, key: str) -> None:
        if key == PROVE:
            self._prove(answer_id)
        elif key in (KEEP_THOUGHTS, SYSTEM_IN_QUESTION):
            self._cure_template(answer_id)
        elif culprit := self._culprit(answer_id):
            self._cure_prompt(culprit, key)

    def _cure_template(self, answer_id: int) -> None:
        divergence = self._divergence(answer_id)
        if divergence and (cured := template_cure(self._session.conversation, divergence)):
            self._session.set_template(cured)
            self._say(f"{_TEMPLATE_WORDS[divergence.cure or KEEP_THOUGHTS].done} {_READ_ONCE_MORE}")

    def _cure_prompt(self, culprit: Culprit, key: str) -> None:
        cure = self._session.new_cure(culprit.name, "frozen") if key == FREEZE else Cure(culprit.name, "moved")
        cured = cured_prompt(self._session.conversation, culprit, cure)
        self._set_system_prompt(cured.system_prompt, cured.cures)
        self._say(_done(culprit, cure))
        self._offer()


def _cure_actions(culprit: Culprit) -> tuple[Action, ...]:
    shown = culprit.shown
    move = (
        MOVE,
        tr("Move {shown} to the newest message", shown=shown),
        tr("It then stands at the end of each new question."),
    )
    if culprit.pasted:
        return (move,)
    return (
        FREEZE,
        tr("Freeze {shown} for this conversation", shown=shown),
        tr("It then stays as it was sent last."),
    ), move


def _done(culprit: Culprit, cure: Cure) -> str:
    if cure.kind == "frozen":
        return tr("{shown} stays “{value}” in this conversation.", shown=culprit.shown, value=cure.value)
    return tr(
        "{shown} goes with the newest message from now on. The system prompt is read once more; "
        "after that it stays the same.",
        shown=culprit.shown,
    )
