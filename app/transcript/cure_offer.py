"""Buttons in the warm boxes of answers: what helps against a part of the system prompt that changes from turn to turn
(in the newest answer), and the proof that the cache changed nothing (in each)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject

from app.chat.cures import FREEZE, MOVE, Culprit, cured_prompt, find_culprit, is_moved_away
from app.chat.session import Session
from app.placeholders import Cure
from app.transcript.divergence_box import PROVE
from app.transcript.message import Answer, MessageWidget
from app.transcript.transcript import Transcript

Action = tuple[str, str, str]


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
        session.answers.matched.connect(self._offer)
        transcript.wishes.cure.connect(self._on_wanted)
        transcript.built_above.connect(self._offer_with)
        self._offer()

    def _offer(self, change: object = None) -> None:
        self._offer_with(self._transcript.built)

    def _offer_with(self, messages: Sequence[MessageWidget]) -> None:
        newest = next((each for each in reversed(self._transcript.built) if isinstance(each, Answer)), None)
        for answer in (message for message in messages if isinstance(message, Answer)):
            culprit = self._culprit(answer.content.id) if answer is newest else None
            is_cured = is_moved_away(self._session.conversation, answer.content.divergence)
            answer.box.show_actions(self._actions(answer, culprit), advises=culprit is None and not is_cured)

    def _actions(self, answer: Answer, culprit: Culprit | None) -> list[Action]:
        actions = _cure_actions(culprit) if culprit else []
        if answer.content.finish_reason:
            actions.append((PROVE, "Prove it", "Read the prompt of this turn with the cache and without."))
        return actions

    def _culprit(self, answer_id: int) -> Culprit | None:
        messages = self._session.messages
        if not messages or messages[-1].id != answer_id:
            return None
        questions = [message for message in messages if message.role == "user"]
        return find_culprit(self._session.conversation, questions, messages[-1].divergence)

    def _on_wanted(self, answer_id: int, key: str) -> None:
        if key == PROVE:
            self._prove(answer_id)
            return
        culprit = self._culprit(answer_id)
        if culprit is None:
            return
        cure = self._session.new_cure(culprit.name, "frozen") if key == FREEZE else Cure(culprit.name, "moved")
        cured = cured_prompt(self._session.conversation, culprit, cure)
        self._set_system_prompt(cured.system_prompt, cured.cures)
        self._say(_done(culprit, cure))
        self._offer()


def _cure_actions(culprit: Culprit) -> list[Action]:
    shown = culprit.shown
    move = (MOVE, f"Move {shown} to the newest message", "It then stands at the end of each new question.")
    if culprit.pasted:
        return [move]
    return [(FREEZE, f"Freeze {shown} for this conversation", "It then stays as it was sent last."), move]


def _done(culprit: Culprit, cure: Cure) -> str:
    if cure.kind == "frozen":
        return f"{culprit.shown} stays “{cure.value}” in this conversation."
    return (
        f"{culprit.shown} goes with the newest message from now on. The system prompt is read once more; after that it"
        " stays the same."
    )
