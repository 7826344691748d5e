"""Installs a build of torch for the graphics card into the user's data, on request: whole or not at all. No torch.

Which one is decided by engine/graphics.py, what it is made of by the locks that the installers bring
(packaging/graphics). `uv` does the work, with every file's hash; it is fetched and compared with its own hash first.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import ssl
import sys
import tomllib
import urllib.request
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import certifi
from filelock import FileLock, Timeout

from engine import graphics
from engine.library.child_process import Progress, run_program
from engine.library.places import runtimes_dir
from engine.private_file import write_private
from engine.runtimes import trial
from engine.runtimes.launch import CURRENT, Runtime, current
from engine.side_programs import installed_resources
from engine.types import DiskFullError, HeadstartError

PATIENCE_S = 30.0
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
NETWORK = (
    "The software for the graphics card could not be downloaded: check the network connection and try again. "
    "Nothing was changed."
)
FORGED = (
    "What was downloaded for the graphics card is not what was expected, so nothing was installed: try again later, or "
    "check which package index this network leads to."
)


@dataclass(frozen=True, slots=True)
class Offer:
    """What could be installed: the `build` of torch and `why` that one, the bytes to download, those it takes on disk,
    and those that are free. `refusal` is a sentence where it cannot be, "" where it can."""

    build: str
    why: str
    download_bytes: int = 0
    disk_bytes: int = 0
    free_bytes: int = 0
    refusal: str = ""


def find_offer(found: graphics.Choice | None = None) -> Offer:
    """Look at this computer (None), and say what fits it. Takes up to six seconds: not for the window's thread."""
    choice = found or graphics.choose(graphics.probe())
    if choice.build == "cpu":
        return Offer("cpu", choice.why, refusal=choice.why)
    if not lock_of(choice.build).is_file():
        words = f"{choice.why} It could use torch's build {choice.build}, which this Headstart does not bring for "
        return Offer(choice.build, choice.why, refusal=f"{words}{_system()} yet.")
    names = _names()[choice.build]
    free = shutil.disk_usage(_existing(runtimes_dir())).free
    refusal = ""
    if free < names["disk"]:
        refusal = str(_no_room(names["disk"], free))
    return Offer(choice.build, choice.why, names["download"], names["disk"], free, refusal)


def lock_of(build: str) -> Path:
    """The file that pins what a build needs, whether there is one or not."""
    return _resources() / f"{build}-{_system()}-cp{PYTHON.replace('.', '')}.lock"


def install(offer: Offer, progress: Progress) -> Runtime:
    """Install what was offered, try it, and have the next start use it; an earlier one is deleted.

    What `progress` raises ends it. Whatever ends it, nothing half done stays, and an earlier one stays in use. Raises
    HeadstartError with a sentence: no room, no network, other files than expected, a card that computes wrong numbers.
    """
    place = runtimes_dir()
    try:
        place.mkdir(parents=True, exist_ok=True)
        with FileLock(place / "lock", timeout=0):
            return _install(offer, place, progress)
    except Timeout as error:
        raise HeadstartError("Another Headstart is installing this: wait until it is done.", str(error)) from error
    except OSError as error:
        raise _in_words(str(error)) from error


def remove() -> None:
    """Delete what was installed; the next start computes on the CPU. Raises HeadstartError."""
    place = runtimes_dir()
    try:
        (place / CURRENT).unlink(missing_ok=True)
        for folder in place.iterdir():
            shutil.rmtree(folder) if folder.is_dir() and not folder.is_symlink() else folder.unlink()
    except FileNotFoundError:
        return
    except OSError as error:
        sentence = f"Not everything in {place} could be deleted ({error.strerror}). The next start uses none of it."
        raise HeadstartError(sentence, str(error)) from error


def installed() -> Runtime | None:
    """What is installed and whole; None where nothing is."""
    with suppress(HeadstartError):
        return current()
    return None


