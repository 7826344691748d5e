"""A chat that outgrew the model's context: which of its oldest turns can be left out, and leaving them out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject

from app.chat.branch import Branch, said_together
from app.chat.bridge import Bridge
from app.chat.session import Session
from app.language import plural, tr
from app.settings import Settings
from engine import Failed, Preview, Request

OFFER = tr("Leave them out and send")


@dataclass(frozen=True, slots=True)
class Plan:
    """What leaves: the first `messages` messages of the branch, which are `turns` questions with their answers and
    `tokens` of the prompt. The model sees the rest from the question `seen_from_id` on; 0 is the newest question, which
    is not stored yet."""

    seen_from_id: int
    messages: int
    turns: int
    tokens: int


def plan_of(branch: Branch, request: Request, preview: Preview) -> Plan | None:
    """The fewest whole turns, from the oldest on, that leave at most half of the context filled, so that the next ones
    begin with the same tokens for a while; None where the newest question alone is too long, or nothing need leave.

    Where half is out of reach, as many turns leave as can while the newest of them stays; that one leaves too, where
    nothing else makes room for the answer. `preview` is of `request`, which `branch` made.
    """
    context, room = preview.context_length, request.answer_room(preview.context_length)
    if preview.prompt_tokens + room <= context:
        return None
    plans = _plans(branch, request, preview)
    roomy = [plan for plan in plans[:-1] if preview.prompt_tokens - plan.tokens <= context // 2]
    fitting = [plan for plan in plans[:-1] if preview.prompt_tokens - plan.tokens + room <= context]
    alone = [plan for plan in plans[-1:] if preview.prompt_tokens - plan.tokens < context]
    return next(iter(roomy or fitting[-1:] or alone), None)


def _plans(branch: Branch, request: Request, preview: Preview) -> list[Plan]:
    """All ways to leave out whole turns, from the oldest on; after the last one only the newest question is left."""
    has_system = request.messages[0].role == "system"
    left_out = branch.left_out
    groups = said_together(branch.messages[left_out:])
    starts = {span.message_index - has_system: span.start for span in reversed(preview.spans)}
    return [
        Plan(
            seen_from_id=group[0].id,
            messages=left_out + sum(map(len, groups[:place])),
            turns=sum(each[0].role == "user" for each in groups[:place]),
            tokens=starts[place] - starts[0],
        )
        for place, group in enumerate(groups)
        if place and group[0].role == "user"
    ]


class Trimming(QObject):
    """After a question was refused because the chat is too long: offers to leave its oldest turns out, or does so at
    once, as the settings say.

    `send` sends what the composer holds. `say` tells the user a sentence, `offer` one with a button of this label that
    calls the function, and `take_back` removes what was said.
    """

    def __init__(
        self,
        session: Session,
        bridge: Bridge,
        settings: Settings,
        *,
        send: Callable[[], None],
        say: Callable[[str], None],
        offer: Callable[[str, str, Callable[[], None]], None],
        take_back: Callable[[], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._bridge = bridge
        self._settings = settings
        self._send = send
        self._say = say
        self._offer = offer
        self._take_back = take_back
        self._asked: tuple[int, Branch, Request] | None = None  # the id of the preview that is awaited
        self._offered: tuple[int, Plan] | None = None  # the conversation it is for
        session.question_refused.connect(self._on_refused)
        session.conversation_changed.connect(self._on_conversation)
        bridge.preview.connect(self._on_preview)
        bridge.failed.connect(self._on_failed)

    def _on_refused(self, text: str, replaced: int | None) -> None:
        found = self._session.would_send(text, replaced) if self._settings.too_long != "refuse" else None
        if found:
            branch, request = found
            self._asked = (self._bridge.request_preview(request), branch, request)

    def _on_failed(self, event: Failed) -> None:
        if self._asked and event.request_id == self._asked[0]:
            self._asked = None  # the refusal is on screen already

    def _on_preview(self, preview: Preview) -> None:
        if self._asked is None or preview.request_id != self._asked[0]:
            return
        _, branch, request = self._asked
        self._asked = None
        plan = plan_of(branch, request, preview)
        if plan is None or branch.conversation.id != self._session.conversation.id:
            return
        self._offered = (branch.conversation.id, plan)
        if self._settings.too_long == "trim":
            self._leave_out()
            self._say(f"{_left_out(plan)} {STAYS}")
        else:
            self._offer(f"{_sizes(preview)} {_can_leave(plan)} {STAYS}", OFFER, self._leave_out)

    def _on_conversation(self, conversation: object) -> None:
        if self._offered and self._offered[0] != self._session.conversation.id:
            self._offered = None
            self._take_back()

    def _leave_out(self) -> None:
        if self._offered:
            _, plan = self._offered
            self._offered = None
            if plan.seen_from_id:
                self._session.leave_out_before(plan.seen_from_id)
            else:
                self._session.leave_out_first(plan.messages)
            self._send()


STAYS = tr("They stay here to be read.")


def _sizes(preview: Preview) -> str:
    room = preview.context_length - preview.prompt_tokens
    left = tr(", which leaves {room:,} for the answer", room=room) if room > 0 else ""
    return tr(
        "This chat has {prompt_tokens:,} tokens, and the model reads {context_length:,}{left}.",
        prompt_tokens=preview.prompt_tokens,
        context_length=preview.context_length,
        left=left,
    )


def _left_out(plan: Plan) -> str:
    return plural(
        "The chat had grown too long, so its oldest turn ({tokens:,} tokens) was left out.",
        "The chat had grown too long, so its {count:,} oldest turns ({tokens:,} tokens) were left out.",
        plan.turns,
        tokens=plan.tokens,
    )


def _can_leave(plan: Plan) -> str:
    return plural(
        "The oldest turn ({tokens:,} tokens) can be left out.",
        "The {count:,} oldest turns ({tokens:,} tokens) can be left out.",
        plan.turns,
        tokens=plan.tokens,
    )
