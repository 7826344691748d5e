"""What the cache reuses: as much as it may, the right blocks, never the last token. With the model of digests."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cache.prefix_cache import PrefixCache
from engine.types import BLOCK_TOKENS
from tests.depth import cases, fewer
from tests.engine.fake_kv import DigestModel, check_contents, cold, compute, make_cache, run_prompt, step
from tests.engine.inside import forget_lanes, lanes

MODEL = DigestModel()
PROMPT = [token % 5 for token in range(300)]
OTHER = [9] * 40
BORDERS = (0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65)
"""Around the ends of blocks, and of a prompt of 65 tokens."""


@pytest.mark.parametrize("through", ["lane", "blocks"])
@pytest.mark.parametrize("length", cases(range(1, 65), BORDERS))
def test_the_whole_prompt_hits(length: int, through: str) -> None:
    """ENGINE_BUGS kind A1, A2, A3: the last token is always computed, and a longer prompt then hits every block."""
    cache = make_cache()
    prompt = PROMPT[:length]
    for _ in range(3):
        reused, logits = run_prompt(cache, MODEL, prompt)
        assert logits == [cold(prompt)]
        if through == "blocks":
            forget_lanes(cache)
    expected = length - 1 if through == "lane" else (length - 1) // BLOCK_TOKENS * BLOCK_TOKENS
    assert reused == cache.peek(prompt) == expected
    longer = prompt + OTHER
    reused, logits = run_prompt(cache, MODEL, longer)
    assert reused == (length if through == "lane" else length // BLOCK_TOKENS * BLOCK_TOKENS)
    assert logits == [cold(longer)]
    check_contents(cache, MODEL)


@pytest.mark.parametrize("branch", cases(range(0, 66), BORDERS))
def test_every_branch_point(branch: int) -> None:
    """ENGINE_BUGS kind B11, B12: prefix and rest are put together rightly at every split, block numbers scattered."""
    cache = make_cache()
    run_prompt(cache, MODEL, PROMPT[:65])
    prompt = PROMPT[:branch] + OTHER
    reused, logits = run_prompt(cache, MODEL, prompt)
    assert (reused, logits) == (min(branch, 65), [cold(prompt)])
    forget_lanes(cache)
    reused, logits = run_prompt(cache, MODEL, PROMPT[:65])
    assert (reused, logits) == (64, [cold(PROMPT[:65])])
    check_contents(cache, MODEL)


@pytest.mark.parametrize("chunk", [1, 16, 24])
def test_what_decoding_wrote_is_not_published(chunk: int) -> None:
    """ENGINE_BUGS kind F39: what was written is not reused as if it had been read."""
    cache, path = make_cache(), PROMPT[:140]
    run = cache.begin(PROMPT[:40], 100)
    cache.restore(run)
    while len(run.lane.ids) < len(path):
        step(cache, MODEL, run, path, chunk, read=40)
    cache.finish(run)
    settled = 40 // chunk * chunk
    assert cache.peek(PROMPT[:200]) == settled
    assert cache.view().cached_tokens == settled // BLOCK_TOKENS * BLOCK_TOKENS


def test_answers_are_cached_too() -> None:
    """ENGINE_BUGS kind G47: hit of turn n + 1 >= prompt + answer - 1, rounded to a block; scenario 4, thirty turns."""
    cache = make_cache(context=2048, tokens=8192)
    history: list[int] = []
    for turn in range(30):
        prompt = history + PROMPT[:7]
        reused, _ = run_prompt(cache, MODEL, prompt, [turn % 4] * 23)
        assert reused in (len(history), len(history) // BLOCK_TOKENS * BLOCK_TOKENS)
        history = prompt + [turn % 4] * 23


def test_random_prompts_never_hit() -> None:
    """ENGINE_BUGS kind F40, scenario 27: what was not cached is not counted as reused."""
    chance, cache = random.Random(1), make_cache(tokens=4096)
    reused = [run_prompt(cache, MODEL, [chance.randrange(1000, 10**6) for _ in range(100)])[0] for _ in range(40)]
    assert reused == [0] * 40


def test_two_chats_in_turns_hit_from_the_second_round_on() -> None:
    """Scenario 14: A, B, A, B without a common start."""
    cache = make_cache(context=2048, tokens=10000)
    chats = {"a": [1] * 1000, "b": [2] * 1000}
    for round_ in range(4):
        for name in chats:
            reused, _ = run_prompt(cache, MODEL, chats[name])
            assert reused >= (round_ > 0) * (len(chats[name]) - 40 - BLOCK_TOKENS)
            chats[name] += [round_] * 40


def test_five_regenerations_reuse_all_but_the_last_token() -> None:
    """Scenario 9."""
    cache = make_cache()
    run_prompt(cache, MODEL, PROMPT[:100], [0] * 30)
    for attempt in range(1, 6):
        reused, logits = run_prompt(cache, MODEL, PROMPT[:100], [attempt] * 30)
        assert (reused, logits[0]) == (99, cold(PROMPT[:100]))
    for attempt in range(6):
        assert cache.peek(PROMPT[:100] + [attempt] * 30 + [7]) >= 100 + 30 - 1 - BLOCK_TOKENS


def test_an_edited_first_message_leaves_the_old_branch_warm() -> None:
    """Scenario 8: switching back is a full hit."""
    cache = make_cache(context=2048, tokens=8192)
    old, new = PROMPT[:20] + [3] * 400, PROMPT[:20] + [4] * 400
    for prompt in (old, new):
        run_prompt(cache, MODEL, prompt)
    assert run_prompt(cache, MODEL, old)[0] >= len(old) - 1 - BLOCK_TOKENS


@pytest.mark.parametrize(("budget", "kept"), [(8192, 130), (2300, 128)])
def test_a_lane_that_grows_loses_less_than_a_block(budget: int, kept: int) -> None:
    """A longer context needs a larger lane. What is in the old one moves where both have room; else what was published
    is brought back."""
    cache = make_cache(context=2048, tokens=budget)
    run_prompt(cache, MODEL, PROMPT[:100], [1] * 30)
    longer = PROMPT[:100] + [1] * 30 + [2] * 500
    assert cache.peek(longer, 1100) == kept
    run = cache.begin(longer, 1100)
    cache.restore(run)
    assert (run.reused, compute(cache, MODEL, run, longer, chunk=24)) == (kept, cold(longer))
    cache.finish(run)
    assert len(lanes(cache)) == 1


@fewer()
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 90), st.integers(0, 60)), min_size=2, max_size=14),
    st.integers(208, 900),
    st.integers(1, 2),
)
def test_what_peek_says_is_what_begin_reuses(turns: list[tuple[int, int, int]], budget: int, most: int) -> None:
    """The preview tells the truth: peek changes nothing, and a request right after it reuses as much. Also where the
    lane has to grow, and where the budget is so tight that the hit itself must give way."""
    _play(make_cache(context=200, tokens=budget, max_lanes=most, lane_step=48), turns)


def hits(cache: PrefixCache) -> list[tuple[int, int]]:
    """How often each run that the view shows was used."""
    return [(node.block, node.hits) for node in cache.view(with_nodes=True).nodes]


def _play(cache: PrefixCache, turns: list[tuple[int, int, int]]) -> None:
    histories: list[list[int]] = [[], PROMPT[:40], PROMPT[:40], [9] * 20]
    for chat, asked, answered in turns:
        prompt = (histories[chat] + [chat + 2] * (asked + 1))[-190:]
        answer = [chat + 7] * min(answered, 199 - len(prompt))
        before = hits(cache)
        foreseen = cache.peek(prompt, len(answer))
        assert hits(cache) == before
        assert run_prompt(cache, MODEL, prompt, answer)[0] == foreseen
        if chat % 2:
            cache.keep(prompt[:48], str(chat), len(prompt))
        histories[chat] = prompt + answer
        cache.check_integrity()


def test_a_second_client_gets_its_own_lane() -> None:
    """Scenario 15: two requests at once, and neither loses its hits."""
    cache = make_cache(tokens=4096, max_lanes=2)
    one, two = PROMPT[:100], [8] * 100
    first = cache.begin(one, 4)
    second = cache.begin(two, 4)
    for run in (first, second):
        cache.restore(run)
    for path in (range(24, 101, 24), [100]):
        for end in path:
            for run, prompt in ((first, one), (second, two)):
                MODEL.forward(prompt, len(run.lane.ids), end, run.lane)
                cache.commit(run, prompt[len(run.lane.ids) : end], settled=True)
    for run in (second, first):
        cache.finish(run)
    check_contents(cache, MODEL)
    for prompt in (one, two, one, two):
        reused, logits = run_prompt(cache, MODEL, prompt)
        assert (reused, logits) == (99, [cold(prompt)])


def test_no_lane_left_is_said() -> None:
    cache = make_cache(max_lanes=1)
    run = cache.begin(PROMPT[:50], 4)
    with pytest.raises(MemoryError, match="busy"):
        cache.begin(OTHER, 4)
    cache.finish(run)
    check_contents(cache, MODEL)


def test_two_regimes_never_meet() -> None:
    """ENGINE_BUGS kind E38: a chat that grows past the switch is read anew once, and hits on both sides of it."""
    cache = make_cache(tokens=4096, switch=100)
    short, long = PROMPT[:80], PROMPT[:80] + OTHER
    assert run_prompt(cache, MODEL, short)[0] == 0
    assert (cache.peek(long), run_prompt(cache, MODEL, long)[0]) == (0, 0)
    assert run_prompt(cache, MODEL, [*long, 1])[0] == 120
    check_contents(cache, MODEL)
    assert run_prompt(cache, MODEL, short)[0] == 64
    assert cache.peek(short, 10) == 79
    assert cache.peek(short, 30) == 79, "how far an answer may grow changes nothing"
    assert cache.peek([*long, 1]) == 112
    check_contents(cache, MODEL)
