"""Opens the proof of a turn: makes the turn's prompt again as it was sent, and shows the two runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.chat.branch import Branch
from app.chat.bridge import Bridge
from app.chat.session import Session
from app.history.history import History
from app.history.records import StoredMessage, label_of
from app.language import tr, translated
from app.proof.compare import Half
from app.proof.dialog import ProofDialog
from app.proof.proof import Proof, ProofResult, check_ready, gain, own_figures, verdict
from engine import HeadstartError, Matched, Request, is_server


class ProofPresenter(QObject):
    """One for a window, above which the dialogs stand. `say` and `say_error` tell the user a sentence.

    Attributes: `dialog` is the one on screen and `proof` the one that runs, None when there is none.
    """

    def __init__(
        self,
        window: QWidget,
        session: Session,
        bridge: Bridge,
        history: History,
        *,
        say: Callable[[str], None],
        say_error: Callable[[str, str], None],
    ) -> None:
        super().__init__(window)
        self.dialog: ProofDialog | None = None
        self.proof: Proof | None = None
        self._window = window
        self._session = session
        self._bridge = bridge
        self._history = history
        self._say = say
        self._say_error = say_error

    def prove_newest(self) -> None:
        """Prove the newest answer in view."""
        answers = [message for message in self._session.messages if message.role == "assistant"]
        if answers:
            self.prove(answers[-1].id)
        else:
            self._say(tr("There is no answer to prove yet. Ask something first."))

    def prove(self, answer_id: int) -> None:
        """Prove the answer with this id, which is in view."""
        if self.dialog is not None:
            return
        try:
            check_ready(self._session.answers.is_answering, self._session.model is not None, self._is_elsewhere())
            answer, request = self._find(answer_id)
        except HeadstartError as error:
            self._say_error(str(error), error.detail)
            return
        length = len(answer.token_ids) or (answer.stats.written_tokens if answer.stats else 0) or 1
        self._open(answer, request, length)

    def _is_elsewhere(self) -> bool:
        model, label = self._session.model, label_of(self._session.conversation.id)
        return bool(self._bridge.server_of(label)) or (model is not None and is_server(model.path))

    def _find(self, answer_id: int) -> tuple[StoredMessage, Request]:
        messages = self._session.messages
        for index, message in enumerate(messages):
            if message.id == answer_id:
                system = self._history.sent_system_prompt(answer_id)
                written_under = replace(self._session.conversation, template=message.template)
                branch = Branch(written_under, messages[:index])
                values = self._session.placeholder_values()
                return message, branch.request(True, values, system, left_out=message.left_out)
        raise HeadstartError("This answer is not in the conversation in view. Open its conversation first.")

    def _open(self, answer: StoredMessage, request: Request, length: int) -> None:
        self.dialog = dialog = ProofDialog(length, self._window)
        dialog.stop_wanted.connect(self._stop)
        dialog.again_wanted.connect(lambda: self._run(answer, request, length))
        dialog.finished.connect(self._forget)
        dialog.open()
        self._run(answer, request, length)

    def _run(self, answer: StoredMessage, request: Request, length: int) -> None:
        assert self.dialog is not None
        dialog = self.dialog
        dialog.clear()
        dialog.show_turn(answer.stats)
        dialog.set_running(True)
        self.proof = proof = Proof(self._bridge, request, length, self)
        proof.begun.connect(dialog.show_begun)
        proof.matched.connect(dialog.show_matched)
        proof.matched.connect(lambda half, found: self._compare(answer, half, found))
        proof.reading.connect(dialog.show_reading)
        proof.measured.connect(dialog.show_stats)
        proof.ended.connect(lambda result: self._on_ended(proof, result))
        proof.stopped.connect(
            lambda: self._show(proof, tr("Stopped"), tr("Nothing is proved yet. Run it once more for that."))
        )
        proof.failed.connect(
            lambda sentence, detail: self._show(proof, tr("It could not be run"), translated(sentence))
        )
        for end in (proof.ended, proof.stopped, proof.failed):
            end.connect(proof.deleteLater)
        proof.start()

    def _compare(self, answer: StoredMessage, half: Half, found: Matched) -> None:
        """Say what the turn itself reused: the cache may hold more, or less, of its prompt now."""
        if half == "warm" and answer.stats is not None and self.dialog is not None:
            self.dialog.show_own(own_figures(self._number(answer), answer.stats, found))

    def _number(self, answer: StoredMessage) -> int:
        """Which turn of the branch in view this is, as the charts count them."""
        return sum(bool(m.finish_reason and m.stats and m.id <= answer.id) for m in self._session.messages)

    def _stop(self) -> None:
        if self.proof is not None:
            self.proof.stop()

    def _on_ended(self, proof: Proof, result: ProofResult) -> None:
        model = self._session.model
        self._show(proof, gain(result), verdict(result, model.near if model else ""))

    def _show(self, proof: Proof, headline: str, sentence: str) -> None:
        if proof is not self.proof:  # its dialog was closed, and another one runs its own
            return
        self.proof = None
        if self.dialog is not None:
            self.dialog.show_result(headline, sentence)

    def _forget(self) -> None:
        if self.dialog is not None:
            self.dialog.deleteLater()
        self.dialog = None
