"""What a whole answer promises: how much it reuses, what it keeps, where it ends, what it refuses."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import replace

import pytest
from tokenizers import Tokenizer, models
from torch import Tensor
from transformers import PreTrainedTokenizerFast

from engine.cache.store import Lane
from engine.models.from_transformers import TransformersNetwork
from engine.models.loaded import LoadedModel
from engine.types import BLOCK_TOKENS, InvalidRequestError, Message, PromptTooLongError, Request, Sampling
from tests.engine.inside import build_prompt, forget_lanes, is_idle, real_bytes
from tests.engine.tiny_models import make_llama, make_model, make_tokenizer
from tests.engine.turn.conftest import QUESTION, SYSTEM
from tests.engine.turns import GREEDY, Chat, check_sound, cold_answer, events, finish, short_chunks, spy


def test_the_same_request_again_computes_nothing_and_says_so(chat: Chat) -> None:
    """ENGINE_BUGS kind A1: what the model said after the prompt is kept with it. The preview promises it, and a sampled
    answer (Retry) profits too."""
    first = finish(chat.responder, chat.request())[1]
    model = spy(chat)
    promised = chat.responder.preview(1, chat.request())
    matched, again = finish(chat.responder, chat.request())
    assert (promised.reused_tokens, promised.computed_tokens) == (matched.prompt_tokens, 0)
    assert (matched.reused_tokens, matched.computed_tokens) == (matched.prompt_tokens, 0)
    assert again.token_ids == first.token_ids
    assert all(count == 1 for _, count in model.calls)
    assert len(model.calls) < len(again.token_ids) + 1
    sampled = replace(GREEDY, temperature=2.0, seed=3)
    assert finish(chat.responder, chat.request(sampling=sampled))[0].computed_tokens == 0
    store = chat.responder.cache.store
    assert store.used_bytes == real_bytes(store)
    chat.responder.cache.check_integrity()


def test_the_last_token_of_a_full_hit_is_computed(chat: Chat) -> None:
    """ENGINE_BUGS kind A1: where only blocks are left, the same request again computes at least one token, and says
    so."""
    finish(chat.responder, chat.request())
    forget_lanes(chat.responder.cache)
    matched, _ = finish(chat.responder, chat.request())
    assert matched.reused_tokens == (matched.prompt_tokens - 1) // BLOCK_TOKENS * BLOCK_TOKENS
    assert matched.computed_tokens == matched.prompt_tokens - matched.reused_tokens >= 1


def test_reuse_over_thirty_turns(tiny: LoadedModel) -> None:
    """Scenario 4, ENGINE_BUGS kinds G42, G47: temperature 1.2, every hit >= previous prompt + answer - 16."""
    sampling = Sampling(temperature=1.2, top_p=1.0, seed=5, max_tokens=20)
    chat = Chat(short_chunks(tiny, context=4096, tokens=16384), SYSTEM, sampling=sampling)
    known = 0
    for turn in range(30):
        finished = chat.ask(f"Question {turn}?", sampling=replace(sampling, seed=turn))
        list(chat.responder.settle())
        assert chat.reused >= known - BLOCK_TOKENS
        known = finished.stats.prompt_tokens + len(finished.token_ids)
    assert known > 800


def test_the_system_prompt_is_kept(tiny: LoadedModel) -> None:
    """Kept blocks are those of the system prompt, one conversation's at a time, and only when asked for."""
    responder = short_chunks(tiny)
    chat = Chat(responder, SYSTEM, "a")
    chat.ask(QUESTION)
    system = build_prompt(responder, chat.messages[:2]).system_tokens
    assert responder.cache.view().pinned_bytes == system // 16 * responder.cache.store.layout.bytes_per_block
    responder.cache.make_room(responder.cache.store.budget_bytes)
    assert responder.cache.peek(build_prompt(responder, chat.messages[:2]).ids) == system // 16 * 16
    other = Chat(responder, f"No. {SYSTEM}", "b", options={"pin_system": False})
    other.ask(QUESTION)
    assert set(responder.cache.tree.kept()) == {"a"}


