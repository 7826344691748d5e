"""What the installers are made from: lists, desktop files, icons, scripts. `make package-check` looks at the packages
themselves."""

from __future__ import annotations

import ast
import configparser
import importlib
import importlib.metadata
import os
import plistlib
import re
import shutil
import struct
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from app.__main__ import CONVERSATIONS
from app.application import DESKTOP_ID
from engine.library import download

ROOT = Path(__file__).parent.parent
PACKAGING = ROOT / "packaging"
LINUX = PACKAGING / "linux"


@pytest.fixture(autouse=True)
def _path(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The scripts find each other as they do when they are run: from packaging/."""
    monkeypatch.syspath_prepend(str(PACKAGING))
    yield
    for name in ("bundle", "linux", "build_packages"):
        for module in [each for each in sys.modules if each.partition(".")[0] == name]:
            del sys.modules[module]


def script(name: str) -> ModuleType:
    return importlib.import_module(name)


def app() -> dict:
    return tomllib.loads((PACKAGING / "app.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "source", "stays"),
    [
        ("torch/lib/libtorch_cpu.so", "/venv/torch/lib/libtorch_cpu.so", True),
        ("torch/test/test_api", "/venv/torch/test/test_api", False),
        ("torch\\test\\test_api", "C:\\venv\\torch\\test\\test_api", False),
        ("torch/testing/_comparison.py", "/venv/torch/testing/_comparison.py", True),
        ("libcudart.so.12", "/usr/local/cuda/lib64/libcudart.so.12", False),
        ("libstdc++.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", False),
        ("libglib-2.0.so.0", "/lib/x86_64-linux-gnu/libglib-2.0.so.0", False),
        ("libxcb.so.1", "/usr/lib/x86_64-linux-gnu/libxcb.so.1", False),
        ("libxcb-cursor.so.0", "/usr/lib/x86_64-linux-gnu/libxcb-cursor.so.0", True),
        ("libssl.so.3", "/usr/lib/x86_64-linux-gnu/libssl.so.3", True),
        ("PySide6/Qt/lib/libQt6Network.so.6", "/venv/PySide6/Qt/lib/libQt6Network.so.6", True),
        ("PySide6/Qt/lib/libQt6Qml.so.6", "/venv/PySide6/Qt/lib/libQt6Qml.so.6", False),
        ("PySide6/Qt/plugins/platforms/libqxcb.so", "/venv/PySide6/Qt/plugins/platforms/libqxcb.so", True),
        ("PySide6/Qt/plugins/platforms/libqvnc.so", "/venv/PySide6/Qt/plugins/platforms/libqvnc.so", False),
        ("resources/style.qss", "/venv/headstart/resources/style.qss", True),
    ],
)
def test_what_goes_along(name: str, source: str, stays: bool) -> None:
    assert script("bundle.contents").stays(name, source) is stays


def test_what_may_not_be_in_a_package() -> None:
    good = ["opt/headstart/_internal/torch/lib/libtorch_cpu.so", "opt/headstart/_internal/torch/testing/_utils.py"]
    bad = [
        "opt/headstart/_internal/nvidia/cublas/lib/libcublas.so.13",
        "opt/headstart/_internal/libcudart-1.so",
        "opt/headstart/_internal/torch/test/x",
        "opt/headstart/_internal/pip/__init__.py",
        "opt/headstart/_internal/libstdc++.so.6",
        "opt/headstart/_internal/torch/lib/libx.a",
    ]
    assert script("bundle.contents").forbidden([*good, *bad]) == bad


def test_one_name_everywhere() -> None:
    """Desktops find window, icon and menu entry by the same name."""
    name = app()["id"]
    assert name == DESKTOP_ID
    files = [
        PACKAGING / "bundle/entry.py",
        PACKAGING / "windows/headstart.iss",
        LINUX / "flatpak.yml",
        LINUX / "install.sh",
    ]
    assert [str(path) for path in files if name not in path.read_text(encoding="utf-8")] == []
    info = plistlib.loads((PACKAGING / "macos/Info.plist").read_bytes())
    assert info["CFBundleIdentifier"] == name
    assert app()["model"]["package"] == download.PACKAGE


def test_desktop_file() -> None:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(LINUX / f"{DESKTOP_ID}.desktop", encoding="utf-8")
    entry = parser["Desktop Entry"]
    assert (entry["Icon"], entry["Exec"], entry["Terminal"]) == (DESKTOP_ID, "headstart %f", "false")
    types = ElementTree.parse(LINUX / f"{DESKTOP_ID}.mime.xml").getroot()
    assert sorted(entry["MimeType"].strip(";").split(";")) == sorted(kind.get("type") for kind in types)
    globs = {each.get("pattern") for each in types.iter("{http://www.freedesktop.org/standards/shared-mime-info}glob")}
    assert globs == {"*.gguf", f"*{CONVERSATIONS}"}


@pytest.mark.parametrize("lock", sorted((PACKAGING / "graphics").glob("*.lock")), ids=lambda path: path.stem)
def test_what_is_installed_for_a_graphics_card_is_pinned(lock: Path) -> None:
    """Every dependency of pyproject.toml, each with hashes: packaging/graphics/lock.py makes it anew."""
    text = lock.read_text(encoding="utf-8")
    pins = re.findall(r"^([a-z0-9-]+)==(\S+)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", text, re.MULTILINE)
    assert len(pins) == text.count("==")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {re.split(r"[><=;\[]", line)[0].strip().lower() for line in project["dependencies"]}
    assert needed - {name for name, _, _ in pins} == set()
    assert "nvidia-cublas" in text


def test_metainfo_names_what_is_there() -> None:
    root = ElementTree.parse(LINUX / f"{DESKTOP_ID}.metainfo.xml").getroot()
    assert root.findtext("id") == DESKTOP_ID
    assert root.findtext("launchable") == f"{DESKTOP_ID}.desktop"
    pictures = [(image.text or "").rpartition("/")[2] for image in root.iter("image")]
    assert pictures
    assert [name for name in pictures if not (PACKAGING / "pictures" / name).exists()] == []


def test_mac_files_are_well_formed() -> None:
    info = plistlib.loads((PACKAGING / "macos/Info.plist").read_bytes())
    (kind,) = info["CFBundleDocumentTypes"]
    assert kind["LSHandlerRank"] == "Alternate"  # "open with", never the owner of such files
    (known,) = info["UTImportedTypeDeclarations"]
    assert kind["LSItemContentTypes"] == [known["UTTypeIdentifier"]]
    rights = plistlib.loads((PACKAGING / "macos/entitlements.plist").read_bytes())
    assert all(value is True for value in rights.values())


def test_version_resource_is_python() -> None:
    made = script("windows.version_info").version_info("1.2.3", app())
    tree = ast.parse(made, mode="eval")
    assert isinstance(tree.body, ast.Call)
    assert "filevers=(1, 2, 3, 0)" in made


def test_icons(qapp: object, tmp_path: Path) -> None:
    script("bundle.icons").write(tmp_path)
    for size in (16, 256, 1024):
        picture = (tmp_path / f"headstart-{size}.png").read_bytes()
        assert struct.unpack(">II", picture[16:24]) == (size, size)
    ico = (tmp_path / "headstart.ico").read_bytes()
    kind, number = struct.unpack_from("<HH", ico, 2)
    assert (kind, number) == (1, 7)
    for place in range(number):
        length, offset = struct.unpack_from("<II", ico, 6 + 16 * place + 8)
        assert ico[offset : offset + 4] == b"\x89PNG"
        assert len(ico) >= offset + length
    icns = (tmp_path / "headstart.icns").read_bytes()
    assert (icns[:4], struct.unpack(">I", icns[4:8])[0]) == (b"icns", len(icns))


def test_the_model_is_the_one_that_the_program_expects() -> None:
    pins = script("build_packages").pinned()
    assert {name: pins[name] for name in ("REQUIREMENT", "MEMBER", "GGUF_SHA256")} == {
        "REQUIREMENT": download.REQUIREMENT,
        "MEMBER": download.MEMBER,
        "GGUF_SHA256": download.GGUF_SHA256,
    }


@pytest.mark.skipif(sys.platform != "linux" or shutil.which("strip") is None, reason="needs binutils")
def test_strip_leaves_what_would_not_load(tmp_path: Path) -> None:
    elf = script("bundle.elf")
    (tmp_path / "lib").mkdir()
    library = Path(importlib.import_module("_ctypes").__file__ or "")
    shutil.copy(library, tmp_path / "lib" / "good.so")
    odd = bytearray(library.read_bytes())
    (table,) = struct.unpack_from("<Q", odd, 0x20)
    struct.pack_into("<Q", odd, table + 16, struct.unpack_from("<Q", odd, table + 16)[0] + 8)  # moved in memory
    (tmp_path / "lib" / "odd.so").write_bytes(odd)
    assert elf.segments_are_aligned(tmp_path / "lib" / "good.so")
    assert not elf.segments_are_aligned(tmp_path / "lib" / "odd.so")
    (tmp_path / "lib" / "odd.so").unlink()
    assert "libc.so.6" in elf.facts(tmp_path).needed
    cut = library.read_bytes()[:5000]
    (tmp_path / "lib" / "cut.so").write_bytes(cut)
    _, left = elf.strip(tmp_path)
    assert left == ["lib/cut.so"]
    assert (tmp_path / "lib" / "cut.so").read_bytes() == cut


@pytest.mark.skipif(sys.platform != "linux", reason="the script is Linux's")
@pytest.mark.skipif(os.name == "nt", reason="a shell script")
@pytest.mark.parametrize(
    ("tool", "says", "words"),
    [
        ("getconf", "glibc 2.31", "needs the C library glibc 2.36 or newer, and this system has 2.31"),
        ("df", "Filesystem 1024-blocks\n/dev/x 1 1 1 1% /", "and 0 MB are free"),
        ("uname", "Linux-armv7l", "this package is for Linux on x86-64"),
    ],
)
def test_where_it_cannot_be_installed_it_says_why(tmp_path: Path, tool: str, says: str, words: str) -> None:
    (tmp_path / "headstart").mkdir()
    (tmp_path / "headstart" / "headstart").write_bytes(b"x" * 100_000)
    (tmp_path / "headstart" / "headstart").chmod(0o755)
    (tmp_path / "glibc").write_text("2.36\n")
    shutil.copy(LINUX / "install.sh", tmp_path)
    fake = tmp_path / "bin" / tool
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\nprintf '%s\\n' '{says}'\n")
    fake.chmod(0o755)
    env = {"HOME": str(tmp_path / "home"), "PATH": f"{fake.parent}:{os.environ['PATH']}"}
    done = subprocess.run([tmp_path / "install.sh"], env=env, capture_output=True, text=True)
    assert done.returncode == 1
    assert words in done.stderr
    assert not (tmp_path / "home/.local/opt/headstart").exists()


def test_installed_for_one_user_and_removed(tmp_path: Path) -> None:
    archive = tmp_path / "headstart-0.1.0-linux-x86_64"
    (archive / "headstart").mkdir(parents=True)
    program = archive / "headstart" / "headstart"
    program.write_text("#!/bin/sh\necho it runs\n")
    program.chmod(0o755)
    for name in ("install.sh", "uninstall.sh"):
        shutil.copy(LINUX / name, archive)
    for source, place in (
        (LINUX / f"{DESKTOP_ID}.desktop", f"applications/{DESKTOP_ID}.desktop"),
        (LINUX / f"{DESKTOP_ID}.mime.xml", f"mime/packages/{DESKTOP_ID}.xml"),
        (ROOT / "resources/icons/headstart.svg", f"icons/hicolor/scalable/apps/{DESKTOP_ID}.svg"),
    ):
        (archive / "share" / place).parent.mkdir(parents=True)
        shutil.copy(source, archive / "share" / place)
    home = tmp_path / "Größe 100% $HOME"
    kept = home / ".local/share/headstart/conversations"
    kept.parent.mkdir(parents=True)
    kept.write_text("mine")
    env = {"HOME": str(home), "PATH": os.environ["PATH"]}
    for _ in range(2):  # the second time is an update
        done = subprocess.run([archive / "install.sh"], env=env, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
    link = home / ".local/bin/headstart"
    assert subprocess.run([link], capture_output=True, text=True).stdout == "it runs\n"
    entry = (home / f".local/share/applications/{DESKTOP_ID}.desktop").read_text(encoding="utf-8")
    (line,) = re.findall("^Exec=(.*)$", entry, re.MULTILINE)
    escaped = str(home).replace("%", "%%").replace("$", "\\\\$")
    assert line == f'"{escaped}/.local/opt/headstart/headstart" %f'
    subprocess.run([home / ".local/opt/headstart/uninstall.sh"], env=env, check=True, capture_output=True)
    left = [path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file() or path.is_symlink()]
    assert [name for name in left if DESKTOP_ID in name or "opt" in name or "bin" in name] == []
    assert kept.read_text() == "mine"


@pytest.mark.skipif(
    sys.platform != "linux" or not all(map(shutil.which, ("tar", "zstd", "mksquashfs"))), reason="needs what packs"
)
def test_packed_twice_is_the_same(qapp: object, tmp_path: Path) -> None:
    """A small program in place of the frozen one. Links that lead nowhere go, and who packs when does not matter."""
    bundle, model, notices, made = tmp_path / "frozen", tmp_path / "model", tmp_path / "notices", []
    for folder in (bundle / "_internal", model, notices, tmp_path / "out"):
        folder.mkdir(parents=True)
    (bundle / "headstart").write_text("#!/bin/sh\necho it runs\n")
    (bundle / "_internal" / "leads nowhere").symlink_to("gone")
    (model / "model.gguf").write_bytes(b"GGUF")
    (notices / "licences.txt").write_text("torch: BSD")
    script("bundle.icons").write(tmp_path / "icons")
    formats = script("linux.formats")
    for attempt in ("first", "second"):
        build = formats.Build(
            app=app(),
            version="1.2.3",
            epoch=1_796_083_200,
            glibc=(2, 36),
            bundle=bundle,
            model=model,
            icons=tmp_path / "icons",
            notices=notices,
            work=tmp_path / attempt,
            out=tmp_path / "out",
            nfpm=Path("nfpm"),
        )
        tree = formats.program_tree(build)
        made.append([formats.archive(build, tree).read_bytes(), formats.image(build, tree).read_bytes()])
        os.utime(bundle / "headstart", (1, 1))
    assert made[0] == made[1]
    names = {path.relative_to(tree).as_posix() for path in tree.rglob("*")}
    assert "opt/headstart/_internal/leads nowhere" not in names
    assert {"usr/bin/headstart", f"usr/share/applications/{DESKTOP_ID}.desktop"} <= names
    assert subprocess.run([tree / "usr/bin/headstart"], capture_output=True, text=True).stdout == "it runs\n"
    assert "@VERSION@" not in (tree / f"usr/share/metainfo/{DESKTOP_ID}.metainfo.xml").read_text(encoding="utf-8")
    assert formats.program_description(build, "deb")["depends"][:2] == ["libbrotli1", "libc6 (>= 2.36)"]
    assert "glibc >= 2.36" in formats.program_description(build, "rpm")["depends"]


@pytest.mark.parametrize(
    ("file", "stays"),
    [
        ("llama/modeling_llama.py", True),
        ("gemma3/modeling_gemma3.py", True),
        ("siglip/modeling_siglip.py", True),  # Gemma-3 is made with one
        ("llama/convert_llama_weights_to_hf.py", False),
        ("yolos/modeling_yolos.py", False),
        ("yolos/configuration_yolos.py", True),  # it has to be known to be refused
        ("t5/tokenization_t5.py", True),
    ],
)
def test_of_transformers_goes_along_what_writes_text(file: str, stays: bool) -> None:
    files = script("bundle.model_files")
    assert files.is_needed(f"transformers/models/{file}") is stays
    module = f"transformers.models.{file}".removesuffix(".py").replace("/", ".")
    assert files.is_needed_module(module) is stays


def test_every_class_that_writes_text_is_whole() -> None:
    """What the classes import of each other goes along."""
    import transformers

    files, root = script("bundle.model_files"), Path(transformers.__file__).parent / "models"
    for folder in sorted(files.text_classes()):
        for source in root.joinpath(folder).glob("modeling_*.py"):
            for other, module in re.findall(r"^from \.\.(\w+)\.(\w+) import", source.read_text("utf-8"), re.MULTILINE):
                assert files.is_needed(f"transformers/models/{other}/{module}.py"), (source.name, other, module)
