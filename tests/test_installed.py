"""What `pip install .` leaves in site-packages: everything below one name, and it runs from there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, built without network; the compiled part, which is optional, is left out."""
    tree, out = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("wheel")
    for name in ("app", "engine", "resources", "packaging/headstart"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    run([sys.executable, "-c", BUILD, str(out)], tree, {**os.environ, "CC": "false"})
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel in it, as in site-packages."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run(command: Sequence[str], folder: Path, env: dict[str, str]) -> str:
    done = subprocess.run(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return done.stdout


def python(site: Path, folder: Path, *arguments: str) -> str:
    """What Python prints where this wheel is installed, and the repository is not on its path."""
    others = {sysconfig.get_path("purelib"), *(place for place in sys.path if place.endswith("site-packages"))}
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *others])}
    return run([sys.executable, "-S", "-P", *arguments], folder, env)


def test_only_one_name_lies_at_the_top(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"headstart"}
    for name in (
        "app/__main__.py",
        "engine/library/resolve.py",
        "resources/style.qss",
        "resources/demo/support_bot.md",
    ):
        assert f"headstart/{name}" in names
    assert not [name for name in names if "tests" in name.split("/") or "__pycache__" in name]


def test_the_command_runs_from_there(site: Path, tmp_path: Path) -> None:
    assert python(site, tmp_path, "-m", "headstart", "--version") == "headstart 0.1.0\n"
    points = next(site.glob("*.dist-info")) / "entry_points.txt"
    assert "headstart = headstart.__main__:main" in points.read_text()


def test_scripts_may_use_the_engine(site: Path, tmp_path: Path) -> None:
    program = (
        "from headstart.engine import Engine; import engine, resources; print(Engine is engine.Engine, engine.__file__)"
    )
    assert python(site, tmp_path, "-c", program) == f"True {site / 'headstart' / 'engine' / '__init__.py'}\n"
    program = "import importlib.util as u; print([u.find_spec(name) for name in ('app', 'engine', 'resources')])"
    assert python(site, tmp_path, "-c", program) == "[None, None, None]\n"
