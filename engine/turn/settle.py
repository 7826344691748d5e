"""Exact mode, while idle: what decoding wrote is computed once more, as a cold run would, so that it can be reused."""

from __future__ import annotations

from collections.abc import Callable, Generator

from engine.cache.prefix_cache import PrefixCache
from engine.models.loaded import LoadedModel
from engine.prompt.divergence import Past
from engine.stopping import Listen, listening
from engine.turn.chunks import grid_chunks


def settle(
    model: LoadedModel, cache: PrefixCache, owner: str, past: Past, note: Callable[[int], None], listen: Listen
) -> Generator[None, None, int]:
    """Compute the full grid steps of the last turn of the conversation `owner`, a step at a time. `note` hears how many
    tokens of it are ready for reuse, however this ends; `listen` is called within a step, and may raise to end it.
    Returns the number of steps.

    It is computed in the regime that the turn ended in. The next turn is at least as long, so it will be in that
    regime, too; what was settled in the one for short texts would have to be read anew.

    `(*ids, 0)` is the tokens to settle and a last one, of any value, that is never computed: `begin` leaves one over,
    because a request needs the logits after its last token.
    """
    ids = past.ids[: len(past.ids) - len(past.ids) % cache.step]
    new_tokens = max(0, past.length - len(ids) - 1)
    if cache.peek((*ids, 0), new_tokens, past.length) == len(ids):
        return 0
    steps = 0
    run = cache.begin((*ids, 0), new_tokens, owner, past.length)
    try:
        cache.restore(run)
        for start, end in grid_chunks(run.reused, len(ids), cache.step):
            with listening(listen):
                model.forward(ids[start:end], run.lane, start)
            cache.commit(run, ids[start:end], settled=True)
            steps += 1
            yield
    finally:
        note(run.lane.settled)
        cache.finish(run)
    return steps
