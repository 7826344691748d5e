"""The default model on a real conversation: a support bot's chat of three turns, hits to the token, answers as cold."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import date
from functools import partial
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest
import torch

from engine.cache.store import Lane
from engine.events import Finished, Matched
from engine.models.loaded import LoadedModel, load
from engine.turn.responder import Responder
from engine.types import BLOCK_TOKENS, Message, Sampling
from tests.engine.inside import build_prompt, forget_lanes, is_idle
from tests.engine.turns import Chat, Scripted, events, finish, make_responder

RULES = 3
"""Paragraphs of the support bot's system prompt that are read: about 400 tokens."""

GREEDY = Sampling(temperature=0.0, max_tokens=8)
QUESTIONS = (
    "Hello, my order has been packed already. Can I still change the address, and until when?",
    "And what does express delivery to Austria cost, and how long does it take?",
    "Thanks. Is there a shop that I can visit to try on boots?",
)


@pytest.fixture(scope="module")
def model(default_model: Path) -> LoadedModel:
    return load(default_model, "cpu", "fp32")


@pytest.fixture(scope="module")
def system() -> str:
    text = (files("resources") / "demo" / "support_bot.md").read_text("utf-8")
    return "\n\n".join(text.split("\n\n")[:RULES])


def start(model: LoadedModel | Scripted, system: str, name: str = "support") -> Chat:
    responder = make_responder(model, tokens=8192, context=4096)
    return Chat(responder, system, name, GREEDY, {"day": date(2025, 3, 9)})


def computed(chat: Chat, responder: Responder) -> int:
    """Tokens of prompt and answer, all of which were read while nobody waited."""
    return len(responder.last_turns.all[chat.name].ids)


def test_three_turns_hit_to_the_token(model: LoadedModel, system: str) -> None:
    """From the second turn on, everything but the new question is reused; answers are those of cold runs to the last
    digit of the margins between their two best tokens."""
    chat = start(model, system)
    known = 0
    for turn, question in enumerate(QUESTIONS):
        answer = chat.ask(question, record_margins=True)
        list(chat.responder.settle())
        assert answer.reason == "length"
        assert chat.reused == (known if turn else 0)
        assert answer.stats.prompt_tokens - chat.reused < (100 if turn else 10_000)
        assert answer.stats.prompt_tokens > 300
        known = computed(chat, chat.responder)
        assert known == answer.stats.prompt_tokens + GREEDY.max_tokens
        if turn:
            messages = tuple(chat.messages[:-1])
            cold = finish(chat.responder, chat.request(messages=messages, use_cache=False, record_margins=True))[1]
            assert (cold.token_ids, cold.margins, cold.stats.reused_tokens) == (answer.token_ids, answer.margins, 0)
    chat.responder.cache.check_integrity()
    assert is_idle(chat.responder.cache)


def test_two_customers_and_a_new_answer(model: LoadedModel, system: str) -> None:
    """Scenarios 9 and 14: the second chat shares the rules; each chat's next turn hits all its whole blocks."""
    one = start(model, system)
    two = Chat(one.responder, system, "other", GREEDY, one.options)
    one.ask(QUESTIONS[0])
    list(one.responder.settle())
    rules = build_prompt(one.responder, one.messages[:2], date(2025, 3, 9)).system_tokens
    two.ask(QUESTIONS[2])
    assert rules <= two.reused + BLOCK_TOKENS < rules + 2 * BLOCK_TOKENS
    known = computed(one, one.responder)
    forget_lanes(one.responder.cache)
    one.ask(QUESTIONS[1])
    assert one.reused == known // BLOCK_TOKENS * BLOCK_TOKENS
    del one.messages[-1]
    one.answer(sampling=Sampling(temperature=1.0, seed=3, max_tokens=4))
    assert one.matched is not None
    assert one.matched.computed_tokens == 0
    assert one.responder.cache.view().pinned_bytes == rules // BLOCK_TOKENS * model.layout.bytes_per_block


