"""Writes the version resource of headstart.exe, which Windows shows in its properties: `version_info.py FILE`."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def version_info(version: str, app: dict) -> str:
    """The resource, as PyInstaller reads it: a Python expression."""
    numbers = (*map(int, version.split(".")), 0)
    texts = {
        "CompanyName": app["publisher"],
        "FileDescription": app["name"],
        "FileVersion": version,
        "InternalName": app["command"],
        "LegalCopyright": f"{app['publisher']}, {app['license']}",
        "OriginalFilename": f"{app['command']}.exe",
        "ProductName": app["name"],
        "ProductVersion": version,
    }
    table = ", ".join(f"StringStruct({name!r}, {text!r})" for name, text in texts.items())
    return (
        f"VSVersionInfo(ffi=FixedFileInfo(filevers={numbers}, prodvers={numbers}), kids=["
        f"StringFileInfo([StringTable('040904B0', [{table}])]), "
        "VarFileInfo([VarStruct('Translation', [1033, 1200])])])\n"
    )


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = tomllib.loads((ROOT / "packaging" / "app.toml").read_text(encoding="utf-8"))
    Path(sys.argv[1]).write_text(version_info(project["version"], names), encoding="utf-8")
