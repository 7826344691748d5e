"""What is kept of the user, and that all of it is deleted, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from app import own_data, settings
from app.command.logs import log_path
from app.history.history import default_path
from engine import blocks_dir, models_dir, runtimes_dir


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own with something of each kind, and with files that are not Headstart's."""
    for kind in ("CONFIG", "STATE", "CACHE", "DATA"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind))
    monkeypatch.delenv("HEADSTART_DATA_DIR", raising=False)
    for path in (
        default_path(),
        default_path().with_name("history.sqlite3-wal"),
        settings.default_path(),
        settings.default_path().with_name("settings.json.damaged-20260101-000000"),
        blocks_dir() / "ab" / "block",
        models_dir() / "1234" / "SmolLM2" / "model.safetensors",
        runtimes_dir() / "cu130" / "bin" / "python",
        log_path(),
        log_path().with_name("fault.log"),
        default_path().with_name("a letter.txt"),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 100)
    return tmp_path


def test_all_of_it_goes_and_nothing_else(home: Path) -> None:
    kinds = own_data.everything()
    assert [(kind.name, kind.bytes) for kind in kinds] == [
        (own_data.CONVERSATIONS, 200),
        (own_data.SETTINGS, 200),
        (own_data.CACHE, 100),
        (own_data.MODELS, 100),
        (own_data.RUNTIMES, 100),
        (own_data.LOGS, 200),
    ]
    assert own_data.delete(kinds) == []
    assert own_data.everything() == []
    assert [path for path in home.rglob("*") if path.is_file()] == [default_path().with_name("a letter.txt")]
    assert [path for path in home.rglob("headstart") if path != default_path().parent] == []


def test_what_a_link_leads_to_stays(home: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "models elsewhere"
    models_dir().rename(elsewhere)
    models_dir().symlink_to(elsewhere)
    assert own_data.delete(own_data.everything()) == []
    assert not models_dir().is_symlink()
    assert (elsewhere / "1234" / "SmolLM2" / "model.safetensors").exists()


def test_what_cannot_be_deleted_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unlink = Path.unlink

    def refuse(path: Path, missing_ok: bool = False) -> None:
        if path == default_path():
            raise PermissionError(13, "Permission denied")
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    assert own_data.delete(own_data.everything()) == [f"{default_path()} (Permission denied)"]
    assert default_path().exists()
