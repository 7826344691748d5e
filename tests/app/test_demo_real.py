"""The demo at three turns with the real default model, in fp32: equal answers, hits to the token."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.__main__ import main
from app.player import GREEDY


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
