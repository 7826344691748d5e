"""`headstart demo` on the fake engine: its files, its refusals, and that it leaves the user's own files alone."""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from app import application
from app.__main__ import main, parse
from app.demo import demo
from app.demo import pictures as demo_pictures
from app.demo import player as player_module
from app.demo.demo import run_demo
from app.demo.script import NAMES, read_script
from app.theme import DARK, LIGHT
from engine import Divergence, HeadstartError
from tests.app.colours import colours
from tests.app.fake_engine import FakeEngine, Script, words

ANSWER = Script(words("Yes, while the order is in queue you can change the address under My orders."))
THEMES = ("light", "dark")
PARTS = ("window", "ribbon", "explainer", "tree", "charts")
FILES = {"report.json", "report.csv", "report.html", "page.png", "page-dark.png"} | {
    f"{p}-{t}.png" for p in PARTS for t in THEMES
}
MISSED = {"window-miss-light.png", "window-miss-dark.png"}
PARTED = Divergence(76, 0, "date", "Today is 29 November", "Today is 30 November", 3_000)


@pytest.fixture(autouse=True)
def _no_rests(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player_module, "REST_MS", 0)


@pytest.fixture(autouse=True)
def _users_files_are_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Path:
        raise AssertionError("the demo looked for the user's own files")

    monkeypatch.setattr(application, "default_path", refuse)
    monkeypatch.setattr("app.settings.default_path", refuse)


def play(folder: Path, engine: FakeEngine, turns: int = 2, *options: str) -> int:
    return run_demo(parse(["demo", "--out", str(folder), "--offscreen", "--turns", str(turns), *options]), engine)


def test_it_writes_the_report_and_the_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, engine = tmp_path / "new" / "demo", FakeEngine(ANSWER)
    assert play(out, engine) == 0
    assert {path.name for path in out.iterdir()} == FILES
    report = json.loads((out / "report.json").read_text("utf-8"))
    assert [(row["turn"], row["cache"]) for row in report["turns"]] == [(1, "off"), (1, "on"), (2, "off"), (2, "on")]
    assert all(row["reused_tokens"] + row["computed_tokens"] == row["prompt_tokens"] for row in report["turns"])
    assert (report["answers_equal"], report["parted"]) == (True, [])
    assert report["versions"]["python"] == sys.version.split()[0]
    assert "script" not in report
    printed = capsys.readouterr().out
    assert "times sooner with the cache" in printed
    assert "earlier demo" not in printed
    assert engine.closed
    check_pictures(out)
    play(out, FakeEngine(ANSWER), 1)
    assert capsys.readouterr().out.startswith(f"{out} holds an earlier demo. Its files are replaced once")


def check_pictures(out: Path) -> None:
    """The window in both themes, no warm box where nothing was read again, and a tree as tall as it needs."""
    light, dark, charts, tree = (
        QImage(str(out / f"{name}.png")) for name in ("window-light", "window-dark", "charts-light", "tree-light")
    )
    assert (light.width(), light.height()) == (dark.width(), dark.height()) == (1280, 800)
    assert light.pixelColor(4, 4).lightness() > 200 > 60 > dark.pixelColor(4, 4).lightness()
    assert charts.height() == 800
    seen = {charts.pixel(x, y) for x in range(0, charts.width(), 2) for y in range(0, charts.height(), 5)}
    assert len(seen) > 8
    assert (tree.width(), tree.height() < 320) == (960, True)
    for theme in (LIGHT, DARK):
        shown = colours(QImage(str(out / f"explainer-{theme.name}.png")))
        assert theme.panel in shown
        assert theme.warn not in shown
    page = (out / "report.html").read_text("utf-8")
    assert page.count("data:image/png;base64,") == 4
    assert "<summary>1. " in page


def test_a_folder_that_cannot_be_made_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    engine = FakeEngine(ANSWER)
    with pytest.raises(HeadstartError, match="Give --out another folder"):
        play(tmp_path / "file" / "demo", engine)
    assert not engine.specs


