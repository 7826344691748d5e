"""An answer that was cut off goes on as if it had never been: the same tokens, and all but one of them reused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.events import Finished, Matched, TextDelta
from engine.models.loaded import LoadedModel
from engine.remote.wire import Place, RemoteModel, body_of
from engine.types import InvalidRequestError, Message, Request, Sampling
from tests.engine.turn.conftest import QUESTION, SYSTEM
from tests.engine.turns import Chat, events, finish, short_chunks

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


@pytest.mark.parametrize("message", [Message("user", "x"), "text"])
def test_only_an_answer_goes_on(message: object) -> None:
    with pytest.raises(InvalidRequestError):
        Request((Message("user", "Hi"),), begun=message)  # type: ignore[arg-type]


def test_a_server_elsewhere_cannot() -> None:
    model = RemoteModel(Place("http://here/v1"), "m", "vllm", 100)
    with pytest.raises(InvalidRequestError, match="cannot go on"):
        body_of(Request((Message("user", "Hi"),), begun=Message("assistant", "x")), model)
