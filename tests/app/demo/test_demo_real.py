"""The demo with real models, in fp32: equal answers, hits to the token; one different token, and its cure."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.__main__ import main
from app.demo import player
from app.theme import LIGHT
from tests.app.colours import colours
from tests.engine import tiny_models


def own_files(folder: Path) -> list[str]:
    """The start of the support bot's rules and its first questions, as somebody's own files."""
    demo = files("resources") / "demo"
    rules = (demo / "support_bot.md").read_text("utf-8").split("\n\n")[:2]
    questions = (demo / "support_questions.txt").read_text("utf-8").splitlines()[:2]
    (folder / "rules.md").write_text("\n\n".join(rules), "utf-8")
    (folder / "questions.txt").write_text("\n".join(questions), "utf-8")
    return ["--system", str(folder / "rules.md"), "--questions", str(folder / "questions.txt")]


@pytest.mark.parametrize("script", ["own files", pytest.param("as shipped", marks=pytest.mark.deep)])
def test_the_demo_reuses_everything_but_the_new_question(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, default_model: Path, script: str
) -> None:
    monkeypatch.setattr(player, "GREEDY", replace(player.GREEDY, max_tokens=12))
    monkeypatch.setattr(player, "LONGEST_REST_MS", 600_000)  # however busy the computer is
    options = ["--model", str(default_model), "--dtype", "fp32", "--out", str(tmp_path / "out"), "--offscreen"]
    options += own_files(tmp_path) if script == "own files" else ["--turns", "3"]
    assert main(["demo", *options]) == 0
    report = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    assert (report["dtype"], report["answers_equal"], report["parted"]) == ("fp32", True, [])
    on = [row for row in report["turns"] if row["cache"] == "on"]
    off = [row for row in report["turns"] if row["cache"] == "off"]
    assert {row["reused_tokens"] for row in off} == {0}
    assert [row["prompt_tokens"] for row in on] == [row["prompt_tokens"] for row in off]
    assert on[0]["reused_tokens"] == 0
    assert on[0]["prompt_tokens"] in (range(250, 600) if script == "own files" else range(3000, 3100))
    for before, row in pairwise(on):
        # The last token of an answer cut at the limit is computed only when the answer is read again, which a computer
        # that is too slow for it leaves out.
        is_uncomputed = bool(report["near"]) and before["written_tokens"] == player.GREEDY.max_tokens
        assert row["reused_tokens"] == before["prompt_tokens"] + before["written_tokens"] - is_uncomputed
        assert row["reused_tokens"] + row["computed_tokens"] == row["prompt_tokens"]


def test_one_different_token_and_its_cure_with_a_tiny_model(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiny_models, "CONTEXT", 16_384)
    monkeypatch.setattr(player, "GREEDY", replace(player.GREEDY, max_tokens=12))
    model = ["--model", str(tiny_models.make_folder(tmp_path / "tiny")), "--device", "cpu", "--dtype", "fp32"]
    out = tmp_path / "out"
    assert main(["demo", "--script", "one-token", "--out", str(out), "--offscreen", *model]) == 0
    report = json.loads((out / "report.json").read_text("utf-8"))
    assert (report["script"], report["answers_equal"], report["parted"]) == ("one-token", True, [])
    on = [row for row in report["turns"] if row["cache"] == "on"]
    front = 400  # tokens in front of the date
    assert [row["reused_tokens"] > row["prompt_tokens"] - 400 for row in on] == [False, True, False, False, True, True]
    assert all(0 < row["reused_tokens"] < front for row in (on[2], on[3]))
    assert LIGHT.warn in colours(out / "explainer-light.png")


def test_questions_are_read_while_they_are_typed(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same prompts, with less left to compute than where only earlier turns are remembered; the same answers."""
    monkeypatch.setattr(tiny_models, "CONTEXT", 16_384)
    monkeypatch.setattr(player, "GREEDY", replace(player.GREEDY, max_tokens=12))
    monkeypatch.setattr(player, "WORD_MS", 20)
    model = ["--model", str(tiny_models.make_folder(tmp_path / "tiny")), "--device", "cpu", "--dtype", "fp32"]
    out = tmp_path / "out"
    assert main(["demo", "--script", "typing", "--turns", "2", "--out", str(out), "--offscreen", *model]) == 0
    report = json.loads((out / "report.json").read_text("utf-8"))
    assert (report["script"], report["answers_equal"], report["parted"]) == ("typing", True, [])
    ahead, on, off = ([row for row in report["turns"] if row["cache"] == each] for each in ("ahead", "on", "off"))
    assert [row["prompt_tokens"] for row in ahead] == [row["prompt_tokens"] for row in on]
    assert [row["ahead_tokens"] > 0 for row in (*ahead, *on, *off)] == [True] * 2 + [False] * 4
    assert all(few["computed_tokens"] < many["computed_tokens"] for few, many in zip(ahead, on, strict=True))
    assert "read ahead while it was typed" in (out / "report.html").read_text("utf-8")