@pytest.mark.parametrize("name", NAMES)
def test_each_script_leaves_its_page_and_its_pictures(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.demo.player.WORD_MS", 0)
    later = Script(ANSWER.tokens, divergence=PARTED) if name == "one-token" else ANSWER
    turns = len(read_script(name).steps)
    play(tmp_path, FakeEngine(*[ANSWER] * 4, later, later, ANSWER), turns, "--script", name)
    assert {path.name for path in tmp_path.iterdir()} == (FILES | MISSED if name == "one-token" else FILES)
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert len(report["turns"]) == (3 if name == "typing" else 2) * turns
    assert report.get("script", "support") == name
    page = (tmp_path / "report.html").read_text("utf-8")
    for row in report["turns"]:
        assert f">{row['computed_tokens']:,}</td>" in page or row["cache"] != "on"
    for theme in (LIGHT, DARK):
        assert {theme.reused, theme.computed} <= colours(QImage(str(tmp_path / f"ribbon-{theme.name}.png")))
        assert {theme.reused, theme.computed} <= colours(QImage(str(tmp_path / f"charts-{theme.name}.png")))
        assert (theme.warn in colours(QImage(str(tmp_path / f"explainer-{theme.name}.png")))) == (name == "one-token")
        assert theme.pinned in colours(QImage(str(tmp_path / f"tree-{theme.name}.png")))
        if name == "one-token":
            picture = tmp_path / f"window-miss-{theme.name}.png"
            assert QImage(str(picture)).size() == QImage(str(tmp_path / "window-light.png")).size()
            assert {theme.warn, theme.page} <= colours(QImage(str(picture)))
            assert b64encode(picture.read_bytes()).decode() in page


def test_the_window_is_kept_as_it_was_at_the_first_miss(
    tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def change_theme(application: application.Application, name: str) -> None:
        charts = application.window.charts
        charts.redraw()
        assert "about" not in charts.headline.saved.lower(), "as measured"
        seen.append(f"{len(application.window.transcript.messages)} {name}")

    monkeypatch.setattr(demo_pictures, "change_theme", change_theme)
    missed = Script(ANSWER.tokens, divergence=PARTED)
    play(tmp_path, FakeEngine(*[ANSWER] * 4, missed, missed, missed), 4, "--script", "one-token")
    assert seen == ["6 light", "6 dark", "6 light", "8 dark", "8 light"]
    play(tmp_path, FakeEngine(ANSWER), 2, "--script", "one-token")
    assert {path.name for path in tmp_path.iterdir()} == FILES


def test_the_explanation_shows_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[demo_pictures.Explained] = []
    monkeypatch.setattr(demo_pictures, "save_explainer", lambda explained, path: shown.append(explained))
    monkeypatch.setattr(demo, "save_page", lambda *given: None)
    play(tmp_path, FakeEngine(ANSWER))
    cold = [row["ttft_s"] for row in json.loads((tmp_path / "report.json").read_text("utf-8"))["turns"]][2]
    for explained in shown:
        assert explained.content.stats is not None
        assert (explained.content.stats.cold_ttft_s, explained.content.stats.cold_measured) == (cold, True)
    assert len(shown) == 2


def test_own_files_are_played(tmp_path: Path) -> None:
    system, questions, out = tmp_path / "rules.txt", tmp_path / "questions.txt", tmp_path / "out"
    system.write_text("Be brief. " * 50, "utf-8")
    questions.write_text("One?\nTwo?\nThree?\n", "utf-8")
    engine = FakeEngine(ANSWER)
    arguments = ["demo", "--out", str(out), "--offscreen", "--system", str(system), "--questions", str(questions)]
    assert run_demo(parse(arguments), engine) == 0
    assert {path.name for path in out.iterdir()} == FILES
    asked = [request.messages[-1].content for request in engine.requests if request.use_cache]
    assert asked == ["One?", "Two?", "Three?"]
    assert [each["question"] for each in json.loads((out / "report.json").read_text("utf-8"))["asides"]] == asked


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--system", "{here}/none.txt", "--questions", "{here}/q.txt"], "none.txt cannot be read: No such file"),
        (
            ["--system", "{here}/empty.txt", "--questions", "{here}/q.txt"],
            "empty.txt is empty. Write the system prompt",
        ),
        (["--system", "{here}/s.txt", "--questions", "{here}/empty.txt"], "empty.txt is empty. Write one question"),
        (["--system", "{here}/" + "x" * 300, "--questions", "{here}/q.txt"], "cannot be read: File name too long"),
        (["--system", "{here}/s.txt"], "belong together"),
        (["--script", "tree", "--system", "{here}/s.txt", "--questions", "{here}/q.txt"], "but not both"),
        (["--system", "{here}/s.txt", "--questions", "{here}/q.txt", "--turns", "2"], "The demo has 1 question: give"),
    ],
)
def test_files_that_cannot_be_played_are_a_sentence_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], sentence: str
) -> None:
    (tmp_path / "s.txt").write_text("Be brief.")
    (tmp_path / "q.txt").write_text("Why?")
    (tmp_path / "empty.txt").write_text("\n")
    filled = [option.format(here=tmp_path) for option in options]
    out = tmp_path / "out"
    assert main(["demo", "--out", str(out), "--offscreen", *filled]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.startswith("headstart: ")
    assert said.count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize(
    ("system", "questions", "sentence"),
    [
        (
            "word " * 8_200,
            "Why?",
            r"takes about 10,305 tokens; .* reads 8,192\. Shorten the system prompt, or",
        ),
        ("Be brief.", "word " * 8_200, r"not even the first question fits\. Shorten it, or give --model"),
        (
            "Be brief.",
            "Why?\n" * 400,
            r"only the first \d+ of 400 questions fit\. Give --turns \d+, shorten the questions, or",
        ),
    ],
)
def test_what_is_longer_than_the_context_is_refused_with_its_cure_and_nothing_is_left(
    tmp_path: Path, system: str, questions: str, sentence: str
) -> None:
    rules, asked, out = tmp_path / "rules.txt", tmp_path / "questions.txt", tmp_path / "new" / "out"
    rules.write_text(system)
    asked.write_text(questions)
    engine = FakeEngine(ANSWER)
    arguments = ["demo", "--out", str(out), "--offscreen", "--system", str(rules), "--questions", str(asked)]
    with pytest.raises(HeadstartError, match=sentence):
        run_demo(parse(arguments), engine)
    assert not out.parent.exists()
    assert engine.requests == []


@pytest.mark.parametrize("turns", [0, -1, 99])
def test_more_turns_than_questions_are_refused(tmp_path: Path, turns: int) -> None:
    with pytest.raises(HeadstartError, match="give --turns a number"):
        play(tmp_path, FakeEngine(ANSWER), turns)


def test_an_engine_that_fails_ends_the_demo_and_is_closed(tmp_path: Path) -> None:
    engine = FakeEngine(Script(fail_after=-1, sentence="There is not enough memory."))
    with pytest.raises(HeadstartError, match="not enough memory"):
        play(tmp_path, engine)
    assert engine.closed
    assert not list(tmp_path.iterdir())
