"""How a small model that writes ahead is opened beside the one that it writes for."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from engine.native import library as native_library
from engine.turn.responder import Responder
from engine.types import (
    InvalidRequestError,
    ModelError,
    ModelInfo,
    ModelSpec,
    OutOfMemoryError,
)
from engine.worker import loading
from engine.worker.loading import open_model
from engine.worker.needed import model_fit
from tests.engine.chat_templates import CHATML
from tests.engine.tiny_models import make_folder, make_llama, make_tokenizer
from tests.engine.turns import Chat, Ticks

needs_passes = pytest.mark.skipif(
    native_library.library() is None, reason="no model checks several tokens at once here"
)
GIB = 1024**3


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Three models: two that are alike, and one with tokens of its own."""
    made = {name: tmp_path_factory.mktemp(name) for name in ("large", "small", "foreign")}
    for number, name in enumerate(("large", "small")):
        make_folder(made[name], seed=number)
    make_llama(seed=2).save_pretrained(made["foreign"])
    make_tokenizer(CHATML, text="other words than those of the others make other tokens").save_pretrained(
        made["foreign"]
    )
    return {name: str(folder) for name, folder in made.items()}


def opened(folders: dict[str, str], draft: str, dtype: str = "int8") -> tuple[Responder, ModelInfo]:
    spec = ModelSpec(folders["large"], "cpu", dtype, draft=folders.get(draft, draft))  # type: ignore[arg-type]
    return open_model(spec, Ticks(), lambda stage, fraction: None)


@needs_passes
def test_it_writes_ahead_and_is_counted(folders: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "MOST_DRAFT_COST", 9)
    alone, plain = opened(folders, "")
    beside, info = opened(folders, "small")
    assert (plain.draft, plain.draft_bytes) == ("", 0)
    assert info.draft == Path(folders["small"]).name
    assert info.draft_bytes > 0
    assert beside.draft is not None
    beside.draft.cost = 0.1  # it is no smaller here
    one, other = (Chat(responder).ask("Where is the parcel?") for responder in (alone, beside))
    assert one.token_ids == other.token_ids
    assert other.stats.guessed_tokens > 0


@needs_passes
@pytest.mark.parametrize(
    ("draft", "dtype", "says"),
    [
        ("foreign", "int8", "made of other tokens"),
        ("small", "int8", "too large to write ahead for"),
        ("small", "fp32", "checks one token at a time"),
        ("/nowhere/at/all", "int8", "/nowhere/at/all"),
    ],
)
def test_what_cannot_write_ahead_is_refused(folders: dict[str, str], draft: str, dtype: str, says: str) -> None:
    with pytest.raises(ModelError, match=says):
        opened(folders, draft, dtype)


def test_a_server_cannot_write_ahead() -> None:
    with pytest.raises(InvalidRequestError, match="choose a small model"):
        ModelSpec(draft="http://127.0.0.1:8080")


def test_what_both_take_is_told_before_they_are_read(folders: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    large, small = (model_fit(ModelSpec(folders[name], "cpu", "fp32")) for name in ("large", "small"))
    both = model_fit(ModelSpec(folders["large"], "cpu", "fp32", draft=folders["small"]))
    assert large is not None
    assert small is not None
    assert both is not None
    assert large.draft == 0
    assert "small model" not in large.sentence
    assert abs(both.draft - small.whole) < small.whole
    assert both.whole == large.whole + both.draft
    assert "for the small model that writes ahead" in both.sentence

    memory = SimpleNamespace(available=large.whole + both.draft // 2, total=64 * GIB)
    monkeypatch.setattr("psutil.virtual_memory", lambda: memory)
    with pytest.raises(OutOfMemoryError, match="leave out the small model"):
        opened(folders, "small", "fp32")
