"""Programs beside a frozen Headstart: it starts itself for them, and runs nothing but its own files.

A script stands for the frozen program. It begins as that does (packaging/bundle/entry.py), says that it is frozen,
and keeps its files in this repository.
"""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

from engine.prompt.rendering import Renderer, TemplateRefusedError
from engine.side_programs import OPTION

ROOT = Path(__file__).parents[2]
ENTRY = ROOT / "packaging" / "bundle" / "entry.py"
PROGRAM = f"""#!{sys.executable} -P
import runpy, sys
sys.path.insert(0, {str(ROOT)!r})
sys.frozen, sys._MEIPASS, sys.executable = True, {str(ROOT)!r}, __file__
runpy.run_path({str(ENTRY)!r}, run_name="__main__")
"""


@pytest.fixture
def frozen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The frozen program; this process takes itself for it, too."""
    folder = tmp_path / "Grüße an alle"
    folder.mkdir()
    program = folder / "headstart"
    program.write_text(PROGRAM, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    return program


def test_templates_are_rendered(frozen: Path) -> None:
    renderer = Renderer()
    try:
        assert renderer.render("{{ word }}!", {"word": "yes"}, datetime(2026, 12, 1)) == "yes!"
        with pytest.raises(TemplateRefusedError, match="no systems here"):
            renderer.render("{{ raise_exception('no systems here') }}", {}, datetime(2026, 12, 1))
    finally:
        renderer.close()


@pytest.mark.parametrize("given", [[], ["{tmp}/evil.py"], ["-c"], [f"{ROOT}/README.md"], [f"{ROOT}/../evil.py"]])
def test_nothing_else_is_run(frozen: Path, tmp_path: Path, given: list[str]) -> None:
    (tmp_path / "evil.py").write_text("print('ran')")
    command = [str(frozen), OPTION, *(each.format(tmp=tmp_path) for each in given)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert "own programs only" in done.stderr


def test_everything_else_is_the_command_line(frozen: Path) -> None:
    done = subprocess.run([str(frozen), "--modle", "x"], capture_output=True, text=True)
    assert (done.returncode, "Did you mean --model?" in done.stderr) == (2, True)


@pytest.mark.parametrize("before", [None, "/own/libraries"])
def test_every_program_gets_its_own_library_path(before: str | None) -> None:
    program = f"import os, runpy; runpy.run_path({str(ENTRY)!r})['restore_environment'](); print(*sorted(os.environ))"
    program += "; print(os.environ.get('LD_LIBRARY_PATH'))"
    env = {**os.environ, "LD_LIBRARY_PATH": "/opt/headstart/_internal"} | (
        {"LD_LIBRARY_PATH_ORIG": before} if before else {}
    )
    names, value = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert "LD_LIBRARY_PATH_ORIG" not in names
    assert "PYINSTALLER_RESET_ENVIRONMENT" in names  # the bootloader of a side program sets its own path again
    assert value == str(before)
