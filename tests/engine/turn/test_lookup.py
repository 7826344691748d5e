"""The index over a conversation's ids finds what a plain search finds, whatever was written and cut before."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.turn import lookup
from engine.turn.lookup import AGREEING, LOOKED_AT, PAIR, Lookup, Lookups

IDS = st.lists(st.integers(0, 3), max_size=40)
FAR = 2**31


def expected(ids: Sequence[int], most: int) -> list[int]:
    """What stood behind the place that agrees longest with the end, the newest of several; said again where it runs
    into the end."""
    ends = [end for end in range(len(ids) - 1, PAIR - 1, -1) if list(ids[end - PAIR : end]) == list(ids[-PAIR:])]

    def agreed(end: int) -> int:
        return max(n for n in range(AGREEING + 1) if n <= end and list(ids[end - n : end]) == list(ids[len(ids) - n :]))

    if not ends:
        return []
    follows = max(ends[:LOOKED_AT], key=agreed)
    whole = list(ids)
    for number in range(most):
        whole.append(whole[follows + number])
    return whole[len(ids) :]


@given(st.lists(IDS, min_size=1, max_size=4), IDS, st.integers(0, 7))
def test_a_guess_is_what_followed_the_longest_stretch_that_agrees(
    prompts: list[list[int]], written: list[int], most: int
) -> None:
    with pytest.MonkeyPatch.context() as patched:  # every guess is worth it, whatever came of the last ones
        patched.setattr(lookup, "FIRST_ODDS", (1.0,) * len(lookup.FIRST_ODDS))
        patched.setattr(lookup, "MEMORY", 10**9)
        patched.setattr(lookup, "PASS_COSTS", (1.0,) * 7)
        index = Lookup()
        for prompt in prompts:
            index.follow([FAR + token for token in prompt])
            for token in written:
                index.see(FAR + token)
            assert index.guess(most) == expected([FAR + token for token in [*prompt, *written]], most)


def test_text_that_never_repeats_itself_is_not_guessed() -> None:
    index = Lookup()
    index.follow(range(500))
    for token in range(500, 600):
        assert index.guess(7) == []
        index.see(token)


def test_what_repeats_itself_is_soon_guessed_to_the_full() -> None:
    index, seen = Lookup(), []
    index.follow(range(100))
    for token in range(100):
        index.see(token)
        seen.append(index.guess(7) == [*range(token + 1, token + 8)])
    assert all(seen[20:90])


def test_guesses_that_fail_are_given_up_and_begun_again_when_they_would_have_held() -> None:
    """The same pairs come again and again, and each time something else follows; then all is as before."""
    index = Lookup()
    index.follow([])
    fails = [token for new in range(10, 400) for token in (1, 2, new)]
    guessed = 0
    for token in fails:
        index.see(token)
        guessed += len(index.guess(7))
    assert guessed < 10
    index.see(1000)
    for token in fails[:300]:
        index.see(token)
    assert index.guess(7) == fails[300:307]


def test_the_oldest_index_goes_where_they_take_too_much() -> None:
    kept = Lookups()
    for name in ("one", "two", "three"):
        index = kept.take("", name)
        index.follow(range(lookup.MOST_BYTES // lookup.TOKEN_BYTES // 2))
        kept.put_back("", name, index)
    assert 0 < kept.nbytes <= lookup.MOST_BYTES
    assert kept.take("", "one").nbytes == 0
    assert kept.take("salted", "three").nbytes == 0
    assert kept.take("", "three").nbytes > 0


def test_a_conversation_that_was_deleted_is_forgotten() -> None:
    kept = Lookups()
    for salt in ("", "salt"):
        index = kept.take(salt, "one")
        index.follow(range(9))
        kept.put_back(salt, "one", index)
    kept.forget("one")
    assert kept.nbytes == 0
