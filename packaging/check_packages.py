"""`make package-check`: looks at what `make package` made, and runs it. Standard library only.

Without root it checks files and plays the frozen program without a display, in about five minutes. As root with
debootstrap it also installs the .deb in a bare Debian (`--chroot bookworm`), which takes some minutes more and 2 GB in
build/; `--flatpak` does the same in a sandbox. `--twice` builds everything again and compares the sums: ten minutes
more. Each is said before it starts.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from bundle import elf, smoke
from bundle.contents import MOST_GLIBC, MOST_MB, PARTS_OF_C, SYSTEM_LIBRARIES, forbidden
from bundle.contents import packages as needed_packages
from linux.chroot import Chroot, earlier, everything
from linux.sandbox import Sandbox

ROOT = Path(__file__).parent.parent
WORK, OUT = ROOT / "build" / "package", ROOT / "dist"
WRONG: list[str] = []
BROUGHT = (
    "LICENCES.txt",
    "_internal/resources/app.toml",
    "_internal/resources/licences/LGPL-3.0.txt",
    "_internal/resources/graphics/backends.toml",
    "_internal/resources/graphics/headstart-*.whl",
    "_internal/_cffi_backend*.so",
    "_internal/nacl/_sodium*.so",
)
"""Files that only an installed Headstart has, or that nothing else in the check would miss."""


def main() -> int:
    """Check everything that was asked for; 0 when all is well."""
    parser = argparse.ArgumentParser(prog="make package-check", description=__doc__)
    parser.add_argument(
        "--chroot", action="append", default=[], metavar="SUITE", help="install the .deb in a bare Debian"
    )
    parser.add_argument("--flatpak", action="store_true", help="build the Flatpak and play it in its sandbox")
    parser.add_argument("--twice", action="store_true", help="build again and compare")
    parser.add_argument("--files-only", action="store_true", help="run nothing")
    options = parser.parse_args()
    packages = sorted(OUT.glob("*.deb"))
    if len(packages) != 2:
        sys.exit("There is nothing to check in dist/: `make package` first.")
    tree = unpacked(packages)
    for check in (sums, sizes, names, links, libraries, desktop):
        show(check.__doc__ or "", lambda check=check: check(tree))
    if not options.files_only:
        show("The frozen program plays, without a display: about four minutes", lambda: plays(tree))
    for suite in options.chroot:
        show(f"The .deb in a bare {suite}: some minutes, as root", lambda suite=suite: in_chroot(suite, packages))
    if options.flatpak:
        show("The Flatpak in its sandbox, on a runtime made of bookworm: some minutes, as root", in_sandbox)
    if options.twice:
        show("A second build is the same: about ten minutes", lambda: twice())
    print("\nAll is well." if not WRONG else "\n" + "\n".join(f"WRONG: {line}" for line in WRONG))
    return bool(WRONG)


def show(what: str, check: Callable[[], object]) -> None:
    """Say what is checked, then what it found."""
    print(f"-- {what.splitlines()[0].rstrip('.')}", flush=True)
    found = check()
    if found is not None:
        print(f"   {found}", flush=True)


def unpacked(packages: list[Path]) -> Path:
    """The files of both .debs, as they would be installed, in a folder with a space and umlauts in its name."""
    tree = WORK / "check" / "Grüße an alle"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    for package in packages:
        subprocess.run(["dpkg-deb", "--extract", package, tree], check=True)
    return tree


def files(tree: Path) -> Iterator[Path]:
    """Every file of the tree that is no link."""
    return (path for path in tree.rglob("*") if path.is_file() and not path.is_symlink())


def sums(tree: Path) -> str:
    """SHA256SUMS names every file that was made."""
    lines = (OUT / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    for line in lines:
        digest, name = line.split("  ")
        if hashlib.sha256((OUT / name).read_bytes()).hexdigest() != digest:
            WRONG.append(f"{name} is not what SHA256SUMS says")
    missing = (
        {path.name for path in OUT.iterdir()}
        - {line.split("  ")[1] for line in lines}
        - {"SHA256SUMS", "SHA256SUMS.asc"}
    )
    WRONG.extend(f"{name} is not in SHA256SUMS" for name in sorted(missing))
    return f"{len(lines)} files"


def sizes(tree: Path) -> str:
    """Sizes stay within their budget."""
    model = next((tree / "opt/headstart/models").iterdir()).stat().st_size
    found = {
        "on disk": sum(path.stat().st_size for path in files(tree)) - model,
        "deb": next(OUT.glob("headstart_*.deb")).stat().st_size,
        "model": next(OUT.glob("headstart-model-*.deb")).stat().st_size,
    }
    WRONG.extend(f"{name}: {size / 1e6:.0f} MB" for name, size in found.items() if size > MOST_MB[name] * 1e6)
    return ", ".join(f"{name} {size / 1e6:.1f} of {MOST_MB[name]} MB" for name, size in found.items())


def names(tree: Path) -> str:
    """No file is there that may not be, and licences and metadata are."""
    held = [path.relative_to(tree).as_posix() for path in files(tree)]
    WRONG.extend(f"{name} may not be in a package" for name in forbidden(held))
    WRONG.extend(f"{name} is missing" for name in BROUGHT if not any(fnmatch(each, f"*/{name}") for each in held))
    licences = (tree / "usr/share/doc/headstart/copyright").read_text(encoding="utf-8")
    for words in ("Apache License", "GNU LESSER GENERAL PUBLIC LICENSE", "torch 2.", "PYTHON SOFTWARE FOUNDATION"):
        if words not in licences:
            WRONG.append(f"the licences do not hold {words!r}")
    parts = json.loads(next(OUT.glob("*.cdx.json")).read_text(encoding="utf-8"))["components"]
    named = {part["name"].lower().replace("_", "-") for part in parts}
    infos = {
        path.name.partition("-")[0].lower().replace("_", "-")
        for path in (tree / "opt/headstart/_internal").glob("*.dist-info")
    }
    WRONG.extend(
        f"{name} is bundled and not in the list of components" for name in sorted(infos - named - {"headstart"})
    )
    return f"{len(held):,} files, {len(parts)} components, {len(licences):,} characters of licences"


def links(tree: Path) -> str:
    """No link leads nowhere, and none out of the package."""
    found = [path for path in tree.rglob("*") if path.is_symlink()]
    for path in found:
        if not path.resolve().is_relative_to(tree.resolve()) or not path.exists():
            WRONG.append(f"{path.relative_to(tree)} leads to {os.readlink(path)}")
    return f"{len(found)} links"


def libraries(tree: Path) -> str:
    """What the program needs of the system is what the packages depend on."""
    found = elf.facts(tree / "opt" / "headstart")
    needed = set(found.needed) - set(PARTS_OF_C)
    WRONG.extend(
        f"{name} is needed (by {found.needed[name]}), and no package depends on it"
        for name in sorted(needed - set(SYSTEM_LIBRARIES))
    )
    WRONG.extend(f"{name} is depended on, and nothing needs it" for name in sorted(set(SYSTEM_LIBRARIES) - needed))
    WRONG.extend(f"{name} looks for libraries in {places}" for name, places in found.run_paths.items())
    version, name = found.glibc
    if version > MOST_GLIBC:
        WRONG.append(f"{name} needs glibc {'.'.join(map(str, version))}")
    return f"{len(needed)} libraries; glibc {'.'.join(map(str, version))}, which {name} asks for"


def desktop(tree: Path) -> str:
    """Desktop file, metainfo, MIME type and icons are what desktops expect."""
    app = app_id()
    share = tree / "usr" / "share"
    for path in (share / f"metainfo/{app}.metainfo.xml", share / f"mime/packages/{app}.xml"):
        ElementTree.parse(path)
    ran = []
    for command in (
        ["desktop-file-validate", "--no-hints", share / f"applications/{app}.desktop"],
        ["appstreamcli", "validate", "--no-net", share / f"metainfo/{app}.metainfo.xml"],
    ):
        if shutil.which(str(command[0])):
            done = subprocess.run(command, capture_output=True, text=True)
            ran.append(str(command[0]))
            if done.returncode:
                WRONG.append(f"{command[0]}: {done.stdout}{done.stderr}")
    icons = [path for path in (share / "icons").rglob("*.png") if path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"]
    if len(icons) != 8:
        WRONG.append(f"there are {len(icons)} icons, not 8")
    return f"checked by {', '.join(ran) or 'none of the validators, which are not installed'}"


def plays(tree: Path) -> str:
    """Run the smoke test on the unpacked packages, which nobody may write to."""
    folder = WORK / "check" / "played"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    python = Path(os.environ.get("HEADSTART_BUILD_VENV") or WORK / "venv") / "bin" / "python"
    player = smoke.Player(str(tree / "opt/headstart/headstart"), folder / "data")
    said = smoke.play(player, folder, str(python) if python.exists() else "")
    (OUT.parent / "build" / "package" / "smoke.json").write_text(json.dumps(said, indent=1, ensure_ascii=False))
    WRONG.extend(said["wrong"])
    return json.dumps(said, indent=1, ensure_ascii=False)


def in_chroot(suite: str, packages: list[Path]) -> str:
    """Install an earlier version in a bare Debian, upgrade it, play without a network, open the window under an X
    server, remove everything: nothing of the packages may stay, and the user's data have to."""
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        WRONG.append("a chroot needs root and debootstrap")
        return "not run"
    chroot = Chroot(suite, WORK / "chroot")
    folder = chroot.root / "home" / "played"
    folder.mkdir(parents=True)
    player = smoke.Player("/usr/bin/headstart", Path("/home/played/data"), ["chroot", str(chroot.root)])
    program = next(package for package in packages if package.name.startswith("headstart_"))
    with chroot.mounted():
        chroot.apt("update")
        chroot.install([earlier(program, WORK / "check")])
        player.run("--version")
        before = chroot.version("headstart")
        chroot.install(packages)
        upgraded = f"from {before} to {chroot.version('headstart')}"
        if (chroot.root / "opt/headstart/headstart-of-yesterday").exists():
            WRONG.append(f"{suite}: a file of the earlier version stays after the upgrade")
        said = smoke.play(player, folder, seen="/home/played")
        WRONG.extend(f"{suite}: {line}" for line in said["wrong"])
        said["upgraded"], said["window under an X server"] = upgraded, chroot.window_is_shown()
        kept = everything(folder)
        chroot.apt("purge", "-y", "headstart", *(package.name.partition("_")[0] for package in packages))
    if not said["window under an X server"]:
        WRONG.append(f"{suite}: no window came under an X server")
    if not kept or everything(folder) != kept:
        WRONG.append(f"{suite}: the user's data are not as they were after the packages are removed")
    left = (name for name in everything(chroot.root) - chroot.as_made if "headstart" in name.lower())
    own = ("root/", "home/", "var/", "tmp/")
    WRONG.extend(f"{suite}: {name} stays after the packages are removed" for name in left if not name.startswith(own))
    return json.dumps(said, indent=1, ensure_ascii=False)