def _install(offer: Offer, place: Path, progress: Progress) -> Runtime:
    wheel = next(iter(sorted(_resources().glob("headstart-*.whl"))), None)
    lock = lock_of(offer.build)
    if wheel is None or not lock.is_file():
        raise HeadstartError("This Headstart was installed without what it needs for that: install it again.")
    name = f"{offer.build}-{hashlib.sha256(lock.read_bytes() + wheel.read_bytes()).hexdigest()[:12]}"
    stage = place / f"{name}.partial"
    shutil.rmtree(stage, ignore_errors=True)  # left behind by a process that was killed
    stage.mkdir()
    try:
        free = shutil.disk_usage(stage).free
        if free < offer.disk_bytes:
            raise _no_room(offer.disk_bytes, free)
        _fill(stage, offer, lock, wheel, progress)
        python = _python(Path())
        files = _libraries(stage)
        shutil.rmtree(place / name, ignore_errors=True)
        stage.rename(place / name)
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    made_for = version("headstart")
    said = {"folder": name, "build": offer.build, "python": str(python), "version": made_for, "files": files}
    write_private(place / CURRENT, [json.dumps(said).encode()])
    for other in place.iterdir():
        if other.is_dir() and other.name not in (name, "python"):
            shutil.rmtree(other, ignore_errors=True)
    found = current()
    assert found is not None
    return found


def _fill(stage: Path, offer: Offer, lock: Path, wheel: Path, progress: Progress) -> None:
    """A Python with everything in it, in the folder `stage`, tried out."""
    uv = _uv(stage, progress)
    before, venv = shutil.disk_usage(stage).free, stage / "venv"

    def tick() -> None:
        taken = before - shutil.disk_usage(stage).free
        progress("Installing", min(max(taken / max(offer.disk_bytes, 1), 0.0), 0.99))

    def run(what: str, *arguments: object) -> None:
        progress(what, None)
        log = stage / "uv.log"
        if run_program([str(uv), *map(str, arguments)], _environment(stage), log, tick):
            raise _in_words(log.read_text(encoding="utf-8", errors="replace"))

    run("Preparing a Python of its own", "venv", "--relocatable", "--python", PYTHON, venv)
    target = ["--python", _python(stage), *_indexes()]
    only = ["--require-hashes", "--no-deps", "--only-binary", ":all:"]
    run("Installing", "pip", "install", *target, *only, "-r", lock)
    run("Installing", "pip", "install", *target, "--no-deps", "--no-index", wheel)
    shutil.rmtree(stage / "cache", ignore_errors=True)
    _try(stage, progress)
    _require_start(stage, progress)
    for left in (stage / "uv", stage / "uv.log", stage / "trial.log"):
        shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink(missing_ok=True)


def _try(stage: Path, progress: Progress) -> None:
    """Have the card compute something, and compare. Raises HeadstartError."""
    log = stage / "trial.log"
    command = [str(_python(stage)), "-P", str(Path(trial.__file__).with_suffix(".py"))]
    status = run_program(command, _environment(stage), log, lambda: progress("Trying the graphics card", None))
    said = log.read_text(encoding="utf-8", errors="replace")
    try:
        fault = str(json.loads(said.strip().splitlines()[-1])["fault"])
    except (ValueError, KeyError, IndexError, TypeError):
        fault = f"the trial ended with {status}"
    if fault:
        raise HeadstartError(
            f"The graphics card does not compute as it should ({fault[:200]}), so nothing was installed. A newer "
            "driver may help; the processor goes on computing.",
            said,
        )


def _require_start(stage: Path, progress: Progress) -> None:
    """Have the new Python say what it finds: its Qt comes from a wheel, and needs libraries that the installed program
    brings by itself. Raises HeadstartError with what is missing."""
    log = stage / "trial.log"
    command = [str(_python(stage)), "-P", "-m", "headstart", "doctor"]
    if run_program(command, _environment(stage), log, lambda: progress("Trying to start with it", None)):
        said = log.read_text(encoding="utf-8", errors="replace")
        cures = [line.strip(" ->") for line in said.splitlines() if line.strip().startswith("->")]
        needs = f" First: {cures[0][:300]}." if cures else ""
        raise HeadstartError(f"Headstart does not start with this software yet, so it was not installed.{needs}", said)


