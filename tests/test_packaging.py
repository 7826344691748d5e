"""The scripts around the program: the README's table, the choice of a torch build, the make targets."""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

ROOT = Path(__file__).parent.parent


def script(name: str) -> ModuleType:
    """A script of packaging/, as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "packaging" / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def turn(number: int, cache: str, reused: int, ttft: float) -> dict[str, object]:
    return {
        "turn": number,
        "cache": cache,
        "prompt_tokens": 3050,
        "reused_tokens": reused,
        "computed_tokens": 3050 - reused,
        "ttft_s": ttft,
    }


def test_readme_gets_its_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill = script("fill_readme")
    readme = tmp_path / "README.md"
    shutil.copy(ROOT / "README.md", readme)
    report = {"model": "Tiny", "device": "cpu", "dtype": "fp32", "answers_equal": False}
    report["parted"] = [{"turn": 2, "token": 7, "margin": 0.125}]
    report["turns"] = [turn(1, "off", 0, 2.0), turn(1, "on", 0, 2.0), turn(2, "off", 0, 2.0), turn(2, "on", 3000, 0.1)]
    (tmp_path / "report.json").write_text(json.dumps(report))
    monkeypatch.setattr(fill, "README", readme)
    fill.main(str(tmp_path / "report.json"))
    fill.main(str(tmp_path / "report.json"))
    text = readme.read_text()
    assert text.count("| 2 | 3,050 | 3,000 | 50 | 0.10 s | 2.00 s | 20.0 |") == 1
    assert "equal in 1 of 2 turns. They part after 7 equal tokens in turn 2." in text
    assert text.partition(fill.BEGIN)[0] == (ROOT / "README.md").read_text().partition(fill.BEGIN)[0]


def test_readme_opens_with_the_two_commands() -> None:
    assert (ROOT / "README.md").read_text().startswith("```\nmake run\nmake test\n```\n")


@pytest.mark.parametrize(
    ("listed", "found"),
    [
        ("Available versions: 2.15.0, 2.13.0+cpu, 2.13.0", True),
        ("Available versions: 2.15.0, 2.14.1, 2.13.0, 2.5.1+cpu", False),
        ("", False),
    ],
)
def test_cpu_build_is_recognised(monkeypatch: pytest.MonkeyPatch, listed: str, found: bool) -> None:
    pick = script("pick_torch")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: SimpleNamespace(stdout=listed))
    assert pick.pip_offers_cpu_build() is found


def test_unreachable_index_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    pick = script("pick_torch")
    monkeypatch.setattr(pick, "INDEX", "http://127.0.0.1:9")
    assert pick.index_answers() is False


def test_every_dependency_is_named_in_the_readme() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    readme = (ROOT / "README.md").read_text()
    names = {re.split(r"[><=;]", line)[0] for line in project["dependencies"]}
    assert {name for name in names if name not in readme} == set()


def test_the_speed_table_is_the_committed_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table and the window say what tests/bench/bench.json holds, to the letter."""
    fill = script("fill_speed")
    speed = tmp_path / "SPEED.md"
    shutil.copy(fill.SPEED, speed)
    monkeypatch.setattr(fill, "SPEED", speed)
    monkeypatch.setattr(fill, "MEASURED", tmp_path / "measured.json")
    fill.main()
    assert (tmp_path / "measured.json").read_text() == (ROOT / "resources" / "measured.json").read_text()
    assert speed.read_text() == (ROOT / "tests" / "bench" / "SPEED.md").read_text()
    assert "| 1 | warm TTFT" in speed.read_text()


@pytest.mark.parametrize("path", sorted((ROOT / "tests" / "bench").glob("*.py")), ids=lambda path: path.stem)
def test_the_bench_finds_what_it_measures(path: Path) -> None:
    """It is not run here; a name that moved would only be missed the next time somebody measures."""
    if path.stem != "__main__":
        importlib.import_module(f"tests.bench.{path.stem}")