def in_sandbox() -> str:
    """Build the Flatpak from the trees of the packages, and play it without a network."""
    if os.geteuid() != 0 or not (shutil.which("debootstrap") and shutil.which("flatpak-builder")):
        WRONG.append("a Flatpak needs root, debootstrap and flatpak-builder")
        return "not run"
    chroot = Chroot("bookworm", WORK / "chroot")
    with chroot.mounted():
        chroot.apt("update")
        chroot.apt("install", "-y", "--no-install-recommends", *needed_packages("deb"))
    sandbox = Sandbox(WORK / "flatpak")
    sandbox.add_runtime(chroot)
    sandbox.build(ROOT / "packaging" / "linux" / "flatpak.yml")
    folder = WORK / "flatpak" / "played"
    folder.mkdir()
    said = smoke.play(smoke.Player(sandbox.command(app_id(), folder), folder / "data"), folder)
    WRONG.extend(f"flatpak: {line}" for line in said["wrong"])
    return json.dumps(said, indent=1, ensure_ascii=False)


def app_id() -> str:
    """The name that desktops know the program by."""
    return tomllib.loads((ROOT / "packaging" / "app.toml").read_text(encoding="utf-8"))["id"]


def twice() -> str:
    """Build again with the same time, and compare every file."""
    first = (OUT / "SHA256SUMS").read_text(encoding="utf-8")
    kept = WORK / "first"
    shutil.rmtree(kept, ignore_errors=True)
    OUT.rename(kept)
    subprocess.run([sys.executable, ROOT / "packaging" / "build_packages.py"], check=True, stdout=subprocess.DEVNULL)
    second = (OUT / "SHA256SUMS").read_text(encoding="utf-8")
    parted = sorted({line.split("  ")[1] for line in set(first.splitlines()) ^ set(second.splitlines())})
    WRONG.extend(f"{name} is another one in the second build" for name in parted)
    return f"{len(second.splitlines())} files compared"


if __name__ == "__main__":
    sys.exit(main())
