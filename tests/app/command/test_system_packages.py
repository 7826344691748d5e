"""Which system packages are missing, and the one command that brings them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app.command import system_packages
from app.command.system_packages import PACKAGES, has_display, install_command, is_there, missing_packages

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems need no packages")


@linux_only
def test_all_there_and_nothing_there() -> None:
    assert missing_packages(is_installed=lambda file: True) == []
    everything = missing_packages(is_installed=lambda file: False)
    assert everything == [package.name for package in PACKAGES]
    offscreen = missing_packages(offscreen=True, is_installed=lambda file: False)
    assert {"libegl1", "libgl1", "libgssapi-krb5-2", "libbrotli1"} <= set(offscreen) < set(everything)
    assert "libxcb-cursor0" not in offscreen


def test_other_systems_need_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.delenv("DISPLAY", raising=False)
    assert (missing_packages(is_installed=lambda file: False), has_display()) == ([], True)


@linux_only
def test_display_is_seen_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert not has_display()
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert has_display()


@linux_only
def test_a_library_is_looked_for_by_loading_it() -> None:
    assert missing_packages(is_installed=lambda file: is_there("libc.so.6")) == []
    assert len(missing_packages(is_installed=lambda file: is_there("libnever.so.9"))) == len(PACKAGES)


@linux_only
def test_without_rights_the_command_is_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system_packages, "missing_packages", lambda offscreen: ["libegl1", "fonts-dejavu"])
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert system_packages.main([]) == 1
    assert install_command(["libegl1", "fonts-dejavu"]) in capsys.readouterr().err


@linux_only
def test_missing_fonts_alone_do_not_stop(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_packages, "missing_packages", lambda offscreen: ["fonts-dejavu"])
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert system_packages.main([]) == 0
    assert "Better with" in capsys.readouterr().err


@linux_only
@pytest.mark.parametrize("user", [0, 1000])
def test_with_rights_they_are_installed(monkeypatch: pytest.MonkeyPatch, user: int) -> None:
    """As root directly, otherwise through sudo; nothing is run that asks for a password."""
    commands: list[list[str]] = []
    state = [["libegl1"], []]

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        commands.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(system_packages, "missing_packages", lambda offscreen: state.pop(0))
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr("os.geteuid", lambda: user)
    monkeypatch.setattr(subprocess, "run", run)
    assert system_packages.main(["--offscreen"]) == 0
    assert commands[-1][-2:] == ["--no-install-recommends", "libegl1"]
    assert all(command[:2] == ["sudo", "-n"] for command in commands) == (user != 0)


def test_it_runs_before_anything_is_installed() -> None:
    """The Makefile runs it with the bare system Python: standard library only."""
    root = Path(__file__).parents[3]
    program = "import app.command.system_packages as packages; packages.missing_packages()"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", f"import sys; sys.path.append('{root}'); {program}"])
    assert done.returncode == 0
