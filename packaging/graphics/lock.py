"""Pins what a build of torch for a graphics card needs: `python packaging/graphics/lock.py cu126 3.12` (with uv).

The second argument is the Python that the installers are built with. Run it on their system, where PyTorch's index can
be reached; cu130 on Linux comes from PyPI.
"""

from __future__ import annotations

import platform
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
PLATFORMS = {"linux": "x86_64-manylinux_2_35", "win32": "x86_64-pc-windows-msvc"}


def command(build: str, python: str, needs: Path, out: Path) -> list[str]:
    """What uv is asked for: one version of everything, with the hashes of its files."""
    names = tomllib.loads((HERE / "backends.toml").read_text(encoding="utf-8"))
    indexes = ["--default-index", "https://pypi.org/simple"]
    if not (build == "cu130" and sys.platform == "linux"):  # PyPI has that one
        indexes += ["--index", names[build]["index"]]
    only = [
        "--only-binary",
        ":all:",
        "--no-config",
        "--no-annotate",
        "--no-header",
        "--generate-hashes",
        "--emit-index-url",
    ]
    where = ["--python-version", python, "--python-platform", PLATFORMS[sys.platform]]
    return ["uv", "pip", "compile", str(needs), *only, *where, *indexes, "-o", str(out)]


def main(build: str, python: str) -> None:
    """Write the lock."""
    project = tomllib.loads((HERE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = f"cp{python.replace('.', '')}"
    out = HERE / f"{build}-{sys.platform}-{platform.machine().lower().replace('amd64', 'x86_64')}-{version}.lock"
    with tempfile.TemporaryDirectory() as folder:
        needs = Path(folder, "needs.in")
        needs.write_text("\n".join(project["dependencies"]), encoding="utf-8")
        sys.exit(subprocess.run(command(build, python, needs, out)).returncode)


if __name__ == "__main__":
    main(*sys.argv[1:3])
