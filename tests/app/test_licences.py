"""The licences of all parts: from the installed packages, and from the file that an installer brings."""

from __future__ import annotations

import sys
from importlib.metadata import PathDistribution, distribution
from pathlib import Path

import pytest

from app import licences

ROOT = Path(__file__).parents[2]


def test_everything_that_is_needed_has_its_text() -> None:
    found = licences.needed("headstart") or [distribution("torch"), distribution("PySide6_Essentials")]
    whole = licences.together(found, [("Python 3: PSF-2.0", "Terms of Python\n")])
    parts = dict(licences.split(whole))
    assert len(parts) == len(found) + 1
    assert all(parts.values())
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in next(parts[title] for title in parts if title.startswith("PySide6"))
    assert parts["Python 3: PSF-2.0"] == "Terms of Python"


def test_a_part_without_a_text_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "bare-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Name: bare\nVersion: 1\nLicense-Expression: MIT\n")
    with pytest.raises(ValueError, match="No licence text for bare 1: MIT"):
        licences.together([PathDistribution(folder)], [])


def test_an_installed_headstart_shows_what_it_was_built_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "headstart"))
    rule = licences.RULE
    text = f"About Qt\n\n{rule}\nheadstart 1: Apache-2.0\n{rule}\nown\n\n{rule}\nnumpy 2: BSD\n{rule}\nBSD text\n"
    (tmp_path / "LICENCES.txt").write_text(text)
    licences.parts.cache_clear()
    try:
        titles = [title for title, _ in licences.parts()]
        assert len(titles) == 2
        assert titles[0].startswith("Headstart ")
        assert licences.parts()[1] == ("numpy 2: BSD", "BSD text")
    finally:
        licences.parts.cache_clear()


def test_the_text_of_apache_is_our_own_licence() -> None:
    assert licences.text_of("Apache-2.0") == (ROOT / "LICENSE").read_text(encoding="utf-8")
