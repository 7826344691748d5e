"""A bare Debian in a folder, in which a .deb is installed, started, replaced by a newer one, and removed; as root."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

EARLIER = "0.0.1"
"""The version of the package that is upgraded: lower than any that there has been."""

X11 = ("xvfb", "xauth", "x11-utils")
SHOWN = """
headstart >/tmp/shown.log 2>&1 & program=$!
for second in $(seq 120); do
    xwininfo -root -tree | grep -q '"Headstart' && found=yes && break
    kill -0 $program 2>/dev/null || break
    sleep 1
done
kill -TERM $program 2>/dev/null; wait $program
[ "$found" = yes ] || { cat /tmp/shown.log; exit 1; }
"""
"""Starts the program on a display, and succeeds once its window is there."""


class Chroot:
    """A copy of a freshly made system below `folder`. `DEBIAN_MIRROR` names another mirror than Debian's own."""

    def __init__(self, suite: str, folder: Path) -> None:
        self.suite = suite
        self.root = folder / suite
        base = folder / f"{suite}-base"
        if not (base / "bin").exists():
            command = ["debootstrap", "--variant=minbase", suite, str(base)]
            quietly([*command, *os.environ.get("DEBIAN_MIRROR", "").split()])
        shutil.rmtree(self.root, ignore_errors=True)
        subprocess.run(["cp", "-a", "--reflink=auto", base, self.root], check=True)
        for name in ("resolv.conf", "hosts"):
            shutil.copy(Path("/etc", name), self.root / "etc" / name)
        self.as_made = everything(self.root)

    @contextmanager
    def mounted(self) -> Iterator[None]:
        """/proc and /dev of this system inside."""
        for name in ("proc", "dev"):
            subprocess.run(["mount", "--bind", f"/{name}", self.root / name], check=True)
        try:
            yield
        finally:
            for name in ("dev", "proc"):
                subprocess.run(["umount", "--lazy", self.root / name], check=False)

    def apt(self, *arguments: str) -> None:
        """apt-get, which asks nothing. The clock of a build machine may be set to the time of a commit."""
        dates = ["-o=Acquire::Check-Valid-Until=false", "-o=Acquire::Check-Date=false"]
        self.run("apt-get", "-qq", "-o=Dpkg::Use-Pty=0", *dates, *arguments)

    def install(self, packages: Sequence[Path]) -> None:
        """Files of packages, with what they depend on."""
        for package in packages:
            shutil.copy(package, self.root / "root")
        self.apt("install", "-y", "--no-install-recommends", *(f"/root/{package.name}" for package in packages))

    def version(self, package: str) -> str:
        """The version that is installed."""
        return self.run("dpkg-query", "--show", "--showformat=${Version}", package)

    def window_is_shown(self) -> bool:
        """Whether the program opens its window under an X server."""
        self.apt("install", "-y", "--no-install-recommends", *X11)
        try:
            self.run("env", "HEADSTART_DATA_DIR=/home/shown", "xvfb-run", "-a", "sh", "-c", SHOWN)
        except subprocess.CalledProcessError as error:
            print(error.stdout)
            return False
        return True

    def run(self, *command: str) -> str:
        """A command inside, and what it printed. Raises CalledProcessError."""
        bare = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive"]
        return quietly(["chroot", str(self.root), *bare, *command])


def quietly(command: Sequence[str]) -> str:
    """What a command prints. Raises CalledProcessError, which holds it."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.run(command, check=True, text=True, **pipes).stdout


def earlier(package: Path, folder: Path) -> Path:
    """The same package under an earlier version and with a file that the newer one no longer has."""
    tree, made = folder / "earlier", folder / f"{package.name.partition('_')[0]}_{EARLIER}_amd64.deb"
    shutil.rmtree(tree, ignore_errors=True)
    subprocess.run(["dpkg-deb", "--raw-extract", package, tree], check=True)
    control = tree / "DEBIAN" / "control"
    lines = control.read_text(encoding="utf-8").splitlines(keepends=True)
    control.write_text(
        "".join(f"Version: {EARLIER}\n" if line.startswith("Version:") else line for line in lines), encoding="utf-8"
    )
    (tree / "opt" / "headstart" / "headstart-of-yesterday").write_text("gone with the upgrade")
    subprocess.run(
        ["dpkg-deb", "-Znone", "--root-owner-group", "--build", tree, made], check=True, stdout=subprocess.DEVNULL
    )
    shutil.rmtree(tree)
    return made


def everything(root: Path) -> set[str]:
    """The paths of all files below a folder."""
    return {str(Path(folder, name).relative_to(root)) for folder, _, names in os.walk(root) for name in names}
