"""Logits to tokens: each rule alone, their order, and that a seed decides."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from engine.turn.sampling import KnownTokens, Penalty, biased, candidates, make_generator, margin, sample
from engine.types import InvalidRequestError, Sampling

LOGITS = torch.tensor([2.0, 1.0, 0.0, -1.0, 3.0, -5.0])
logit_lists = st.lists(st.floats(-20, 20, width=32), min_size=2, max_size=12)
samplings = st.builds(
    Sampling,
    temperature=st.floats(0.05, 3),
    top_p=st.floats(0, 1),
    top_k=st.integers(0, 15),
    min_p=st.floats(0, 1),
    seed=st.integers(0, 2**31),
)


def plain(**rules: float) -> Sampling:
    """Sampling with the rules given and no other."""
    return Sampling(**{"temperature": 1.0, "top_p": 1.0, **rules})  # type: ignore[arg-type]


def distribution(logits: Tensor, sampling: Sampling) -> Tensor:
    """The probabilities `[vocabulary]` that a token is drawn from."""
    tokens, probabilities = candidates(logits, sampling)
    return torch.zeros(len(logits)).index_copy(0, tokens, probabilities)


def over_all(logits: Tensor, sampling: Sampling) -> Tensor:
    """The rules as they are written down, over the whole vocabulary."""
    values, tokens = (logits / sampling.temperature).sort(descending=True)
    if sampling.top_k:
        values[sampling.top_k :] = float("-inf")
    probabilities = torch.softmax(values, 0)
    out = probabilities.cumsum(0) - probabilities >= sampling.top_p
    out |= probabilities < sampling.min_p * probabilities[0]
    out[0] = False
    kept = probabilities.masked_fill(out & (sampling.top_p < 1 or sampling.min_p > 0), 0.0)
    return torch.zeros(len(logits)).index_copy(0, tokens, kept / kept.sum())


def allowed(logits: Tensor, sampling: Sampling) -> list[int]:
    return torch.nonzero(distribution(logits, sampling)).flatten().tolist()


@given(logit_lists, samplings)
def test_a_distribution_is_one(values: list[float], sampling: Sampling) -> None:
    """Whatever the rules: numbers that add up to one, and a most likely token is always among them."""
    logits = torch.tensor(values)
    probabilities = distribution(logits, sampling)
    assert torch.isfinite(probabilities).all()
    assert float(probabilities.min()) >= 0
    assert float(probabilities.sum()) == pytest.approx(1, abs=1e-5)
    assert float(probabilities[logits == logits.max()].max()) > 0


@given(st.integers(0, 2**31), st.floats(0.1, 6), samplings)
def test_looking_at_likely_tokens_first_changes_nothing(seed: int, spread: float, sampling: Sampling) -> None:
    """From one token that has nearly all of the probability to 3,000 that share it."""
    logits = torch.randn(3000, generator=torch.Generator().manual_seed(seed)) * spread
    expected = over_all(logits, sampling)
    assert float((distribution(logits, sampling) - expected).abs().sum()) < 2 * float(expected.max()) * 1e-2 + 1e-3


def test_many_unlikely_tokens_together_are_not_cut() -> None:
    """One token with 62%, and 2,999 that share the rest, each 4,900 times less likely."""
    logits = torch.zeros(3000)
    logits[0] = 8.5
    kept = distribution(logits, plain(top_p=0.9))
    assert float(kept[0]) == pytest.approx(0.62 / 0.9, abs=0.01)
    assert int((kept > 0).sum()) == int((over_all(logits, plain(top_p=0.9)) > 0).sum()) > 2000


@given(logit_lists, samplings)
def test_what_is_sampled_was_allowed(values: list[float], sampling: Sampling) -> None:
    logits = torch.tensor(values)
    assert sample(logits, sampling, make_generator(sampling)) in allowed(logits, sampling)


@given(logit_lists, samplings)
def test_more_likely_tokens_stay_more_likely(values: list[float], sampling: Sampling) -> None:
    logits = torch.tensor(values)
    probabilities = distribution(logits, sampling)
    better, likelier = (values[:, None] > values[None, :] for values in (logits, probabilities))
    assert not (better & likelier.T).any()


@given(logit_lists, st.integers(0, 2**31))
def test_greedy_takes_the_best_and_needs_no_seed(values: list[float], seed: int) -> None:
    logits = torch.tensor(values)
    for sampling in (Sampling(temperature=0.0, seed=seed), Sampling(temperature=2.0, top_k=1, seed=seed)):
        assert logits[sample(logits, sampling, make_generator(sampling))] == logits.max()


@given(logit_lists, samplings)
def test_the_same_seed_gives_the_same_tokens(values: list[float], sampling: Sampling) -> None:
    logits = torch.tensor(values)
    one, two = make_generator(sampling), make_generator(sampling)
    assert [sample(logits, sampling, one) for _ in range(5)] == [sample(logits, sampling, two) for _ in range(5)]


def test_without_a_seed_two_requests_differ() -> None:
    logits = torch.zeros(1000)
    draws = [[sample(logits, plain(), make_generator(plain())) for _ in range(8)] for _ in range(2)]
    assert draws[0] != draws[1]


def test_draws_follow_the_distribution() -> None:
    sampling = Sampling(temperature=1.0, top_p=1.0, seed=3)
    generator = make_generator(sampling)
    counts = Counter(sample(LOGITS, sampling, generator) for _ in range(4000))
    expected = torch.softmax(LOGITS, 0)
    for token in range(len(LOGITS)):
        assert counts[token] / 4000 == pytest.approx(float(expected[token]), abs=0.03)


def test_temperature_flattens() -> None:
    cold, warm = (distribution(LOGITS, plain(temperature=t)) for t in (0.5, 2.0))
    assert cold.max() > torch.softmax(LOGITS, 0).max() > warm.max()


@pytest.mark.parametrize(("top_k", "tokens"), [(0, 6), (1, 1), (2, 2), (5, 5), (6, 6), (99, 6)])
def test_top_k(top_k: int, tokens: int) -> None:
    kept = allowed(LOGITS, plain(top_k=top_k))
    assert kept == sorted(LOGITS.argsort(descending=True)[:tokens].tolist())


@pytest.mark.parametrize(
    ("top_p", "kept"), [(0.0, [4]), (0.5, [4]), (0.7, [0, 4]), (0.9, [0, 1, 4]), (1.0, [0, 1, 2, 3, 4, 5])]
)
def test_top_p(top_p: float, kept: list[int]) -> None:
    """Probabilities are 0.64, 0.24, 0.09, 0.03, 0.01 and nearly none: the fewest that reach top_p."""
    assert allowed(LOGITS, plain(top_p=top_p)) == kept


@pytest.mark.parametrize(("min_p", "kept"), [(0.0, 6), (0.01, 5), (0.1, 3), (0.3, 2), (0.9, 1), (1.0, 1)])
def test_min_p(min_p: float, kept: int) -> None:
    """Relative to the best token."""
    assert len(allowed(LOGITS, plain(min_p=min_p))) == kept


def penalty(factor: float, seen: list[int], spared: set[int] | None = None, **others: float) -> Penalty:
    """A penalty that has seen these tokens."""
    made = Penalty(Sampling(repetition_penalty=factor, **others), spared or set())
    for token in seen:
        made.see(token)
    return made


def test_the_penalty_makes_seen_tokens_less_likely() -> None:
    penalised = penalty(2.0, [4, 3, 4])(LOGITS)
    assert penalised.tolist() == [2.0, 1.0, 0.0, -2.0, 1.5, -5.0]
    assert LOGITS[4] == 3.0, "the logits themselves are left alone"
    assert sample(penalised, plain(temperature=0.0), make_generator(plain())) == 0


@given(st.lists(st.integers(0, 5)), st.floats(-2, 2), st.floats(-2, 2))
def test_presence_counts_once_and_frequency_each_time(seen: list[int], presence: float, frequency: float) -> None:
    """OpenAI's formula, over what was written."""
    penalised = penalty(1.0, seen, presence_penalty=presence, frequency_penalty=frequency)(LOGITS)
    expected = [
        float(logit) - (presence * (token in seen) + frequency * seen.count(token))
        for token, logit in enumerate(LOGITS)
    ]
    assert penalised.tolist() == pytest.approx(expected, abs=1e-4)


