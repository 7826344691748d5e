"""What the demo's figures say: how much sooner, which turns not, and why two answers part."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.demo.report import Report
from app.demo.report_words import agreement, as_table, gain
from app.proof.compare import Parted
from tests.app.demo.test_page import row
from tests.app.fake_engine import MODEL

PLAIN = replace(MODEL, near="here it cannot be otherwise.")


def report(*turns: tuple[int, float, float]) -> Report:
    """Each turn as (reused tokens, first token with the cache, without), after a cold one."""
    made = Report(PLAIN, {}, [row(1, "on", 0, 2.0), row(1, "off", 0, 2.0)])
    for turn, (reused, on, off) in enumerate(turns, 2):
        made.turns += [row(turn, "on", reused, on), row(turn, "off", 0, off)]
    return made


def test_the_table_has_a_line_a_turn_and_the_sentences() -> None:
    made = report((2_940, 0.125, 2.0))
    lines = as_table(made).splitlines()
    assert lines[4].split()[:9] == ["1", "3,001", "0", "3,001", "2.00", "s", "2.00", "s", "-"]
    assert lines[5].split() == ["2", "3,002", "2,940", "62", "0.12", "s", "2.00", "s", "16.0x", "50.0", "50.0"]
    assert lines[7:] == [gain(made), agreement(made)]


@pytest.mark.parametrize(
    ("turns", "said"),
    [
        ([], "One turn is always cold: play two or more to see what the cache saves."),
        (
            [(2_950, 0.5, 2.0)],
            "In turn 2 the first token came 4.0 times sooner with the cache. In all, 1.5 s and 2,950 tokens were",
        ),
        ([(2_950, 0.5, 2.0)] * 2, "From turn 2 on the first token came 4.0 times sooner with the cache. In all, "),
        ([(2_950, 0.5, 2.0), (2_950, 0.25, 2.0)], "came 4.0 to 8.0 times sooner with the cache. In all, "),
    ],
)
def test_the_gain_has_the_right_words_for_few_turns(turns: list[tuple[int, float, float]], said: str) -> None:
    assert said in gain(report(*turns))


def test_turns_that_were_not_sooner_are_named_with_the_reason() -> None:
    made = report((2_950, 0.5, 2.0), (70, 1.0, 1.5), (69, 2.6, 2.0), (2_950, 0.25, 2.0), (2_950, 2.0, 2.0))
    assert gain(made) == (
        "In turns 2 and 5 the first token came 4.0 to 8.0 times sooner with the cache."
        " Turn 3 was 1.5 times sooner, but by chance: just 70 of its 3,003 tokens could be reused, so that both runs"
        " read nearly all of the prompt."
        " Turn 4 was not sooner, it took about 1.3 times as long as without the cache: just 69 of its 3,004 tokens"
        " could be reused, so that both runs read nearly all of the prompt."
        " Turn 6 was not sooner: 2,950 of its 3,006 tokens could be reused, but the machine was slower than in the run"
        " without. In all, 3.1 s and 8,989 tokens were saved."
    )


def test_of_many_such_turns_only_the_number_is_said() -> None:
    assert gain(report(*[(69, 2.6, 2.0)] * 4)) == (
        "In 4 turns it came no sooner or little could be reused; the table names them."
        " In all, 276 tokens were saved, but no time."
    )


@pytest.mark.parametrize(("count", "said"), [(1, "token by token."), (2, " in both turns."), (3, " in all 3 turns.")])
def test_equal_answers_are_counted_in_words(count: int, said: str) -> None:
    assert agreement(report(*[(2_950, 0.5, 2.0)] * (count - 1))).endswith(said)


def test_answers_that_part_are_explained_where_they_may() -> None:
    made = report((2_950, 0.5, 2.0), (2_950, 0.5, 2.0))
    made.parted = [Parted(2, 0, 0.0), Parted(3, 1, 0.06)]
    said = agreement(made)
    assert said.startswith(
        "The answers are equal in 1 of 3 turns. They part at the first token in turn 2, after 1 equal token in turn 3."
        " Where two tokens are nearly equally likely, the two runs may choose different ones"
    )
    assert said.endswith("here it cannot be otherwise.")
    assert "margin" not in said
    assert "near-tie" not in said


def test_what_rounding_does_not_explain_is_said() -> None:
    made = report((2_950, 0.5, 2.0))
    made.parted = [Parted(2, 3, 1.5)]
    assert "In turn 2 the two likeliest tokens were not that close, so rounding may not be" in agreement(made)
    made.model = replace(PLAIN, near="")
    assert agreement(made).endswith("this is a fault of the program, please report it.")