@pytest.mark.parametrize("threads", [1, 2])
def test_where_a_text_is_cut_changes_no_bit(default_model: Path, system: str, threads: int) -> None:
    """Real weights and a real text, in the number type that is the fastest here, over several blocks of keys."""
    torch.set_num_threads(threads)
    model = load(default_model, "cpu", "auto")
    ids = model.tokenizer(system, add_special_tokens=False).input_ids[:400]
    chance = random.Random(threads)

    def read(cuts: list[int]) -> list[torch.Tensor]:
        lane = Lane(model.layout, 400, fill=float("nan"))
        for start, end in pairwise([0, *cuts, len(ids)]):
            logits = model.forward(ids[start:end], lane, start)
        return [logits, *(buffer[:, :, : len(ids)] for buffer in lane.keys + lane.values)]

    whole = read([])
    for count in (1, 2, 5):
        cuts = sorted(chance.sample(range(1, len(ids)), count))
        assert all(map(torch.equal, read(cuts), whole)), cuts


def test_its_tokens_cost_what_theory_says(model: LoadedModel) -> None:
    """Issue 3 point 5: 30 layers, 3 KV heads of 64, keys and values, four bytes a number."""
    assert model.layout.bytes_per_token == 30 * 3 * (64 + 64) * 4
    assert model.context_length == 8192


@pytest.mark.parametrize("text", ["Something else", "12 \u00fcber\n\n34"])
def test_answers_are_spliced_and_never_encoded_again(model: LoadedModel, text: str) -> None:
    """ENGINE_BUGS kind G42 on the real tokenizer: an answer that is written letter by letter, where its text encodes to
    fewer tokens."""
    encode = partial(model.tokenizer, add_special_tokens=False)
    script = [token for letter in text for token in encode(letter).input_ids]
    chat = start(Scripted(model, script), "")
    chat.messages = [Message("user", "Tell me something.")]
    answer = chat.answer(sampling=replace(GREEDY, max_tokens=len(script)))
    assert (answer.text, list(answer.token_ids)) == (text, script)
    assert len(encode(text).input_ids) < len(script)
    following = build_prompt(chat.responder, [*chat.messages, Message("user", "And?")], date(2025, 3, 9))
    past = chat.responder.last_turns.all["support"].ids
    assert past[-len(script) :] == answer.token_ids
    assert following.ids[: len(past)] == past


SHORT = (
    "What is the capital of France?",
    "Name three fruits.",
    "Why is the sky blue?",
    "Who wrote Hamlet?",
    "Say hello.",
)


def test_the_same_question_twice_gets_the_same_answer(default_model: Path) -> None:
    """As the program runs it: from what was kept, and from blocks alone. Read again, the last
    tokens of a prompt were computed with fewer bits than at first, and 17 of 120 questions answered otherwise."""
    responder = make_responder(load(default_model, "cpu", "auto"), tokens=8192, context=2048)
    for number, question in enumerate(SHORT):
        chat = Chat(responder, "You answer briefly.", f"chat {number}", GREEDY)
        chat.messages.append(Message("user", question))
        first = finish(responder, chat.request())[1]
        matched, again = finish(responder, chat.request())
        assert (matched.computed_tokens, again.token_ids) == (0, first.token_ids)
        forget_lanes(responder.cache)
        matched, again = finish(responder, chat.request())
        assert 0 < matched.computed_tokens <= BLOCK_TOKENS
        assert again.token_ids == first.token_ids


def test_an_answer_that_was_cut_off_goes_on_with_one_token_read(model: LoadedModel, system: str) -> None:
    whole = start(model, system).ask(QUESTIONS[0], sampling=replace(GREEDY, max_tokens=14))
    chat = start(model, system)
    first = chat.ask(QUESTIONS[0])
    list(chat.responder.settle())
    begun = chat.messages.pop()
    seen = list(events(chat.responder, chat.request(begun=begun, sampling=replace(GREEDY, max_tokens=6))))
    matched = next(event for event in seen if isinstance(event, Matched))
    last = seen[-1]
    assert isinstance(last, Finished)
    assert (matched.computed_tokens, matched.reused_tokens > 300) == (1, True)
    assert first.token_ids == whole.token_ids[:8]
    assert (last.token_ids, last.text) == (whole.token_ids, whole.text)
