"""What hosted APIs would have charged: by hand, and that a cache never costs more than it writes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.charts.headline import elsewhere
from app.charts.series import TurnSeries
from app.prices import Used, bills, dollars, in_words, services
from engine import TtftParts, TurnStats

OPENAI, ANTHROPIC, DEEPSEEK = services()


@pytest.mark.parametrize(
    ("service", "used", "with_caching", "without"),
    [
        (OPENAI, Used(2000, 1500, 10), (1408 * 0.5 + 592 * 2 + 80) / 1e6, (4000 + 80) / 1e6),
        (OPENAI, Used(1000, 990), 2000 / 1e6, 2000 / 1e6),
        (ANTHROPIC, Used(2000, 1500), (1500 * 0.5 + 500 * 6.25) / 1e6, 10_000 / 1e6),
        (ANTHROPIC, Used(2000, 0), 2000 * 6.25 / 1e6, 10_000 / 1e6),
        (DEEPSEEK, Used(100, 70), (64 * 0.07 + 36 * 0.27) / 1e6, 27 / 1e6),
    ],
)
def test_a_request_is_billed_by_the_rules_of_the_service(service, used, with_caching: float, without: float) -> None:
    bill = service.bill(used)
    assert bill.with_caching == pytest.approx(with_caching)
    assert bill.without == pytest.approx(without)


@given(st.integers(0, 10**6), st.floats(0, 1), st.integers(0, 10**5))
def test_more_reuse_never_costs_more(prompt: int, share: float, written: int) -> None:
    for service in services():
        some, none = (service.bill(Used(prompt, reused, written)) for reused in (int(share * prompt), 0))
        assert some.with_caching <= none.with_caching + 1e-12
        assert some.without == none.without


def test_every_price_says_when_and_where_it_was_read() -> None:
    assert all(service.as_of and service.source.startswith("https://") for service in services())
    lines = in_words([Used(3000, 2900), Used(3100, 3000)]).splitlines()
    assert [line.split(" (")[0] for line in lines] == list(bills([]))
    assert (dollars(0.00123), dollars(12.3)) == ("$0.0012", "$12.30")


def test_the_window_says_what_the_prompts_would_have_cost_elsewhere() -> None:
    turns = TurnSeries()
    parts = TtftParts()
    turns.add(TurnStats(1, 3000, 2900, 100, 10, 0.1, parts, 50.0, 1.0, False, 0))
    said = elsewhere(turns)
    assert "last 1 turn elsewhere" in said
    assert in_words([Used(3000, 2900)]) in said
