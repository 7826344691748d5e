"""Rows A5 and A6: what writing ahead gives where an answer says again what stands in the prompt, what it costs where it
does not, and whether it changes a token."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from engine import Finished, Message, Request, Sampling
from tests.bench.chat import SCRIPT, Player
from tests.bench.rows import Row, alternate, ratio_row

LONGEST = 160
"""Tokens of an answer at most."""
TURNS, TURNS_OF_A_CHAT, WRITTEN = 200, 10, 40

ORDERS = "\n".join(
    f"Order {number}: {what}."
    for number, what in (
        (40712, "two tents of the type Polaris 3, one stove of the type Ember, four sleeping mats"),
        (40713, "one tent of the type Polaris 2, one lamp of the type Firefly, two mugs"),
        (40714, "three stoves of the type Ember, one tent of the type Vega 4, one axe"),
    )
)
WAY = (
    "The parcel was sent on Monday from the depot in Leeds. It passed through Manchester on Tuesday morning and "
    "reached the sorting office in Bristol at noon. From there the van of Mr. Harper brought it to the village of "
    "Nempnett Thrubwell, where nobody was at home."
)
TENT = """{
  "name": "tent",
  "price": 120,
  "colours": ["green", "blue"],
  "weight": 2400,
  "poles": 3,
  "waterproof": true
}"""
QUOTES = (
    f"Repeat this text word for word:\n\n{WAY}",
    f"Repeat this text word for word:\n\n{ORDERS}",
    f"Copy the following list exactly as it is.\n\n{ORDERS}",
)
EDITS = tuple(
    f"Change the {what} in this JSON and write it again:\n\n```json\n{TENT}\n```"
    for what in ("price to 99", "weight to 2500", "number of poles to 4")
)
"""What the default model writes again; of larger files it loses its way, with and without."""
PROSE = (
    "Write a story about a lighthouse keeper who finds a letter.",
    "Tell me about the sea in your own words.",
    "Why do people like old houses? Write an essay.",
)
"""What the default model answers in words of its own. Without a penalty for what it said it would say it again."""
PLAIN = Sampling(temperature=0, repetition_penalty=1.0)


def measure(count: int) -> Iterator[Row]:
    """The rows of this module, `count` samples a side."""
    player = Player()
    try:
        rows = (
            ("A5a", "answers that quote the prompt", QUOTES, PLAIN, ">= 1.5", "2.5"),
            ("A5b", "edits of given JSON", EDITS, PLAIN, ">= 1.8", "3"),
            ("A5c", "free prose", PROSE, Sampling(temperature=0), ">= 0.97", "1"),
        )
        for row, title, questions, sampling, must, aim in rows:
            yield _speeds(player, count, row, title, questions, sampling, must, aim)
        yield _equal(player, TURNS if count > 3 else TURNS // 10)
    finally:
        player.close()


def _speeds(
    player: Player,
    count: int,
    row: str,
    title: str,
    questions: Sequence[str],
    sampling: Sampling,
    must: str,
    aim: str,
) -> Row:
    """Greedy answers to all questions, each behind a system prompt of 3,000 tokens."""
    written: dict[bool, list[Finished]] = {}

    def speed(is_ahead: bool) -> float:
        written[is_ahead] = [_answer(player, _asked(question), is_ahead, sampling) for question in questions]
        tokens = sum(each.stats.written_tokens - 1 for each in written[is_ahead])
        return tokens / sum((each.stats.written_tokens - 1) / each.stats.tokens_per_s for each in written[is_ahead])

    samples = alternate({"ahead": lambda: speed(True), "one by one": lambda: speed(False)}, count)
    assert [each.token_ids for each in written[True]] == [each.token_ids for each in written[False]]
    stats = [each.stats for each in written[True]]
    passes, guessed, held = (
        sum(getattr(each, name) for each in stats) for name in ("passes", "guessed_tokens", "accepted_tokens")
    )
    told = f"{1 + held / passes:.2f} tokens a pass, {held} of {guessed} guesses held"
    found = ratio_row(row, f"tok/s with writing ahead / without, {title}", samples, "ahead", "one by one", must, aim)
    return replace(found, name=f"{found.name} ({told})")


def _asked(question: str) -> tuple[Message, ...]:
    return Message("system", SCRIPT.system_prompt), Message("user", question)


def _answer(
    player: Player, messages: tuple[Message, ...], is_ahead: bool, sampling: Sampling, tokens: int = LONGEST
) -> Finished:
    return player.answer(Request(messages, replace(sampling, max_tokens=tokens), "bench", write_ahead=is_ahead))


def _equal(player: Player, turns: int) -> Row:
    """Turns of conversations in which things are asked for that were said before."""
    chance, equal, messages = random.Random(1), 0, ()
    for turn in range(turns):
        if turn % TURNS_OF_A_CHAT == 0:
            messages = (Message("system", "You help with orders and settings."),)
        messages = (*messages, Message("user", chance.choice((*QUOTES, *EDITS, *PROSE, "Say that again.", "Why?"))))
        ahead, alone = (_answer(player, messages, is_ahead, PLAIN, WRITTEN) for is_ahead in (True, False))
        equal += (ahead.token_ids, ahead.text, ahead.reason) == (alone.token_ids, alone.text, alone.reason)
        messages = (*messages, Message("assistant", ahead.text or "Yes.", ahead.token_ids))
    return Row("A6", f"turns of {turns} whose greedy tokens are equal with and without", equal, "", str(turns), "")
