"""The demo with real models, in fp32: equal answers, hits to the token; one different token, and its cure."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from app.__main__ import main
from app.demo.player import GREEDY
from app.theme import LIGHT
from tests.engine import tiny_models


@pytest.mark.timeout(900)
def test_the_demo_reuses_everything_but_the_new_question(qtbot: QtBot, tmp_path: Path, default_model_dir: Path) -> None:
    model = ["--model", str(default_model_dir), "--dtype", "fp32"]
    assert main(["demo", "--out", str(tmp_path), "--offscreen", "--turns", "3", *model]) == 0
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert (report["dtype"], report["answers_equal"], report["parted"]) == ("fp32", True, [])
    on = [row for row in report["turns"] if row["cache"] == "on"]
    off = [row for row in report["turns"] if row["cache"] == "off"]
    assert [row["reused_tokens"] for row in off] == [0, 0, 0]
    assert [row["prompt_tokens"] for row in on] == [row["prompt_tokens"] for row in off]
    assert on[0]["reused_tokens"] == 0
    assert 3000 < on[0]["prompt_tokens"] < 3100
    for before, row in pairwise(on):
        # The last token of an answer cut at the limit was never computed; all before it is in the lane.
        is_cut = before["written_tokens"] == GREEDY.max_tokens
        assert row["reused_tokens"] == before["prompt_tokens"] + before["written_tokens"] - is_cut
        assert row["reused_tokens"] + row["computed_tokens"] == row["prompt_tokens"]
        assert row["ttft_s"] < off[row["turn"] - 1]["ttft_s"]


@pytest.mark.timeout(600)
def test_one_different_token_and_its_cure_with_a_tiny_model(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiny_models, "CONTEXT", 16_384)
    model = ["--model", str(tiny_models.make_folder(tmp_path / "tiny")), "--device", "cpu", "--dtype", "fp32"]
    out = tmp_path / "out"
    assert main(["demo", "--script", "one-token", "--out", str(out), "--offscreen", *model]) == 0
    report = json.loads((out / "report.json").read_text("utf-8"))
    assert (report["script"], report["answers_equal"], report["parted"]) == ("one-token", True, [])
    on = [row for row in report["turns"] if row["cache"] == "on"]
    front = 400  # tokens in front of the date
    assert [row["reused_tokens"] > row["prompt_tokens"] - 400 for row in on] == [False, True, False, False, True, True]
    assert all(0 < row["reused_tokens"] < front for row in (on[2], on[3]))
    explainer = QImage(str(out / "explainer-light.png"))
    colours = {explainer.pixelColor(40, y).name() for y in range(explainer.height())}
    assert LIGHT.warn in colours