def test_a_bias_makes_a_token_certain_or_impossible() -> None:
    assert sample(biased(LOGITS, [(5, 100.0)]), plain(), make_generator(plain())) == 5
    assert biased(LOGITS, [(0, -2.0), (0, -1.0)])[0] == LOGITS[0] - 3
    assert torch.equal(biased(LOGITS, [(6, 1.0)]), LOGITS)


@given(st.lists(st.integers(0, 5)), st.sets(st.integers(0, 5)))
def test_spared_tokens_are_never_penalised(seen: list[int], spared: set[int]) -> None:
    penalised = penalty(1.5, seen, spared)(LOGITS)
    changed = {token for token in range(6) if penalised[token] != LOGITS[token]}
    assert changed == {token for token in seen if LOGITS[token] != 0} - spared


@given(logit_lists, st.lists(st.integers(0, 1), max_size=5))
def test_a_penalty_of_one_changes_nothing(values: list[float], seen: list[int]) -> None:
    logits = torch.tensor(values)
    assert torch.equal(penalty(1.0, seen)(logits), logits)


@given(logit_lists, st.sets(st.integers(0, 11)), samplings)
def test_rows_without_a_token_are_never_drawn(values: list[float], unknown: set[int], sampling: Sampling) -> None:
    """Those that pad the end of a vocabulary cost nothing; holes in the middle are masked."""
    logits = torch.tensor(values)
    unknown = {row for row in unknown if row < len(values)}
    known = KnownTokens(len(values), unknown)(logits)
    if len(unknown) == len(values):
        return
    assert sample(known, sampling, make_generator(sampling)) not in unknown
    assert all(known[row] == logits[row] for row in set(range(len(values))) - unknown)
    if unknown == set(range(len(values) - len(unknown), len(values))):
        assert known.data_ptr() == logits.data_ptr(), "a view"


def test_margin_is_the_distance_of_the_two_best() -> None:
    assert margin(LOGITS) == pytest.approx(1.0)
    assert margin(torch.tensor([1.0, 1.0])) == 0.0
    assert margin(torch.tensor([1.0])) == float("inf"), "there was no other"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", -0.1),
        ("temperature", 5.1),
        ("temperature", float("nan")),
        ("top_p", 1.1),
        ("top_k", -1),
        ("min_p", -0.1),
        ("repetition_penalty", 0.0),
        ("max_tokens", 0),
        ("presence_penalty", 2.1),
        ("frequency_penalty", -2.1),
    ],
)
def test_values_out_of_range_are_refused_with_a_sentence(name: str, value: float) -> None:
    with pytest.raises(InvalidRequestError, match=r"^Set .* between .* and .*; it is"):
        Sampling(**{name: value})  # type: ignore[arg-type]
