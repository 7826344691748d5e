"""Why a prompt was read again: each cause as a value, with the first token that differs and the text on both sides."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.events import Divergence
from engine.prompt.comparing import common_length
from engine.prompt.divergence import Past, explain, with_answer
from engine.prompt.template import Prompt, PromptBuilder
from engine.types import BLOCK_TOKENS, Message, TokenSpan
from tests.engine import chat_templates
from tests.engine.chat_templates import FAMILIES
from tests.engine.inside import build_prompt, forget_lanes, use_builder
from tests.engine.tiny_models import make_tokenizer
from tests.engine.turns import GREEDY, Chat, make_responder

DAY = date(2025, 3, 9)
SYSTEM = "You answer questions about parcels and tents. Be brief, be kind, and never guess a price."
QUESTION = "Where is my parcel, and when will it be here? I have been waiting for it since Monday."


@pytest.fixture
def chat(tiny) -> Chat:  # type: ignore[no-untyped-def]
    """A chat of two turns with the tiny model."""
    chat = Chat(make_responder(tiny), SYSTEM, options={"day": DAY})
    for number in range(2):
        chat.ask(f"{QUESTION} It has number {number}.")
        assert cause(chat) == (None if number else "new")
    return chat


def divergence(chat: Chat) -> Divergence | None:
    assert chat.matched is not None
    return chat.matched.divergence


def cause(chat: Chat) -> str | None:
    told = divergence(chat)
    return told and told.cause


def prompt_ids(chat: Chat) -> tuple[int, ...]:
    """The ids of the newest prompt and its answer."""
    return chat.responder.last_turns.all[chat.name].ids


def check_recomputed(chat: Chat) -> None:
    """What is said to be recomputed was computed now, and had been before."""
    told = divergence(chat)
    assert told is not None
    assert chat.matched is not None
    assert 0 < told.recomputed_tokens <= chat.matched.computed_tokens


def test_a_chat_that_goes_on_has_nothing_to_explain(chat: Chat) -> None:
    chat.ask("Thanks.")
    assert divergence(chat) is None


def test_the_first_prompt_of_a_chat_is_new(tiny) -> None:  # type: ignore[no-untyped-def]
    """Scenario 25, 27: a miss on something new is not a loss, also behind a system prompt that is known."""
    responder = make_responder(tiny)
    for name in ("a", "b", ""):
        chat = Chat(responder, SYSTEM * 3, name)
        chat.ask(QUESTION + name)
        told = divergence(chat)
        assert told is not None
        assert (told.cause, told.position, told.recomputed_tokens) == ("new", chat.reused, 0)
        assert (told.old_text, told.new_text) == ("", "")
    assert chat.reused > 64


def test_a_regenerated_answer_has_nothing_to_explain(chat: Chat) -> None:
    del chat.messages[-1]
    chat.answer()
    assert divergence(chat) is None
    assert chat.matched is not None
    assert chat.matched.computed_tokens == 0


def test_edited_question(chat: Chat) -> None:
    before = prompt_ids(chat)
    edited = chat.messages[1].content.replace("parcel", "tent")
    chat.messages[1] = Message("user", edited)
    chat.ask("Thanks.")
    told, after = divergence(chat), prompt_ids(chat)
    assert told is not None
    assert (told.cause, told.message_index) == ("edited", 1)
    assert told.position == common_length(before, after)
    assert "parcel" in told.old_text
    assert "tent" in told.new_text
    check_recomputed(chat)


def test_an_edit_of_the_last_question_recomputes_little(chat: Chat) -> None:
    del chat.messages[-1]
    chat.messages[-1] = Message("user", chat.messages[-1].content.replace("Monday", "Sunday"))
    chat.answer()
    told = divergence(chat)
    assert told is not None
    assert told.cause == "edited"
    assert told.message_index == 3
    assert told.recomputed_tokens < 40


def test_edited_system_prompt(chat: Chat) -> None:
    chat.messages[0] = Message("system", SYSTEM.replace("brief", "long"))
    chat.ask("Thanks.")
    told = divergence(chat)
    assert told is not None
    assert (told.cause, told.message_index) == ("edited", 0)
    check_recomputed(chat)


def test_a_clock_in_the_system_prompt_is_a_date(chat: Chat) -> None:
    """ENGINE_BUGS kind G44, scenario 1."""
    for time in ("2025-03-09 10:15", "2025-03-09 10:16"):
        chat.messages[0] = Message("system", f"It is {time}. {SYSTEM}")
        chat.ask("Thanks.")
    told = divergence(chat)
    assert told is not None
    assert (told.cause, told.message_index) == ("date", 0)
    assert (":15" in told.old_text, ":16" in told.new_text) == (True, True)
    check_recomputed(chat)


@pytest.mark.parametrize("family", ["llama-3", "smollm3"])
def test_a_date_that_the_template_prints(tiny, family: str) -> None:  # type: ignore[no-untyped-def]
    """ENGINE_BUGS kind G44, scenario 2: the clock moved over midnight and the chat was asked for today's date."""
    responder = make_responder(tiny)
    use_builder(responder, PromptBuilder(make_tokenizer(*FAMILIES[family])))
    chat = Chat(responder, SYSTEM, options={"day": DAY})
    chat.ask(QUESTION)
    chat.ask(QUESTION)
    assert divergence(chat) is None
    chat.ask(QUESTION, day=DAY.replace(day=10))
    told = divergence(chat)
    assert told is not None
    assert told.cause == "date"
    assert ("09" in told.old_text, "10" in told.new_text) == (True, True)
    check_recomputed(chat)


