"""Memory on simulated cards: what opens, at which context, with how many warm conversations; and what happens where
there is none. Sizes are those of real models; tensors have shapes and no numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.cache.store import Lane
from engine.llama.checkpoint import LeanNetwork, plain_decoder
from engine.llama.family import Decoder, shapes
from engine.models.choice import LEAST_CONTEXT, cache_sizes, taken_for_block
from engine.models.loaded import load
from engine.types import HeadstartError
from tests.depth import cases, some
from tests.engine.gguf_packed import SHAPES
from tests.engine.gpu.fake_gpu import GIB, FakeGpu, Kind
from tests.engine.inside import is_idle
from tests.engine.turns import Chat, finish, make_responder

DESKTOP = GIB // 2
"""What the desktop and CUDA itself take of a card."""

CHAT = 3000
"""Tokens of a warm conversation."""

CHUNK = 512
OPENS: dict[tuple[int, str], tuple[int, int] | None] = {
    # card in GiB, model: context in tokens, warm conversations beside one in use; None: it does not open
    (4, "135m"): (8192, 19), (4, "1b"): (8192, 5), (4, "3b"): None, (4, "8b"): None,
    (6, "135m"): (8192, 32), (6, "1b"): (8192, 19), (6, "3b"): None, (6, "8b"): None,
    (8, "135m"): (8192, 46), (8, "1b"): (8192, 32), (8, "3b"): (4681, 0), (8, "8b"): None,
    (12, "135m"): (8192, 73), (12, "1b"): (8192, 60), (12, "3b"): (8192, 4), (12, "8b"): None,
    (24, "135m"): (8192, 121), (24, "1b"): (8192, 124), (24, "3b"): (8192, 22), (24, "8b"): (8192, 9),
}  # fmt: skip


IN_EACH_RUN = ((4, "1b"), (6, "3b"), (8, "3b"), (24, "3b"))


def decoder_of(name: str) -> Decoder:
    """A Llama of the sizes that a name stands for."""
    shape = SHAPES[name]
    said = {
        "model_type": "llama", "hidden_act": "silu", "hidden_size": shape.width, "intermediate_size": shape.inner,
        "num_hidden_layers": shape.layers, "num_attention_heads": shape.heads, "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.dim, "rms_norm_eps": 1e-5, "vocab_size": shape.vocabulary, "max_position_embeddings": 8192,
        "rope_theta": 1e4, "tie_word_embeddings": True,
    }  # fmt: skip
    found = plain_decoder(said, frozenset())
    assert found is not None
    return found


def open_on(card: int, name: str, gpu: FakeGpu) -> tuple[int, int] | None:
    """Open a model as from files, fill its cache, and read at the end of its context."""
    taken = torch.empty(DESKTOP, dtype=torch.uint8, device=gpu.device)
    wanted = decoder_of(name)
    try:
        tensors = {key: torch.empty(shape, dtype=torch.bfloat16, device=gpu.device) for key, shape in shapes(wanted)}
        network = LeanNetwork(wanted, tensors, None)
        del tensors
        token, layout = network.layout.bytes_per_token, network.layout
        budget, context = cache_sizes(gpu.device, token, wanted.context_length, None)
        budget = max(budget, context * token)
        lane = Lane(layout, context)
        left = budget - lane.nbytes
        blocks = left // layout.bytes_per_block
        step = [
            torch.empty(layout.bytes_per_block, dtype=torch.uint8, device=gpu.device) for _ in range(min(blocks, 99))
        ]
        rest = (blocks - len(step)) * taken_for_block(layout.bytes_per_block, gpu.device)
        rest_of_cache = torch.empty(rest, dtype=torch.uint8, device=gpu.device)
        with torch.inference_mode():
            network.forward(range(CHUNK), lane, context - CHUNK - 1)
            network.forward([5], lane, context - 1, is_answer=True)
    except torch.OutOfMemoryError:
        return None
    assert gpu.segments.reserved <= gpu.memory
    assert len(taken) + len(rest_of_cache) >= 0
    return context, left // (CHAT * token)


@pytest.mark.parametrize(("card", "name"), cases(OPENS, IN_EACH_RUN))
def test_what_opens_on_a_card(card: int, name: str) -> None:
    """Weights, lane, all blocks of the budget and what a piece of a prompt needs are there at once, or it is said."""
    with FakeGpu(memory=card * GIB, computes=False) as gpu:
        assert open_on(card, name, gpu) == OPENS[card, name]


@pytest.mark.parametrize("nbytes", [368_640, 700_000, 1 << 20, (1 << 20) + 512, 2 << 20, 3 << 20, 12 << 20])
def test_what_many_blocks_take(nbytes: int) -> None:
    """The arithmetic is that of the allocator."""
    with FakeGpu(memory=4 * GIB, computes=False) as gpu:
        each = taken_for_block(nbytes, gpu.device)
        held = [torch.empty(nbytes, dtype=torch.uint8, device=gpu.device) for _ in range(60)]
        assert 0 <= gpu.segments.reserved - len(held) * each < 20 << 20


def test_what_loading_leaves_is_free_again() -> None:
    """Fused matrices are copies: what the single ones took is torch's until it is given back, and would not be counted
    as free otherwise."""
    with FakeGpu(memory=16 * GIB, computes=False) as gpu:
        wanted = decoder_of("3b")
        tensors = {key: torch.empty(shape, dtype=torch.bfloat16, device=gpu.device) for key, shape in shapes(wanted)}
        network = LeanNetwork(wanted, tensors, None)
        del tensors
        kept = gpu.segments.reserved - gpu.segments.used
        assert kept > 2 * GIB
        budget, _ = cache_sizes(gpu.device, network.layout.bytes_per_token, 8192, None)
        assert budget > (gpu.memory - gpu.segments.used) * 0.42
        assert gpu.segments.reserved - gpu.segments.used < kept // 4


def test_apple_may_have_a_part_of_the_memory() -> None:
    """What Metal recommends, less what it has given already."""
    with FakeGpu("mps", memory=1 * GIB, computes=False) as gpu:
        budget, context = cache_sizes(gpu.device, 100_000, 8192, None)
        assert GIB // 5 < budget <= GIB // 4
        assert context == LEAST_CONTEXT <= budget / 100_000


@pytest.mark.parametrize("kind", cases(["cuda", "mps"], ["cuda"]))
def test_no_memory_at_any_allocation(kind: Kind, tiny_folder: Path) -> None:
    """torch's own error at the k-th allocation of a turn costs nothing but time: the answer is the same, nothing stays
    pinned, and no more is cached than there was."""
    with FakeGpu(kind) as gpu:
        model = load(tiny_folder, "auto", "fp32")
        chat = make_chat(make_responder(model, near="a GPU"))
        expected = finish(chat.responder, chat.request())[1].token_ids
        chat = make_chat(make_responder(model, near="a GPU"))
        before = gpu.allocations
        finish(chat.responder, chat.request())
        total = gpu.allocations - before
        for k in some(range(total), always=range(0, total, 61)):
            chat = make_chat(make_responder(model, near="a GPU"))
            gpu.fail_after = k
            try:
                assert finish(chat.responder, chat.request())[1].token_ids == expected
            except HeadstartError as error:
                pytest.fail(f"at allocation {k}: {error}")
            assert gpu.fail_after < 0
            chat.responder.cache.check_integrity()
            assert is_idle(chat.responder.cache)


def make_chat(responder: object) -> Chat:
    """A chat with one question."""
    chat = Chat(responder, "You answer questions about parcels and tents.")  # type: ignore[arg-type]
    chat.messages.append(chat.messages[0].__class__("user", "Where is my parcel?" * 3))
    return chat
