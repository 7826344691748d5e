"""What each GPU gets: number type, form of attention, and the kernel that torch takes then."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
import torch

from engine.llama.attention import attend_by_torch
from engine.llama.gpu_kernels import MPS_ROWS, Card, Heads, card_of, form, kernel
from engine.models.choice import choose_dtype
from engine.models.from_transformers import TransformersNetwork
from engine.models.lane_cache import probe_layout
from engine.types import ModelError
from tests.engine.gpu.fake_gpu import FakeGpu
from tests.engine.tiny_models import make_llama
from tests.engine.worker_driver import Driver

CARDS = {
    "GTX 1060": (6, 1), "GTX 1080 Ti": (6, 1), "V100": (7, 0), "GTX 1660": (7, 5), "RTX 2080": (7, 5), "A100": (8, 0),
    "RTX 3060": (8, 6), "RTX 3090": (8, 6), "RTX 4060": (8, 9), "RTX 4090": (8, 9), "H200": (9, 0), "B200": (10, 0),
    "RTX 5060": (12, 0), "RTX 5090": (12, 0), "GB10": (12, 1),
}  # fmt: skip
OLD = ("GTX 1060", "GTX 1080 Ti", "V100", "GTX 1660", "RTX 2080")
APPLE = ("M1 before macOS 14", "M1", "M2", "M3", "M4")
LLAMA = Heads(32, 8, 128, 128, torch.bfloat16)
FAMILIES = {
    "SmolLM2": replace(LLAMA, heads=9, kv_heads=3, key_dim=64, value_dim=64),
    "Llama-3": LLAMA,
    "Phi-3-mini": replace(LLAMA, heads=32, kv_heads=32, key_dim=96, value_dim=96),
    "Gemma-3": replace(LLAMA, heads=8, kv_heads=4, key_dim=256, value_dim=256),
    "Gemma-4, layers without a window": replace(LLAMA, heads=8, kv_heads=1, key_dim=512, value_dim=512),
    "DeepSeek-V3": replace(LLAMA, heads=128, kv_heads=128, key_dim=192, value_dim=128),
    "heads of 80": replace(LLAMA, heads=32, kv_heads=32, key_dim=80, value_dim=80),
}


@pytest.mark.parametrize("name", CARDS)
def test_number_type_of_a_card(name: str) -> None:
    """bf16 where the hardware has it. A checkpoint in fp16 stays so. Few bits are refused, whatever the card."""
    with FakeGpu("cuda", capability=CARDS[name]) as gpu:
        expected = torch.float16 if name in OLD else torch.bfloat16
        assert choose_dtype("auto", gpu.device, 4096, torch.bfloat16) == (expected, None)
        assert choose_dtype("auto", gpu.device, 4096, torch.float16) == (torch.float16, None)
        assert choose_dtype("fp32", gpu.device, 4096, torch.float16) == (torch.float32, None)
        with pytest.raises(ModelError, match="for the CPU only"):
            choose_dtype("int4", gpu.device, 4096, torch.bfloat16)


@pytest.mark.parametrize("name", APPLE)
def test_number_type_of_an_apple(name: str) -> None:
    is_new = "before" not in name
    with FakeGpu("mps", has_bf16=is_new) as gpu:
        assert choose_dtype("auto", gpu.device, 4096, torch.bfloat16)[0] is (
            torch.bfloat16 if is_new else torch.float16
        )


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", CARDS)
def test_no_card_writes_all_scores_into_memory(name: str, family: str) -> None:
    """But for heads that no fused kernel takes. Shared heads go as rows where flash attention is not."""
    heads = FAMILIES[family]
    heads = replace(heads, dtype=torch.float16) if name in OLD else heads
    card = Card("cuda", CARDS[name])
    chosen = form(card, heads)
    handed = replace(heads, heads=heads.kv_heads) if chosen == "rows" else heads
    found = kernel(card, handed, is_masked=chosen == "rows")
    is_flash = name not in OLD and heads.key_dim == heads.value_dim <= 256
    assert found == ("flash" if is_flash else "efficient")
    assert chosen == ("causal" if is_flash or heads.heads == heads.kv_heads else "rows")


def test_what_no_kernel_takes() -> None:
    """Widths that cannot be read at once, and a card that torch has no kernel for."""
    odd = replace(LLAMA, kv_heads=32, key_dim=20, value_dim=12)
    assert kernel(Card("cuda", (8, 6)), odd, is_masked=False) == "math"
    assert kernel(Card("cuda", (7, 5)), LLAMA, is_masked=True) == "math"
    assert kernel(Card("cuda", (3, 5)), replace(LLAMA, kv_heads=32), is_masked=False) == "math"
    assert kernel(Card("cuda", (13, 0)), LLAMA, is_masked=False) == "math"
    assert kernel(Card("cuda"), LLAMA, is_masked=False) == "math", "AMD"


@pytest.mark.parametrize("name", ["RTX 2080", "RTX 3060", "H200", "M1"])
@pytest.mark.parametrize(("q", "n"), [(1, 40), (40, 40), (7, 40)])
def test_what_attention_asks_for(name: str, q: int, n: int) -> None:
    """What is asked of torch is what the table says, and gives the numbers that the CPU gives."""
    heads = Heads(6, 2, 8, 8, torch.float16)
    query, key, value = (torch.randn(1, count, many, 8).half() for count, many in ((6, q), (2, n), (2, n)))
    expected = attend_by_torch(query.float(), key.float(), value.float(), 0.3)
    with FakeGpu("mps" if name == "M1" else "cuda", capability=CARDS.get(name, (0, 0))) as gpu, torch.inference_mode():
        found = attend_by_torch(query.to(gpu.device), key.to(gpu.device), value.to(gpu.device), 0.3)
        torch.testing.assert_close(found.cpu().float(), expected, rtol=0, atol=4e-3)
        ((asked, is_masked),) = gpu.attention
        is_rows = q == 1 or form(card_of(gpu.device), heads) == "rows"
        assert asked == (replace(heads, heads=2) if is_rows else heads)
        assert is_masked == (is_rows and q > 1)
        assert kernel(card_of(gpu.device), asked, is_masked=is_masked) != "math"


def test_many_rows_on_mps_go_in_parts() -> None:
    """Its kernel cuts them, and would not cut the mask."""
    q, n = MPS_ROWS // 4 + 50, MPS_ROWS // 4 + 70
    query, key, value = (torch.randn(1, count, many, 8) for count, many in ((4, q), (1, n), (1, n)))
    expected = attend_by_torch(query, key, value, 0.3)
    with FakeGpu("mps") as gpu, torch.inference_mode():
        found = attend_by_torch(query.to(gpu.device), key.to(gpu.device), value.to(gpu.device), 0.3)
        torch.testing.assert_close(found.cpu(), expected)
        assert len(gpu.attention) == 2


def test_an_operation_that_a_device_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Is told as such: nothing is done on the CPU in its place."""
    with FakeGpu("mps") as gpu:
        network = TransformersNetwork(make_llama().to(gpu.device), is_fast=False)

        def lacking(*_: object, **__: object) -> None:
            raise NotImplementedError("The operator 'aten::made_up' is not currently implemented for the MPS device.")

        monkeypatch.setattr(network.model, "forward", lacking)
        with pytest.raises(ModelError, match="Choose the device 'cpu'"):
            probe_layout(network.model)


def test_nothing_falls_back_to_the_cpu_in_silence(driver: Driver) -> None:
    """The variable that would allow it is 0 once a model is loaded, whatever it was."""
    assert os.environ["PYTORCH_ENABLE_MPS_FALLBACK"] == "0"