def test_reasoning_removed(tiny) -> None:  # type: ignore[no-untyped-def]
    """ENGINE_BUGS kind G43, scenario 3: only what follows the first dropped thought is read again, and it is said."""
    responder = make_responder(tiny)
    use_builder(responder, PromptBuilder(make_tokenizer(*FAMILIES["qwen3"])))
    chat = Chat(responder, SYSTEM)
    chat.ask(QUESTION)
    thought = "<think>\nThe customer asks for the parcel. Where is it?\n</think>\n\nIt is in the warehouse of Monday."
    asked = chat.request().messages[:-1]
    prompt = build_prompt(responder, asked)
    ids = tuple(responder.model.tokenizer(thought).input_ids)
    answer = chat.messages[-1] = Message("assistant", thought, ids)
    responder.last_turns.take_over({"chat": Past(with_answer(prompt, answer), "tiny", len(prompt.ids))})
    start = len(prompt.ids)
    chat.ask("Thanks.")
    told = divergence(chat)
    assert told is not None
    assert (told.cause, told.message_index) == ("reasoning removed", 2)
    assert start <= told.position <= start + 2
    assert "think" in told.old_text
    assert "It is in" in told.new_text
    check_recomputed(chat)
    assert chat.reused >= start - BLOCK_TOKENS


@pytest.mark.parametrize("dropped", [1, 2, 3])
def test_trimmed(chat: Chat, dropped: int) -> None:
    """Whole turns left the start of the chat, because the context is full: one or several."""
    for number in range(2, 4):
        chat.ask(f"{QUESTION} It has number {number}.")
    del chat.messages[1 : 1 + 2 * dropped]
    chat.ask("Thanks.")
    told = divergence(chat)
    assert told is not None
    assert (told.cause, told.message_index) == ("trimmed", 1)
    check_recomputed(chat)


def test_evicted(chat: Chat) -> None:
    before = prompt_ids(chat)
    chat.responder.cache.clear()
    chat.ask("Thanks.")
    told = divergence(chat)
    assert told is not None
    assert (told.cause, told.position, told.old_text, told.new_text) == ("evicted", 0, "", "")
    assert told.recomputed_tokens >= len(before)
    check_recomputed(chat)


@pytest.mark.parametrize("whose", ["editor", ""])
def test_whoever_took_the_room_is_told_apart(tiny, whose: str) -> None:  # type: ignore[no-untyped-def]
    """Another program's long prompts push a chat out; that is said only where nothing else can have done it."""
    chat = Chat(make_responder(tiny, tokens=1600), SYSTEM)
    chat.ask(QUESTION)
    for number in range(3):
        other = Chat(chat.responder, f"{number} " + "Long rules of somebody. " * 40, f"other {number}")
        other.ask(QUESTION, client=whose)
    assert chat.responder.cache.evicted_bytes
    chat.ask(QUESTION)
    told = divergence(chat)
    assert told is not None
    assert told.cause == ("other client" if whose else "evicted")
    check_recomputed(chat)


