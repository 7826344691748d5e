"""While idle, what decoding wrote is read once more, as a prompt is: in the numbers that a cold run gives it.

An answer is written one token at a time and in few bits, so the keys and values of its tokens are not those that a
prompt has there. Only what was read is reused.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

from engine.cache.contract import Run
from engine.cache.prefix_cache import PrefixCache
from engine.cache.salted import SaltedCache
from engine.models.loaded import LoadedModel
from engine.prompt.divergence import Past
from engine.stopping import Listen, listening
from engine.turn.chunks import CHUNK_S, timed_chunks


def settle(
    model: LoadedModel,
    cache: PrefixCache | SaltedCache,
    owner: str,
    past: Past,
    note: Callable[[int], None],
    listen: Listen,
    most_tokens: int,
    estimate: Callable[[int, int], float],
) -> Generator[None, None, int]:
    """Read what the last turn of the conversation `owner` wrote, a piece at a time (`timed_chunks`). `note` hears how
    many tokens of the turn are ready for reuse, however this ends; `listen` is called within a piece, and may raise to
    end it. Returns the number of pieces.

    It is computed in the regime that the turn ended in. The next turn is at least as long, so it will be in that
    regime, too; what was settled in the one for short texts would have to be read anew.

    `(*ids, 0)` is the tokens to settle and a last one, of any value, that is never computed: `begin` leaves one over,
    because a request needs the logits after its last token.
    """
    ids = past.ids
    new_tokens = max(0, past.length - len(ids) - 1)
    if len(ids) >= cache.context_length:
        return 0
    if cache.peek((*ids, 0), new_tokens, past.length) == len(ids):  # another conversation may have read the same
        note(len(ids))
        return 0
    pieces = 0
    run = cache.begin((*ids, 0), new_tokens, owner, past.length)
    try:
        cache.restore(run)
        for _ in read_pieces(model, cache, run, ids, listen, most_tokens, estimate, CHUNK_S):
            pieces += 1
            yield
    finally:
        note(run.lane.settled)
        cache.finish(run)
    return pieces


def read_pieces(
    model: LoadedModel,
    cache: PrefixCache | SaltedCache,
    run: Run,
    ids: tuple[int, ...],
    listen: Listen,
    most_tokens: int,
    estimate: Callable[[int, int], float],
    most_s: float,
) -> Iterator[tuple[int, int]]:
    """Read what a run does not reuse of `ids`, a piece at a time that takes no longer than `most_s` seconds; where each
    began and ended. `listen` is called within a piece, and may raise to end it."""
    for start, end in timed_chunks(run.reused, len(ids), most_tokens, estimate, lambda: most_s):
        with listening(listen):
            model.forward(ids[start:end], run.lane, start)
        cache.commit(run, ids[start:end], settled=True)
        yield start, end
