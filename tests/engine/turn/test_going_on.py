"""An answer that was cut off goes on as if it had never been: the same tokens, and all but one of them reused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tokenizers import AddedToken

from engine.events import Finished, Matched, TextDelta
from engine.models.from_transformers import TransformersNetwork
from engine.models.loaded import LoadedModel
from engine.remote.wire import Place, RemoteModel, body_of
from engine.types import InvalidRequestError, Message, Request, Sampling
from tests.engine.chat_templates import COMMAND, HARMONY, QWEN3
from tests.engine.prompt.test_ends import COMMAND_TOKENS, HARMONY_TOKENS
from tests.engine.tiny_models import make_llama, make_tokenizer
from tests.engine.turn.conftest import QUESTION, SYSTEM
from tests.engine.turn.test_parts_of_answers import OPENS_THOUGHT
from tests.engine.turns import Chat, Scripted, events, finish, make_responder, short_chunks

LONG = Sampling(temperature=0.0, max_tokens=40)
SAMPLED = Sampling(temperature=1.3, top_p=1.0, seed=11, repetition_penalty=1.3, max_tokens=40)


def ask(chat: Chat, sampling: Sampling, begun: Message | None = None) -> Finished:
    return finish_parts(chat, chat.request(sampling=sampling, begun=begun))[0]


def finish_parts(chat: Chat, request: Request) -> tuple[Finished, str, tuple[int, ...]]:
    """The end of a request, and the text and the ids that came before it."""
    seen = list(events(chat.responder, request))
    deltas = [event for event in seen if isinstance(event, TextDelta)]
    assert isinstance(seen[-1], Finished)
    ids = tuple(token for event in deltas for token in event.token_ids)
    return seen[-1], "".join(event.text for event in deltas), ids


def begun(finished: Finished) -> Message:
    return Message("assistant", finished.text, finished.token_ids)


def fresh(tiny: LoadedModel) -> Chat:
    chat = Chat(short_chunks(tiny), SYSTEM)
    chat.messages.append(Message("user", QUESTION))
    return chat


@pytest.mark.parametrize("cut", [1, 2, 17, 39])
@pytest.mark.parametrize("sampling", [LONG, SAMPLED])
def test_it_goes_on_as_if_it_had_not_been_cut(tiny: LoadedModel, sampling: Sampling, cut: int) -> None:
    whole = ask(fresh(tiny), sampling)
    chat = fresh(tiny)
    first = ask(chat, replace(sampling, max_tokens=cut))
    assert (first.reason, first.token_ids) == ("length", whole.token_ids[:cut])
    rest = replace(sampling, max_tokens=sampling.max_tokens - cut)
    last, shown, ids = finish_parts(chat, chat.request(sampling=rest, begun=begun(first)))
    assert (last.token_ids, last.text, last.reason) == (whole.token_ids, whole.text, whole.reason)
    assert first.token_ids + ids == whole.token_ids[: cut + len(ids)]
    assert first.text + shown == whole.text
    assert last.stats.written_tokens == len(whole.token_ids) - cut


def test_all_but_one_token_are_reused(tiny: LoadedModel) -> None:
    chat = fresh(tiny)
    first = ask(chat, replace(LONG, max_tokens=21))
    list(chat.responder.settle())
    request = chat.request(sampling=LONG, begun=begun(first))
    preview = chat.responder.preview(1, request)
    seen = list(events(chat.responder, request))
    (matched,) = (event for event in seen if isinstance(event, Matched))
    last = seen[-1]
    assert isinstance(last, Finished)
    assert (preview.computed_tokens, matched.computed_tokens) == (1, 1)
    assert matched.prompt_tokens == preview.prompt_tokens
    assert matched.divergence is None
    assert len(last.token_ids) > 21
    list(chat.responder.settle())
    chat.messages += [begun(last), Message("user", "And?")]
    assert finish(chat.responder, chat.request())[0].reused_tokens >= preview.prompt_tokens


def test_a_text_without_ids_goes_on_too(tiny: LoadedModel) -> None:
    """Somebody wrote it, or another model did, whose ids mean nothing here."""
    chat = fresh(tiny)
    for ids in ((), (10**6,)):
        last, shown, _ = finish_parts(chat, chat.request(sampling=LONG, begun=Message("assistant", "It is", ids)))
        assert last.text == f"It is{shown}"
        assert len(shown) > 0


def test_stopped_at_once_it_is_as_it_was(tiny: LoadedModel) -> None:
    chat = fresh(tiny)
    first = ask(chat, replace(LONG, max_tokens=5))
    *_, last = events(chat.responder, chat.request(begun=begun(first)), is_cancelled=lambda: True)
    assert isinstance(last, Finished)
    assert (last.text, last.token_ids, last.reason) == (first.text, first.token_ids, "stopped")


def test_a_stop_string_across_the_cut_is_met(tiny: LoadedModel) -> None:
    whole = ask(fresh(tiny), LONG)
    chat = fresh(tiny)
    first = ask(chat, replace(LONG, max_tokens=20))
    stop = whole.text[len(first.text) - 1 : len(first.text) + 2]
    last, shown, _ = finish_parts(chat, chat.request(sampling=LONG, begun=begun(first), stop=(stop,)))
    assert last.text == whole.text[: whole.text.index(stop)]
    assert (last.reason, last.token_ids) == ("end", ())
    assert first.text[:-1] + shown == last.text


def test_a_stop_string_that_was_there_before_is_none(tiny: LoadedModel) -> None:
    """It was asked for later: nothing of the answer that is there goes."""
    whole = ask(fresh(tiny), LONG)
    chat = fresh(tiny)
    first = ask(chat, replace(LONG, max_tokens=20))
    stop = first.text[3:]
    assert stop not in whole.text[4:]
    last, shown, _ = finish_parts(
        chat, chat.request(sampling=replace(LONG, max_tokens=20), begun=begun(first), stop=(stop,))
    )
    assert (last.text, last.token_ids, first.text + shown) == (whole.text, whole.token_ids, whole.text)


FORMATS = {
    "opened": (OPENS_THOUGHT, (), "<|im_end|>"),
    "not opened": (QWEN3, (), "<|im_end|>"),
    "special tokens": (COMMAND, (*COMMAND_TOKENS, "<|END_THINKING|>"), "<|END|>"),
    "channels": (HARMONY, HARMONY_TOKENS, "<|return|>"),
}


def go_on(name: str, answer: Message, written: str) -> tuple[Finished, str]:
    """What becomes of an answer whose ids are not known, and how its prompt ends, where the model writes this text."""
    template, special, end = FORMATS[name]
    tokenizer = make_tokenizer(template, end)
    tokenizer.add_special_tokens({"additional_special_tokens": [AddedToken(each, special=True) for each in special]})
    model = LoadedModel(TransformersNetwork(make_llama(400)), tokenizer, "/nowhere/scripted")
    script = [*tokenizer(written, add_special_tokens=False).input_ids, *tokenizer.convert_tokens_to_ids([end]) * 99]
    chat = Chat(make_responder(Scripted(model, script)), SYSTEM)
    chat.messages.append(Message("user", QUESTION))
    request = chat.request(sampling=LONG, begun=answer)
    prompt = tokenizer.decode(chat.responder.preview(1, request).ids)
    return finish_parts(chat, request)[0], prompt


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("thought", ["Hm, a bag.\n\nOr two?", ""])
def test_another_models_thought_stays_a_thought_and_its_text_a_text(name: str, thought: str) -> None:
    last, prompt = go_on(name, Message("assistant", "It is <b>", (), thought), " there.")
    assert (last.text, last.thought) == ("It is <b> there.", thought)
    assert prompt.endswith("It is <b>")
    assert thought in prompt


@pytest.mark.parametrize(("name", "closes"), [("opened", "</think>"), ("special tokens", "<|END_THINKING|>")])
def test_another_models_thought_goes_on(name: str, closes: str) -> None:
    last, _ = go_on(name, Message("assistant", "", (), "Hm, a"), f" bag.{closes}It is.")
    assert (last.thought, last.text) == ("Hm, a bag.", "It is.")


def test_what_would_be_read_otherwise_is_refused(tiny: LoadedModel) -> None:
    """A model without thoughts has no place for one; a mark in the text would begin one."""
    chat = fresh(tiny)
    with pytest.raises(InvalidRequestError, match="read the beginning of this answer otherwise"):
        ask(chat, LONG, Message("assistant", "It is", (), "Hm."))
    with pytest.raises(InvalidRequestError, match="read the beginning of this answer otherwise"):
        go_on("not opened", Message("assistant", "<think> is a mark.</think>"), "")


@pytest.mark.parametrize("message", [Message("user", "x"), "text"])
def test_only_an_answer_goes_on(message: object) -> None:
    with pytest.raises(InvalidRequestError):
        Request((Message("user", "Hi"),), begun=message)  # type: ignore[arg-type]


def test_a_server_elsewhere_cannot() -> None:
    model = RemoteModel(Place("http://here/v1"), "m", "vllm", 100)
    with pytest.raises(InvalidRequestError, match="cannot go on"):
        body_of(Request((Message("user", "Hi"),), begun=Message("assistant", "x")), model)