@pytest.mark.parametrize("is_settled", [False, True])
def test_what_was_written_and_is_read_again_was_not_evicted(tiny, is_settled: bool) -> None:  # type: ignore[no-untyped-def]
    """Where nobody had the time to read an answer again, the next hit ends before it; nobody evicted it."""
    chat = Chat(make_responder(tiny), SYSTEM, sampling=replace(GREEDY, max_tokens=90))
    for turn in range(3):
        chat.ask(QUESTION)
        assert cause(chat) == (None if turn else "new")
        if is_settled:
            list(chat.responder.settle())


def test_eviction_of_what_was_written_is_told_too(tiny) -> None:  # type: ignore[no-untyped-def]
    chat = Chat(make_responder(tiny), SYSTEM, sampling=replace(GREEDY, max_tokens=90))
    chat.ask(QUESTION)
    chat.responder.cache.clear()
    chat.ask(QUESTION)
    told = divergence(chat)
    assert told is not None
    assert told.cause == "evicted"


def test_another_model(chat: Chat) -> None:
    known = len(prompt_ids(chat))
    chat.responder.cache.namespace = "other"
    chat.responder.cache.clear()
    chat.ask("Thanks.")
    told = divergence(chat)
    assert told is not None
    assert (told.cause, told.position) == ("other model", 0)
    assert told.recomputed_tokens > known // 2
    check_recomputed(chat)


def test_switching_back_to_a_branch_recomputes_nothing(chat: Chat) -> None:
    """Scenario 8: the old branch is still cached, so nothing is lost, though the newest prompt went another way."""
    branch = list(chat.messages)
    chat.messages = [branch[0], Message("user", "A tent, please. Is it in the warehouse?")]
    chat.answer()
    chat.messages.append(Message("user", branch[3].content))
    chat.answer()
    chat.messages = [*branch, Message("user", "Thanks.")]
    chat.answer()
    assert chat.reused >= 100
    assert divergence(chat) is None


def test_without_the_cache_it_is_the_cache_that_is_off(chat: Chat) -> None:
    """A cold run in between is not the chat's past: what it computed was never cached, so it was not evicted either."""
    known = chat.responder.cache.peek(build_prompt(chat.responder, chat.messages).ids)
    chat.ask("Thanks.", use_cache=False)
    told = divergence(chat)
    assert told is not None
    assert (told.cause, told.position) == ("cache off", 0)
    assert known - BLOCK_TOKENS <= told.recomputed_tokens <= known + BLOCK_TOKENS
    check_recomputed(chat)
    assert chat.reused == 0
    chat.ask("And the stove? " * 8)
    assert divergence(chat) is None


def test_a_cold_chat_was_never_cached(tiny) -> None:  # type: ignore[no-untyped-def]
    chat = Chat(make_responder(tiny), SYSTEM)
    chat.ask(QUESTION, use_cache=False)
    told = divergence(chat)
    assert told is not None
    assert (told.cause, told.recomputed_tokens) == ("cache off", 0)
    chat.ask(QUESTION)
    assert chat.reused == 0
    assert cause(chat) == "new"


def test_requests_without_a_conversation_have_no_past(tiny) -> None:  # type: ignore[no-untyped-def]
    """Scenario 7: strangers are not explained by each other."""
    responder = make_responder(tiny)
    for text in ("parcel", "tent"):
        chat = Chat(responder, f"{SYSTEM} Think of a {text}. {SYSTEM}", "")
        chat.ask(QUESTION)
        assert cause(chat) == "new"


def test_a_system_prompt_that_moves_is_named_with_its_cure() -> None:
    """A template that writes the system prompt into the last question re-reads everything each turn."""
    tokenizer = make_tokenizer(chat_templates.MISTRAL_LATE_SYSTEM, "</s>")
    builder = PromptBuilder(tokenizer)
    messages = [Message("system", SYSTEM), Message("user", QUESTION)]
    old = builder.build(messages)
    new = builder.build([*messages, Message("assistant", "Here."), Message("user", QUESTION)])
    told = explain(Past(old, "m", len(old.ids)), new, common_length(old.ids, new.ids), "m", tokenizer.decode)
    assert told is not None
    assert (told.cause, told.cure) == ("system moved", "system in question")


