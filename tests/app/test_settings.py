"""Settings on disk: the difference from the defaults, and what happens to a broken file."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from app.settings import Settings, default_path, describe
from engine import HeadstartError, Sampling


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "settings.json"


def write(path: Path, text: str) -> None:
    path.parent.mkdir()
    path.write_text(text, "utf-8")


def test_a_missing_file_gives_the_defaults_and_is_not_made(path: Path) -> None:
    settings = Settings.load(path)
    assert (settings, settings.notice) == (Settings(), "")
    assert not path.exists()


def test_only_the_difference_is_written_and_comes_back(path: Path) -> None:
    settings = Settings.load(path)
    settings.theme = "dark"
    settings.use_cache = False
    settings.system_prompt = "Sé breve. 👋"
    settings.sampling = Sampling(temperature=0, seed=1)
    settings.save()
    assert json.loads(path.read_text("utf-8")) == {
        "theme": "dark",
        "use_cache": False,
        "system_prompt": "Sé breve. 👋",
        "sampling": {"temperature": 0, "seed": 1},
    }
    assert Settings.load(path) == settings
    assert list(path.parent.iterdir()) == [path]


def test_back_at_the_default_nothing_is_left_of_it(path: Path) -> None:
    settings = Settings.load(path)
    settings.theme = "dark"
    settings.save()
    settings.theme = "system"
    settings.save()
    assert json.loads(path.read_text("utf-8")) == {}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
@pytest.mark.parametrize("is_there_already", [False, True])
def test_nobody_else_can_look_into_the_folder(path: Path, is_there_already: bool) -> None:
    if is_there_already:
        write(path, '{"theme": "dark"}')
        path.parent.chmod(0o755)
        path.chmod(0o644)
        Settings.load(path)
    else:
        Settings.load(path).save()
    assert [oct(each.stat().st_mode & 0o777) for each in (path.parent, path)] == ["0o700", "0o600"]


def test_what_a_newer_version_wrote_is_kept(path: Path) -> None:
    write(path, '{"theme": "dark", "hologram": {"depth": 3}}')
    settings = Settings.load(path)
    settings.theme = "light"
    settings.save()
    assert json.loads(path.read_text("utf-8")) == {"hologram": {"depth": 3}, "theme": "light"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"theme": "pink"}',
        '{"theme": 5}',
        '{"theme": ["dark"]}',
        '{"device": "tpu"}',
        '{"cache_budget_mb": "much"}',
        '{"cache_budget_mb": true}',
        '{"cache_budget_mb": -1}',
        '{"disk_budget_mb": -2}',
        '{"model_path": null}',
        '{"sampling": 3}',
        '{"sampling": {"temperature": "hot"}}',
        '{"sampling": {"temperature": 99}}',
        '{"sampling": {"temperature": null}}',
        '{"sampling": {"flavour": 1}}',
        '{"sampling": {"top_k": 1.5}}',
        '{"sampling": {"seed": "x"}}',
        '{"sampling": {"seed": 1000000000000000000000000000000}}',
        '{"cache_budget_mb": 1000000000000000000000000000000}',
        '{"saved_seconds": Infinity}',
        '{"saved_seconds": NaN}',
        '{"theme": ' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
)
def test_a_broken_file_is_set_aside_with_a_sentence(path: Path, text: str) -> None:
    write(path, text)
    settings = Settings.load(path)
    assert settings == Settings()
    (kept,) = path.parent.iterdir()
    assert kept.read_text("utf-8") == text
    assert str(kept) in settings.notice
    settings.save()
    assert Settings.load(path).notice == ""


def test_one_value_of_no_use_costs_no_other_setting(path: Path) -> None:
    """Each falls back by itself, the notice names them, the file is kept, and the rest is there at the next start."""
    text = (
        '{"theme": "pink", "device": "cpu", "cache_budget_mb": -3, "hologram": 1, "system_prompt": "Be brief.",'
        ' "sampling": {"temperature": 99, "top_p": 0.5, "flavour": 1}}'
    )
    write(path, text)
    settings = Settings.load(path)
    assert settings == Settings(device="cpu", system_prompt="Be brief.", sampling=Sampling(top_p=0.5))
    said = ("theme is 'pink', not one of system, light, dark", "cache_budget_mb is -3, not between 0 and 10,000,000")
    assert all(words in settings.notice for words in (*said, "temperature in sampling", "flavour in sampling"))
    assert not any(words in settings.notice for words in ("device", "system_prompt", "top_p"))
    (kept,) = (each for each in path.parent.iterdir() if each != path)
    assert kept.read_text("utf-8") == text
    assert str(kept) in settings.notice
    again = Settings.load(path)
    assert (again, again.notice) == (settings, "")
    assert json.loads(path.read_text("utf-8"))["hologram"] == 1


@pytest.mark.parametrize("name", ["system_prompt", "model_path", "of a newer version"])
def test_half_a_character_is_kept_and_stops_no_saving(path: Path, name: str) -> None:
    """The window saves at its end, before anything else there."""
    write(path, json.dumps({name: "\ud800 é"}))
    settings = Settings.load(path)
    settings.theme = "dark"
    settings.save()
    assert json.loads(path.read_text("utf-8")) == {name: "\ud800 é", "theme": "dark"}
    assert Settings.load(path).notice == ""


def test_a_long_value_is_not_repeated_whole(path: Path) -> None:
    write(path, '{"theme": "' + "p" * 5000 + '"}')
    assert len(Settings.load(path).notice) < 1000


def test_bytes_that_are_no_text_are_set_aside(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"\xff\xfe\x00garbage")
    assert Settings.load(path).notice != ""


def test_a_file_that_cannot_be_written_stays_and_says_so(path: Path) -> None:
    settings = Settings.load(path)
    path.parent.write_text("a file where the folder should be")
    with pytest.raises(HeadstartError, match="cannot be written"):
        settings.save()
    assert path.parent.read_text() == "a file where the folder should be"


def test_a_path_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(HeadstartError, match="cannot be read"):
        Settings.load(tmp_path)


def test_settings_of_a_test_are_never_written(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(theme="dark")
    settings.save()
    assert not default_path().exists()


@pytest.mark.parametrize("name", [option.name for option in fields(Settings)])
def test_every_setting_is_described_in_a_sentence(name: str) -> None:
    assert describe(name).endswith(".")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_nobody_else_can_read_the_settings(path: Path) -> None:
    write(path, '{"system_prompt": "Mine alone."}')
    path.chmod(0o644)
    settings = Settings.load(path)
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    settings.theme = "dark"
    settings.save()
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe with a name is Unix's")
def test_a_pipe_in_place_of_the_settings_is_not_waited_for(path: Path) -> None:
    path.parent.mkdir()
    os.mkfifo(path)
    with pytest.raises(HeadstartError, match="cannot be read"):
        Settings.load(path)
