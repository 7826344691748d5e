"""The system libraries and fonts that are needed on Linux: which are missing, how to get them. Standard library only.

`python -m app.command.system_packages [--offscreen]` installs them where it may, or prints the one command that does.
Other systems need nothing.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_FONT_DIRS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "~/.local/share/fonts")


@dataclass(frozen=True, slots=True)
class Package:
    """A Debian or Ubuntu package, by the library or font file looked for. `offscreen`: needed without a display too."""

    name: str
    file: str
    offscreen: bool = False


# libgssapi and libbrotli are what QtNetwork needs, through which a second start finds the window of the first.
PACKAGES = (
    Package("libglib2.0-0", "libgthread-2.0.so.0", offscreen=True),
    Package("libegl1", "libEGL.so.1", offscreen=True),
    Package("libgl1", "libGL.so.1", offscreen=True),
    Package("libx11-6", "libX11.so.6", offscreen=True),
    Package("libxkbcommon0", "libxkbcommon.so.0", offscreen=True),
    Package("libdbus-1-3", "libdbus-1.so.3", offscreen=True),
    Package("libfontconfig1", "libfontconfig.so.1", offscreen=True),
    Package("libgssapi-krb5-2", "libgssapi_krb5.so.2", offscreen=True),
    Package("libbrotli1", "libbrotlidec.so.1", offscreen=True),
    Package("fonts-dejavu", "*.[to]tf", offscreen=True),
    Package("fonts-noto-color-emoji", "*Emoji*.ttf"),
    Package("libx11-xcb1", "libX11-xcb.so.1"),
    Package("libxkbcommon-x11-0", "libxkbcommon-x11.so.0"),
    Package("libxcb-cursor0", "libxcb-cursor.so.0"),
    Package("libxcb-icccm4", "libxcb-icccm.so.4"),
    Package("libxcb-image0", "libxcb-image.so.0"),
    Package("libxcb-keysyms1", "libxcb-keysyms.so.1"),
    Package("libxcb-randr0", "libxcb-randr.so.0"),
    Package("libxcb-render-util0", "libxcb-render-util.so.0"),
    Package("libxcb-shape0", "libxcb-shape.so.0"),
    Package("libxcb-sync1", "libxcb-sync.so.1"),
    Package("libxcb-xfixes0", "libxcb-xfixes.so.0"),
    Package("libxcb-xkb1", "libxcb-xkb.so.1"),
)


def has_display() -> bool:
    """Whether a window can open here."""
    return not sys.platform.startswith("linux") or any(os.environ.get(key) for key in ("DISPLAY", "WAYLAND_DISPLAY"))


def missing_packages(offscreen: bool = False, is_installed: Callable[[str], bool] | None = None) -> list[str]:
    """The names of the packages that are not here; with `offscreen`, only of those needed without a display."""
    if not sys.platform.startswith("linux"):
        return []
    found = is_installed or is_there
    wanted = [package for package in PACKAGES if package.offscreen or not offscreen]
    return [*_venv(), *(package.name for package in wanted if not found(package.file))]


def install_command(packages: list[str]) -> str:
    """What a user types to get them on Debian and Ubuntu."""
    return "sudo apt-get install -y --no-install-recommends " + " ".join(packages)


def _venv() -> list[str]:
    """Debian and Ubuntu keep what `python -m venv` needs in a package of its own. A frozen Headstart needs no venv."""
    return (
        []
        if getattr(sys, "frozen", False) or importlib.util.find_spec("ensurepip")
        else [f"python3.{sys.version_info.minor}-venv"]
    )


def is_there(file: str) -> bool:
    """Whether a library can be loaded, or a font file of this pattern lies in one of the places for fonts."""
    if "*" in file:
        return any(next(Path(place).expanduser().rglob(file), None) for place in _FONT_DIRS)
    try:
        ctypes.CDLL(file)
    except OSError:
        return False
    return True


def _install(packages: list[str]) -> bool:
    """Install them if that needs no password. True when it worked."""
    apt = shutil.which("apt-get")
    prefix = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if not apt or not _works([*prefix, "true"]):
        return False
    print("Installing system libraries: " + " ".join(packages), flush=True)
    install = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", apt, "-qq"]
    subprocess.run([*install, "update"])
    return subprocess.run([*install, "install", "-y", "--no-install-recommends", *packages]).returncode == 0


def _works(command: list[str]) -> bool:
    return shutil.which(command[0]) is not None and subprocess.run(command, capture_output=True).returncode == 0


def main(arguments: list[str] | None = None) -> int:
    """Install what is missing. 0 when Qt can start; 1 when the user has to do something first, after saying what."""
    parser = argparse.ArgumentParser(prog="python -m app.command.system_packages", description=__doc__)
    parser.add_argument("--offscreen", action="store_true", help="only what is needed without a display")
    offscreen = parser.parse_args(arguments).offscreen or not has_display()
    packages = missing_packages(offscreen)
    if packages and _install(packages):
        packages = missing_packages(offscreen)
    if not packages:
        return 0
    needed = [name for name in packages if not name.startswith("fonts-")]
    print(f"{'Headstart needs' if needed else 'Better with'} these system packages:", file=sys.stderr)
    print(f"    {install_command(packages)}", file=sys.stderr)
    return 1 if needed else 0


if __name__ == "__main__":
    sys.exit(main())