@pytest.mark.parametrize(
    ("old", "new", "is_date"),
    [
        ("It is 10:15 now.", "It is 10:16 now.", True),
        ("Today is Sunday, 09 March 2025.", "Today is Monday, 10 March 2025.", True),
        ("Today is March 9, 2025.", "Today is March 10, 2025.", True),
        ("On 9.3.2025 it was", "On 10.3.2025 it was", True),
        ("It is 2025-03-09T10:15:00Z", "It is 2025-03-09T10:15:01Z", True),
        ("Since 2024 we ask", "Since 2025 we ask", True),
        ("The tent costs 19.99 euros", "The tent costs 18.99 euros", False),
        ("You may ask once. It is 10:15.", "You can ask once. It is 10:15.", False),
        ("Open from 9 to 17. Be kind. It is March 9.", "Open from 9 to 17. Be brief. It is March 9.", False),
    ],
)
def test_what_counts_as_a_date(old: str, new: str, is_date: bool) -> None:
    """A date or a time has to stand where the prompts part, not somewhere near."""
    builder = PromptBuilder(make_tokenizer())
    prompts = [builder.build([Message("system", text), Message("user", QUESTION)]) for text in (old, new)]
    parted = common_length(prompts[0].ids, prompts[1].ids)
    told = explain(Past(prompts[0], "m", 10**6), prompts[1], parted, "m", builder.tokenizer.decode)
    assert told is not None
    assert told.cause == ("date" if is_date else "edited")


def test_a_question_that_is_asked_twice_was_not_read_twice(chat: Chat) -> None:
    """The same words further on are new tokens: nothing that had been computed was lost."""
    chat.ask(chat.messages[1].content)
    assert divergence(chat) is None


def test_a_system_prompt_that_changes_from_its_first_token_is_explained() -> None:
    """Something put in front of a system prompt: all of it is read again, and that is said."""
    builder = PromptBuilder(make_tokenizer())
    rules = "You answer questions about parcels and tents. Be brief and kind."
    prompts = [builder.build([Message("system", text), Message("user", QUESTION)]) for text in (rules, "Now: " + rules)]
    parted = common_length(prompts[0].ids, prompts[1].ids)
    assert parted == prompts[1].spans[0].start
    told = explain(Past(prompts[0], "m", 10**6), prompts[1], parted, "m", builder.tokenizer.decode)
    assert told is not None
    assert told.message_index == 0
    assert told.recomputed_tokens > len(prompts[0].ids) // 2


def test_back_at_a_model_only_what_is_computed_is_called_read_again(chat: Chat) -> None:
    """The turn before was another model's, but this one still knows the system prompt and the first turn of the chat:
    196 tokens had to be read again, it said, where 62 were computed."""
    chat.ask("Thanks.")
    chat.responder.last_turns.take_over(
        {chat.name: replace(chat.responder.last_turns.all[chat.name], namespace="other")}
    )
    forget_lanes(chat.responder.cache)
    chat.ask("And the stove?")
    assert chat.reused > 100
    if divergence(chat) is not None:
        assert cause(chat) == "other model"
        check_recomputed(chat)


def spoken(texts: list[list[int]]) -> Prompt:
    """A prompt of messages with these tokens, each behind one that opens it."""
    ids, spans, messages = [99], [], []
    for index, text in enumerate(texts):
        spans.append(TokenSpan(index, "user", len(ids), len(ids) + 1 + len(text)))
        ids += [98, *text]
        messages.append(Message("user", str(text)))
    return Prompt((*ids, 97), tuple(spans), tuple(messages), ())


TEXTS = st.lists(st.lists(st.integers(0, 2), max_size=40), max_size=5)


@given(TEXTS, TEXTS, st.integers(0, 10**6), st.integers(0, 10**6), st.booleans(), st.booleans())
def test_what_is_explained_and_what_is_reused_never_exceed_the_prompt(
    old: list[list[int]], new: list[list[int]], reused: int, reusable: int, is_same_model: bool, is_same_code: bool
) -> None:
    past, prompt = spoken(old), spoken(old[: len(new)] + new)
    reused %= len(prompt.ids)
    before = Past(past, "m" if is_same_model else "other", reusable % (len(past.ids) + 1))
    told = explain(before, prompt, reused, "m", str, has_same_positions=is_same_code)
    assert told is None or 0 <= told.recomputed_tokens <= len(prompt.ids) - reused
