"""Makes the packages for Linux from a frozen program: .deb, .rpm, tar.zst with install.sh, AppDir and squashfs.

Each is made from a tree of files that lies as it will be installed, with the times of SOURCE_DATE_EPOCH, so that two
builds of the same commit are the same to the last byte.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bundle.contents import packages

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SIZES = (16, 24, 32, 48, 64, 128, 256, 512)
ZSTD = "12"
"""How hard is compressed: a level more takes minutes and saves a few per cent."""


@dataclass(frozen=True)
class Build:
    """What every format is made from.

    `app` is packaging/app.toml, `glibc` the version that the program needs, `bundle` the frozen program, `model` the
    folder with the GGUF file, `icons` that with the drawn icons, `notices` that with licences.txt and sbom.json. `work`
    is for trees in between, `out` for what is made.
    """

    app: dict[str, Any]
    version: str
    epoch: int
    glibc: tuple[int, ...]
    bundle: Path
    model: Path
    icons: Path
    notices: Path
    work: Path
    out: Path
    nfpm: Path

    @property
    def date(self) -> str:
        """The day of the build, as ISO has it."""
        return datetime.fromtimestamp(self.epoch, UTC).date().isoformat()

    @property
    def environment(self) -> dict[str, str]:
        """For the programs that pack: the time to write everywhere, and one language."""
        return {**os.environ, "SOURCE_DATE_EPOCH": str(self.epoch), "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def make_all(build: Build) -> list[Path]:
    """Every format; the files made, in `build.out`."""
    program, model = program_tree(build), model_tree(build)
    made = []
    for kind in ("deb", "rpm"):
        made.append(package(build, kind, program_description(build, kind), program))
        made.append(package(build, kind, model_description(build, kind), model))
    return [*made, archive(build, program), image(build, program)]


def program_tree(build: Build) -> Path:
    """The program as it lies once installed: /opt/headstart, a link in /usr/bin, and what desktops look for."""
    tree, name = fresh(build.work / "program"), build.app["command"]
    place = tree / "opt" / name
    shutil.copytree(build.bundle, place, symlinks=True)
    link = tree / "usr" / "bin" / name
    link.parent.mkdir(parents=True)
    link.symlink_to(f"../../opt/{name}/{name}")
    share(build, tree / "usr" / "share")
    document(build, tree, name, licence_file(build))
    settle(tree, build.epoch, {place / name})
    return tree


def model_tree(build: Build) -> Path:
    """The default model as it lies once installed: where the program looks beside itself."""
    tree, name = fresh(build.work / "model"), build.app["model"]["package"]
    shutil.copytree(build.model, tree / "opt" / build.app["command"] / "models")
    document(build, tree, name, (ROOT / "LICENSE").read_text(encoding="utf-8"))
    settle(tree, build.epoch, set())
    return tree


def share(build: Build, folder: Path) -> None:
    """The desktop file, metainfo, MIME type and icons, into a folder like /usr/share."""
    name = build.app["id"]
    filled = {"@VERSION@": build.version, "@DATE@": build.date, "@HOMEPAGE@": build.app["homepage"]}
    for source, place in (
        (f"{name}.desktop", f"applications/{name}.desktop"),
        (f"{name}.metainfo.xml", f"metainfo/{name}.metainfo.xml"),
        (f"{name}.mime.xml", f"mime/packages/{name}.xml"),
    ):
        text = (HERE / source).read_text(encoding="utf-8")
        for mark, value in filled.items():
            text = text.replace(mark, value)
        put(folder / place, text)
    icons = folder / "icons" / "hicolor"
    for size in SIZES:
        copy(build.icons / f"headstart-{size}.png", icons / f"{size}x{size}" / "apps" / f"{name}.png")
    copy(ROOT / "resources" / "icons" / "headstart.svg", icons / "scalable" / "apps" / f"{name}.svg")


def document(build: Build, tree: Path, name: str, licences: str) -> None:
    """What /usr/share/doc holds of a package: its licences and its change log."""
    folder = tree / "usr" / "share" / "doc" / name
    put(folder / "copyright", licences)
    when = datetime.fromtimestamp(build.epoch, UTC).strftime("%a, %d %b %Y %H:%M:%S +0000")
    log = f"{name} ({build.version}) unstable; urgency=low\n\n  * See the change log of Headstart.\n\n"
    log += f" -- {build.app['maintainer']}  {when}\n"
    (folder / "changelog.gz").write_bytes(gzip.compress(log.encode(), 9, mtime=0))


def licence_file(build: Build) -> str:
    """Headstart's own licence, and those of all that is bundled with it."""
    own = (ROOT / "LICENSE").read_text(encoding="utf-8")
    bundled = (build.notices / "licences.txt").read_text(encoding="utf-8")
    first = f"{build.app['name']} is under the following licence; what it is bundled with has its own below."
    return "\n\n".join([first, own, bundled])