def test_a_cold_run_reads_and_writes_no_block(tiny: LoadedModel) -> None:
    """ENGINE_BUGS kind C22: "cache off" for one request, longer than a chunk."""
    chat = Chat(short_chunks(tiny), SYSTEM * 3)
    chat.ask(QUESTION)
    before = chat.responder.cache.view(with_nodes=True)
    chat.messages.append(Message("user", QUESTION))
    matched, _ = finish(chat.responder, chat.request(use_cache=False))
    assert matched.reused_tokens == 0
    assert matched.divergence is not None
    assert matched.divergence.cause == "cache off"
    after = chat.responder.cache.view(with_nodes=True)
    assert [(n.tokens, n.hits) for n in after.nodes] == [(n.tokens, n.hits) for n in before.nodes]


def test_a_prompt_too_long_is_a_sentence(chat: Chat) -> None:
    chat.messages[-1] = Message("user", "parcel " * 1000)
    with pytest.raises(PromptTooLongError, match="the model reads 1,024"):
        list(events(chat.responder, chat.request()))
    assert is_idle(chat.responder.cache)


@pytest.mark.parametrize("left", [1, 2, 5])
def test_an_answer_ends_where_the_context_ends(tiny: LoadedModel, left: int) -> None:
    chat = Chat(short_chunks(tiny, context=200), sampling=Sampling(temperature=0.0, max_tokens=100))
    length = len(build_prompt(chat.responder, [Message("user", "a")]).ids)
    chat.messages.append(Message("user", "a" + "\x01" * (200 - left - length)))
    matched, finished = finish(chat.responder, chat.request())
    assert (matched.prompt_tokens, finished.reason, len(finished.token_ids)) == (200 - left, "length", left)
    check_sound(chat, finished)


@pytest.mark.parametrize(
    ("left", "max_tokens", "refused"), [(50, 100, False), (49, 100, True), (10, 10, False), (9, 10, True)]
)
def test_room_for_the_answer_is_kept_where_that_is_asked(
    tiny: LoadedModel, left: int, max_tokens: int, refused: bool
) -> None:
    """As much as the answer may take, but a quarter of the context at most; without the wish it takes what is left."""
    chat = Chat(short_chunks(tiny, context=200), sampling=Sampling(temperature=0.0, max_tokens=max_tokens))
    length = len(chat.responder.builder.build([Message("user", "a")]).ids)
    chat.messages.append(Message("user", "a" + "\x01" * (200 - left - length)))
    if refused:
        with pytest.raises(PromptTooLongError, match=f"only {left} are left for the answer"):
            list(events(chat.responder, chat.request(keep_room=True)))
    else:
        assert len(finish(chat.responder, chat.request(keep_room=True))[1].token_ids) >= min(max_tokens, left)
    assert len(finish(chat.responder, chat.request())[1].token_ids) == min(max_tokens, left)


def test_messages_the_template_refuses(tiny: LoadedModel) -> None:
    chat = Chat(short_chunks(tiny))
    chat.responder.builder.tokenizer = tiny.tokenizer
    chat.messages.append(Message("user", "Hello"))
    before = tiny.tokenizer.chat_template
    tiny.tokenizer.chat_template = "{{ raise_exception('no') }}"
    try:
        with pytest.raises(InvalidRequestError):
            list(events(chat.responder, chat.request()))
    finally:
        tiny.tokenizer.chat_template = before
    assert is_idle(chat.responder.cache)


def test_a_prompt_without_a_token_is_refused() -> None:
    """Some templates write nothing for a system prompt alone. That is no answer that was stopped."""
    template = "{% for m in messages if m['role'] != 'system' %}[INST] {{ m['content'] }} [/INST]{% endfor %}"
    responder = short_chunks(make_model(template=template))
    with pytest.raises(InvalidRequestError, match="leaves nothing"):
        list(events(responder, Request((Message("system", "Be brief."),), GREEDY)))
    assert is_idle(responder.cache)
    finish(responder, Request((Message("user", "Hello"),), GREEDY))


