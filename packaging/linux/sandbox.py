"""The program as a Flatpak, in its sandbox: built and started on a runtime that is made here of a bare Debian.

The runtime that the manifest asks for comes from Flathub, which a build machine may not reach. For the manifest, the
paths inside the sandbox and what the sandbox forbids, one of Debian's own libraries serves as well.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from linux.chroot import Chroot, quietly

STANDS_IN = "org.headstart.StandIn"
VERSION = "1"
METADATA = """[Runtime]
name={name}
runtime={name}/{arch}/{version}
sdk={name}/{arch}/{version}
"""


class Sandbox:
    """Flatpak's own folders below `folder`, nothing of the user's."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        own = {"FLATPAK_USER_DIR": "user", "HOME": "home", "XDG_RUNTIME_DIR": "run"}
        self._environment = os.environ | {key: str(folder / name) for key, name in own.items()}
        (folder / "home").mkdir()
        (folder / "run").mkdir(mode=0o700)

    def add_runtime(self, chroot: Chroot) -> None:
        """Make a runtime of a system with all that the program's package depends on, and install it."""
        made = self._folder / "runtime"
        made.mkdir()
        subprocess.run(["cp", "-a", "--reflink=auto", chroot.root / "usr", made], check=True)
        arch = quietly(["flatpak", "--default-arch"]).strip()
        text = METADATA.format(name=STANDS_IN, arch=arch, version=VERSION)
        (made / "metadata").write_text(text, encoding="utf-8")
        (made / "files").mkdir()
        repository = self._folder / "repository"
        self._run("flatpak", "build-export", "--runtime", "--disable-sandbox", repository, made, VERSION)
        self._run("flatpak", "--user", "remote-add", "--no-gpg-verify", "here", repository)
        self._run(
            "flatpak", "--user", "install", "-y", "--noninteractive", "here", f"runtime/{STANDS_IN}/{arch}/{VERSION}"
        )

    def build(self, manifest: Path) -> None:
        """Build the manifest on that runtime, and install what came of it."""
        text = manifest.read_text(encoding="utf-8")
        text = re.sub(r"^(runtime|sdk): .*", rf"\1: {STANDS_IN}", text, flags=re.MULTILINE)
        text = re.sub(r"^runtime-version: .*", f"runtime-version: '{VERSION}'", text, flags=re.MULTILINE)
        text = re.sub(r"path: \.\./\.\.", f"path: {manifest.resolve().parents[2]}", text)
        here = self._folder / manifest.name
        here.write_text(text + "appstream-compose: false\n", encoding="utf-8")
        folders = [f"--state-dir={self._folder / 'state'}", self._folder / "build"]
        self._run("flatpak-builder", "--user", "--install", "--force-clean", "--disable-rofiles-fuse", *folders, here)

    def command(self, name: str, place: Path) -> list[str]:
        """What starts the program in its sandbox, where it may write to `place` and reaches no network."""
        own = [f"{key}={self._environment[key]}" for key in ("FLATPAK_USER_DIR", "HOME", "XDG_RUNTIME_DIR")]
        return ["env", *own, "flatpak", "run", "--user", f"--filesystem={place}", "--unshare=network", name]

    def _run(self, *command: object) -> None:
        done = subprocess.run(list(map(str, command)), env=self._environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{command[0]} {command[1]}: {(done.stdout + done.stderr)[-2000:]}")
