"""A proof on the real engine with a tiny model: the same tokens, with the same numbers behind them."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from app.chat.bridge import Bridge
from app.proof.proof import Proof, ProofResult, verdict
from engine import Engine, Finished, Message, ModelSpec, Request, Sampling
from tests.engine.tiny_models import make_folder

MESSAGES = (Message("system", "The parcel left the warehouse on Monday. " * 20), Message("user", "Where is it?"))


def test_a_turn_of_the_tiny_model_is_proved(qtbot: QtBot, tmp_path: Path) -> None:
    bridge = Bridge(Engine())
    try:
        with qtbot.waitSignal(bridge.loaded):
            spec = ModelSpec(str(make_folder(tmp_path / "tiny")), "cpu", "fp32", cache_bytes=10**8)
            bridge.load(spec)
        turn = Request(MESSAGES, Sampling(temperature=0.8, seed=1, max_tokens=12), "chat #1")
        ends: list[Finished] = []
        bridge.finished.connect(ends.append)
        with qtbot.waitSignal(bridge.finished):
            bridge.submit(turn)
        proof = Proof(bridge, turn, 12)
        with qtbot.waitSignal(proof.ended) as ended:
            proof.start()
        result = ended.args[0]
        assert isinstance(result, ProofResult)
        warm, cold = result.warm.stats, result.cold.stats
        assert warm.prompt_tokens == cold.prompt_tokens == ends[0].stats.prompt_tokens
        assert warm.reused_tokens > 0 == cold.reused_tokens
        assert result.parted is None
        assert result.warm.token_ids == result.cold.token_ids
        assert result.same_margins
        assert verdict(result, "").endswith("equal to the last bit.")
        assert len(ends) == 1
    finally:
        bridge.close()
