"""Whole chats with models that look back over a window only: regenerated, edited, switched back, evicted in part."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from transformers import AutoModelForCausalLM

from engine.models import attention_hook as interface
from engine.models.from_transformers import TransformersNetwork
from engine.models.loaded import LoadedModel
from engine.types import BLOCK_TOKENS, Message
from tests.engine.inside import build_prompt, forget_lanes
from tests.engine.model_zoo import CASES, SLIDING, ModelCase
from tests.engine.tiny_models import make_tokenizer
from tests.engine.turns import GREEDY, Chat, SpyModel, finish, make_responder

QUESTION = "Where is my parcel, and when will it be here? I have been waiting for it since Monday."
VOCABULARY = 340
KINDS = ("Mistral with sliding window", "Gemma-3n", "GPT-OSS", "Llama-4")  # all, some, with sinks, in chunks


def make_chat(case: ModelCase) -> Chat:
    """A chat with a model of the class, whose vocabulary is the tokenizer's."""
    interface.register()
    torch.manual_seed(5)
    changes = {"vocab_size": VOCABULARY, "eos_token_id": None}
    changes |= {"vocab_size_per_layer_input": VOCABULARY} if "vocab_size_per_layer_input" in case.changes else {}
    config = replace(case, changes=dict(case.changes) | changes).config()
    network = AutoModelForCausalLM.from_config(config, attn_implementation=interface.NAME).eval().requires_grad_(False)
    model = SpyModel(LoadedModel(TransformersNetwork(network), make_tokenizer(), "/nowhere/windowed"))
    return Chat(make_responder(model, context=512), "You answer questions.", sampling=GREEDY)


def check_warm_is_cold(chat: Chat, *, least: int) -> None:
    """The request as it stands, warm and cold: the same answer, the same logits, and a hit as long as promised."""
    spy = chat.responder.model
    assert isinstance(spy, SpyModel)
    spy.logits.clear()
    matched, warm = finish(chat.responder, chat.request())
    steps = len(warm.token_ids) - (matched.computed_tokens == 0)  # on a full hit the first logits were kept
    seen = spy.logits[-steps:]
    spy.logits.clear()
    cold = finish(chat.responder, chat.request(use_cache=False))[1]
    assert (warm.text, warm.token_ids) == (cold.text, cold.token_ids)
    for one, other in zip(seen, spy.logits[-steps:], strict=True):
        assert torch.equal(one, other)
    assert matched.reused_tokens >= least
    chat.responder.cache.check_integrity()


@pytest.mark.parametrize("name", KINDS)
def test_a_chat_that_is_regenerated_and_edited_equals_a_cold_one(name: str) -> None:
    """Scenario 16, ENGINE_BUGS kinds D26, E31, E32: no hit is lost because a window passed it, and none is wrong."""
    chat = make_chat(next(case for case in CASES if case.name == name and case.reuse == SLIDING))
    for _ in range(2):
        chat.ask(QUESTION)
    first, whole = list(chat.messages[:2]), list(chat.messages)
    del chat.messages[-1]
    length = len(build_prompt(chat.responder, chat.messages).ids)
    check_warm_is_cold(chat, least=length - 1)
    chat.messages[-1] = Message("user", QUESTION.replace("Monday", "Friday"))
    check_warm_is_cold(chat, least=length - 2 * BLOCK_TOKENS)
    chat.messages[:] = [first[0], Message("user", QUESTION.replace("parcel", "tent"))]
    check_warm_is_cold(chat, least=BLOCK_TOKENS)
    chat.messages[:] = whole[:-1]
    forget_lanes(chat.responder.cache)
    check_warm_is_cold(chat, least=length - BLOCK_TOKENS)
    cache = chat.responder.cache
    forget_lanes(cache)
    cache.store.free(cache.tree.evict(len(cache.tree) // 2))
    left = cache.peek(build_prompt(chat.responder, chat.messages).ids)
    assert left > 0
    check_warm_is_cold(chat, least=left)