def test_a_tokenizer_with_tokens_that_the_model_lacks() -> None:
    """A sentence: on a GPU an id past the end would be the end of the whole program's use of it."""
    model = LoadedModel(TransformersNetwork(make_llama(vocabulary=321)), make_tokenizer(), "/nowhere/tiny")
    assert model.vocabulary < len(model.tokenizer)
    responder = short_chunks(model)
    with pytest.raises(InvalidRequestError, match="do not belong together"):
        list(events(responder, Request((Message("user", "Hello"),), GREEDY)))
    assert is_idle(responder.cache)


def test_a_model_of_few_tokens_is_measured_and_answers() -> None:
    """One that writes letters has less than a hundred tokens."""
    letters = "abcdefghijklmnopqrstuvwxyzUA: \n"
    alphabet = models.BPE(vocab={letter: index for index, letter in enumerate(letters)}, merges=[])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(alphabet))
    model = LoadedModel(TransformersNetwork(make_llama(vocabulary=len(letters))), tokenizer, "/nowhere/letters")
    chat = Chat(short_chunks(model))
    chat.responder.warm_up()
    chat.ask("where is it")
    assert chat.responder.rate.tokens_per_s > 0
    chat.ask("and now")
    assert chat.reused > 16


def stop_at(text: str) -> Iterator[str]:
    """Stop strings that occur in a text."""
    yield from (text[1:3], text[2:4], text[3:5])


def test_stop_strings_end_the_answer(tiny: LoadedModel) -> None:
    """What was shown has no stop string in it; the next turn encodes the text that was shown."""
    chat = Chat(short_chunks(tiny), SYSTEM, sampling=replace(GREEDY, max_tokens=40))
    whole = chat.ask(QUESTION).text
    del chat.messages[-1]
    for stop in stop_at(whole):
        finished = finish(chat.responder, chat.request(stop=(stop,)))[1]
        assert (finished.reason, finished.token_ids) == ("end", ())
        assert finished.text == whole[: whole.index(stop)]
        check_sound(chat, cold_answer(chat))


def test_five_hundred_regenerations(tiny: LoadedModel) -> None:
    """Scenario 20, issue 3 point 6: memory is back at the baseline, and no pin is left."""
    chat = Chat(short_chunks(tiny, tokens=1500), SYSTEM)
    chat.messages.append(Message("user", QUESTION))
    used, alive = [], (0, 0)
    for attempt in range(500):
        alive = living() if attempt == 10 else alive
        sampling = Sampling(temperature=2.0, seed=attempt, max_tokens=2)
        finish(chat.responder, chat.request(sampling=sampling))
        used.append(chat.responder.cache.store.used_bytes)
    assert len(set(used[1:])) == 1, "memory moved though every answer is shorter than a block"
    assert is_idle(chat.responder.cache)
    assert living() == alive
    chat.responder.cache.clear()
    assert chat.responder.cache.store.used_bytes == 0


def living() -> tuple[int, int]:
    """Lanes and tensors that anything still holds."""
    gc.collect()
    kinds = [type(each) for each in gc.get_objects()]
    return kinds.count(Lane), kinds.count(Tensor)


def test_the_penalty_looks_at_the_answer_alone_and_spares_special_tokens(tiny: LoadedModel) -> None:
    """An end token stands behind every message of a chat: made less likely for that, answers did not end."""
    chat = Chat(short_chunks(tiny), SYSTEM)
    chat.ask(QUESTION)
    chat.messages.append(Message("user", QUESTION))
    plain, penalised = (
        finish(chat.responder, chat.request(sampling=replace(GREEDY, repetition_penalty=factor), record_margins=True))[
            1
        ]
        for factor in (1.0, 5.0)
    )
    assert penalised.margins[0] == plain.margins[0], "nothing is written yet"
    marks = {tiny.tokenizer.convert_tokens_to_ids(token) for token in ("<|im_start|>", "<|im_end|>", "<s>")}
    assert marks | tiny.end_ids <= tiny.special_ids
