"""Keeps the charts in step with the session: which turns they show, what was saved, and the way back to a turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject

from app.charts.panel import ChartPanel
from app.charts.series import ShownTurn
from app.charts.words import read_again
from app.chat.bridge import Bridge
from app.chat.savings import SavedTotal, Savings, sum_of
from app.chat.session import Session
from app.chat.turn import ProgramTurn, Turn
from app.history.history import History
from app.history.records import StoredMessage
from app.language import tr
from app.words import is_worth_saying
from engine import HeadstartError, ModelInfo, TurnStats

PROGRAM = tr("Program {}")
"""The title of what another program asked."""
MOST_TURNS = 512
"""How many of the newest turns of all conversations are shown together."""


class ChartPresenter(QObject):
    """One for a panel of charts and a session.

    `show_message` scrolls the transcript to a message; `say` and `say_error` tell the user a sentence.
    """

    def __init__(
        self,
        charts: ChartPanel,
        session: Session,
        bridge: Bridge,
        history: History,
        saved: SavedTotal,
        *,
        show_message: Callable[[int], object],
        say: Callable[[str], None],
        say_error: Callable[[str, str], None],
    ) -> None:
        super().__init__(charts)
        self._charts = charts
        self._session = session
        self._history = history
        self._show_message = show_message
        self._total = saved
        self._here = Savings()
        self._live: TurnStats | None = None
        self._newest_id = 0
        self._programs: deque[tuple[int, ShownTurn]] = deque(maxlen=MOST_TURNS)
        """Turns of other programs, each with the newest answer of the window then: they stand between those."""
        self._say_error = say_error
        session.conversation_changed.connect(self.load)
        session.answers.stats_changed.connect(self._on_stats)
        session.state_changed.connect(lambda _: self._charts.show_reading(session.answers.is_answering))
        session.message_finished.connect(self._on_finished)
        bridge.cache_view.connect(self._charts.add_cache_view)
        session.answers.model_changed.connect(self._on_model)
        session.answers.ended.connect(self._on_any_ended)
        session.conversations_changed.connect(self._load_saved)
        saved.changed.connect(self._show_saved)
        saved.error.connect(say_error)
        self._charts.scope.changed.connect(self.load)
        self._charts.turn_chosen.connect(self.show_turn)
        self._charts.saver.saved.connect(lambda path: say(tr("The chart is saved as {path}.", path=path)))
        self._charts.saver.failed.connect(say_error)
        self.load()

    def load(self, change: object = None) -> None:
        """Show the turns of the conversation in view, or of all conversations."""
        self._charts.load_turns(self._with_programs() if self._charts.scope.shows_all else self._turns_in_view())
        self._live = None
        self._load_saved()
        self._show_miss()

    def add_programs(self, turns: Sequence[ProgramTurn]) -> None:
        """Other programs were answered: their turns stand among those of all conversations."""
        for turn in turns:
            self._programs.append((self._newest_id, ShownTurn(turn.stats, 0, PROGRAM.format(turn.client))))
        self._charts.offer_all()
        if self._charts.scope.shows_all:
            self.load()

    def show_measured(self) -> None:
        """Measured times took the place of estimates in the file, as in the demo: add all up anew from there."""
        self.load()
        self._charts.show_saved(self._here, sum_of(turn.stats for turn in self._all_turns()))

    def _load_saved(self) -> None:
        """Add up what all versions of all turns of the conversation in view saved."""
        number = self._session.conversation.id
        try:
            self._here = sum_of(self._history.figures(number)) if number else Savings()
        except HeadstartError as error:
            self._say_error(str(error), error.detail)
        self._show_saved()

    def _show_saved(self, change: object = None) -> None:
        """The sums, with the turn that is being answered."""
        here, total = self._here, self._total.total
        self._charts.show_saved(*((each.plus(self._live) if self._live else each) for each in (here, total)))

    def show_turn(self, message_id: int) -> None:
        """Scroll to an answer, in whichever conversation and branch it is."""
        try:
            message = self._history.message(message_id)
        except HeadstartError as error:
            self._say_error(str(error), error.detail)
            return
        self._session.open(message.conversation_id)
        if message_id not in [each.id for each in self._session.messages]:
            self._session.choose_sibling(message_id)
        self._show_message(message_id)

    def _show_miss(self) -> None:
        """Name the newest turn in view that read again what had been cached: its explanation may be scrolled away."""
        turns = [message for message in self._session.messages if message.finish_reason and message.stats]
        missed = [(number, message) for number, message in enumerate(turns, 1) if _is_miss(message)]
        said = ""
        if missed and not self._charts.scope.shows_all:
            number, message = missed[-1]
            assert message.divergence is not None
            said = tr(
                "Turn {number} {read_again}",
                number=number,
                read_again=read_again(message.divergence, self._session.place_of_divergence(message)),
            )
        self._charts.show_miss(said)

    def _turns_in_view(self) -> list[ShownTurn]:
        ended = [message for message in self._session.messages if message.finish_reason]
        return [ShownTurn(message.stats, message.id) for message in ended if message.stats]

    def _all_turns(self) -> list[ShownTurn]:
        try:
            return [ShownTurn(stats, number, title) for number, title, stats in self._history.turns(MOST_TURNS)]
        except HeadstartError as error:
            self._say_error(str(error), error.detail)
            return []

    def _with_programs(self) -> list[ShownTurn]:
        """The turns of all conversations and of other programs, in the order in which they ended."""
        turns = self._all_turns()
        self._newest_id = max((self._newest_id, *(turn.message_id for turn in turns)))
        placed = [*((turn.message_id, 0, turn) for turn in turns), *((at, 1, turn) for at, turn in self._programs)]
        return [turn for _, _, turn in sorted(placed, key=lambda each: each[:2])][-MOST_TURNS:]

    def _on_stats(self, message_id: int, stats: TurnStats) -> None:
        title = self._session.conversation.title if self._charts.scope.shows_all else ""
        self._charts.update_turn(stats, message_id, title)
        if self._live is None or stats.ttft_s != self._live.ttft_s:
            self._live = stats
            self._show_saved()

    def _on_finished(self, message: StoredMessage) -> None:
        if message.stats and not self._charts.scope.shows_all:
            self._charts.add_turn(message.stats, message.id)
        self._live = None
        self._load_saved()
        self._show_miss()

    def _on_any_ended(self, turn: Turn, message: StoredMessage, kept: bool) -> None:
        # The session heard of it first, so that the turn is stored by now.
        self._newest_id = max(self._newest_id, message.id)
        if self._charts.scope.shows_all:
            self.load()

    def _on_model(self, model: ModelInfo | None) -> None:
        self._charts.show_weights(model.weights_bytes if model else 0)


def _is_miss(message: StoredMessage) -> bool:
    gone, stats = message.divergence, message.stats
    return gone is not None and stats is not None and is_worth_saying(gone, stats.computed_tokens)
