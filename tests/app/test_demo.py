"""`headstart demo` on the fake engine: its files, its refusals, and that it leaves the user's own files alone."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from app import application
from app import player as player_module
from app.__main__ import main, parse
from app.demo import run_demo
from engine import HeadstartError
from tests.app.fake_engine import FakeEngine, Script, words

ANSWER = Script(words("Yes, while the order is in queue you can change the address under My orders."))
FILES = {"report.json", "report.csv", "window-light.png", "window-dark.png", "charts.png"}


@pytest.fixture(autouse=True)
def _no_rests(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player_module, "REST_MS", 0)


@pytest.fixture(autouse=True)
def _users_files_are_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Path:
        raise AssertionError("the demo looked for the user's own files")

    monkeypatch.setattr(application, "default_path", refuse)
    monkeypatch.setattr("app.settings.default_path", refuse)


def play(folder: Path, engine: FakeEngine, turns: int = 2) -> int:
    return run_demo(parse(["demo", "--out", str(folder), "--offscreen", "--turns", str(turns)]), engine)


def test_it_writes_the_report_and_the_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, engine = tmp_path / "new" / "demo", FakeEngine(ANSWER)
    assert play(out, engine) == 0
    assert {path.name for path in out.iterdir()} == FILES
    report = json.loads((out / "report.json").read_text("utf-8"))
    assert [(row["turn"], row["cache"]) for row in report["turns"]] == [(1, "off"), (1, "on"), (2, "off"), (2, "on")]
    assert all(row["reused_tokens"] + row["computed_tokens"] == row["prompt_tokens"] for row in report["turns"])
    assert report["answers_equal"]
    assert report["parted"] == []
    assert report["versions"]["python"] == sys.version.split()[0]
    assert "times sooner with the cache" in capsys.readouterr().out
    assert engine.closed


def test_the_pictures_show_the_window_in_both_themes(tmp_path: Path) -> None:
    play(tmp_path, FakeEngine(ANSWER))
    light, dark, charts = (QImage(str(tmp_path / f"{name}.png")) for name in ("window-light", "window-dark", "charts"))
    assert (light.width(), light.height()) == (dark.width(), dark.height()) == (1280, 800)
    assert light.pixelColor(4, 4).lightness() > 200 > 60 > dark.pixelColor(4, 4).lightness()
    assert charts.height() == 800
    assert len({charts.pixel(x, charts.height() // 6) for x in range(charts.width())}) > 3


def test_a_folder_that_cannot_be_made_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    engine = FakeEngine(ANSWER)
    with pytest.raises(HeadstartError, match="Give --out another folder"):
        play(tmp_path / "file" / "demo", engine)
    assert not engine.specs


@pytest.mark.parametrize("turns", [0, -1, 99])
def test_more_turns_than_questions_are_refused(tmp_path: Path, turns: int) -> None:
    with pytest.raises(HeadstartError, match="give --turns a number"):
        play(tmp_path, FakeEngine(ANSWER), turns)


def test_a_refusal_is_a_sentence_and_status_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--out", str(tmp_path), "--offscreen", "--turns", "99"]) == 2
    assert (
        capsys.readouterr().err.strip() == "headstart: The demo has 10 questions: give --turns a number from 1 to that."
    )


def test_an_engine_that_fails_ends_the_demo_and_is_closed(tmp_path: Path) -> None:
    engine = FakeEngine(Script(fail_after=-1, sentence="There is not enough memory."))
    with pytest.raises(HeadstartError, match="not enough memory"):
        play(tmp_path, engine)
    assert engine.closed
    assert not list(tmp_path.iterdir())