def _uv(stage: Path, progress: Progress) -> Path:
    """The program uv: the one that HEADSTART_UV names, else fetched, compared with its hash and unpacked."""
    if chosen := os.environ.get("HEADSTART_UV"):
        return Path(chosen)
    names = _names()["uv"]
    wanted = names.get(_system())
    if wanted is None:
        raise HeadstartError(f"Headstart cannot install this on {_system()}.")
    progress("Fetching the program that installs it", None)
    try:
        request = urllib.request.Request(names["index"], headers={"Accept": "application/vnd.pypi.simple.v1+json"})
        listed = json.loads(_get(request))["files"]
        url = next(str(each["url"]) for each in listed if each["filename"] == wanted["file"])
        wheel = _get(urllib.request.Request(urljoin(names["index"], url)))
    except (OSError, ValueError, KeyError, TypeError, StopIteration) as error:
        raise HeadstartError(NETWORK, f"{names['index']}: {error!r}") from error
    if (found := hashlib.sha256(wheel).hexdigest()) != wanted["sha256"]:
        raise HeadstartError(FORGED, f"{wanted['file']}: sha256 {found}")
    packed, program = stage / "uv.whl", stage / "uv" / Path(wanted["member"]).name
    packed.write_bytes(wheel)
    program.parent.mkdir()
    with zipfile.ZipFile(packed) as archive:
        program.write_bytes(archive.read(wanted["member"]))
    packed.unlink()
    program.chmod(0o755)
    return program


def _get(request: urllib.request.Request) -> bytes:
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())  # systems keep their own in different places
    with urllib.request.urlopen(request, timeout=PATIENCE_S, context=context) as answer:
        body: bytes = answer.read()
    return body


def _environment(stage: Path) -> dict[str, str]:
    """For uv: everything inside the runtimes' folder, and none of the user's own settings of Python and uv."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "UV_", "VIRTUAL_ENV"))}
    own = {
        "UV_CACHE_DIR": str(stage / "cache"),
        "UV_PYTHON_INSTALL_DIR": str(stage.parent / "python"),  # outlives the renaming of what refers to it
        "UV_PYTHON_PREFERENCE": "only-managed",
        "UV_NO_CONFIG": "1",
        "UV_NO_PROGRESS": "1",
    }
    return {**kept, **own}


def _indexes() -> list[str]:
    """Where files come from: what the lock names (nothing to add), or the folder that HEADSTART_WHEELS names."""
    folder = os.environ.get("HEADSTART_WHEELS")
    return ["--no-index", "--find-links", folder] if folder else []


def _libraries(stage: Path) -> dict[str, int]:
    """The sizes of what is needed to compute: Python itself and every library below the folder."""
    kept = [path for pattern in ("*.so", "*.so.*", "*.dll", "*.pyd") for path in stage.rglob(pattern)]
    return {path.relative_to(stage).as_posix(): path.stat().st_size for path in [_python(stage), *kept]}


def _python(stage: Path) -> Path:
    return stage / "venv" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def _in_words(said: str) -> HeadstartError:
    """The error for what uv, or the system, said."""
    if any(words in said for words in ("No space left", "os error 28", "Errno 28", "os error 112")):
        return DiskFullError("The disk is full, so nothing was installed: free some space and try again.", said)
    if "hash" in said.lower() and "mismatch" in said.lower():
        return HeadstartError(FORGED, said)
    if "ermission denied" in said:
        return HeadstartError(f"{runtimes_dir()} cannot be written: check its permissions.", said)
    network = ("error sending request", "dns error", "timed out", "Failed to fetch", "onnection")
    if any(words in said for words in network):
        return HeadstartError(NETWORK, said)
    return HeadstartError("The software for the graphics card could not be installed. Nothing was changed.", said)


def _no_room(needed: int, free: int) -> DiskFullError:
    return DiskFullError(
        f"The software for the graphics card takes {needed / 1e9:.1f} GB in {runtimes_dir()}, and {free / 1e9:.1f} GB "
        "are free: free some space, or set HEADSTART_DATA_DIR to a folder on another disk."
    )


def _existing(folder: Path) -> Path:
    return next(place for place in (folder, *folder.parents) if place.exists())


def _system() -> str:
    machine = platform.machine().lower().replace("amd64", "x86_64")
    return f"{sys.platform}-{machine}"


def _resources() -> Path:
    return (installed_resources() or Path(os.devnull)) / "graphics"


def _names() -> dict[str, Any]:
    return tomllib.loads((_resources() / "backends.toml").read_text(encoding="utf-8"))
