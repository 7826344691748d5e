"""What one request carries from step to step, which prompts are refused, and what is done where memory is short."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from engine.cache.contract import Cache
from engine.cache.prefix_cache import PrefixCache
from engine.cache.store import is_out_of_memory
from engine.events import Divergence, Finished, FinishReason, Matched, TextDelta, TurnStats
from engine.prompt.parts import Part
from engine.prompt.template import Prompt
from engine.stopping import Listen
from engine.turn.chunks import CHUNK_S
from engine.turn.metrics import TurnClock
from engine.types import InvalidRequestError, Message, OutOfMemoryError, PromptTooLongError, Request

if TYPE_CHECKING:
    from engine.turn.choosing import Choice
    from engine.turn.pipelined import PipelinedChoice

Result = TypeVar("Result")


@dataclass(slots=True)
class Turn:
    """A request that is being answered. The last `from_disk` of the `reused` tokens were read from disk, the last
    `from_memory` before those from the computer's memory behind a GPU's; `ahead` of them were read ahead. `ids` are the
    tokens that were written, behind those of an answer that goes on; the first `told` of them went out with the text.
    `known` are the characters of the text, and of the thought, that were shown before the answer was cut off, and are
    still to come.

    What writing ahead did: the model was run `passes` times behind the prompt, `guessed` tokens were checked in these
    passes, and those of `ids` with the numbers `accepted` are guesses that held. `stretches` of the answer's text are
    made of such alone; `said` characters of it came out so far.
    """

    request_id: int
    request: Request
    prompt: Prompt
    cache: Cache
    clock: TurnClock
    is_cancelled: Callable[[], bool]
    listen: Listen
    longest_chunk_s: Callable[[], float] = lambda: CHUNK_S
    choice: Choice | PipelinedChoice | None = None
    kept_ends: tuple[int, ...] = ()
    reused: int = 0
    from_disk: int = 0
    ahead: int = 0
    from_memory: int = 0
    ids: list[int] = field(default_factory=list)
    told: int = 0
    known: dict[bool, int] = field(default_factory=dict)
    margins: list[float] = field(default_factory=list)
    reason: FinishReason = "stopped"
    passes: int = 0
    guessed: int = 0
    accepted: set[int] = field(default_factory=set)
    stretches: list[tuple[int, int]] = field(default_factory=list)
    said: int = 0

    def matched(self, divergence: Divergence | None) -> Matched:
        """What the look-up found."""
        return Matched(
            request_id=self.request_id,
            prompt_tokens=len(self.prompt.ids),
            reused_tokens=self.reused,
            computed_tokens=len(self.prompt.ids) - self.reused,
            divergence=divergence,
            spans=self.prompt.spans,
            disk_tokens=self.from_disk,
            memory_tokens=self.from_memory,
            notices=self.prompt.notices,
            ahead_tokens=self.ahead,
            kept_ends=self.kept_ends,
        )

    @property
    def begun(self) -> tuple[int, ...]:
        """The tokens of the answer that goes on."""
        return self.prompt.ids[len(self.prompt.asked) :]

    @property
    def length(self) -> int:
        """How many tokens the whole answer has."""
        return self.prompt.begun + len(self.ids)

    def deltas(self, parts: Iterable[Part]) -> Iterator[TextDelta]:
        """Text that can be shown, as events."""
        for whole, is_thought in parts:
            known = self.known.get(is_thought, 0)
            text, self.known[is_thought] = whole[known:], max(0, known - len(whole))
            if not is_thought:
                self._say(len(whole))
            if text:
                new, self.told = tuple(self.ids[self.told :]), len(self.ids)
                yield TextDelta(self.request_id, text, is_thought, new)

    def _say(self, characters: int) -> None:
        """So many characters of the answer come out now, of the tokens that were not told yet."""
        start, self.said = self.said, self.said + characters
        new = range(self.told, len(self.ids))
        if characters and new and self.accepted.issuperset(new):
            if self.stretches and self.stretches[-1][1] == start:
                start = self.stretches.pop()[0]
            self.stretches.append((start, self.said))

    def cut(self, length: int) -> None:
        """What the model wrote behind this many tokens of the whole answer and the end is none of the answer's."""
        length -= self.prompt.begun
        del self.ids[length:], self.margins[length + 1 :]
        self.accepted = {number for number in self.accepted if number < length}
        self.clock.written = min(self.clock.written, length)

    def finished(self, answer: Message, stats: TurnStats) -> Finished:
        """The end of the turn with this answer."""
        return Finished(
            request_id=self.request_id,
            reason=self.reason,
            text=answer.content,
            token_ids=answer.token_ids,
            stats=stats,
            margins=tuple(self.margins),
            thought=answer.thought,
            tool_calls=answer.tool_calls,
            accepted=tuple(self.stretches),
        )


def check_prompt(prompt: Prompt, request: Request, context_length: int, vocabulary: int) -> None:
    """Whether a model that reads `context_length` tokens out of `vocabulary` can answer. Raises HeadstartError with the
    reason where it cannot."""
    if request.server:
        raise InvalidRequestError("This engine knows no servers, only the model that is loaded. Name no server.")
    if not prompt.ids:
        raise InvalidRequestError("This model's chat template leaves nothing of these messages. Ask a question first.")
    if len(prompt.ids) >= context_length:
        raise PromptTooLongError(
            f"This conversation is {len(prompt.ids):,} tokens long; the model reads {context_length:,}. "
            "Shorten the message or the system prompt, or start a new conversation."
        )
    room = context_length - len(prompt.ids)
    if room < request.answer_room(context_length):
        raise PromptTooLongError(
            f"This conversation is {len(prompt.ids):,} tokens long; the model reads {context_length:,}, so only "
            f"{room:,} are left for the answer. Ask for a shorter answer, or start a new conversation."
        )
    if max(prompt.ids) >= vocabulary:  # on a GPU this would end the whole program's use of it
        raise InvalidRequestError(
            "The tokenizer writes tokens that this model does not have: the two do not belong together. "
            "Download the model again, or choose another one.",
            f"token {max(prompt.ids)} of {vocabulary}",
        )


def with_room(cache: PrefixCache, step: Callable[[], Result]) -> Result:
    """Do a step of a request. Where there is no memory for it, it is done again without the reusable blocks, and again
    without the kept ones; what running requests hold stays, so that what was told of them stays true."""
    for is_kept_too in (False, True):
        try:
            return step()
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
        cache.free_device(is_kept_too=is_kept_too)
    return step()


@contextmanager
def lack_in_words() -> Iterator[None]:
    """Turn a lack of memory that remains into a sentence."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        raise OutOfMemoryError(
            "There is not enough memory for this conversation. Close other programs, choose a smaller model, or start "
            "a new conversation.",
            str(error),
        ) from error