def program_description(build: Build, kind: str) -> dict[str, Any]:
    """What nfpm is told of the package with the program."""
    model = build.app["model"]["package"]
    described = {
        "name": build.app["command"],
        "arch": "amd64",
        "version": build.version,
        "description": build.app["summary"] + "\n" + build.app["description"].strip(),
        "depends": depends(build, kind),
        "recommends": [model],
    }
    return {**common(build), **described}


def model_description(build: Build, kind: str) -> dict[str, Any]:
    """What nfpm is told of the package with the default model."""
    model = build.app["model"]
    described = {
        "name": model["package"],
        "arch": "all",
        "version": model["version"],
        "description": f"{model['name']}, the model that Headstart starts with\nMade by {model['author']}.",
    }
    return {**common(build), **described}


def common(build: Build) -> dict[str, Any]:
    """What both packages say."""
    when = datetime.fromtimestamp(build.epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    described: dict[str, Any] = {
        "platform": "linux",
        "section": "science",
        "priority": "optional",
        "maintainer": build.app["maintainer"],
        "vendor": build.app["publisher"],
        "homepage": build.app["homepage"],
        "license": build.app["license"],
        "mtime": when,
        "deb": {"compression": f"zstd:{ZSTD}"},
        "rpm": {"group": "Applications/Productivity", "compression": f"zstd:{ZSTD}", "buildhost": "build"},
    }
    if key := os.environ.get("HEADSTART_GPG_KEY_FILE"):  # its passphrase: NFPM_PASSPHRASE
        for kind in ("deb", "rpm"):
            described[kind]["signature"] = {"key_file": key}
    return described


def depends(build: Build, kind: str) -> list[str]:
    """The packages that the program needs; the C library with the version that it was built for."""
    floor = ".".join(map(str, build.glibc))
    versions = {"libc6": f"libc6 (>= {floor})", "glibc": f"glibc >= {floor}"}
    return [versions.get(name, name) for name in packages(kind)]


def package(build: Build, kind: str, described: dict[str, Any], tree: Path) -> Path:
    """A .deb or .rpm of the tree."""
    described = {**described, "contents": [{"src": f"{tree}/", "dst": "/", "type": "tree"}]}
    config = build.work / f"{described['name']}-{kind}.json"  # nfpm reads YAML, of which JSON is a part
    put(config, json.dumps(described, indent=1))
    arch = {"deb": described["arch"], "rpm": {"amd64": "x86_64", "all": "noarch"}[described["arch"]]}[kind]
    separator = {"deb": "_", "rpm": "-"}[kind]
    name = separator.join([described["name"], described["version"], arch]) + f".{kind}"
    if kind == "rpm":
        name = f"{described['name']}-{described['version']}-1.{arch}.rpm"
    return run(build, build.out / name, [build.nfpm, "package", "-p", kind, "-f", config, "-t", build.out / name])


def archive(build: Build, program: Path) -> Path:
    """A tar.zst with the program, the model and install.sh, for those who may not or would not install as root."""
    name = f"{build.app['command']}-{build.version}-linux-x86_64"
    tree = fresh(build.work / "archive") / name
    shutil.copytree(program / "opt" / build.app["command"], tree / "headstart", symlinks=True)
    shutil.copytree(build.model, tree / "headstart" / "models")
    share(build, tree / "share")
    put(tree / "LICENCES", licence_file(build))
    put(tree / "glibc", ".".join(map(str, build.glibc)) + "\n")  # install.sh compares it with the system's
    for script in ("install.sh", "uninstall.sh"):
        copy(HERE / script, tree / script)
    settle(tree, build.epoch, {tree / "headstart" / "headstart", tree / "install.sh", tree / "uninstall.sh"})
    made = build.out / f"{name}.tar.zst"
    tar = ["tar", "--sort=name", f"--mtime=@{build.epoch}", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu"]
    return run(build, made, [*tar, f"--use-compress-program=zstd -{ZSTD} -T2", "-cf", made, "-C", tree.parent, name])


def image(build: Build, program: Path) -> Path:
    """An AppDir as squashfs. With the runtime of AppImage in APPIMAGE_RUNTIME, a file, it becomes an AppImage."""
    tree, name = fresh(build.work / "AppDir"), build.app["id"]
    shutil.copytree(program, tree, symlinks=True, dirs_exist_ok=True)
    shutil.copytree(build.model, tree / "opt" / build.app["command"] / "models")
    copy(HERE / "AppRun", tree / "AppRun")
    copy(program / "usr" / "share" / "applications" / f"{name}.desktop", tree / f"{name}.desktop")
    copy(build.icons / "headstart-256.png", tree / f"{name}.png")
    (tree / ".DirIcon").symlink_to(f"{name}.png")
    settle(tree, build.epoch, {tree / "AppRun", tree / "opt" / build.app["command"] / build.app["command"]})
    made = build.out / f"{build.app['command']}-{build.version}-x86_64.squashfs"
    made.unlink(missing_ok=True)
    # SOURCE_DATE_EPOCH sets its own time; that of each file was set by `settle`.
    run(
        build,
        made,
        [
            "mksquashfs",
            tree,
            made,
            "-root-owned",
            "-no-xattrs",
            "-comp",
            "zstd",
            "-Xcompression-level",
            ZSTD,
            "-quiet",
            "-no-progress",
        ],
    )
    if runtime := os.environ.get("APPIMAGE_RUNTIME"):
        whole = made.with_suffix(".AppImage")
        whole.write_bytes(Path(runtime).read_bytes() + made.read_bytes())
        whole.chmod(0o755)
        made.unlink()
        return whole
    return made


def settle(tree: Path, epoch: int, programs: set[Path]) -> None:
    """Give every file of the tree the same time and plain permissions; `programs` may be run. Links whose target was
    left out go, and so do none of the others."""
    for directory, folders, names in os.walk(tree, topdown=False):
        for path in (Path(directory, name) for name in (*folders, *names)):
            if path.is_symlink():
                if not path.exists():
                    path.unlink()
                    continue
            else:
                is_run = path.is_dir() or path in programs or path.name == "torch_shm_manager"
                path.chmod(0o755 if is_run else 0o644)
            os.utime(path, (epoch, epoch), follow_symlinks=False)
    tree.chmod(0o755)
    os.utime(tree, (epoch, epoch))


def run(build: Build, made: Path, command: list[object]) -> Path:
    """Run a program that makes a file."""
    done = subprocess.run([str(each) for each in command], env=build.environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(
            f"{made.name} was not made: {' '.join(map(str, command[:2]))} says\n{done.stdout}{done.stderr}"
        )
    return made


def fresh(folder: Path) -> Path:
    """An empty folder in its place."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def put(path: Path, text: str) -> None:
    """Write a text file, and the folders it lies in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def copy(source: Path, target: Path) -> None:
    """Copy a file, and make the folders it lies in."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
