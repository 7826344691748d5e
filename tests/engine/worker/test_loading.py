"""How a model is opened: the cache's default share of memory, its least size, and a warm-up that leaves nothing."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.llama.attention import attend
from engine.llama.checkpoint import STAGE
from engine.models.choice import default_cache_bytes
from engine.models.loaded import LoadedModel, load
from engine.turn.responder import DIFFERS, TOO_SLOW
from engine.types import ModelSpec
from engine.worker.loading import open_model
from tests.engine.tiny_models import make_folder
from tests.engine.turns import Ticks

GIB = 1024**3
TOKEN = 2 * 2 * (8 + 8) * 4


def set_memory(monkeypatch: pytest.MonkeyPatch, free: int, total: int = 64 * GIB) -> None:
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=free, total=total))


@pytest.mark.parametrize(("free", "share"), [(4 * GIB, GIB), (16 * GIB, 4 * GIB), (400 * GIB, 8 * GIB)])
def test_the_default_budget_is_a_share_never_all(monkeypatch: pytest.MonkeyPatch, free: int, share: int) -> None:
    """Issue 3 point 5."""
    set_memory(monkeypatch, free)
    assert default_cache_bytes(torch.device("cpu"), 1000) == share


@pytest.mark.parametrize(("wish", "budget"), [(10**8, 10**8), (0, 1024 * TOKEN), (1023 * TOKEN, 1024 * TOKEN)])
def test_a_budget_is_what_was_asked_for_but_one_lane_at_least(tiny_folder: Path, wish: int, budget: int) -> None:
    spec = ModelSpec(str(tiny_folder), "cpu", "fp32", cache_bytes=wish)
    responder, info = open_model(spec, Ticks(), lambda stage, fraction: None)
    assert responder.cache.store.budget_bytes == info.cache_budget_bytes == budget
    assert responder.cache.store.used_bytes == 0, "the warm-up left something"
    assert responder.cache.view().cached_tokens == 0
    assert info.kv_bytes_per_token == info.cached_bytes_per_token == TOKEN


def test_in_8_bits_a_token_costs_less_in_the_cache_and_as_much_while_it_is_computed(tiny_folder: Path) -> None:
    """The least budget is one conversation while it is computed; of each head a row has a byte for its exponent."""
    spec = ModelSpec(str(tiny_folder), "cpu", "fp32", cache_bytes=0, kv_bits=8)
    responder, info = open_model(spec, Ticks(), lambda stage, fraction: None)
    layout = responder.cache.store.layout
    assert (info.kv_bytes_per_token, info.cache_budget_bytes) == (TOKEN, 1024 * TOKEN)
    assert info.cached_bytes_per_token == TOKEN // 4 + layout.rows_per_token == layout.bytes_per_block // 16


@pytest.mark.parametrize(
    ("fits", "wish", "context"),
    [(500, None, 1024), (5000, None, 4096), (10**6, None, 100_000), (5000, 2000, 2000), (5000, 200_000, 100_000)],
)
def test_the_context_hangs_on_the_computer_and_the_wish(
    tiny_folder: Path, monkeypatch: pytest.MonkeyPatch, fits: int, wish: int | None, context: int
) -> None:
    """A model that reads more than a share of the memory holds is cut to that, 1,024 tokens at least, at every start
    alike; one that was asked for a length gets that."""

    def load_long(*wishes: Any) -> LoadedModel:
        model = load(*wishes)
        model.context_length = 100_000
        return model

    monkeypatch.setattr("engine.worker.loading.load", load_long)
    for free in (GIB, 2 * GIB):
        set_memory(monkeypatch, free, 8 * fits * TOKEN)
        spec = ModelSpec(str(tiny_folder), "cpu", "fp32", context_tokens=wish)
        responder, info = open_model(spec, Ticks(), lambda stage, fraction: None)
        assert info.context_length == responder.cache.context_length == context
        assert info.cache_budget_bytes >= context * TOKEN


def test_a_model_that_is_read_alike_in_pieces_is_exact(tiny_folder: Path) -> None:
    assert open_model(ModelSpec(str(tiny_folder), "cpu", "fp32"), Ticks(), lambda *_: None)[1].near == ""


def test_one_that_is_not_is_near_and_says_why(tiny_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attention that hangs on the length of a piece."""

    def hanging(query: Tensor, *more: Any, **most: Any) -> Tensor:
        return attend(query, *more, **most) * len(query[0, 0])

    monkeypatch.setattr("engine.llama.forward.attend", hanging)
    info = open_model(ModelSpec(str(tiny_folder), "cpu", "fp32"), Ticks(), lambda *_: None)[1]
    assert info.near == DIFFERS


def test_one_that_is_too_slow_to_read_answers_again_is_near(tiny_folder: Path) -> None:
    info = open_model(ModelSpec(str(tiny_folder), "cpu", "fp32"), Ticks(1.5), lambda *_: None)[1]
    assert info.near == TOO_SLOW


def test_each_step_of_loading_is_told(tiny_folder: Path) -> None:
    told: list[str] = []
    (tiny_folder / "model.safetensors").touch()  # another test may have had them checked, and that is remembered
    open_model(ModelSpec(str(tiny_folder), "cpu", "fp32"), Ticks(), lambda stage, fraction: told.append(stage))
    assert list(dict.fromkeys(told)) == [
        "Loading the model",
        STAGE,
        "Checking the weights",
        "Measuring the reading speed",
    ]


def test_other_weights_of_the_same_age_are_another_model(tiny_folder: Path, tmp_path: Path) -> None:
    """What lies on disk outlives a start: equal sizes and times must not be taken for equal weights."""
    names = set()
    for seed in (0, 1):
        folder = make_folder(tmp_path / str(seed), seed=seed)
        for file in folder.iterdir():
            os.utime(file, (1, 1))
        names.add(open_model(ModelSpec(str(folder), "cpu", "fp32"), Ticks(), lambda *_: None)[0].cache.namespace)
    assert len(names) == 2
